# SPDX-License-Identifier: MIT
"""Detection of falls from tilt, turning and loads; motions from YAML, and their mirror images."""

from __future__ import annotations

import math

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.fall import FALLEN, FALLING, UPRIGHT, FallDetector, FallParameters
from humanoid_motion.fall_manager import MOTIONS, FallManager
from humanoid_motion.interface import Feedback
from humanoid_motion.joint_motion import joint_ranges
from humanoid_motion.motions import MotionReader
from humanoid_motion.parameters import WalkError
from robot_mechanics.models.urdf import load_urdf
from shellbot_common import package_file
from shellbot_common.rotations import quaternion_from_rpy

P = FallParameters.load(package_file("humanoid_motion", "config/fall.yaml"))
LOADED = np.array([[0.0, 0.0, 25.0, 0.0, 0.0, 0.0]] * 2)
STILL = np.zeros(3)


def _reader():
    urdf, profile = humanoid_description.urdf_text(), humanoid_description.profile()
    joints = {joint.name: joint for joint in load_urdf(urdf).joints.values()}
    poses = {name: np.array(list(profile.pose(name).values())) for name in profile.poses}
    return MotionReader(joint_ranges(urdf, profile), joints, poses)


READER = _reader()


def frames(rest, time=1):
    """Return a motion of one frame, as YAML."""
    return f"{{text: t, frames: [{{time: {time}, {rest}}}]}}"


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
    assert see(detector, -0.4, 0.0) == UPRIGHT  # a foot touched
    assert see(detector, -0.4, 0.0, wrenches=np.zeros((2, 6)), ticks=14) == UPRIGHT
    assert see(detector, -0.4, 0.0, wrenches=np.zeros((2, 6)), ticks=2) == FALLING and detector.side == "left"
    detector.reset()
    assert see(detector, 0.0, 0.0, wrenches=np.zeros((2, 6)), ticks=100) == UPRIGHT  # lifted by hand
    detector.reset()
    see(detector, -0.4, 0.0)
    see(detector, 0.0, 0.05)
    assert detector.side == "left", "one that stands nearly upright leans to no side"
    half = LOADED * 0.6 * P.unloaded / 25.0  # on each foot: together they carry enough
    assert see(detector, 0.0, 0.4, wrenches=half, ticks=100) == UPRIGHT


def test_a_torso_that_is_commanded_to_bow_does_not_fall_until_it_tilts_further():
    def bowed():  # by 0.55 rad, ahead
        return np.array([-math.sin(0.55), 0.0, math.cos(0.55)])

    detector = FallDetector(P)
    for pitch, state in ((0.65, UPRIGHT), (0.74, UPRIGHT), (0.76, FALLING)):
        for _ in range(20):
            detector.update(quaternion_from_rpy(0.0, pitch, 1.0), STILL, LOADED, up_of_soles=bowed)
        assert detector.state == state, pitch
    detector.reset()
    detector.update(quaternion_from_rpy(0.0, 0.65, 1.0), np.array([0.0, 1.0, 0.0]), LOADED, up_of_soles=bowed)
    assert detector.state == FALLING, "a tilt that grows"
    detector.reset()
    detector.update(quaternion_from_rpy(0.0, -0.3, 0.0), STILL, LOADED, up_of_soles=bowed)
    assert detector.state == UPRIGHT, "leaning back by less than a fall"


def test_a_fall_is_over_when_the_torso_has_been_still():
    detector = FallDetector(P)
    assert see(detector, 0.0, -1.5, rates=(0.0, 1.0, 0.0), ticks=100) == FALLING
    ticks = round(P.rest_time * 100)
    assert see(detector, 0.0, -1.5, ticks=ticks - 1) == FALLING
    see(detector, 0.0, -1.5, rates=(0.0, 1.0, 0.0))  # rolls on
    assert see(detector, 0.0, -1.5, ticks=ticks - 1) == FALLING
    assert see(detector, 0.0, -1.5, ticks=2) == FALLEN and detector.side == "back"
    assert see(detector, 0.0, 0.0, ticks=100) == FALLEN  # somebody may hold it: it stays limp until it gets up
    for roll, pitch, side in ((1.5, 0.0, "right"), (-1.5, 0.0, "left"), (0.3, 1.5, "front"), (3.0, 0.0, "back")):
        see(detector, roll, pitch)
        if side in ("left", "right", "front"):
            assert detector.side == side
    detector.reset()
    see(detector, 0.0, 0.0, ticks=3 * ticks)  # how long it stood still before counts for nothing
    assert see(detector, 0.0, 0.9, ticks=ticks) == FALLING


def test_the_motions_delivered_are_those_that_the_manager_needs_and_the_mirror_changes_sides():
    motions = READER.load(package_file("humanoid_motion", "config/motions.yaml"))
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


def test_no_joint_is_faster_than_it_can_be_and_a_motion_that_is_slow_enough_has_its_own_times():
    urdf, profile = humanoid_description.urdf_text(), humanoid_description.profile()
    speeds = np.array([joint.speed for joint in joint_ranges(urdf, profile).values()])
    rng = np.random.default_rng(3)
    low, high = np.array([[joint.lower, joint.upper] for joint in joint_ranges(urdf, profile).values()]).T
    motions = READER.load(package_file("humanoid_motion", "config/motions.yaml"))
    for name in ("lie", "from_left", "from_back", "from_right", "get_up"):
        curve = motions[name].begin(rng.uniform(low, high))
        fastest = np.abs(np.diff(curve(np.arange(0.0, curve.duration, 0.002)), axis=0)).max(axis=0) / 0.002
        assert np.all(fastest <= speeds), name
        assert curve.duration >= motions[name].times.sum()
    lie = motions["lie"]
    assert lie.begin(lie.frames[0]).duration == pytest.approx(lie.times.sum())


@pytest.mark.parametrize(
    "text, words",
    [
        (frames("joints_deg: {KneePitch: 200}"), r"LKneePitch is .* \(200 deg\); give .* \(-5.29 .. 121.04 deg\)"),
        (frames("joints_deg: {RKneePitch: -20}"), r"RKneePitch is .* \(-20 deg\); give .* \(-5.29 .. 121.04 deg\)"),
        (frames("joints_deg: {Knee: 20}"), r"frames\[0\]: there is no joint 'Knee'"),
        (frames("joints_deg: {HeadYaw: .nan}"), r"frames\[0\].joints_deg.HeadYaw is nan; give a finite number"),
        (frames(f"joints_deg: {{HeadYaw: {'9' * 400}}}"), r"HeadYaw is 9+\.\.\.9+; give a finite number"),
        (frames("joints_deg: [1]"), r"joints_deg is \[1\]; give a mapping"),
        (frames("joints_deg: {LHipYawPitch: 10, RHipYawPitch: -10}"), "are turned by one motor, but commanded apart"),
        (frames("pose: stand", 0), r"frames\[0\].time is 0; give a number from 0.02 to 20 s"),
        (frames("pose: sit"), "pose is 'sit'; choose one of stand, crouch"),
        (frames("pose: [stand]"), r"pose is \['stand'\]; give a text"),
        (frames("speed: 3"), "speed does not exist; .* time, pose, joints_deg"),
        ("{text: t, frames: [3]}", r"frames\[0\] is 3; give a mapping"),
        ("{text: t, mirror: b}", "mirror is 'b'; motions above are none"),
        ("{text: t, mirror: [b]}", r"mirror is \['b'\]; give a text"),
        ("{text: t}", "give either frames or mirror"),
        ("{text: t, mirror: b, frames: [{time: 1}]}", "give either frames or mirror"),
        ("3", "3 is no mapping; give the keys text, frames, mirror"),
    ],
)
def test_a_motion_that_cannot_be_is_refused_in_words(tmp_path, text, words):
    file = tmp_path / "motions.yaml"
    file.write_text(f"a: {text}", encoding="utf-8")
    with pytest.raises(WalkError, match=words) as caught:
        READER.load(file)
    assert str(caught.value).startswith(f"{file}: a: ")


def test_a_manager_without_its_motions_says_which_are_missing():
    with pytest.raises(WalkError, match="motions lack protect_front, .*, get_up"):
        FallManager(P, {}, np.ones(26), 50.0)
    assert math.isclose(P.tilt, 0.6)


WEIGHT = 50.0  # N
ZEROS = np.zeros(26)  # rad
MOTIONS_DELIVERED = READER.load(package_file("humanoid_motion", "config/motions.yaml"))


class Lying:
    """A manager, and a robot that lies or stands as the test sets it, with its joints at zero."""

    def __init__(self):
        self.manager = FallManager(P, MOTIONS_DELIVERED, np.full(26, 0.2), WEIGHT)

    def tick(self, pitch, load=0.0, q=ZEROS, ticks=1):
        attitude = tuple(quaternion_from_rpy(0.0, pitch, 0.0))
        for _ in range(ticks):
            feedback = Feedback(q, attitude, STILL, np.array([[0.0, 0.0, load / 2, 0.0, 0.0, 0.0]] * 2))
            self.manager.observe(feedback)
            command = self.manager.step(feedback)
        return command

    def gets_up(self):
        """Let it fall to its front, and get up as far as the motion for that."""
        self.tick(1.5, ticks=100)
        self.manager.get_up()
        until = 0
        while MOTIONS_DELIVERED["get_up"].text not in self.manager.text:
            self.tick(1.5)
            until += 1
            assert until < 1000, self.manager.text
        self.tick(1.5)


def test_arms_protect_with_part_of_their_effort_and_all_else_is_limp():
    robot = Lying()
    q = np.linspace(-0.3, 0.3, 26)
    command = robot.tick(0.9, q=q)
    target = MOTIONS_DELIVERED["protect_front"].frames[-1]
    moved = np.isfinite(target)
    assert robot.manager.activity == "falling" and 4 < moved.sum() < 10
    assert np.array_equal(command[~moved], q[~moved])
    most = P.protective_effort * 0.2  # rad beyond the joint: the servos' effort is a spring's
    assert command[moved] - q[moved] == pytest.approx(np.clip(target - q, -most, most)[moved])
    assert np.abs(command - q).max() == pytest.approx(most)
    with pytest.raises(WalkError, match="It falls to its front.* Wait until it lies"):
        robot.manager.get_up()
    assert np.array_equal(robot.tick(-0.9, q=q), command), "it protects the side that it fell to first"


def test_it_stands_only_with_half_its_weight_on_its_feet():
    for load, stands in ((0.45 * WEIGHT, False), (0.55 * WEIGHT, True)):
        robot = Lying()
        robot.gets_up()
        duration = MOTIONS_DELIVERED["get_up"].begin(ZEROS).duration
        robot.tick(0.0, load, ticks=round(100 * duration))
        assert not robot.manager.stands, "the motion goes to its end"
        robot.tick(0.0, load, ticks=round(100 * P.upright_time) + 5)
        assert robot.manager.stands == stands, load


def test_after_its_tries_it_gives_up_lies_limp_and_may_try_again_on_request():
    robot = Lying()
    robot.gets_up()
    tries = []
    while robot.manager.activity == "get_up":
        tries.append(robot.manager.tries)
        robot.tick(1.5)
        assert len(tries) < 100 * 60, robot.manager.text
    assert tries[-1] == P.tries
    assert f"did not get up in {P.tries} tries" in robot.manager.text
    assert not robot.manager.stands and np.array_equal(robot.tick(1.5, q=np.full(26, 0.1)), np.full(26, 0.1))
    robot.manager.get_up()
    assert "try 1 of" in robot.manager.text
    with pytest.raises(WalkError, match="It gets up, try 1 .* Wait until it lies"):
        robot.manager.get_up()
    robot.manager.give_up()
    assert robot.manager.text.startswith("It has fallen and lies on its"), "it was cancelled in its first try"


def test_one_that_does_not_turn_over_gives_up_too():
    robot = Lying()
    robot.tick(-1.5, ticks=100)
    robot.manager.get_up()
    played = []
    while robot.manager.activity == "get_up":
        played.append(robot.manager.text)
        robot.tick(-1.5)
        assert len(played) < 100 * 60, robot.manager.text
    assert "try 4 of 4: over to its front" in played[-1] and not [text for text in played if "to its feet" in text]
