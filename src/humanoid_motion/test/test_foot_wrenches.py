# SPDX-License-Identifier: MIT
"""Wrenches of a sensor in the foot's joint, referred to the sole."""

from __future__ import annotations

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.foot_wrenches import FootWrenches, wrench_of_cells
from humanoid_motion.parameters import WalkError
from robot_mechanics.models.inertia import inertias_of_urdf

URDF = humanoid_description.urdf_text()
FEET = FootWrenches(URDF, ("l_sole", "r_sole"))
ANKLE_HEIGHT = 0.04511  # m


def felt_in_the_joint(side, ground):
    """Return what a level foot at rest gives to the joint, about the ankle: the ground's wrench and its own weight."""
    foot = inertias_of_urdf(URDF)[f"{side}_foot"]
    weight = np.array([0.0, 0.0, -9.81 * foot.mass])
    moment = ground[3:] + np.cross([0.0, 0.0, -ANKLE_HEIGHT], ground[:3]) + np.cross(foot.com, weight)
    return [*(ground[:3] + weight), *moment]


@pytest.mark.parametrize("side", ["l", "r"])
def test_a_sensor_in_the_joint_says_what_the_sole_feels(side):
    ground = np.array([3.0, -2.0, 40.0, 0.2, -1.1, 0.3])
    felt = FEET.about_sole(f"{side}_sole", f"{side}_foot", felt_in_the_joint(side, ground))
    assert felt == pytest.approx(ground)
    in_the_air = FEET.about_sole(f"{side}_sole", f"{side}_foot", felt_in_the_joint(side, np.zeros(6)))
    assert in_the_air == pytest.approx(np.zeros(6))


def test_a_sensor_under_the_sole_is_taken_as_it_is():
    ground = [3.0, -2.0, 40.0, 0.2, -1.1, 0.3]
    assert FEET.about_sole("l_sole", "l_sole", ground).tolist() == ground


@pytest.mark.parametrize("frame", ["l_shin", "world", ""])
def test_a_wrench_that_is_not_of_the_foot_is_refused(frame):
    with pytest.raises(
        WalkError, match=f"wrench of r_sole is given in the frame '{frame}'; give it in one of r_sole, r_foot"
    ):
        FEET.about_sole("r_sole", frame, np.zeros(6))


def test_the_node_reads_the_frame_of_each_message():
    convert = pytest.importorskip("humanoid_motion.walk_conversions")
    from geometry_msgs.msg import Vector3, WrenchStamped
    from sensor_msgs.msg import Imu, JointState

    ground, feet = np.array([3.0, -2.0, 40.0, 0.2, -1.1, 0.3]), {}
    for sole, frame, felt in (("l_sole", "l_foot", felt_in_the_joint("l", ground)), ("r_sole", "r_sole", ground)):
        feet[sole] = WrenchStamped()
        feet[sole].header.frame_id = frame
        feet[sole].wrench.force, feet[sole].wrench.torque = Vector3(*felt[:3]), Vector3(*felt[3:])
    states = JointState(name=["a"], position=[0.1])
    feedback = convert.feedback_from_messages(states, Imu(), feet, ["a"], FEET)
    assert feedback.wrenches == pytest.approx(np.array([ground, ground]))


def test_the_cells_of_a_sole_feel_its_normal_force_and_the_moments_of_this():
    places, forces = (
        np.array([[0.07, 0.023, 0.01], [0.07, -0.03, 0.01], [-0.03, 0.02, 0.0]]),
        np.array([3.0, 5.0, 11.0]),
    )
    force = np.outer(forces, [0.0, 0.0, 1.0])
    expected = np.concatenate((force.sum(axis=0), np.cross(places, force).sum(axis=0)))
    assert wrench_of_cells(places, forces) == pytest.approx(expected)
