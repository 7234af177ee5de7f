# SPDX-License-Identifier: MIT
"""Snakes of AX-12A modules: the driver's bytes move them, and a module that is pulled out stops them flat."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import yaml

from ax_emulator import Fault
from shellbot_motor_driver import ServoMap, ServoMapError
from shellbot_motor_driver.driving.driver_state import Condition, Phase
from shellbot_motor_driver.map.driven_robot import DrivenRobot
from snake_description import expand, joint_names, load_variables, servo_map, snake_profile
from snake_evaluation.bus_run import BusRun, bus_case
from snake_evaluation.cycles import request_cycles
from snake_evaluation.snake_run import Setup


def texts(modules=4):
    v = load_variables(modules=modules)
    return expand(v), snake_profile(v).to_text(), servo_map(v)


@pytest.mark.parametrize(("modules", "expected"), [(8, 58.0), (16, 67.5)])
def test_it_crawls_through_the_bytes_of_the_bus(modules, expected):
    case = bus_case(Setup(modules=modules), "straight", 1, 2)
    assert case.bus.forward_mm == pytest.approx(expected, rel=0.05)
    assert case.bus.forward_mm == pytest.approx(case.direct.forward_mm, rel=0.05)
    assert case.feedback_hz > 95.0 and not case.announced and not case.bus.tipped


@pytest.mark.parametrize(("gait", "most"), [("roll_fast", 10.0), ("side_fast", 5.0)])
def test_odometry_bears_joints_that_are_read_one_after_the_other(gait, most):
    """Not corrected, the readings' ages alone cost 78 and 44 %."""
    assert request_cycles(BusRun(Setup(seed=3)), gait, 1, 3).odometry_error_percent < most


def test_a_module_that_loses_its_supply_holds_the_snake():
    run = BusRun(Setup(modules=4))
    run.run(0.1)
    assert run.core.engine.request_gait("straight 1")[0]
    run.run(3.0)
    run.robot.add_faults([Fault("dead", servo=2, start=0.0, stop=60.0)])
    run.run(2.0)
    state = run.robot.driver.state()
    assert state.servos[2].condition is Condition.LOST and state.servos[2].joint == "module_03_pitch"
    assert state.ladder.phase is not Phase.FOLLOWING
    held = run.simulator.joint_position.copy()
    run.run(0.5)
    assert np.abs(np.delete(run.simulator.joint_position - held, 2)).max() < 0.05


def test_ids_count_from_the_head_and_the_map_is_data():
    urdf, profile, servos = texts()
    robot = DrivenRobot.from_texts(urdf, profile, yaml.safe_dump(servos))
    mapped = ServoMap.load(robot)
    assert mapped.servo_ids == (0, 1, 2, 3) and mapped.joint_names == joint_names(4)
    assert [entry.limb for entry in mapped.entries] == ["body"] * 4
    q = np.array([0.5, -0.5, 1.5, 0.0])
    assert np.abs(mapped.to_joints(mapped.goals(mapped.reduce(q))) - q).max() < 0.003
    assert np.all(robot.sitting == 0.0)
    turned = dict(servos["servos"], module_02_yaw={"id": 9, "zero": 500, "sign": -1})
    other = ServoMap.from_rows(robot, turned)
    assert other.servo_ids == (0, 9, 2, 3)
    assert other.goals(other.reduce(q))[1] == pytest.approx(500 + 0.5 / np.radians(300.0 / 1023.0), abs=0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"classes": {"pitch": {}}}, "joint class yaw has no servo; add it to classes"),
        ({"classes": {"pitch": {}, "yaw": {"gear": 0.0}}}, "yaw: gear is 0.0; give a number from 0.05 to 20"),
        ({"classes": None}, "no mappings 'servos' and 'classes'"),
        ({"classes": {"pitch": {}, "yaw": {"model": "mx28"}}}, "module_02_yaw: .* choose AX-12A or AX-18A"),
        ({"servos": {"module_01_pitch": {"id": 0, "zero": 511.5, "sign": 1}}}, "module_02_yaw: id, zero, sign are"),
    ],
)
def test_a_wrong_map_is_refused_in_words(change, words):
    urdf, profile, servos = texts()
    with pytest.raises(ServoMapError, match=words):
        ServoMap.load(DrivenRobot.from_texts(urdf, profile, yaml.safe_dump({**servos, **change})))


def test_a_servo_given_twice_is_refused():
    urdf, profile, servos = texts()
    with pytest.raises(ServoMapError, match="robot_servos is not valid YAML in line .*: key 'classes' is given twice"):
        DrivenRobot.from_texts(urdf, profile, yaml.safe_dump(servos) + "classes: {}\n")


def test_a_gear_between_joints_is_refused():
    urdf, profile, servos = texts()
    content = {**yaml.safe_load(profile), "couplings": [
        {"leader": "module_01_pitch", "followers": ["module_03_pitch"], "ratio": 2.0}]}  # fmt: skip
    with pytest.raises(ServoMapError, match="module_01_pitch have ratio 2 .* equal angles only"):
        DrivenRobot.from_texts(urdf, yaml.safe_dump(content, sort_keys=False), yaml.safe_dump(servos))


def test_parts_of_another_robot_are_refused():
    urdf, profile, servos = texts()
    robot = DrivenRobot.from_texts(urdf, profile, yaml.safe_dump(servos))
    longer = DrivenRobot.from_texts(*texts(5)[:2], yaml.safe_dump(servos))
    with pytest.raises(ServoMapError, match="limits are of other joints"):
        dataclasses.replace(robot, limits=longer.limits)
