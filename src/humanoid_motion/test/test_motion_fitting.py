# SPDX-License-Identifier: MIT
"""Recorded joints become few key frames within the tolerance; what is no recording of the robot is refused in words."""

from __future__ import annotations

import math

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.joint_motion import joint_ranges
from humanoid_motion.motion_fitting import fit, play_error, recording_of, trimmed
from humanoid_motion.motions import HOLD, STAND, MotionReader
from humanoid_motion.parameters import WalkError

URDF, PROFILE = humanoid_description.urdf_text(), humanoid_description.profile()
RANGES, READER = joint_ranges(URDF, PROFILE), MotionReader.of_robot(URDF, PROFILE)
NAMES = list(RANGES)
STANCE = np.array(list(PROFILE.pose("stand").values()))
TOLERANCE = math.radians(1.0)


def swinging(seconds=4.0, rest=2.0):
    """Return times and angles of a robot that stands, swings its left arm and turns its head, and stands again."""
    t = np.arange(0.0, seconds + 2.0 * rest, 0.01)
    inside = np.clip((t - rest) / seconds, 0.0, 1.0)
    q = np.tile(STANCE, (len(t), 1))
    q[:, NAMES.index("LHipPitch")] += math.radians(9.0)  # as it balances
    envelope = np.sin(math.pi * inside) ** 2
    q[:, NAMES.index("LShoulderPitch")] -= 1.2 * envelope
    q[:, NAMES.index("LElbowRoll")] -= 0.8 * envelope * np.sin(6.0 * math.pi * inside) ** 2
    q[:, NAMES.index("HeadYaw")] += 0.6 * envelope * np.cos(3.0 * math.pi * inside)
    q += np.random.default_rng(1).normal(0.0, 0.0005, q.shape)  # encoders
    return 100.0 + t, q


def read_back(fitted, tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(fitted.lines("again", "it's recorded: here"), encoding="utf-8")
    return READER.load(file)["again"]


@pytest.mark.parametrize("tolerance_deg, most_frames", [(1.0, 36), (4.0, 18)])
def test_a_recording_is_played_again_within_the_tolerance_by_few_frames(tmp_path, tolerance_deg, most_frames):
    tolerance = math.radians(tolerance_deg)
    recording = trimmed(recording_of(NAMES, *swinging(), RANGES), tolerance)
    assert 3.0 < recording.t[-1] < 4.2, "it rests before and after"
    assert 2.0 < recording.begin < 2.6
    fitted = fit(recording, RANGES, STANCE, tolerance)
    assert fitted.joints == ("HeadYaw", "LShoulderPitch", "LElbowRoll"), "a leg that rests is left to its balance"
    assert 5 < len(fitted.times) < most_frames and fitted.then == STAND
    motion = read_back(fitted, tmp_path)
    off, longer = play_error(motion, recording, fitted.times)
    assert np.degrees(off).max() <= tolerance_deg and longer == pytest.approx(1.0)
    assert motion.text == "it's recorded: here"
    t = recording.t[::7]
    played = motion.begin(recording.q[0])(t + motion.times[0])
    assert np.degrees(np.abs(played - recording.q[::7]))[:, np.isfinite(motion.frames[0])].max() <= tolerance_deg


def test_the_end_long_pauses_limits_and_what_is_too_fast(tmp_path):
    t, q = swinging()
    knee, shoulder = NAMES.index("LKneePitch"), NAMES.index("LShoulderPitch")
    low = math.radians(40.0) * np.clip((t - 104.0) / 2.0, 0.0, 1.0)
    for side in "LR":
        q[:, NAMES.index(f"{side}KneePitch")] += low
    fitted = fit(trimmed(recording_of(NAMES, t, q, RANGES), TOLERANCE), RANGES, STANCE, TOLERANCE)
    assert fitted.then == HOLD and "RKneePitch" in fitted.joints
    assert read_back(fitted, tmp_path).then == HOLD
    t, q = swinging(rest=0.5)
    rows = np.sort(np.concatenate((np.arange(len(t)), np.full(4000, 250))))  # it rests for 40 s in the middle
    paused = trimmed(recording_of(NAMES, 0.01 * np.arange(len(rows)), q[rows], RANGES), TOLERANCE)
    fitted = fit(paused, RANGES, STANCE, TOLERANCE)
    assert max(fitted.times) <= 20.0
    assert play_error(read_back(fitted, tmp_path), paused, fitted.times)[1] == pytest.approx(1.0)
    t, q = swinging()
    q[:, knee] = RANGES["LKneePitch"].upper + math.radians(1.5) * np.sin(t)  # beyond by what a servo gives way
    recording = trimmed(recording_of(NAMES, t, q, RANGES), TOLERANCE)
    assert read_back(fit(recording, RANGES, STANCE, TOLERANCE), tmp_path).frames[0, knee] <= RANGES["LKneePitch"].upper
    t, q = swinging(seconds=0.3)
    recording = trimmed(recording_of(NAMES, t, q, RANGES), TOLERANCE)
    fitted = fit(recording, RANGES, STANCE, TOLERANCE)
    off, longer = play_error(read_back(fitted, tmp_path), recording, fitted.times)
    assert longer > 1.2 and off[shoulder] <= 2.0 * TOLERANCE, "where it is slower, its error is stated"


def changed(joint, rows, value):
    t, q = swinging()
    q[rows, NAMES.index(joint)] = value
    return NAMES, t, q, RANGES


def without(*joints):
    t, q = swinging()
    kept = [name for name in NAMES if name not in joints]
    return kept, t, q[:, [NAMES.index(name) for name in kept]], RANGES


@pytest.mark.parametrize(
    "given, words",
    [
        (without("LHand", "RWristYaw"), "joints are missing: LHand, RWristYaw; record joint_states of the whole"),
        (changed("LHand", slice(None), math.nan), "joints are missing: LHand;"),
        (changed("HeadYaw", 250, math.nan), r"HeadYaw is at nan rad \(nan deg\) after 2.50 s; its limits are"),
        (
            changed("RShoulderRoll", 300, 1.0),
            r"RShoulderRoll is at 1 rad .* after 3.00 s; its limits are -1.3265 .. 0.3142",
        ),
        (
            changed("RHipYawPitch", 320, -0.1),
            "RHipYawPitch are turned by one motor, but are 5.7 deg apart after 3.20 s",
        ),
        ((NAMES, [1.0, 2.0, 1.5], np.tile(STANCE, (3, 1)), RANGES), "stamps do not rise"),
        ((NAMES, *swinging(), RANGES, (7.99, 9.0)), "nothing to read from 7.99 s to 9 s of a recording of 7.99 s"),
        (
            (NAMES, swinging()[0] + 9.0 * (np.arange(800) > 400), swinging()[1], RANGES),
            "for 9.01 s after 4.00 s; at most",
        ),
        ((NAMES, [], np.zeros((0, 26)), RANGES), "joints are missing|nothing to read"),
    ],
)
def test_what_is_no_recording_of_the_robot_is_refused_in_words(given, words):
    with pytest.raises(WalkError, match=words):
        recording_of(*given)


def test_where_nothing_moves_there_is_no_motion():
    t = np.arange(0.0, 3.0, 0.01)
    with pytest.raises(WalkError, match="no joint moves by more than 1 deg; record a movement"):
        trimmed(recording_of(NAMES, t, np.tile(STANCE, (len(t), 1)), RANGES), TOLERANCE)
