# SPDX-License-Identifier: MIT
"""The robot in physics: the figures of the issue, short. The own odometry ends each run, the truth scores it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from action_chain import SimulatedRobot

from shellbot_action_manager.core import ActionManagerCore


def robot(**arguments):
    r = SimulatedRobot(**arguments)
    r.until("hexapod")
    r.run(0.5)
    r.forget()
    return r


def assert_walked_well(r):
    assert np.abs(np.array(r.heights) - 0.1623).max() < 0.010
    assert min(r.lowest) > -0.002
    assert max(r.tilts) < math.radians(2.0)
    assert min(r.margins) >= 0.0
    assert r.others == set(), "something else than the feet touched the ground"


@pytest.mark.parametrize(("seed", "friction", "speed"), [(0, 0.7, 0.2), (1, 1.0, 0.4)])
def test_forward(seed, friction, speed):
    r = robot(seed=seed, friction=friction)
    x, y, _ = r.go(0, 1.0, speed)
    assert x == pytest.approx(1.0, abs=0.05)
    assert abs(y) < 0.03
    assert_walked_well(r)


def test_sideways():
    r = robot(seed=2, friction=0.85)
    x, y, _ = r.go(1, -0.6, 0.2)
    assert y == pytest.approx(-0.6, abs=0.03)
    assert abs(x) < 0.018
    assert_walked_well(r)


def test_turn():
    r = robot(seed=3, friction=0.7)
    x, y, turned = r.go(2, 2.0 * math.pi, 1.0)
    assert turned == pytest.approx(2.0 * math.pi, rel=0.05)
    assert math.hypot(x, y) < 0.02
    assert_walked_well(r)


def test_top_speed_and_first_movement():
    r = robot(seed=4)
    r.run(1.5, (9.0, 0.0, 0.0))
    start = r.truth()
    r.run(1.5, (9.0, 0.0, 0.0))
    speed = np.linalg.norm(r.truth()[:2] - start[:2]) / 1.5
    assert speed == pytest.approx(0.40, abs=0.025)
    assert_walked_well(r)


def test_without_imu_it_walks_on_and_knows_the_way_less_well():
    r = robot(seed=5)
    r.imu = False
    r.odometry.reset()
    r.run(0.05)
    x, y, _ = r.go(0, 0.5, 0.2)
    assert x == pytest.approx(0.5, abs=0.04)
    assert abs(y) < 0.06
    assert_walked_well(r)


def test_sits_down_and_stands_up_gently():
    r = robot()
    r.core.request_mode("sit")
    r.until("sit")
    assert r.state.p_world_base[2] == pytest.approx(0.120, abs=0.006)
    r.core.request_mode("relax")
    r.run(1.0)
    assert r.state.p_world_base[2] > 0.09
    r.core.request_mode("stand")
    r.until("stand")
    r.run(0.3)
    assert r.state.p_world_base[2] == pytest.approx(0.1623, abs=0.005)
    assert max(r.tilts) < 0.03
    assert min(r.lowest) > -0.002
    assert min(r.margins) >= 0.0


@pytest.mark.parametrize("ticks", [97, 111])
def test_killed_and_born_again_in_the_middle_of_a_step_it_goes_on_standing(ticks):
    r = robot(seed=6)
    r.run(0.01 * ticks, (0.3, 0.0, 0.0))
    held = r._under_way.copy()
    for _ in range(100):  # nobody thinks: the joints hold
        r.simulator.command(held)
        r.simulator.step_tick()
    r.state = r.simulator.state()
    r.core = ActionManagerCore.from_description()
    r.forget()
    r.run(0.02)
    assert r.output.mode.name == "hexapod"
    assert np.abs(r._under_way - held).max() < 0.15
    r.until("hexapod")
    assert min(r.heights) > 0.145
    assert max(r.tilts) < 0.05
    assert min(r.lowest) > -0.002


def test_tilts_and_walks_tilted():
    r = robot(seed=7)
    r.body_pose = np.array([0.0, 0.0, 0.01, 0.15, 0.0, 0.0])
    r.run(1.0)
    assert r.tilts[-1] == pytest.approx(0.15, abs=0.01)
    start = r.truth()
    r.run(1.5, (0.15, 0.0, 0.0))
    assert r.tilts[-1] == pytest.approx(0.15, abs=0.02)
    assert np.linalg.norm(r.truth()[:2] - start[:2]) > 0.12
    assert min(r.lowest) > -0.002


def test_walks_with_a_shifted_body_without_touching_the_ground_with_a_shell():
    r = robot(seed=8)
    r.body_pose = np.array([0.03, 0.0, 0.0, 0.0, 0.0, 0.2])
    r.run(2.0, (0.3, 0.0, 0.0))
    assert "the shell of lower_" in r.output.mode.text
    r.body_pose = np.array([0.0, 0.0, 0.03, 0.0, 0.0, 0.0])
    r.run(2.0, (0.3, 0.0, 0.0))
    assert r.others == set()
    assert min(r.lowest) > -0.002


def test_walker_walks_too():
    r = robot(variant="walker")
    x, y, _ = r.go(0, 0.4, 0.3)
    assert x == pytest.approx(0.4, abs=0.02)
    assert abs(y) < 0.012
    assert_walked_well(r)
