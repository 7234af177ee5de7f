# SPDX-License-Identifier: MIT
"""The action transform_and_roll against a robot of a few lines: requests, commands, refusals, and how it ends."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from shellbot_action_manager.actions.transform_and_roll import NAME, TransformAndRoll, TransformObservation, refusal
from shellbot_common.performance import Outcome

DT = 0.01
TAKES = 2.0  # s, a transformation


class Robot:
    """Changes its mode in 2 s, turned round at once by the other request; rolls as commanded, with a lag."""

    def __init__(self, mode="hexapod", yaw=0.7):
        self.t, self.mode, self.target, self.progress = 0.0, mode, mode, 1.0
        self.pose, self.velocity, self.commanded = np.array([0.2, -0.1, yaw]), np.zeros(2), np.zeros(2)
        self.requested, self.refuses, self.stands_still, self.lag = [], "", False, 0.1  # s
        self.ignores = False  # commands until one is zero, as after a gap of the IMU

    def seen(self):
        step = "on_the_way"
        if self.mode == self.target:
            step = "rolling" if self.mode == "shell" and self.commanded.any() and not self.ignores else ""
        c, s = math.cos(self.pose[2]), math.sin(self.pose[2])
        velocity = np.array([[c, s], [-s, c]]) @ self.velocity
        text = f"{self.mode} to {self.target}"
        return TransformObservation(
            self.t, tuple(self.pose), tuple(velocity), self.mode, self.target, step, min(self.progress, 1.0), text
        )

    def obey(self, action, orders):
        self.t += DT
        if orders.request and self.refuses:
            self.requested.append(orders.request)
            action.refused(self.refuses)
        elif orders.request:
            self.requested.append(orders.request)
            turns = orders.request == self.mode
            self.progress = 1.0 - self.progress if turns else 0.0
            self.mode, self.target = (self.target if turns else self.mode), orders.request
        if self.mode != self.target:
            self.progress += DT / TAKES
            if self.progress >= 1.0:
                self.mode = self.target
        if orders.velocity is not None:
            c, s = math.cos(self.pose[2]), math.sin(self.pose[2])
            self.commanded = np.array([[c, -s], [s, c]]) @ orders.velocity
            self.ignores = self.ignores and self.commanded.any()
        obeys = self.mode == self.target == "shell" and not self.stands_still and not self.ignores
        wanted = self.commanded if obeys else np.zeros(2)
        self.velocity += (wanted - self.velocity) * DT / self.lag
        self.pose[:2] += self.velocity * DT


def go(action, robot, until=lambda orders: False, limit=200.0):
    """Run until an end or a condition; returns the last orders and all sub-actions."""
    stages = {}
    while robot.t < limit:
        orders = action.step(robot.seen())
        stages[orders.sub_action] = orders.progress
        if orders.end is not None or until(orders):
            return orders, stages
        robot.obey(action, orders)
    raise AssertionError(f"no end after {limit} s: {orders}")


def test_closes_rolls_to_the_point_and_opens_with_growing_progress():
    robot, point = Robot(), np.array([1.5, 2.0])
    orders, stages = go(TransformAndRoll(point), robot)
    assert (orders.end, orders.progress) == (Outcome.SUCCEEDED, 1.0)
    assert robot.requested == ["shell", "hexapod"]
    assert np.linalg.norm(robot.pose[:2] - point) < 0.08
    assert robot.mode == "hexapod"
    progress = list(stages.values())
    assert progress == sorted(progress)


def test_from_the_ball_it_rolls_at_once_and_slower_if_told_so():
    times = []
    for speed in (0.0, 0.5):
        robot = Robot("shell")
        go(TransformAndRoll((4.2, -0.1), speed), robot)
        assert robot.requested == ["hexapod"]
        times.append(robot.t)
    assert times[1] > times[0] + 2.0


class Rocker(Robot):
    """Never comes to rest as a ball."""

    def seen(self):
        seen = super().seen()
        return replace(seen, velocity=(seen.velocity[0] + 0.1, seen.velocity[1])) if seen.mode == "shell" else seen


def test_a_ball_that_rocks_near_the_point_opens_and_one_that_is_held_far_from_it_gives_up():
    robot = Rocker("shell")
    orders, _ = go(TransformAndRoll((1.0, 0.0)), robot)
    assert (orders.end, robot.mode) == (Outcome.SUCCEEDED, "hexapod")
    robot = Rocker("shell")
    robot.stands_still = True
    orders, _ = go(TransformAndRoll((1.0, 0.0)), robot)
    assert (orders.end, robot.mode) == (Outcome.ABORTED, "shell")
    assert "from the point" in orders.text


def test_a_ball_that_waits_for_a_zero_gets_one_and_rolls_on():
    robot = Robot("shell")
    action = TransformAndRoll((3.0, 0.0))
    go(action, robot, until=lambda orders: robot.pose[0] > 1.0)
    robot.ignores, begun = True, robot.t
    orders, _ = go(action, robot, until=lambda orders: not robot.ignores)
    assert robot.t - begun < 0.5
    orders, _ = go(action, robot)
    assert orders.end is Outcome.SUCCEEDED


@pytest.mark.parametrize(("after", "ends_in"), [(0.5, "hexapod"), (1.5, "shell")])
def test_a_cancel_while_closing_leads_to_the_nearer_end(after, ends_in):
    robot = Robot()
    action = TransformAndRoll((2.0, 0.0))
    go(action, robot, until=lambda orders: robot.t > after)
    action.cancel()
    orders, _ = go(action, robot)
    assert orders.end is Outcome.CANCELLED
    assert (robot.mode, robot.target) == (ends_in, ends_in)
    assert f"mode {ends_in}" in orders.text


def test_ticks_that_were_lost_while_it_rolls_are_no_jump():
    robot = Robot("shell")
    action = TransformAndRoll((5.0, 0.0))
    go(action, robot, until=lambda orders: robot.pose[0] > 1.0)
    seen = robot.seen()
    later = replace(seen, t=seen.t + 0.4, pose=(seen.pose[0] + 0.32, *seen.pose[1:]))
    assert action.step(later).end is None


def test_a_cancel_while_rolling_brakes_and_stays_a_ball():
    robot = Robot("shell")
    robot.lag = 0.4
    action = TransformAndRoll((5.0, 0.0))
    go(action, robot, until=lambda orders: robot.pose[0] > 1.0)
    action.cancel()
    orders, _ = go(action, robot)
    assert (orders.end, robot.mode, robot.requested) == (Outcome.CANCELLED, "shell", [])
    assert np.linalg.norm(robot.velocity) < 0.05
    assert robot.pose[0] < 1.5


@pytest.mark.parametrize(("after", "ends_in"), [(0.5, "shell"), (1.5, "hexapod")])
def test_a_cancel_while_opening_leads_to_the_nearer_end(after, ends_in):
    robot = Robot("shell")
    action = TransformAndRoll((1.0, 0.0))
    go(action, robot, until=lambda orders: robot.target == "hexapod" and robot.progress * TAKES > after)
    action.cancel()
    orders, _ = go(action, robot)
    assert (orders.end, robot.mode) == (Outcome.CANCELLED, ends_in)


def test_a_turning_back_that_is_refused_goes_on_and_rests_where_that_ends():
    robot = Robot("shell")
    action = TransformAndRoll((1.0, 0.0))
    go(action, robot, until=lambda orders: robot.target == "hexapod" and robot.progress > 0.1)
    action.cancel()
    robot.refuses = "the robot lies tilted"
    orders, _ = go(action, robot)
    assert (orders.end, robot.mode) == (Outcome.CANCELLED, "hexapod")


def test_a_cancel_before_the_first_tick_rests_where_it_is():
    robot = Robot()
    action = TransformAndRoll((2.0, 0.0))
    action.cancel()
    orders, _ = go(action, robot)
    assert (orders.end, robot.mode, robot.requested) == (Outcome.CANCELLED, "hexapod", [])


def test_a_refused_request_ends_it_with_the_reason():
    robot = Robot()
    robot.refuses = "the robot lies tilted by 60 deg"
    orders, _ = go(TransformAndRoll((2.0, 0.0)), robot)
    assert orders.end is Outcome.ABORTED and "refused: the robot lies tilted by 60 deg" in orders.text


def test_a_ball_that_does_not_move_is_given_up_at_rest():
    robot = Robot("shell")
    robot.stands_still = True
    orders, _ = go(TransformAndRoll((3.2, -0.1)), robot)
    assert (orders.end, orders.velocity) == (Outcome.ABORTED, (0.0, 0.0))
    assert "still 3.00 m from the point; the ball rests (shell to shell)" in orders.text, "why, in the mode's words"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mode": "stopped", "target": "stopped"}, "mode stopped"),
        ({"target": "halfway"}, "closing ended in mode halfway"),
        ({"t": -1.0}, "the clock went back"),
        ({"pose": (0.6, 0.0, 0.0)}, "the odometry jumped by"),
        ({"velocity": (math.nan, 0.0)}, "no number"),
    ],
)
def test_what_makes_it_impossible_ends_it_in_words(changes, words):
    robot = Robot()
    action = TransformAndRoll((3.0, 0.0))
    go(action, robot, until=lambda orders: robot.progress > 0.3 and robot.target == "shell")
    orders = action.step(replace(robot.seen(), **changes))
    assert orders.end is Outcome.ABORTED and words in orders.text


@pytest.mark.parametrize(
    ("goal", "mode", "words"),
    [
        (("dance", 0.0, (1.0, 0.0), ()), {}, "there is no action 'dance' here; its name is transform_and_roll"),
        ((NAME, 0.0, (1.0,), ()), {}, "give two numbers"),
        ((NAME, 0.0, (1.0, math.nan), ()), {}, "give two numbers"),
        ((NAME, 0.0, (2.0, 1.0), ("y", "x")), {}, "the parameters are named y, x; give x, y in this order"),
        ((NAME, 2.0, (1.0, 0.0), ()), {}, "give 0.3 to 1"),
        ((NAME, 0.0, (1.0, 50.0), ()), {}, "give one within 20 m"),
        ((NAME, 0.0, (1.0, 0.0), ()), {"mode": "stopped", "target": "stopped"}, "bring it to hexapod"),
    ],
)
def test_a_goal_that_cannot_be_begun_is_refused_in_words(goal, mode, words):
    assert words in refusal(*goal, replace(Robot().seen(), **mode))


def test_a_good_goal_is_accepted_and_one_without_odometry_is_not():
    assert refusal(NAME, 0.0, (1.0, 0.0), ("x", "y"), Robot().seen()) == ""
    assert "nothing came on odom yet; is odometry running?" in refusal(NAME, 0.0, (1.0, 0.0), (), None)
    assert "on mode yet; is action_manager running?" in refusal(NAME, 0.0, (1.0, 0.0), (), None, has_mode=False)
