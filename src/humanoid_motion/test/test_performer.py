# SPDX-License-Identifier: MIT
"""Motions on request: a user's file, the way along the frames, pause and cancel without a jump, refusals in words."""

from __future__ import annotations

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.motions import MotionReader, load_motions
from humanoid_motion.parameters import WalkError
from humanoid_motion.performer import Performer
from shellbot_common import TICK
from shellbot_common.performance import Outcome

PROFILE = humanoid_description.profile()
READER = MotionReader.of_robot(humanoid_description.urdf_text(), PROFILE)
STANCE = np.array(list(PROFILE.pose("stand").values()))
HEAD = PROFILE.joint_names.index("HeadYaw")
NOD = "nod: {text: t, frames: [{time: 1, joints_deg: {HeadYaw: 40}}, {time: 1, joints_deg: {HeadYaw: 0}}]}\n"


@pytest.fixture()
def performer(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(NOD + "left: {text: t, mirror: wave, then: hold}\n", encoding="utf-8")
    return Performer(load_motions(READER, file).performed)


def play(performer, ticks):
    path = []
    for _ in range(ticks):
        path.append(performer.step())
    return np.array(path)


def test_a_motion_passes_its_frames_in_time_and_leaves_the_other_joints_alone(performer):
    assert performer.begin(performer.find("nod", 0.5), STANCE, 0.5) == pytest.approx(4.0)
    first = play(performer, 200)
    assert performer.status.step == "frame 2 of 2" and 0.45 < performer.status.progress < 0.5
    assert first[-1, HEAD] == pytest.approx(np.radians(40.0), abs=1e-3)
    path = np.vstack((first, play(performer, 200)))
    assert performer.is_played and not performer.holds and path[-1] == pytest.approx(STANCE)
    assert np.array_equal(np.delete(path, HEAD, axis=1), np.tile(np.delete(STANCE, HEAD), (400, 1)))
    performer.finish()
    assert performer.status.outcome is Outcome.SUCCEEDED and performer.status.progress == 1.0


@pytest.mark.parametrize("end", ["pause", "cancel"])
def test_pause_and_cancel_come_to_rest_on_the_path_without_a_jump_of_speed(performer, end):
    performer.begin(performer.find("nod", 1.0), STANCE, 1.0)
    before = play(performer, 50)
    if end == "cancel":
        performer.cancel("it was requested")
    else:
        assert performer.pause(True) == "nod pauses" and performer.status.paused
    after = play(performer, 50)
    rate = np.diff(np.vstack((before, after))[:, HEAD]) / TICK
    assert rate[48] > 0.8, "rad/s in the middle of the first frame"
    assert np.abs(np.diff(rate)).max() < 0.1, "rad/s a tick"
    assert np.ptp(after[25:], axis=0).max() == 0.0
    assert performer.is_played == (end == "cancel")
    if end == "cancel":
        with pytest.raises(WalkError, match="no motion is being played"):
            performer.pause(True)
        performer.finish()
        assert performer.status.outcome is Outcome.CANCELLED
        assert performer.status.text == "nod is cancelled: it was requested"
    else:
        assert performer.pause(False) == "nod goes on"
        assert play(performer, 200)[-1] == pytest.approx(STANCE) and performer.is_played


def test_a_mirrored_motion_of_those_delivered_holds_if_it_says_so(performer):
    performer.begin(performer.find("left", 1.0), STANCE, 1.0)
    q = play(performer, 100)[-1]
    shoulder = PROFILE.joint_names.index("LShoulderPitch")
    assert q[shoulder] == pytest.approx(np.radians(-50.0), abs=1e-3) and performer.holds
    performer.cancel("it was requested")
    assert not performer.holds, "a motion that is cancelled goes back to the stance"


def test_names_and_speeds_that_cannot_be_are_refused_in_words(performer):
    with pytest.raises(WalkError, match="no motion 'dance'; there are wave, bow, nod, left, get_up"):
        performer.find("dance", 1.0)
    for speed in (0.0, 1.5, float("nan")):
        with pytest.raises(WalkError, match=f"speed is {speed:g}; give a fraction of the usual speed from 0.05 to 1"):
            performer.find("nod", speed)


@pytest.mark.parametrize(
    "text, words",
    [
        ("wave: {text: t, mirror: bow}", "own.yaml: wave: wave is the name of one of its motions already; give"),
        ("get_up: {text: t, mirror: bow}", "get_up is the name of one of its motions already"),
        ("crouch: {text: t, mirror: bow}", "crouch is the name of a pose or mode of the robot already"),
        ("recover: {text: t, mirror: bow}", "recover is the name of a pose or mode of the robot already"),
        ("my motion: {text: t, mirror: bow}", "my motion is no name of letters, digits and _"),
        ("a: {text: t, mirror: bow, then: sit}", "own.yaml: a: then is 'sit'; .* stand, hold"),
        (
            "a: {text: t, frames: [{time: 1, joints_deg: {HeadYaw: 400}}]}",
            r"a: frames\[0\]: HeadYaw is commanded to .*400",
        ),
        ("", "own.yaml has no motion; give NAME"),
        ("a: [", "own.yaml is not valid YAML in line"),
    ],
)
def test_a_users_file_that_cannot_be_is_refused_with_file_motion_and_key(tmp_path, text, words):
    file = tmp_path / "own.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WalkError, match=words):
        load_motions(READER, file)
