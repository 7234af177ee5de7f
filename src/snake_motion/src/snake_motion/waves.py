# SPDX-License-Identifier: MIT
"""The sinusoidal generators of one group of joints (all pitch joints, or all yaw joints), and three spellings of them.

Control space is what is generated: joint j of a group, counted from the head, goes to

    amplitude sin(theta + j step + phase) + offset

Shape space (winding angle alpha, undulations k, arc) and the compound serpenoid are other spellings. Formulas:
Gonzalez-Gomez, tutorial "ODE y robots modulares: Robot apodo" (shape space); Tesch et al., "Parameterized and scripted
gaits for modular snake robots", 2009 (serpenoid).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Tuple

from shellbot_common import Settings, number
from snake_motion.errors import SnakeMotionError

GREATEST_STEP = 2.0 * math.pi / 3.0
"""rad between two joints of a group: of a wave with more undulations than a short snake can show, the steepest that it
can; two pitch modules alone walk at 100 to 120 degrees."""

_SPELLINGS = {
    "shape space": ("alpha_deg", "k", "arc_deg", "phase_deg"),
    "control space": ("amplitude_deg", "step_deg", "offset_deg", "phase_deg"),
    "serpenoid": ("serpenoid_deg", "spatial_deg", "delta_deg", "beta_deg"),
}


@dataclass(frozen=True)
class Wave:
    """Generators of one group in control space."""

    amplitude: float = 0.0  #: rad
    step: float = 0.0  #: rad between two joints of the group
    phase: float = 0.0  #: rad
    offset: float = 0.0  #: rad
    #: rad; the wave stands: joints at x from the middle of the body swing together by cos(step x + standing)
    standing: Optional[float] = None


def serpenoid_curve(alpha: float, k: float, modules: int) -> Tuple[float, float]:
    """Return amplitude and step (rad) of a travelling wave of k undulations; k is bounded by `GREATEST_STEP`.

    Parameters
    ----------
    alpha : float
        Winding angle, rad.
    k : float
        Undulations along the body; 0: a circular wave, whose joints all swing in phase and whose greatest arc is alpha.
    modules : int
        Number of modules.
    """
    if k == 0.0:
        return 2.0 * alpha / modules, 0.0
    step = min(4.0 * math.pi * k / modules, GREATEST_STEP)
    return 2.0 * alpha * math.sin(0.5 * step), step


def most_undulations(modules: int) -> float:
    """Return how many undulations a body of so many modules can show."""
    return modules * GREATEST_STEP / (4.0 * math.pi)


@dataclass(frozen=True)
class WaveRow(Settings, error=SnakeMotionError):
    """A wave in a table of gaits, in one of three spellings; angles in degrees.

    Shape space: `alpha_deg`, `k`, `arc_deg` (angle of the circular arc of the offset), `phase_deg`. Control space:
    `amplitude_deg`, `step_deg`, `offset_deg`, `phase_deg`. Compound serpenoid: joint n of all joints goes to beta +
    A sin(spatial n + theta + delta), A in `serpenoid_deg`; signs that alternate because a robot's modules are mounted
    by turns are left out, since ours are not.
    """

    alpha_deg: Optional[float] = number(-360.0, 360.0, "deg", default=None)
    k: Optional[float] = number(0.0, 32.0, default=None)
    arc_deg: Optional[float] = number(-360.0, 360.0, "deg", default=None)
    phase_deg: Optional[float] = number(-720.0, 720.0, "deg", default=None)
    amplitude_deg: Optional[float] = number(-175.0, 175.0, "deg", default=None)
    step_deg: Optional[float] = number(-180.0, 180.0, "deg", default=None)
    offset_deg: Optional[float] = number(-175.0, 175.0, "deg", default=None)
    serpenoid_deg: Optional[float] = number(-175.0, 175.0, "deg", default=None)
    spatial_deg: Optional[float] = number(-90.0, 90.0, "deg", default=None)
    delta_deg: Optional[float] = number(-720.0, 720.0, "deg", default=None)
    beta_deg: Optional[float] = number(-175.0, 175.0, "deg", default=None)

    def conflict(self) -> str:
        """Return that the keys are of two spellings, if so."""
        given = [key for key in self.to_mapping() if getattr(self, key) is not None]
        if any(set(given) <= set(keys) for keys in _SPELLINGS.values()):
            return ""
        allowed = "; or ".join(f"{', '.join(keys)} ({name})" for name, keys in _SPELLINGS.items())
        return f"{given[0]} stands beside {given[-1]}; use the keys of one spelling: {allowed}"

    def bound(self, modules: int) -> str:
        """Return in words that so few modules cannot show all undulations, "" if they can."""
        most = most_undulations(modules)
        return f"k {self.k:g} is bounded to {most:.2f} by {modules} modules" if self.k and self.k > most else ""

    def wave(self, modules: int, first: int) -> Wave:
        """Return the generators.

        Parameters
        ----------
        modules : int
            Number of modules.
        first : int
            Index of the group's first joint among all joints: 0 for pitch, 1 for yaw.
        """
        if any(getattr(self, key) is not None for key in _SPELLINGS["serpenoid"]):
            amplitude, spatial, delta, beta = (_rad(getattr(self, key)) for key in _SPELLINGS["serpenoid"])
            return Wave(amplitude, 2.0 * spatial, delta + first * spatial, beta)
        phase = _rad(self.phase_deg)
        if self.amplitude_deg is not None or self.step_deg is not None or self.offset_deg is not None:
            return Wave(_rad(self.amplitude_deg), _rad(self.step_deg), phase, _rad(self.offset_deg))
        amplitude, step = serpenoid_curve(_rad(self.alpha_deg), self.k or 0.0, modules)
        return Wave(amplitude, step, phase, 2.0 * _rad(self.arc_deg) / modules)


def _rad(degrees: Optional[float]) -> float:
    return math.radians(degrees or 0.0)
