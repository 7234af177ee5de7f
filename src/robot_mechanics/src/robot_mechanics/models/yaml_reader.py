# SPDX-License-Identifier: MIT
"""Pieces of a YAML text that know where they stand, so that what is wrong with one can be told by its keys."""

from __future__ import annotations

import math
from typing import Dict, List, Optional, Sequence, Tuple

from robot_mechanics.errors import InvalidYamlError


class Node:
    """A piece of the text with the words that lead to it; each reader returns what is asked for or raises
    InvalidYamlError with what is expected in its place.
    """

    def __init__(self, value: object, where: str) -> None:
        self.value, self.where = value, where

    def mapping(self, allowed: Optional[Tuple[str, ...]]) -> Dict[str, Node]:
        """Return the values by key; None allows every key."""
        if not isinstance(self.value, dict):
            raise self._expected("a mapping")
        for key in self.value:
            if not isinstance(key, str) or not key:
                raise InvalidYamlError(f"{self.where}: key {key!r}; expected a word")
            if allowed is not None and key not in allowed:
                raise InvalidYamlError(f"{self.where}: unknown key '{key}'; expected one of {', '.join(allowed)}")
        return {key: Node(value, f"{key} of {self.where}") for key, value in self.value.items()}

    def items(self) -> List[Node]:
        """Return the items of a list."""
        if not isinstance(self.value, list):
            raise self._expected("a list")
        return [Node(item, f"item {i} of {self.where}") for i, item in enumerate(self.value)]

    def text(self) -> str:
        """Return a word that is not empty."""
        if not isinstance(self.value, str) or not self.value:
            raise self._expected("a word")
        return self.value

    def choice(self, allowed: Sequence[str]) -> str:
        """Return one of the words allowed."""
        if self.value not in allowed:
            raise self._expected("one of " + ", ".join(allowed))
        return str(self.value)

    def number(self) -> float:
        """Return a finite number."""
        try:
            value = float(self.value) if isinstance(self.value, str) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self._expected("a finite number")
        return value

    def triple(self) -> Tuple[float, float, float]:
        """Return three finite numbers."""
        if not isinstance(self.value, list) or len(self.value) != 3:
            raise self._expected("three numbers, as [0, 0, 1]")
        x, y, z = (item.number() for item in self.items())
        return x, y, z

    def _expected(self, what: str) -> InvalidYamlError:
        given = repr(self.value)
        given = given if len(given) <= 80 else given[:77] + "..."
        return InvalidYamlError(f"{self.where} is {given}; expected {what}")
