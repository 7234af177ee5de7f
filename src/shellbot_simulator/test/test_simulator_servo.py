# SPDX-License-Identifier: MIT
"""The servo model on a small robot: torque limit, torque-speed line, PID terms, live gains, refusals."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tiny_robot

from shellbot_simulator.core.config import ENGINES, SimulatorConfig
from shellbot_simulator.core.errors import CommandError, ModelError
from shellbot_simulator.core.servo import PidGains, ServoBank
from shellbot_simulator.core.simulator import Simulator

STALL, DAMPING = 1.5, 0.2427  # of the tiny robot's servos: no-load speed 6.18 rad/s


@pytest.fixture(scope="module", params=ENGINES)
def shared(request) -> Simulator:
    if request.param == "bullet":
        pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    return Simulator(tiny_robot.URDF, tiny_robot.profile(), SimulatorConfig(engine=request.param))


@pytest.fixture
def simulator(shared):
    for joint in shared.joint_names:
        shared.set_gains(joint, 18.5)
    shared.data.qfrc_applied[:] = 0.0
    shared.reset()
    return shared


def test_joint_reaches_the_command_and_stays(simulator):
    simulator.command([0.7, -0.4])
    for _ in range(100):
        simulator.step_tick()
    state = simulator.state()
    assert state.q == pytest.approx([0.7, -0.4], abs=1e-4)
    assert state.dq == pytest.approx([0.0, 0.0], abs=1e-3)


@pytest.mark.parametrize("load", [0.0, 0.5, 1.0])
def test_speed_under_load_lies_on_the_torque_speed_line(simulator, load):
    simulator.reset([-1.45, 0.0])
    simulator.data.qfrc_applied[6] = -load
    simulator.command([1.45, 0.0])
    speeds, efforts = [], []
    while simulator.state().q[0] < 1.0 and simulator.time < 3.0:
        simulator.step_tick()
        speeds.append(simulator.state().dq[0])
        efforts.append(simulator.state().effort[0])
    assert max(np.abs(efforts)) == pytest.approx(STALL)  # the limit is reached and never passed
    assert speeds[-1] == pytest.approx((STALL - load) / DAMPING, rel=0.01)


def test_load_above_stall_drives_the_joint_back(simulator):
    simulator.data.qfrc_applied[6] = -1.2 * STALL
    simulator.command([1.0, 0.0])
    for _ in range(20):
        simulator.step_tick()
    assert simulator.state().q[0] < -0.01
    assert simulator.state().effort[0] == pytest.approx(STALL)


def test_gains_act_live(simulator):
    load = 0.37
    simulator.data.qfrc_applied[6] = load
    for p in (18.5, 9.25, 37.0):
        simulator.set_gains("left", p)
        for _ in range(100):
            simulator.step_tick()
        assert simulator.state().q[0] == pytest.approx(load / p, rel=1e-3)
    assert simulator.gains("left").p == 37.0


def test_zero_gain_lets_the_joint_go(simulator):
    simulator.set_gains("left", 0.0)
    simulator.command([1.0, 1.0])
    for _ in range(50):
        simulator.step_tick()
    state = simulator.state()
    assert state.effort[0] == 0.0
    assert abs(state.q[0]) < 0.1 and state.q[1] == pytest.approx(1.0, abs=1e-3)


def test_integral_removes_the_error_until_its_clamp(simulator):
    load = 0.37
    simulator.data.qfrc_applied[6] = -load
    simulator.set_gains("left", 18.5, i=50.0, i_clamp_min=-1.0, i_clamp_max=1.0)
    for _ in range(300):
        simulator.step_tick()
    assert simulator.state().q[0] == pytest.approx(0.0, abs=1e-4)
    simulator.set_gains("left", 18.5, i=50.0, i_clamp_min=-0.1, i_clamp_max=0.1)
    for _ in range(300):
        simulator.step_tick()
    # the clamped term carries 0.1 N m, the proportional one the rest
    assert simulator.state().q[0] == pytest.approx(-(load - 0.1) / 18.5, rel=1e-2)
    assert simulator.state().effort[0] == pytest.approx(load, rel=1e-3)


def test_integral_alone_moves_the_joint_at_zero_p(simulator):
    simulator.set_gains("left", 0.0, i=20.0, i_clamp_min=-0.3, i_clamp_max=0.3)
    simulator.command([1.0, 0.0])
    for _ in range(20):
        simulator.step_tick()
    assert simulator.state().effort[0] == pytest.approx(0.3)


PID = np.zeros(2), np.zeros(2)  # velocity gain and greatest speed of two servos


def test_antiwindup_unwinds_at_once():
    plain = PidGains(1.0, i=2.0, i_clamp_min=-0.5, i_clamp_max=0.5)
    bank = ServoBank([plain, PidGains(1.0, i=2.0, i_clamp_min=-0.5, i_clamp_max=0.5, antiwindup=True)], *PID)
    for _ in range(1000):
        bank.integrate(np.array([1.0, 1.0]), 0.002)
    assert bank.integral_term == pytest.approx([0.5, 0.5])
    for _ in range(200):
        bank.integrate(np.array([-1.0, -1.0]), 0.002)
    assert bank.integral_term == pytest.approx([0.5, -0.3])  # the first has 2 rad s to unwind yet


def test_derivative_damps(simulator):
    def undershoot(d: float) -> float:
        simulator.set_gains("left", 60.0, d=d)
        simulator.reset()
        simulator.data.qfrc_applied[6] = 1.0  # a knock
        simulator.step_tick()
        simulator.data.qfrc_applied[6] = 0.0
        lowest = 0.0
        for _ in range(60):
            simulator.step_tick()
            lowest = min(lowest, simulator.state().q[0])
        return -lowest

    assert undershoot(0.0) > 0.001
    assert undershoot(1.5) < 0.0001


def test_derivative_follows_the_speed_of_the_command(simulator):
    simulator.set_gains("left", 0.0, d=1.0)
    simulator.command([0.01, 0.0])  # 1 rad/s for one tick
    simulator.step_tick()
    assert simulator.state().effort[0] > 0.3
    simulator.step_tick()
    assert simulator.state().effort[0] < 0.0  # the command stands still, the joint does not


def test_command_is_clamped_to_the_limits(simulator):
    assert simulator.command([9.0, -9.0]) == pytest.approx([1.5, -1.5])


@pytest.mark.parametrize(
    ("position", "says"),
    [
        ([0.0], r"Dimension of command \(1\) does not match number of joints \(2\)! Not executing!"),
        ([0.0, np.nan], "Command for joint right is nan"),
        ([np.inf, 0.0], "joint left is inf"),
    ],
)
def test_bad_command_is_refused_and_the_old_one_stays(simulator, position, says):
    simulator.command([0.2, 0.3])
    with pytest.raises(CommandError, match=says):
        simulator.command(position)
    assert simulator.applied_command == pytest.approx([0.2, 0.3])


def test_bad_gains_are_refused_and_the_old_ones_stay(simulator):
    for bad in (-1.0, 1e9, 1e308, np.nan, np.inf, -np.inf, "stiff"):
        for name, high in (("p", "100000"), ("i", "100000"), ("d", "1000"), ("i_clamp_max", "100000")):
            with pytest.raises(CommandError, match=re.escape(f"gain {name} = {bad}; give a number from 0 to {high}")):
                simulator.set_gains("left", **{"p": 1.0, name: bad})
    with pytest.raises(CommandError, match="i_clamp_min = 1.0; give a number from -100000 to 0"):
        simulator.set_gains("left", 1.0, i_clamp_min=1.0)
    with pytest.raises(ModelError, match="unknown joint 'middle'; the joints are left, right"):
        simulator.set_gains("middle", 1.0)
    assert simulator.gains("left").p == 18.5


def test_velocity_limited_servo_turns_in_proportion_to_the_error_up_to_its_speed():
    """As the servo loop of small robots is often written: w = clip(gain error, -speed, speed), with limited torque."""
    bank = ServoBank([PidGains(14.0), PidGains(14.0)], np.array([8.0, 0.0]), np.array([4.0, 4.0]))
    command, q = np.array([2.0, 2.0]), np.array([0.0, 0.0])
    assert bank.set_point(command, q) == pytest.approx([0.5, 2.0])  # 0.5 rad is the error of 4 rad/s
    assert bank.set_point(np.array([-0.1, 0.3]), q) == pytest.approx([-0.1, 0.3])
    p, damping = bank.coefficients().T
    torque_free_speed = p * (bank.set_point(command, q) - q)[0] / damping[0]
    assert torque_free_speed[0] == pytest.approx(4.0) and damping[1] == 0.0
    assert bank.has_velocity_limit and not ServoBank([PidGains(1.0)] * 2, *PID).has_velocity_limit
