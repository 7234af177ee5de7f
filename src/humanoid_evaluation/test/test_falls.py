# SPDX-License-Identifier: MIT
"""Falls in the simulator: arms out, limp, requests refused; and up again to walk."""

from __future__ import annotations

import json

import numpy as np
import pytest

from humanoid_evaluation.experiment_cli import main
from humanoid_evaluation.get_up import summarise_get_up
from humanoid_evaluation.robot import Robot
from humanoid_evaluation.trial import Trial, world_of
from humanoid_motion.parameters import WalkError


def until(robot, mode, limit=15.0):
    end = robot.time + limit
    while robot.core.status().mode != mode:
        assert robot.time < end, f"{mode} not within {limit} s: {robot.core.status()}"
        robot.tick()
        if robot.core.has_fallen:
            assert (robot.command == np.clip(robot.command, *robot.core.joint_limits)).all(), (
                "joints rest at their stops"
            )


@pytest.mark.parametrize("force, side", [((90.0, 0.0, 0.0), "front"), ((-90.0, 0.0, 0.0), "back")])
def test_a_robot_that_falls_protects_itself_lies_limp_and_gets_up_to_walk_on(force, side):
    robot = Robot(seed=330)
    while robot.time < 1.0:
        robot.tick()
    robot.simulator.push(force, 0.1)
    until(robot, "falling")
    names = robot.simulator.joint_names
    measured = robot.state.q
    robot.tick()
    moved = {
        name for name, new, old in zip(names, robot.command, np.clip(measured, *robot.core.joint_limits)) if new != old
    }
    assert "LShoulderPitch" in moved and not {"LKneePitch", "RHipPitch", "LAnkleRoll"} & moved
    until(robot, "fallen")
    text = robot.core.status().text
    assert f"lies on its {side}" in text and "recover" in text
    measured = robot.state.q
    robot.tick()
    assert np.abs(robot.command - measured).max() < 0.02, "limp, but for joints beyond their stops"
    for request in (lambda: robot.core.take_pose("crouch"), lambda: robot.core.walk_to(1.0, 0.0, 0.0)):
        with pytest.raises(WalkError, match="lies on its"):
            request()
    robot.core.command_twist([0.2, 0.0, 0.0])  # is forgotten
    robot.core.request("recover")
    with pytest.raises(WalkError, match="It gets up, try 1"):
        robot.core.request("recover")
    until(robot, "stand", 40.0)
    assert robot.core.engine.has_stopped
    for _ in range(60):
        before = robot.command
        robot.tick()
        assert np.abs(robot.command - before).max() < 0.03, "rad of a tick: the engine takes over without a jump"
    start = robot.state.p_world_base.copy()
    robot.core.command_twist([0.15, 0.0, 0.0])
    for _ in range(300):
        robot.tick()
    assert robot.core.status().mode == "walk"
    assert np.hypot(*(robot.state.p_world_base - start)[:2]) > 0.2
    with pytest.raises(WalkError, match="has not fallen"):
        robot.core.request("recover")


def test_a_bow_on_a_slope_is_no_fall_and_a_push_in_it_is():
    trial = Trial(1.0, 0.0, 0.1, 1007, slope_deg=3.0)  # downhill is where it bows to
    for push in (0.0, 60.0):
        robot = Robot(world_of(trial), trial.seed)
        while robot.time < 1.5:
            robot.tick()
        robot.core.perform("bow")
        tilt = 0.0
        while robot.core.performer.is_active:
            if push and robot.time == pytest.approx(2.0):
                robot.simulator.push((-push, 0.0, 0.0), 0.1)
            robot.tick()
            tilt = max(tilt, robot.core.falls.detector.tilt)
        assert robot.core.performer.status.outcome == ("aborted" if push else "succeeded")
        assert tilt > 0.6 or push


def test_falls_are_counted_and_written(tmp_path):
    file = tmp_path / "falls.json"
    assert main(["--get-up", "--seeds", "331:332", "--json", str(file)]) in (0, 1)
    found = json.loads(file.read_text())
    assert found["summary"]["runs"] == 1 and found["runs"][0]["fell"]
    lying = {"fell": True, "stands": False, "tries": 4, "seconds": float("nan"), "shock_m_s2": 90.0}
    up = {**lying, "stands": True, "tries": 1, "seconds": 7.0}
    stood = {**lying, "fell": False}
    summary = summarise_get_up([lying, up, stood])
    assert (summary["runs"], summary["fell"], summary["got_up"], summary["at_the_first_try"]) == (3, 2, 1, 1)
