# SPDX-License-Identifier: MIT
"""What the nodes around ``rosbag record`` and ``play`` have in common: find the program, run it, end in words."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import Callable, List

import roslib.packages
import rospy

from robot_evaluation.errors import EvaluationError
from shellbot_common import ProfileError
from shellbot_common.init_node import init_node

PATIENCE = 30.0  # s of wall clock in which the index of a bag is written


def program(name: str) -> str:
    """Return the path of rosbag's ``record`` or ``play``.

    Raises
    ------
    EvaluationError
        If it is not installed.
    """
    found = roslib.packages.find_node("rosbag", name)
    if not found:
        raise EvaluationError("the package rosbag is not installed; run scripts/setup")
    return str(found[0])


def run_child(command: List[str]) -> int:
    """Run a program until it or this node ends, and let it end in its own time; returns its status."""
    child = subprocess.Popen(command)
    while child.poll() is None and not rospy.is_shutdown():
        time.sleep(0.1)
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
    try:
        return child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def run_node(name: str, work: Callable[[], int]) -> int:
    """Run a node's work; returns its status, 1 after an error, whose sentence is logged."""
    init_node(name)
    try:
        return work()
    except (EvaluationError, ProfileError) as error:
        rospy.logfatal("%s: %s", name, error)
        return 1
    except rospy.ROSInterruptException:
        return 0
