# SPDX-License-Identifier: MIT
"""Walking without a leg: the others stand around the body's centre at all times, and nothing jumps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from action_echo import EchoRobot

from shellbot_action_manager.actions.postures import stability
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.estimation.lost_servos import LostServos
from shellbot_common.performance import Outcome

JUMP = 0.2  # rad in a tick: a knee that is bent most, as its foot lands; the command filter spreads it over more ticks
AHEAD = [0.3, 0.0, 0.0]


@pytest.fixture
def robot():
    found = EchoRobot(ActionManagerCore.from_description(), "stand")
    found.until("hexapod")
    return found


def run(robot, seconds, twist, legs):
    """Run, and return the least distance (m) of the body's centre from the edge of the feet that stand."""
    engine, margins = robot.core._robot.engine, []
    for _ in range(int(100 * seconds)):
        robot.tick(twist=twist, lost_legs=legs)
        stands = engine.standing
        assert stands.sum() >= 3 or len(margins) < 50, "those in the air when a leg was lost land first"
        margins.append(float(stability(engine.p_walk[None], stands[None], engine.pose[None, :2])[0]))
    return min(margins)


@pytest.mark.parametrize("leg", range(1, 7))
def test_five_legs_walk_around_the_centre(robot, leg):
    engine = robot.core._robot.engine
    run(robot, 2.0, AHEAD, ())
    run(robot, 4.0, AHEAD, (leg,))  # lost in mid-stride
    assert engine.twist[0] > 0.16, "m/s, 40 % of the tripod's top speed"
    assert robot.output.mode.text == f"walking without lower_{leg}"
    for twist in (AHEAD, [0.0, 0.2, 0.0], [-0.1, -0.1, 0.3]):
        run(robot, 1.5, twist, (leg,))
        assert run(robot, 3.0, twist, (leg,)) > -0.01, "m: at top speed the centre passes the edge for a moment"
        assert engine.p_walk[leg - 1, 2] == pytest.approx(0.05), "its foot is in the air"
    run(robot, 1.5, [0.05, 0.0, 0.0], (leg,))
    assert run(robot, 3.0, [0.05, 0.0, 0.0], (leg,)) > 0.005, "m"
    assert not robot.output.contacts.in_contact[leg - 1]
    assert robot.largest_step() < JUMP


@pytest.mark.parametrize("part", [0.0, 0.14, 0.28, 0.42])
def test_feet_stay_within_reach_wherever_in_a_stride_a_leg_is_lost(robot, part):
    """While the body leans away no foot lifts: those that stand must not be carried under the body meanwhile."""
    run(robot, 2.0 + part, [0.4, 0.0, 0.0], ())
    least = math.inf
    for _ in range(300):
        robot.tick(twist=[0.4, 0.0, 0.0], lost_legs=(2,))
        least = min(least, np.hypot(*robot.core._robot.engine.p_walk[:, :2].T).min())
    assert least > 0.19, "m"


def test_a_leg_that_comes_back_is_put_down_before_it_walks_again(robot):
    stand = robot.q.copy()
    run(robot, 4.0, [0.0, 0.0, 0.0], (4,))
    assert np.abs(robot.q - stand).max() > 0.1
    run(robot, 0.2, AHEAD, ())
    assert not robot.core._robot.engine.twist.any(), "its foot is still in the air"
    run(robot, 4.0, AHEAD, ())
    assert robot.output.walkspace.gait == "tripod" and robot.core._robot.engine.twist[0] == pytest.approx(0.3)
    run(robot, 4.0, [0.0, 0.0, 0.0], ())
    assert robot.q == pytest.approx(stand, abs=1e-3)
    assert robot.largest_step() < JUMP


def test_two_lost_legs_stand(robot):
    run(robot, 2.0, AHEAD, ())
    for _ in range(300):
        robot.tick(twist=AHEAD, lost_legs=(1, 2))
    assert not robot.core._robot.engine.twist.any()
    assert robot.output.mode.text == "lower_1 and lower_2 are lost; standing, four legs do not walk"


def test_a_body_pose_on_four_legs_leaves_their_servos_torque_and_does_not_undo_the_lean(robot):
    """At the whole pose lower_2_femur would need 85 % of its torque."""
    core = robot.core
    statics, engine, commanded = core.geometry.statics, core.engine, np.array([-0.035, 0.05, 0.01, -0.17, 0.04, 0.31])
    robot.run(3.0, lost_legs=(1, 3))
    lean = engine.pose
    robot.run(2.0, body_pose=commanded)
    posed = engine.pose - lean
    assert posed == pytest.approx(commanded * (posed[0] / commanded[0])) and 0.5 < posed[0] / commanded[0] < 1.0
    assert (
        robot.output.mode.text
        == "body pose limited to 80 %: lower_2_femur would need 81% of its torque, allowed are 80%"
    )
    effort = np.abs(statics.holding_torque(robot.q, engine.pose[3:], ~engine.lost_legs.idle)) / statics.effort_limits
    assert 0.77 < effort.max() < core.config.action.effort
    robot.run(2.0, lost_legs=(1, 2, 3, 4))
    assert "torque" not in robot.output.mode.text, "how two legs carry the robot is not known"


def test_what_needs_six_legs_is_refused_and_sitting_is_not(robot):
    run(robot, 3.0, [0.0, 0.0, 0.0], (3,))
    for refusal in (robot.core.perform("bow", {}), robot.core.request_mode("shell")):
        assert refusal == (
            False,
            "lower_3 is lost, and this needs all six legs; mend it, then publish an empty list on lost_legs",
        )
    assert robot.core.request_mode("sit")[0]
    robot.until("sit", 30.0)
    assert robot.largest_step() < JUMP


def servos(dead=(), silent=()):
    joints = [f"lower_{leg}_{joint}" for leg in range(1, 7) for joint in ("coxa", "femur", "tibia")]
    return [(joint, 9.0 if joint in silent else 0.02, joint not in dead) for joint in ("lower_1_fan", *joints)]


def test_a_leg_is_lost_with_its_servo_and_comes_back_with_it():
    watch = LostServos()
    assert watch.update(0.0, servos()) == ()
    assert watch.update(1.0, servos(silent=["lower_2_femur"])) == ()
    assert watch.update(1.9, servos(silent=["lower_2_femur"])) == ()
    assert watch.update(2.1, servos(silent=["lower_2_femur"])) == (2,)
    assert watch.update(2.5, servos(dead=["lower_2_coxa"])) == (2,)
    assert watch.update(3.0, servos()) == (2,)
    assert watch.update(4.5, servos(["lower_5_tibia"])) == (2,)
    assert watch.update(5.1, servos(["lower_5_tibia"])) == ()
    assert watch.update(5.6, servos(["lower_5_tibia"])) == (5,)


def test_a_bus_without_torque_loses_no_leg():
    watch = LostServos()
    off = [f"lower_{leg}_coxa" for leg in (1, 3, 4)]
    for t in range(10):
        assert watch.update(t, servos(dead=off)) == ()
        assert watch.update(t + 0.5, servos(silent=["lower_1_fan", "upper_2_shell"], dead=off)) == ()


def test_a_third_dead_leg_does_not_make_the_others_sound_again():
    watch, two = LostServos(), ["lower_1_coxa", "lower_2_coxa"]
    watch.update(0.0, servos(two))
    assert watch.update(1.5, servos(two)) == (1, 2)
    assert watch.update(2.0, servos([*two, "lower_3_coxa"])) == (1, 2)
    assert watch.update(9.0, servos([*two, "lower_3_coxa"])) == (1, 2)
    assert watch.update(9.5, servos()) == (1, 2)
    assert watch.update(11.6, servos()) == ()


@pytest.mark.parametrize("request_it", ["wave", "shell"])
def test_a_leg_that_is_lost_on_the_way_to_what_needs_six_is_walked_without(robot, request_it):
    core = robot.core
    core.request_mode("stand")
    robot.run(3.0, body_pose=np.array([0.01, 0.01, 0.0, 0.05, 0.0, 0.1]))
    assert (core.perform("wave", {}) if request_it == "wave" else core.request_mode("shell"))[0]
    robot.run(0.1)
    assert robot.output.mode.step == "centre_body"
    robot.run(3.0, lost_legs=(5,))
    assert robot.output.mode.name == "stand" and "lower_5 is lost, and this needs all" in robot.output.mode.text
    robot.run(5.0)
    assert robot.output.mode.text == "walking without lower_5" and core._robot.engine.lost_legs.idle[4]
    assert robot.largest_step() < JUMP
    if request_it == "wave":
        assert core.performer.status.outcome is Outcome.ABORTED and "lower_5 is lost" in core.performer.status.text


@pytest.mark.parametrize("cancel", ["now", "step", "never"])
def test_an_action_goes_back_to_rest_when_a_leg_is_lost(robot, cancel):
    core = robot.core
    plan = core.plan_action("dance", {})
    assert core.begin_action(replace(plan, cancel=cancel))[0]
    robot.run(6.0)
    assert core.performer.plays and core.performer.status.progress < 0.3
    if cancel == "now":  # on its way back already
        core.performer.cancel()
        robot.run(0.4)
        assert core.performer.status.step == "back to rest"
    robot.run(4.0, lost_legs=(2,))
    status = core.performer.status
    assert (status.outcome, status.text) == (Outcome.CANCELLED, "dance cancelled, back at rest: lower_2 is lost")
    assert robot.output.mode.text == "walking without lower_2" and robot.largest_step() < JUMP


@pytest.mark.parametrize("ticks", range(1, 60, 10))
def test_a_leg_that_comes_back_stands_before_an_action_begins(robot, ticks):
    """Wherever its foot is on the way down, when the action is asked for."""
    run(robot, 3.0, [0.0, 0.0, 0.0], (1,))
    run(robot, 0.01 * ticks, [0.0, 0.0, 0.0], ())
    assert robot.core.perform("bow", {})[0]
    robot.run(6.0)
    assert robot.core.performer.status.outcome is Outcome.SUCCEEDED
    assert robot.largest_step() < JUMP


def test_the_foot_of_a_lost_leg_stays_within_its_reach(robot):
    """A body that leans towards the leg leaves its foot less room to be lifted; the robot walks on nevertheless."""
    robot.core.request_mode("stand")
    robot.run(3.0, body_pose=np.array([-0.059, 0.046, -0.009, 0.25, -0.012, 0.047]))
    robot.run(2.0, lost_legs=(4,))
    assert robot.largest_step() < JUMP
    engine = robot.core._robot.engine
    assert 0.01 < engine.p_walk[3, 2] < 0.05, "m: as far as it can be lifted"
    robot.core.request_mode("hexapod")
    run(robot, 3.0, [0.05, 0.0, 0.0], (4,))
    assert engine.twist[0] > 0.02 and robot.largest_step() < JUMP
