# SPDX-License-Identifier: MIT
"""Recorded runs: a bag of a real walk gives the figures of the walk, and one that lacks something says what."""

from __future__ import annotations

import shutil

import genpy
import numpy as np
import pytest
import rosbag
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from PIL import Image
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String

import shellbot_description
from robot_evaluation.bags.analysis import (
    contact_rows,
    latency,
    tracking,
    velocity_rows,
)
from robot_evaluation.bags.cli import PARTS, missing
from robot_evaluation.bags.figure import draw
from robot_evaluation.bags.purpose import load, purposes
from robot_evaluation.bags.read_conversions import read_bag
from robot_evaluation.bags.replay_node import check
from robot_evaluation.bags.robot_conversions import main as bag_robot
from robot_evaluation.errors import EvaluationError
from robot_evaluation.joint_tables import read_joints
from shellbot_chain.chain import Chain
from shellbot_common import RobotProfile, package_file
from shellbot_evaluation import plot_cli
from shellbot_msgs.msg import Contact, Contacts

SPEED, YAW_RATE = 0.15, 0.1  # m/s, rad/s
HUMANOID = RobotProfile.load(package_file("humanoid_description", "config/profile.yaml"))


@pytest.fixture(scope="module")
def walked():
    """Two seconds of the real chain, and the times between which it was commanded."""
    chain = Chain(variant="walker", seed=0)
    chain.stand_up()
    begin = chain.time
    chain.walk((SPEED, 0.0, YAW_RATE), seconds=2.0)
    return chain.trace().window(begin, chain.time), begin


def joints(names, position, t):
    message = JointState(name=list(names), position=list(position))
    message.header.stamp = genpy.Time.from_sec(t)
    return message


def write_walk(file, trace, begin, leave_out=(), ns="", lost=(), profile=True):
    """Write what record.launch would have recorded of a run."""
    with rosbag.Bag(str(file), "w") as bag:

        def write(topic, message, t):
            if topic not in leave_out:
                bag.write(f"{ns}/{topic}", message, genpy.Time.from_sec(t))

        if profile:
            write("robot_profile", String(shellbot_description.robot_profile("walker").to_text()), trace.t[0])
            write("robot_description", String("<robot name='walker'/>"), trace.t[0])
        for k, t in enumerate(trace.t):
            write("joint_states", joints(trace.joint_names, trace.joint_position[k], t), t)
            if k not in lost:
                write("joint_targets", joints(trace.joint_names, trace.joint_target[k], t), t + 0.002)
            command = Float64MultiArray(data=list(trace.joint_target[k]))
            command.layout.dim = [MultiArrayDimension(label=f"stamp:{int(round(1e9 * t))}")]
            write("shellbot_legs_controller/command", command, t + 0.003)
            contacts = Contacts(
                contacts=[Contact(name=f"lower_{i + 1}_foot", in_contact=bool(on)) for i, on in
                          enumerate(trace.contact_truth[k])]
            )  # fmt: skip
            contacts.header.stamp = genpy.Time.from_sec(t)
            write("ground_truth/foot_contacts", contacts, t)
            odometry = Odometry()
            odometry.header.stamp = genpy.Time.from_sec(t)
            odometry.pose.pose.position.x, odometry.pose.pose.position.y = trace.p_world_base[k, :2]
            q = odometry.pose.pose.orientation
            q.x, q.y, q.z, q.w = trace.q_world_base[k]
            write("ground_truth/odom", odometry, t)
            if k % 5 == 0 and t < begin + 2.0:
                twist = Twist()
                twist.linear.x, twist.angular.z = SPEED, YAW_RATE
                write("cmd_vel", twist, t)
    return file


@pytest.fixture(scope="module")
def bag(walked, tmp_path_factory):
    return write_walk(tmp_path_factory.mktemp("bags") / "walk.bag", *walked, lost=(50, 51))


@pytest.fixture(scope="module")
def data(bag):
    return read_bag(bag)


def test_tracking_is_that_of_the_trace_by_the_classes_of_the_profile(data, walked):
    trace = walked[0]
    rows = {of.kind: of for of in tracking(data)}
    assert list(rows) == ["fan", "coxa", "femur", "tibia"]
    kept = np.delete(np.arange(len(trace.t)), (50, 51))
    for kind, of in rows.items():
        columns = [i for i, name in enumerate(trace.joint_names) if name.endswith(kind)]
        error = (trace.joint_target - trace.joint_position)[kept][:, columns]
        np.testing.assert_allclose(of.rms, np.sqrt((error**2).mean(axis=0)), rtol=1e-9)
    assert 0.01 <= rows["coxa"].delay() <= 0.06, "servo and one tick"
    assert np.isnan(rows["fan"].delay()), "the fan does not move"


def test_latency_counts_what_is_missing_and_what_came_late(data):
    rows = {row["topic"]: row for row in latency(data)}
    assert rows["joint_states"]["missing"] == 0
    targets, command = rows["joint_targets"], rows["shellbot_legs_controller/command"]
    assert (targets["missing"], targets["longest"]) == (2, pytest.approx(30.0))
    assert targets["answered"] == pytest.approx(100.0 * (1 - 2 / rows["joint_states"]["messages"]))
    assert targets["after"] == pytest.approx(2.0, abs=0.01) and command["after"] == pytest.approx(3.0, abs=0.01)


def test_contacts_and_velocity_are_those_of_the_walk(data, walked):
    trace, begin = walked
    rows = contact_rows("truth", data.contacts["ground_truth/foot_contacts"])
    duty = [row["touching"] for row in rows]
    np.testing.assert_allclose(duty, 100.0 * trace.contact_truth.mean(axis=0), atol=1.5)
    downs = (np.diff(trace.contact_truth.astype(int), axis=0) > 0).sum(axis=0)
    assert [row["touchdowns"] for row in rows] == downs.tolist() and downs.min() > 0
    (row,) = velocity_rows(data)
    assert row["x_commanded"] == pytest.approx(SPEED)
    part = trace.window(begin, begin + row["seconds"] - 0.01)
    ahead = np.linalg.norm(np.diff(part.p_world_base[:, :2], axis=0), axis=1).sum() / row["seconds"]
    turned = np.degrees(np.ptp(part.yaw_world_base)) / row["seconds"]
    assert row["x_measured"] == pytest.approx(ahead, rel=0.08) and ahead > 0.5 * SPEED
    assert row["yaw_measured"] == pytest.approx(turned, rel=0.08)


def test_joint_states_that_name_no_joint_and_labels_that_are_no_stamp_are_no_traceback(tmp_path, capsys):
    file = tmp_path / "nameless.bag"
    with rosbag.Bag(str(file), "w") as bag:
        for k in range(3):
            for topic, names in (("/joint_states", []), ("/joint_targets", ["a"])):
                bag.write(topic, joints(names, np.zeros(len(names)), 1.0 + 0.01 * k), genpy.Time(1 + k))
    assert read_bag(file).missing_joints(["a"]) == ("a",)
    picture = ("--out", str(tmp_path / "a.png"))
    assert plot_cli.main(["bag", str(file), *picture]) == 0
    assert "no joint is both commanded and measured" in capsys.readouterr().out
    assert plot_cli.main(["bag", str(file), "--parts", "tracking", *picture]) == 2
    assert "no joint is both commanded and measured" in capsys.readouterr().err
    with rosbag.Bag(str(file), "a") as bag:
        command = Float64MultiArray()
        command.layout.dim = [MultiArrayDimension(label="stamp:soon")]
        bag.write("/arm_controller/command", command, genpy.Time(2))
    with pytest.raises(EvaluationError, match=f"{file}: label 'stamp:soon' of the command is no stamp"):
        read_bag(file)


@pytest.mark.filterwarnings("error")
def test_bad_joint_states_are_skipped_counted_and_joints_of_two_publishers_joined(tmp_path, capsys):
    file, t = tmp_path / "bad.bag", 1.0 + np.arange(0.0, 1.0, 0.01)
    with rosbag.Bag(str(file), "w") as bag:
        for k, now in enumerate(t):
            moved = 0.3 * np.sin(6.0 * now)
            stamp = genpy.Time.from_sec(now)
            bag.write("/joint_targets", joints(["arm_1", "arm_2", "arm_3"], [moved] * 3, now), stamp)
            angle = [moved - 0.01, np.nan if k % 10 == 3 else moved]
            bag.write("/joint_states", joints(["arm_1", "arm_2"], angle[: 1 if k == 50 else 2], now), stamp)
            bag.write("/joint_states", joints(["wheel", "finger_1"], [0.1, moved], now), stamp)
    data = read_bag(file)
    assert data.joints["joint_states"].names == ("arm_1", "arm_2", "wheel", "finger_1")
    assert data.joints["joint_states"].bad == 11 and len(data.joints["joint_states"].t) == 100
    found = {name: rms for of in tracking(data) for name, rms in zip(of.names, of.rms)}
    assert found == {"arm_1": pytest.approx(0.01), "arm_2": pytest.approx(0.0, abs=1e-3)}
    assert plot_cli.main(["bag", str(file), "--out", str(tmp_path / "a.png")]) == 0
    shown = capsys.readouterr().out
    assert "note: 11 of 200 joint_states lack a number for a joint that they name" in shown
    assert "note: no tracking of arm_3, wheel, finger_1: never commanded, or never measured" in shown


def test_the_command_prints_tables_and_writes_picture_and_joints(bag, walked, tmp_path, capsys):
    picture, table = tmp_path / "walk.png", tmp_path / "walk.csv"
    assert plot_cli.main(["bag", str(bag), "--out", str(picture), "--csv", str(table)]) == 0
    printed = capsys.readouterr().out
    for words in ("Tracking", "| femur ", "Latency", "Contacts", "lower_3_foot", "Velocity", f"picture in {picture}"):
        assert words in printed
    assert "note:" not in printed, "nothing is missing"
    with Image.open(picture) as image:
        assert image.height > image.width
    names, t, q = read_joints(table)
    assert tuple(names) == walked[0].joint_names
    np.testing.assert_allclose(q, walked[0].joint_position, atol=1e-6)


def test_no_legend_covers_a_curve(data):
    figure = draw(data, PARTS, False)
    figure.canvas.draw()
    legends = [axes.get_legend() for axes in figure.axes if axes.get_legend() is not None]
    assert len(legends) == 6
    for legend in legends:
        box = legend.get_window_extent()
        assert not [axes for axes in figure.axes if axes.bbox.shrunk(0.99, 0.99).overlaps(box)], legend.get_texts()


def test_what_a_bag_lacks_is_named_with_how_to_record_it(walked, tmp_path, capsys):
    file = write_walk(tmp_path / "part.bag", *walked, leave_out=("cmd_vel", "ground_truth/foot_contacts"))
    assert plot_cli.main(["bag", str(file), "--out", str(tmp_path / "a.png")]) == 0
    printed = capsys.readouterr().out
    assert "no contacts: " in printed and "lacks foot_contacts, ground_truth/foot_contacts" in printed
    assert "no velocity: " in printed and "lacks cmd_vel; record with" in printed and "purpose:=walk" in printed
    assert plot_cli.main(["bag", str(file), "--parts", "velocity", "--out", str(tmp_path / "b.png")]) == 2
    assert "lacks cmd_vel" in capsys.readouterr().err and not (tmp_path / "b.png").exists()
    with rosbag.Bag(str(tmp_path / "other.bag"), "w") as other:
        other.write("/chatter", String("hello"), genpy.Time(1))
    assert plot_cli.main(["bag", str(tmp_path / "other.bag"), "--out", str(tmp_path / "c.png")]) == 2
    assert all(f"no {part}" in capsys.readouterr().err or part for part in PARTS)
    assert all(missing(read_bag(tmp_path / "other.bag")).values())


def test_a_file_that_cannot_be_read_says_why_and_what_to_do(bag, tmp_path):
    def refused(file, *words):
        with pytest.raises(EvaluationError) as error:
            read_bag(file)
        assert all(word in str(error.value) for word in (str(file), *words)), error.value

    refused(tmp_path / "none.bag", "No such file", "name an existing bag")
    refused(tmp_path, "folder", "give the file of a bag")
    text = tmp_path / "text.bag"
    text.write_text("no bag at all\n", encoding="utf-8")
    refused(text, "is no bag")
    (tmp_path / "zero.bag").touch()
    refused(tmp_path / "zero.bag", "is no bag", "empty file")
    rosbag.Bag(str(tmp_path / "silent.bag"), "w").close()
    refused(tmp_path / "silent.bag", "is empty", "is the robot on")
    cut = tmp_path / "cut.bag"
    cut.write_bytes(bag.read_bytes()[: bag.stat().st_size // 2])
    refused(cut, "rosbag reindex")
    broken = bytearray(bag.read_bytes())
    broken[len(broken) // 2 : len(broken) // 2 + 50_000] = bytes(50_000)
    (tmp_path / "broken.bag").write_bytes(broken)
    refused(tmp_path / "broken.bag", "damaged")
    with rosbag.Bag(str(tmp_path / "killed.bag"), "w") as open_bag:  # as it lies there when its recorder dies
        open_bag.write("/joint_states", joints(["a"], [0.0], 1.0), genpy.Time(1))
        open_bag.flush()
        shutil.copy(tmp_path / "killed.bag", tmp_path / "running.bag.active")
        shutil.copy(tmp_path / "killed.bag", tmp_path / "no_index.bag")
    refused(tmp_path / "no_index.bag", "no index", "rosbag reindex")
    refused(tmp_path / "running.bag", "still being recorded")


def test_of_two_robots_one_is_chosen(walked, tmp_path):
    file = write_walk(tmp_path / "two.bag", *walked, ns="/left")
    with rosbag.Bag(str(file), "a") as bag:
        bag.write("/right/joint_states", joints(["a"], [0.0], walked[1]), genpy.Time.from_sec(walked[1]))
    with pytest.raises(EvaluationError, match="several robots; choose one with --ns: /left, /right"):
        read_bag(file)
    assert "joint_targets" in read_bag(file, "left").joints and "joint_targets" not in read_bag(file, "/right").joints
    with pytest.raises(EvaluationError, match="no topic below middle"):
        read_bag(file, "middle")


def test_a_replay_names_the_joints_that_are_missing(bag, walked, tmp_path):
    profile = shellbot_description.robot_profile("walker")
    assert check(bag, "walker", profile.joint_names, partial=False) == (
        "the bag has no /tf: RViz shows nothing; record with purpose:=walk",
    )
    names = list(HUMANOID.joint_names)
    few = tmp_path / "few.bag"
    with rosbag.Bag(str(few), "w") as written:
        position = [float("nan") if name == "RKneePitch" else 0.1 for name in names[:-1]]
        written.write("/joint_states", joints(names[:-1], position, 1.0), genpy.Time(1))
    with pytest.raises(EvaluationError, match=f"lacks 2 of 26 joints of humanoid: RKneePitch, {names[-1]}; replay"):
        check(few, "humanoid", names, partial=False)
    notes = check(few, "humanoid", names, partial=True)
    assert notes[0] == f"RKneePitch, {names[-1]} of humanoid are not in the bag and stay as they are"
    with pytest.raises(EvaluationError, match="lacks 26 of 26 joints of humanoid"):
        check(bag, "humanoid", names, partial=False)
    silent = write_walk(tmp_path / "no_states.bag", *walked, leave_out=("joint_states",))
    with pytest.raises(EvaluationError, match="has no joint_states; it has "):
        check(silent, "walker", profile.joint_names, partial=True)


def test_the_robot_comes_out_of_the_bag(bag, walked, tmp_path, capsys):
    assert bag_robot([str(bag), "robot_profile"]) == 0
    assert RobotProfile.from_text(capsys.readouterr().out) == shellbot_description.robot_profile("walker")
    nameless = write_walk(tmp_path / "nameless.bag", *walked, profile=False)
    assert bag_robot([str(nameless), "robot_description"]) == 2
    assert "does not say which robot" in capsys.readouterr().err


def test_every_purpose_fits_every_robot():
    walker = shellbot_description.robot_profile("walker")
    for name in purposes():
        topics = load(name).for_robot(walker)
        assert {"joint_states", "joint_targets", "robot_profile", "shellbot_legs_controller/command"} <= set(topics)
        assert not any("{" in topic for topic in topics) and len(set(topics)) == len(topics)
        soles = [topic for topic in load(name).for_robot(HUMANOID) if topic.startswith("contact_wrenches/")]
        assert soles == ([f"contact_wrenches/{link}" for link in HUMANOID.contacts] if name != "joints" else [])
    assert (
        set(load("joints").for_robot(walker)) < set(load("walk").for_robot(walker)) < set(load("all").for_robot(walker))
    )
