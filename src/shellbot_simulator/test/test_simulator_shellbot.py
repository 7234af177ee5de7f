# SPDX-License-Identifier: MIT
"""Shellbot in the simulator: weight, standing, fan, determinism, disturbances, pictures."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from xml.etree import ElementTree

import numpy as np
import pytest

import shellbot_description
from shellbot_simulator.core.config import load_config
from shellbot_simulator.core.errors import CommandError, ModelError, RenderError, SimulationDivergedError
from shellbot_simulator.core.simulator import Simulator

URDF = {variant: shellbot_description.expand(variant) for variant in ("simulation", "walker")}
PROFILE = {variant: shellbot_description.robot_profile(variant) for variant in URDF}
FANS = [shellbot_description.driven_joint_names("simulation").index(f"lower_{k}_fan") for k in range(1, 7)]
STAND = shellbot_description.named_pose_array("stand", "simulation")


@pytest.fixture(scope="module")
def shared():
    simulator = Simulator(URDF["simulation"], PROFILE["simulation"])
    yield simulator
    simulator.close()


@pytest.fixture
def simulator(shared):
    shared.model.geom_friction[:, 0] = 0.8
    shared.data.qfrc_applied[:] = 0.0
    for joint, kind in shared.profile.joints.items():
        shared.set_gains(joint, shared.profile.classes[kind].stiffness)
    shared.reset()
    return shared


def run(simulator: Simulator, seconds: float) -> None:
    for _ in range(int(round(seconds / 0.01))):
        simulator.step_tick()


@pytest.mark.parametrize("variant", ["simulation", "walker"])
def test_joints_mass_and_variant_are_those_of_the_description(variant):
    simulator = Simulator(URDF[variant], PROFILE[variant])
    assert simulator.joint_names == tuple(shellbot_description.driven_joint_names(variant))
    masses = ElementTree.fromstring(URDF[variant]).findall("link/inertial/mass")
    assert simulator.mass == pytest.approx(sum(float(mass.get("value")) for mass in masses), rel=1e-9)
    assert simulator.mass == pytest.approx({"simulation": 3.8, "walker": 2.96}[variant], rel=1e-6)


def test_another_robot_is_refused_by_name():
    with pytest.raises(ModelError, match="missing joints.*lower_1_fan.*undriven joints.*lower_7_fan.*same robot"):
        Simulator(URDF["simulation"].replace("lower_1_fan", "lower_7_fan"), PROFILE["simulation"])


def test_a_state_is_that_of_its_tick_whenever_it_is_read(simulator):
    states, read_at_once = [], []
    for _ in range(20):  # it settles: no tick is like another
        simulator.step_tick()
        states.append(simulator.state())
        now = simulator.state()
        read_at_once.append((*now.foot_height, *simulator._ground.evaluate(now.step_contacts).ground_force))
    read_late = [(*state.foot_height, *state.contacts.ground_force) for state in states]
    assert read_late == read_at_once and len(set(read_late)) == 20
    sent = [pickle.loads(pickle.dumps(state)) for state in states]  # to another process
    assert [(*state.foot_height, *state.contacts.ground_force) for state in sent] == read_at_once


def test_every_pose_starts_on_the_ground(simulator):
    for pose in ("spawn", "sit", "stand", "closed"):
        state = simulator.reset(shellbot_description.named_pose_array(pose, "simulation"))
        assert simulator._ground.lowest_height(simulator.data) == pytest.approx(0.0, abs=1e-12)
        assert state.time == 0.0 and not state.dq.any()
        assert state.contacts.max_penetration < 5e-4, pose  # no pose begins inside itself or the ground


def test_stand_has_the_height_of_the_description(simulator):
    assert simulator.reset(STAND).p_world_base[2] == pytest.approx(0.1623, abs=5e-4)


def test_spawn_pose_is_held_for_five_seconds(simulator):
    start = simulator.state()
    run(simulator, 1.0)
    settled = simulator.state()
    run(simulator, 4.0)
    end = simulator.state()
    assert np.abs(end.q - start.q).max() < np.radians(1.0)  # the sag of the servos under the weight
    assert np.linalg.norm(end.p_world_base - start.p_world_base) < 0.002
    assert np.abs(end.q - settled.q).max() < np.radians(0.1)  # soft friction lets loaded feet creep a little
    assert np.linalg.norm(end.p_world_base - settled.p_world_base) < 2e-4
    assert end.contacts.foot_contact.all() and end.contacts.other_links == ()


def test_ground_carries_the_weight_and_feet_do_not_sink(simulator):
    assert simulator.reset(STAND).imu.specific_force == pytest.approx([0.0, 0.0, 9.81])
    run(simulator, 2.0)
    state = simulator.state()
    weight = 3.8 * 9.81
    assert state.contacts.ground_force == pytest.approx([0.0, 0.0, weight], abs=0.01 * weight)
    assert state.contacts.foot_force[:, 2].sum() == pytest.approx(weight, rel=0.01)
    assert -1e-3 < state.foot_height.min() <= state.foot_height.max() < 1e-3
    assert state.contacts.max_penetration < 1e-3
    assert state.imu.specific_force == pytest.approx([0.0, 0.0, 9.81], abs=0.05)


def test_landing_after_a_drop_stays_above_the_ground(simulator):
    simulator.reset(STAND)
    simulator.data.qpos[2] += 0.05
    deepest = 0.0
    for _ in range(100):
        simulator.step_tick()
        deepest = max(deepest, simulator.state().contacts.max_penetration)
    assert deepest < 0.004
    assert simulator.state().contacts.max_penetration < 1e-3
    assert simulator.state().p_world_base[2] == pytest.approx(0.162, abs=0.003)


def test_fan_joints_stay_equal_under_a_load_on_one(simulator):
    simulator.reset(STAND)
    simulator.data.qpos[2] += 1.0  # in the air: only the fan motor holds the legs
    simulator.model.opt.gravity[:] = 0.0
    command = STAND.copy()
    command[FANS] = -1.0
    simulator.command(command)
    simulator.data.qfrc_applied[6 + FANS[2]] = 1.0
    spread = []
    for _ in range(150):
        simulator.step_tick()
        spread.append(np.ptp(simulator.state().q[FANS]))
    simulator.model.opt.gravity[2] = -9.81
    assert max(spread) < np.radians(1.0)
    stiffness = 6 * simulator.gains("lower_1_fan").p
    assert simulator.state().q[FANS] == pytest.approx(-1.0 + 1.0 / stiffness, abs=0.005)


def test_torque_stays_within_the_servos_limits_in_a_fast_motion(simulator):
    simulator.reset(STAND)
    low = shellbot_description.named_pose_array("sit", "simulation")
    highest = np.zeros(simulator.joint_count)
    for k in range(60):
        simulator.command(STAND if k // 15 % 2 else low)
        simulator.step_tick()
        highest = np.maximum(highest, np.abs(simulator.state().effort))
    limit = simulator.model.actuator_forcerange[:, 1]
    assert (highest <= limit + 1e-9).all()
    assert (
        highest[:24].reshape(6, 4)[:, 2:] > 0.99 * limit[:24].reshape(6, 4)[:, 2:]
    ).any()  # the limit is really touched


def trace(simulator: Simulator, ticks: int = 60) -> np.ndarray:
    rows = []
    rng = np.random.default_rng(3)
    for _ in range(ticks):
        simulator.command(STAND + 0.2 * rng.standard_normal(simulator.joint_count))
        simulator.step_tick()
        state = simulator.state()
        rows.append(
            np.concatenate(
                [state.q, state.dq, state.p_world_base, state.imu.specific_force, state.contacts.ground_force]
            )
        )
    return np.array(rows)


def test_same_seed_same_trace_after_reset_and_in_another_simulator(simulator):
    simulator.reset(STAND, seed=5)
    first = trace(simulator)
    simulator.reset(STAND, seed=5)
    assert np.array_equal(trace(simulator), first)
    other = Simulator(URDF["simulation"], PROFILE["simulation"])
    other.reset(STAND, seed=5)
    assert np.array_equal(trace(other), first)


def test_seed_changes_the_start_a_little_and_adds_noise(simulator):
    nominal = simulator.reset(STAND)
    first, second = simulator.reset(STAND, seed=1), simulator.reset(STAND, seed=2)
    assert first.q == pytest.approx(nominal.q, abs=np.radians(2.0))
    assert not np.array_equal(first.q, second.q)
    assert np.ptp(first.q[FANS]) == 0.0  # one motor: one deviation
    assert first.quat_world_base[2] != second.quat_world_base[2]
    samples = []
    for _ in range(300):
        simulator.step_tick()
        samples.append(simulator.state().imu.angular_velocity[2])
    assert np.std(samples[100:]) == pytest.approx(simulator.config.gyroscope_std, rel=0.25)


def test_energy_is_not_created(simulator):
    """A robot left to itself comes to rest: neither contacts nor servos feed energy."""
    simulator.reset(STAND)
    for joint in simulator.joint_names:
        simulator.set_gains(joint, 0.0)
    simulator.model.opt.enableflags |= 2  # mjENBL_ENERGY
    run(simulator, 0.01)
    energies = []
    for _ in range(500):
        simulator.step_tick()
        energies.append(simulator.data.energy.sum())
    assert max(np.diff(energies)) < 2e-3
    assert energies[-1] < energies[0] - 1.0  # it has sunk down
    assert np.abs(simulator.state().dq).max() < 0.2


def test_a_second_of_random_commands_raises_no_warning(simulator):
    rng = np.random.default_rng(11)
    limits = simulator.model.jnt_range[1:]
    simulator.reset(STAND)
    for k in range(100):
        if k % 10 == 0:
            simulator.command(rng.uniform(limits[:, 0], limits[:, 1]))
        simulator.step_tick()
    assert [w.number for w in simulator.data.warning] == [0] * len(simulator.data.warning)
    assert np.isfinite(simulator.state().q).all()


def test_push_moves_the_robot_and_ends(simulator):
    simulator.reset(STAND)
    run(simulator, 0.5)
    simulator.push((0.0, 40.0, 0.0), 0.2)
    run(simulator, 0.2)
    during = simulator.state()
    assert during.v_base[1] > 0.02 or during.p_world_base[1] > 0.003
    run(simulator, 1.0)
    assert not simulator.data.qfrc_applied.any()
    assert np.abs(simulator.state().v_base).max() < 0.01
    with pytest.raises(CommandError, match="unknown link 'tail'"):
        simulator.push((0, 0, 1), 0.1, link="tail")
    with pytest.raises(CommandError, match="finite"):
        simulator.push((0, np.nan, 1), 0.1)


def test_friction_decides_whether_a_push_slides_the_robot(simulator):
    moved = []
    for friction in (0.3, 1.0):
        simulator.model.geom_friction[:, 0] = friction
        simulator.reset(STAND)
        run(simulator, 0.3)
        simulator.push((22.0, 0.0, 0.0), 0.4, link="chassis")
        run(simulator, 1.0)
        moved.append(simulator.state().p_world_base[0])
    assert moved[0] > 0.05 and moved[1] < 0.02


def test_reset_world_keeps_joints_and_time(simulator):
    simulator.reset(STAND)
    simulator.push((60.0, 0.0, 0.0), 0.3)
    run(simulator, 1.0)
    before = simulator.state()
    assert before.p_world_base[0] > 0.01
    simulator.reset_base()
    after = simulator.state()
    assert after.q == pytest.approx(before.q) and after.time == before.time
    assert after.p_world_base[:2] == pytest.approx([0.0, 0.0])
    run(simulator, 0.5)
    assert simulator.state().contacts.foot_contact.all()
    simulator.reset_base((1.0, 0.0, 0.0, 0.0))
    assert simulator.state().quat_world_base == pytest.approx([1.0, 0.0, 0.0, 0.0]), "on its back"


def test_divergence_is_reported_and_reset_recovers(simulator, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    simulator.data.qvel[:] = 1e12
    with pytest.raises(SimulationDivergedError, match="reset the simulation"):
        run(simulator, 0.05)
    assert not list(tmp_path.iterdir())  # MuJoCo's own log file
    assert "unstable" in caplog.text
    simulator.reset(STAND)
    run(simulator, 0.2)
    assert simulator.state().contacts.foot_contact.all()


def test_twist_is_in_the_body_frame(simulator):
    simulator.reset(STAND, seed=1)
    simulator.data.qpos[2] += 1.0
    simulator.data.qpos[3:7] = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # x of the base along y of the world
    simulator.data.qvel[:6] = (0.0, 0.4, 0.0, 0.0, 0.0, 0.3)
    simulator.step_tick()
    state = simulator.state()
    assert state.v_base[:2] == pytest.approx([0.4, 0.0], abs=0.01)
    assert state.w_base[2] == pytest.approx(0.3, abs=0.01)


def test_picture_shows_the_robot_before_the_floor(simulator):
    simulator.reset(STAND)
    try:
        picture = simulator.render(320, 240)
    except RenderError as error:
        pytest.skip(f"no OpenGL on this machine: {error}")
    assert picture.shape == (240, 320, 3) and picture.dtype == np.uint8
    assert picture.std() > 10.0
    colours = picture[60:200, 60:260].reshape(-1, 3).astype(int)
    saturated = (colours.max(axis=1) - colours.min(axis=1)) > 80  # the floor and the sky are grey and pale blue
    assert saturated.mean() > 0.02
    simulator.reset(shellbot_description.named_pose_array("closed", "simulation"))
    changed = np.abs(simulator.render(320, 240).astype(int) - picture).max(axis=2) > 40
    assert changed.mean() > 0.02  # the picture is of the present pose
    with pytest.raises(RenderError, match="16 .. 2048"):
        simulator.render(5, 5)


def test_rendering_survives_the_end_of_its_process(simulator):
    try:
        simulator.render(64, 48)
    except RenderError as error:
        pytest.skip(f"no OpenGL on this machine: {error}")
    simulator._renderer._process.kill()
    simulator._renderer._process.wait()
    with pytest.raises(RenderError, match="the next picture starts it again"):
        simulator.render(64, 48)
    assert simulator.render(64, 48).std() > 5.0


@pytest.mark.timeout(300)
def test_closing_does_not_wait_for_a_picture_that_never_comes(simulator):
    try:
        simulator.render(64, 48)
    except RenderError as error:
        pytest.skip(f"no OpenGL on this machine: {error}")
    renderer = simulator._renderer
    os.kill(renderer._process.pid, signal.SIGSTOP)  # as an OpenGL library that hangs
    said = []

    def ask():
        try:
            simulator.render(64, 48)
        except RenderError as error:
            said.append(str(error))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(0.3)
    renderer.close()
    thread.join(10.0)
    assert len(said) == 1 and "ended unexpectedly" in said[0]


def test_without_opengl_the_error_names_the_packages(simulator, monkeypatch):
    from shellbot_simulator.core import render_process

    monkeypatch.setattr(render_process, "BACKENDS", ("none",))
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    renderer = render_process.RenderProcess(simulator.model)
    with pytest.raises(RenderError, match="none: .*Install libegl1"):
        renderer.render(simulator.data.qpos, 64, 48)


@pytest.mark.parametrize("azimuth", [0.0, 130.0])
def test_on_a_slope_the_imu_knows_gravity_and_not_the_floor(azimuth):
    config = load_config().replace(slope_deg=5.0, slope_azimuth_deg=azimuth, mass_scale=1.1)
    sloping = Simulator(URDF["simulation"], PROFILE["simulation"], config)
    level = Simulator(URDF["simulation"], PROFILE["simulation"])
    assert sloping.mass == pytest.approx(1.1 * level.mass)
    for _ in range(50):
        sloping.step_tick()
    state = sloping.state()
    x, y, z, w = state.imu.orientation
    up_in_body = np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])
    direction = np.radians(azimuth)
    expected = [np.sin(np.radians(5.0)) * np.cos(direction), np.sin(np.radians(5.0)) * np.sin(direction)]
    assert up_in_body[:2] == pytest.approx(expected, abs=0.01)
    force = state.imu.specific_force
    assert force[:2] / np.linalg.norm(force) == pytest.approx(expected, abs=0.02)
    assert state.contacts.ground_force @ np.array(config.up) == pytest.approx(9.81 * sloping.mass, rel=0.02)
    assert (state.contacts.ground_force[:2] * expected).sum() > 0.0  # friction holds it against the hill


def test_a_ball_on_a_slippery_floor_rolls_and_stays_on_it(simulator):
    """With a sparse Jacobian MuJoCo 4.0.0 throws it up by half a metre."""
    simulator.model.geom_friction[:, 0] = 0.3
    for force in ((15.0, 0.0, 0.0), (-15.0, 0.0, 0.0)):
        simulator.reset(shellbot_description.named_pose_array("closed", "simulation"))
        simulator.push(force, 0.4)
        for _ in range(300):
            simulator.step_tick()
            assert 0.13 < simulator.data.qpos[2] < 0.165
        assert np.linalg.norm(simulator.data.qpos[:2]) > 0.5
