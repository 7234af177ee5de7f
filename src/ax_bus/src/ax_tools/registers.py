# SPDX-License-Identifier: MIT
"""Registers of a servo as text: all of them, or one, read or written by name or address, in numbers or units."""

from __future__ import annotations

from typing import Optional

from ax_bus.bus import Bus
from ax_bus.errors import RegisterError
from ax_bus.protocol import flag_names
from ax_bus.registers import AX_12A, MODELS, Area, Model, Register
from ax_tools.errors import ToolError
from ax_tools.units import meaning, model_at, number_of

_OWN_TOOL = {"id": "set-id", "baud_rate": "set-baud"}  # with others on the bus these end in two servos with one ID


def info(bus: Bus, servo_id: int) -> str:
    """Return all registers of a servo with their meaning."""
    number = bus.read_register(servo_id, AX_12A.register("model_number"), 3)
    model = MODELS.get(number, AX_12A)
    name = model.name if number in MODELS else f"model {number}, unknown: shown as {model.name}"
    reply = bus.read(servo_id, 0, max(row.address + row.size for row in model.registers), retries=3)
    lines = [f"servo {servo_id}: {name}", f"{'address':>7} {'register':<24} {'number':>6}  meaning"]
    for row in model.registers:
        value = row.from_bytes(reply.data[row.address : row.address + row.size])
        words = " ".join(filter(None, (meaning(model, row, value), f"({row.note})" if row.note else "")))
        lines.append(f"{row.address:>7} {row.name:<24} {value:>6}  {words}".rstrip())
    lines.append(f"error flags: {', '.join(flag_names(reply.flags)) or 'none'}")
    return "\n".join(lines)


def read(bus: Bus, servo_id: int, what: str) -> str:
    """Return a register, or bytes, as a line.

    Parameters
    ----------
    servo_id : int
        Whom to ask.
    what : str
        Name or address of a register, or ``ADDRESS:COUNT``.

    Raises
    ------
    ToolError
        If it is none of these.
    """
    address, colon, count = what.partition(":")
    if colon:
        if not address.isdigit() or not count.isdigit() or int(count) < 1:
            raise ToolError(f"{what!r} is not ADDRESS:COUNT; write for example 36:8")
        data = bus.read(servo_id, int(address), int(count), retries=3).data
        return f"servo {servo_id}: {address} to {int(address) + int(count) - 1}: {data.hex(' ')}"
    model = model_at(bus, servo_id)
    row = _row(model, what)
    number = bus.read_register(servo_id, row, 3)
    words = meaning(model, row, number)
    return f"servo {servo_id}: {row.name} {number}" + (f" ({words})" if words else "")


def write(bus: Bus, servo_id: int, what: str, value: str, may_wear: bool = False) -> str:
    """Write a register, read it back, and return what was done as a line.

    Parameters
    ----------
    what, value : str
        Name or address of the register; a number, or a value with its unit (`units.number_of`).
    may_wear : bool
        Whether a register in EEPROM may be written.

    Raises
    ------
    ToolError
        If the register or the value is refused; nothing was changed then.
    """
    model = model_at(bus, servo_id)
    row = _row(model, what)
    number = number_of(model, row, value)
    refusal = _refusal(row, number, servo_id, may_wear)
    if refusal is not None:
        raise ToolError(f"{refusal}; nothing was changed")
    before = bus.read_register(servo_id, row, 3)
    if row.area is Area.EEPROM and before == number:
        return f"servo {servo_id}: {row.name} is already {number}, not written"
    bus.write_register(servo_id, row, number)
    words = meaning(model, row, number)
    return f"servo {servo_id}: {row.name} {before} -> {number}" + (f" ({words})" if words else "")


def _refusal(row: Register, number: int, servo_id: int, may_wear: bool) -> Optional[str]:
    if not row.is_writable:
        return f"{row.name} is read-only"
    if row.name in _OWN_TOOL:
        return f"{row.name} is changed with {_OWN_TOOL[row.name]}, which makes sure that the servo is alone on the bus"
    if row.name == "torque_enable" and number:
        return f"use 'torque on {servo_id}', which first makes the present position the goal"
    if row.area is Area.EEPROM and not may_wear:
        return f"{row.name} is stored in EEPROM, which survives power-off and wears out; add --eeprom to write it"
    return None


def _row(model: Model, what: str) -> Register:
    try:
        return model.register_at(int(what)) if what.isdigit() else model.register(what)
    except RegisterError as error:
        raise ToolError(str(error)) from error
