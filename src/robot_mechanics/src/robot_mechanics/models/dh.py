# SPDX-License-Identifier: MIT
"""Denavit-Hartenberg rows, in both conventions in use.

- "standard" (Denavit and Hartenberg 1955, as in Paul's book): T = Rz(theta) Tz(d) Tx(a) Rx(alpha); the row's joint
  moves about or along the z axis of the frame before the row.
- "modified" (Craig, Introduction to Robotics, ch. 3): T = Rx(alpha) Tx(a) Rz(theta) Tz(d), with alpha and a of the link
  before; the row's joint moves about or along the z axis of the frame behind the row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Mapping, Optional, Sequence, Union

import numpy as np

from robot_mechanics.errors import InvalidChainError
from robot_mechanics.models.joint import FIXED, KINDS, LARGEST_LENGTH, PRISMATIC, REVOLUTE, Joint, Mimic
from robot_mechanics.motion.rotations import rotation_about, transform

STANDARD, MODIFIED = "standard", "modified"
CONVENTIONS = (STANDARD, MODIFIED)


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
    velocity: float = math.inf
    effort: float = math.inf
    mimic: Optional[Mimic] = None

    def transform(self, q: float = 0.0, convention: str = STANDARD) -> np.ndarray:
        """Return the (4, 4) transform of the row at q (rad or m).

        Parameters
        ----------
        q : float
            Of the joint, rad or m.
        convention : str
            "standard" or "modified", see `SerialChain.from_dh`.
        """
        theta = self.theta + (q if self.kind == REVOLUTE else 0.0)
        d = self.d + (q if self.kind == PRISMATIC else 0.0)
        screw_z = transform(rotation_about((0, 0, 1), theta), (0, 0, d))
        screw_x = transform(rotation_about((1, 0, 0), self.alpha), (self.a, 0, 0))
        return screw_x @ screw_z if check_convention(convention) == MODIFIED else screw_z @ screw_x

    def joint(self, name: str, convention: str = STANDARD) -> Joint:
        """Return the joint that moves as the row says (the row's own name wins over `name`).

        Parameters
        ----------
        name : str
            Of a row without one.
        convention : str
            "standard" or "modified", see `SerialChain.from_dh`.
        """
        label = self.name or name
        if self.kind == FIXED:
            return Joint(label, FIXED, origin=self.transform(0.0, convention))
        screw_z = transform(rotation_about((0, 0, 1), self.theta), (0, 0, self.d))
        screw_x = transform(rotation_about((1, 0, 0), self.alpha), (self.a, 0, 0))
        modified = check_convention(convention) == MODIFIED
        return Joint(
            label,
            self.kind,
            origin=screw_x @ screw_z if modified else screw_z,
            after=np.eye(4) if modified else screw_x,
            lower=self.lower,
            upper=self.upper,
            velocity=self.velocity,
            effort=self.effort,
            mimic=self.mimic,
        )


RowLike = Union[DHRow, Mapping[str, object], Sequence[object]]


def check_convention(convention: object) -> str:
    """Return the convention.

    Parameters
    ----------
    convention : str
        "standard" or "modified".

    Raises
    ------
    InvalidChainError
        If it is neither "standard" nor "modified".
    """
    if convention not in CONVENTIONS:
        raise InvalidChainError(f"convention {convention!r} of the table; expected one of {', '.join(CONVENTIONS)}")
    return str(convention)


def as_row(row: RowLike, number: int) -> DHRow:
    """Return a row given as DHRow, as mapping of its fields, or as (alpha, a, theta, d[, kind[, name]]).

    Parameters
    ----------
    row : DHRow, mapping or sequence
        Angles in rad, lengths in m.
    number : int
        For messages.

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
            names = ", ".join(field.name for field in fields(DHRow))
            raise InvalidChainError(f"row {number} of the table: {error}; expected {names}") from None
    if not isinstance(made.kind, str) or made.kind not in KINDS:
        raise InvalidChainError(
            f"row {number} of the table is of kind '{made.kind}'; expected one of {', '.join(KINDS)}"
        )
    for name in ("alpha", "a", "theta", "d"):
        value = getattr(made, name)
        try:
            number_given = math.nan if isinstance(value, (str, bytes)) else float(value)
        except (TypeError, ValueError, OverflowError):
            number_given = math.nan
        if not abs(number_given) <= LARGEST_LENGTH:  # also for NaN
            raise InvalidChainError(
                f"{name} in row {number} of the table is {value!r}; expected a finite number (rad or m) "
                f"within +-{LARGEST_LENGTH:g}"
            )
    return made


def table(rows: Sequence[DHRow], names: Sequence[str], limits: Sequence[str]) -> Sequence[str]:
    """Return the lines of the printed table: lengths in mm, angles in degrees, q where the joint adds its position.

    Parameters
    ----------
    rows : sequence of DHRow
        Of one chain.
    names, limits : sequence of str
        A joint's name and its limits as text, for each row.
    """
    lines = [f"{'joint':<22}{'alpha deg':>11}{'a mm':>10}{'theta deg':>14}{'d mm':>14}   {'kind':<11}{'limits'}"]
    for row, name, limit in zip(rows, names, limits):
        theta, d = f"{math.degrees(row.theta):.2f}", f"{1e3 * row.d:.2f}"
        if row.kind == REVOLUTE:
            theta = "q" if row.theta == 0.0 else f"q {math.degrees(row.theta):+.2f}"
        elif row.kind == PRISMATIC:
            d = "q" if row.d == 0.0 else f"q {1e3 * row.d:+.2f}"
        lines.append(
            f"{name:<22}{math.degrees(row.alpha):>11.2f}{1e3 * row.a:>10.2f}{theta:>14}{d:>14}   {row.kind:<11}{limit}"
        )
    return lines
