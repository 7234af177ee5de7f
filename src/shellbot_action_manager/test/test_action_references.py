# SPDX-License-Identifier: MIT
"""Limb references of robots that are not Shellbot, and the load that Shellbot's legs are to carry."""

from __future__ import annotations

import numpy as np
import pytest
from action_echo import EchoRobot

from shellbot_action_manager.body.limbs import LimbCommand, LimbGroup, found, held
from shellbot_action_manager.body.reference_builder import ReferenceBuilder
from shellbot_action_manager.core import ActionManagerCore
from shellbot_kinematics.references import Kind

ARM = {
    "arm": LimbGroup(("arm",), np.array([[[2], [0]]])),
    "wheels": LimbGroup(("left", "right"), np.array([[[1, 3]], [[4, 5]]])),
}


def test_an_arm_on_wheels_is_measured_and_held_by_its_own_names():
    limbs = found(ARM, np.array([0.1, 1.0, 0.2, 3.0, -1.0, -2.0]))
    assert limbs["arm"].q.tolist() == [[0.2, 0.1]]
    assert limbs["wheels"].q.tolist() == [[2.0], [-1.5]], "coupled joints are one"
    builder = ReferenceBuilder(ARM)
    references = builder.build(1.0, 0.01, held(limbs))
    assert references.stamp == 1.0
    assert [(r.limb, r.kind, r.joint_position, r.joint_velocity) for r in references.limbs] == [
        ("arm", Kind.JOINTS, [0.2, 0.1], [0.0, 0.0]),
        ("left", Kind.JOINTS, [2.0], [0.0]),
        ("right", Kind.JOINTS, [-1.5], [0.0]),
    ]
    turned = {"wheels": LimbCommand(limbs["wheels"].q + 0.01)}
    right = builder.build(1.01, 0.01, turned).limbs[1]
    assert right.limb == "right" and right.joint_velocity == pytest.approx([1.0])


def test_a_tip_is_led_by_the_name_of_its_frame():
    builder, q = ReferenceBuilder(ARM), np.zeros((1, 2))
    for k in range(3):
        gripper = LimbCommand(q, np.array([[0.1 * k, 0.0, 0.5]]), "gripper", load_share=np.array([0.25]))
        (reference,) = builder.build(0.01 * k, 0.01, {"arm": gripper}).limbs
        assert (reference.kind, reference.frame, reference.load_share) == (Kind.POSE, "arm_gripper", 0.25)
        assert reference.position == pytest.approx([0.1 * k, 0.0, 0.5])
        assert reference.linear == pytest.approx([10.0 if k else 0.0, 0.0, 0.0])
        assert np.isnan(reference.orientation).all()
    (other,) = builder.build(0.03, 0.01, {"arm": LimbCommand(q, np.zeros((1, 3)), "elbow")}).limbs
    assert (other.frame, other.linear) == ("arm_elbow", [0.0, 0.0, 0.0]), "no velocity between two frames"


def test_the_feet_that_stand_share_the_load():
    robot = EchoRobot(ActionManagerCore.from_description(), "stand")
    robot.run(0.5)
    for _ in range(100):
        limbs = {limb.limb: limb for limb in robot.tick(twist=[0.2, 0.0, 0.0]).references.limbs}
        share = np.array([limbs[f"lower_{k}"].load_share for k in range(1, 7)])
        standing = robot.core._motion.planted
        assert share.sum() == pytest.approx(1.0)
        assert (share[standing] == share.max()).all() and not share[~standing].any()
    assert sorted(limbs) == sorted(["fan", *(f"{s}_{k}" for s in ("lower", "upper") for k in range(1, 7))])
    assert limbs["lower_3"].frame == "lower_3_foot" and limbs["fan"].joint_position == [0.0]
