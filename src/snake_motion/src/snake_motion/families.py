# SPDX-License-Identifier: MIT
"""Families of gaits that cmd_vel steers: two inputs each, which bend one shape without leaving it.

Families are not added to each other: one map over sums of them is wrong by a tenth of a step and tips the robot over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Optional, Tuple

from snake_motion.errors import SnakeMotionError
from snake_motion.gait_shape import GaitShape
from snake_motion.waves import Wave, serpenoid_curve

PERIOD = 1.0  # s
_SHORT = 16  # modules: fewer do not sag, and roll over on waves as high as those of 16
_SHORTEST = 12  # modules: with fewer, two undulations would be steeper than waves can be

Range = Tuple[float, float]


@dataclass(frozen=True)
class Family:
    """What its two inputs are, and what it is for."""

    name: str
    #: Amplitude as a fraction, and what steers: offset or phase in deg. Of rolling: cycles in `PERIOD`, and arc in deg
    ranges: Tuple[Range, Range]
    axis: int  #: Of the step that the first input changes: 0 forward, 1 left, 2 turning
    mirrored: bool  #: Direction -1 is the mirror image; one branch of the map serves both
    rolls: bool = False  #: The body turns about its axis

    def shape(self, inputs: Tuple[float, float], modules: int, time_scale: float = 1.0) -> GaitShape:
        """Return the gait of two inputs within `ranges`, for a snake of so many modules."""
        amplitude, steering = inputs
        period = PERIOD * time_scale
        if self.name == "forward":
            pitch = _wave(30.0 * amplitude, 2.0, modules)
            return GaitShape(pitch, Wave(offset=math.radians(steering)), period)
        if self.name == "roll_sideways":  # its step hardly depends on its arc, so its speed is that of the cycle
            arc = 2.0 * math.radians(steering) / modules
            yaw = Wave(arc, phase=0.5 * math.pi)
            return GaitShape(Wave(arc), yaw, period / amplitude, start=0.25 * math.pi, mirrored=True)
        if self.name == "sideways":
            # half of the lift stays in small steps, since the joints sag
            pitch = _wave(8.0 if modules < _SHORT else 8.0 + 12.0 * amplitude, 1.0, modules)
            yaw = _wave(40.0 * amplitude, 1.0, modules, steering)
            return GaitShape(pitch, yaw, period, mirrored=True)
        # the quarters of the body carry it, then its middle and ends. Waves that stand look the same from both ends, so
        # there is no side by which to leave the place; 5 and 17 deg make up for joints that are not in the middle. A
        # body too short for quarters is carried by its middle, then by its ends, which turns it the other way
        short = modules < _SHORTEST
        pitch_middle, yaw_middle, turned = (0.0, -90.0, 180.0) if short else (5.0, -107.0, 0.0)
        pitch = replace(_wave(11.0, 1.0 if short else 2.0, modules), standing=math.radians(pitch_middle))
        yaw = replace(_wave(50.0 * amplitude, 1.0, modules, steering + turned), standing=math.radians(yaw_middle))
        return GaitShape(pitch, yaw, period, start=0.5 * math.pi, mirrored=True)


FAMILIES = {
    family.name: family
    for family in (
        Family("forward", ((0.35, 1.0), (-20.0, 20.0)), 0, mirrored=False),
        Family("sideways", ((0.1, 1.0), (-85.0, -25.0)), 1, mirrored=True),
        Family("roll_sideways", ((0.2, 1.0), (85.0, 95.0)), 1, mirrored=True, rolls=True),
        Family("rotation", ((0.1, 1.0), (-100.0, -80.0)), 2, mirrored=True),
    )
}


def family(name: str) -> Family:
    """Return a family; raises SnakeMotionError if there is none of the name."""
    if name not in FAMILIES:
        raise SnakeMotionError(f"family {name!r} does not exist; choose from {', '.join(FAMILIES)}")
    return FAMILIES[name]


def narrowed(name: str, amplitude: Optional[Range] = None, steering: Optional[Range] = None) -> Family:
    """Return a family with other ranges of its inputs; raises SnakeMotionError if there is none of the name."""
    kind = family(name)
    return replace(kind, ranges=(amplitude or kind.ranges[0], steering or kind.ranges[1]))


def _wave(alpha_deg: float, k: float, modules: int, phase_deg: float = 0.0) -> Wave:
    return Wave(*serpenoid_curve(math.radians(alpha_deg), k, modules), math.radians(phase_deg))
