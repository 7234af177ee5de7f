# SPDX-License-Identifier: MIT
"""What goes into the action manager at each tick and what comes out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

from shellbot_action_manager.gait.walkspace import WalkspaceLimits
from shellbot_action_manager.modes.mode_machine import ModeStatus
from shellbot_kinematics.references import LimbReferences


@dataclass(frozen=True)
class OperatorCommands:
    """What the operator commands now.

    Attributes
    ----------
    twist : (3,) array
        Forward and sideways speed (m/s) and turning rate (rad/s) in the body frame.
    twist_time : float
        Simulated time at which `twist` arrived, s; -inf: never.
    body_pose : (6,) array
        x, y, z (m), roll, pitch, yaw (rad) of the body relative to its rest pose.
    upper_shells : (2,) array or None
        Sphere centre's height (m) and opening angle (rad); None: shells up.
    gait : str
        Name in the gait table; empty: the one in use.
    """

    twist: np.ndarray = field(default_factory=lambda: np.zeros(3))
    twist_time: float = -math.inf
    body_pose: np.ndarray = field(default_factory=lambda: np.zeros(6))
    upper_shells: Optional[np.ndarray] = None
    gait: str = ""


@dataclass(frozen=True)
class Feedback:
    """What was measured.

    Attributes
    ----------
    joint_position : (n,) array
        rad, in the order of the driven joints; NaN for a joint that was not in the message.
    orientation : (4,) array or None
        Quaternion x, y, z, w of base_link in the world from the IMU; None without one.
    angular_velocity : (3,) array or None
        rad/s in base_link.
    """

    joint_position: np.ndarray
    orientation: Optional[np.ndarray] = None
    angular_velocity: Optional[np.ndarray] = None


@dataclass(frozen=True)
class ContactEstimate:
    """Feet on the ground, from the gait's phase and the measured joints.

    Attributes
    ----------
    contact : (6,) bool array
        lower_1 .. lower_6.
    phase : (6,) array
        In the gait cycle, 0..1; NaN while not walking.
    p_base_foot : (6, 3) array
        Measured feet in base_link, m.
    model : str
        Contact model of the present behaviour, which odometry follows, too.
    """

    contact: np.ndarray
    phase: np.ndarray
    p_base_foot: np.ndarray
    model: str = "feet"


@dataclass(frozen=True)
class ActionOutput:
    """What the action manager says at a tick.

    Attributes
    ----------
    references : LimbReferences or None
        For kinematics; None while nothing is commanded (waiting).
    mode : ModeStatus
        Mode, goal, progress and one sentence.
    contacts : ContactEstimate
        Feet on the ground.
    walkspace : WalkspaceLimits
        Present limits; the same object as long as nothing changed.
    notice : str
        Something that the operator should know about this tick's input; empty when all is well.
    """

    references: Optional[LimbReferences]
    mode: ModeStatus
    contacts: ContactEstimate
    walkspace: WalkspaceLimits
    notice: str = ""
