# SPDX-License-Identifier: MIT
"""What the simulator hands out: snapshots of one instant."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple

import numpy as np

if TYPE_CHECKING:
    from .ground import ContactSnapshot


@dataclasses.dataclass(frozen=True)
class ImuSample:
    """One reading of the inertial unit, in its own frame."""

    #: (4,) Quaternion x, y, z, w of the unit in the world; None of a unit without orientation
    orientation: Optional[np.ndarray]
    angular_velocity: np.ndarray  #: (3,) rad/s
    specific_force: np.ndarray  #: (3,) m/s^2; at rest it points up with the size of gravity


@dataclasses.dataclass(frozen=True)
class GroundContacts:
    """Who touches the ground, and how hard, in the last physics step."""

    foot_contact: np.ndarray  #: (f,) True if the foot carries load
    foot_force: np.ndarray  #: (f, 3) Force of the ground on each foot, world frame, N
    #: (f, 6) What a force sensor in each foot feels: force (N) and moment (N m) of the ground about the origin of the
    #: contact's link, in that link's axes. A plate's centre of pressure follows from it.
    foot_wrench: np.ndarray
    ground_force: np.ndarray  #: (3,) Force of the ground on the whole robot, world frame, N
    #: Links other than feet that touch the ground, sorted (for that of a foot: away from its tip)
    other_links: Tuple[str, ...]
    max_penetration: float  #: Deepest overlap of any contact (ground or self), m, >= 0


@dataclasses.dataclass(frozen=True)
class SimState:
    """The robot at one tick. Arrays are copies: they never change afterwards. What few read is evaluated when it is."""

    time: float  #: Simulated time, s
    tick: int  #: Number of ticks since the reset
    #: q, dq, effort: (n,) Joint positions (rad), velocities (rad/s) and servo torques after limiting (N m; without the
    #: passive damping)
    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray
    #: step_effort, step_velocity: (s, n) Torques (N m) and joint speeds (rad/s) in each physics step of the last tick.
    #: At its end the servos have caught up with the command: power and greatest torque are in these only
    step_effort: np.ndarray
    step_velocity: np.ndarray
    p_world_base: np.ndarray  #: (3,) Position of `base_link` in the world, m
    quat_world_base: np.ndarray  #: (4,) Orientation of `base_link` in the world, quaternion x, y, z, w
    #: v_base, w_base: (3,) Linear (m/s) and angular (rad/s) velocity of `base_link` against the world, in the frame
    #: `base_link`
    v_base: np.ndarray
    w_base: np.ndarray
    imu: ImuSample  #: The inertial unit
    step_contacts: ContactSnapshot  #: Of the last physics step, not evaluated yet
    p_base_foot: np.ndarray  #: (f, 3) Foot tips in `base_link`, m
    find_heights: Callable[[], np.ndarray]  #: Returns `foot_height`

    @functools.cached_property
    def contacts(self) -> GroundContacts:
        """Ground contacts."""
        return self.step_contacts.contacts

    @functools.cached_property
    def foot_height(self) -> np.ndarray:
        """Height of the lowest point of each foot above the ground, (f,), m (negative: penetration)."""
        return self.find_heights()

    def __getstate__(self) -> Dict[str, Any]:
        """Evaluate what another process cannot: it has no model."""
        evaluated = {"contacts": self.contacts, "foot_height": self.foot_height}
        return {**self.__dict__, **evaluated, "step_contacts": None, "find_heights": None}
