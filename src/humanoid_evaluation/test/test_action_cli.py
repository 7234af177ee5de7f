# SPDX-License-Identifier: MIT
"""`scripts/action humanoid`: motions from bag and table, and their check in the simulator."""

from __future__ import annotations

import numpy as np
import pytest

import humanoid_description
from humanoid_evaluation.action_cli import main
from robot_evaluation.joint_tables import write_joints

NAMES = list(humanoid_description.profile().joint_names)
STANCE = np.array(list(humanoid_description.profile().pose("stand").values()))


def swing(joint="LShoulderPitch", by=-1.0):
    t = np.arange(0.0, 3.0, 0.02)
    q = np.tile(STANCE, (len(t), 1))
    q[:, NAMES.index(joint)] += by * np.sin(np.pi * t / 3.0) ** 2
    return t, q


def test_a_table_becomes_a_motion_beside_others_that_the_robot_performs(tmp_path, capsys):
    table, file = tmp_path / "swing.csv", tmp_path / "mine.yaml"
    write_joints(table, NAMES, *swing())
    file.write_text("# my motions\nlow: {text: t, then: hold, frames: [{time: 2, pose: crouch}]}\n", encoding="utf-8")
    words = ["record", "swing", "--from-file", str(table), "--out", str(file)]
    assert main([*words, "--text", "swings: once"]) == 0
    out = capsys.readouterr().out
    assert f"swing in {file}: " in out and "of 1 joints" in out and "(worst LShoulderPitch)" in out
    assert f"next: scripts/action humanoid check swing --motions-file {file}" in out
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# my motions\nlow:") and "# swing.csv, from 0." in text
    assert main(words) == 2
    assert f"{file} has a motion swing already; give another name or file" in capsys.readouterr().err
    assert main(["record", "my swing", *words[2:]]) == 2
    assert f"my swing is not saved: {file}: my swing: my swing is no name of letters" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == text and sorted(tmp_path.iterdir()) == [file, table]
    assert main(["list", "--motions-file", str(file)]) == 0
    assert "low: t (1 frames, 2.0 s, holds its last frame)\nswing: swings: once (" in capsys.readouterr().out
    assert main(["check", "swing", "--motions-file", str(file), "--friction", "0.6"]) == 0
    assert "| swing " in capsys.readouterr().out


def test_a_motion_that_falls_is_red(tmp_path, capsys):
    file = tmp_path / "mine.yaml"
    file.write_text("tip: {text: t, frames: [{time: 0.5, joints_deg: {AnklePitch: 40}}]}\n", encoding="utf-8")
    assert main(["check", "tip", "--motions-file", str(file), "--friction", "0.8"]) == 1
    assert "RED: the robot falls" in capsys.readouterr().out
    assert main(["check", "tap", "--motions-file", str(file)]) == 2
    assert "there is no motion 'tap'; there are wave, bow, tip" in capsys.readouterr().err


def test_a_table_that_cannot_be_is_refused_with_its_name_and_nothing_is_written(tmp_path, capsys):
    table, file = tmp_path / "swing.csv", tmp_path / "mine.yaml"
    write_joints(table, NAMES, *swing("RShoulderRoll", 2.0))
    words = ["record", "swing", "--from-file", str(table), "--out", str(file)]
    assert main(words) == 2
    assert f"{table}: RShoulderRoll is at " in capsys.readouterr().err
    assert main([*words, "--tolerance-deg", "0"]) == 2
    assert "--tolerance-deg is 0; give 0.2 to 20" in capsys.readouterr().err
    assert not file.exists()


def test_a_bag_becomes_a_motion_and_one_without_joints_is_refused(tmp_path, capsys):
    rosbag = pytest.importorskip("rosbag")
    import rospy
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Bool

    t, q = swing()
    bags = tmp_path / "swing.bag", tmp_path / "empty.bag"
    for path in bags:
        with rosbag.Bag(str(path), "w") as bag:
            for index, row in enumerate(q if path == bags[0] else ()):
                message = JointState(name=NAMES, position=row.tolist())
                message.header.stamp, message.header.seq = rospy.Time(5.0 + t[index]), index
                bag.write("/joint_states", message, message.header.stamp)
            bag.write("/stopped", Bool(), rospy.Time(9.0))
    file = tmp_path / "mine.yaml"
    assert main(["record", "swing", "--from-file", str(bags[0]), "--out", str(file), "--begin", "0.5"]) == 0
    assert "(worst LShoulderPitch)" in capsys.readouterr().out and file.exists()
    assert main(["record", "other", "--from-file", str(bags[1]), "--out", str(file)]) == 2
    assert "has no joint_states, but /stopped; record with roslaunch" in capsys.readouterr().err
