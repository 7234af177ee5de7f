# SPDX-License-Identifier: MIT
"""Where the snake is: attitude from the IMU, shape from the joints, place from friction on the corners that carry it.

The lowest corners carry the body. In slow motion the forces of friction on it cancel: the sum of N v / |v| over
corners with the loads N and velocities v is zero, whatever the coefficient. So between two ticks the body moves such
that the sum of N |v| is least; loads are guessed from heights, on ground that is tilted until they balance the weight:
half a degree more, the error of a joint or of an attitude one millisecond old, carries the body on other corners. What
inertia and that guess leave depends on the gait
and little on friction, so the displacement of the chassis is corrected by the gait's measured factor and direction.
Heading is that of the IMU's attitude.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Mapping, Optional, Tuple, Union

import numpy as np

from shellbot_common import GAP, Settings, number, package_file, read_yaml
from shellbot_common.rotations import rotation_from_quaternion
from snake_motion.chassis import BodyGeometry
from snake_motion.chassis_kernels import carried, spread, stand
from snake_motion.errors import SnakeMotionError

Slip = Tuple[float, float]
"""True over estimated distance, and direction of the true one against the estimated one, rad."""

NO_SLIP: Slip = (1.0, 0.0)

LEAST = "_least"
"""After the name of a family: its slip at the least amplitude; its own name stands for the greatest."""

_SOFTNESS = 0.003  # m of height over which a corner's load falls to 1/e
_CREEP = 0.01  # m/s, below which a corner counts as sticking
_HEADING_STD_PER_M = math.radians(2.0)  # rad/m
_DISTANCE_STD = 0.05  # m a metre along the path: what the factors leave (docs/snake.md)
_TURNING_STD = 0.01  # m a radian
_SPEED_TIME = 0.2  # s over which speeds are averaged: a tick of the attitude's noise alone would be 0.3 rad/s
_LEAST = np.diag([1e-6, 1e-6, 1e-8])  # covariance, m^2 and rad^2, of an estimate that has just begun


@dataclass(frozen=True)
class SnakeState:
    """The estimate at one tick."""

    p_odom_chassis: np.ndarray  #: (2,) Virtual chassis on the ground, m
    yaw: float  #: Of the chassis in odom, rad, continuous
    v_chassis: np.ndarray  #: (3,) Forward, left (m/s) and turning (rad/s) speed of the chassis, in its axes
    covariance: np.ndarray  #: (3, 3) Of x, y (m) and yaw (rad) in odom
    p_chassis_head: np.ndarray  #: (3,) Head in the chassis' frame on the ground, m
    rotation_chassis_head: np.ndarray  #: (3, 3) head -> chassis
    roll: float  #: Of the body about its axis, rad
    up: float  #: Mean component of the bodies' tops along the vertical, -1 .. 1


class SnakeOdometry:
    """Integrates; call `step` at each tick.

    Parameters
    ----------
    geometry : BodyGeometry
        Sizes of the modules.
    """

    def __init__(self, geometry: BodyGeometry) -> None:
        self._geometry = geometry
        half = 0.5 * np.array([geometry.length, geometry.width, geometry.height])
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
        self._corners = np.repeat((signs * half)[None], geometry.modules + 1, axis=0)  # (bodies, 8, 3) in each body
        self._corners[[0, -1], :, 0] *= 0.5  # half modules at the ends
        self.reset()

    def reset(self) -> None:
        """Begin at the origin of odom."""
        self._time: Optional[float] = None
        self._points: Optional[np.ndarray] = None  # corners relative to the head, in odom's axes
        self._tilt = np.zeros(2)  # rad about x and y, by which attitude and joints are wrong, as the ground says
        self._centre = (0.0, 0.0)  # centre of mass relative to the head
        self._chassis = (0.0, 0.0, 0.0)  # x, y, yaw
        self._speed = np.zeros(3)
        self._covariance = np.diag([1e-9, 1e-9, 1e-9])

    def step(self, t: float, q: np.ndarray, orientation: np.ndarray, slip: Slip = NO_SLIP) -> SnakeState:
        """Take a tick.

        Parameters
        ----------
        t : float
            Simulated time, s.
        q : (n,) array
            Measured joints, rad, finite.
        orientation : (4,) array
            Quaternion x, y, z, w of the head in the world.
        slip : (float, float)
            Of the present gait.
        """
        points, p_head, rotation_head = np.empty_like(self._corners), np.empty(3), np.empty((3, 3))
        x, y, yaw, roll, up = stand(
            np.ascontiguousarray(q, dtype=float), self._geometry.length, rotation_from_quaternion(orientation),
            self._corners, _SOFTNESS, self._tilt, points, p_head, rotation_head,
        )  # fmt: skip
        if self._points is None or self._time is None:
            self._chassis = (x, y, yaw)  # the head begins at the origin of odom
        else:
            self._move(t - self._time, points, (x, y), yaw, slip)
        self._time, self._points, self._centre = t, points, (x, y)
        return SnakeState(
            np.array(self._chassis[:2]), self._chassis[2], self._speed, self._covariance + _LEAST, p_head,
            rotation_head, roll, up,
        )  # fmt: skip

    def _move(self, elapsed: float, points: np.ndarray, centre: Tuple[float, float], yaw: float, slip: Slip) -> None:
        """Go on to where friction carries the body; a step that is no tick turns it only."""
        x, y, before = self._chassis
        turned, dx, dy = math.remainder(yaw - before, 2.0 * math.pi), 0.0, 0.0
        yaw = before + turned
        if 0.0 < elapsed <= GAP:
            still_x, still_y = carried(self._points, points, _SOFTNESS, _CREEP * elapsed)
            own_x, own_y = centre[0] - self._centre[0] - still_x, centre[1] - self._centre[1] - still_y
            scale, cos, sin = slip[0], math.cos(slip[1]), math.sin(slip[1])
            dx, dy = scale * (cos * own_x - sin * own_y), scale * (sin * own_x + cos * own_y)
            cos, sin = math.cos(yaw), math.sin(yaw)
            present = ((cos * dx + sin * dy) / elapsed, (cos * dy - sin * dx) / elapsed, turned / elapsed)
            part = elapsed / (elapsed + _SPEED_TIME)
            self._speed = self._speed + part * (np.array(present) - self._speed)
        distance = math.hypot(dx, dy)
        self._chassis = (x + dx, y + dy, yaw)
        place = _DISTANCE_STD**2 * distance + _TURNING_STD**2 * abs(turned)
        spread(self._covariance, dx, dy, place, _HEADING_STD_PER_M**2 * distance)


@dataclass(frozen=True)
class _SlipRow(Settings, error=SnakeMotionError):
    scale: float = number(0.0, 10.0)
    turn_deg: float = number(-90.0, 90.0, "deg")


def slips_file(modules: int) -> Path:
    """Return the package's file of slips for a snake of so many modules; that of 16 where there is no other."""
    path = Path(package_file("snake_motion", "config/odometry.yaml"))
    own = path.with_name(f"odometry_{modules}.yaml")
    return own if own.is_file() else path


def load_slips(file: Union[str, Path]) -> Dict[Tuple[str, int], Slip]:
    """Return the slip by gait or family and direction; of the package: `slips_file`.

    Raises
    ------
    SnakeMotionError
        If the file cannot be read or a row is wrong; names file and key.
    """
    slips: Dict[Tuple[str, int], Slip] = {}
    for name, row in read_yaml(file, SnakeMotionError).items():
        for direction, values in (row if isinstance(row, Mapping) else {"": row}).items():
            if str(direction) not in ("1", "-1") or not isinstance(values, (list, tuple)) or len(values) != 2:
                raise SnakeMotionError(f'{file}: {name} is {row!r}; give {{"1": [scale, deg], "-1": [scale, deg]}}')
            keys = {"scale": values[0], "turn_deg": values[1]}
            found = _SlipRow.from_mapping(keys, f"{file}: {name} {direction}: ")
            slips[str(name), int(direction)] = (found.scale, math.radians(found.turn_deg))
    return slips
