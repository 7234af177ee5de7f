# SPDX-License-Identifier: MIT
"""Latched targets of joints: limits of speed, no jump, refusals in words; and the words of the command line."""

from __future__ import annotations

import math

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.joint_motion import JointMotion, JointRange, joint_ranges
from humanoid_motion.move_joint_node import listing, targets_of
from humanoid_motion.parameters import WalkError
from shellbot_common import TICK, SettingsError

RANGES = {"a": JointRange(-1.0, 2.0, 4.0), "b": JointRange(-1.0, 1.0, 2.0), "c": JointRange(-1.0, 1.0, 2.0, "b")}


def test_targets_are_met_in_the_time_told_within_the_speed_and_without_a_jump_even_if_they_change_on_the_way():
    rng = np.random.default_rng(4)
    for example in range(30):
        motion = JointMotion(RANGES)
        place, rate = np.zeros(3), np.zeros(3)
        for _ in range(6):
            goal, speed = float(rng.uniform(-1.0, 1.0)), float(rng.uniform(0.05, 1.0))
            name = rng.choice(["a", "b"])
            duration = motion.move({name: goal}, speed)
            for _ in range(int(rng.uniform(0.1, 1.0) * duration / TICK)):
                new = motion.step()
                new_rate = (new - place) / TICK
                assert np.all(np.abs(new_rate) <= [4.0 + 1e-9, 2.0 + 1e-9, 2.0 + 1e-9]), example
                assert np.all(np.abs(new_rate - rate) <= 0.11 * np.array([4.0, 2.0, 2.0])), example
                assert new[1] == pytest.approx(new[2]), example  # one motor
                place, rate = new, new_rate
        duration = motion.move({"a": 0.7, "b": -0.3}, 1.0)
        for _ in range(math.ceil(duration / TICK) + 12):
            new = motion.step()
        assert new == pytest.approx([0.7, -0.3, -0.3], abs=1e-3), example
        assert not motion.is_moving


@pytest.mark.parametrize("every", [1, 3, 30])
def test_no_joint_passes_its_limits_or_the_requested_speed_however_often_it_is_commanded(every):
    rng = np.random.default_rng(every)
    for name, joint, column in (("a", RANGES["a"], 0), ("b", RANGES["b"], 1)):
        motion, place, rates = JointMotion(RANGES), np.zeros(3), [0.0]
        goal, fraction, since = 0.0, 1.0, 0
        for tick in range(1500):
            if tick % every == 0:
                if rng.random() < 0.05 * every:  # else the same again
                    goal, since = float(rng.choice([joint.lower, joint.upper, place[column]])), tick
                    goal = min(max(goal, joint.lower), joint.upper)
                    fraction = float(rng.choice([0.05, 0.3, 1.0]))
                motion.move({name: goal}, fraction)
            new = motion.step()
            assert joint.lower - 1e-6 <= new[column] <= joint.upper + 1e-6, (tick, goal, fraction)
            rates.append((new - place)[column] / TICK)
            place = new
            if tick - since > 12:  # it has braked to what is requested
                assert abs(rates[-1]) <= fraction * joint.speed + 1e-9, (tick, goal, fraction)


def test_a_slow_request_during_a_fast_move_takes_as_long_as_it_says():
    motion = JointMotion(RANGES)
    motion.move({"a": -1.0}, 1.0)
    for _ in range(12):
        place = motion.step()
    duration = motion.move({"a": 2.0}, 0.05)
    ticks = 0
    while motion.is_moving:
        new = motion.step()
        ticks += 1
        assert ticks < 13 or abs(new - place)[0] <= 0.05 * 4.0 * TICK + 1e-9
        place = new
    assert ticks * TICK == pytest.approx(duration, abs=0.25)
    motion.move({"a": 0.0}, 1.0)
    for _ in range(20):
        place = motion.step()
    motion.move({"a": place[0]}, 1.0)  # stop here
    path = np.array([motion.step()[0] for _ in range(100)])
    assert path[-1] == pytest.approx(place[0], abs=1e-4)
    assert np.abs(path - place[0]).max() <= 0.5 * 4.0 * 0.1 + 1e-6, "rad of braking from the maximum speed"


def test_a_joint_that_begins_beyond_its_limits_comes_back_without_a_jump():
    motion = JointMotion(RANGES)
    motion.start(np.array([2.2, 0.0, 0.0]))
    motion.move({"a": 1.9}, 1.0)
    path = np.array([2.2] + [motion.step()[0] for _ in range(60)])
    assert np.abs(np.diff(path)).max() <= 4.0 * TICK + 1e-9
    assert path[-1] == pytest.approx(1.9, abs=1e-3)


def test_a_fraction_of_the_speed_is_that_of_the_slowest_joint_and_joints_that_are_not_named_go_on():
    motion = JointMotion(RANGES)
    assert motion.move({"a": 1.0}, 0.1) == pytest.approx(1.0 / 0.4 + 0.1)
    path = np.array([motion.step() for _ in range(50)])
    assert motion.move({"b": 1.0, "a": path[-1, 0]}, 1.0) == pytest.approx(0.6)
    motion = JointMotion(RANGES)
    motion.move({"a": 1.0}, 0.1)
    motion.step()
    motion.move({"b": 1.0}, 1.0)
    path = np.array([motion.step() for _ in range(400)])
    assert np.diff(path[:, 0]).max() == pytest.approx(0.4 * TICK, rel=1e-6)
    assert path[-1] == pytest.approx([1.0, 1.0, 1.0], abs=1e-3)


@pytest.mark.parametrize(
    "targets, speed, words",
    [
        ({}, 0.5, "no joint is named"),
        ({"d": 0.0}, 0.5, "no joint 'd'; there are a, b, c"),
        ({"a": math.nan}, 0.5, r"a is commanded to nan rad \(nan deg\); give -1.0000 .. 2.0000 rad"),
        ({"a": 2.1}, 0.5, r"2.1 rad \(120.3 deg\); give -1.0000 .. 2.0000 rad \(-57.30 .. 114.59 deg\)"),
        ({"a": -1.1}, 0.5, r"-1.1 rad \(-63.03 deg\); give -1.0000 .. 2.0000"),
        ({"a": 0.0}, 1.1, "speed is 1.1; give a fraction"),
        ({"a": 0.0}, 0.0, "speed is 0.0; give a fraction"),
        ({"a": 0.0}, math.nan, "speed is nan; give a fraction"),
        ({"b": 0.3, "c": 0.299}, 0.5, "one motor, but commanded apart"),
    ],
)
def test_what_cannot_be_is_refused_in_words_and_changes_nothing(targets, speed, words):
    motion = JointMotion(RANGES)
    with pytest.raises(WalkError, match=words):
        motion.move(targets, speed)
    assert not motion.is_moving


def test_the_hips_of_the_humanoid_have_one_motor():
    ranges = joint_ranges(humanoid_description.urdf_text(), humanoid_description.profile())
    assert JointMotion(ranges).resolved({"RHipYawPitch": -0.2}, 1.0) == {"RHipYawPitch": -0.2, "LHipYawPitch": -0.2}
    assert ranges["LAnklePitch"].speed == pytest.approx(6.4)


def test_words_of_the_command_line():
    assert targets_of(["HeadYaw=90", "HeadPitch=-1"], True) == pytest.approx(
        {"HeadYaw": math.pi / 2, "HeadPitch": -math.pi / 180}
    )
    head, a, _, c = listing(RANGES).splitlines()
    assert head.split() == ["joint", "limits", "/", "rad", "limits", "/", "deg"]
    assert a.split() == ["a", "-1.0000", "..", "2.0000", "-57.30", "..", "114.59"] and c.endswith("by the motor of b")
    with pytest.raises(SettingsError, match="no NAME=NUMBER .* HeadYaw=0.5"):
        targets_of(["HeadYaw"], False)
    with pytest.raises(SettingsError, match="twice"):
        targets_of(["a=1", "a=2"], False)
