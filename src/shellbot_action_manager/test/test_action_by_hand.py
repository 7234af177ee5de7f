# SPDX-License-Identifier: MIT
"""A foot that the operator leads while five stand: it follows, stays where it can be, and is put down again."""

from __future__ import annotations

import numpy as np
import pytest
from action_echo import EchoRobot

from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.gait.walking import LEG_AZIMUTH
from shellbot_common.performance import Outcome

LED, PUT_DOWN = 0.025, 0.05  # rad in a tick
LEG = 2


@pytest.fixture
def robot():
    found = EchoRobot(ActionManagerCore.from_description(), "stand")
    found.until("hexapod")
    accepted, text = found.core.perform("lead_leg", {"leg": LEG})
    assert accepted, text
    while not status(found).step.startswith("3 of"):
        found.tick()
    found.history.clear()
    return found


def status(robot):
    return robot.core.performer.status


def foot(robot):
    """Position of the foot in base_link, m."""
    joints = robot.q[:24].reshape(6, 4)
    return robot.core.geometry.legs.forward(joints)[LEG - 1]


def lead(robot, seconds, *velocity):
    for _ in range(int(100 * seconds)):
        robot.tick(foot_velocity=np.array(velocity), foot_velocity_time=robot.t + 0.01)


def finish(robot, seconds=20.0):
    for _ in range(int(100 * seconds)):
        robot.tick()
        if not robot.core.performer.active and not robot.output.mode.step:
            assert robot.largest_step() < PUT_DOWN
            return
    raise AssertionError(status(robot))


def test_the_foot_follows_and_the_others_stand(robot):
    begin = foot(robot)
    lead(robot, 1.0, 0.0, 0.03, 0.02)
    left = np.array([-np.sin(LEG_AZIMUTH[LEG - 1]), np.cos(LEG_AZIMUTH[LEG - 1]), 0.0])
    moved = foot(robot) - begin
    assert moved @ left == pytest.approx(0.03, abs=0.003) and moved[2] == pytest.approx(0.02, abs=0.002)
    contacts = robot.output.contacts.in_contact
    assert not contacts[LEG - 1] and np.delete(contacts, LEG - 1).all()
    robot.run(1.0)
    at = foot(robot)
    robot.run(1.0)
    assert (foot(robot) == at).all(), "0.5 s without a command it stands still"
    assert robot.largest_step() < LED


def test_it_is_put_down_when_nothing_is_commanded_any_more(robot):
    lead(robot, 0.5, 0.0, -0.04, 0.0)
    finish(robot)
    assert status(robot).outcome is Outcome.SUCCEEDED and robot.output.contacts.in_contact.all()


def test_it_starts_and_stops_softly(robot):
    feet = [foot(robot)]
    for tick in range(100):
        lead(robot, 0.01, 0.0, 1.0, 0.0)
        if tick == 60:
            robot.core.performer.cancel()
        feet.append(foot(robot))
    velocity = np.diff(feet, axis=0) / 0.01
    assert np.linalg.norm(velocity[:60], axis=1).max() == pytest.approx(0.1, abs=0.005)
    assert np.linalg.norm(np.diff(velocity, axis=0), axis=1).max() < 0.03, "m/s in a tick; 0.02 are allowed"


def test_cancel_puts_it_down_from_anywhere(robot):
    lead(robot, 1.5, 0.02, 0.04, 0.03)
    robot.core.performer.cancel()
    finish(robot, 6.0)
    assert status(robot).outcome is Outcome.CANCELLED and robot.output.contacts.in_contact.all()


@pytest.mark.parametrize(
    "velocity, reason",
    [((0.0, 0.0, -1.0), "10 mm above the ground"), ((0.0, 0.0, 1.0), "lower_2"), ((0.0, 5.0, 0.0), "lower_2")],
)
def test_it_stops_where_it_cannot_go_and_says_why(robot, velocity, reason):
    for _ in range(60):
        lead(robot, 0.1, *velocity)
        if reason in status(robot).step:
            break
    assert reason in status(robot).step
    lead(robot, 0.2, *velocity)  # it stops softly
    at = foot(robot)
    lead(robot, 1.0, *velocity)
    assert foot(robot) == pytest.approx(at, abs=1e-6)
    lead(robot, 0.5, *(-0.05 * np.sign(velocity)))
    assert np.linalg.norm(foot(robot) - at) > 0.01 and reason not in status(robot).step
    assert robot.largest_step() < LED


def test_at_an_edge_it_goes_along_it(robot):
    lead(robot, 3.0, 0.0, 0.0, -1.0)
    at = foot(robot)
    lead(robot, 1.0, 0.0, 0.05, -0.05)
    assert np.linalg.norm(foot(robot)[:2] - at[:2]) > 0.005


def test_a_pause_holds_it_and_does_not_count_as_silence(robot):
    robot.core.performer.pause(True)
    lead(robot, 1.0, 0.0, 0.05, 0.0)
    at = foot(robot)
    robot.run(15.0)
    assert (foot(robot) == at).all() and robot.core.performer.active
    assert robot.core.performer.undo() != ""


def test_bad_numbers_stop_it(robot):
    lead(robot, 0.5, 0.0, 0.03, 0.0)
    lead(robot, 0.5, np.nan, 0.0, 0.0)
    at = foot(robot)
    lead(robot, 0.5, np.nan, 0.0, 0.0)
    assert (foot(robot) == at).all()
    assert "foot_velocity (nan, 0, 0) is not a number" in robot.output.mode.text


@pytest.mark.parametrize("target", [(-0.048, -0.118, 0.150), (-0.043, 0.093, 0.116)])
def test_where_the_short_way_back_is_not_free_the_foot_retraces_its_path(robot, target):
    """Behind its hip, the foot cannot be lowered to its foothold in one go; nor may it stay in the air."""
    player = robot.core.performer._player
    for _ in range(1500):
        away = np.array(target) - player._offset
        if np.linalg.norm(away) < 0.004:
            break
        velocity = away * min(2.0, 0.08 / np.linalg.norm(away))
        robot.tick(foot_velocity=velocity, foot_velocity_time=robot.t + 0.01)
    else:
        raise AssertionError(f"led to {player._offset} only: {status(robot).step}")
    robot.core.performer.cancel()
    for _ in range(50):
        robot.tick()
    assert "retraces its path" in status(robot).step
    finish(robot)
    assert status(robot).outcome is Outcome.CANCELLED
