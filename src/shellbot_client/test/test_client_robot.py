# SPDX-License-Identifier: MIT
"""Programs that drive the chain in this process: distances, refusals, bad numbers, Ctrl-C."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from robot_evaluation.errors import DefinitionError
from shellbot_chain.errors import MissionFailed
from shellbot_client import Shellbot


@pytest.fixture(scope="module")
def standing():
    with Shellbot.simulated(seed=4, record=False) as robot:
        robot.go_to("hexapod")
        yield robot


def truth(robot):
    return np.array(robot.chain.state.p_world_base[:2])


def test_it_walks_and_turns_as_far_as_it_is_told(standing):
    start, heading = truth(standing), standing.place.yaw
    standing.walk(x=0.3, y=0.2, speed=0.2)
    moved = truth(standing) - start
    assert np.linalg.norm(moved) == pytest.approx(math.hypot(0.3, 0.2), abs=0.02)
    assert math.atan2(moved[1], moved[0]) - heading == pytest.approx(math.atan2(0.2, 0.3), abs=0.05)
    standing.turn(deg=-45)
    assert math.degrees(math.remainder(standing.place.yaw - heading, 2 * math.pi)) == pytest.approx(-45, abs=1.5)


def test_it_drives_for_a_time_and_stops(standing):
    start, t = truth(standing), standing.chain.time
    standing.drive(2.0, x=0.1)
    assert standing.chain.time - t == pytest.approx(3.5, abs=0.02)
    assert np.linalg.norm(truth(standing) - start) == pytest.approx(0.2, abs=0.04)
    place = truth(standing)
    standing.wait(0.5)
    assert truth(standing) == pytest.approx(place, abs=1e-3)


def test_it_keeps_the_body_pose_while_it_walks(standing):
    level = standing.chain.state.p_world_base[2]
    standing.body(z=-0.02, roll_deg=5)
    lowered = standing.chain.state.p_world_base[2]
    assert lowered == pytest.approx(level - 0.02, abs=0.004)
    standing.walk(x=0.15)
    assert standing.chain.state.p_world_base[2] == pytest.approx(lowered, abs=0.004)
    standing.body()
    assert standing.chain.state.p_world_base[2] == pytest.approx(level, abs=0.004)


def test_it_performs_and_tells_how_far_it_is(standing):
    seen = []
    standing.perform("bow", on_progress=seen.append, depth=6)
    assert [p.fraction for p in seen] == sorted(p.fraction for p in seen) and seen[-1].ended
    assert any(p.step.startswith("1 of 2") for p in seen)
    assert standing.chain.step != "perform"


def test_refusals_are_raised_with_the_robots_reason(standing):
    for call, text in (
        (lambda: standing.perform("bwo"), "there is no action 'bwo'; is bow meant?"),
        (lambda: standing.perform("bow", depth=90), "give a whole number from 2 to 10 deg"),
        (lambda: standing.go_to("relax"), "request sit first, then relax"),
        (lambda: standing.go_to("fly"), "fly refused: "),
        (lambda: standing.gait("gallop"), "not 'gallop'"),
    ):
        with pytest.raises(MissionFailed, match=".") as error:
            call()
        assert text in str(error.value)
    standing.gait("tripod")


def test_bad_numbers_are_refused_before_anything_moves(standing):
    place = truth(standing)
    for call, text in (
        (lambda: standing.walk(), "give a distance to walk"),
        (lambda: standing.walk(x=math.nan), "x is nan"),
        (lambda: standing.walk(x=1.0, speed=-0.1), "speed_m_s is -0.1"),
        (lambda: standing.walk(x="far"), "x is 'far'"),
        (lambda: standing.turn(0.0), "angle_rad is 0"),
        (lambda: standing.drive(math.inf, x=0.1), "seconds is inf"),
        (lambda: standing.body(roll_deg=200), "roll_deg is 200"),
        (lambda: standing.roll(-1.0), "distance_m is -1"),
    ):
        with pytest.raises(DefinitionError, match=".") as error:
            call()
        assert text in str(error.value)
    assert truth(standing) == pytest.approx(place, abs=2e-3)


def test_the_gait_changes(standing):
    standing.gait("wave")
    assert standing.chain.output.walkspace.gait == "wave"
    standing.gait("tripod")


def test_an_interrupt_takes_an_action_back_to_rest(standing):
    q = standing.chain.state.q.copy()

    def interrupt(progress):
        if progress.fraction > 0.4 and not interrupted:
            interrupted.append(progress)
            raise KeyboardInterrupt

    interrupted = []
    with pytest.raises(KeyboardInterrupt):
        standing.perform("wave", on_progress=interrupt, leg=2)
    assert interrupted and standing.chain.manager.performer.status.text == "wave cancelled, back at rest"
    standing.wait(0.5)
    assert standing.chain.state.q == pytest.approx(q, abs=0.03)


def test_an_error_in_the_block_stops_the_robot():
    with pytest.raises(ZeroDivisionError), Shellbot.simulated(seed=1, record=False) as robot:
        robot.go_to("hexapod")
        for _ in range(100):
            robot._step((0.2, 0.0, 0.0))
        raise ZeroDivisionError
    assert not robot.chain.commands.twist.any()


def test_an_emergency_stop_holds_until_rearm():
    with Shellbot.simulated(seed=2, record=False) as robot:
        robot.go_to("hexapod")
        robot.emergency_stop()
        robot.wait(0.1)
        assert robot.mode == "stopped"
        with pytest.raises(MissionFailed, match="call the service rearm first"):
            robot.walk(x=0.1)
        robot.rearm()
        robot.wait(0.1)
        robot.walk(x=0.1)


def test_from_sitting_it_stands_up_and_as_a_ball_it_rolls():
    with Shellbot.simulated(seed=3, start_mode="sit", record=False) as robot:
        start = truth(robot)
        robot.walk(x=0.2)
        assert robot.mode == "hexapod" and np.linalg.norm(truth(robot) - start) == pytest.approx(0.2, abs=0.03)
        start = truth(robot)
        robot.roll(1.0, bearing_deg=90)
        assert robot.mode == "shell"
        assert np.linalg.norm(truth(robot) - start) == pytest.approx(1.0, abs=0.15)


def test_there_is_no_chain_over_ros_and_no_robot_without_a_master(monkeypatch):
    monkeypatch.setenv("ROS_MASTER_URI", "http://localhost:1")
    with pytest.raises(MissionFailed, match="no ROS master at http://localhost:1; start the robot first"):
        Shellbot()
    with pytest.raises(DefinitionError, match="use Shellbot.simulated()"):
        Shellbot(object()).chain  # noqa: B018


def test_what_a_program_does_is_recorded_saved_and_performed(tmp_path):
    file = tmp_path / "mine.yaml"
    with Shellbot.simulated(seed=5, record=False) as robot:
        robot.go_to("hexapod")
        with robot.recording() as motion:
            robot.body(pitch_deg=6)
            robot.body()
        saved = motion.save("nod", file, text="nods")
        assert saved.action.moves == ("body",) and saved.action.waypoints <= 6
        with robot.recording() as motion:
            robot.body(z=-0.02)
            robot.wait(0.6)
        motion.save("low", file, posture=True)
        with pytest.raises(DefinitionError, match="has an action 'low'"):
            motion.save("low", file)
        robot.body()
        with robot.recording() as motion:
            robot.walk(x=0.15)
        with pytest.raises(DefinitionError, match="feet stand after|stands .* from where it began|without walking"):
            motion.save("walks", file)
    with Shellbot.simulated(seed=6, action_folders=(str(tmp_path),)) as robot:
        robot.go_to("hexapod")
        level = robot.chain.state.p_world_base[2]
        start = robot.chain.time
        robot.perform("nod")
        robot.perform("low", hold=1)
        trace = robot.chain.trace()
    pitch = np.degrees(2.0 * trace.q_world_base[trace.t > start, 1])
    assert pitch.max() == pytest.approx(6.0, abs=0.8)
    assert trace.p_world_base[:, 2][trace.t > start].min() == pytest.approx(level - 0.02, abs=0.004)


def test_an_error_of_who_looks_on_takes_an_action_back_to_rest(standing):
    def divide(progress):
        if progress.fraction > 0.4:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        standing.perform("wave", on_progress=divide, leg=3)
    assert not standing.chain.manager.performer.active
    assert "cancelled" in standing.chain.manager.performer.status.text


def test_a_negative_time_is_refused(standing):
    place = truth(standing)
    for call in (lambda: standing.drive(-2, x=0.2), lambda: standing.wait(-5)):
        with pytest.raises(DefinitionError, match="seconds is -.; give 0 or more"):
            call()
    assert truth(standing) == pytest.approx(place, abs=2e-3)


def test_a_reset_ends_a_drive(standing, monkeypatch):
    link, ticks = standing._link, []

    class Reset:
        def __getattr__(self, name):
            return getattr(link, name)

        def observe(self):
            seen = link.observe()
            return replace(seen, t=seen.t - 1000.0) if len(ticks) > 20 else seen

        def tick(self):
            ticks.append(1)
            link.tick()

    monkeypatch.setattr(standing, "_link", Reset())
    with pytest.raises(MissionFailed, match="the clock went back"):
        standing.drive(2.0, x=0.1)
    assert len(ticks) < 30
    monkeypatch.undo()
    standing.wait(2.0)


def test_a_sitting_robot_gets_up_to_change_its_gait(standing):
    standing.go_to("sit")
    standing.gait("wave")
    assert standing.mode == "hexapod" and standing.chain.output.walkspace.gait == "wave"
    standing.gait("tripod")


def test_the_walking_speed_of_stroll_is_no_keyword(standing):
    start = standing.chain.time
    standing.perform("stroll", distance=0.1, walk_speed=0.3)
    fast = standing.chain.time - start
    start = standing.chain.time
    standing.perform("stroll", distance=0.1, walk_speed=0.06)
    assert standing.chain.time - start > fast + 1.0
