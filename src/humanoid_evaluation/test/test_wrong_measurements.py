# SPDX-License-Identifier: MIT
"""Measurements that are numbers, but cannot be true, in the simulator: the robot stops, stays upright and says why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from humanoid_evaluation.robot import Robot
from humanoid_evaluation.trial import Trial, world_of
from humanoid_motion.parameters import WalkError
from shellbot_common.rotations import rotation_from_quaternion
from shellbot_simulator.core.config import load_config

STANDS, WALKS, TURNS = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.0, 1.0)


class Faulty(Robot):
    """A robot whose measurements pass through `fault`; a tick in which the core refuses them holds the command."""

    def __init__(self, world=None, seed=1003, contacts="wrench"):
        super().__init__(world, seed, contacts=contacts)
        step = self.core.step
        self.fault = lambda feedback: feedback

        def faulty(feedback):
            try:
                return step(self.fault(feedback))
            except WalkError:
                return self.command

        self.core.step = faulty

    def run(self, seconds, twist=STANDS):
        for _ in range(round(100 * seconds)):
            self.core.command_twist(twist)
            self.tick()
        return self.core.status()

    @property
    def tilt(self):
        return float(np.arccos(rotation_from_quaternion(self.state.quat_world_base)[2, 2]))


def frozen(*names):
    """Return a fault that repeats these fields as they are now."""
    first = {}

    def fault(feedback):
        for name in names:
            first.setdefault(name, np.array(getattr(feedback, name)))
        return replace(feedback, **first)

    return fault


def soles(left, right):
    """Return a fault in which a sole that has a number here feels nothing but this force, N."""

    def fault(feedback):
        wrenches = feedback.wrenches.copy()
        for side, force in enumerate((left, right)):
            if force is not None:
                noise = 0.1 * feedback.rates[0] if force else 0.0
                wrenches[side] = 0.0, 0.0, force + noise, 0.0, 0.0, 0.0
        return replace(feedback, wrenches=wrenches)

    return fault


IMU = ("attitude", "rates", "specific_force")


def walking(seed, twist, contacts="wrench"):
    robot = Faulty(world_of(Trial(1.0, 0.0, 0.1, seed)), seed, contacts)
    robot.run(1.5)
    robot.run(2.2, twist)
    return robot


@pytest.mark.parametrize("twist", [WALKS, (0.2, 0.0, 0.0), TURNS])
@pytest.mark.parametrize(
    ("fields", "text"), [(IMU, "attitude and rates of imu/data"), (("q",), "the angles of joint_states")]
)
def test_frozen_imu_or_joints_hold_the_robot_upright_and_say_so(fields, text, twist):
    robot = walking(1003, twist)
    robot.fault = frozen(*fields)
    status = robot.run(5.0, twist)
    assert status.mode == "stopped" and f"{text} do not change any more" in status.text
    assert robot.tilt < 0.3 and not robot.core.has_fallen
    with pytest.raises(WalkError, match="do not change any more"):
        robot.core.request("crouch")
    robot.fault = lambda feedback: feedback
    assert robot.run(2.0).text == "It stands and obeys cmd_vel."
    assert robot.run(3.0, WALKS).text == "It walks." and robot.tilt < 0.1


def test_a_fall_with_a_frozen_imu_is_seen_by_the_feet():
    robot = walking(1003, WALKS)
    robot.fault = frozen(*IMU)
    robot.run(0.5, WALKS)
    robot.simulator.push((0.0, 100.0, 0.0), 0.1)
    status = robot.run(4.0, WALKS)
    assert robot.tilt > 1.0
    assert status.mode == "fallen" and "imu/data do not change any more" in status.text
    with pytest.raises(WalkError, match="imu/data do not change any more"):
        robot.core.request("recover")


@pytest.mark.parametrize("contacts", ["wrench", "cells"])
def test_without_any_noise_nothing_counts_as_frozen_however_still_it_stands(contacts):
    config = load_config()
    quiet = {name: 0.0 for name in vars(config) if name.endswith(("_std", "_std_deg", "_noise_deg"))}
    robot = Faulty(config.replace(**quiet), None, contacts)
    assert robot.run(6.0).text == "It stands and obeys cmd_vel."
    assert robot.run(3.0, WALKS).text == "It walks."


@pytest.mark.parametrize(
    ("fault", "twist", "text"),
    [
        (soles(0.0, 0.0), STANDS, "The soles carry 0 N of 51 N, though it is upright"),
        (soles(0.0, 0.0), WALKS, "The soles carry 0 N of 51 N, though it is upright"),
        (soles(0.0, None), WALKS, "l_sole reads 0 N at most while it alone carries the robot"),
        (soles(25.0, None), WALKS, "l_sole reads 25 N or more while its foot is in the air"),
        (frozen("wrenches"), WALKS, "The forces of the soles have not changed while it walks"),
        (frozen("wrenches"), TURNS, "The forces of the soles have not changed while it walks"),
    ],
)
def test_soles_that_contradict_the_robot_stop_the_walk_and_it_balances_by_its_plan(fault, twist, text):
    robot = walking(1003, twist)
    robot.fault = fault
    status = robot.run(6.0, twist)
    assert status.mode == "stand" and status.text.startswith(text)
    assert not robot.core.has_fallen and robot.tilt < 0.1
    with pytest.raises(WalkError, match=text):
        robot.core.walk_to(1.0, 0.0, 0.0)
    robot.fault = lambda feedback: feedback
    if "stand is requested" in status.text:
        robot.core.request("stand")
    assert robot.run(1.0).text == "It stands and obeys cmd_vel."
    assert robot.run(2.0, WALKS).text == "It walks."


def test_sound_soles_are_believed_over_plates_and_under_pushes():
    for trial, push in ((Trial(1.0, 0.0, 0.1, 1001, plates=0.005), 0.0), (Trial(1.0, 0.0, 0.1, 1001), 20.0)):
        robot = Faulty(world_of(trial), 1001)
        robot.run(1.5)
        for angle in range(0, 360, 60):
            robot.simulator.push((push * np.cos(angle), push * np.sin(angle), 0.0), 0.1)
            assert robot.run(1.7, WALKS).text == "It walks."
