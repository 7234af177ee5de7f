# SPDX-License-Identifier: MIT
"""Detection of falls from tilt, turning and loads; motions from YAML, and their mirror images."""

from __future__ import annotations

import math

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.fall import FALLEN, FALLING, UPRIGHT, FallDetector, FallParameters
from humanoid_motion.fall_manager import MOTIONS, FallManager
from humanoid_motion.motions import MotionReader
from humanoid_motion.parameters import WalkError
from humanoid_motion.robot_core import joint_ranges
from robot_mechanics.models.urdf import load_urdf
from shellbot_common import package_file
from shellbot_common.rotations import quaternion_from_rpy

P = FallParameters.load(package_file("humanoid_motion", "config/fall.yaml"))
LOADED = np.array([[0.0, 0.0, 25.0, 0.0, 0.0, 0.0]] * 2)
STILL = np.zeros(3)


def reader():
    urdf, profile = humanoid_description.urdf_text(), humanoid_description.profile()
    joints = {joint.name: joint for joint in load_urdf(urdf).joints.values()}
    poses = {name: np.array(list(profile.pose(name).values())) for name in profile.poses}
    return MotionReader(joint_ranges(urdf, profile), joints, poses)


def see(detector, roll, pitch, rates=STILL, wrenches=LOADED, ticks=1):
    for _ in range(ticks):
        detector.update(quaternion_from_rpy(roll, pitch, 1.0), np.asarray(rates), wrenches)
    return detector.state


def test_a_fall_is_a_large_tilt_or_a_smaller_one_that_grows_or_has_lost_the_ground():
    detector = FallDetector(P)
    assert see(detector, 0.0, 0.5, ticks=50) == UPRIGHT
    assert see(detector, 0.0, 0.65) == FALLING and detector.side == "front"
    detector.reset()
    assert see(detector, 0.0, 0.4, rates=(0.0, -3.0, 0.0)) == UPRIGHT  # on its way up
    assert see(detector, 0.0, 0.4, rates=(0.0, 3.0, 0.0)) == FALLING
    detector.reset()
    assert see(detector, -0.4, 0.0, wrenches=np.zeros((2, 6)), ticks=14) == UPRIGHT
    assert see(detector, -0.4, 0.0, wrenches=np.zeros((2, 6)), ticks=2) == FALLING and detector.side == "left"
    detector.reset()
    assert see(detector, 0.0, 0.0, wrenches=np.zeros((2, 6)), ticks=100) == UPRIGHT  # lifted by hand


def test_a_fall_is_over_when_the_torso_has_been_still():
    detector = FallDetector(P)
    assert see(detector, 0.0, -1.5, rates=(0.0, 1.0, 0.0), ticks=100) == FALLING
    assert see(detector, 0.0, -1.5, ticks=round(P.rest_time * 100) - 1) == FALLING
    assert see(detector, 0.0, -1.5, ticks=2) == FALLEN and detector.side == "back"
    assert see(detector, 0.0, 0.0, ticks=100) == FALLEN  # somebody may hold it: it stays limp until it gets up
    for roll, pitch, side in ((1.5, 0.0, "right"), (-1.5, 0.0, "left"), (0.3, 1.5, "front"), (3.0, 0.0, "back")):
        see(detector, roll, pitch)
        if side in ("left", "right", "front"):
            assert detector.side == side


def test_the_motions_delivered_are_those_that_the_manager_needs_and_the_mirror_changes_sides():
    motions = reader().load(package_file("humanoid_motion", "config/motions.yaml"))
    assert set(MOTIONS) <= set(motions)
    names = humanoid_description.profile().joint_names
    left, right = (motions[f"from_{side}"].frames for side in ("left", "right"))
    at = names.index
    assert left[0, at("LKneePitch")] == right[0, at("RKneePitch")] != left[0, at("RKneePitch")]
    assert left[0, at("LShoulderRoll")] == -right[0, at("RShoulderRoll")]
    assert left[0, at("LHipYawPitch")] == right[0, at("RHipYawPitch")] == left[0, at("RHipYawPitch")]
    get_up = motions["get_up"].frames
    assert get_up[0, at("LElbowYaw")] == -get_up[0, at("RElbowYaw")]
    curve = motions["get_up"].begin(np.zeros(26))
    assert curve(0.0) == pytest.approx(np.zeros(26)) and curve(curve.duration) == pytest.approx(get_up[-1])


@pytest.mark.parametrize(
    "text, words",
    [
        (
            "a: {text: t, frames: [{time: 0.5, joints_deg: {KneePitch: 200}}]}",
            r"LKneePitch is 200 deg; give -5.29 .. 121.04",
        ),
        ("a: {text: t, frames: [{time: 0.5, joints_deg: {Knee: 20}}]}", "no joint 'Knee'"),
        ("a: {text: t, frames: [{time: 0.5, joints_deg: {HeadYaw: .nan}}]}", "HeadYaw is nan deg"),
        ("a: {text: t, frames: [{time: 0, pose: stand}]}", r"frames\[0\].time is 0; give 0.02 .. 20 s"),
        ("a: {text: t, frames: [{time: 1, pose: sit}]}", "pose is 'sit'; choose one of stand, crouch"),
        ("a: {text: t, mirror: b}", "mirror is 'b'; motions above are none"),
        ("a: {text: t}", "give text, and frames or mirror"),
    ],
)
def test_a_motion_that_cannot_be_is_refused_in_words(tmp_path, text, words):
    file = tmp_path / "motions.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WalkError, match=words) as caught:
        reader().load(file)
    assert str(caught.value).startswith(f"{file}: a: ")


def test_a_manager_without_its_motions_says_which_are_missing():
    with pytest.raises(WalkError, match="motions lack protect_front, .*, get_up"):
        FallManager(P, {}, np.ones(26), 50.0)
    assert math.isclose(P.tilt, 0.6)
