# SPDX-License-Identifier: MIT
"""Motions on request in the simulator: no fall on any floor, no jump, and every end that they can have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import humanoid_description
from humanoid_evaluation.robot import Robot
from humanoid_motion.parameters import WalkError
from shellbot_common.performance import Outcome
from shellbot_simulator.core.config import load_config

SHIPPED = ("wave", "bow")


class Watched(Robot):
    """A robot that stands; the greatest jump of its command is recorded."""

    def __init__(self, friction=0.8, motions_file=""):
        super().__init__(replace(load_config(), friction=friction), seed=310, motions_file=motions_file)
        self.jump = 0.0
        self.run(1.0)

    def run(self, seconds):
        for _ in range(round(100 * seconds)):
            before = self.command
            self.tick()
            if before is not None:
                self.jump = max(self.jump, float(np.abs(self.command - before).max()))

    def until_the_end(self):
        begin = self.time
        while self.core.performer.is_active:
            self.run(0.01)
            assert self.time < begin + 30.0
        return self.core.performer.status


@pytest.mark.parametrize("friction", [0.6, 1.0])
@pytest.mark.parametrize("name", SHIPPED)
def test_the_motions_delivered_keep_the_robot_on_its_feet_and_end_in_its_stance(name, friction):
    robot = Watched(friction)
    poses = set(humanoid_description.profile().poses)
    assert set(robot.core.performer.motions) - poses == set(SHIPPED)
    place = robot.state.p_world_base
    assert f"performs {name} in" in robot.core.perform(name)
    robot.run(1.0)
    status = robot.core.status()
    assert (status.mode, status.target) == ("motion", name) and f"It performs {name}: frame" in status.text
    assert robot.until_the_end().outcome is Outcome.SUCCEEDED
    robot.run(1.0)
    assert robot.core.status().mode == "stand"
    assert robot.state.p_world_base == pytest.approx(place, abs=0.015)
    assert robot.jump < 0.05, "rad a tick"


def test_a_motion_is_cancelled_by_cmd_vel_after_which_the_robot_walks_and_by_stand():
    robot = Watched()
    robot.core.perform("bow")
    robot.run(1.0)
    for request in (lambda: robot.core.take_pose("crouch"), lambda: robot.core.perform("wave")):
        with pytest.raises(WalkError, match="It performs bow: frame 1 of 3. Wait for its end, or request stand first"):
            request()
    robot.core.command_twist([0.0, 0.0, 0.0])  # an operator's keys that are let go
    robot.run(0.1)
    assert robot.core.status().mode == "motion"
    start = robot.state.p_world_base[0]
    robot.core.command_twist([0.15, 0.0, 0.0])
    status = robot.until_the_end()
    assert status.outcome is Outcome.CANCELLED and "cmd_vel came" in status.text
    robot.run(3.0)
    assert robot.core.status().mode == "walk" and robot.state.p_world_base[0] - start > 0.2
    with pytest.raises(WalkError, match="wave is not performed while it walks; stop first"):
        robot.core.perform("wave")
    robot.core.command_twist([0.0, 0.0, 0.0])
    robot.run(3.0)
    robot.core.perform("wave")
    robot.run(1.5)
    assert robot.core.request("stand") == "goes back to its stance"
    assert robot.until_the_end().outcome is Outcome.CANCELLED
    robot.run(1.0)
    assert robot.core.status().mode == "stand" and robot.jump < 0.13  # of a walk; a motion has less


def test_an_emergency_stop_and_a_fall_abort_a_motion_and_getting_up_is_an_action():
    robot = Watched()
    with pytest.raises(WalkError, match="it has not fallen"):
        robot.core.perform("get_up")
    robot.core.perform("wave")
    robot.run(1.2)
    robot.core.emergency_stop()
    held = robot.command
    status = robot.core.performer.status
    assert status.outcome is Outcome.ABORTED and "emergency stop" in status.text
    with pytest.raises(WalkError, match="rearm it"):
        robot.core.perform("wave")
    robot.run(0.5)
    robot.core.rearm()
    robot.run(0.5)
    assert np.array_equal(robot.command, held) and robot.core.status().mode == "pose"
    robot.core.perform("wave")  # from where it is held
    robot.run(0.5)
    robot.simulator.push((150.0, 0.0, 0.0), 0.1)
    status = robot.until_the_end()
    assert status.outcome is Outcome.ABORTED and "request recover" in status.text
    while robot.core.status().mode != "fallen":
        robot.run(0.01)
    with pytest.raises(WalkError, match="wave is not performed: It has fallen"):
        robot.core.perform("wave")
    robot.core.perform("get_up")
    robot.run(0.5)
    assert "It gets up, try 1" in robot.core.performer.status.step
    robot.core.cancel()
    assert robot.until_the_end().outcome is Outcome.CANCELLED and robot.core.status().mode == "fallen"
    robot.core.perform("get_up")
    status = robot.until_the_end()
    assert status.outcome is Outcome.SUCCEEDED and robot.core.status().mode == "stand"


def test_motions_of_the_users_hold_their_last_frame_or_lead_back_to_the_balance_without_a_jump(tmp_path):
    file = tmp_path / "own.yaml"
    reach = "reach: {text: t, frames: [{time: 2, joints_deg: {LShoulderPitch: 0}}]}\n"
    file.write_text(reach + "low: {text: t, then: hold, frames: [{time: 2, pose: crouch}]}\n", encoding="utf-8")
    robot = Watched(motions_file=file)
    names = robot.simulator.joint_names
    arm, legs = names.index("LShoulderPitch"), [names.index(f"{side}HipPitch") for side in "LR"]
    balance, robot.jump = robot.command, 0.0
    robot.core.perform("reach")
    robot.run(2.0)
    assert robot.command[arm] == pytest.approx(0.0, abs=1e-3)
    assert np.array_equal(robot.command[legs], balance[legs]), "they hold the engine's command"
    while robot.core.performer.is_active:
        robot.run(0.01)
        assert robot.command[legs] == pytest.approx(balance[legs], abs=0.03), "on the way back, too"
    assert robot.core.performer.status.outcome is Outcome.SUCCEEDED
    robot.run(1.0)
    assert robot.command[arm] == pytest.approx(balance[arm], abs=0.02) and robot.jump < 0.03
    assert robot.command[legs] == pytest.approx(balance[legs], abs=0.05)
    robot.core.perform("low", 0.5)
    assert robot.until_the_end().outcome is Outcome.SUCCEEDED
    robot.run(1.0)
    assert robot.core.status().mode == "pose" and "It holds" in robot.core.status().text
    assert robot.state.p_world_base[2] < 0.28 and robot.jump < 0.05
