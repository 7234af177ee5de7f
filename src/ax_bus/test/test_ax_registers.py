# SPDX-License-Identifier: MIT
"""The control tables against the manual's figures."""

from __future__ import annotations

import math

import pytest

from ax_bus import AX_12A, AX_18A, MODELS, MX_28, MX_64, RegisterError, model_of
from ax_bus.registers import BAUD_REGISTERS, Access, Area, baud_of, baud_register

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


# name, address, size, factory MX-28, factory MX-64 (None: not there), minimum, maximum; the same manual
MANUAL_MX = [
    ("model_number", 0, 2, 29, 310, 0, 65535),
    ("baud_rate", 4, 1, 34, 34, 0, 254),
    ("ccw_angle_limit", 8, 2, 4095, 4095, 0, 4095),
    ("temperature_limit", 11, 1, 80, 80, 0, 100),
    ("max_voltage_limit", 13, 1, 160, 240, 50, None),
    ("multi_turn_offset", 20, 2, 0, 0, -24576, 24576),
    ("resolution_divider", 22, 1, 1, 1, 1, 4),
    ("d_gain", 26, 1, 0, 0, 0, 254),
    ("i_gain", 27, 1, 0, 0, 0, 254),
    ("p_gain", 28, 1, 32, 32, 0, 254),
    ("goal_position", 30, 2, 2048, 2048, -28672, 28672),
    ("punch", 48, 2, 0, 0, 0, 1023),
    ("realtime_tick", 50, 2, 0, 0, 0, 32767),
    ("current", 68, 2, None, 2048, 0, 4095),
    ("torque_control_mode_enable", 70, 1, None, 0, 0, 1),
    ("goal_torque", 71, 2, None, 0, 0, 2047),
    ("goal_acceleration", 73, 1, 0, 0, 0, 254),
]


@pytest.mark.parametrize("name,address,size,mx28,mx64,low,high", MANUAL_MX, ids=[row[0] for row in MANUAL_MX])
def test_rows_of_mx_agree_with_the_manual(name, address, size, mx28, mx64, low, high):
    for model, factory in ((MX_28, mx28), (MX_64, mx64)):
        assert model.has(name) is (factory is not None)
        if factory is not None:
            row = model.register(name)
            assert (row.address, row.size, row.factory, row.minimum) == (address, size, factory, low)
            assert high is None or row.maximum == high
    assert not AX_12A.has("p_gain") and not MX_28.has("cw_compliance_slope")


def test_positions_of_mx_are_turns_in_twos_complement():
    row = MX_28.register("present_position")
    assert row.to_si(4096) == pytest.approx(2.0 * math.pi) and row.to_si(-2048) == pytest.approx(-math.pi)
    assert row.from_bytes(b"\x00\xf8") == -2048 and row.to_bytes(-2048) == b"\x00\xf8"
    assert row.from_si(-math.pi) == -2048
    assert MX_64.register("current").to_si(2148) == pytest.approx(0.45)  # the manual's example
    assert MX_64.register("goal_torque").from_si(-0.45) == 1024 | 100
    assert MX_28.register("moving_speed").to_si(300) == pytest.approx(34.2 * math.pi / 30.0)
    assert MX_28.register("goal_acceleration").to_si(10) == pytest.approx(14.3 * math.pi / 30.0, rel=1e-3)
    assert MX_28.baud_of(252) == 3_000_000 and MX_28.baud_of(34) == pytest.approx(57_143, rel=1e-4)
    assert MX_28.centre == pytest.approx(math.pi) and AX_18A.centre == pytest.approx(math.radians(150.0))


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_rows_do_not_overlap_and_fit_the_table(model):
    covered = [row.address + i for row in model.registers for i in range(row.size)]
    assert len(covered) == len(set(covered)) and max(covered) == model.table_size - 1
    assert all(row.minimum <= row.factory <= row.maximum for row in model.registers)
    read_only = {row.name for row in model.registers if row.access is Access.READ}
    assert read_only - {"realtime_tick"} == {
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
        (lambda: model_of("XL-320"), ["XL-320", "AX-12A (12)", "MX-64 (310)"]),
        (lambda: MX_28.register("multi_turn_offset").from_si(99.0), ["99", "rad"]),
        (lambda: baud_register(123), ["123", "1000000"]),
        (lambda: AX_12A.register("goal_position").to_bytes(1024), ["1024", "0 to 1023"]),
        (lambda: AX_12A.register("goal_position").to_bytes(True), ["True"]),
        (lambda: AX_12A.register("goal_position").from_si(math.nan), ["nan", "finite"]),
        (lambda: AX_12A.register("goal_position").from_si(-0.1), ["-0.1"]),
        (lambda: AX_12A.register("moving_speed").from_si(-99.0), ["-99", "rad/s"]),
        (lambda: AX_12A.register("moving_speed").from_si(-0.005), ["-0.005", "0 (no limit)", "0.0116239 or more"]),
        (lambda: MX_28.register("goal_acceleration").from_si(0.07), ["0.07", "0 (no limit)", "0.149802 or more"]),
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
