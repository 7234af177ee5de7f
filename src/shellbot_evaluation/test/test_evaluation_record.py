# SPDX-License-Identifier: MIT
"""scripts/action record: when a recording begins and ends, its files, and its sentences."""

from __future__ import annotations

import re

import numpy as np
import pytest

from robot_evaluation.errors import EvaluationError
from robot_evaluation.joint_tables import read_joints, write_joints
from shellbot_description import driven_joint_names, named_pose_array
from shellbot_evaluation.action_cli import main
from shellbot_evaluation.action_record import Recorder

NAMES = driven_joint_names("simulation")
STAND = named_pose_array("stand", "simulation")


def feed(recorder, seconds, angle=lambda t: 0.0, start=0.0):
    """Feed 50 Hz of a standing robot whose shell 1 is turned by an angle, deg; return when it ended."""
    for t in start + np.arange(0.0, seconds, 0.02):
        q = STAND.copy()
        q[25] -= np.radians(angle(t))
        recorder.receive(float(t), NAMES, q)
        if recorder.done:
            return float(t)
    return None


def opens(t):
    """Opens from 5 s to 6 s."""
    return 20.0 * (0.5 - 0.5 * np.cos(np.pi * np.clip(t - 5.0, 0.0, 1.0)))


def test_a_recording_begins_with_the_movement_and_ends_when_nothing_moves():
    recorder = Recorder(None, 2.0)
    ended = feed(recorder, 20.0, opens)
    _, t, q = recorder.joints
    assert recorder.began and ended == pytest.approx(8.0, abs=0.3)
    assert t[0] == pytest.approx(4.6, abs=0.2), "a little before the movement"
    assert np.degrees(np.ptp(q[:, 25])) == pytest.approx(20.0)
    assert Recorder(None, 2.0).duration == 0.0


def test_noise_of_the_encoders_is_no_movement_and_a_time_that_goes_back_begins_anew():
    recorder = Recorder(None, 2.0)
    feed(recorder, 10.0, lambda t: 0.29 * round(np.sin(50.0 * t)))
    assert not recorder.began
    feed(recorder, 5.5, opens)
    assert recorder.began and recorder.moving(0.5) == ["upper_1"]
    feed(recorder, 1.0)
    assert recorder.joints[1][0] == 0.0


def test_a_recording_of_given_length_and_one_ended_by_hand():
    recorder = Recorder(1.5, 2.0)
    assert feed(recorder, 5.0) == pytest.approx(1.5, abs=0.03)
    by_hand = Recorder(None, 2.0)
    by_hand.begin()
    feed(by_hand, 1.0)
    by_hand.end()
    feed(by_hand, 1.0, start=1.0)
    assert by_hand.duration == pytest.approx(0.98)


@pytest.mark.parametrize(
    "seconds, rest, message", [(0.0, 3.0, "--seconds is 0; give 0.1"), (None, 0.1, "--rest is 0.1")]
)
def test_numbers_that_make_no_sense(seconds, rest, message):
    with pytest.raises(EvaluationError, match=message):
        Recorder(seconds, rest)


def recorded(tmp_path):
    recorder = Recorder(None, 2.0)
    feed(recorder, 20.0, lambda t: opens(t) - opens(t - 2.0))
    file = tmp_path / "joints.csv"
    write_joints(file, *recorder.joints)
    return file


def test_a_recording_in_a_file_becomes_an_action_that_is_green(tmp_path, capsys):
    csv = recorded(tmp_path)
    out = tmp_path / "mine.yaml"
    command = ["record", "open_one", "--out", str(out), "--from-file", str(csv)]
    assert main([*command, "--text", "opens a shell"]) == 0
    said = capsys.readouterr().out
    assert "open_one in" in said and "shell of upper_1; 2 waypoints" in said and "next: scripts/action check" in said
    assert main(["check", "--folder", str(tmp_path), "open_one"]) == 0
    assert "green" in capsys.readouterr().out
    assert main(command) == 2 and "has an action 'open_one'" in capsys.readouterr().err
    assert main([*command, "--force", "--posture"]) == 2
    assert "nothing moves by more than 3 mm" in capsys.readouterr().err


def test_what_rostopic_prints_is_read(tmp_path):
    file = tmp_path / "echo.csv"
    head = "%time,field.header.seq,field.header.stamp,field.header.frame_id,field.name0,field.name1,field.position0,"
    file.write_text(f"{head}field.position1\n5,1,1500000000,,a,b,0.1,0.2\n6,2,1510000000,,a,b,0.3,0.4\n")
    names, t, q = read_joints(file)
    assert list(names) == ["a", "b"] and t == pytest.approx([1.5, 1.51]) and q.tolist() == [[0.1, 0.2], [0.3, 0.4]]


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "cannot read joints from .*No such file"),
        ("", "has no rows of joints; give a CSV file whose first line is t"),
        ("t,lower_1_coxa\n", "has no rows of joints"),
        ("t,a\n0,x\n", "could not convert string to float: 'x'"),
        ("t,a\n0\n", "cannot read joints"),
        ("t,a\n0,0.0\n", "lacks the joint lower_1_fan"),
    ],
)
def test_files_that_are_none_are_refused(tmp_path, content, message, capsys):
    file = tmp_path / "joints.csv"
    if content is not None:
        file.write_text(content)
    assert main(["record", "mine", "--out", str(tmp_path / "mine.yaml"), "--from-file", str(file)]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error), error
    assert not (tmp_path / "mine.yaml").exists()


def test_live_without_a_robot_says_so_before_anything_is_recorded(tmp_path, capsys, monkeypatch):
    pytest.importorskip("rospy")
    monkeypatch.setenv("ROS_MASTER_URI", "http://localhost:1")
    assert main(["record", "mine", "--out", str(tmp_path / "mine.yaml")]) == 2
    assert "no ROS master at http://localhost:1; start the robot" in capsys.readouterr().err
    assert main(["record", "mine", "--out", str(tmp_path / "mine.txt")]) == 2
    assert "is no .yaml file" in capsys.readouterr().err
