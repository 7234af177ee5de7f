# SPDX-License-Identifier: MIT
"""Registers by name and address, in numbers and units."""

from __future__ import annotations

import pytest
from servo_bench import Bench

from ax_bus.registers import AX_12A
from ax_tools import registers, units
from ax_tools.errors import ToolError


def test_info_says_what_numbers_mean():
    text = registers.info(Bench(ids=(4,)).bus, 4)
    for words in ("servo 4: AX-12A", "1000000 baud", "overheating, overload", "0.1 degrees", "12.0 V", "none"):
        assert words in text


@pytest.mark.parametrize(
    "what, line",
    [
        ("present_position", "servo 1: present_position 512 (0.1 degrees)"),
        ("36", "servo 1: present_position 512 (0.1 degrees)"),
        ("present_voltage", "servo 1: present_voltage 120 (12.0 V)"),
        ("return_delay_time", "servo 1: return_delay_time 0 (0 us)"),
        ("max_torque", "servo 1: max_torque 1023 (100.0 %)"),
        ("0:3", "servo 1: 0 to 2: 0c 00 18"),
    ],
)
def test_read(what, line):
    assert registers.read(Bench(ids=(1,)).bus, 1, what) == line


@pytest.mark.parametrize("what", ["36:", "x:3", "36:0", "37", "nonsense"])
def test_what_cannot_be_read_is_refused_with_choices(what):
    with pytest.raises(ToolError, match="choose from|36:8"):
        registers.read(Bench(ids=(1,)).bus, 1, what)


@pytest.mark.parametrize(
    "register, text, number",
    [
        ("goal_position", "512", 512), ("goal_position", "0deg", 512), ("goal_position", "-150 deg", 0),
        ("cw_compliance_margin", "2.9deg", 10), ("moving_speed", "10rpm", 90), ("torque_limit", "50%", 512),
        ("max_voltage_limit", "14.0V", 140), ("temperature_limit", "70C", 70), ("return_delay_time", "200us", 100),
        ("alarm_led", "0x24", 36), ("led", "on", 1), ("led", "off", 0), ("led", "1", 1),
    ],
)  # fmt: skip
def test_values_with_units(register, text, number):
    row = AX_12A.register(register)
    assert units.number_of(AX_12A, row, text) == number
    if row.unit:
        assert units.meaning(AX_12A, row, number)


@pytest.mark.parametrize(
    "register, text, words",
    [
        ("goal_position", "1024", "takes 0 to 1023, or -150.0deg to 150.0deg"),
        ("goal_position", "160deg", "out of range"),
        ("goal_position", "1.5", "not a value"),
        ("moving_speed", "200rpm", "-113.6rpm to 113.6rpm"),
        ("moving_speed", "0.05rpm", r"at least 0.11rpm unless 0 \(no limit\)"),
        ("torque_limit", "101%", "0.0% to 100.0%"),
        ("led", "2", "takes 0 to 1, off or on"),
        ("punch", "50deg", "not a value of punch"),
    ],
)
def test_values_that_cannot_be_say_what_can(register, text, words):
    with pytest.raises(ToolError, match=words):
        units.number_of(AX_12A, AX_12A.register(register), text)


def test_write_reads_back_and_wears_nothing_needlessly():
    bench = Bench(ids=(1,))
    assert registers.write(bench.bus, 1, "torque_limit", "30%") == "servo 1: torque_limit 1023 -> 307 (30.0 %)"
    assert bench.servo(1).table["torque_limit"] == 307
    with pytest.raises(ToolError, match="EEPROM.*--eeprom.*nothing was changed"):
        registers.write(bench.bus, 1, "return_delay_time", "100")
    assert bench.servo(1).table["return_delay_time"] == 0
    registers.write(bench.bus, 1, "return_delay_time", "100", may_wear=True)
    assert bench.servo(1).table["return_delay_time"] == 100
    write, bench.bus.write = bench.bus.write, None  # a second time it is not written at all
    assert "already" in registers.write(bench.bus, 1, "return_delay_time", "100", may_wear=True)
    bench.bus.write = write


@pytest.mark.parametrize(
    "register, value, words",
    [("id", "2", "with set-id"), ("baud_rate", "34", "with set-baud"), ("model_number", "1", "read-only"),
     ("torque_enable", "on", "torque on 1"), ("goal_position", "2000", "out of range")],
)  # fmt: skip
def test_writes_that_hurt_are_refused(register, value, words):
    bench = Bench(ids=(1,))
    before = bench.servo(1).table.as_dict()
    with pytest.raises(ToolError, match=words):
        registers.write(bench.bus, 1, register, value, may_wear=True)
    assert bench.servo(1).table.as_dict() == before
    registers.write(bench.bus, 1, "torque_enable", "off")
