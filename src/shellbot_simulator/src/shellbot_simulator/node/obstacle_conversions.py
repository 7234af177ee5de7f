# SPDX-License-Identifier: MIT
"""Obstacles and their messages."""

from __future__ import annotations

from typing import Iterable

import rospy
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from shellbot_msgs.msg import Obstacle as ObstacleMessage
from shellbot_simulator.core.obstacles import Obstacle

from .sensor_conversions import stamp_of

_FRAME = "odom"  # that RViz has; it begins where the world does and drifts with the odometry
_KINDS = {"box": Marker.CUBE, "cylinder": Marker.CYLINDER, "sphere": Marker.SPHERE}


def obstacle_from_message(message: ObstacleMessage) -> Obstacle:
    """Return the obstacle of a message.

    Raises
    ------
    ObstacleError
        For a value out of its range.
    """
    position, turn = message.pose.position, message.pose.orientation
    return Obstacle(
        message.name,
        message.shape,
        tuple(message.size),
        (position.x, position.y, position.z),
        (turn.x, turn.y, turn.z, turn.w),
        message.mass,
        message.friction,
    )


def message_from_obstacle(obstacle: Obstacle) -> ObstacleMessage:
    """Return the message of an obstacle."""
    pose = Pose(Point(*obstacle.position), Quaternion(*obstacle.quaternion))
    return ObstacleMessage(obstacle.name, obstacle.shape, obstacle.size, pose, obstacle.mass, obstacle.friction)


def obstacle_markers(obstacles: Iterable[Obstacle], tick: int) -> MarkerArray:
    """Return what RViz shows; it replaces all that was shown before."""
    wipe = Marker(action=Marker.DELETEALL)
    wipe.header.frame_id = _FRAME
    markers = [wipe]
    for index, obstacle in enumerate(obstacles):
        marker = Marker(ns="obstacles", id=index, type=_KINDS[obstacle.shape], action=Marker.ADD)
        marker.header.frame_id, marker.header.stamp = _FRAME, stamp_of(tick) if obstacle.mass else rospy.Time()
        marker.pose = Pose(Point(*obstacle.position), Quaternion(*obstacle.quaternion))
        marker.scale, marker.color = Vector3(*obstacle.extent), ColorRGBA(*obstacle.colour)
        marker.text = obstacle.name
        markers.append(marker)
    return MarkerArray(markers)
