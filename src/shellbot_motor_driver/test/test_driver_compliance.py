# SPDX-License-Identifier: MIT
"""The driver moves every joint; compliance and gains; parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest
import yaml
from driver_bench import DriverBench

from ax_bus.registers import RAD_PER_STEP
from shellbot_common import package_file
from shellbot_control import Gains, GainTable
from shellbot_description import JOINT_CLASSES, load_variables, robot_profile
from shellbot_motor_driver import (
    SLOPES,
    Compliance,
    DriverConfig,
    DriverConfigError,
    Phase,
    compliance_from_gains,
    slope_for,
    stiffness,
)


@pytest.mark.parametrize("variant", ["walker", "full"])
def test_a_small_step_of_every_joint_arrives(variant):
    bench = DriverBench(variant).ready()
    limits, start = bench.driver.limits, bench.driver.state().position
    targets = np.clip(
        start + np.where(start <= 0.5 * (limits.lower + limits.upper), 0.08, -0.08), limits.lower, limits.upper
    )
    bench.run(1.0, targets)
    assert np.abs(bench.driver.state().position - targets).max() < 0.03


# -- compliance -------------------------------------------------------------------------------------------------------


def test_the_simulators_default_p_comes_from_the_same_slope():
    """18.5 N·m/rad of an AX-12A at slope 16: the number in the controllers' file, and that of this mapping."""
    for variant in ("walker", "full"):
        path = package_file("shellbot_description", f"config/controllers_{variant}.yaml")
        controllers = yaml.safe_load(path.read_text(encoding="utf-8"))["shellbot_legs_controller"]
        table = GainTable.from_controllers(controllers, robot_profile(variant))
        for name, gains in table.classes.items():
            assert gains.p == pytest.approx(stiffness(name, 16), rel=1e-3)
        made, _ = compliance_from_gains(table)
        assert {c.slope for c in made.values()} == {16} and {c.torque_fraction for c in made.values()} == {1.0}
    assert stiffness("coxa", 16) == pytest.approx(18.52, abs=0.01)
    assert DriverConfig.load().compliance.slope == load_variables().compliance_slope


def test_the_emulated_servo_has_that_stiffness():
    bench = DriverBench().ready()
    motor = bench.servo(1).motor
    for slope in (8, 16, 64):
        assert bench.driver.set_compliance({"coxa": Compliance(slope, margin=0, punch=0)})
        bench.run(0.3)
        motor.set_external(motor.position, 0.0)
        goal = bench.servo(1).table["goal_position"] * RAD_PER_STEP
        motor.position = goal - 0.25 * slope * RAD_PER_STEP
        motor.advance(motor.time + 0.01, 12.0)
        assert motor.torque() / (goal - motor.position) == pytest.approx(stiffness("coxa", slope), rel=0.02)


@pytest.mark.parametrize("name", JOINT_CLASSES)
def test_every_slope_is_found_again(name):
    for slope in SLOPES:
        assert slope_for(name, stiffness(name, slope)) == (slope, pytest.approx(stiffness(name, slope)))
    assert slope_for(name, 1e6)[0] == 2
    for wrong in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(DriverConfigError, match="positive finite"):
            slope_for(name, wrong)


def test_gains_that_servos_do_not_have_are_said():
    table = GainTable({"coxa": Gains(25.0, i=1.0, d=0.1), "femur": Gains(0.0), "tibia": Gains(1.0)}, stiffness=1.0)
    made, words = compliance_from_gains(table)
    text = "; ".join(words)
    assert made["coxa"].slope == 16 and "coxa: P 25.0 becomes 18.5" in text and "no I gain" in text and "no D" in text
    assert made["femur"].torque_fraction == 0.0 and made["femur"].slope == 128, "no stiffness: limp"
    assert made["tibia"].torque_fraction == pytest.approx(1.0 / stiffness("tibia", 128))
    soft, _ = compliance_from_gains(GainTable({"coxa": Gains(18.5)}, stiffness=0.5))
    assert soft["coxa"].slope == 32


def test_compliance_reaches_the_servos_and_survives_a_restart_of_one():
    bench = DriverBench().ready()
    answer = bench.driver.set_compliance({"femur": Compliance(32, 2, 40, 0.6), "shell": Compliance()})
    assert answer and "6 servos changed" in answer.reason and "shell not on this robot" in answer.reason
    bench.fault("garbled_instruction", stop=0.004)
    bench.run(1.5)
    bench.fault("reboot", servo=5)
    bench.run(3.0)
    for servo_id in (2, 5, 8):
        table = bench.servo(servo_id).table
        assert (table["cw_compliance_slope"], table["ccw_compliance_margin"], table["punch"]) == (32, 2, 40)
        assert table["torque_limit"] == round(0.6 * 983)
    assert bench.servo(1).table["cw_compliance_slope"] == 16


@pytest.mark.parametrize(
    "wrong", [{"slope": 17}, {"slope": 0}, {"margin": -1}, {"margin": 256}, {"punch": 2000}, {"torque_fraction": 1.1}]
)
def test_compliance_out_of_range(wrong):
    with pytest.raises(DriverConfigError, match="give a .*number from|compliance slope"):
        Compliance(**wrong)


# -- parameters -------------------------------------------------------------------------------------------------------


def test_the_file_has_the_defaults_and_all_of_them():
    assert DriverConfig.load() == DriverConfig()
    content = yaml.safe_load(package_file("shellbot_motor_driver", "config/driver.yaml").read_text(encoding="utf-8"))
    assert content == DriverConfig().to_mapping()
    assert DriverConfig.from_mapping(content) == DriverConfig()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "give the keys tick, start"),
        ({"tack": {}}, "tack does not exist; is tick meant"),
        ({"tick": 3}, "tick is 3; give a mapping with the keys period"),
        ({"tick": {"periods": 1}}, "tick.periods does not exist; is period meant"),
        ({"tick": {"period": 0}}, "tick.period is 0; give a number from 0.002 to 0.1"),
        ({"tick": {"period": "fast"}}, "tick.period is 'fast'"),
        ({"tick": {"booked_fraction": math.nan}}, "tick.booked_fraction is nan"),
        ({"tick": {"retries": 1.5}}, "tick.retries is 1.5; give a whole number"),
        ({"tick": {"retries": True}}, "tick.retries is True"),
        ({"start": {"torque": 1}}, "start.torque is 1; give true or false"),
        ({"voltage": {"warn": 9.7}}, "give falling voltages"),
        ({"alarms": {"needed": 5}}, "alarms.needed is 5; give at most window"),
        ({"compliance": {"slope": 300}}, "^compliance.slope is 300"),
        ({"bus": {"down_fraction": 0}}, "^bus.down_fraction is 0"),
        # former names
        ({"tick": {"booked_share": 0.7}}, "tick.booked_share does not exist; is booked_fraction meant"),
        ({"tick": {"deadline_share": 0.95}}, "tick.deadline_share does not exist; is deadline_fraction meant"),
        ({"bus": {"down_share": 0.3}}, "bus.down_share does not exist; is down_fraction meant"),
        ({"heat": {"torque_share": 0.5}}, "heat.torque_share does not exist; is torque_fraction meant"),
        ({"overload": {"torque_share": 0.5}}, "overload.torque_share does not exist; is torque_fraction meant"),
        ({"voltage": {"derate_share": 0.7}}, "voltage.derate_share does not exist; .* derate_fraction"),
        ({"plausibility": {"believe_after": 3}}, "plausibility.believe_after does not exist; is accept_after meant"),
        ({"alarms": {"say_after": 10.0}}, "alarms.say_after does not exist; is report_after meant"),
        ({"start": {"name_strangers": True}}, "start.name_strangers does not exist; .*report_unmapped"),
    ],
)
def test_wrong_parameters_name_value_range_and_next_step(content, words):
    with pytest.raises(DriverConfigError, match=words):
        DriverConfig.from_mapping(content)


def test_a_file_that_is_none_is_said(tmp_path):
    with pytest.raises(DriverConfigError, match="cannot read .*missing.yaml"):
        DriverConfig.load(tmp_path / "missing.yaml")
    path = tmp_path / "driver.yaml"
    path.write_text("tick: {period: 5}", encoding="utf-8")
    with pytest.raises(DriverConfigError, match="driver.yaml: tick.period is 5"):
        DriverConfig.load(path)
    path.write_text("", encoding="utf-8")
    assert DriverConfig.load(path) == DriverConfig()


def test_state_is_frozen_and_says_who_is_unknown():
    bench = DriverBench().ready()
    state = bench.driver.state()
    for array in (state.position, state.velocity, state.effort, state.command, state.is_measured):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(KeyError, match="no servo has ID 77"):
        state.servo(77)
    assert state.joint_names == bench.driver.joint_names and state.ladder.may_move
    assert [r.joint for r in state.servos] == list(bench.map.motor_names)


def test_measured_signs_and_the_fan_gear_come_through():
    bench = DriverBench().ready()
    q = bench.targets.copy()
    start = bench.port.now()
    bench.run(0.5, lambda now: q - 0.5 * (now - start))  # the fan stands near its upper end
    state = bench.driver.state()
    fan, coxa = 0, 1
    assert state.velocity[coxa] == pytest.approx(-0.5, abs=0.1)
    assert state.velocity[fan] == pytest.approx(-0.5, abs=0.1)
    assert state.position[coxa] == pytest.approx(q[coxa] - 0.25, abs=0.04)
    assert state.position[fan] == state.position[4] == pytest.approx(q[fan] - 0.25, abs=0.04)
    assert bench.phase is Phase.FOLLOWING and np.allclose(state.command, q - 0.5 * 0.49, atol=0.02)
