# SPDX-License-Identifier: MIT
"""The control tables of AX-12A and AX-18A as rows, and conversion between a register's number and SI.

Rows are those of the manuals (https://emanual.robotis.com/docs/en/dxl/ax/ax-12a/ and .../ax-18a/, "Control Table").
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import Iterable, Mapping, Tuple, Union

from ax_bus.errors import RegisterError

MANUAL_AX12A = "https://emanual.robotis.com/docs/en/dxl/ax/ax-12a/"
MANUAL_AX18A = "https://emanual.robotis.com/docs/en/dxl/ax/ax-18a/"
POSITION_MAX = 1023  # steps of a full range
POSITION_RANGE = math.radians(300.0)  # rad
RAD_PER_STEP = POSITION_RANGE / POSITION_MAX
RAD_PER_S_PER_STEP = 0.111 * math.pi / 30.0  # "about 0.111 rpm"
TABLE_SIZE = 50  # bytes, both models
FEEDBACK_ADDRESS, FEEDBACK_COUNT = 36, 8  # position, speed, load, voltage, temperature in one READ
BAUD_BASE = 2_000_000  # baud = BAUD_BASE / (register + 1)
# The register values that the manual lists; others are possible but no adapter needs them.
BAUD_REGISTERS: Mapping[int, int] = MappingProxyType(
    {
        1_000_000: 1,
        500_000: 3,
        400_000: 4,
        250_000: 7,
        200_000: 9,
        115_200: 16,
        57_600: 34,
        19_200: 103,
        9_600: 207,
    }
)


class Access(Enum):
    """Who may change a register."""

    READ = "R"
    READ_WRITE = "RW"


class Area(Enum):
    """Where a register lives: EEPROM survives the power, wears out, and deafens the servo while it is written."""

    EEPROM = "EEPROM"
    RAM = "RAM"


@dataclass(frozen=True)
class Register:
    """One row of the control table.

    Parameters
    ----------
    name : str
        Name of the manual, in snake case.
    address, size : int
        Place in the table, bytes (two bytes are little-endian).
    access : Access
        Read only or not.
    area : Area
        EEPROM or RAM.
    minimum, maximum : int
        What the servo takes, in its own steps.
    factory : int
        Value from the box (EEPROM) or after power-on (RAM; registers that copy another at power-on say so in `note`).
    unit : str
        SI unit of ``number · scale``; empty for counts, masks and switches.
    scale : float
        SI per step.
    sign_bit : int
        0, or the bit that means clockwise (negative): the number is then a magnitude below that bit.
    note : str
        What the manual says beyond the name.
    manual : str
        Where it says it.
    """

    name: str
    address: int
    size: int
    access: Access
    area: Area
    minimum: int
    maximum: int
    factory: int
    unit: str = ""
    scale: float = 1.0
    sign_bit: int = 0
    note: str = ""
    manual: str = MANUAL_AX12A

    @property
    def is_writable(self) -> bool:
        """Whether the servo takes a WRITE here."""
        return self.access is Access.READ_WRITE

    def to_bytes(self, number: int) -> bytes:
        """Return the little-endian bytes of a number.

        Raises
        ------
        RegisterError
            If the servo would not take it.
        """
        if isinstance(number, bool) or not isinstance(number, int) or not self.minimum <= number <= self.maximum:
            raise RegisterError(
                f"{self.name} is {number!r}; give a whole number {self.minimum} to {self.maximum} (see {self.manual})"
            )
        return number.to_bytes(self.size, "little")

    def from_bytes(self, data: bytes) -> int:
        """Return the number of the little-endian bytes ``data``.

        Raises
        ------
        RegisterError
            If there are not exactly ``size`` bytes.
        """
        if len(data) != self.size:
            raise RegisterError(f"{self.name} has {self.size} byte(s), {len(data)} were given; read {self.size}")
        return int.from_bytes(data, "little")

    def to_si(self, number: int) -> float:
        """Return the SI value of a number, in ``unit``; counter-clockwise is positive where there is a sign."""
        if self.sign_bit and number >> self.sign_bit & 1:
            return -(number & ((1 << self.sign_bit) - 1)) * self.scale
        return number * self.scale

    def from_si(self, value: float) -> int:
        """Return the number nearest to an SI value.

        Raises
        ------
        RegisterError
            If the value is not finite or beyond what the servo takes; nothing is clamped in silence.
        """
        if not math.isfinite(value):
            raise RegisterError(f"{self.name} is {value}; give a finite number in {self.unit or 'steps'}")
        magnitude = round(abs(value) / self.scale)
        negative = value < 0.0 and magnitude > 0
        limit = min(self.maximum, (1 << self.sign_bit) - 1) if self.sign_bit else self.maximum
        if (negative and not self.sign_bit) or magnitude > limit or magnitude < self.minimum:
            low = -limit * self.scale if self.sign_bit else self.minimum * self.scale
            raise RegisterError(f"{self.name} is {value:g}; give {low:g} to {limit * self.scale:g} {self.unit}")
        return magnitude | (1 << self.sign_bit) if negative else magnitude


@dataclass(frozen=True)
class Model:
    """A servo model: its number and its control table.

    Parameters
    ----------
    name : str
        Name on the case.
    number : int
        What the register ``model_number`` says.
    registers : tuple of Register
        The rows, ordered by address.
    stall_torque, no_load_speed : float
        Of the datasheet, at 12 V; N·m, rad/s.
    """

    name: str
    number: int
    registers: Tuple[Register, ...]
    stall_torque: float
    no_load_speed: float

    def __post_init__(self) -> None:
        """Index by name."""
        object.__setattr__(self, "_by_name", {row.name: row for row in self.registers})

    def register(self, name: str) -> Register:
        """Return a row by name.

        Raises
        ------
        RegisterError
            If there is none; the message lists the near ones, or all.
        """
        rows: Mapping[str, Register] = self._by_name  # type: ignore[attr-defined]
        if name in rows:
            return rows[name]
        near = difflib.get_close_matches(str(name), rows, n=4, cutoff=0.5) or sorted(rows)
        raise RegisterError(f"{self.name} has no register {name!r}; choose from {', '.join(near)}")

    def register_at(self, address: int) -> Register:
        """Return the row that begins at an address.

        Raises
        ------
        RegisterError
            If none does.
        """
        for row in self.registers:
            if row.address == address:
                return row
        raise RegisterError(
            f"no register of {self.name} begins at address {address}; "
            f"choose from {', '.join(str(row.address) for row in self.registers)}"
        )


def _rows() -> Iterable[Register]:
    rw, read, eeprom, ram = Access.READ_WRITE, Access.READ, Area.EEPROM, Area.RAM
    speed, load = RAD_PER_S_PER_STEP, 1.0 / 1023.0
    return (
        Register("model_number", 0, 2, read, eeprom, 0, 65535, 12),
        Register("firmware_version", 2, 1, read, eeprom, 0, 255, 24, note="24 is an assumption; no tool relies on it"),
        Register("id", 3, 1, rw, eeprom, 0, 253, 1, note="253 is taken by the adapter USB2AX"),
        Register("baud_rate", 4, 1, rw, eeprom, 0, 254, 1, note="2 Mbaud / (value + 1)"),
        Register("return_delay_time", 5, 1, rw, eeprom, 0, 254, 250, "s", 2e-6),
        Register("cw_angle_limit", 6, 2, rw, eeprom, 0, 1023, 0, "rad", RAD_PER_STEP, note="both limits 0: wheel mode"),
        Register("ccw_angle_limit", 8, 2, rw, eeprom, 0, 1023, 1023, "rad", RAD_PER_STEP),
        Register("temperature_limit", 11, 1, rw, eeprom, 0, 100, 70, "degC", note="the manual says: do not change"),
        Register("min_voltage_limit", 12, 1, rw, eeprom, 50, 160, 60, "V", 0.1),
        Register("max_voltage_limit", 13, 1, rw, eeprom, 50, 160, 140, "V", 0.1),
        Register("max_torque", 14, 2, rw, eeprom, 0, 1023, 1023, "of stall", load, note="to torque_limit at power-on"),
        Register("status_return_level", 16, 1, rw, eeprom, 0, 2, 2, note="0 ping only, 1 and read, 2 all"),
        Register("alarm_led", 17, 1, rw, eeprom, 0, 127, 36, note="mask of error bits"),
        Register("shutdown", 18, 1, rw, eeprom, 0, 127, 36, note="mask of error bits that set torque_limit to 0"),
        Register("torque_enable", 24, 1, rw, ram, 0, 1, 0),
        Register("led", 25, 1, rw, ram, 0, 1, 0),
        Register("cw_compliance_margin", 26, 1, rw, ram, 0, 255, 1, "rad", RAD_PER_STEP),
        Register("ccw_compliance_margin", 27, 1, rw, ram, 0, 255, 1, "rad", RAD_PER_STEP),
        Register("cw_compliance_slope", 28, 1, rw, ram, 0, 254, 32, "rad", RAD_PER_STEP, note="acts as 2, 4, ... 128"),
        Register("ccw_compliance_slope", 29, 1, rw, ram, 0, 254, 32, "rad", RAD_PER_STEP, note="acts as 2, 4, ... 128"),
        Register("goal_position", 30, 2, rw, ram, 0, 1023, 512, "rad", RAD_PER_STEP, note="present_position at start"),
        Register("moving_speed", 32, 2, rw, ram, 0, 2047, 0, "rad/s", speed, 10, "joint mode: 0 is as fast as it can"),
        Register("torque_limit", 34, 2, rw, ram, 0, 1023, 1023, "of stall", load, note="0 after an alarm shutdown"),
        Register("present_position", 36, 2, read, ram, 0, 1023, 512, "rad", RAD_PER_STEP),
        Register("present_speed", 38, 2, read, ram, 0, 2047, 0, "rad/s", speed, 10),
        Register("present_load", 40, 2, read, ram, 0, 2047, 0, "of stall", load, 10, "inferred, no sensor"),
        Register("present_voltage", 42, 1, read, ram, 0, 255, 120, "V", 0.1),
        Register("present_temperature", 43, 1, read, ram, 0, 255, 25, "degC"),
        Register("registered", 44, 1, read, ram, 0, 1, 0, note="a REG WRITE waits for its ACTION"),
        Register("moving", 46, 1, read, ram, 0, 1, 0),
        Register("lock", 47, 1, rw, ram, 0, 1, 0, note="1 freezes the EEPROM until power-off"),
        Register("punch", 48, 2, rw, ram, 0, 1023, 32, "of stall", load, note="useful from 32"),
    )


def _ax18a() -> Iterable[Register]:
    factory = {"model_number": 18, "temperature_limit": 75, "max_torque": 983, "torque_limit": 983}
    for row in _rows():
        yield replace(row, factory=factory.get(row.name, row.factory), manual=MANUAL_AX18A)


AX_12A = Model("AX-12A", 12, tuple(_rows()), 1.5, 59.0 * math.pi / 30.0)
AX_18A = Model("AX-18A", 18, tuple(_ax18a()), 1.8, 97.0 * math.pi / 30.0)
MODELS: Mapping[int, Model] = MappingProxyType({model.number: model for model in (AX_12A, AX_18A)})


def model_of(which: Union[int, str]) -> Model:
    """Return a model by number or name, in any case and with or without the hyphen: 12, "AX-12A", "ax12a".

    Raises
    ------
    RegisterError
        If there is no such model.
    """
    for model in MODELS.values():
        if which == model.number or _plain(which) == _plain(model.name):
            return model
    choices = ", ".join(f"{model.name} ({model.number})" for model in MODELS.values())
    raise RegisterError(f"servo model {which!r} is not known; choose from {choices}, or add its table to registers.py")


def _plain(name: object) -> str:
    return str(name).replace("-", "").lower()


def baud_of(register: int) -> float:
    """Return the baud rate that a value of ``baud_rate`` means."""
    return BAUD_BASE / (register + 1)


def baud_register(baud: int) -> int:
    """Return the value of ``baud_rate`` for a baud rate.

    Raises
    ------
    RegisterError
        If the manual does not list the rate.
    """
    if baud not in BAUD_REGISTERS:
        raise RegisterError(f"baud rate {baud} is not one of {', '.join(map(str, BAUD_REGISTERS))}; choose one of them")
    return BAUD_REGISTERS[baud]
