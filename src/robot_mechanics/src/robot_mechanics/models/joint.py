# SPDX-License-Identifier: MIT
"""A joint: where it sits, what it moves, how far and how fast."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Optional, Tuple

import numpy as np

from robot_mechanics.errors import InvalidChainError

REVOLUTE, PRISMATIC, FIXED = "revolute", "prismatic", "fixed"
KINDS: Tuple[str, ...] = (REVOLUTE, PRISMATIC, FIXED)
# m, and plain ratio; no robot is larger, and products of such numbers stay finite
LARGEST_LENGTH = 1e6


@dataclass(frozen=True)
class Mimic:
    """The joint follows another: q = ratio * q_other + offset (rad or m).

    Raises
    ------
    InvalidChainError
        If the other joint has no name, or a number is not finite or beyond 1e6.
    """

    joint: str
    ratio: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        """Check the values."""
        if not isinstance(self.joint, str) or not self.joint:
            raise InvalidChainError(f"a mimic names joint {self.joint!r}; expected the name of the joint to follow")
        for name in ("ratio", "offset"):
            value = _float(getattr(self, name), f"{name} of the mimic of '{self.joint}'")
            if not abs(value) <= LARGEST_LENGTH:
                raise InvalidChainError(
                    f"{name} of the mimic of '{self.joint}' is {value}; expected a finite number within "
                    f"+-{LARGEST_LENGTH:g}"
                )
            object.__setattr__(self, name, value)


def _identity() -> np.ndarray:
    return np.eye(4)


@dataclass(frozen=True, eq=False, repr=False)
class Joint:
    """One joint of a tree or chain: T_parent_child(q) = origin . motion(axis, q) . after.

    A URDF joint has `after` = identity; a row of a Denavit-Hartenberg table has `origin` = identity, the axis z, and
    the rest of the row in `after`. Both are thus the same kind of thing to the kernels.

    Raises
    ------
    InvalidChainError
        On an empty name, an unknown kind, a transform that is not rigid or farther than 1e6 m, an axis of length zero,
        reversed limits, or a negative speed or effort.
    """

    name: str  #: Unique in its robot
    #: "revolute", "prismatic" or "fixed". A URDF "continuous" joint is revolute with infinite limits.
    kind: str = REVOLUTE
    #: origin, after: (4, 4) Fixed transforms before and after the motion, m
    origin: np.ndarray = field(default_factory=_identity)
    #: (3,) Unit axis of the motion, in the frame behind `origin`
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    after: np.ndarray = field(default_factory=_identity)
    #: lower, upper: Limits, rad or m; infinite if there are none
    lower: float = -math.inf
    upper: float = math.inf
    #: velocity, effort: Greatest speed (rad/s or m/s) and effort (N m or N); infinite if unknown
    velocity: float = math.inf
    effort: float = math.inf
    parent: str = ""  #: Link names
    child: str = ""  #: Link names
    #: Followed by every chain or tree that holds the other joint, too; in one that does not, the joint has a coordinate
    #: of its own
    mimic: Optional[Mimic] = None

    def __post_init__(self) -> None:
        """Check the values and freeze the arrays."""
        if not isinstance(self.name, str) or not self.name:
            raise InvalidChainError(f"a joint is named {self.name!r}; expected a name of one character or more")
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise InvalidChainError(f"joint '{self.name}' is of kind '{self.kind}'; expected one of {', '.join(KINDS)}")
        if self.mimic is not None and not isinstance(self.mimic, Mimic):
            raise InvalidChainError(f"mimic of joint '{self.name}' is {self.mimic!r}; expected a Mimic or None")
        object.__setattr__(self, "origin", _rigid(self.origin, f"origin of joint '{self.name}'"))
        object.__setattr__(self, "after", _rigid(self.after, f"after of joint '{self.name}'"))
        object.__setattr__(self, "axis", _unit(self.axis, f"axis of joint '{self.name}'"))
        for name in ("lower", "upper", "velocity", "effort"):
            object.__setattr__(self, name, _float(getattr(self, name), f"{name} of joint '{self.name}'"))
        if not self.lower <= self.upper or self.lower == math.inf or self.upper == -math.inf:  # also for NaN
            raise InvalidChainError(
                f"limits of joint '{self.name}' are {self.lower} .. {self.upper}; expected lower <= upper (rad or m)"
            )
        for name in ("velocity", "effort"):
            if not getattr(self, name) >= 0.0:
                raise InvalidChainError(f"{name} of joint '{self.name}' is {getattr(self, name)}; expected 0 or more")

    @property
    def moves(self) -> bool:
        """Whether the joint moves; one that mimics another does, too."""
        return self.kind != FIXED

    def __eq__(self, other: object) -> bool:
        """Equal in every field, arrays to the last bit."""
        if not isinstance(other, Joint):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self._key())

    def __repr__(self) -> str:
        """One line: kind, links, limits."""
        links = f", {self.parent} -> {self.child}" if self.parent or self.child else ""
        return f"Joint('{self.name}', {self.kind}{links}{f', {limits_text(self)}' if self.moves else ''})"

    def __reduce__(self) -> Tuple[object, ...]:
        """Rebuild copies through the constructor, so that their arrays are read-only, too."""
        return (Joint, tuple(getattr(self, entry.name) for entry in fields(self)))

    def _key(self) -> Tuple[object, ...]:
        arrays = (self.origin.tobytes(), self.axis.tobytes(), self.after.tobytes())
        limits = (self.lower, self.upper, self.velocity, self.effort)
        return (self.name, self.kind, self.parent, self.child, self.mimic, *limits, *arrays)


def limits_text(joint: Joint) -> str:
    """Return the limits of a joint in degrees or mm, or whom it follows.

    Parameters
    ----------
    joint : Joint
        Of any kind; empty for a fixed one.
    """
    if not joint.moves:
        return ""
    if joint.mimic is not None:
        return f"{joint.mimic.ratio:g} * {joint.mimic.joint} {joint.mimic.offset:+g}"
    if math.isinf(joint.lower) and math.isinf(joint.upper):
        return "free"
    if joint.kind == REVOLUTE:
        return f"{math.degrees(joint.lower):.1f} .. {math.degrees(joint.upper):.1f} deg"
    return f"{1e3 * joint.lower:.1f} .. {1e3 * joint.upper:.1f} mm"


def sequence(value: object, what: str, of: str) -> Tuple[Any, ...]:
    """Return a sequence or other iterable as a tuple; InvalidChainError if it is none, or a text.

    Parameters
    ----------
    value : iterable
    what : str
        How the message calls it.
    of : str
        What it should hold.
    """
    try:
        if not isinstance(value, (str, bytes)):
            return tuple(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    raise InvalidChainError(f"{what} is {value!r}; expected a sequence of {of}")


def _float(value: object, what: str) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidChainError(f"{what} is {value!r}; expected a number") from None


def _array(value: object, shape: Tuple[int, ...], expected: str, what: str) -> np.ndarray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidChainError(f"{what} is {value!r}; expected {expected}") from None
    if array.shape != shape:
        raise InvalidChainError(f"{what} has shape {array.shape}; expected {expected}")
    if not np.isfinite(array).all():
        raise InvalidChainError(f"{what} is {array.tolist()}; expected {expected}")
    return array


def _unit(value: object, what: str) -> np.ndarray:
    axis = _array(value, (3,), "three finite numbers, not all zero", what)
    largest = float(np.abs(axis).max())
    if not 1e-9 < largest < 1e9:
        raise InvalidChainError(f"{what} is {value}; expected three numbers, not all zero, each within 1e9")
    length = float(np.linalg.norm(axis))
    if abs(length - 1.0) > 1e-15:  # a unit axis stays as it is to the last bit, so that copies are equal
        axis = axis / length
    axis.setflags(write=False)
    return axis


def _rigid(value: object, what: str) -> np.ndarray:
    T = _array(value, (4, 4), "a finite rigid (4, 4) transform", what)  # noqa: N806 - a pose
    R = T[:3, :3]  # noqa: N806
    if np.abs(R).max() > 1.001 or np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise InvalidChainError(f"{what} is not a rigid transform: its rotation must be orthogonal with determinant 1")
    if not np.array_equal(T[3], [0, 0, 0, 1]):
        raise InvalidChainError(f"{what} is not a rigid transform: its last row is {T[3]}; expected 0 0 0 1")
    if np.abs(T[:3, 3]).max() > LARGEST_LENGTH:
        raise InvalidChainError(f"{what} lies at {T[:3, 3]}; expected within +-{LARGEST_LENGTH:g} m")
    T.setflags(write=False)
    return T
