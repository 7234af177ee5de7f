# SPDX-License-Identifier: MIT
"""The alarms of an emulated servo: their causes, how long they stay, and the shutdown."""

from __future__ import annotations

from ax_bus.protocol import FLAGS, ErrorFlags
from ax_emulator.control_table import ControlTable
from ax_emulator.motor import Motor

_VOLTAGE, _OVERHEATING, _OVERLOAD = 1, 4, 32  # as numbers: flags cost microseconds before Python 3.11
_LATCHED = _OVERHEATING | _OVERLOAD
_COOL_DOWN = 5.0  # K below the limit at which the overheating alarm ends (estimate)


class Alarms:
    """What is wrong with a servo.

    Parameters
    ----------
    table : ControlTable
        Its registers: limits, and which alarms take the torque away.

    Attributes
    ----------
    latched : ErrorFlags
        Overload and overheating, which stay until a torque limit is written after their cause has gone.
    """

    def __init__(self, table: ControlTable) -> None:
        self._table = table
        self.latched = ErrorFlags.NONE

    def error(self, voltage: float) -> int:
        """Return the state flags that every answer carries; ``voltage`` in V."""
        volts, table = round(voltage * 10.0), self._table
        is_good = table["min_voltage_limit"] <= volts <= table["max_voltage_limit"]
        return int(self.latched) | (0 if is_good else _VOLTAGE)

    def watch(self, motor: Motor, voltage: float, flags: ErrorFlags = ErrorFlags.NONE) -> None:
        """Look for causes, among them the errors ``flags`` of the instruction just carried out."""
        causes = int(flags) | (self.error(voltage) & _VOLTAGE)
        if motor.is_overloaded:
            causes |= _OVERLOAD
        if int(motor.temperature) > self._table["temperature_limit"]:  # e-Manual: over the limit, not at it
            causes |= _OVERHEATING
        if causes:
            self.strike(motor, causes)

    def strike(self, motor: Motor, causes: int) -> None:
        """Latch alarms; every bit of the shutdown mask counts, those of instructions, too (e-Manual, Shutdown (18))."""
        self.latched |= FLAGS[causes & _LATCHED]
        if causes & self._table["shutdown"] and self._table["torque_limit"]:
            self._table["torque_limit"] = 0
            motor.restart()

    def recover(self, motor: Motor) -> None:
        """End alarms whose cause is gone, as writing a torque limit does."""
        if not motor.is_overloaded:
            self.latched &= ~ErrorFlags.OVERLOAD
        if motor.temperature < self._table["temperature_limit"] - _COOL_DOWN:
            self.latched &= ~ErrorFlags.OVERHEATING
