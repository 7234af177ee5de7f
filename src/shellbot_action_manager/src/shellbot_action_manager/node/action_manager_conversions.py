# SPDX-License-Identifier: MIT
"""Messages of the action manager to and from the arrays of its core."""

from __future__ import annotations

import math
from typing import Dict, Iterable, Optional, Sequence, Tuple

import numpy as np
import rospy
from geometry_msgs.msg import Point, Pose, Twist, Vector3
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import UInt8MultiArray

from shellbot_action_manager.actions.library import ActionLibrary
from shellbot_action_manager.gait.walkspace import WalkspaceLimits
from shellbot_action_manager.interface import ContactEstimate
from shellbot_action_manager.modes.mode_machine import ModeStatus
from shellbot_common.rotations import rpy_from_quaternion
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS
from shellbot_msgs.msg import (
    ActionDescription,
    ActionDescriptions,
    ActionParameter,
    Contact,
    Contacts,
    Footsteps,
    Walkspace,
)
from shellbot_msgs.msg import Mode as ModeMsg

FRAME_ID = "base_link"


def lost_legs(message: UInt8MultiArray) -> Tuple[int, ...]:
    """Return the numbers of the legs, each once.

    Raises
    ------
    ValueError
        If there is no such leg.
    """
    legs = tuple(sorted(set(message.data)))
    if not all(1 <= leg <= 6 for leg in legs):
        raise ValueError(f"lost_legs is {list(legs)}; give numbers of lower legs, 1 to 6, or none")
    return legs


class MeasuredJoints:
    """Picks the driven joints out of joint_states, whatever their order and whoever else is in the message.

    A joint that is missing is NaN, for the core to hold; `shellbot_control.JointOrder` refuses such a message.

    Parameters
    ----------
    names : sequence of str
        Driven joints, in the order of the arrays.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._seen: Tuple[str, ...] = ()
        self._index = np.zeros(0, dtype=int)
        self._known = np.zeros(0, dtype=bool)

    def positions(self, message: JointState) -> np.ndarray:
        """Return the positions (n,) in rad; NaN for joints that are not in the message."""
        return self._pick(message.name, message.position)

    def efforts(self, message: JointState) -> Optional[np.ndarray]:
        """Return the torques (n,), N m; NaN for joints that are not in the message, None if it has none at all."""
        return self._pick(message.name, message.effort) if len(message.effort) else None

    def _pick(self, given: Sequence[str], values: Sequence[float]) -> np.ndarray:
        names = tuple(given)
        if names != self._seen:
            place: Dict[str, int] = {name: i for i, name in enumerate(names)}
            self._index = np.array([place.get(name, 0) for name in self._names], dtype=int)
            self._known = np.array([name in place for name in self._names])
            self._seen = names
        array = np.asarray(values, dtype=np.float64)
        if array.size != len(names) or not names:
            return np.full(len(self._names), np.nan)
        return np.where(self._known, array[self._index], np.nan)


def odometry_to_pose(message: Odometry) -> np.ndarray:
    """Return x, y (m) and yaw (rad) in odom."""
    p, q = message.pose.pose.position, message.pose.pose.orientation
    return np.array([p.x, p.y, rpy_from_quaternion(q.x, q.y, q.z, q.w)[2]])


def imu_to_arrays(message: Imu) -> Tuple[float, Optional[np.ndarray], np.ndarray, np.ndarray]:
    """Return stamp (s), quaternion (4,) x, y, z, w, angular velocity (3,) and specific force (3,), rad/s and m/s^2.

    What the IMU does not have (its covariance begins with -1, REP 145) is None for the orientation, NaN for the others.
    """
    q, w, f = message.orientation, message.angular_velocity, message.linear_acceleration
    absent = np.full(3, np.nan)
    return (
        message.header.stamp.to_sec(),
        None if message.orientation_covariance[0] == -1.0 else np.array([q.x, q.y, q.z, q.w]),
        absent if message.angular_velocity_covariance[0] == -1.0 else np.array([w.x, w.y, w.z]),
        absent if message.linear_acceleration_covariance[0] == -1.0 else np.array([f.x, f.y, f.z]),
    )


def twist_to_array(message: Twist) -> np.ndarray:
    """Return forward, sideways (m/s) and turning (rad/s) speed, (3,)."""
    return np.array([message.linear.x, message.linear.y, message.angular.z])


def body_pose_to_array(message: Pose) -> np.ndarray:
    """Return x, y, z (m), roll, pitch, yaw (rad), (6,); a zero quaternion means no rotation, nonsense becomes NaN."""
    q = message.orientation
    quaternion = np.array([q.x, q.y, q.z, q.w])
    norm = np.linalg.norm(quaternion)
    rpy = np.zeros(3) if norm == 0.0 else np.full(3, np.nan)
    if np.isfinite(norm) and norm > 1e-3:
        rpy = np.array(rpy_from_quaternion(*quaternion))
    p = message.position
    return np.array([p.x, p.y, p.z, *rpy])


def mode_to_message(status: ModeStatus, stamp: rospy.Time) -> ModeMsg:
    """Return the message of the latched topic `mode`."""
    message = ModeMsg(
        mode=int(status.mode),
        name=status.name,
        target=status.target.label,
        step=status.step,
        progress=status.progress,
        text=status.text,
    )
    message.header.stamp = stamp
    return message


def contacts_to_message(contacts: ContactEstimate, stamp: rospy.Time) -> Contacts:
    """Return the message of the topic `foot_contacts`."""
    points = (contacts.position, contacts.centre_of_pressure, contacts.previous_centre)
    columns = (contacts.in_contact, contacts.phase, contacts.load_share, *points)
    rows = zip(contacts.names, *(column.tolist() for column in columns))
    message = Contacts(
        model=contacts.model,
        has_heading=contacts.heading is not None,
        heading=contacts.heading or 0.0,
        contacts=[
            Contact(name, in_contact, phase, load, Point(*position), Point(*pressure), Point(*previous))
            for name, in_contact, phase, load, position, pressure, previous in rows
        ],
    )
    message.header.stamp, message.header.frame_id = stamp, FRAME_ID
    return message


def footsteps_to_message(p_base: Optional[np.ndarray], stamp: rospy.Time) -> Footsteps:
    """Return the message of the topic `footsteps`, of feet (6, 3) in base_link, m; NaN: stands, None: not planned."""
    message = Footsteps()
    message.header.stamp, message.header.frame_id = stamp, FRAME_ID
    for limb, point in zip(LOWER_LIMBS, () if p_base is None else p_base.tolist()):
        if math.isfinite(point[0]):
            message.names.append(f"{limb}_foot")
            message.positions.append(Point(*point))
    return message


def walkspace_to_message(limits: WalkspaceLimits, gaits: Iterable[str], stamp: rospy.Time) -> Walkspace:
    """Return the message of the latched topic `walkspace`, with the names of all gaits."""
    message = Walkspace(
        max_velocity=_twist(limits.max_velocity),
        max_acceleration=_twist(limits.max_acceleration),
        min_shift=Vector3(*limits.min_shift.tolist()),
        max_shift=Vector3(*limits.max_shift.tolist()),
        max_tilt=Vector3(*limits.max_tilt.tolist()),
        gait=limits.gait,
        gaits=list(gaits),
    )
    message.header.stamp, message.header.frame_id = stamp, FRAME_ID
    return message


def descriptions_to_message(library: ActionLibrary) -> ActionDescriptions:
    """Return what an operator has to know of the actions of a library, in order of their names."""
    return ActionDescriptions(
        [
            ActionDescription(
                action.name,
                action.text,
                [
                    ActionParameter(name, p.default, p.low, p.high, p.unit, p.text, p.is_whole)
                    for name, p in action.parameters.items()
                ],
                action.cancel,
            )
            for _, action in sorted(library.actions.items())
        ]
    )


def _twist(values: np.ndarray) -> Twist:
    x, y, w = values.tolist()
    return Twist(linear=Vector3(x, y, 0.0), angular=Vector3(0.0, 0.0, w))
