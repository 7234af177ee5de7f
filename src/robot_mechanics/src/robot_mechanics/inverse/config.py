# SPDX-License-Identifier: MIT
"""Settings, null-space tasks and result of the general inverse."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field
from typing import Optional, Sequence, Tuple

import numpy as np

from robot_mechanics.arguments import flag
from robot_mechanics.errors import InvalidConfigError

WORLD, TARGET = "world", "target"
POSTURE, LIMITS, MANIPULABILITY = "posture", "limits", "manipulability"


@dataclass(frozen=True)
class Damping:
    """Schedule of mu in dq = J'(JJ' + mu E I)^-1 e, E the weighted sum of squared errors.

    Damping by the residual is Sugihara's (IEEE Trans. Robotics 27(5), 2011); mu times `success` after a step that made
    E smaller and times `failure` after one that did not is Marquardt's (SIAM J. 11(2), 1963). With success = failure =
    1 it is Chan and Lawrence's (ICRA 1988).
    """

    start: float = 0.3
    success: float = 0.25
    failure: float = 8.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        _range("start of Damping", self.start, 1e-12, 1e6)
        _range("success of Damping", self.success, 1e-6, 1.0)
        _range("failure of Damping", self.failure, 1.0, 1e6)


@dataclass(frozen=True)
class NullSpaceTask:
    """What a redundant chain does with the freedom that the target leaves: least cost while the target is kept."""

    #: "posture": nearest to `posture`, each joint weighted; "limits": joints near the middle of their ranges (of those
    #: with two finite limits); "manipulability": greatest sqrt(det(J J')) of the rows that count
    kind: str = POSTURE
    posture: Optional[Sequence[float]] = None  #: (n,) rad or m; default: where the solution starts from
    weights: Optional[Sequence[float]] = None  #: (n,) 0 or more; default 1
    steps: int = 100  #: At most; each is followed by a correction that restores the target

    def __post_init__(self) -> None:
        """Check the values."""
        kinds = (POSTURE, LIMITS, MANIPULABILITY)
        if self.kind not in kinds:
            raise InvalidConfigError(f"kind of NullSpaceTask is {self.kind!r}; expected one of {', '.join(kinds)}")
        _count("steps of NullSpaceTask", self.steps, 1, 100_000)


@dataclass(frozen=True)
class InverseConfig:
    """Settings of InverseKinematics.

    Raises
    ------
    InvalidConfigError
        If a value is out of its range.
    """

    tolerance: float = 1e-9  #: Distance at which a target counts as reached, m
    angle_tolerance: float = 1e-9  #: Angle at which its orientation counts as reached, rad
    #: Half axes of the ellipsoids of position (m) and orientation (rad) instead; overrides the two above
    tolerances: Optional[Sequence[float]] = None
    #: Of the rows; 0 frees a row like NaN in the target. 1 of an orientation row weighs one rad as much as 1 of a
    #: position row weighs a quarter of the sum of the link lengths.
    weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    #: Axes of the orientation's error, whose components can be weighted or free: "world" (of the chain's base) or
    #: "target"
    orientation_frame: str = WORLD
    limits: bool = True  #: Keep within the joint limits
    steps: int = 200  #: Of one start, at most
    restarts: int = 100  #: Further starts if the target is not reached: first near the given one, then farther away
    damping: Damping = field(default_factory=Damping)

    def __post_init__(self) -> None:
        """Check the values."""
        _range("tolerance of InverseConfig", self.tolerance, 1e-13, math.inf)
        _range("angle_tolerance of InverseConfig", self.angle_tolerance, 1e-13, math.inf)
        _count("steps of InverseConfig", self.steps, 1, 1_000_000)
        flag(self.limits, "limits of InverseConfig")
        _count("restarts of InverseConfig", self.restarts, 0, 1_000_000)
        if self.orientation_frame not in (WORLD, TARGET):
            raise InvalidConfigError(
                f"orientation_frame of InverseConfig is {self.orientation_frame!r}; expected '{WORLD}' or '{TARGET}'"
            )
        if not isinstance(self.damping, Damping):
            raise InvalidConfigError(
                f"damping of InverseConfig is {self.damping!r}; expected a Damping, such as Damping(start=0.3)"
            )
        _six("weights", self.weights, 0.0)
        if self.tolerances is not None:
            _six("tolerances", self.tolerances, 1e-13)

    def row_tolerances(self) -> np.ndarray:
        """Return the (6,) half axes."""
        if self.tolerances is not None:
            return np.array(self.tolerances, dtype=np.float64)
        return np.array([self.tolerance] * 3 + [self.angle_tolerance] * 3)


@dataclass(frozen=True, eq=False, repr=False)
class IkResult:
    """What the general inverse found."""

    q: np.ndarray  #: (n,) Solution, or where the errors are least if the target cannot be reached
    converged: bool  #: Whether the target is reached within the tolerances
    iterations: int  #: Steps in all, restarts included
    #: (6,) Errors of position (m, axes of the base) and orientation (rotation vector, rad, axes of the configured
    #: frame); NaN where the row is free
    residual: np.ndarray
    reason: str  #: In words, why it ended
    limits_hit: Tuple[str, ...]  #: Joints that stand at a limit
    restarts: int  #: Starts used besides the given one

    @property
    def distance(self) -> float:
        """Length of the position's residual, m; free rows do not count."""
        return float(np.sqrt(np.nansum(self.residual[:3] ** 2)))

    @property
    def angle(self) -> float:
        """Length of the orientation's residual, rad; free rows do not count."""
        return float(np.sqrt(np.nansum(self.residual[3:] ** 2)))

    def __repr__(self) -> str:
        """One line: the coordinates and how it ended."""
        q = ", ".join(f"{value:.4g}" for value in self.q)
        return f"IkResult(q=[{q}], {self.iterations} steps, {self.reason})"


def _range(what: str, value: float, low: float, high: float) -> None:
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidConfigError(f"{what} is {value!r}; expected {low} .. {high}")


def _count(what: str, value: int, low: int, high: int) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidConfigError(f"{what} is {value!r}; expected a whole number, {low} .. {high}")


def _six(what: str, values: Sequence[float], low: float) -> None:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (6,) or not np.isfinite(array).all() or (array < low).any():
        raise InvalidConfigError(f"{what} of InverseConfig are {values}; expected six finite numbers of at least {low}")
