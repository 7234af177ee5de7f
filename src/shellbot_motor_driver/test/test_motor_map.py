# SPDX-License-Identifier: MIT
"""Joints to servos: the counts, the gear, the signs, and refusals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import yaml

from ax_bus import AX_12A, AX_18A
from ax_bus.registers import RAD_PER_STEP, model_of
from ax_emulator.motor import effective_slope, motor_parameters
from shellbot_common import package_file, read_yaml
from shellbot_control import GainTable, JointLimits
from shellbot_description import (
    VARIANTS,
    driven_joint_names,
    expand,
    joint_class,
    load_variables,
    motor_joint_names,
    robot_profile,
)
from shellbot_motor_driver import ServoMap, ServoMapError
from shellbot_motor_driver.emulated_servos import shellbot_servos
from shellbot_motor_driver.map.driven_robot import ClassServo
from shellbot_motor_driver.map.shellbot import config_file, shellbot

COUNTS = {"walker": (24, 19), "full": (36, 31)}


@pytest.fixture
def rows():
    return yaml.safe_load(config_file().read_text(encoding="utf-8"))["servos"]


@pytest.mark.parametrize("variant", COUNTS)
def test_ids_count_fan_then_legs_then_upper_legs(variant):
    servos = ServoMap.load(variant)
    assert (len(servos.joint_names), len(servos.servo_ids)) == COUNTS[variant]
    by_joint = {entry.joint: entry.servo_id for entry in servos.entries}
    assert by_joint["lower_1_fan"] == 0
    assert [by_joint[f"lower_3_{n}"] for n in ("coxa", "femur", "tibia")] == [7, 8, 9]
    if variant == "full":
        assert (by_joint["upper_1_shoulder"], by_joint["upper_6_shell"]) == (19, 30)


def test_models_are_the_descriptions():
    servos = ServoMap.load("full")
    variables = load_variables()
    for entry in servos.entries:
        assert entry.model is model_of(variables.limits(entry.joint.rsplit("_", 1)[1]).servo)
    assert {e.model.name for e in servos.entries if e.joint.endswith(("femur", "tibia"))} == {"AX-18A"}


def test_a_servo_with_other_steps_than_an_ax_is_refused():
    robot = shellbot("walker")
    other = replace(robot, servos={**robot.servos, "femur": ClassServo("mx28")})
    with pytest.raises(ServoMapError, match=r"lower_1_femur: .* MX-28 does not have; choose AX-12A or AX-18A"):
        ServoMap.load(other)


@pytest.mark.parametrize("variant", COUNTS)
def test_every_angle_within_the_limits_comes_back(variant):
    """Joints of the URDF, over their whole range: back within half a step, and never cut by the servo's range."""
    servos = ServoMap.load(variant)
    limits = JointLimits.from_urdf(expand(variant), servos.joint_names)
    rng = np.random.default_rng(1)
    for share in [np.zeros(len(limits)), np.ones(len(limits)), *rng.random((50, len(limits)))]:
        q = limits.lower + share * (limits.upper - limits.lower)
        fans = [i for i, name in enumerate(servos.joint_names) if name.endswith("fan")]
        q[fans] = q[fans[0]]
        back = servos.to_joints(servos.goals(servos.reduce(q)))
        assert np.abs(back - q).max() <= 0.5 * RAD_PER_STEP + 1e-9
        assert np.abs((back - q)[fans]).max() <= 0.25 * RAD_PER_STEP + 1e-9  # gear 2: twice as fine


def test_the_fan_servo_turns_gear_times_its_joints():
    servos = ServoMap.load("walker")
    gear = load_variables().fan_drive.reduction
    closed = np.zeros(24)
    closed[[i for i, n in enumerate(servos.joint_names) if n.endswith("fan")]] = -1.0
    moved = servos.goals(servos.reduce(np.zeros(24)))[0] - servos.goals(servos.reduce(closed))[0]
    assert moved * RAD_PER_STEP == pytest.approx(gear, abs=RAD_PER_STEP)
    # all six joints show it, each with a sixth of the geared torque
    assert np.ptp(servos.to_joints(servos.goals(servos.reduce(closed)))[[0, 4, 8, 12, 16, 20]]) == 0.0
    full_load = np.full(19, 1023)
    effort = servos.to_efforts(full_load)
    assert effort[0] == pytest.approx(1.5 * gear / 6) and effort[2] == pytest.approx(1.8)


def test_sign_turns_position_speed_and_torque(rows):
    plain = ServoMap.from_rows("walker", rows)
    rows["lower_2_femur"]["sign"] = -1
    turned = ServoMap.from_rows("walker", rows)
    i, j = plain.motor_names.index("lower_2_femur"), plain.joint_names.index("lower_2_femur")
    q = np.zeros(24)
    q[j] = 0.5
    assert plain.goals(plain.reduce(q))[i] > 512 > turned.goals(turned.reduce(q))[i]
    assert turned.to_joints(turned.goals(turned.reduce(q)))[j] == pytest.approx(0.5, abs=RAD_PER_STEP)
    numbers = np.zeros(19, dtype=int)
    numbers[i] = 100
    assert plain.to_velocities(numbers)[j] > 0 > turned.to_velocities(numbers)[j]
    assert plain.to_efforts(numbers)[j] == pytest.approx(-turned.to_efforts(numbers)[j])
    numbers[i] |= 1024  # clockwise
    assert plain.to_velocities(numbers)[j] < 0


def test_targets_beyond_the_limits_stop_at_them():
    servos = ServoMap.load("walker")
    steps = servos.goals(servos.reduce(np.full(24, 9.0)))
    for entry, step in zip(servos.entries, steps):
        low, high = servos.limits_steps()[entry.servo_id]
        assert low <= step <= high


def test_speed_is_never_the_zero_that_means_unlimited():
    servos = ServoMap.load("walker")
    assert servos.to_speeds(np.zeros(19)).min() == 1
    assert servos.to_speeds(np.full(19, 99.0)).max() == 1023
    assert servos.to_speeds(np.full(19, 1.0))[0] == 2 * servos.to_speeds(np.full(19, 1.0))[1]  # the fan's gear


def test_the_order_is_the_descriptions():
    for variant in COUNTS:
        servos = ServoMap.load(variant)
        assert servos.joint_names == driven_joint_names(variant) and servos.motor_names == motor_joint_names(variant)
    assert "simulation" in VARIANTS
    with pytest.raises(ServoMapError, match="walker or full"):
        ServoMap.load("simulation")


@pytest.mark.parametrize(
    "joint,change,words",
    [
        ("lower_1_coxa", {"id": 0}, "id 0 is given twice"),
        ("lower_1_coxa", {"id": 253}, "0 to 252"),
        ("lower_1_coxa", {"id": True}, "whole number"),
        ("lower_1_coxa", {"sign": 0}, "1 or -1"),
        ("lower_1_coxa", {"zero": "middle"}, "0 to 1023"),
        ("lower_1_coxa", {"zero": math.nan}, "0 to 1023"),
        ("lower_1_femur", {"zero": 400.0}, "narrow the range"),
        ("lower_1_fan", {"sign": -1}, "narrow the range"),
        ("lower_1_fan", {"offset": 3}, "offset does not exist; there are id, zero, sign"),
    ],
)
def test_wrong_rows_are_refused_in_words(rows, joint, change, words):
    rows[joint] = {**rows[joint], **change}
    with pytest.raises(ServoMapError, match=words):
        ServoMap.from_rows("walker", rows)


def test_missing_and_unknown_joints_are_refused(rows, tmp_path):
    with pytest.raises(ServoMapError, match="lower_9_coxa"):
        ServoMap.from_rows("walker", {**rows, "lower_9_coxa": rows["lower_1_coxa"]})
    del rows["lower_4_tibia"]
    with pytest.raises(ServoMapError, match="lower_4_tibia"):
        ServoMap.from_rows("walker", rows)
    with pytest.raises(ServoMapError, match="cannot read .*no.yaml"):
        ServoMap.load("walker", tmp_path / "no.yaml")
    (tmp_path / "bad.yaml").write_text("servos: 1\n", encoding="utf-8")
    with pytest.raises(ServoMapError, match="no mapping 'servos'"):
        ServoMap.load("walker", tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    "targets,words",
    [
        (np.zeros(19), "24 in the order"),
        (np.full(24, np.nan), "not finite"),
        (np.r_[0.01, np.zeros(23)], "fan targets differ"),
    ],
)
def test_wrong_targets_are_refused_in_words(targets, words):
    with pytest.raises(ServoMapError, match=words):
        ServoMap.load("walker").goals(ServoMap.load("walker").reduce(targets))


def test_the_datasheet_stands_in_the_description_as_on_the_bus():
    variables = load_variables()
    for name, servo in variables.servos.items():
        model = model_of(name)
        assert (model.stall_torque, model.no_load_speed) == pytest.approx((servo.stall_torque, servo.no_load_speed))
        assert motor_parameters(model).inertia == pytest.approx(variables.servo_armature)
    # the description's rounded 0.29 degrees is a step of the registers
    assert math.degrees(RAD_PER_STEP) == pytest.approx(math.degrees(variables.servo_resolution), abs=0.004)


def test_shellbots_chain_has_the_models_and_the_stiffness_of_the_simulators():
    servos = {servo.servo_id: servo for servo in shellbot_servos("full")}
    assert len(servos) == 31 and servos[0].table.model is AX_12A and servos[2].table.model is AX_18A
    gains = GainTable.from_controllers(load_controllers_of("full"), robot_profile("full"))
    for servo_id, joint in ((1, "lower_1_coxa"), (2, "lower_1_femur")):
        servo = servos[servo_id]
        slope = effective_slope(servo.table["cw_compliance_slope"]) * RAD_PER_STEP
        stiffness = servo.motor.parameters.stall_torque / slope
        assert stiffness == pytest.approx(gains.class_gains(joint_class(joint)).p, rel=0.02)


def load_controllers_of(variant):
    return read_yaml(package_file("shellbot_description", f"config/controllers_{variant}.yaml"))[
        "shellbot_legs_controller"
    ]
