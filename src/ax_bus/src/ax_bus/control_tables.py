# SPDX-License-Identifier: MIT
"""The control tables of AX-12A, AX-18A, MX-28 and MX-64 as rows; MX with the firmware of protocol 1.0.

Rows are those of the manuals (https://emanual.robotis.com/docs/en/dxl/, "Control Table" of each model); a range that
its page does not state is that of the printed "User's Manual Dynamixel AX-12" (2006-06-14), p. 18.
"""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Iterable, Iterator, Mapping, Tuple

from ax_bus.model import BROADER_BAUDS, Access, Area, Model, Register
from ax_bus.protocol import Instruction

MANUAL = "https://emanual.robotis.com/docs/en/dxl/"
POSITION_MAX = 1023  # steps of an AX's full range
POSITION_RANGE = math.radians(300.0)  # rad, AX
RAD_PER_STEP = POSITION_RANGE / POSITION_MAX  # AX
RAD_PER_S_PER_STEP = 0.111 * math.pi / 30.0  # "about 0.111 rpm", AX
_MX_MAX, _MX_STEP, _MX_SPEED = 4095, 2.0 * math.pi / 4096.0, 0.114 * math.pi / 30.0  # "0.088 degrees", "0.114 rpm"
_MX_TURNS = 28672  # steps either way in multi-turn mode
_MX_ACCELERATION = math.radians(8.583)  # "approximately 8.583 degrees / s²"
_AMPERE = 4.5e-3  # A per step of MX-64's current and goal torque
_RW, _READ, _EEPROM, _RAM = Access.READ_WRITE, Access.READ, Area.EEPROM, Area.RAM

_UNLIMITED_AT_0 = ("moving_speed", "goal_acceleration")


def _common(top: int, step: float, speed: float) -> Iterator[Register]:
    """Yield the rows that all models have; ``top`` is the last step, ``step`` and ``speed`` the units in SI."""
    rw, read, eeprom, ram, load = _RW, _READ, _EEPROM, _RAM, 1.0 / 1023.0
    yield from (
        Register("model_number", 0, 2, read, eeprom, 0, 65535, 12),
        Register("firmware_version", 2, 1, read, eeprom, 0, 255, 24, note="24 is an assumption; no tool relies on it"),
        Register("id", 3, 1, rw, eeprom, 0, 253, 1, note="253 is taken by the adapter USB2AX"),
        Register("baud_rate", 4, 1, rw, eeprom, 0, 254, 1, note="2 Mbaud / (value + 1)"),
        Register("return_delay_time", 5, 1, rw, eeprom, 0, 254, 250, "s", 2e-6),
        Register("cw_angle_limit", 6, 2, rw, eeprom, 0, top, 0, "rad", step, note="both limits 0: wheel mode"),
        Register("ccw_angle_limit", 8, 2, rw, eeprom, 0, top, top, "rad", step),
        Register("temperature_limit", 11, 1, rw, eeprom, 0, 100, 70, "degC", note="the manual says: do not change"),
        Register("min_voltage_limit", 12, 1, rw, eeprom, 50, 160, 60, "V", 0.1),
        Register("max_voltage_limit", 13, 1, rw, eeprom, 50, 160, 140, "V", 0.1),
        Register("max_torque", 14, 2, rw, eeprom, 0, 1023, 1023, "of stall", load, note="to torque_limit at power-on"),
        Register("status_return_level", 16, 1, rw, eeprom, 0, 2, 2, note="0 ping only, 1 and read, 2 all"),
        Register("alarm_led", 17, 1, rw, eeprom, 0, 127, 36, note="mask of error bits"),
        Register("shutdown", 18, 1, rw, eeprom, 0, 127, 36, note="mask of error bits that set torque_limit to 0"),
        Register("torque_enable", 24, 1, rw, ram, 0, 1, 0),
        Register("led", 25, 1, rw, ram, 0, 1, 0),
        Register("goal_position", 30, 2, rw, ram, 0, top, 512, "rad", step, note="present_position at start"),
        Register("moving_speed", 32, 2, rw, ram, 0, 2047, 0, "rad/s", speed, 10, "joint mode: 0 is full speed"),
        Register("torque_limit", 34, 2, rw, ram, 0, 1023, 1023, "of stall", load, note="0 after an alarm shutdown"),
        Register("present_position", 36, 2, read, ram, 0, top, 512, "rad", step),
        Register("present_speed", 38, 2, read, ram, 0, 2047, 0, "rad/s", speed, 10),
        Register("present_load", 40, 2, read, ram, 0, 2047, 0, "of stall", load, 10, "inferred, no sensor"),
        Register("present_voltage", 42, 1, read, ram, 0, 255, 120, "V", 0.1),
        Register("present_temperature", 43, 1, read, ram, 0, 255, 25, "degC"),
        Register("registered", 44, 1, read, ram, 0, 1, 0, note="a REG WRITE waits for its ACTION"),
        Register("moving", 46, 1, read, ram, 0, 1, 0),
        Register("lock", 47, 1, rw, ram, 0, 1, 0, note="1 freezes the EEPROM until power-off"),
        Register("punch", 48, 2, rw, ram, 0, 1023, 32, "of stall", load, note="useful from 32"),
    )


def _ax() -> Iterator[Register]:
    """Yield the rows of an AX-12A."""
    yield from _common(POSITION_MAX, RAD_PER_STEP, RAD_PER_S_PER_STEP)
    for i, side in enumerate(("cw", "ccw")):
        yield Register(f"{side}_compliance_margin", 26 + i, 1, _RW, _RAM, 0, 255, 1, "rad", RAD_PER_STEP)
        note = "acts as 2, 4, ... 128"
        yield Register(f"{side}_compliance_slope", 28 + i, 1, _RW, _RAM, 0, 254, 32, "rad", RAD_PER_STEP, note=note)


def _mx28() -> Iterator[Register]:
    yield from _common(_MX_MAX, _MX_STEP, _MX_SPEED)
    turn, ms = 24576, "counts ms up to 32767"
    yield from (
        Register("multi_turn_offset", 20, 2, _RW, _EEPROM, -turn, turn, 0, "rad", _MX_STEP, signed=True),
        Register("resolution_divider", 22, 1, _RW, _EEPROM, 1, 4, 1, note="multi-turn mode only, as the offset"),
        Register("d_gain", 26, 1, _RW, _RAM, 0, 254, 0, note="gain is value · 4 / 1000"),
        Register("i_gain", 27, 1, _RW, _RAM, 0, 254, 0, note="gain is value · 1000 / 2048"),
        Register("p_gain", 28, 1, _RW, _RAM, 0, 254, 32, note="gain is value / 8; 32 is like a slope of 32"),
        Register("realtime_tick", 50, 2, _READ, _RAM, 0, 32767, 0, "s", 1e-3, note=f"{ms}; from firmware 40"),
        Register("goal_acceleration", 73, 1, _RW, _RAM, 0, 254, 0, "rad/s²", _MX_ACCELERATION, note="0 is no limit"),
    )


def _mx64() -> Iterator[Register]:
    yield from _mx28()
    yield from (
        Register("current", 68, 2, _RW, _RAM, 0, 4095, 2048, "A", _AMPERE, zero=2048, note="measured, though writable"),
        Register("torque_control_mode_enable", 70, 1, _RW, _RAM, 0, 1, 0, note="1: goal_torque alone drives"),
        Register("goal_torque", 71, 2, _RW, _RAM, 0, 2047, 0, "A", _AMPERE, 10),
    )


def _table(page: str, rows: Iterable[Register], **changes: Mapping[str, Any]) -> Tuple[Register, ...]:
    """Return rows by address; ``changes`` (field to register to value) is what a model's page states otherwise."""
    made = []
    for row in rows:
        fields = {key: values[row.name] for key, values in changes.items() if row.name in values}
        made.append(replace(row, manual=MANUAL + page, is_unlimited_at_0=row.name in _UNLIMITED_AT_0, **fields))
    return tuple(sorted(made, key=lambda row: row.address))


_AX_UNITS = (RAD_PER_STEP, RAD_PER_S_PER_STEP, POSITION_MAX, POSITION_RANGE / 2.0)
_MX_UNITS = (_MX_STEP, _MX_SPEED, _MX_MAX, math.pi, _MX_TURNS)
_MX_INSTRUCTIONS = frozenset((Instruction.BULK_READ, Instruction.REBOOT))
_MX_FACTORY = {"baud_rate": 34, "temperature_limit": 80, "punch": 0, "goal_position": 2048, "present_position": 2048}


def _mx(page: str, rows: Iterable[Register], volts: int, top_volts: int, number: int) -> Tuple[Register, ...]:
    """Return the table of an MX: its positions count turns, in two's complement."""
    turns = {"goal_position": _MX_TURNS, "present_position": _MX_TURNS}
    return _table(
        page,
        rows,
        factory={**_MX_FACTORY, "max_voltage_limit": volts, "model_number": number},
        minimum={name: -value for name, value in turns.items()},
        maximum={**turns, "min_voltage_limit": top_volts, "max_voltage_limit": top_volts},
        signed=dict.fromkeys(turns, True),
        note={"punch": "", "cw_angle_limit": "both limits 0: wheel mode, both 4095: multi-turn"},
    )


_AX12_VOLTS = {"min_voltage_limit": 250, "max_voltage_limit": 250}
_AX18 = {"model_number": 18, "temperature_limit": 75, "max_torque": 983, "torque_limit": 983}
_RPM = math.pi / 30.0
AX_12A = Model("AX-12A", 12, _table("ax/ax-12a/", _ax(), maximum=_AX12_VOLTS), 1.5, 59.0 * _RPM, 1.5, *_AX_UNITS)
AX_18A = Model(
    "AX-18A", 18, _table("ax/ax-18a/", _ax(), factory=_AX18, maximum={"temperature_limit": 99}),
    1.8, 97.0 * _RPM, 2.2, *_AX_UNITS,
)  # fmt: skip
MX_28 = Model(
    "MX-28", 29, _mx("mx/mx-28/", _mx28(), 160, 160, 29),
    2.5, 55.0 * _RPM, 1.4, *_MX_UNITS, _MX_INSTRUCTIONS, BROADER_BAUDS,
)  # fmt: skip
MX_64 = Model(
    "MX-64", 310, _mx("mx/mx-64/", _mx64(), 240, 250, 310),
    6.0, 63.0 * _RPM, 4.1, *_MX_UNITS, _MX_INSTRUCTIONS, BROADER_BAUDS,
)  # fmt: skip
MODELS: Mapping[int, Model] = MappingProxyType({model.number: model for model in (AX_12A, AX_18A, MX_28, MX_64)})
