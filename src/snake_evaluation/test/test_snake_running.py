# SPDX-License-Identifier: MIT
"""The snake that runs over ROS beside one in this process: what counts as a step, and what is refused."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from shellbot_common import SettingsError
from snake_evaluation.commanded import driven_steps
from snake_evaluation.cycles import cost_of_steps
from snake_evaluation.running import (
    CYCLES,
    VELOCITIES,
    Case,
    Progress,
    Track,
    cases_of,
    embedded_progress,
    row,
    table,
)
from snake_evaluation.snake_run import Setup, SnakeRun
from snake_motion.chassis import BodyGeometry, body_poses, chassis_of

GEOMETRY = BodyGeometry(4, 0.072, 0.052, 0.052)


def test_a_step_is_the_mean_of_the_cycles_in_the_axes_of_each():
    """A straight body that goes 0.1 m ahead and turns by 0.2 rad a cycle, from a heading of 1 rad on."""
    track, period = Track(GEOMETRY), 1.0
    x, y, yaw = 3.0, -2.0, 1.0
    ahead = -chassis_of(body_poses(np.zeros(4), GEOMETRY)).x  # of the head
    for k in range(CYCLES + 1):
        head = x + ahead * math.cos(yaw), y + ahead * math.sin(yaw), 0.026
        track.poses.append((10.0 + k * period, head, (0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))))
        track.joints.append((10.0 + k * period, [0.0] * 4, 2.0))
        x, y, yaw = x + 0.1 * math.cos(yaw), y + 0.1 * math.sin(yaw), yaw + 0.2
    assert track.time == 10.0 + CYCLES
    track.joints.append((10.1 + CYCLES, [0.0] * 4, 1e3))  # after the cycles
    found = track.progress(10.0, period, 1.5)
    assert found.step == pytest.approx([0.1, 0.0, 0.2])
    assert found.cost == pytest.approx(2.0 / (1.5 * 9.81 * 0.1), rel=1e-3)


def test_a_track_of_the_simulator_has_the_truth_of_the_simulator():
    run = SnakeRun(Setup())
    track = Track(run.geometry)

    def observe():
        state = run.simulator.state()
        track.poses.append((state.time, tuple(state.p_world_base), tuple(state.quat_world_base)))
        track.joints.append((state.time, tuple(state.q), float(np.maximum(0.0, state.effort * state.dq).sum())))

    run.observer = observe
    begin = run.simulator.time + 0.1 + 4.0  # begins, and two cycles
    steps = driven_steps(run, np.array([0.05, 0.0, 0.0]), CYCLES)
    step = steps.mean(axis=0)
    assert step[0] > 0.02
    found = track.progress(begin, 1.0, run.simulator.mass)
    assert found.step == pytest.approx(step, abs=1e-9)
    # samples at the ends of ticks miss what moves within them
    assert found.cost == pytest.approx(cost_of_steps(run.energy, run.simulator.mass, steps), rel=0.3)
    assert found.cost == pytest.approx(embedded_progress(Case(twist=(0.05, 0.0, 0.0)), SnakeRun(Setup())).cost, rel=0.3)


def test_every_gait_and_all_families_of_velocities_are_compared():
    run = SnakeRun(Setup())
    families = set()
    for case in VELOCITIES:
        target, _ = run.core.drive.target(list(case.twist))
        assert case.period(run) == target.shape.period
        families.add(target.name)
    assert families == set(run.core.drive.families)
    slow = SnakeRun(Setup(servo="source"))
    assert Case(twist=(0.05, 0.0, 0.0)).period(slow) == slow.core.drive.target((0.01, 0.0, 0.0))[0].shape.period == 3.0


def test_of_what_a_short_robot_cannot_do_nothing_is_compared():
    run = SnakeRun(Setup(modules=7))
    names = [case.gait for case in cases_of(run)]
    assert "straight" in names and "side_winding" not in names and "" not in names
    able = SnakeRun(Setup())
    gaits = [Case(name) for name in able.core.engine.gaits.shapes if name != "still"]
    assert cases_of(able) == [*gaits, *VELOCITIES]
    assert [case.gait for case in cases_of(run, ["straight"])] == ["straight"]
    with pytest.raises(SettingsError, match="side_winding"):
        cases_of(run, ["straight", "side_winding"])
    with pytest.raises(SettingsError, match="gait 'moonwalk' does not exist; choose from still, straight"):
        cases_of(run, ["moonwalk"])


def test_a_gait_here_is_that_of_the_experiment():
    run = SnakeRun(Setup(modules=8))
    step, cost = found = embedded_progress(Case("straight"), run)
    assert 10.0 < cost < 40.0
    assert 0.04 < step[0] < 0.08 and abs(step[1]) < 2e-3
    assert run.simulator.time == pytest.approx(0.1 + 2.0 + CYCLES + run.core.engine.active.shape.period, abs=2.0)
    line = row(Case("straight"), found, Progress(np.array([0.0581, -0.0004, math.radians(2.04)]), math.nan))
    assert (line["embedded"], line["embedded_cost"]) == ("58, 0 mm, 2.0°", "–")
    assert f"{cost:.2f}" in table([line])


def test_without_a_master_there_is_a_sentence():
    pytest.importorskip("rospy")
    command = [sys.executable, "-m", "snake_evaluation.running_node"]
    environment = dict(os.environ, ROS_MASTER_URI="http://localhost:9")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2 and "no ROS master at http://localhost:9; start the robot" in done.stderr
