# SPDX-License-Identifier: MIT
"""Messages to what the markers' core joins, and its shapes to visualization_msgs/MarkerArray."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Set, Tuple

import numpy as np
import rospy
from geometry_msgs.msg import Point, Transform, Vector3
from std_msgs.msg import ColorRGBA
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from shellbot_action_manager.markers.marker_core import BasePose
from shellbot_action_manager.markers.shapes import Kind, Shape
from shellbot_action_manager.node.odometry_conversions import BASE_FRAME, FOOTPRINT_FRAME, ODOM_FRAME
from shellbot_common.rotations import rotation_from_quaternion
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS
from shellbot_msgs.msg import Footsteps, LimbReferences

LIFETIME = rospy.Duration(0.5)  # of a marker that is not renewed: it may no longer be true

_TYPES = {
    Kind.DISC: Marker.CYLINDER,
    Kind.SPHERE: Marker.SPHERE,
    Kind.LINE: Marker.LINE_STRIP,
    Kind.AREA: Marker.TRIANGLE_LIST,
    Kind.TEXT: Marker.TEXT_VIEW_FACING,
}
_DISC_HEIGHT = 0.003  # m
_FOOT = {f"{limb}_foot": leg for leg, limb in enumerate(LOWER_LIMBS)}

Key = Tuple[str, int]


def base_pose_from_message(message: TFMessage) -> Optional[Tuple[float, BasePose]]:
    """Return stamp and pose of the body; None if the two transforms are not in it, which odometry sends together."""
    found: Dict[Tuple[str, str], Transform] = {}
    for each in message.transforms:
        found[each.header.frame_id, each.child_frame_id] = each.transform
        stamp = each.header.stamp
    ground, body = found.get((ODOM_FRAME, FOOTPRINT_FRAME)), found.get((FOOTPRINT_FRAME, BASE_FRAME))
    if ground is None or body is None:
        return None
    T_odom_footprint = np.eye(4)
    p, q = ground.translation, ground.rotation
    T_odom_footprint[:3, :3] = rotation_from_quaternion(np.array([q.x, q.y, q.z, q.w]))
    T_odom_footprint[:3, 3] = p.x, p.y, p.z
    q = body.rotation
    return stamp.to_sec(), BasePose(T_odom_footprint, body.translation.z, (q.x, q.y, q.z, q.w))


def commanded_feet_from_message(message: LimbReferences) -> np.ndarray:
    """Return the feet (6, 3) in base_link that the references command, m; NaN for legs that are commanded otherwise."""
    feet = np.full((len(_FOOT), 3), np.nan)
    for limb in message.limbs:
        if limb.frame in _FOOT:  # commanded by joints it has none
            p = limb.pose.position
            feet[_FOOT[limb.frame]] = p.x, p.y, p.z
    return feet


def footsteps_from_message(message: Footsteps) -> np.ndarray:
    """Return where the feet (6, 3) will land, in base_link, m; NaN for those that stand."""
    feet = np.full((len(_FOOT), 3), np.nan)
    for name, p in zip(message.names, message.positions):
        if name in _FOOT:
            feet[_FOOT[name]] = p.x, p.y, p.z
    return feet


class MarkerPage:
    """Turns pictures into marker arrays: a marker whose shape is in the picture no more is deleted."""

    def __init__(self) -> None:
        self._shown: Set[Key] = set()
        self._fresh = True

    def begin(self) -> None:
        """Let the next array delete whatever a viewer shows, also from before a restart or a reset of the clock."""
        self._fresh = True

    def array(self, shapes: Sequence[Shape], stamp: rospy.Time) -> MarkerArray:
        """Return the markers of a picture."""
        markers: List[Marker] = []
        if self._fresh:
            self._fresh = False
            markers.append(Marker(action=Marker.DELETEALL))
        keys = {(shape.layer, shape.number) for shape in shapes}
        for layer, number in sorted(self._shown - keys):
            markers.append(Marker(ns=layer, id=number, action=Marker.DELETE))
        self._shown = keys
        markers += [_marker(shape) for shape in shapes]
        for marker in markers:
            marker.header.stamp, marker.header.frame_id = stamp, ODOM_FRAME
        return MarkerArray(markers)


def _marker(shape: Shape) -> Marker:
    marker = Marker(ns=shape.layer, id=shape.number, type=_TYPES[shape.kind], action=Marker.ADD, lifetime=LIFETIME)
    marker.pose.orientation.w = 1.0
    marker.color, marker.text = ColorRGBA(*shape.colour), shape.text
    marker.scale = Vector3(shape.size, shape.size, _DISC_HEIGHT if shape.kind is Kind.DISC else shape.size)
    points = [Point(*p) for p in shape.points.tolist()]
    if shape.kind in (Kind.LINE, Kind.AREA):
        marker.points = points
    else:
        marker.pose.position = points[0]
    return marker
