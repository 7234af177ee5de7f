# SPDX-License-Identifier: MIT
"""The memory of an emulated servo: the bytes of its control table, and which writes it takes."""

from __future__ import annotations

from typing import Dict, Tuple

from ax_bus.protocol import ErrorFlags
from ax_bus.registers import Area, Model, Register


class ControlTable:
    """The bytes of a servo.

    Parameters
    ----------
    model : Model
        Which table.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._places = {row.name: (row.address, row.address + row.size, row.signed) for row in model.registers}
        self._row_at = {row.address: row for row in model.registers}
        self._size = model.table_size
        self._bytes = bytearray(self._size)
        self._numbers: Dict[str, int] = {}  # what the bytes say: a servo looks at its registers far more often
        self._eeprom = [row for row in model.registers if row.area is Area.EEPROM]
        for row in model.registers:
            self[row.name] = row.factory

    def __getitem__(self, name: str) -> int:
        """Return the number in a register."""
        return self._numbers[name]

    def __setitem__(self, name: str, number: int) -> None:
        """Set a register from inside the servo: no rule applies."""
        if self._numbers.get(name) != number:
            start, stop, signed = self._places[name]
            self._bytes[start:stop] = number.to_bytes(stop - start, "little", signed=signed)
            self._numbers[name] = number

    def read(self, address: int, count: int) -> bytes:
        """Return bytes; empty if they are not all inside the table."""
        if count < 1 or address + count > self._size:
            return b""
        return bytes(self._bytes[address : address + count])

    @property
    def image(self) -> bytearray:
        """All bytes; to look at only."""
        return self._bytes

    def check(self, address: int, data: bytes) -> ErrorFlags:
        """Return why a WRITE would be refused; ``ErrorFlags.NONE`` if it would not.

        Only whole registers that the manual lists as writable are taken (AX-12 manual, p. 18: both bytes of a register
        in one packet); what happens to reserved and read-only bytes is not documented, a range error is assumed.
        """
        end, at, flags = address + len(data), address, ErrorFlags.NONE
        if not data:
            return ErrorFlags.RANGE
        while at < end:
            row = self._row_at.get(at)
            if row is None or not row.is_writable or at + row.size > end:
                return ErrorFlags.RANGE
            number = int.from_bytes(data[at - address : at - address + row.size], "little", signed=row.signed)
            low, high = self._range(row)
            # e-Manual, Lock (47): 1 freezes the EEPROM, and only the power switch takes it back to 0
            is_frozen = row.area is Area.EEPROM or (row.name == "lock" and number == 0)
            if not low <= number <= high or (is_frozen and self["lock"]):
                return ErrorFlags.RANGE
            is_limited = row.name == "goal_position" and not self.is_wheel and not self.is_multi_turn
            if is_limited and not self["cw_angle_limit"] <= number <= self["ccw_angle_limit"]:
                flags = ErrorFlags.ANGLE_LIMIT
            at += row.size
        return flags

    def _range(self, row: Register) -> Tuple[int, int]:
        """Return what a register takes in the present mode (e-Manual, Goal Position and Moving Speed)."""
        if row.name == "goal_position" and not self.is_multi_turn:
            return 0, self.model.position_max
        if row.name == "moving_speed" and not self.is_wheel:
            return 0, 1023
        return row.minimum, row.maximum

    def write(self, address: int, data: bytes) -> int:
        """Store checked bytes; return how many of them were EEPROM."""
        self._bytes[address : address + len(data)] = data
        for at in range(address, address + len(data)):
            row = self._row_at.get(at)
            if row is not None:
                covered = self._bytes[at : at + row.size]
                self._numbers[row.name] = int.from_bytes(covered, "little", signed=row.signed)
        return sum(row.size for row in self._eeprom if address <= row.address < address + len(data))

    @property
    def is_wheel(self) -> bool:
        """Whether both angle limits are 0: the servo turns for ever."""
        return self["cw_angle_limit"] == 0 and self["ccw_angle_limit"] == 0

    @property
    def is_multi_turn(self) -> bool:
        """Whether positions count turns: both angle limits at the last step of a model that can."""
        top = self.model.position_max
        return bool(self.model.multi_turn) and self["cw_angle_limit"] == self["ccw_angle_limit"] == top

    def power_on(self, present: int) -> None:
        """Reset the RAM, as after power-on, with the horn at ``present`` steps."""
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
        return {name: self[name] for name in self._places}
