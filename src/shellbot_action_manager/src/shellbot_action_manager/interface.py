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
    """What the operator commands now."""

    #: (3,) Forward and sideways speed (m/s) and turning rate (rad/s) in the body frame
    twist: np.ndarray = field(default_factory=lambda: np.zeros(3))
    twist_time: float = -math.inf  #: Simulated time at which `twist` arrived, s; -inf: never
    #: (6,) x, y, z (m), roll, pitch, yaw (rad) of the body relative to its rest pose
    body_pose: np.ndarray = field(default_factory=lambda: np.zeros(6))
    #: (2,) Sphere centre's height (m) and opening angle (rad); None: shells up
    upper_shells: Optional[np.ndarray] = None
    gait: str = ""  #: Name in the gait table; empty: the one in use


@dataclass(frozen=True)
class Feedback:
    """What was measured."""

    #: (n,) rad, in the order of the driven joints; NaN for a joint that was not in the message
    joint_position: np.ndarray
    #: (4,) Quaternion x, y, z, w of base_link in the world from the IMU; None without one
    orientation: Optional[np.ndarray] = None
    angular_velocity: Optional[np.ndarray] = None  #: (3,) rad/s in base_link


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
