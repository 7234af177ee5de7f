# SPDX-License-Identifier: MIT
"""Actions through the core: they begin and end at rest, pause, go on, are cancelled and refused, and nothing jumps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from action_echo import EchoRobot

from shellbot_action_manager.actions.performance import Cancel
from shellbot_action_manager.core import ActionManagerCore
from shellbot_common.performance import Outcome
from shellbot_description import named_pose_array

JUMP = 0.05  # rad in a tick


@pytest.fixture
def robot():
    found = EchoRobot(ActionManagerCore.from_description(), "stand")
    found.until("hexapod")
    return found


def status(robot):
    return robot.core.performer.status


def begin(robot, name, speed=1.0, ticks=60, **parameters):
    accepted, text = robot.core.perform(name, parameters, speed)
    assert accepted, text
    for _ in range(500):
        robot.tick()
        if robot.output.mode.step == "perform":
            break
    robot.run(0.01 * ticks)


def finish(robot, seconds=60.0):
    for _ in range(int(100 * seconds)):
        robot.tick()
        if not robot.core.performer.active and not robot.output.mode.step:
            return
    raise AssertionError(status(robot))


@pytest.mark.parametrize("name", ["wave", "dance", "greet"])
def test_an_action_ends_where_it_began(robot, name):
    stand = robot.q.copy()
    begin(robot, name)
    assert robot.output.mode.name == "hexapod" and robot.output.mode.step == "perform"
    assert status(robot).step.startswith("1 of ") and 0.0 < status(robot).progress < 1.0
    finish(robot)
    assert status(robot).outcome is Outcome.SUCCEEDED and status(robot).text == f"{name} done"
    assert robot.q == pytest.approx(stand, abs=1e-6)
    assert robot.largest_step() < JUMP
    assert robot.run(1.0, twist=[0.1, 0.0, 0.0]).mode.step == "walking", "cmd_vel counts again"


def test_it_begins_out_of_walking_and_returns_to_the_mode_it_began_in(robot):
    robot.run(1.5, twist=[0.2, 0.0, 0.2])
    robot.core.request_mode("stand")
    begin(robot, "bow")
    finish(robot)
    assert robot.output.mode.name == "stand"
    assert robot.largest_step() < 0.16, "a swinging leg at top speed"


def test_the_lifted_foot_carries_nothing_and_the_others_stand(robot):
    begin(robot, "wave", leg=4, ticks=150)
    contacts = robot.output.contacts
    assert not contacts.in_contact[3] and np.delete(contacts.in_contact, 3).all()
    assert np.delete(contacts.load_share, 3) == pytest.approx(0.2)
    shares = [limb.load_share for limb in robot.output.references.limbs if limb.limb.startswith("lower")]
    assert shares[3] == 0.0 and np.delete(shares, 3) == pytest.approx(0.2)


def test_pause_holds_and_resume_goes_on(robot):
    begin(robot, "wave", ticks=150)
    robot.core.performer.pause(True)
    robot.run(0.5)
    held, at = robot.q.copy(), status(robot).progress
    robot.run(2.0)
    assert (robot.q == held).all() and status(robot).paused and status(robot).progress == at
    robot.core.performer.pause(False)
    finish(robot)
    assert status(robot).outcome is Outcome.SUCCEEDED
    assert robot.largest_step() < JUMP


@pytest.mark.parametrize("ticks", [1, 40, 130, 200, 300])
def test_cancel_goes_back_to_rest_from_anywhere(robot, ticks):
    stand = robot.q.copy()
    begin(robot, "wave", ticks=ticks)
    robot.core.performer.cancel()
    finish(robot, 6.0)
    assert status(robot).outcome is Outcome.CANCELLED
    assert robot.q == pytest.approx(stand, abs=1e-6)
    assert robot.largest_step() < JUMP


def test_a_cancel_whose_way_back_is_not_free_lets_the_action_end(robot, monkeypatch):
    stand, planner = robot.q.copy(), robot.core._robot.planner
    back = planner.back

    def into_the_air(present):
        feet = back(present).feet.copy()
        feet[len(feet) // 2 :, :, 2] += 0.5
        return replace(back(present), feet=feet)

    begin(robot, "wave", ticks=130)
    monkeypatch.setattr(planner, "back", into_the_air)
    robot.core.performer.cancel()
    finish(robot)
    assert status(robot).outcome is Outcome.CANCELLED and status(robot).step.startswith("7 of 7")
    assert robot.q == pytest.approx(stand, abs=1e-6)
    assert robot.largest_step() < JUMP


@pytest.mark.parametrize("stop", [lambda performer: performer.pause(True), lambda performer: performer.cancel()])
def test_stopping_in_mid_swing_is_soft(robot, stop):
    begin(robot, "wave", ticks=105)
    robot.history.clear()
    robot.run(0.05)
    stop(robot.core.performer)
    robot.run(0.5)
    q = np.array([row[1] for row in robot.history])
    moving, kick = np.abs(np.diff(q[:5], axis=0)).max(), np.abs(np.diff(q, n=2, axis=0)).max()
    assert moving > 0.005, "it is stopped in motion"
    assert kick < 0.25 * moving, "rad in a tick, of joints that move at so many"


@pytest.mark.parametrize("when", Cancel)
def test_cancel_ends_a_pause(robot, when):
    begin(robot, "wave", ticks=130)
    robot.core.performer.pause(True)
    robot.run(1.0)
    robot.core.performer.cancel(when)
    finish(robot, 6.0)
    assert status(robot).outcome is Outcome.CANCELLED


def test_cancel_after_the_step_lets_it_end(robot):
    begin(robot, "wave", ticks=130)
    step = status(robot).step
    robot.core.performer.cancel(Cancel.AFTER_STEP)
    robot.run(0.2)
    assert status(robot).step == step
    finish(robot, 6.0)
    assert status(robot).outcome is Outcome.CANCELLED


def test_speed_is_a_fraction(robot):
    begin(robot, "bow", ticks=0)
    start = robot.t
    finish(robot)
    full = robot.t - start
    begin(robot, "bow", speed=0.5, ticks=0)
    start = robot.t
    finish(robot)
    assert robot.t - start == pytest.approx(2.0 * full, rel=0.15)
    assert robot.core.perform("bow", {}, 1.5) == (
        False,
        "speed is 1.5; give 0.05 to 1 of the speed that the limits allow",
    )


def test_refusals_in_words(robot):
    for name, parameters, reason in (
        ("bwo", {}, "there is no action 'bwo'; is bow meant?"),
        ("bow", {"depth": 90}, "depth of bow is 90 deg; give a whole number from 2 to 10 deg"),
    ):
        accepted, text = robot.core.perform(name, parameters)
        assert not accepted and reason in text
    begin(robot, "wave")
    assert robot.core.perform("bow", {}) == (False, "wave is being performed; cancel it first")
    finish(robot)
    assert robot.core.request_mode("perform") == (False, "there is no action to perform; send a goal to perform_action")
    sitting = EchoRobot(ActionManagerCore.from_description(start_mode="sit"), "sit")
    sitting.until("sit")
    accepted, text = sitting.core.perform("wave", {})
    assert (accepted, text) == (False, "an action begins on the feet; request stand or hexapod first")
    assert not sitting.core.performer.active


@pytest.mark.parametrize("ticks", [0, 150])
def test_an_emergency_stop_ends_it_and_the_foot_is_put_down_after_rearm(robot, ticks):
    begin(robot, "wave", ticks=ticks)
    robot.core.emergency_stop()
    held = robot.q.copy()
    robot.run(0.5)
    assert (robot.q == held).all() and status(robot).outcome is Outcome.ABORTED
    robot.core.rearm()
    robot.until("hexapod")
    robot.run(6.0)
    stand = named_pose_array("stand", "simulation")
    assert robot.q[:24] == pytest.approx(stand[:24], abs=0.01)


def test_a_stop_before_it_begins_ends_it_too(robot):
    robot.run(1.0, twist=[0.2, 0.0, 0.0])
    assert robot.core.perform("wave", {})[0]
    robot.tick()
    assert robot.output.mode.step == "stop_walking"
    robot.core.emergency_stop()
    robot.tick()
    assert status(robot).outcome is Outcome.ABORTED
    assert "emergency stop" in status(robot).text or "stopped" in status(robot).text


def test_another_mode_is_gone_to_when_it_has_ended(robot):
    begin(robot, "bow")
    assert robot.core.request_mode("sit")[0]
    robot.until("sit", 20.0)
    assert status(robot).outcome is Outcome.SUCCEEDED


def test_a_plan_of_before_a_change_of_gait_is_made_anew(robot):
    """`rough` stands higher: what was planned for the tripod's stance would lead a foot out of reach."""
    plan = robot.core.plan_action("stretch", {"height": 0.04})
    robot.run(2.0, gait="rough")
    assert robot.output.walkspace.gait == "rough"
    accepted, reason = robot.core.begin_action(plan)
    assert not accepted and "out of reach" in reason
    small = robot.core.plan_action("bow", {})
    robot.run(2.0, gait="tripod")
    assert robot.core.begin_action(small)[0]
    finish(robot)
    assert status(robot).outcome is Outcome.SUCCEEDED
