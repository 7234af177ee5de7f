# SPDX-License-Identifier: MIT
"""ROS messages to the engine's arrays and back."""

from __future__ import annotations

from typing import Dict, List, Mapping, Sequence, Tuple, Union

import numpy as np
import rospy
from geometry_msgs.msg import (
    Point,
    Pose,
    Quaternion,
    Transform,
    TransformStamped,
    Twist,
    Vector3,
    WrenchStamped,
)
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState, PointCloud
from std_msgs.msg import Header

from humanoid_motion.base_state import BaseState
from humanoid_motion.foot_wrenches import FootWrenches, wrench_of_cells
from humanoid_motion.interface import Feedback, Status
from humanoid_motion.parameters import WalkError, WalkParameters
from shellbot_common.motion_conversions import ODOM
from shellbot_common.rotations import quaternion_from_rpy
from shellbot_msgs.msg import Mode, Walkspace
from shellbot_msgs.srv import MoveJointsRequest

_FOOTPRINT = "base_footprint"
_NUMBERS = {"stopped": Mode.STOPPED}
_OTHER_MODE = 255  # the numbers of the message are another robot's; here the name says it


def sole_topics(contacts: str, soles: Sequence[str]) -> List[Tuple[str, type]]:
    """Return topic and message of the force on each sole.

    Parameters
    ----------
    contacts : str
        ``wrench``, or ``cells``: the force sensors of each sole.
    soles : sequence of str
        Their links.

    Raises
    ------
    WalkError
        For anything else.
    """
    kinds = {"wrench": ("contact_wrenches", WrenchStamped), "cells": ("load_cells", PointCloud)}
    if contacts not in kinds:
        raise WalkError(f"contacts is {contacts!r}; choose one of {', '.join(kinds)}")
    topic, kind = kinds[contacts]
    return [(f"{topic}/{sole}", kind) for sole in soles]


def feedback_from_messages(
    states: JointState,
    imu: Imu,
    feet: Mapping[str, Union[WrenchStamped, PointCloud]],
    names: Sequence[str],
    wrenches: FootWrenches,
) -> Feedback:
    """Return the measurement of one tick; `feet` has the wrench, or the force sensors, of each sole.

    Both are in the frame that their header names.

    Raises
    ------
    WalkError
        If joint_states lacks a joint, the IMU knows no orientation (REP 145), or a wrench is not finite, or in a frame
        that is not of its foot.
    """
    index = {name: place for place, name in enumerate(states.name)}
    missing = [name for name in names if name not in index]
    if missing or len(states.position) != len(states.name):
        raise WalkError(f"joint_states lacks {', '.join(missing) or 'positions'}; start the humanoid's own simulator")
    if imu.orientation_covariance[0] == -1.0:
        raise WalkError(
            "imu/data has no orientation (orientation_covariance[0] is -1), which this robot walks by; with the "
            "simulator's setting imu_orientation: true it has"
        )
    q, w = imu.orientation, imu.angular_velocity
    has_accelerometer = imu.linear_acceleration_covariance[0] >= 0.0  # REP 145
    return Feedback(
        q=np.array([states.position[index[name]] for name in names]),
        attitude=(q.x, q.y, q.z, q.w),
        rates=np.array([w.x, w.y, w.z]),
        wrenches=np.array([_about_sole(wrenches, sole, foot) for sole, foot in feet.items()]),
        specific_force=np.array(_vector(imu.linear_acceleration)) if has_accelerometer else None,
    )


def _about_sole(wrenches: FootWrenches, sole: str, foot: Union[WrenchStamped, PointCloud]) -> np.ndarray:
    wrench = wrenches.about_sole(sole, foot.header.frame_id, _wrench(foot))
    if not np.isfinite(wrench).all():
        raise WalkError(f"the wrench of {sole} is not finite; look at its sensor")
    return wrench


def odometry_message(state: BaseState, stamp: rospy.Time, base: str) -> Odometry:
    """Return pose of the base in odom and its twist in its own axes, with covariances."""
    message = Odometry(child_frame_id=base)
    message.header.stamp, message.header.frame_id = stamp, ODOM
    message.pose.pose = Pose(Point(*state.pose[:3]), Quaternion(*quaternion_from_rpy(*state.pose[3:])))
    message.twist.twist = Twist(Vector3(*state.twist[:3]), Vector3(*state.twist[3:]))
    for part, std in ((message.pose, state.pose_std), (message.twist, state.twist_std)):
        part.covariance = np.diag(std**2).ravel().tolist()
    return message


def transforms(state: BaseState, stamp: rospy.Time, base: str) -> List[TransformStamped]:
    """Return odom -> base_footprint, on the floor under the base, and base_footprint -> base."""
    x, y, z, roll, pitch, yaw = state.pose.tolist()
    footprint = Transform(Vector3(x, y, 0.0), Quaternion(*quaternion_from_rpy(0.0, 0.0, yaw)))
    above = Transform(Vector3(0.0, 0.0, z), Quaternion(*quaternion_from_rpy(roll, pitch, 0.0)))
    return [
        TransformStamped(Header(stamp=stamp, frame_id=parent), child, transform)
        for parent, child, transform in ((ODOM, _FOOTPRINT, footprint), (_FOOTPRINT, base, above))
    ]


def walkspace_message(parameters: WalkParameters) -> Walkspace:
    """Return the greatest velocities, so that an operator's keys use them in full; the torso has no body pose."""
    message, (_, most) = Walkspace(), parameters.limits
    for twist, values in ((message.max_velocity, most), (message.max_acceleration, parameters.acceleration)):
        twist.linear.x, twist.linear.y, twist.angular.z = values.tolist()
    return message


def mode_message(status: Status, stamp: rospy.Time) -> Mode:
    """Return the latched topic mode."""
    at_rest = status.target == status.mode
    number = _NUMBERS.get(status.mode, _OTHER_MODE)
    progress = 1.0 if at_rest else status.progress
    message = Mode(mode=number, name=status.mode, target=status.target, progress=progress, text=status.text)
    message.header.stamp = stamp
    return message


def targets_of(request: MoveJointsRequest) -> Dict[str, float]:
    """Return joint to angle, rad; raises WalkError if names and positions do not belong together."""
    if len(request.name) != len(request.position) or len(set(request.name)) != len(request.name):
        raise WalkError(
            f"{len(request.name)} names, {len(request.position)} positions; give one position of each joint"
        )
    return dict(zip(request.name, request.position))


def _wrench(foot: Union[WrenchStamped, PointCloud]) -> Sequence[float]:
    if hasattr(foot, "wrench"):
        return [*_vector(foot.wrench.force), *_vector(foot.wrench.torque)]
    forces = next((channel.values for channel in foot.channels if channel.name == "force"), ())
    if not foot.points or len(forces) != len(foot.points):
        raise WalkError(
            f"load cells in {foot.header.frame_id}: {len(forces)} forces of {len(foot.points)} sensors; give one of "
            "each in the channel force"
        )
    return wrench_of_cells(np.array([_vector(point) for point in foot.points]), np.array(forces)).tolist()


def _vector(vector: object) -> Sequence[float]:
    return [vector.x, vector.y, vector.z]  # type: ignore[attr-defined]
