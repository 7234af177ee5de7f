# SPDX-License-Identifier: MIT
"""Records the robot that runs over ROS, and what its simulator knows of it."""

from __future__ import annotations

from typing import Tuple

import numpy as np
import rospy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from shellbot_common.rotations import yaw_from_quaternion

from .trace import TopicRecorder


class RunningTrace(TopicRecorder):
    """A `TopicRecorder` that listens to joint_states, ground_truth/odom and odom.

    Parameters
    ----------
    joint_names : tuple of str
        The joints, in the order of the trace.
    """

    def __init__(self, joint_names: Tuple[str, ...]) -> None:
        super().__init__(joint_names)
        rospy.Subscriber("joint_states", JointState, self._on_joints, queue_size=1000, tcp_nodelay=True)
        rospy.Subscriber("ground_truth/odom", Odometry, self._on_truth, queue_size=1000, tcp_nodelay=True)
        rospy.Subscriber("odom", Odometry, self._on_odom, queue_size=1000, tcp_nodelay=True)

    def _on_joints(self, message: JointState) -> None:
        t = message.header.stamp.to_sec()
        self.joints(t, message.name, message.position, message.velocity, message.effort)

    def _on_truth(self, message: Odometry) -> None:
        p, q = message.pose.pose.position, message.pose.pose.orientation
        self.truth(message.header.stamp.to_sec(), (p.x, p.y, p.z), (q.x, q.y, q.z, q.w))

    def _on_odom(self, message: Odometry) -> None:
        p, q = message.pose.pose.position, message.pose.pose.orientation
        yaw = float(yaw_from_quaternion(np.array((q.x, q.y, q.z, q.w))))
        self.odometry(message.header.stamp.to_sec(), (p.x, p.y, yaw))
