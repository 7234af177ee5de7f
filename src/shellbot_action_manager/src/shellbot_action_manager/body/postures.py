# SPDX-License-Identifier: MIT
"""Moves of joints and of planted feet between lying and standing, and how a standing robot is recognised."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Optional, Tuple

import numpy as np

from shellbot_action_manager.body.body_pose import feet_in_walk
from shellbot_action_manager.config import PostureConfig
from shellbot_action_manager.gait.swing import smooth_step
from shellbot_common.ground_plane import fit_plane, height_over, plane_normal, plane_through, tilt_over


class JointMove:
    """All lower joints from one posture to another, at rest at both ends, in the time that the rate allows.

    Parameters
    ----------
    start, goal : (6, 4) array
        fan, coxa, femur, tibia per leg, rad.
    rate : float
        Mean speed of the joint that moves farthest, rad/s.
    """

    def __init__(self, start: np.ndarray, goal: np.ndarray, rate: float) -> None:
        self._start, self._goal = start, goal
        self.duration = max(0.3, float(np.abs(goal - start).max()) / rate)
        self._time = 0.0

    @property
    def progress(self) -> float:
        """Fraction of the time that is over, 0..1."""
        return min(self._time / self.duration, 1.0)

    @property
    def done(self) -> bool:
        """Whether the goal is reached."""
        return self._time >= self.duration

    def step(self, dt: float) -> np.ndarray:
        """Return the joints (6, 4) one tick later."""
        self._time += dt
        return self._start + smooth_step(np.array(self.progress)) * (self._goal - self._start)


class FootMove(JointMove):
    """All feet straight from one place in base_link to another, at rest at both ends.

    Parameters
    ----------
    start, goal : (6, 3) array
        m, in base_link.
    duration : float
        s.
    """

    def __init__(self, start: np.ndarray, goal: np.ndarray, duration: float) -> None:
        super().__init__(start, goal, 1.0)
        self.duration = duration


@dataclass(frozen=True)
class Standing:
    """A robot found on its feet."""

    p_walk: np.ndarray  #: (6, 3) Feet in W, m; z > 0 for feet in the air
    pose: np.ndarray  #: (6,) Body pose relative to rest: height, roll and pitch are those found


def find_standing(
    p_base_feet: np.ndarray, tilt: float, rest_height: float, config: PostureConfig
) -> Optional[Standing]:
    """Return how the robot stands, judged from its feet, or None when it does not.

    Parameters
    ----------
    p_base_feet : (6, 3) array
        Measured feet in base_link, m.
    tilt : float
        Of the body against gravity, rad; 0 when there is no IMU.
    rest_height : float
        Of the body's centre above the ground, m.

    Notes
    -----
    The ground is the plane through three feet that leaves no foot below, has the body's centre above the triangle, and
    touches the most feet. Standing needs that plane low enough under the body, and all feet at a plausible radius.
    """
    if tilt > config.upright or not np.isfinite(p_base_feet).all():
        return None
    radius = np.linalg.norm(p_base_feet[:, :2], axis=1)
    if radius.min() < config.standing_radius[0] or radius.max() > config.standing_radius[1]:
        return None
    best: Tuple[int, Optional[np.ndarray]] = (0, None)
    for triple in combinations(range(6), 3):
        plane = plane_through(p_base_feet[list(triple)])
        if plane is None or not _centre_inside(p_base_feet[list(triple), :2]):
            continue
        above = height_over(p_base_feet, plane)
        touching = int((np.abs(above) <= config.plane_tolerance).sum())
        if (above >= -config.plane_tolerance).all() and touching > best[0]:
            best = (touching, fit_plane(p_base_feet[np.abs(above) <= config.plane_tolerance]))
    plane = best[1]
    if plane is None or -plane[2] < config.standing_height:
        return None
    normal = plane_normal(plane)
    roll, pitch = tilt_over(plane)
    if np.arccos(np.clip(normal[2], -1.0, 1.0)) > config.upright:
        return None
    pose = np.array([0.0, 0.0, -plane[2] * normal[2] - rest_height, roll, pitch, 0.0])
    p_walk = feet_in_walk(p_base_feet, pose, rest_height)
    p_walk[np.abs(p_walk[:, 2]) <= config.plane_tolerance, 2] = 0.0
    return Standing(p_walk, pose)


def _centre_inside(triangle: np.ndarray) -> bool:
    ahead = np.roll(triangle, -1, axis=0)
    turn = triangle[:, 0] * ahead[:, 1] - triangle[:, 1] * ahead[:, 0]
    return bool((turn > 0.0).all() or (turn < 0.0).all())
