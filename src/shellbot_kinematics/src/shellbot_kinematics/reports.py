# SPDX-License-Identifier: MIT
"""What the solvers answer: joint targets, one report per limb, and the result of a single inverse."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Optional, Tuple

import numpy as np

from shellbot_kinematics import _layout
from shellbot_kinematics.shellbot_limbs import LIMBS, Frame

_JOINTS = (("fan", "coxa", "femur", "tibia"), ("shoulder", "shell"))


class Status(IntEnum):
    """How a limb fared in a tick."""

    OK = _layout.OK
    HELD = _layout.HELD
    BAD_REFERENCE = _layout.BAD_REFERENCE
    OUT_OF_REACH = _layout.OUT_OF_REACH
    AT_LIMIT = _layout.AT_LIMIT
    ABSENT = _layout.ABSENT


_GEOMETRY = {
    _layout.STOP_FAR: "beyond the stretched links",
    _layout.STOP_NEAR: "nearer than the folded links",
    _layout.STOP_AXIS: "closer to the coxa axis than the leg's lateral offset",
    _layout.STOP_PLANE: "outside the plane of the limb",
    _layout.STOP_HEADING: "a yaw that the fan cannot give",
}


def limit_name(limb: int, stop: int) -> str:
    """Return in words what stopped a limb (row of LIMBS), from the code of the kernels; empty for nothing.

    Parameters
    ----------
    limb : int
        Row of LIMBS.
    stop : int
        Code of the kernels.
    """
    if stop == _layout.STOP_NONE:
        return ""
    if stop <= 8:
        joint, end = divmod(stop - 1, 2)
        return f"{LIMBS[limb]}_{_JOINTS[limb // 6][joint]} at its {'upper' if end else 'lower'} limit"
    return _GEOMETRY[stop]


def fan_at_limit(limb: str, commanded: float, limit: float) -> str:
    """Return in words that a leg's fan cannot turn as far as commanded.

    Parameters
    ----------
    limb : str
        lower_1 .. lower_6.
    commanded, limit : float
        rad.
    """
    return f"{limb}_fan was commanded to {commanded:.3f} rad and stops at its limit {limit:.3f} rad"


@dataclass(frozen=True)
class LimbReport:
    """Outcome of one limb."""

    limb: str  #: Its name
    status: Status  #: OK, HELD, BAD_REFERENCE, OUT_OF_REACH, AT_LIMIT or ABSENT
    reached: bool  #: The reference is met (to 1e-6 m), or the limb was to be held
    #: From the requested point to the nearest reachable one, m. For CLIK this says whether the point can be reached,
    #: not how far the joints have come.
    distance: float
    limit: str  #: What stopped it, in words; empty if nothing did

    def __str__(self) -> str:
        """Return one sentence for the operator."""
        if self.status == Status.OK:
            return f"{self.limb} on target"
        if self.status == Status.HELD:
            return f"{self.limb} holds"
        if self.status == Status.BAD_REFERENCE:
            return f"{self.limb} holds its last targets: its reference is NaN or infinite where a number is needed"
        if self.status == Status.ABSENT:
            return f"{self.limb} is not part of this robot; leave it out of the references"
        return f"{self.limb} stops {1e3 * self.distance:.1f} mm from its reference: {self.limit}"


NOTICEABLE = 1e-3
"""m: a limb of servos with steps of 0.29 deg misses its reference by nearly as much at every joint limit."""


@dataclass(frozen=True, eq=False)
class JointTargets:
    """Targets of all driven joints for one tick."""

    stamp: float  #: That of the references, s
    names: Tuple[str, ...]  #: Driven joints
    #: position, velocity: (n,) rad, rad/s
    position: np.ndarray
    velocity: np.ndarray
    #: status, stop: (12,) Codes per limb; `reports` says them in words
    status: np.ndarray
    stop: np.ndarray
    distance: np.ndarray  #: (12,) m, see LimbReport
    effort: Optional[np.ndarray] = None  #: (n,) Feed-forward effort of the references, N m; None: none

    @property
    def reports(self) -> Tuple[LimbReport, ...]:
        """One report per limb, in the order of LIMBS (made on demand: it costs more than the solution)."""
        return tuple(self.report(i) for i in range(len(LIMBS)))

    @property
    def all_reached(self) -> bool:
        """Whether every limb met its reference or was to be held."""
        return bool((self.status <= Status.HELD).all())

    @property
    def complaint(self) -> str:
        """What the operator should know of limbs that do not meet their references; empty if nothing."""
        if self.all_reached:
            return ""
        near = (Status.OUT_OF_REACH, Status.AT_LIMIT)
        reports = [report for report in self.reports if not report.reached]
        missed = [report for report in reports if not (report.status in near and report.distance < NOTICEABLE)]
        head = "" if any(self.status == Status.BAD_REFERENCE) else "out of reach, nearest point taken: "
        return f"{head}{'; '.join(map(str, missed))}" if missed else ""

    def report(self, i: int) -> LimbReport:
        """Return the report of the limb in row i of LIMBS.

        Parameters
        ----------
        i : int
            0 to 11.
        """
        status = Status(int(self.status[i]))
        reached = status in (Status.OK, Status.HELD)
        return LimbReport(LIMBS[i], status, reached, float(self.distance[i]), limit_name(i, int(self.stop[i])))


@dataclass(frozen=True, eq=False)
class InverseResult:
    """Result of one inverse."""

    limb: str  #: Its name
    frame: Frame  #: FOOT or SPHERE_CENTRE
    #: (4,) Joint positions, rad: fan, coxa, femur, tibia, or shoulder, shell; the nearest found if not converged
    q: np.ndarray
    converged: bool  #: Whether the target, and an orientation that is given, is met to 1e-6 m and rad within the limits
    error: float  #: Distance left, m
    iterations: int  #: 0 for closed forms
    reason: str  #: Empty if converged, else limb, distance, angle and limit in words

    def __repr__(self) -> str:
        """One line: joints, and how far off, or why."""
        q = " ".join(f"{x:.4f}" for x in self.q)
        return f"InverseResult({self.limb}, q: {q} rad, {'converged' if self.converged else self.reason})"
