# SPDX-License-Identifier: MIT
"""What goes into the action manager at each tick and what comes out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np

if TYPE_CHECKING:  # modes check the names of the behaviours, and those name contact models, which import this
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
    lost_legs: Tuple[int, ...] = ()  #: Numbers of the lower legs that cannot be walked with, 1 to 6
    #: (3,) Of a foot that an action leads by hand, in the axes of its leg: out, left, up, m/s
    foot_velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    foot_velocity_time: float = -math.inf  #: Simulated time at which it arrived, s; -inf: never


@dataclass(frozen=True)
class Feedback:
    """What was measured."""

    #: (n,) rad, in the order of the driven joints; NaN for a joint that was not in the message
    joint_position: np.ndarray
    #: (4,) Quaternion x, y, z, w of base_link in the world from the IMU; None without one
    orientation: Optional[np.ndarray] = None
    angular_velocity: Optional[np.ndarray] = None  #: (3,) rad/s in base_link
    #: (3,) x, y (m) and yaw (rad) in odom, of the tick before at the latest; None: not known. Actions that walk need it
    pose: Optional[np.ndarray] = None
    effort: Optional[np.ndarray] = None  #: (n,) Torques of the joints, N m; None: not measured


@dataclass(frozen=True)
class ContactEstimate:
    """What the robot touches the ground with, from the command and the measured joints; k contacts below."""

    model: str  #: Contact model of the present behaviour, which odometry follows, too
    names: Tuple[str, ...]  #: Frames of the description, such as lower_1_foot
    in_contact: np.ndarray  #: (k,) Which of them carry load
    phase: np.ndarray  #: (k,) In the gait cycle, 0..1; NaN without a gait
    load_share: np.ndarray  #: (k,) Fraction of the load on all contacts, 0..1; NaN: not known
    position: np.ndarray  #: (k, 3) Measured, of these frames in base_link, m
    centre_of_pressure: np.ndarray  #: (k, 3) In base_link, m; NaN without contact, or not known
    #: (k, 3) Where the point of the robot that was the centre of pressure at the previous tick is now, in base_link, m:
    #: on a floor without slip it has not moved. NaN without contact at that tick, or not known
    previous_centre: np.ndarray
    #: Heading in the IMU's level axes that the behaviour steers by, rad; None: the yaw of base_link
    heading: Optional[float] = None


@dataclass(frozen=True)
class ActionOutput:
    """What the action manager says at a tick."""

    references: Optional[LimbReferences]  #: For kinematics; None while nothing is commanded (waiting)
    mode: ModeStatus  #: Mode, goal, progress and one sentence
    contacts: Optional[ContactEstimate]  #: What touches the ground; None before the first joint states
    walkspace: WalkspaceLimits  #: Present limits; the same object as long as nothing changed
    notice: str = ""  #: Something that the operator should know about this tick's input; empty when all is well
