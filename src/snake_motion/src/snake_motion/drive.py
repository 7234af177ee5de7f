# SPDX-License-Identifier: MIT
"""From a twist to a gait: the family that serves it best, and its inputs by the inverse of the measured map."""

from __future__ import annotations

import functools
import math
from typing import Mapping, Optional, Sequence, Tuple

import numpy as np

from snake_motion.engine_io import Target
from snake_motion.errors import SnakeMotionError
from snake_motion.families import PERIOD
from snake_motion.velocity_map import VelocityMap

SIDEWAYS_BY = {"side_winding": "sideways", "rolling": "roll_sideways"}
"""What moves the robot sideways, and the family of it."""

_FAR = 4.0  # times the limits, or m/s and rad/s where those are less: a greater twist is shortened to it
_STILL = (0.002, 0.002, math.radians(0.5))  # m/s, m/s, rad/s: less than this is no motion


class VelocityDrive:
    """Steers the families for which there are maps.

    Parameters
    ----------
    maps : mapping of str to VelocityMap
        By family, of this robot's number of modules.
    modules : int
        Number of modules.
    time_scale : float
        All gaits are slower by it.
    sideways_by : str
        One of `SIDEWAYS_BY`.

    Raises
    ------
    SnakeMotionError
        If `sideways_by` is none of them.
    """

    def __init__(
        self,
        maps: Mapping[str, VelocityMap],
        modules: int,
        time_scale: float = 1.0,
        sideways_by: str = "side_winding",
    ) -> None:
        if sideways_by not in SIDEWAYS_BY:
            raise SnakeMotionError(f"sideways_by is {sideways_by!r}; choose from {', '.join(SIDEWAYS_BY)}")
        self.families = ("forward", SIDEWAYS_BY[sideways_by], "rotation")  #: By axis
        self.maps, self._modules, self._period = dict(maps), modules, PERIOD * time_scale
        self._most = np.maximum(_FAR * self.limits, _FAR)
        self._solved = functools.lru_cache(maxsize=200)(self._solve)

    @property
    def limits(self) -> np.ndarray:
        """Greatest forward, sideways (m/s) and turning (rad/s) velocity, each alone, (3,); 0 without a map."""
        greatest = np.zeros(3)
        for velocity_map in (self.maps[name] for name in self.families if name in self.maps):
            kind = velocity_map.kind
            (_, greatest_amplitude), steering = kind.ranges
            middle = np.array([[greatest_amplitude, value] for value in np.linspace(*steering, 9)])
            steps = velocity_map.steps(middle)
            axis = kind.axis
            greatest[axis] = float(np.max(steps[:, axis])) / self._period
        return greatest

    def target(self, twist: Sequence[float]) -> Tuple[Optional[Target], np.ndarray]:
        """Return the gait for a twist and the velocity that it will have, (3,); None: stand flat.

        Parameters
        ----------
        twist : (3,) sequence of float
            Forward and left (m/s), turning (rad/s); the greater of the first two decides the family.

        Raises
        ------
        SnakeMotionError
            If a value is not finite, or there is no map of the family for this number of modules.
        """
        values = tuple(float(value) for value in twist)
        if len(values) != 3 or not all(map(math.isfinite, values)):
            raise SnakeMotionError(f"cmd_vel is {values}; give three finite numbers")
        excess = max(1.0, float(np.max(np.abs(values) / self._most)))
        return self._solved(tuple(value / excess for value in values))  # the search for inputs knows no 1e308

    def _solve(self, twist: Tuple[float, ...]) -> Tuple[Optional[Target], np.ndarray]:
        if all(abs(value) < still for value, still in zip(twist, _STILL)):
            return None, np.zeros(3)
        ahead, aside = abs(twist[0]) >= _STILL[0], abs(twist[1]) >= _STILL[1]
        name = self.families[2 if not (ahead or aside) else 1 if abs(twist[1]) > abs(twist[0]) else 0]
        if name not in self.maps:
            raise SnakeMotionError(
                f"no velocity map of the family {name} for {self._modules} modules: write one with "
                f"scripts/snake identify --family {name} --modules {self._modules}, then start the robot again"
            )
        kind = self.maps[name].kind
        direction, inputs, step = self.maps[name].inverse([value * self._period for value in twist])
        shape = kind.shape(inputs, self._modules, self._period / PERIOD)
        low, high = kind.ranges[0]
        fraction = (inputs[0] - low) / (high - low)
        return Target(name, shape, direction, kind.rolls, is_steered=True, fraction=fraction), step / self._period
