# SPDX-License-Identifier: MIT
"""What a servo model is, as data: the rows of its control table, its geometry, and numbers of registers in SI."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import FrozenSet, Mapping, Tuple

from ax_bus.errors import RegisterError

BAUD_BASE = 2_000_000  # baud = BAUD_BASE / (register + 1)
BROADER_BAUDS: Mapping[int, int] = MappingProxyType({250: 2_250_000, 251: 2_500_000, 252: 3_000_000})  # MX only


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
    """One row of the control table."""

    name: str  #: Name of the manual, in snake case
    #: address, size: Place in the table, bytes (two bytes are little-endian)
    address: int
    size: int
    access: Access  #: Read only or not
    area: Area  #: EEPROM or RAM
    #: minimum, maximum: What the servo takes, in its own steps
    minimum: int
    maximum: int
    #: Value from the box (EEPROM) or after power-on (RAM; registers that copy another at power-on say so in `note`)
    factory: int
    unit: str = ""  #: SI unit of ``number · scale``; empty for counts, masks and switches
    scale: float = 1.0  #: SI per step
    sign_bit: int = 0  #: 0, or the bit that means clockwise (negative): the number is then a magnitude below that bit
    note: str = ""  #: What the manual says beyond the name
    manual: str = ""  #: Where it says it
    signed: bool = False  #: Whether a negative number is stored as two's complement
    zero: int = 0  #: The number that means 0 in SI
    is_unlimited_at_0: bool = False  #: Whether 0 means "as much as it can": no small value may become it

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
        return number.to_bytes(self.size, "little", signed=self.signed)

    def from_bytes(self, data: bytes) -> int:
        """Return the number of the little-endian bytes ``data``.

        Raises
        ------
        RegisterError
            If there are not exactly ``size`` bytes.
        """
        if len(data) != self.size:
            raise RegisterError(f"{self.name} has {self.size} byte(s), {len(data)} were given; read {self.size}")
        return int.from_bytes(data, "little", signed=self.signed)

    def to_si(self, number: int) -> float:
        """Return the SI value of a number, in ``unit``; counter-clockwise is positive where there is a sign."""
        if self.sign_bit and number >> self.sign_bit & 1:
            return -(number & ((1 << self.sign_bit) - 1)) * self.scale
        return (number - self.zero) * self.scale

    def from_si(self, value: float) -> int:
        """Return the number nearest to an SI value.

        Raises
        ------
        RegisterError
            If the value is not finite or beyond what the servo takes; nothing is clamped in silence.
        """
        if not math.isfinite(value):
            raise RegisterError(f"{self.name} is {value}; give a finite number in {self.unit or 'steps'}")
        if self.signed or self.zero:
            number = round(value / self.scale) + self.zero
            if not self.minimum <= number <= self.maximum:
                low, high = self.to_si(self.minimum), self.to_si(self.maximum)
                raise RegisterError(f"{self.name} is {value:g}; give {low:g} to {high:g} {self.unit}")
            return number
        magnitude = round(abs(value) / self.scale)
        if self.is_unlimited_at_0 and not magnitude and value:
            raise RegisterError(
                f"{self.name} is {value:g}; give 0 (no limit), or {self.scale:g} or more {self.unit}: it would become 0"
            )
        negative = value < 0.0 and magnitude > 0
        limit = min(self.maximum, (1 << self.sign_bit) - 1) if self.sign_bit else self.maximum
        if (negative and not self.sign_bit) or magnitude > limit or magnitude < self.minimum:
            low = -limit * self.scale if self.sign_bit else self.minimum * self.scale
            raise RegisterError(f"{self.name} is {value:g}; give {low:g} to {limit * self.scale:g} {self.unit}")
        return magnitude | (1 << self.sign_bit) if negative else magnitude


@dataclass(frozen=True)
class Model:
    """A servo model: its number and its control table."""

    name: str  #: Name on the case
    number: int  #: What the register ``model_number`` says
    registers: Tuple[Register, ...]  #: The rows, ordered by address
    #: stall_torque, no_load_speed: Of the datasheet, at 12 V; N·m, rad/s
    stall_torque: float
    no_load_speed: float
    stall_current: float  #: Of the datasheet, at 12 V; A
    #: rad_per_step, rad_per_s_per_step: Unit of positions, rad, and of speeds, rad/s
    rad_per_step: float
    rad_per_s_per_step: float
    position_max: int  #: Last step of the range of the joint mode, which begins at 0
    centre: float  #: Middle of that range, rad from its clockwise end
    #: Largest goal position of the multi-turn mode (both angle limits at ``position_max``), steps either way; 0 if the
    #: model has no such mode
    multi_turn: int = 0
    instructions: FrozenSet[int] = frozenset()  #: Instructions that this model knows and an AX does not
    #: Values of ``baud_rate`` that do not follow its formula, and the rates that they mean
    bauds: Mapping[int, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Index by name."""
        object.__setattr__(self, "_by_name", {row.name: row for row in self.registers})

    @property
    def table_size(self) -> int:
        """Bytes of the control table."""
        return max(row.address + row.size for row in self.registers)

    def baud_of(self, register: int) -> float:
        """Return the baud rate that a value of ``baud_rate`` means."""
        return self.bauds.get(register, BAUD_BASE / (register + 1))

    def has(self, name: str) -> bool:
        """Return whether there is a row of this name."""
        return name in self._by_name  # type: ignore[attr-defined]

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
