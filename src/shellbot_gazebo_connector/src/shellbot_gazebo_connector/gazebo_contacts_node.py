# SPDX-License-Identifier: MIT
"""Node ``gazebo_contacts``: the feet's sensors in Gazebo as ``ground_truth/foot_contacts`` (see `foot_contacts`).

It reads the sensors only while somebody reads its topic, and ends at once for a robot without such sensors.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, List

import numpy as np
import rospy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from shellbot_common import RobotProfile
from shellbot_common.init_node import init_node
from shellbot_common.parameters_node import wait_for_parameters
from shellbot_common.publisher_node import Publisher
from shellbot_common.robot_profile import PARAMETER
from shellbot_gazebo_connector.foot_contacts import TOPIC, FootContacts, sensed_contacts
from shellbot_gazebo_connector.foot_contacts_conversions import contacts_message, touches
from shellbot_msgs.msg import Contacts

_LOOK = 0.2  # s of wall clock between looks for subscribers
_QUEUE = 20  # messages of a sensor: more than come in the time that the evaluation waits


class GazeboContactsNode:
    """Messages to the core and back.

    Parameters
    ----------
    core : FootContacts
        Of the robot.
    profile : RobotProfile
        Its names.
    sensor_type : type
        gazebo_msgs.msg.ContactsState, which is there where Gazebo is.
    """

    def __init__(self, core: FootContacts, profile: RobotProfile, sensor_type: Any) -> None:
        self._core, self._profile, self._sensor_type = core, profile, sensor_type
        self._lock = threading.Lock()
        self._publisher = Publisher("ground_truth/foot_contacts", Contacts, queue_size=100)

    def run(self) -> None:
        """Publish while there is a subscriber, until shutdown."""
        subscribers: List[rospy.Subscriber] = []
        while not rospy.is_shutdown():
            is_read = bool(self._publisher.get_num_connections())
            if is_read and not subscribers:
                subscribers = self._subscribe()
            elif subscribers and not is_read:
                for subscriber in subscribers:
                    subscriber.unregister()
                subscribers = []
            rospy.rostime.wallsleep(_LOOK)

    def _subscribe(self) -> List[rospy.Subscriber]:
        sensors = [
            rospy.Subscriber(
                TOPIC + foot, self._sensor_type, functools.partial(self._on_contacts, foot), queue_size=_QUEUE
            )
            for foot in self._core.feet
        ]
        return [
            *sensors,
            rospy.Subscriber("ground_truth/odom", Odometry, self._on_odometry, queue_size=_QUEUE),
            rospy.Subscriber("joint_states", JointState, self._on_joints, queue_size=_QUEUE),
        ]

    def _on_contacts(self, foot: str, message: Any) -> None:
        found = touches(message, self._profile.name)
        with self._lock:
            self._core.on_touches(foot, found)

    def _on_odometry(self, message: Odometry) -> None:
        position, turn = message.pose.pose.position, message.pose.pose.orientation
        with self._lock:
            self._core.on_pose(
                message.header.stamp.to_sec(),
                np.array([position.x, position.y, position.z]),
                np.array([turn.x, turn.y, turn.z, turn.w]),
            )

    def _on_joints(self, message: JointState) -> None:
        with self._lock:
            loads = self._core.on_joints(message.header.stamp.to_sec(), dict(zip(message.name, message.position)))
        if loads is not None:
            self._publisher.publish(contacts_message(loads, self._core.feet, self._profile.base.link))


def main() -> None:
    """Run the node."""
    from gazebo_msgs.msg import ContactsState  # of gazebo_ros_pkgs, where Gazebo is

    init_node("gazebo_contacts")
    try:
        urdf_text, text, step = wait_for_parameters("robot_description", PARAMETER, "/gazebo/time_step")
        profile = RobotProfile.from_text(text)
        feet = sensed_contacts(profile, urdf_text)
        if feet:
            core = FootContacts(profile, urdf_text, feet, float(step))
            GazeboContactsNode(core, profile, ContactsState).run()
    except rospy.ROSInterruptException:
        pass
