# SPDX-License-Identifier: MIT
"""Node ``recorder``: ``rosbag record`` with the topics of a purpose, and the robot itself in the bag."""

from __future__ import annotations

import datetime
from pathlib import Path

import rospy
from std_msgs.msg import String

from robot_evaluation.bags.purpose import bag_file, load
from robot_evaluation.bags.rosbag_node import program, run_child, run_node
from robot_evaluation.end_launch_node import end_launch
from robot_evaluation.errors import EvaluationError
from shellbot_common import RobotProfile
from shellbot_common.parameters_node import wait_for_parameters
from shellbot_common.publisher_node import Publisher
from shellbot_common.robot_profile import PARAMETER


def record() -> int:
    """Record until the time is over or the node is stopped; returns the status.

    Raises
    ------
    EvaluationError
        If purpose or file cannot be used.
    ProfileError
        If the robot's profile is wrong.
    """
    purpose_name, seconds = str(rospy.get_param("~purpose", "walk")), float(rospy.get_param("~seconds", 0.0))
    purpose = load(purpose_name)
    if not 0.0 <= seconds <= 86400.0:
        raise EvaluationError(f"seconds:={seconds:g}: give 0 (until Ctrl-C) to 86400")
    urdf, text = wait_for_parameters("robot_description", PARAMETER)
    profile = RobotProfile.from_text(text)
    robot = []  # in the bag, because parameters are not recorded
    for name, content in (("robot_description", urdf), (PARAMETER, text)):
        robot.append(Publisher(name, String, queue_size=1, latch=True))
        robot[-1].publish(content)
    default = f"{profile.name}_{Path(purpose_name).stem}_{datetime.datetime.now():%Y%m%d_%H%M%S}"
    path = bag_file(str(rospy.get_param("~bag", "")), Path(str(rospy.get_param("~folder", "."))), default)
    command = [program("record"), "--output-name", str(path), "--buffsize=512"]
    if seconds:
        command.append(f"--duration={seconds:g}")
    topics = [rospy.resolve_name(name) for name in purpose.for_robot(profile)]
    rospy.loginfo("recorder: %s, %d topics, to %s; Ctrl-C ends it", purpose.text, len(topics), path)
    run_child([*command, *topics])
    if not path.is_file():
        raise EvaluationError(f"{path} is not there: no simulated time came, the disk is full, or rosbag was killed")
    rospy.loginfo("recorder: %s, %.1f MB; next: scripts/plot bag %s", path, path.stat().st_size / 1e6, path)
    end_launch("recorder")
    return 0


def main() -> int:
    """Run the node; returns its status."""
    return run_node("recorder", record)
