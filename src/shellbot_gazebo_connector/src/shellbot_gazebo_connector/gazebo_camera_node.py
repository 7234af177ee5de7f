# SPDX-License-Identifier: MIT
"""Node ``gazebo_camera``: a camera in Gazebo that follows the robot, on ``camera/image_raw`` (see `follow_camera`).

It spawns the camera when somebody subscribes for the first time, and from then on moves it: who subscribes for a single
picture gets one of where the robot is. Gazebo renders only while somebody has subscribed.
"""

from __future__ import annotations

import contextlib
from typing import Any, Optional

import rospy
from geometry_msgs.msg import Point, Pose, Quaternion
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Image

from shellbot_common.init_node import init_node
from shellbot_common.publisher_node import Publisher
from shellbot_gazebo_connector.follow_camera import MODEL, TOPIC, Following, camera_model, camera_pose
from shellbot_gazebo_connector.spawn_arguments import SPAWNED

_LOOK = 0.2  # s of wall clock between looks for a subscriber


class GazeboCameraNode:
    """Moves the camera's model to the robot.

    Parameters
    ----------
    state_type : type
        gazebo_msgs.msg.ModelState, which is there where Gazebo is.
    spawn : callable
        The service /gazebo/spawn_sdf_model.
    """

    def __init__(self, state_type: Any, spawn: Any) -> None:
        self._state_type, self._spawn, self._is_there = state_type, spawn, False
        self._following = Following()
        self._pictures = Publisher("camera/image_raw", Image, queue_size=1)
        self._moves = Publisher("/gazebo/set_model_state", state_type, queue_size=1)

    def run(self) -> None:
        """From the first subscriber on follow the robot, and take pictures while there is one, until shutdown."""
        odometry: Optional[rospy.Subscriber] = None
        source: Optional[rospy.Subscriber] = None
        while not rospy.is_shutdown():
            is_read = bool(self._pictures.get_num_connections())
            if odometry is None and is_read and rospy.get_param(SPAWNED, False):
                odometry = rospy.Subscriber("ground_truth/odom", Odometry, self._on_odometry, queue_size=1)
            if source is None and is_read and self._following.now > 0.0:
                self._following.begin()
                source = rospy.Subscriber(TOPIC, Image, self._on_picture, queue_size=1, buff_size=2**24)
            elif source is not None and not is_read:
                source.unregister()
                source = None
            rospy.rostime.wallsleep(_LOOK)

    def _on_picture(self, message: Image) -> None:
        if self._following.is_current(message.header.stamp.to_sec()):
            self._pictures.publish(message)

    def _on_odometry(self, message: Odometry) -> None:
        if not self._following.moves(message.header.stamp.to_sec()):
            return
        position = message.pose.pose.position
        pose = _pose((position.x, position.y, position.z))
        if self._is_there:
            self._moves.publish(self._state_type(model_name=MODEL, pose=pose, reference_frame="world"))
        else:
            self._is_there = True
            self._spawn_at(pose)

    def _spawn_at(self, pose: Pose) -> None:
        namespace = rospy.get_namespace()
        try:
            answer = self._spawn(
                model_name=MODEL,
                model_xml=camera_model(namespace),
                robot_namespace=namespace,
                initial_pose=pose,
                reference_frame="world",
            )
        except rospy.ServiceException:  # Gazebo ended first
            return
        if not answer.success:
            rospy.logwarn("gazebo_camera: no pictures: Gazebo has not spawned the camera: %s", answer.status_message)


def _pose(p_world_base: Any) -> Pose:
    position, quaternion = camera_pose(p_world_base)
    return Pose(position=Point(*position), orientation=Quaternion(*quaternion))


def main() -> None:
    """Run the node."""
    from gazebo_msgs.msg import ModelState  # of gazebo_ros_pkgs, where Gazebo is
    from gazebo_msgs.srv import SpawnModel

    init_node("gazebo_camera")
    with contextlib.suppress(rospy.ROSInterruptException):
        GazeboCameraNode(ModelState, rospy.ServiceProxy("/gazebo/spawn_sdf_model", SpawnModel)).run()
