# SPDX-License-Identifier: MIT
"""Denavit-Hartenberg rows, standard convention: T = Rz(theta) Tz(d) Tx(a) Rx(alpha)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Mapping, Sequence, Union

import numpy as np

from shellbot_kinematics.errors import InvalidChainError
from shellbot_kinematics.joint import FIXED, KINDS, PRISMATIC, REVOLUTE, Joint
from shellbot_kinematics.rotations import rotation_about, transform


@dataclass(frozen=True)
class DHRow:
    """One row: alpha (rad), a (m), theta (rad), d (m).

    For a revolute joint `theta` is added to q, for a prismatic one `d` is added to q; a fixed row has no q.
    """

    alpha: float
    a: float
    theta: float = 0.0
    d: float = 0.0
    kind: str = REVOLUTE
    name: str = ""
    lower: float = -math.inf
    upper: float = math.inf

    def transform(self, q: float = 0.0) -> np.ndarray:
        """Return the (4, 4) transform of the row at q (rad or m)."""
        theta = self.theta + (q if self.kind == REVOLUTE else 0.0)
        d = self.d + (q if self.kind == PRISMATIC else 0.0)
        turn = transform(rotation_about((0, 0, 1), theta), (0, 0, d))
        return turn @ transform(rotation_about((1, 0, 0), self.alpha), (self.a, 0, 0))

    def joint(self, name: str) -> Joint:
        """Return the joint that moves as the row says (the row's own name wins over `name`)."""
        if self.kind == FIXED:
            return Joint(self.name or name, FIXED, origin=self.transform())
        before = transform(rotation_about((0, 0, 1), self.theta), (0, 0, self.d))
        after = transform(rotation_about((1, 0, 0), self.alpha), (self.a, 0, 0))
        return Joint(self.name or name, self.kind, origin=before, after=after, lower=self.lower, upper=self.upper)


RowLike = Union[DHRow, Mapping[str, object], Sequence[object]]


def as_row(row: RowLike, number: int) -> DHRow:
    """Return a row given as DHRow, as mapping of its fields, or as (alpha, a, theta, d[, kind[, name]]).

    Raises
    ------
    InvalidChainError
        Naming the row and what it should hold.
    """
    if isinstance(row, DHRow):
        made = row
    else:
        try:
            made = DHRow(**row) if isinstance(row, Mapping) else DHRow(*row)  # type: ignore[arg-type]
        except TypeError as error:
            raise InvalidChainError(
                f"row {number} of the table: {error}; expected alpha, a, theta, d, kind, name"
            ) from None
    if made.kind not in KINDS:
        raise InvalidChainError(
            f"row {number} of the table is of kind '{made.kind}'; expected one of {', '.join(KINDS)}"
        )
    try:
        numbers = [float(x) for x in (made.alpha, made.a, made.theta, made.d)]
    except (TypeError, ValueError):
        numbers = [math.nan]
    if not all(math.isfinite(x) for x in numbers):
        raise InvalidChainError(f"row {number} of the table has a value that is no finite number: {row}")
    return made
