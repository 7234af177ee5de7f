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
from snake_motion.chassis import UP, BodyGeometry, body_poses, centre_of_mass, heading, roll_of
from snake_motion.chassis_kernels import carried, place_corners, settle
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
        self._centre = np.zeros(2)  # centre of mass relative to the head
        self._place = np.zeros(2)  # of the chassis
        self._chassis: Optional[np.ndarray] = None  # x, y, yaw
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
        rotation = rotation_from_quaternion(orientation)
        poses = body_poses(q, self._geometry, rotation)
        points = np.empty_like(self._corners)
        lowest = place_corners(poses.centre, poses.rotation, self._corners, points)
        centre = centre_of_mass(poses)
        settle(points, centre[0], centre[1], _SOFTNESS, self._tilt)
        if self._points is None:
            self._place = centre[:2].copy()  # the head begins at the origin of odom
        elif self._time is not None and 0.0 < t - self._time <= GAP:
            still = carried(self._points, points, _SOFTNESS, _CREEP * (t - self._time))
            x, y = centre[:2] - self._centre - still
            scale, cos, sin = slip[0], math.cos(slip[1]), math.sin(slip[1])
            self._place = self._place + scale * np.array([cos * x - sin * y, sin * x + cos * y])
        self._points, self._centre = points, centre[:2].copy()
        state = np.array([*self._place, heading(poses)])
        self._advance(t, state)
        return self._state(rotation, centre, lowest, *roll_of(poses, UP))

    def _advance(self, t: float, state: np.ndarray) -> None:
        before, since = self._chassis, self._time
        self._time, self._chassis = t, state
        if before is None or since is None:
            return
        moved = state - before
        moved[2] = math.remainder(moved[2], 2.0 * math.pi)
        state[2] = before[2] + moved[2]
        step = float(np.hypot(moved[0], moved[1]))
        if 0.0 < t - since <= GAP:
            cos, sin = math.cos(state[2]), math.sin(state[2])
            self._speed = np.array([cos * moved[0] + sin * moved[1], -sin * moved[0] + cos * moved[1], moved[2]])
            self._speed /= t - since
        jacobian = np.array([[1.0, 0.0, -moved[1]], [0.0, 1.0, moved[0]], [0.0, 0.0, 1.0]])
        place = _DISTANCE_STD**2 * step + _TURNING_STD**2 * abs(moved[2])
        noise = np.array([place, place, _HEADING_STD_PER_M**2 * step])
        self._covariance = jacobian @ self._covariance @ jacobian.T
        self._covariance.flat[::4] += noise  # the diagonal

    def _state(self, rotation: np.ndarray, centre: np.ndarray, lowest: float, roll: float, up: float) -> SnakeState:
        assert self._chassis is not None  # _advance has set it
        yaw = float(self._chassis[2])
        cos, sin = math.cos(yaw), math.sin(yaw)
        to_chassis = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        p_head = to_chassis @ np.array([-centre[0], -centre[1], -lowest])
        return SnakeState(
            self._chassis[:2].copy(), yaw, self._speed.copy(), self._covariance + _LEAST, p_head,
            to_chassis @ rotation, roll, up,
        )  # fmt: skip


@dataclass(frozen=True)
class _SlipRow(Settings, error=SnakeMotionError):
    scale: float = number(0.0, 10.0)
    turn_deg: float = number(-90.0, 90.0, "deg")


def load_slips(file: Optional[Union[str, Path]] = None) -> Dict[Tuple[str, int], Slip]:
    """Return the slip by gait or family and direction; ``config/odometry.yaml`` of the package if not given.

    Raises
    ------
    SnakeMotionError
        If the file cannot be read or a row is wrong; names file and key.
    """
    path = file or package_file("snake_motion", "config/odometry.yaml")
    slips: Dict[Tuple[str, int], Slip] = {}
    for name, row in read_yaml(path, SnakeMotionError).items():
        for direction, values in (row if isinstance(row, Mapping) else {"": row}).items():
            if str(direction) not in ("1", "-1") or not isinstance(values, (list, tuple)) or len(values) != 2:
                raise SnakeMotionError(f'{path}: {name} is {row!r}; give {{"1": [scale, deg], "-1": [scale, deg]}}')
            keys = {"scale": values[0], "turn_deg": values[1]}
            found = _SlipRow.from_mapping(keys, f"{path}: {name} {direction}: ")
            slips[str(name), int(direction)] = (found.scale, math.radians(found.turn_deg))
    return slips
