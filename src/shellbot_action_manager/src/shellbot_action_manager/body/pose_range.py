# SPDX-License-Identifier: MIT
"""Which body poses the legs allow: range of each coordinate, and a commanded pose shortened to it."""

from __future__ import annotations

from typing import Callable, Optional, Tuple

import numpy as np

from shellbot_action_manager.body.body_pose import REST_POSE, feet_in_base
from shellbot_action_manager.body.holding import Holding
from shellbot_action_manager.body.legs import LegGeometry
from shellbot_action_manager.config import ActionManagerConfig
from shellbot_action_manager.gait.gait_table import Gait
from shellbot_action_manager.gait.walking import NO_LEG, neutral_feet

_BISECTIONS = 8
_NAMES = ("x", "y", "height", "roll", "pitch", "yaw")


def box(config: ActionManagerConfig) -> Tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest pose (6,) of the configured box, m and rad."""
    low = [pair[0] for pair in config.body.shift_range] + [-tilt for tilt in config.body.tilt_range]
    high = [pair[1] for pair in config.body.shift_range] + list(config.body.tilt_range)
    return np.array(low), np.array(high)


def obstacle(
    pose: np.ndarray,
    config: ActionManagerConfig,
    legs: LegGeometry,
    gait: Gait,
    walking: bool,
    idle: np.ndarray = NO_LEG,
) -> str:
    """Return what forbids a pose, in words; empty when nothing does. The feet of `idle` legs (6,) do not count.

    Standing, the feet have to reach their rest points; walking, they also have to keep some stride and the lift around
    the points of the walking stance.
    """
    feet = np.zeros((6, 17, 3))
    feet[..., :2] = neutral_feet(gait.stance_radius if walking else gait.rest_radius)[:, None, :]
    if walking:
        angles = np.arange(8) * (np.pi / 4.0)
        ring = 0.5 * config.body.stride_reserve * np.stack((np.cos(angles), np.sin(angles)), axis=1)
        feet[:, :8, :2] += ring
        feet[:, 8:16, :2] += ring
        feet[:, 8:, 2] = gait.lift_height
    q = legs.solve(feet_in_base(feet, pose, gait.stance_height))
    for samples, stands in ((q[:, :8], True), (q[:, 8:], not walking)):
        margin = legs.margin(samples, stands)
        margin[idle] = np.inf
        if (margin < config.joint_margin).any():
            worst = np.argmin(margin.min(axis=-1), axis=1)  # sample per leg
            return legs.explain(samples[np.arange(6), worst], config.joint_margin, stands, idle)
    return ""


def clamp_pose(
    commanded: np.ndarray,
    config: ActionManagerConfig,
    legs: LegGeometry,
    gait: Gait,
    walking: bool,
    idle: np.ndarray = NO_LEG,
    home: np.ndarray = REST_POSE,
    holding: Optional[Holding] = None,
) -> Tuple[np.ndarray, str]:
    """Return the pose shortened to the box, the legs' reach and the servos' torque, and a sentence if it was.

    Parameters
    ----------
    commanded : (6,) array
        Body pose relative to rest, m and rad.
    idle : (6,) bool array
        Legs whose feet do not count.
    home : (6,) array
        Pose without a command, towards which it is shortened: the lean of a robot without a leg.
    holding : Holding, optional
        Judges the torques of the robot that stands still on its other feet; None: they do not count.
    """
    if not np.isfinite(commanded).all():
        return np.zeros(6), "body_pose is not a number; going to the rest pose, send finite values"
    low, high = box(config)
    pose = np.clip(commanded, low, high)
    text = ""
    if (pose != commanded).any():
        axis = int(np.argmax(np.abs(pose - commanded)))
        text = f"body pose limited: {_NAMES[axis]} {commanded[axis]:.3f} is outside {low[axis]:.3f} to {high[axis]:.3f}"
    total = 1.0

    def blocking(part: np.ndarray) -> str:
        return obstacle(part, config, legs, gait, walking, idle)

    def too_heavy(part: np.ndarray) -> str:
        assert holding is not None
        feet = np.zeros((6, 1, 3))
        feet[:, 0, :2] = neutral_feet(gait.stance_radius if walking else gait.rest_radius)
        q = legs.solve(feet_in_base(feet, part, gait.stance_height))[:, 0]
        return holding.pose_obstacle(q, part[3:], idle)

    home = np.clip(home, low, high)
    if home.any() and blocking(home):
        home = REST_POSE
    # what is within reach at some fraction is so at every smaller one: torques are looked at there only
    for hindrance in (blocking,) if holding is None or (pose == home).all() else (blocking, too_heavy):
        fraction, reason = _largest_fraction(pose, hindrance, home)
        if reason:
            pose, total = home + fraction * (pose - home), total * fraction
            while_walking = " while walking" if walking else ""
            text = f"body pose limited to {10 * int(10.0 * total)} %{while_walking}: {reason}"
    return pose, text


def pose_ranges(
    config: ActionManagerConfig, legs: LegGeometry, gait: Gait, walking: bool
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return lowest shift, highest shift (m) and greatest tilt (rad), (3,) each, of one coordinate alone."""

    def blocking(part: np.ndarray) -> str:
        return obstacle(part, config, legs, gait, walking)

    low, high = box(config)
    reach = np.zeros((2, 6))
    for side, bound in enumerate((low, high)):
        for axis in range(6):
            pose = np.zeros(6)
            pose[axis] = bound[axis]
            reach[side, axis] = bound[axis] * _largest_fraction(pose, blocking)[0]
    return reach[0, :3], reach[1, :3], np.minimum(-reach[0, 3:], reach[1, 3:])


def _largest_fraction(
    pose: np.ndarray, hindrance: Callable[[np.ndarray], str], home: np.ndarray = REST_POSE
) -> Tuple[float, str]:
    """Return which fraction of the path from `home` to a pose is possible, 0..1, and what forbids a little more."""
    reason = hindrance(pose)
    if not reason:
        return 1.0, ""
    good, bad = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (good + bad)
        found = hindrance(home + middle * (pose - home))
        if found:
            bad, reason = middle, found
        else:
            good = middle
    return good, reason
