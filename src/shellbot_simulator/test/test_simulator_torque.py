# SPDX-License-Identifier: MIT
"""Rigid bodies only: torques from outside move the joints, and the simulator's own servos come back afterwards."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tiny_robot

from shellbot_common import TICK
from shellbot_description import expand, named_pose_array, robot_profile
from shellbot_simulator.core.config import load_config
from shellbot_simulator.core.errors import CommandError
from shellbot_simulator.core.simulator import Simulator


@pytest.fixture(scope="module")
def simulator():
    simulator = Simulator(expand("walker"), robot_profile("walker"))
    yield simulator
    simulator.close()


def test_the_same_law_from_outside_gives_the_same_motion(simulator):
    target = named_pose_array("stand", "walker")
    simulator.reset()
    simulator.command(target)
    for _ in range(50):
        simulator.step_tick()
    inside = simulator.state()
    simulator.reset()
    stiffness = np.array([simulator.gains(name).p for name in simulator.joint_names])
    limit = np.abs(simulator.model.actuator_forcerange[:, 1])
    for _ in range(50 * simulator.config.steps_per_tick):
        simulator.step_torque(np.clip(stiffness * (target - simulator.joint_position), -limit, limit))
    outside = simulator.state()
    assert outside.tick == inside.tick == 50 and outside.time == pytest.approx(50 * TICK)
    np.testing.assert_allclose(outside.q, inside.q, atol=1e-9)
    np.testing.assert_allclose(outside.p_world_base, inside.p_world_base, atol=1e-9)
    np.testing.assert_allclose(outside.imu.specific_force, inside.imu.specific_force, atol=1e-6)
    assert (outside.contacts.foot_contact == inside.contacts.foot_contact).all()


def test_time_counts_physics_steps(simulator):
    simulator.reset()
    for _ in range(7):
        simulator.step_torque(np.zeros(simulator.joint_count))
    assert simulator.time == pytest.approx(7 * simulator.config.timestep) and simulator.tick_count == 1


def test_torque_is_not_limited_by_the_simulator(simulator):
    simulator.reset()
    torque = np.zeros(simulator.joint_count)
    torque[1] = 3.0
    simulator.step_torque(torque)
    assert simulator.state().effort[1] == pytest.approx(3.0)


def test_less_damping_turns_more_easily(simulator):
    def turned(share):
        simulator.reset()
        torque = np.zeros(simulator.joint_count)
        torque[1] = 0.3
        for _ in range(10):
            simulator.step_torque(torque, np.full(simulator.joint_count, share))
        return simulator.joint_velocity[1]

    assert turned(0.1) > 1.3 * turned(1.0) > 0.0


def test_a_bad_torque_is_refused_and_nothing_moves(simulator):
    simulator.reset()
    before = simulator.time
    for bad in (np.zeros(3), np.full(simulator.joint_count, np.nan)):
        with pytest.raises(CommandError):
            simulator.step_torque(bad)
    assert simulator.time == before


def test_the_own_servos_come_back(simulator):
    target = named_pose_array("stand", "walker")

    def settle():
        simulator.reset()
        simulator.command(target)
        for _ in range(30):
            simulator.step_tick()
        return simulator.state().q

    fresh = settle()
    for _ in range(3):
        simulator.step_torque(np.full(simulator.joint_count, 0.2), np.full(simulator.joint_count, 0.1))
    np.testing.assert_array_equal(settle(), fresh)


def test_the_gains_of_the_own_servos_come_back_without_a_reset(simulator):
    simulator.reset()
    for _ in range(simulator.config.steps_per_tick):
        simulator.step_torque(np.zeros(simulator.joint_count))
    np.testing.assert_array_equal(simulator.model.actuator_gainprm[:, 0], 1.0)
    simulator.step_tick()
    np.testing.assert_array_equal(simulator.model.actuator_gainprm[:, 0], simulator.stiffness)
    np.testing.assert_array_equal(simulator.model.actuator_biasprm[:, 1], -simulator.stiffness)


def test_a_second_simulator_shows_the_first():
    first, second = (
        Simulator(expand("walker"), robot_profile("walker")),
        Simulator(expand("walker"), robot_profile("walker")),
    )
    first.command(named_pose_array("stand", "walker"))
    for _ in range(40):
        first.step_tick()
    first.push((30.0, 0.0, 0.0), 0.1)
    for _ in range(20):
        first.step_tick()
    second.show(first.state())
    np.testing.assert_allclose(second.data.qpos, first.data.qpos, atol=1e-12)
    assert second.tick_count == 60
    for simulator in (first, second):
        simulator.close()


def test_commanded_torques_are_limited_and_the_servos_hold_or_take_over_afterwards(simulator):
    simulator.reset()
    limit = simulator.model.actuator_forcerange[:, 1]
    torque = np.zeros(simulator.joint_count)
    torque[0], torque[1] = 99.0, -0.2
    np.testing.assert_allclose(simulator.command_torque(torque)[:2], [limit[0], -0.2])
    for _ in range(3):
        simulator.step_tick()
    state = simulator.state()
    np.testing.assert_allclose(state.effort[:3], [limit[0], -0.2, 0.0], atol=1e-9)
    assert state.tick == 3 and state.time == pytest.approx(3 * TICK)
    with pytest.raises(CommandError):
        simulator.command_torque(torque[1:])
    torque[1] = np.nan
    with pytest.raises(CommandError):
        simulator.command_torque(torque)
    simulator.hold()
    here = np.clip(state.q, *simulator.model.jnt_range[[simulator.model.joint(n).id for n in simulator.joint_names]].T)
    np.testing.assert_allclose(simulator.applied_command, here)
    simulator.step_tick()
    moved = simulator.applied_command.copy()
    simulator.hold()  # its servos hold already
    np.testing.assert_array_equal(simulator.applied_command, moved)
    simulator.command_torque(np.zeros(simulator.joint_count))
    simulator.reset()
    for _ in range(20):
        simulator.step_tick()
    assert np.abs(simulator.state().effort).max() > 0.1, "after a reset the servos carry the robot"


@pytest.mark.parametrize("ending", ["hold", "command", "hold, then a command", "from outside"])
def test_servos_with_a_d_gain_take_over_after_torques_without_a_kick(ending):
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile())
    torque = np.array([0.3, -0.3])
    for _ in range(30):
        if ending == "from outside":
            for _ in range(simulator.config.steps_per_tick):
                simulator.step_torque(torque)
        else:
            simulator.command_torque(torque)
            simulator.step_tick()
    p, d = 18.5, 0.5
    for name in simulator.joint_names:
        simulator.set_gains(name, p, d=d)
    q, dq = simulator.joint_position, simulator.joint_velocity
    assert np.abs(q).min() > 0.1, "far from the command before the torques"
    if ending.startswith("hold"):
        simulator.hold()
    target = q if ending == "hold" else q + [0.02, -0.02]
    if ending != "hold":
        simulator.command(target)
    simulator.step_tick()
    np.testing.assert_allclose(simulator.step_effort[0], p * (target - q) - d * dq, atol=0.05)
    before = simulator.step_effort[-1]
    simulator.command(target + 0.01)  # from here on a command has one before it
    simulator.step_tick()
    assert (simulator.step_effort[0] - before > 0.5 * d * 0.01 / TICK).all()
    simulator.close()


@pytest.mark.parametrize("settings", [{}, {"servo_margin_deg": 0.3}, {"engine": "bullet"}])
def test_a_state_has_torques_and_speeds_of_each_physics_step_of_the_last_tick(settings):
    if "engine" in settings:
        pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    simulator = Simulator(expand("walker"), robot_profile("walker"), load_config().replace(**settings))
    before = simulator.reset()
    assert before.step_effort.shape == (5, simulator.joint_count) and not before.step_effort.any()
    for target in (0.01, 0.02):
        simulator.command(before.q + target)
        simulator.step_tick()
        state, dt = simulator.state(), simulator.config.timestep
        moved = dt * (state.step_velocity.sum(axis=0) + 0.5 * (state.dq - before.dq))
        assert state.q - before.q == pytest.approx(moved, abs=1e-6)  # q changes by the speed after each step
        assert state.step_effort[-1] == pytest.approx(state.effort, abs=1e-6)
        assert np.abs(state.step_effort[0]).sum() > np.abs(state.effort).sum(), "the servos catch up"
        assert simulator.step_effort is state.step_effort
        before = state
    for torque in (0.1, 0.2, 0.3):
        simulator.step_torque(np.full(simulator.joint_count, torque))
    assert (simulator.state().step_effort == before.step_effort).all(), "until the next tick is whole"
    for torque in (0.4, 0.5):
        simulator.step_torque(np.full(simulator.joint_count, torque))
    assert simulator.state().step_effort[:, 3] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert not simulator.reset().step_velocity.any()
    simulator.close()


def test_an_attitude_that_is_no_quaternion_is_refused_and_nothing_changes():
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile())
    simulator.step_tick()
    before = simulator.data.qpos.copy()
    for attitude in ((0.0, 0.0, 1.0), (0.0,) * 5, (0.0,) * 4, (0.0, 0.0, 0.0, math.nan), "up"):
        for place in (simulator.reset, simulator.reset_base):
            with pytest.raises(CommandError, match="attitude is .*; give a quaternion x, y, z, w"):
                place(attitude=attitude)
    assert simulator.tick_count == 1 and (simulator.data.qpos == before).all()
