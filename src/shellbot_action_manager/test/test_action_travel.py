# SPDX-License-Identifier: MIT
"""Actions that walk, change the mode, repeat while something is measured, are undone, or cannot be cancelled."""

from __future__ import annotations

import math

import numpy as np
import pytest
from action_echo import LEVEL, EchoRobot

from shellbot_action_manager.actions.performance import Cancel
from shellbot_action_manager.core import ActionManagerCore
from shellbot_common.performance import Outcome

JUMP = 0.16  # rad in a tick: a swinging leg at top speed
MINE = """
nods:
  text: nods as long as the robot is tilted
  parameters: {most: {default: 5, range: [0, 10]}}
  steps:
    - {name: lean, do: [{move: body, to: {x: 0.01}}]}
    - {name: nod, while: tilt_deg > 2, repeat: most, do: [{move: body, through: [{z: 0.01}, {z: 0}]}]}
    - {name: up, do: [{move: body, to: {z: 0.01}}]}
laps:
  text: walks to and fro for some time
  steps:
    - {while: elapsed < 12, repeat: 9, action: to_and_fro}
to_and_fro:
  text: walks to and fro
  steps:
    - {walk: {x: 0.2}}
    - {walk: {x: -0.2}}
nodding:
  text: nods twice at most
  steps:
    - {name: nod, while: tilt_deg > 2, repeat: 2, do: [{move: body, through: [{z: 0.01}, {z: 0}]}]}
nods_again:
  text: loops in a loop
  steps:
    - {while: elapsed < 100, repeat: 2, action: nodding}
in_vain:
  text: loops over a loop that does nothing
  parameters: {nods: {default: 0, range: [0, 1]}}
  steps:
    - {name: nod, when: nods > 0, do: [{move: body, through: [{z: 0.01}, {z: 0}]}]}
    - {while: elapsed >= 0, repeat: 500, action: never}
never:
  text: waits before it began
  steps:
    - {name: look, while: elapsed < 0, wait: 1}
out:
  text: walks away
  steps:
    - {while: walked < 0.25, repeat: 9, walk: {x: 0.1}}
waves:
  text: walks by wave
  steps:
    - {walk: {y: 0.1, speed: 0.05, gait: wave}}
stubborn: {text: nods to its end, cancel: never, steps: [{action: push_up}]}
whole_steps: {text: ends its steps, cancel: step, steps: [{action: wave}, {walk: {x: 0.1}}]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("actions")
    (found / "mine.yaml").write_text(MINE)
    return found


@pytest.fixture
def robot(folder):
    found = EchoRobot(ActionManagerCore.from_description(action_folders=[folder]), "stand")
    found.pose = np.zeros(3)
    found.until("hexapod")
    return found


def status(robot):
    return robot.core.performer.status


def begin(robot, name, seconds=0.0, speed=1.0, **parameters):
    accepted, text = robot.core.perform(name, parameters, speed)
    assert accepted, text
    robot.run(seconds)


def finish(robot, seconds=60.0):
    """Tick to the end; returns the steps that were begun."""
    steps = []
    for _ in range(int(100 * seconds)):
        robot.tick()
        if status(robot).outcome is None and (not steps or steps[-1] != status(robot).step):
            steps.append(status(robot).step)
        if not robot.core.performer.active and not robot.output.mode.step:
            assert robot.largest_step() < JUMP
            return steps
    raise AssertionError(status(robot))


def test_it_walks_and_turns_by_the_odometry(robot):
    begin(robot, "stroll", distance=0.3)
    farthest, steps = 0.0, []
    while robot.core.performer.active:
        twist = robot.core.twist
        robot.tick()
        farthest = max(farthest, robot.pose[0])
        assert status(robot).step in ("", *steps[-1:]) or not twist.any(), "the one before has come to rest"
        steps += [] if status(robot).step in steps else [status(robot).step]
    assert status(robot).outcome is Outcome.SUCCEEDED
    assert steps == ["1 of 4: walk ahead", "2 of 4: turn round", "3 of 4: walk back", "4 of 4: turn round"]
    assert farthest == pytest.approx(0.3, abs=0.01)
    assert robot.pose == pytest.approx([0.0, 0.0, 0.0], abs=0.03)
    assert robot.output.mode.name == "hexapod" and robot.largest_step() < JUMP


def test_walking_at_half_the_speed(robot):
    begin(robot, "stroll", 2.0, speed=0.5)
    assert robot.core.twist == pytest.approx([0.075, 0.0, 0.0], abs=0.003)
    while not status(robot).step.startswith("2 of"):
        robot.tick()
    robot.run(2.0)
    assert robot.core.twist[2] == pytest.approx(math.radians(15), abs=0.02)


def test_it_stands_up_walks_performs_and_sits_down(robot):
    robot.core.request_mode("sit")
    robot.until("sit", 20.0)
    begin(robot, "visit")
    steps = finish(robot)
    assert status(robot).outcome is Outcome.SUCCEEDED
    assert (steps[0], steps[1], steps[-1]) == ("1 of 19: hexapod", "2 of 19: walk", "19 of 19: sit")
    assert len(steps) == 19 and robot.output.mode.name == "sit"
    assert robot.pose[0] == pytest.approx(0.3, abs=0.01)


def test_sit_and_stand_are_actions(robot):
    for name in ("sit", "stand", "stand"):
        begin(robot, name)
        finish(robot)
        assert status(robot).outcome is Outcome.SUCCEEDED and robot.output.mode.name == name


def test_a_walk_out_of_mode_stand_ends_in_mode_hexapod(robot):
    robot.core.request_mode("stand")
    robot.until("stand")
    begin(robot, "to_and_fro")
    finish(robot)
    assert status(robot).outcome is Outcome.SUCCEEDED and robot.output.mode.name == "hexapod"


def test_a_gait_of_its_own(robot):
    begin(robot, "waves", 2.0)
    assert robot.output.walkspace.gait == "wave"
    finish(robot)
    robot.run(2.0)
    assert robot.output.walkspace.gait == "tripod", "the commanded one"


def test_pausing_a_walk_stands_still_and_goes_on(robot):
    begin(robot, "stroll", 1.5)
    robot.core.performer.pause(True)
    robot.run(2.0)
    at = robot.pose.copy()
    robot.run(2.0)
    assert (robot.pose == at).all() and at[0] > 0.05 and status(robot).paused
    robot.core.performer.pause(False)
    finish(robot)
    assert status(robot).outcome is Outcome.SUCCEEDED
    assert robot.pose == pytest.approx([0.0, 0.0, 0.0], abs=0.03)


@pytest.mark.parametrize("when, end", [(Cancel.NOW, 0.25), (Cancel.AFTER_STEP, 0.5)])
def test_cancelling_a_walk_stops_it(robot, when, end):
    begin(robot, "stroll", 1.5)
    robot.core.performer.cancel(when)
    finish(robot)
    assert status(robot).outcome is Outcome.CANCELLED
    assert status(robot).text == "stroll cancelled, in mode hexapod"
    assert robot.pose[0] == pytest.approx(end, abs=0.08)
    at = robot.pose.copy()
    robot.run(1.0)
    assert (robot.pose == at).all()


def test_cancelling_a_change_of_mode_ends_in_it(robot):
    begin(robot, "sit", 0.5)
    robot.core.performer.cancel()
    finish(robot)
    assert (status(robot).outcome, robot.output.mode.name) == (Outcome.CANCELLED, "sit")


def test_another_request_ends_a_walk(robot):
    begin(robot, "stroll", 1.0)
    assert robot.core.request_mode("sit")[0]
    robot.until("sit", 20.0)
    assert status(robot).outcome is Outcome.ABORTED and "going to sit" in status(robot).text


def test_cmd_vel_does_not_count_while_it_walks(robot):
    begin(robot, "stroll", 1.5)
    out = robot.tick(twist=[0.0, 0.3, 0.0])
    assert out.notice == "cmd_vel does not count while stroll walks"
    robot.run(0.5, twist=[0.0, 0.3, 0.0])
    assert robot.core.twist == pytest.approx([0.15, 0.0, 0.0], abs=0.01)


def test_an_emergency_stop_ends_a_walk(robot):
    begin(robot, "stroll", 1.5)
    robot.core.emergency_stop()
    held = robot.q.copy()
    robot.run(0.5)
    assert status(robot).outcome is Outcome.ABORTED and (robot.q == held).all()
    robot.core.rearm()
    robot.until("hexapod")
    at = robot.pose.copy()
    robot.run(1.0)
    assert (robot.pose == at).all()


def test_without_odometry_it_does_not_walk(robot):
    robot.pose = None
    robot.run(0.1)
    accepted, text = robot.core.perform("stroll", {})
    assert not accepted and text == "stroll walks, and there is no odometry; start the node odometry"
    assert not robot.core.performer.active


def test_odometry_that_jumps_or_ends_ends_the_walk(robot):
    begin(robot, "stroll", 1.0)
    robot.pose = robot.pose + [1.0, 0.0, 0.0]
    robot.run(0.1)
    assert status(robot).outcome is Outcome.ABORTED and "the odometry jumped by 1.0" in status(robot).text
    robot.run(2.0)
    begin(robot, "stroll", 1.0)
    robot.pose = None
    robot.run(1.5)
    assert (robot.core.twist == 0.0).all()
    robot.run(30.0)
    assert status(robot).outcome is Outcome.ABORTED and "no odometry" in status(robot).text


def test_a_body_posed_so_that_the_legs_have_no_room_is_straightened_to_walk(robot):
    posed = np.array([-0.02, -0.04, 0.07, 0.3, 0.2, 0.21])
    robot.run(2.0, body_pose=posed)
    assert not robot.output.walkspace.max_acceleration.any()
    begin(robot, "stroll")
    robot.run(40.0, body_pose=posed)
    assert status(robot).outcome is Outcome.SUCCEEDED


def tilted(degrees):
    return np.array([math.sin(0.5 * math.radians(degrees)), 0.0, 0.0, math.cos(0.5 * math.radians(degrees))])


def nods_of(robot, most, level_after=99):
    """Perform `nods`; returns how often it nodded."""
    count, phase, steps = 0, 1.0, []
    begin(robot, "nods", most=most)
    while robot.core.performer.active:
        robot.tick()
        now = status(robot)
        steps += [] if now.step in steps else [now.step]
        if now.step == "2 of 4: nod":
            count, phase = count + (now.phase < phase), now.phase
            robot.orientation = LEVEL if count == level_after else robot.orientation
    assert now.outcome is Outcome.SUCCEEDED and now.progress == 1.0
    expected = ["1 of 4: lean", "2 of 4: nod", "3 of 4: up", "4 of 4: back to rest"]
    assert [step for step in steps if step in expected] == [step for step in expected if count or "nod" not in step]
    robot.run(0.5)
    return count


def test_steps_are_repeated_while_a_condition_holds(robot):
    robot.pose = None
    for tilt, most, expected in ((0.0, 5, 0), (5.0, 3, 3), (5.0, 0, 0)):
        robot.orientation = tilted(tilt)
        robot.run(0.1)
        assert nods_of(robot, most) == expected
    robot.orientation = tilted(5.0)
    assert nods_of(robot, 10, level_after=2) == 2, "once level it is not begun again"
    assert robot.largest_step() < 0.05


def test_loops_in_loops_count_anew(robot):
    robot.orientation, robot.pose = tilted(5.0), None
    robot.run(0.1)
    begin(robot, "nods_again")
    nods = 0
    while robot.core.performer.active:
        before = status(robot)
        robot.tick()
        nods += before.phase > 0.5 and (status(robot).outcome is not None or status(robot).phase < 0.5)
    assert status(robot).outcome is Outcome.SUCCEEDED and nods == 4


@pytest.mark.parametrize("nods", [0, 1])
def test_loops_that_do_nothing_end_the_action_and_the_robot_goes_on(robot, nods):
    begin(robot, "in_vain", nods=nods)
    finish(robot)
    assert status(robot).outcome is Outcome.ABORTED
    assert status(robot).text == "in_vain: its loops do nothing; give the step in them another condition"
    robot.run(0.5, twist=[0.1, 0.0, 0.0])
    assert robot.core.twist[0] > 0.0, "it obeys again"


def test_a_loop_ends_by_the_distance_walked(robot):
    begin(robot, "out")
    finish(robot)
    assert robot.pose[0] == pytest.approx(0.3, abs=0.02)


def test_a_cancel_whose_way_back_is_not_free_ends_after_the_loop(robot, monkeypatch):
    planner = robot.core._robot.planner
    free, robot.pose = planner.check.refusal, None
    robot.orientation = tilted(5.0)
    robot.run(0.1)
    begin(robot, "nods", 1.0)
    monkeypatch.setattr(planner.check, "refusal", lambda *arguments: (0, "something is in the way"))
    robot.core.performer.cancel()
    while not status(robot).step.startswith("2 of 4"):
        robot.tick()
    monkeypatch.setattr(planner.check, "refusal", free)
    assert finish(robot)[-1] == "back to rest"
    assert status(robot).outcome is Outcome.CANCELLED and robot.largest_step() < 0.05


def test_laps_end_by_time(robot):
    begin(robot, "laps")
    begun = robot.t
    finish(robot)
    assert 12.0 < robot.t - begun < 20.0 and robot.pose[0] == pytest.approx(0.0, abs=0.03)


def test_a_condition_on_what_is_not_measured_ends_it(robot):
    robot.orientation = robot.pose = None
    robot.run(0.1)
    begin(robot, "nods")
    finish(robot)
    assert status(robot).outcome is Outcome.ABORTED
    assert "while tilt_deg > 2: there is no parameter 'tilt_deg'" in status(robot).text


def test_undo_goes_back_to_the_posture_before_the_step_and_pauses(robot):
    begin(robot, "wave")
    postures = {}
    while not (status(robot).step.startswith("3 of") and status(robot).phase > 0.5):
        robot.tick()
        if status(robot).step not in postures and status(robot).phase > 0.0:
            postures[status(robot).step] = robot.q.copy()
    for step, pose in list(postures.items())[:0:-1]:  # from the last that was begun to the second
        assert robot.core.performer.undo() == ""
        robot.run(4.0)
        assert status(robot).paused and robot.q == pytest.approx(pose, abs=2e-3), step
    assert robot.core.performer.undo() == "", "the first one"
    robot.run(4.0)
    assert "began" in robot.core.performer.undo()
    robot.core.performer.pause(False)
    finish(robot)
    assert status(robot).outcome is Outcome.SUCCEEDED and robot.largest_step() < 0.05


def test_undo_is_ended_by_resume_and_by_cancel(robot):
    begin(robot, "wave", 2.0)
    robot.core.performer.undo()
    robot.run(0.2)
    robot.core.performer.pause(False)
    robot.run(0.35)
    at = status(robot).phase
    robot.run(0.1)
    assert status(robot).phase > at
    robot.core.performer.undo()
    robot.core.performer.cancel()
    finish(robot)
    assert status(robot).outcome is Outcome.CANCELLED and robot.largest_step() < 0.05


def test_a_walk_is_not_undone(robot):
    assert "no step on the spot" in robot.core.performer.undo()
    begin(robot, "stroll", 1.0)
    assert "a walk or a change of mode is cancelled" in robot.core.performer.undo()


def test_an_action_says_how_it_is_cancelled(robot):
    begin(robot, "stubborn", 1.0)
    assert "stubborn is not cancelled: it goes on to its end" in robot.core.performer.cancel()
    finish(robot)
    assert status(robot).outcome is Outcome.SUCCEEDED
    begin(robot, "whole_steps", 1.0)
    assert robot.core.performer.cancel(Cancel.NOW) == ""
    step = status(robot).step
    while status(robot).step == step:
        phase = status(robot).phase
        robot.tick()
    assert status(robot).step == "back to rest" and phase > 0.95
    finish(robot)
    assert status(robot).outcome is Outcome.CANCELLED and robot.pose[0] == 0.0
