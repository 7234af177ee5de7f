# SPDX-License-Identifier: MIT
"""YAML text to plain mappings, lists and words: no types are guessed, no key is taken twice, nothing is executed."""

from __future__ import annotations

from typing import Any

import yaml

from robot_mechanics.errors import InvalidYamlError
from robot_mechanics.models.sources import read_source


class _Loader(yaml.BaseLoader):
    """Scalars stay text, so that 1e-3 is no word and `on` no truth; what a number is, the reader of the model says."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Return the mapping; refuse a key that stands twice, of which YAML would silently take the last."""
        made = super().construct_mapping(node, deep=deep)
        if len(made) != len(node.value):
            seen = set()
            for key_node, _ in node.value:
                if key_node.value in seen:
                    line = key_node.start_mark.line + 1
                    raise InvalidYamlError(f"line {line}: key '{key_node.value}' stands twice; once is enough")
                seen.add(key_node.value)
        return made


def parse(source: object) -> object:
    """Return the content of a YAML text, or of the file at a path, scalars as text.

    Raises
    ------
    InvalidYamlError
        If it is no YAML, holds several documents, is nested too deeply, or the file cannot be read.
    """
    text = read_source(source, "the model", InvalidYamlError, lambda text: "\n" in text or ":" in text)
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - derived from BaseLoader: text, lists, mappings only
    except yaml.YAMLError as error:
        raise InvalidYamlError(f"the model is no YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise InvalidYamlError("the model is nested too deeply; expected four levels or so") from None
