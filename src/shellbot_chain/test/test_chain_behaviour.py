# SPDX-License-Identifier: MIT
"""The action manager's robot in physics, short: what a straight walk of an experiment does not show."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from shellbot_action_manager.core import ActionManagerCore
from shellbot_chain.chain import Chain
from shellbot_common.rotations import tilt_from_quaternion
from shellbot_simulator.core.state import ImuSample

STANDING = 0.1623  # m, height of base_link on six feet


def robot(**config) -> Chain:
    chain = Chain(**config)
    chain.stand_up()
    return chain


def run(chain, seconds, twist=(0.0, 0.0, 0.0)):
    """Walk on with the body pose as it is; return the trace of it, and the links beside the feet on the ground."""
    start, others = chain.time, set()

    def each_tick(c):
        c.command_twist(twist)
        others.update(c.state.contacts.other_links)

    chain.run(seconds, each_tick)
    return chain.trace().window(start, chain.time), others


def until(chain, mode, seconds=8.0):
    """Tick until the robot is at rest in a mode."""
    end = chain.time + seconds
    while not (chain.mode == chain.target == mode and not chain.step):
        assert chain.time < end, f"not in mode {mode} after {seconds} s: {chain.output.mode}"
        chain.tick()


def heights(trace):
    return trace.p_world_base[:, 2]


def tilts(trace):
    return tilt_from_quaternion(trace.q_world_base)


def margin(chain, trace):
    return min((trace.joint_position - chain.limits.lower).min(), (chain.limits.upper - trace.joint_position).min())


def assert_walked_well(chain, trace, others, height=0.010):
    assert np.abs(heights(trace) - STANDING).max() < height
    assert trace.lowest_foot_z.min() > -0.002
    assert tilts(trace).max() < math.radians(2.0)
    assert margin(chain, trace) >= 0.0
    assert others == set(), "something else than the feet touched the ground"


def test_top_speed():
    chain = robot(seed=4)
    first, others = run(chain, 1.5, (9.0, 0.0, 0.0))
    assert_walked_well(chain, first, others)
    trace, others = run(chain, 1.5, (9.0, 0.0, 0.0))
    assert np.linalg.norm(np.ptp(trace.p_world_base[[0, -1], :2], axis=0)) / 1.5 == pytest.approx(0.40, abs=0.025)
    assert_walked_well(chain, trace, others)


@pytest.mark.parametrize(
    ("variant", "twist", "seed"),
    [("walker", (0.3, 0.0, 0.0), 0), ("simulation", (0.0, -0.2, 0.0), 2)],
)
def test_the_odometry_is_where_the_robot_is(variant, twist, seed):
    chain = robot(variant=variant, seed=seed, friction=0.85)
    start = np.array(chain.odom[:2]) - chain.state.p_world_base[:2]
    trace, others = run(chain, 2.0, twist)
    chain.run(1.0)
    assert np.linalg.norm(chain.state.p_world_base[:2]) > 0.3
    assert np.linalg.norm(np.array(chain.odom[:2]) - chain.state.p_world_base[:2] - start) < 0.02
    assert_walked_well(chain, trace, others)


def test_without_imu_it_walks_on_and_knows_less_well_how_far():
    chain = robot(seed=5)
    measure = chain.simulator.state

    def blind():
        state = measure()
        return dataclasses.replace(state, imu=ImuSample(None, np.full(3, np.nan), np.full(3, np.nan)))

    chain.simulator.state = blind
    chain.state = blind()
    chain.odometry.reset()
    chain.run(0.05)
    start = chain.state.p_world_base[:2].copy()
    trace, others = run(chain, 2.5, (0.2, 0.0, 0.0))
    chain.run(1.0)
    forward, left = chain.state.p_world_base[:2] - start
    assert forward == pytest.approx(chain.odom[0], abs=0.04) and forward > 0.4
    assert abs(left - chain.odom[1]) < 0.06
    assert_walked_well(chain, trace, others)


def test_sits_down_and_stands_up_gently():
    chain = robot()
    start = chain.time
    chain.request_mode("sit")
    until(chain, "sit")
    assert chain.state.p_world_base[2] == pytest.approx(0.120, abs=0.006)
    chain.request_mode("relax")
    chain.run(1.0)
    assert chain.state.p_world_base[2] > 0.09
    chain.request_mode("stand")
    until(chain, "stand")
    chain.run(0.3)
    trace = chain.trace().window(start, chain.time)
    assert chain.state.p_world_base[2] == pytest.approx(STANDING, abs=0.005)
    assert tilts(trace).max() < 0.03
    assert trace.lowest_foot_z.min() > -0.002
    assert margin(chain, trace) >= 0.0


@pytest.mark.parametrize("ticks", [97, 111])
def test_killed_and_started_again_in_the_middle_of_a_step_it_goes_on_standing(ticks):
    chain = robot(seed=6)
    run(chain, 0.01 * ticks, (0.3, 0.0, 0.0))
    held = chain.simulator.applied_command.copy()
    for _ in range(100):  # no action manager: the joints hold
        chain.simulator.step_tick()
    chain.state = chain.simulator.state()
    chain.manager = ActionManagerCore(chain.manager.config, chain.manager.geometry)
    start = chain.time
    chain.run(0.03)
    assert chain.mode == "hexapod"
    assert np.abs(chain.simulator.applied_command - held).max() < 0.15
    until(chain, "hexapod")
    trace = chain.trace().window(start, chain.time)
    assert heights(trace).min() > 0.145
    assert tilts(trace).max() < 0.05
    assert trace.lowest_foot_z.min() > -0.002


def test_tilts_and_walks_tilted():
    chain = robot(seed=7)
    chain.command_body_pose((0.0, 0.0, 0.01, 0.15, 0.0, 0.0))
    trace, _ = run(chain, 1.0)
    assert tilts(trace)[-1] == pytest.approx(0.15, abs=0.01)
    trace, _ = run(chain, 1.5, (0.15, 0.0, 0.0))
    assert tilts(trace)[-1] == pytest.approx(0.15, abs=0.02)
    assert np.linalg.norm(trace.p_world_base[-1, :2] - trace.p_world_base[0, :2]) > 0.12
    assert trace.lowest_foot_z.min() > -0.002


def test_walks_with_a_shifted_body_without_touching_the_ground_with_a_shell():
    chain = robot(seed=8)
    chain.command_body_pose((0.04, 0.0, 0.0, 0.0, 0.0, 0.2))
    first, others = run(chain, 2.0, (0.3, 0.0, 0.0))
    assert "the shell of lower_" in chain.output.mode.text
    chain.command_body_pose((0.0, 0.0, 0.03, 0.0, 0.0, 0.0))
    second, more = run(chain, 2.0, (0.3, 0.0, 0.0))
    assert others | more == set()
    assert min(first.lowest_foot_z.min(), second.lowest_foot_z.min()) > -0.002


def test_changes_its_gait_while_it_walks():
    """At half of what the slowest gait can: the body's true speed over 0.3 s never falls below half of that."""
    chain, speed = robot(gait="wave", friction=0.7), 0.0
    speed = 0.5 * chain.output.walkspace.max_velocity[0]
    run(chain, 2.0, (speed, 0.0, 0.0))
    for name in ("tripod", "ripple", "tetrapod", "sprint", "wave", "ripple", "wave"):
        chain.commands = dataclasses.replace(chain.commands, gait=name)
        trace, others = run(chain, 2.0, (speed, 0.0, 0.0))
        assert chain.output.walkspace.gait == name
        x = trace.p_world_base[:, 0]
        assert ((x[30:] - x[:-30]) / 0.3).min() > 0.5 * speed
        assert trace.contact_truth.sum(axis=1).min() >= 3
        assert_walked_well(chain, trace, others, 0.012)  # 11.3 mm while sprint goes slowly
