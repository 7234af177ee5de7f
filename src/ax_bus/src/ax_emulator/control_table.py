# SPDX-License-Identifier: MIT
"""The memory of an emulated servo: the bytes of its control table, and which writes it takes."""

from __future__ import annotations

from typing import Dict

from ax_bus.protocol import ErrorFlags
from ax_bus.registers import TABLE_SIZE, Area, Model

# What an AX does with a write to a read-only register or to the locked EEPROM is not documented: RANGE is assumed.
_REFUSED = ErrorFlags.RANGE


class ControlTable:
    """Bytes 0 to 49 of a servo.

    Parameters
    ----------
    model : Model
        Which table.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._rows = {row.name: row for row in model.registers}
        self._row_of_byte = {row.address + i: row for row in model.registers for i in range(row.size)}
        self._bytes = bytearray(TABLE_SIZE)
        self._eeprom = [row for row in model.registers if row.area is Area.EEPROM]
        for row in model.registers:
            self[row.name] = row.factory

    def __getitem__(self, name: str) -> int:
        """Return the number in a register."""
        row = self._rows[name]
        return int.from_bytes(self._bytes[row.address : row.address + row.size], "little")

    def __setitem__(self, name: str, number: int) -> None:
        """Set a register from inside the servo: no rule applies."""
        row = self._rows[name]
        self._bytes[row.address : row.address + row.size] = number.to_bytes(row.size, "little")

    def read(self, address: int, count: int) -> bytes:
        """Return bytes; empty if they are not all inside the table."""
        if count < 1 or address + count > TABLE_SIZE:
            return b""
        return bytes(self._bytes[address : address + count])

    @property
    def image(self) -> bytearray:
        """All bytes; to look at only."""
        return self._bytes

    def check(self, address: int, data: bytes) -> ErrorFlags:
        """Return why a WRITE would be refused; ``ErrorFlags.NONE`` if it would not."""
        if not data or address + len(data) > TABLE_SIZE:
            return ErrorFlags.RANGE
        after = bytearray(self._bytes)
        after[address : address + len(data)] = data
        for row in {self._row_of_byte.get(address + i) for i in range(len(data))}:
            if row is None:  # reserved bytes take anything and mean nothing
                continue
            number = int.from_bytes(after[row.address : row.address + row.size], "little")
            if not row.is_writable or (row.area is Area.EEPROM and self["lock"]):
                return _REFUSED
            if not row.minimum <= number <= row.maximum:
                return ErrorFlags.RANGE
            is_goal = row.name == "goal_position" and not self.is_wheel
            if is_goal and not self["cw_angle_limit"] <= number <= self["ccw_angle_limit"]:
                return ErrorFlags.ANGLE_LIMIT
        return ErrorFlags.NONE

    def write(self, address: int, data: bytes) -> int:
        """Store checked bytes; return how many of them were EEPROM."""
        eeprom = 0
        for i, value in enumerate(data, address):
            row = self._row_of_byte.get(i)
            if row is not None:
                self._bytes[i] = value
                eeprom += row.area is Area.EEPROM
        return eeprom

    @property
    def is_wheel(self) -> bool:
        """Whether both angle limits are 0: the servo turns for ever."""
        return self["cw_angle_limit"] == 0 and self["ccw_angle_limit"] == 0

    def power_on(self, present: int) -> None:
        """Start the RAM anew, as after power-on, with the horn at ``present`` steps."""
        for row in self.model.registers:
            if row.area is Area.RAM:
                self[row.name] = row.factory
        self["torque_limit"] = self["max_torque"]
        self["goal_position"] = self["present_position"] = present

    def factory_reset(self) -> None:
        """Write the factory's EEPROM."""
        for row in self._eeprom:
            self[row.name] = row.factory

    def as_dict(self) -> Dict[str, int]:
        """Return all registers by name."""
        return {name: self[name] for name in self._rows}
