# SPDX-License-Identifier: MIT
"""Load cells, range sensors and bumpers of any robot that declares them: they read what the physics has."""

from __future__ import annotations

import copy
import math

import mujoco
import numpy as np
import pytest
import tiny_robot

from shellbot_common import ProfileError
from shellbot_simulator.core.config import SimulatorConfig
from shellbot_simulator.core.errors import ModelError
from shellbot_simulator.core.range_cone import cone
from shellbot_simulator.core.simulator import Simulator

CELLS = {"a": (0.10, 0.08, -0.05), "b": (0.12, -0.08, -0.05), "c": (-0.10, 0.06, -0.05), "d": (-0.11, -0.09, -0.05)}
SONAR = {"kind": "ultrasound", "field_of_view_deg": 60, "limits": [0.2, 2.5], "rate": 10, "echo_angle_deg": 50}


def frame(name, xyz, parent="chassis", yaw=0.0):
    return (
        f'<link name="{name}"/><joint name="{name}_fixed" type="fixed"><parent link="{parent}"/><child link="{name}"/>'
        f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="0 0 {yaw}"/></joint>'
    )


URDF = tiny_robot.URDF.replace(
    "</robot>",
    "".join(frame(*cell) for cell in CELLS.items()) + frame("eye", (0.15, 0.0, 0.25)) + "</robot>",
)


def contacts(**cells):
    given = {"frames": list(CELLS), "limit": 1e5, **cells}
    return {"chassis": {"kind": "plate", "radius": 1.0, "load_cells": given}}


def robot(config=None, sonar=None, **cells):
    profile = tiny_robot.profile(contacts=contacts(**cells), range_sensors={"eye": {**SONAR, **(sonar or {})}})
    return Simulator(URDF, profile, SimulatorConfig(**(config or {})))


def settle(simulator, force=(0.0, 0.0, 0.0), at=(0.0, 0.0, 0.0), ticks=100):
    """Return forces, wrench of the contact and mean of the cells under a load."""
    simulator.reset()
    simulator.push(force, 100.0, "chassis", at)
    for _ in range(ticks):
        simulator.step_tick()
    return simulator.load_cells()["chassis"], simulator.state().contacts.foot_wrench[0]


def test_forces_add_up_to_the_normal_force_and_their_centre_is_that_of_pressure():
    simulator = robot()
    places = simulator.load_cell_places["chassis"]
    assert places == pytest.approx(np.array(list(CELLS.values())))
    seen = []
    for force, at in (
        ((0, 0, 0), (0, 0, 0)),
        ((20, -30, -100), (0.07, 0.03, 0.0)),
        ((0, 0, -400), (0.11, -0.07, 0.0)),  # a pure least square would let the opposite cell pull
        ((-40, 20, -300), (-0.1, 0.05, 0.0)),
    ):
        forces, wrench = settle(simulator, force, at)
        arm = np.cross([0.0, 0.0, -0.05], wrench[:3])  # pressure acts in the plane of the cells
        pressure = np.array([-(wrench[4] - arm[1]), wrench[3] - arm[0]]) / wrench[2]
        assert forces.sum() == pytest.approx(wrench[2], rel=1e-6)
        assert forces @ places[:, :2] / forces.sum() == pytest.approx(pressure, abs=1e-6)
        assert forces.min() >= 0.0
        seen.append(pressure)
    assert np.ptp(seen, axis=0).min() > 0.05, "the load was in different places"
    assert settle(simulator, (0, 0, -400), (0.11, -0.07, 0))[0].min() == 0.0


def test_beyond_the_cells_the_outermost_ones_carry_everything():
    simulator = robot()
    forces, wrench = settle(simulator, (0, 0, -2000), (0.145, 0.0, 0.0), ticks=5)
    assert -wrench[4] / wrench[2] > 0.12
    assert forces.sum() == pytest.approx(wrench[2])
    assert forces[2:] == pytest.approx(0.0, abs=1.0) and forces[:2].min() > 0.0


def test_in_the_air_they_read_nothing():
    simulator = robot()
    simulator.data.qpos[2] += 0.5
    simulator.step_tick()
    assert (simulator.load_cells()["chassis"] == 0.0).all()


def test_readings_have_steps_a_limit_and_noise_of_the_seed_that_no_reading_changes():
    simulator = robot(limit=50.0, resolution=0.5)
    exact = settle(robot())[0]
    assert exact.max() > 50.0 > exact.min()
    forces = settle(simulator)[0]
    assert forces == pytest.approx(np.clip(np.round(exact / 0.5) * 0.5, 0.0, 50.0))
    first, second = robot({"load_cell_std": 2.0}), robot({"load_cell_std": 2.0})
    first.reset(seed=3)
    second.reset(seed=3)
    noisy, clean = [], []
    for _ in range(200):
        for simulator in (first, second):
            simulator.step_tick()
        noisy.append(first.load_cells()["chassis"])
        clean.append(first.state().contacts.foot_wrench[0, 2])
    assert (second.load_cells()["chassis"] == noisy[-1]).all(), "read once or two hundred times"
    assert (copy.deepcopy(second).load_cells()["chassis"] == noisy[-1]).all()
    error = np.sum(noisy, axis=1) - clean
    assert error.std() == pytest.approx(2.0 * math.sqrt(4), rel=0.15) and abs(error.mean()) < 1.0
    second.reset(seed=4)
    for _ in range(200):
        second.step_tick()
    assert not (second.load_cells()["chassis"] == noisy[-1]).any()


def test_with_bullet_they_feel_and_hear_the_same():
    pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    simulator = robot({"engine": "bullet", "boxes": [wall(1.0)]})
    forces, _ = settle(simulator)
    assert forces.sum() == pytest.approx(9.81 * simulator.mass, rel=0.02)
    assert simulator.range("eye") == pytest.approx(1.0, rel=3e-3)


def wall(distance, width=4.0, height=1.0):
    """A box whose near face is so far ahead of the eye."""
    return (0.15 + distance + 0.1, 0.0, 0.2, width, height)


def test_a_wall_is_as_far_as_its_nearest_point_in_the_cone():
    for distance in (0.3, 1.0, 2.4):
        assert robot({"boxes": [wall(distance)]}).range("eye") == pytest.approx(distance, rel=3e-3)
    assert robot({"boxes": [wall(2.6)]}).range("eye") == math.inf, "beyond its range"
    assert robot({"boxes": [wall(0.1)]}).range("eye") == -math.inf, "nearer than it can measure (REP 117)"
    assert robot({"boxes": [(0.65, 1.0, 0.2, 0.5, 1.0)]}).range("eye") == math.inf, "aside of the cone"
    assert robot({"boxes": [wall(1.0, height=0.05)]}).range("eye") == pytest.approx(1.0, abs=0.1), "its top and front"


def test_the_floor_is_seen_unless_it_turns_the_sound_away():
    height = 0.05 + 0.25
    scattering = robot(sonar={"echo_angle_deg": 90}).range("eye")
    assert scattering == pytest.approx(height / math.sin(math.radians(30)), rel=0.05), "at the rim of the cone"
    smooth = robot()
    assert smooth.range("eye") == math.inf
    pitch = math.radians(45)  # nose down
    smooth.reset(attitude=(0.0, math.sin(pitch / 2), 0.0, math.cos(pitch / 2)))
    eye = smooth.data.body("eye").xpos[2]
    assert smooth.range("eye") == pytest.approx(eye / math.sin(math.radians(75)), rel=0.03)


def test_the_robot_does_not_see_itself_and_a_turned_one_looks_elsewhere():
    simulator = robot({"boxes": [wall(1.0)]})
    simulator.reset(attitude=(0.0, 0.0, 1.0, 0.0))
    assert simulator.range("eye") == math.inf
    inside = frame("inner", (0.0, 0.0, 0.0))
    urdf = tiny_robot.URDF.replace("</robot>", inside + "</robot>")
    simulator = Simulator(urdf, tiny_robot.profile(range_sensors={"inner": SONAR}), SimulatorConfig(boxes=[wall(1.0)]))
    assert simulator.range("inner") == pytest.approx(1.15, rel=3e-3), "through its own box"


def test_ranges_have_steps_and_noise_of_the_seed():
    world = {"boxes": [wall(1.0)], "range_std": 0.02, "yaw_noise_deg": 0.0}
    simulator = robot(world)
    simulator.reset(seed=1)
    values = []
    for _ in range(100):
        simulator.step_tick()
        values.append(simulator.range("eye"))
        assert simulator.range("eye") == values[-1]
    assert np.std(values) == pytest.approx(0.02, rel=0.3)
    coarse = robot(world, {"resolution": 0.1})
    coarse.reset(seed=1)
    assert coarse.range("eye") in (pytest.approx(1.0), pytest.approx(0.9), pytest.approx(1.1))


def test_distances_are_those_of_mujocos_rays():
    rng, scene, found = np.random.default_rng(2), np.array([1, 0, 0, 0, 0, 0], np.uint8), 0
    for case in range(20):
        boxes = [(*rng.uniform(-2, 2, 2), *rng.uniform(0.05, 0.5, 3)) for _ in range(12)]
        simulator = robot({"boxes": boxes}, {"echo_angle_deg": 90, "limits": [0.0, 2.0]})
        attitude = rng.standard_normal(4) * [0.3, 0.3, 1.0, 1.0]
        simulator.reset(attitude=attitude)
        eye = simulator.data.body("eye")
        rays = cone(math.radians(60), 120) @ eye.xmat.reshape(3, 3).T
        geom = np.zeros(1, np.int32)
        hits = [mujoco.mj_ray(simulator.model, simulator.data, eye.xpos, ray, scene, 1, -1, geom) for ray in rays]
        nearest = min((hit for hit in hits if 0.0 <= hit <= 2.0), default=math.inf)
        assert simulator.range("eye") == pytest.approx(nearest, abs=1e-9), (case, boxes, attitude)
        found += nearest < math.inf
    assert found > 12


def test_rays_are_even_over_the_cone():
    rays = cone(math.radians(60), 120)
    assert np.linalg.norm(rays, axis=1) == pytest.approx(1.0)
    assert np.degrees(np.arccos(rays[[0, -1], 0])) == pytest.approx([0.0, 30.0], abs=1e-5)
    rng = np.random.default_rng(0)
    anywhere = cone(math.radians(60), 5000)[rng.permutation(5000)[:1000]]
    nearest = np.degrees(np.arccos(np.max(anywhere @ rays.T, axis=1)))
    assert nearest.max() < 4.5 and np.median(nearest) < 2.1


def bumped(engine="mujoco", push=(300.0, 0.0, 0.0), box=(0.27, 0.0, 0.2, 1.0, 1.0), **changes):
    """Return whether the switch at the front of the chassis is pressed, 20 mm from a box."""
    urdf = tiny_robot.URDF.replace("</robot>", frame("nose", (0.15, 0.0, 0.0)) + "</robot>")
    profile = tiny_robot.profile(bumpers={"nose": {"radius": 0.2, "force": 5.0, **changes}})
    simulator = Simulator(urdf, profile, SimulatorConfig(engine=engine, boxes=[box]))
    simulator.push(push, 100.0, "chassis")
    for _ in range(100):
        simulator.step_tick()
    return simulator.bumper("nose")


def test_a_bumper_is_pressed_by_what_is_ahead_of_it_and_by_nothing_else():
    assert bumped()
    assert not bumped(push=(0.0, 0.0, 0.0)), "beside the box"
    assert not bumped(push=(-300.0, 0.0, 0.0), box=(-0.27, 0.0, 0.2, 1.0, 1.0)), "by its back"
    assert not bumped(push=(50.0, -300.0, 0.0), box=(0.1, -0.27, 1.0, 0.2, 1.0)), "by its side, and friction ahead"
    assert not bumped(push=(50.0, 0.0, -300.0)), "by the floor"
    assert not bumped(force=5000.0), "softer than its spring"
    assert not bumped(radius=0.01), "farther from it than its radius, as flat faces touch at their corners"


def test_with_bullet_a_bumper_is_pressed_as_well():
    pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    assert bumped("bullet") and not bumped("bullet", (0.0, 0.0, 0.0))


def test_a_robot_without_them_has_none():
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile())
    assert simulator.load_cells() == {} == simulator.load_cell_places and not simulator.profile.range_sensors


def test_what_does_not_fit_is_refused_in_words():
    with pytest.raises(ModelError, match="contacts.chassis.load_cells.frames names 'z'"):
        robot(frames=["a", "z"])
    with pytest.raises(ModelError, match="'left_tip' moves against chassis"):
        robot(frames=["a", "left_tip"])
    with pytest.raises(ModelError, match="range_sensors names 'ear'"):
        Simulator(URDF, tiny_robot.profile(range_sensors={"ear": SONAR}))
    with pytest.raises(ModelError, match="bumpers names 'ear'"):
        Simulator(URDF, tiny_robot.profile(bumpers={"ear": {"radius": 0.1}}))
    with pytest.raises(ProfileError, match="contacts.chassis.load_cells.frames is empty"):
        tiny_robot.profile(contacts=contacts(frames=[]))
    with pytest.raises(ProfileError, match=r"range_sensors.eye.rate is 0; give a number from 0.01 to 100 Hz"):
        tiny_robot.profile(range_sensors={"eye": {**SONAR, "rate": 0}})
    with pytest.raises(ProfileError, match="limits is .*must not be the greater one"):
        tiny_robot.profile(range_sensors={"eye": {**SONAR, "limits": [2.0, 1.0]}})


def test_messages_carry_places_forces_and_cone():
    rospy = pytest.importorskip("rospy")
    convert = pytest.importorskip("shellbot_simulator.node.sensor_conversions")
    simulator, stamp = robot({"boxes": [wall(1.0)]}), rospy.Time(1)
    simulator.step_tick()
    forces, places = simulator.load_cells()["chassis"], simulator.load_cell_places["chassis"]
    cloud = convert.load_cells_message(forces, places, stamp, "chassis")
    assert [(p.x, p.y, p.z) for p in cloud.points] == [pytest.approx(place) for place in CELLS.values()]
    assert (cloud.channels[0].name, cloud.channels[0].values) == ("force", forces.tolist())
    sensor = simulator.profile.range_sensors["eye"]
    message = convert.range_message(math.inf, sensor, stamp, "eye")
    assert (message.radiation_type, message.range, message.max_range) == (message.ULTRASOUND, math.inf, 2.5)
    assert message.field_of_view == pytest.approx(math.radians(60)) and message.header.frame_id == "eye"
