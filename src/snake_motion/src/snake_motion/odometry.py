# SPDX-License-Identifier: MIT
"""Where the snake is: attitude from the IMU, shape from the joints, and the corners that carry it stand still.

The lowest corners carry the body; between two ticks the mean of their displacements, weighted by how low they are, is
zero if they do not slip. They do slip, by a fraction that depends on the gait and little on friction, so the result is
scaled by a measured factor of each gait. Heading is that of the IMU's attitude.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Optional

import numpy as np

from shellbot_common import GAP
from shellbot_common.rotations import rotation_from_quaternion
from snake_motion.chassis import BodyGeometry, BodyPoses, body_poses, centre_of_mass, heading, roll_of

_SOFTNESS = 0.001  # m of height over which a corner's share in carrying falls to 1/e
_HEADING_STD_PER_M = math.radians(2.0)  # rad/m
_DISTANCE_STD = 0.05  # m a metre along the path: what the factors leave (docs/snake.md)
_LEAST_STD = 0.001  # m


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
        self._p_head = np.zeros(2)
        self._chassis: Optional[np.ndarray] = None  # x, y, yaw
        self._speed = np.zeros(3)
        self._covariance = np.diag([1e-9, 1e-9, 1e-9])

    def step(self, t: float, q: np.ndarray, orientation: np.ndarray, scale: float = 1.0) -> SnakeState:
        """Take a tick.

        Parameters
        ----------
        t : float
            Simulated time, s.
        q : (n,) array
            Measured joints, rad, finite.
        orientation : (4,) array
            Quaternion x, y, z, w of the head in the world.
        scale : float
            Distance travelled over distance estimated of the present gait.
        """
        rotation = rotation_from_quaternion(orientation)
        local = body_poses(q, self._geometry)
        poses = BodyPoses(local.centre @ rotation.T, rotation @ local.rotation)
        corners = poses.centre[:, None, :] + np.einsum("bij,bcj->bci", poses.rotation, self._corners)
        points = corners.reshape(-1, 3)
        if self._points is not None and self._time is not None and 0.0 < t - self._time <= GAP:
            self._p_head -= scale * self._slip_free(points)
        self._points = points
        centre = centre_of_mass(poses)
        state = np.array([*(self._p_head + centre[:2]), heading(poses)])
        self._advance(t, state)
        roll, _ = roll_of(poses, np.array([0.0, 0.0, 1.0]))
        return self._state(rotation, centre, float(points[:, 2].min()), roll, float(np.mean(poses.rotation[:, 2, 2])))

    def _slip_free(self, points: np.ndarray) -> np.ndarray:
        """Return how the corners that carry moved relative to the head, m, (2,)."""
        assert self._points is not None  # the caller has checked it
        height = 0.5 * (points[:, 2] + self._points[:, 2])
        weight = np.exp(-(height - height.min()) / _SOFTNESS)
        return weight @ (points - self._points)[:, :2] / weight.sum()

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
        noise = np.array([_DISTANCE_STD**2, _DISTANCE_STD**2, _HEADING_STD_PER_M**2]) * step
        self._covariance = jacobian @ self._covariance @ jacobian.T + np.diag(noise)

    def _state(self, rotation: np.ndarray, centre: np.ndarray, lowest: float, roll: float, up: float) -> SnakeState:
        assert self._chassis is not None  # _advance has set it
        yaw = float(self._chassis[2])
        cos, sin = math.cos(yaw), math.sin(yaw)
        to_chassis = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        p_head = to_chassis @ np.array([-centre[0], -centre[1], -lowest])
        least = np.diag([_LEAST_STD**2, _LEAST_STD**2, 1e-8])
        return SnakeState(
            self._chassis[:2].copy(), yaw, self._speed.copy(), self._covariance + least, p_head,
            to_chassis @ rotation, roll, up,
        )  # fmt: skip
