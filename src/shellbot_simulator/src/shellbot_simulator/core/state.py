# SPDX-License-Identifier: MIT
"""What the simulator hands out: snapshots of one instant."""

from __future__ import annotations

import dataclasses
from typing import Tuple

import numpy as np


@dataclasses.dataclass(frozen=True)
class ImuSample:
    """One reading of the inertial unit, in its own frame.

    Attributes
    ----------
    orientation : (4,) array
        Quaternion x, y, z, w of the unit in the world.
    angular_velocity : (3,) array
        rad/s.
    specific_force : (3,) array
        m/s^2; at rest it points up with the size of gravity.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray


@dataclasses.dataclass(frozen=True)
class GroundContacts:
    """Who touches the ground, and how hard, in the last physics step.

    Attributes
    ----------
    foot_contact : (f,) bool array
        True if the foot carries load.
    foot_force : (f, 3) array
        Force of the ground on each foot, world frame, N.
    ground_force : (3,) array
        Force of the ground on the whole robot, world frame, N.
    other_links : tuple of str
        Links other than feet that touch the ground, sorted (for that of a foot: away from its tip).
    max_penetration : float
        Deepest overlap of any contact (ground or self), m, >= 0.
    """

    foot_contact: np.ndarray
    foot_force: np.ndarray
    ground_force: np.ndarray
    other_links: Tuple[str, ...]
    max_penetration: float


@dataclasses.dataclass(frozen=True)
class SimState:
    """The robot at one tick. Arrays are copies: they never change afterwards.

    Attributes
    ----------
    time : float
        Simulated time, s.
    tick : int
        Number of ticks since the reset.
    q, dq, effort : (n,) arrays
        Joint positions (rad), velocities (rad/s) and servo torques after limiting (N m; without the passive damping).
    p_world_base : (3,) array
        Position of `base_link` in the world, m.
    quat_world_base : (4,) array
        Orientation of `base_link` in the world, quaternion x, y, z, w.
    v_base, w_base : (3,) arrays
        Linear (m/s) and angular (rad/s) velocity of `base_link` against the world, in the frame `base_link`.
    imu : ImuSample
        The inertial unit.
    contacts : GroundContacts
        Ground contacts.
    foot_height : (f,) array
        Height of the lowest point of each foot above the ground, m (negative: penetration).
    p_base_foot : (f, 3) array
        Foot tips in `base_link`, m.
    """

    time: float
    tick: int
    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray
    p_world_base: np.ndarray
    quat_world_base: np.ndarray
    v_base: np.ndarray
    w_base: np.ndarray
    imu: ImuSample
    contacts: GroundContacts
    foot_height: np.ndarray
    p_base_foot: np.ndarray
