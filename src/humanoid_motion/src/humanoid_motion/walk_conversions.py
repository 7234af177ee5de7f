# SPDX-License-Identifier: MIT
"""ROS messages to the engine's arrays and back."""

from __future__ import annotations

from typing import Dict, Mapping, Sequence

import numpy as np
import rospy
from geometry_msgs.msg import TransformStamped, WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState

from humanoid_motion.foot_wrenches import FootWrenches
from humanoid_motion.interface import EngineState, Feedback
from humanoid_motion.parameters import WalkError, WalkParameters
from humanoid_motion.robot_core import Status
from shellbot_common.rotations import quaternion_from_rpy
from shellbot_msgs.msg import Mode, Walkspace
from shellbot_msgs.srv import MoveJointsRequest

_ODOMETRY_ERROR = 0.007  # m of error a m of path, two thirds of the time; docs/humanoid.md
_HEADING_STD = 0.01  # rad
_NUMBERS = {"stopped": Mode.STOPPED}
_OTHER_MODE = 255  # the numbers of the message are another robot's; here the name says it
_HEIGHT = 0.31  # m; the base's height, which the walk keeps


def feedback_from_messages(
    states: JointState, imu: Imu, feet: Mapping[str, WrenchStamped], names: Sequence[str], wrenches: FootWrenches
) -> Feedback:
    """Return the measurement of one tick; `feet` has the wrench of each sole, in the frame that its header names.

    Raises
    ------
    WalkError
        If joint_states lacks a joint, or a wrench is in a frame that is not of its foot.
    """
    index = {name: place for place, name in enumerate(states.name)}
    missing = [name for name in names if name not in index]
    if missing or len(states.position) != len(states.name):
        raise WalkError(f"joint_states lacks {', '.join(missing) or 'positions'}; start the humanoid's own simulator")
    q, w = imu.orientation, imu.angular_velocity
    has_accelerometer = imu.linear_acceleration_covariance[0] >= 0.0  # REP 145
    return Feedback(
        q=np.array([states.position[index[name]] for name in names]),
        attitude=(q.x, q.y, q.z, q.w),
        rates=np.array([w.x, w.y, w.z]),
        wrenches=np.array(
            [
                wrenches.about_sole(
                    sole, foot.header.frame_id, [*_vector(foot.wrench.force), *_vector(foot.wrench.torque)]
                )
                for sole, foot in feet.items()
            ]
        ),
        specific_force=np.array(_vector(imu.linear_acceleration)) if has_accelerometer else None,
    )


def targets_message(command: np.ndarray, names: Sequence[str], stamp: rospy.Time) -> JointState:
    """Return joint angles (n,), rad, as joint_targets."""
    message = JointState(name=list(names), position=command.tolist())
    message.header.stamp = stamp
    return message


def odometry_message(state: EngineState, path: float, stamp: rospy.Time, base: str) -> Odometry:
    """Return the pose of the base in `odom`, with a covariance that grows with the path walked (m)."""
    message = Odometry(child_frame_id=base)
    message.header.stamp, message.header.frame_id = stamp, "odom"
    pose = message.pose.pose
    pose.position.x, pose.position.y, pose.position.z = float(state.base[0]), float(state.base[1]), _HEIGHT
    orientation = pose.orientation
    orientation.x, orientation.y, orientation.z, orientation.w = quaternion_from_rpy(0.0, 0.0, float(state.base[2]))
    place = (_ODOMETRY_ERROR * path + 0.002) ** 2
    diagonal = [place, place, 1e-5, 1e-4, 1e-4, _HEADING_STD**2]
    message.pose.covariance = np.diag(diagonal).ravel().tolist()
    return message


def transform_message(odometry: Odometry) -> TransformStamped:
    """Return the transform odom -> base."""
    message = TransformStamped(header=odometry.header, child_frame_id=odometry.child_frame_id)
    place = odometry.pose.pose.position
    message.transform.translation.x, message.transform.translation.y = place.x, place.y
    message.transform.translation.z = place.z
    message.transform.rotation = odometry.pose.pose.orientation
    return message


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
    message = Mode(mode=number, name=status.mode, target=status.target, progress=float(at_rest), text=status.text)
    message.header.stamp = stamp
    return message


def targets_of(request: MoveJointsRequest) -> Dict[str, float]:
    """Return joint to angle, rad; raises WalkError if names and positions do not belong together."""
    if len(request.name) != len(request.position) or len(set(request.name)) != len(request.name):
        raise WalkError(
            f"{len(request.name)} names, {len(request.position)} positions; give one position of each joint"
        )
    return dict(zip(request.name, request.position))


def _vector(vector: object) -> Sequence[float]:
    return [vector.x, vector.y, vector.z]  # type: ignore[attr-defined]
