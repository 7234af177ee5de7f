# SPDX-License-Identifier: MIT
"""Messages to the markers' core and back: what an array deletes, which transforms count."""

from __future__ import annotations

import numpy as np
import pytest

rospy = pytest.importorskip("rospy")
pytest.importorskip("shellbot_msgs")

from tf2_msgs.msg import TFMessage  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from shellbot_action_manager.estimation.odometry import OdometryState  # noqa: E402
from shellbot_action_manager.markers.shapes import GREEN, Kind, Shape  # noqa: E402
from shellbot_action_manager.node.action_manager_conversions import footsteps_to_message  # noqa: E402
from shellbot_action_manager.node.markers_conversions import (  # noqa: E402
    MarkerPage,
    base_pose_from_message,
    commanded_feet_from_message,
    footsteps_from_message,
)
from shellbot_action_manager.node.odometry_conversions import transforms_from_state  # noqa: E402
from shellbot_common.rotations import quaternion_from_rpy, rotation_from_rpy  # noqa: E402
from shellbot_kinematics.limb_references_conversions import references_to_message  # noqa: E402
from shellbot_kinematics.references import Kind as RefKind  # noqa: E402
from shellbot_kinematics.references import LimbReference, LimbReferences  # noqa: E402

STAMP = rospy.Time(3, 0)


def shape(layer, number, points=((0.1, 0.2, 0.3),), kind=Kind.DISC):
    return Shape(layer, number, kind, np.array(points), 0.02, GREEN, "text")


def test_an_array_deletes_what_is_no_longer_shown_and_everything_after_a_reset():
    page = MarkerPage()

    def changes(*shapes):
        markers = page.array(shapes, STAMP).markers
        assert {(m.header.stamp, m.header.frame_id) for m in markers} <= {(STAMP, "odom")}
        assert len([m for m in markers if m.action == Marker.ADD]) == len(shapes)
        return [(m.action, m.ns, m.id) for m in markers if m.action != Marker.ADD]

    foot, first, second = shape("feet", 1), shape("footsteps", 1), shape("footsteps", 2)
    assert changes(foot, first, second) == [(Marker.DELETEALL, "", 0)]
    assert changes(foot, second) == [(Marker.DELETE, "footsteps", 1)]
    assert changes(foot, second) == []
    page.begin()
    assert changes(foot, second) == [(Marker.DELETEALL, "", 0)]
    assert changes() == [(Marker.DELETE, "feet", 1), (Marker.DELETE, "footsteps", 2)]


def test_a_marker_has_the_place_the_points_and_the_lifetime_of_its_shape():
    disc, line = MarkerPage().array([shape("feet", 1), shape("path", 2, np.eye(3), Kind.LINE)], STAMP).markers[1:]
    p = disc.pose.position
    assert (disc.type, p.x, p.y, p.z, disc.scale.x, disc.text) == (Marker.CYLINDER, 0.1, 0.2, 0.3, 0.02, "text")
    assert [(q.x, q.y, q.z) for q in line.points] == [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    assert {marker.lifetime.to_sec() for marker in (disc, line)} == {0.5}, "what is not renewed vanishes"


def test_the_pose_of_the_body_comes_from_the_two_transforms_of_odometry():
    tilt = np.array(quaternion_from_rpy(0.1, -0.2, 0.0))
    state = OdometryState(3.0, 1.0, 2.0, np.pi / 2, 0.16, tilt, np.zeros(3), 0.0, 0.0)
    transforms = list(transforms_from_state(state, STAMP))
    t, pose = base_pose_from_message(TFMessage(transforms))
    assert t == 3.0
    np.testing.assert_allclose(pose.T_odom_base[:3, 3], [1.0, 2.0, 0.16])
    np.testing.assert_allclose(pose.T_odom_base[:3, :3], rotation_from_rpy(0.1, -0.2, np.pi / 2), atol=1e-12)
    for others in (transforms[:1], transforms[1:], []):
        assert base_pose_from_message(TFMessage(others)) is None


def test_feet_that_are_commanded_by_joints_have_no_path():
    limbs = (
        LimbReference("lower_2", RefKind.POSE, "lower_2_foot", position=(0.1, 0.2, -0.1)),
        LimbReference("lower_3", RefKind.POSE, "lower_3_sphere_centre", position=(0.1, 0.2, -0.1)),
        LimbReference("lower_4", RefKind.JOINTS, joint_position=(0.0, 0.0, 0.0)),
    )
    feet = commanded_feet_from_message(references_to_message(LimbReferences(1.0, limbs)))
    assert np.flatnonzero(np.isfinite(feet[:, 0])).tolist() == [1]
    assert feet[1].tolist() == [0.1, 0.2, -0.1]


def test_footsteps_come_back_from_their_message():
    planned = np.full((6, 3), np.nan)
    planned[4] = [0.1, -0.2, -0.16]
    message = footsteps_to_message(planned, rospy.Time(1, 0))
    assert (message.header.frame_id, message.names) == ("base_link", ["lower_5_foot"])
    np.testing.assert_array_equal(footsteps_from_message(message), planned)
    assert footsteps_to_message(None, rospy.Time(1, 0)).names == []
