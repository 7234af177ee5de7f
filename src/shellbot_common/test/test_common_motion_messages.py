# SPDX-License-Identifier: MIT
"""Goals in odom, and joint targets, of every motion engine."""

import math

import numpy as np
import pytest

from shellbot_common import SettingsError
from shellbot_common.rotations import quaternion_from_rpy

pytest.importorskip("rospy")
import rospy  # noqa: E402 - only where ROS is
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion  # noqa: E402

from shellbot_common.motion_conversions import pose_in_odom, targets_message  # noqa: E402

AHEAD = (0.0, 0.0, 0.0, 1.0)


def goal(frame="odom", quaternion=AHEAD, x=1.0):
    message = PoseStamped(pose=Pose(Point(x, 2.0, 0.3), Quaternion(*quaternion)))
    message.header.frame_id = frame
    return message


@pytest.mark.parametrize("frame", ["odom", "/odom", ""])
def test_a_goal_is_in_odom(frame):
    turn = quaternion_from_rpy(0.0, 0.0, 0.5)
    assert pose_in_odom(goal(frame, turn), "walk_to") == pytest.approx((1.0, 2.0, 0.5))


def test_a_quaternion_typed_with_two_digits_is_one():
    assert pose_in_odom(goal(quaternion=(0.0, 0.0, 0.7, 0.7)), "walk_to")[2] == pytest.approx(0.5 * math.pi)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"frame": "map"}, "waypoint is in the frame 'map'; give it in odom"),
        ({"quaternion": (0.0, 0.0, 0.0, 0.0)}, "waypoint has the orientation .*; give a quaternion of length 1"),
        ({"quaternion": (0.0, 0.0, 0.0, 3.0)}, "length 1"),
        ({"quaternion": (0.0, 0.0, math.nan, 1.0)}, "length 1"),
        ({"x": math.nan}, r"waypoint has the place \(nan, 2\)"),
    ],
)
def test_what_is_no_goal_is_refused(changes, words):
    with pytest.raises(SettingsError, match=words):
        pose_in_odom(goal(**changes), "waypoint")


def test_joint_targets_have_names_angles_and_the_stamp():
    message = targets_message(("a", "b"), np.array([0.1, 0.2]), rospy.Time(3))
    assert (message.name, message.position, message.header.stamp.secs) == (["a", "b"], [0.1, 0.2], 3)
