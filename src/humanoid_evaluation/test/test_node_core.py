# SPDX-License-Identifier: MIT
"""What the node `walk` does beside walking, in the simulator: emergency stop, odometry for others, softer servos."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from humanoid_evaluation.robot import Robot
from humanoid_motion.base_state import BaseTracker
from humanoid_motion.interface import Feedback
from humanoid_motion.parameters import WalkError
from shellbot_common.rotations import rotation_from_quaternion, rpy_from_quaternion
from shellbot_simulator.core.config import load_config


class Followed(Robot):
    """A robot whose state the tracker has at each tick."""

    def __init__(self, **given):
        super().__init__(**given)
        self.tracker, step = BaseTracker(given.get("heading", "imu")), self.core.step

        def followed(feedback: Feedback):
            command = step(feedback)
            self.base = self.tracker.step(self.time, self.core, feedback)
            return command

        self.core.step = followed

    def run(self, seconds, seen=lambda: None):
        for _ in range(round(100 * seconds)):
            self.truth = self.state  # which the tick measures
            self.tick()
            seen()

    def errors(self):
        """Return those of height, m, and of attitude, heading aside, rad."""
        up = rotation_from_quaternion(self.truth.quat_world_base)[2]
        roll, pitch = self.base.pose[3:5]
        own = np.array([-np.sin(pitch), np.cos(pitch) * np.sin(roll), np.cos(pitch) * np.cos(roll)])
        height = abs(float(self.base.pose[2] - self.truth.p_world_base[2]))
        return height, float(np.arccos(np.clip(up @ own, -1.0, 1.0)))


def test_headings_are_named_within_half_a_turn_and_goals_as_they_were_given():
    robot = Robot(seed=310)
    robot.tick()
    robot.core.engine.walk_by(0.0, 0.0, 2.5 * math.pi)
    assert "90 deg." in robot.core.status().text and "450" not in robot.core.status().text
    with pytest.raises(WalkError, match=r"goal \[1000000.0, 0.0, 0.5\] "):
        robot.core.walk_to(1e6, 0.0, 0.5)


# moments of a step after which it fell when it walked on at once, or as soon as the command had faded
@pytest.mark.parametrize(
    "speed, begin, gap, seed", [(0.1, 2.22, 0.3, 304), (0.2, 2.22, 0.3, 304), (0.1, 2.22, 1.0, 302)]
)
def test_after_silent_measurements_it_stands_where_its_feet_are_and_walks_on_at_rest(speed, begin, gap, seed):
    robot = Robot(seed=seed)
    step = robot.core.step
    robot.core.step = lambda feedback: step(feedback, robot.time)
    while robot.time < begin:
        robot.core.command_twist([speed, 0.0, 0.0])
        robot.tick()
    for _ in range(round(100 * gap)):  # the command is held meanwhile
        robot.simulator.step_tick()
    robot.state = robot.simulator.state()
    start = robot.state.p_world_base[0]
    for tick in range(700):
        before = robot.command
        robot.core.command_twist([speed, 0.0, 0.0])  # goes on all the time
        robot.tick()
        assert np.abs(robot.command - before).max() < 0.15
        if tick == 0:
            assert "comes to rest" in robot.core.status().text
            with pytest.raises(WalkError, match="does not stand yet"):
                robot.core.walk_to(1.0, 0.0, 0.0)
    assert robot.core.status().mode == "walk" and robot.state.p_world_base[2] > 0.29
    assert robot.state.p_world_base[0] > start + 0.1


def test_an_emergency_stop_ends_the_walk_and_after_rearm_it_stands_where_it_is_without_a_jump():
    robot = Robot(seed=310)
    robot.core.command_twist([0.1, 0.0, 0.0])
    while robot.time < 1.6:
        robot.tick()
    assert robot.core.status().mode == "walk"
    robot.core.emergency_stop()
    held = robot.command
    for _ in range(100):
        robot.core.command_twist([0.2, 0.0, 0.0])  # a program goes on
        robot.tick()
        assert np.array_equal(robot.command, held)
    status = robot.core.status()
    assert status.mode == "stopped" and "rearm" in status.text
    requests = robot.core.walk_to, lambda *_: robot.core.request("stand"), lambda *_: robot.core.request("recover")
    for request in (*requests, lambda *_: robot.core.take_pose("crouch")):
        with pytest.raises(WalkError, match="rearm it"):
            request(1.0, 0.0, 0.0)
    robot.core.rearm()
    for _ in range(200):
        before = robot.command
        robot.tick()
        assert np.abs(robot.command - before).max() < 0.03
    assert robot.core.status().mode == "stand" and robot.state.p_world_base[2] > 0.29
    start = robot.state.p_world_base[0]
    robot.core.command_twist([0.1, 0.0, 0.0])
    for _ in range(300):
        robot.tick()
    assert robot.state.p_world_base[0] - start > 0.15


def test_a_stop_outlives_a_reset_and_ends_a_move_and_getting_up():
    robot = Robot(seed=310)
    for _ in range(20):
        robot.tick()
    duration = robot.core.take_pose("crouch")
    for _ in range(round(50 * duration)):
        robot.tick()
    robot.core.emergency_stop()
    robot.tick()
    held = robot.command
    robot.core.rearm()
    for _ in range(20):
        robot.tick()
        assert np.array_equal(robot.command, held), "half way to the pose"
    assert "holds the joint targets" in robot.core.status().text
    robot.core.emergency_stop()
    robot.core.reset()
    assert robot.core.status().mode == "stopped"
    robot.core.rearm()
    robot.simulator.push((150.0, 0.0, 0.0), 0.1)
    while robot.core.status().mode != "fallen":
        robot.tick()
        assert robot.time < 20.0
    robot.core.request("recover")
    robot.tick()
    assert robot.core.status().mode == "get_up"
    robot.core.emergency_stop()
    assert "rearm it" in robot.core.status().text and "request recover then" in robot.core.status().text
    robot.core.rearm()
    robot.tick()
    assert robot.core.status().mode == "fallen"


def test_the_odometry_for_others_has_height_attitude_and_velocity_in_a_walk_a_crouch_and_a_fall():
    robot, twists = Followed(seed=311), []
    robot.core.command_twist([0.15, 0.0, 0.3])
    robot.run(1.5)
    robot.run(2.0, lambda: twists.append((robot.base.twist, np.concatenate((robot.truth.v_base, robot.truth.w_base)))))
    own, true = np.array(twists).transpose(1, 0, 2)
    assert own.mean(axis=0) == pytest.approx(true.mean(axis=0), abs=0.015)
    assert true.mean(axis=0)[[0, 5]] == pytest.approx([0.15, 0.3], abs=0.03)
    assert np.all(np.sqrt(np.mean((own - true) ** 2, axis=0)) < 1.5 * robot.base.twist_std)
    robot.core.command_twist([0.0, 0.0, 0.0])
    robot.run(1.5)
    robot.run(robot.core.take_pose("crouch") + 0.5)
    height, tilt = robot.errors()
    assert robot.truth.p_world_base[2] < 0.28 and height < 0.008 and tilt < 0.02
    sure = robot.base.pose_std
    robot.simulator.push((120.0, 0.0, 0.0), 0.1)
    robot.run(1.0)
    assert robot.core.has_fallen
    worst = []
    robot.run(1.0, lambda: worst.append(robot.errors()))
    height, tilt = np.max(worst, axis=0)
    assert tilt < 0.03 and height < 3.0 * robot.base.pose_std[2] and robot.base.pose[2] < 0.2
    assert np.all(robot.base.pose_std[:2] > 0.3) and np.all(sure[:2] < 0.02)
    assert (robot.base.twist[:3] == 0.0).all() and (robot.base.twist_std[:3] > 0.3).all()
    robot.core.request("recover")
    worst.clear()
    while robot.core.has_fallen:
        robot.run(0.01, lambda: worst.append(robot.errors()))
        assert robot.time < 40.0
    robot.run(0.2, lambda: worst.append(robot.errors()))
    assert np.max(worst, axis=0)[1] < 0.03, "of the attitude, as it gets up and where the engine takes over"


@pytest.mark.parametrize("rate", [0.0, np.nan])
def test_without_a_yaw_axis_the_turn_is_that_of_the_pose_and_unknown_in_a_fall(rate):
    robot, twists = Followed(world=load_config().replace(imu_yaw=False), seed=311, heading="feet"), []
    step = robot.core.step

    def without_rate(feedback):
        assert feedback.rates[2] == 0.0 and abs(rpy_from_quaternion(*feedback.attitude)[2]) < 1e-9
        return step(replace(feedback, rates=np.append(feedback.rates[:2], rate)))

    robot.core.step = without_rate
    robot.core.command_twist([0.0, 0.0, 0.52])
    robot.run(2.0)
    robot.run(3.0, lambda: twists.append((robot.base.twist[5], robot.truth.w_base[2])))
    own, true = np.array(twists).T
    assert true.mean() > 0.4 and own.mean() == pytest.approx(true.mean(), abs=0.03)
    assert np.sqrt(np.mean((own - true) ** 2)) < robot.base.twist_std[5] < 0.2
    robot.simulator.push((0.0, 150.0, 0.0), 0.1)
    robot.run(2.0)
    assert robot.core.has_fallen and robot.base.twist[5] == 0.0 and robot.base.twist_std[5] > 1.0
    assert robot.base.pose_std[5] > 0.9


def test_it_walks_with_servos_a_third_as_stiff_because_the_engine_knows():
    robot = Robot(seed=312)
    for joint in robot.simulator.joint_names:
        robot.simulator.set_gains(joint, 0.35 * robot.simulator.gains(joint).p)
    robot.core.engine.set_stiffness(robot.simulator.stiffness)
    tilt = 0.0
    while robot.time < 4.0:
        robot.core.command_twist([0.15 if robot.time > 1.0 else 0.0, 0.0, 0.0])
        robot.tick()
        tilt = max(tilt, *np.abs(robot.core.engine.base_pose[3:5]))
    # by the stiffness of the profile it is 0.21 m and 0.08 rad, and soon a fall
    assert robot.state.p_world_base[0] > 0.26 and tilt < 0.05


def run_until(robot, time):
    while robot.time < time:
        robot.tick()


def test_a_node_that_starts_again_in_the_middle_of_a_bow_rises_to_the_stance():
    robot = Robot(seed=311)
    run_until(robot, 0.5)
    robot.core.perform("bow")
    run_until(robot, 2.0)
    bowed = robot.state.q
    robot.core.reset()
    robot.tick()
    assert np.abs(robot.command - bowed).max() < 0.1, "no jump"
    assert robot.core.status().text == "It goes to the pose stand."
    run_until(robot, 7.0)
    assert robot.core.status().text == "It stands and obeys cmd_vel." and not robot.core.has_fallen


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_a_twist_that_is_not_finite_moves_nothing(wrong):
    robot = Robot(seed=312)
    run_until(robot, 0.5)
    robot.core.take_pose("crouch")
    run_until(robot, 2.5)
    before = robot.core.status()
    robot.core.command_twist([wrong, 0.1, 0.0])
    for _ in range(50):
        robot.tick()
    assert robot.core.status() == before and "pose crouch" in before.text
