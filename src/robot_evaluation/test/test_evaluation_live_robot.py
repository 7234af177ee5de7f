# SPDX-License-Identifier: MIT
"""At which master a replay looks for a robot that runs."""

from __future__ import annotations

import pytest

live_robot = pytest.importorskip("robot_evaluation.bags.live_robot_node", reason="needs rosgraph of ROS")


@pytest.mark.parametrize(
    "options, port",
    [((), 11402), (("-p", "11399"), 11399), (("--port", "11398"), 11398), (("--port=11397",), 11397)],
)
def test_the_option_of_roslaunch_comes_before_the_environment(options, port, monkeypatch):
    monkeypatch.setenv("ROS_MASTER_URI", "http://localhost:11402")
    words = ["python3", "/usr/bin/roslaunch", *options, "shellbot_bringup", "replay.launch"]
    assert live_robot.master_of(words) == f"http://localhost:{port}"


def test_where_there_is_no_master_no_robot_runs():
    live_robot.refuse_a_live_robot("http://localhost:1", "/replay")
