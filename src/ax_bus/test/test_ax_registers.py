# SPDX-License-Identifier: MIT
"""The control tables against the manual's figures."""

from __future__ import annotations

import math

import pytest

from ax_bus import AX_12A, AX_18A, MODELS, RegisterError, model_of
from ax_bus.registers import BAUD_REGISTERS, TABLE_SIZE, Access, Area, baud_of, baud_register

# name, address, size, factory AX-12A, factory AX-18A; ROBOTIS e-manual, "Control Table"
MANUAL = [
    ("model_number", 0, 2, 12, 18),
    ("id", 3, 1, 1, 1),
    ("baud_rate", 4, 1, 1, 1),
    ("return_delay_time", 5, 1, 250, 250),
    ("cw_angle_limit", 6, 2, 0, 0),
    ("ccw_angle_limit", 8, 2, 1023, 1023),
    ("temperature_limit", 11, 1, 70, 75),
    ("min_voltage_limit", 12, 1, 60, 60),
    ("max_voltage_limit", 13, 1, 140, 140),
    ("max_torque", 14, 2, 1023, 983),
    ("status_return_level", 16, 1, 2, 2),
    ("alarm_led", 17, 1, 36, 36),
    ("shutdown", 18, 1, 36, 36),
    ("torque_enable", 24, 1, 0, 0),
    ("cw_compliance_margin", 26, 1, 1, 1),
    ("ccw_compliance_slope", 29, 1, 32, 32),
    ("goal_position", 30, 2, 512, 512),
    ("moving_speed", 32, 2, 0, 0),
    ("torque_limit", 34, 2, 1023, 983),
    ("present_position", 36, 2, 512, 512),
    ("present_voltage", 42, 1, 120, 120),
    ("registered", 44, 1, 0, 0),
    ("moving", 46, 1, 0, 0),
    ("lock", 47, 1, 0, 0),
    ("punch", 48, 2, 32, 32),
]


@pytest.mark.parametrize("name,address,size,ax12,ax18", MANUAL, ids=[row[0] for row in MANUAL])
def test_rows_agree_with_the_manual(name, address, size, ax12, ax18):
    for model, factory in ((AX_12A, ax12), (AX_18A, ax18)):
        row = model.register(name)
        assert (row.address, row.size, row.factory) == (address, size, factory)
        assert row.area is (Area.EEPROM if address < 24 else Area.RAM)
        assert model.register_at(address) is row


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_rows_do_not_overlap_and_fit_the_table(model):
    covered = [row.address + i for row in model.registers for i in range(row.size)]
    assert len(covered) == len(set(covered)) and max(covered) == TABLE_SIZE - 1
    assert all(row.minimum <= row.factory <= row.maximum for row in model.registers)
    read_only = {row.name for row in model.registers if row.access is Access.READ}
    assert read_only == {
        "model_number", "firmware_version", "present_position", "present_speed", "present_load", "present_voltage",
        "present_temperature", "registered", "moving",
    }  # fmt: skip


def test_scales_are_si():
    assert AX_12A.register("present_position").to_si(1023) == pytest.approx(math.radians(300.0))
    assert AX_12A.register("return_delay_time").to_si(250) == pytest.approx(500e-6)
    assert AX_12A.register("present_voltage").to_si(111) == pytest.approx(11.1)
    # "1023 is about 114 rpm", in both directions
    assert AX_12A.register("present_speed").to_si(1023) == pytest.approx(114 * math.pi / 30, rel=5e-3)
    assert AX_12A.register("present_speed").to_si(1024 | 1023) == pytest.approx(-114 * math.pi / 30, rel=5e-3)
    assert AX_12A.register("moving_speed").from_si(-1.0) == 1024 | AX_12A.register("moving_speed").from_si(1.0)


def test_models_by_number_and_name():
    assert model_of(18) is AX_18A and model_of("AX-12A") is AX_12A and model_of("ax12a") is AX_12A


@pytest.mark.parametrize("baud,register", BAUD_REGISTERS.items())
def test_baud_registers_mean_their_rates(baud, register):
    assert baud_register(baud) == register
    assert baud_of(register) == pytest.approx(baud, rel=0.025)  # 115200 is 2.1 % off by design


@pytest.mark.parametrize(
    "call,words",
    [
        (lambda: AX_12A.register("present_posison"), ["present_position", "choose"]),
        (lambda: AX_12A.register("xyz"), ["goal_position", "punch"]),
        (lambda: AX_12A.register_at(10), ["10", "11"]),
        (lambda: model_of("MX-28"), ["MX-28", "AX-12A (12)"]),
        (lambda: baud_register(123), ["123", "1000000"]),
        (lambda: AX_12A.register("goal_position").to_bytes(1024), ["1024", "0 to 1023"]),
        (lambda: AX_12A.register("goal_position").to_bytes(True), ["True"]),
        (lambda: AX_12A.register("goal_position").from_si(math.nan), ["nan", "finite"]),
        (lambda: AX_12A.register("goal_position").from_si(-0.1), ["-0.1"]),
        (lambda: AX_12A.register("moving_speed").from_si(-99.0), ["-99", "rad/s"]),
        (lambda: AX_12A.register("goal_position").from_bytes(b"\x01"), ["2 byte"]),
    ],
)
def test_refusals_say_what_is_allowed(call, words):
    with pytest.raises(RegisterError) as error:
        call()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_si_round_trip():
    for model in MODELS.values():
        for row in model.registers:
            for number in {row.minimum, (row.minimum + row.maximum) // 2, row.maximum, row.factory}:
                value = row.to_si(number)
                back = row.from_si(value)
                assert row.to_si(back) == pytest.approx(value, abs=1e-12), row.name
