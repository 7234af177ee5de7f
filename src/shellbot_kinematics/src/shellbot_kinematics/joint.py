# SPDX-License-Identifier: MIT
"""A joint: where it sits, what it moves, how far and how fast."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Optional, Tuple

import numpy as np

from shellbot_kinematics.errors import InvalidChainError

REVOLUTE, PRISMATIC, FIXED = "revolute", "prismatic", "fixed"
KINDS: Tuple[str, ...] = (REVOLUTE, PRISMATIC, FIXED)


@dataclass(frozen=True)
class Mimic:
    """The joint follows another: q = ratio * q_other + offset (rad or m)."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


def _identity() -> np.ndarray:
    return np.eye(4)


@dataclass(frozen=True, eq=False)
class Joint:
    """One joint of a tree or chain: T_parent_child(q) = origin . motion(axis, q) . after.

    A URDF joint has `after` = identity; a row of a Denavit-Hartenberg table has `origin` = identity, the axis z, and
    the rest of the row in `after`. Both are thus the same kind of thing to the kernels.

    Attributes
    ----------
    name : str
        Unique in its robot.
    kind : str
        "revolute", "prismatic" or "fixed". A URDF "continuous" joint is revolute with infinite limits.
    origin, after : (4, 4) arrays
        Fixed transforms before and after the motion, m.
    axis : (3,) array
        Unit axis of the motion, in the frame behind `origin`.
    lower, upper : float
        Limits, rad or m; infinite if there are none.
    velocity, effort : float
        Greatest speed (rad/s or m/s) and effort (N m or N); infinite if unknown.
    parent, child : str
        Link names.
    mimic : Mimic or None
        Followed by every chain or tree that holds the other joint, too; in one that does not, the joint has a
        coordinate of its own.

    Raises
    ------
    InvalidChainError
        On an unknown kind, a transform that is not rigid, an axis of length zero, or reversed limits.
    """

    name: str
    kind: str = REVOLUTE
    origin: np.ndarray = field(default_factory=_identity)
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    after: np.ndarray = field(default_factory=_identity)
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    parent: str = ""
    child: str = ""
    mimic: Optional[Mimic] = None

    def __post_init__(self) -> None:
        """Check the values and freeze the arrays."""
        if self.kind not in KINDS:
            raise InvalidChainError(f"joint '{self.name}' is of kind '{self.kind}'; expected one of {', '.join(KINDS)}")
        object.__setattr__(self, "origin", _rigid(self.origin, f"origin of joint '{self.name}'"))
        object.__setattr__(self, "after", _rigid(self.after, f"after of joint '{self.name}'"))
        axis = np.array(self.axis, dtype=np.float64)
        length = float(np.linalg.norm(axis)) if axis.shape == (3,) else math.nan
        if not (math.isfinite(length) and length > 1e-9):
            raise InvalidChainError(f"axis of joint '{self.name}' is {self.axis}; expected three numbers, not all zero")
        axis /= length
        axis.setflags(write=False)
        object.__setattr__(self, "axis", axis)
        if not self.lower <= self.upper:  # also false for NaN
            raise InvalidChainError(
                f"limits of joint '{self.name}' are {self.lower} .. {self.upper}; expected lower <= upper (rad or m)"
            )
        for name in ("velocity", "effort"):
            if not getattr(self, name) >= 0.0:
                raise InvalidChainError(f"{name} of joint '{self.name}' is {getattr(self, name)}; expected 0 or more")

    @property
    def moves(self) -> bool:
        """Whether the joint has a coordinate of its own."""
        return self.kind != FIXED

    def __eq__(self, other: object) -> bool:
        """Equal in every field, arrays to the last bit."""
        if not isinstance(other, Joint):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self._key())

    def _key(self) -> Tuple[object, ...]:
        arrays = (self.origin.tobytes(), self.axis.tobytes(), self.after.tobytes())
        limits = (self.lower, self.upper, self.velocity, self.effort)
        return (self.name, self.kind, self.parent, self.child, self.mimic, *limits, *arrays)


def _rigid(value: object, what: str) -> np.ndarray:
    T = np.array(value, dtype=np.float64)  # noqa: N806 - a pose
    if T.shape != (4, 4) or not np.isfinite(T).all():
        raise InvalidChainError(f"{what} must be a finite (4, 4) transform; its shape is {T.shape}")
    R = T[:3, :3]  # noqa: N806
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0 or not np.array_equal(T[3], [0, 0, 0, 1]):
        raise InvalidChainError(f"{what} is not a rigid transform: rotation must be orthogonal, last row 0 0 0 1")
    T.setflags(write=False)
    return T
