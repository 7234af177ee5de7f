# SPDX-License-Identifier: MIT
"""The simulated inertial unit: biases from the seed, latency in ticks, and one without orientation."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import tiny_robot

from shellbot_common.rotations import rpy_from_quaternion
from shellbot_simulator.core.config import SimulatorConfig
from shellbot_simulator.core.simulator import Simulator


def samples(seed=None, ticks=60, **settings):
    """Return the samples of a robot that is pushed while it stands, one a tick."""
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(), SimulatorConfig(**settings))
    simulator.reset(seed=seed)
    simulator.push((300.0, 0.0, 0.0), 0.2, at=(0.0, 0.1, 0.05))
    found = [simulator.state().imu]
    for _ in range(ticks):
        simulator.step_tick()
        found.append(simulator.state().imu)
    return found


def rates(found):
    return np.array([sample.angular_velocity for sample in found])


def forces(found):
    return np.array([sample.specific_force for sample in found])


def test_biases_are_constant_of_the_seed_and_leave_the_noise_as_it_is():
    biased = {"gyroscope_bias_std": 0.02, "accelerometer_bias_std": 0.3}
    plain, first = samples(seed=3), samples(seed=3, **biased)
    for read, std in ((rates, 0.02), (forces, 0.3)):
        bias = read(first) - read(plain)
        assert bias == pytest.approx(np.broadcast_to(bias[0], bias.shape), abs=1e-12)
        assert np.abs(bias[0]).min() > 0.0 and np.abs(bias[0]).max() < 4.0 * std
        assert (read(samples(seed=3, **biased)) == read(first)).all()
        assert not np.allclose(read(samples(seed=4, **biased))[0], read(first)[0])
    assert (rates(samples(**biased)) == rates(samples())).all(), "without a seed there is none"
    rng = np.random.default_rng(3)
    rng.standard_normal(1 + 2)  # of the start: heading and joints
    assert rates(plain)[0] == pytest.approx(0.003 * rng.standard_normal((3, 3))[1], abs=1e-12)


@pytest.mark.parametrize("latency", [1, 3])
def test_a_late_sample_is_that_of_as_many_ticks_before(latency):
    now, late = samples(seed=5), samples(seed=5, imu_latency=latency)
    assert np.abs(np.diff(rates(now)[:, 2])).max() > 0.01, "it moves"
    for read in (rates, forces, lambda found: np.array([sample.orientation for sample in found])):
        assert (read(late)[latency:] == read(now)[:-latency]).all()
        assert (read(late)[:latency] == read(now)[0]).all(), "until then, the first one"


@pytest.mark.parametrize("settings", [{}, {"imu_latency": 2}, {"imu_orientation": False}, {"slope_deg": 10.0}])
def test_parts_of_a_state_can_be_read_alone(settings):
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(), SimulatorConfig(**settings))
    simulator.reset(seed=5)
    simulator.push((300.0, 0.0, 0.0), 0.2, at=(0.0, 0.1, 0.05))
    for _ in range(8):
        simulator.step_tick()
        state = simulator.state()
        for part, whole in (
            (simulator.imu_orientation, state.imu.orientation),
            (simulator.joint_effort, state.effort),
            (simulator.joint_velocity, state.dq),
        ):
            assert (part is None) == (whole is None)
            assert part is None or (part == whole).all()
    held = simulator.joint_effort
    before = held.copy()
    simulator.command(np.full(simulator.joint_count, 0.3))
    simulator.step_tick()
    assert (held == before).all() and not (simulator.joint_effort == before).all(), "a copy, of that tick"


def test_a_reset_forgets_the_samples_before_it():
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(), SimulatorConfig(imu_latency=3))
    simulator.push((300.0, 0.0, 0.0), 0.2)
    for _ in range(10):
        simulator.step_tick()
    assert np.abs(simulator.state().imu.specific_force[0]) > 0.1
    assert simulator.reset().imu.specific_force == pytest.approx([0.0, 0.0, 9.81])


def test_torque_driven_it_is_as_late():
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(), SimulatorConfig(imu_latency=2))
    simulator.push((300.0, 0.0, 0.0), 0.2, at=(0.0, 0.1, 0.05))
    truth, late = [], []
    for _ in range(20):
        for _ in range(simulator.config.steps_per_tick):
            simulator.step_torque(np.zeros(2))
        truth.append(simulator.state().w_base)
        late.append(simulator.state().imu.angular_velocity)
    assert np.array(late)[2:] == pytest.approx(np.array(truth)[:-2], abs=1e-9)
    assert np.ptp(np.array(truth)[:, 2]) > 0.01


@pytest.mark.parametrize("through", ["servos", "torque"])
def test_no_impact_falls_between_samples(through):
    """What the accelerometer measures adds up to the change of speed: a real one averages over its sample time."""
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(), SimulatorConfig())
    simulator.data.qpos[2] += 0.05
    gained = fastest = 0.0
    for _ in range(60):
        if through == "servos":
            simulator.step_tick()
        else:
            for _ in range(simulator.config.steps_per_tick):
                simulator.step_torque(np.zeros(2))
        state = simulator.state()
        gained += 0.01 * (state.imu.specific_force[2] - 9.81)
        assert gained == pytest.approx(state.v_base[2], abs=0.02)
        fastest = min(fastest, gained)
    assert fastest < -0.9 and abs(gained) < 0.01, "it fell, and lies"


def test_the_rates_of_a_unit_without_orientation_add_up_to_its_turn():
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(), SimulatorConfig(imu_orientation=False))
    simulator.data.qpos[2] += 0.05
    simulator.push((300.0, 0.0, 0.0), 0.01, at=(0.0, 0.1, 0.05))  # shorter than a sample
    turned = simulator.data.xquat[1].copy()
    for _ in range(60):
        simulator.step_tick()
        mujoco.mju_quatIntegrate(turned, simulator.state().imu.angular_velocity, 0.01)
        assert turned == pytest.approx(simulator.data.xquat[1], abs=1e-9)
    assert turned[0] < np.cos(0.01)


def test_a_unit_without_a_yaw_axis_has_roll_and_pitch_only():
    samples = []
    for has in (True, False):
        simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(), SimulatorConfig(imu_yaw=has))
        simulator.data.qpos[3:7] = np.cos(0.2), 0.0, 0.0, np.sin(0.2)
        simulator.push((30.0, 5.0, 0.0), 0.4, at=(0.0, 0.1, 0.05))
        for _ in range(30):
            simulator.step_tick()
        imu = simulator.state().imu
        samples.append((rpy_from_quaternion(*imu.orientation), imu.angular_velocity))
    (whole, rates), (part, rates_part) = samples
    assert abs(whole[2]) > 0.05 and part == pytest.approx((*whole[:2], 0.0), abs=1e-9)
    assert abs(rates[2]) > 1e-6 and rates_part == pytest.approx([*rates[:2], 0.0])


def test_without_orientation_the_message_says_so_as_rep_145_wants_it():
    rospy = pytest.importorskip("rospy")
    convert = pytest.importorskip("shellbot_simulator.node.sensor_conversions")
    for has in (True, False):
        config = SimulatorConfig(imu_orientation=has)
        state = Simulator(tiny_robot.URDF, tiny_robot.profile(), config).reset()
        assert (state.imu.orientation is not None) == has
        message = convert.imu_message(state, rospy.Time(1), convert.ImuCovariance(config), "imu_link")
        assert (message.orientation_covariance[0] == -1.0) == (not has)
        assert (message.orientation.w == 1.0) == has
        assert message.linear_acceleration.z == pytest.approx(9.81)
        assert message.angular_velocity_covariance[0] == pytest.approx(config.gyroscope_std**2)
