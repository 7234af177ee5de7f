# SPDX-License-Identifier: MIT
"""Torque on without a jump, and off whatever else fails."""

from __future__ import annotations

from typing import Dict, Mapping, Sequence

from ax_bus.bus import Bus
from ax_bus.errors import ServoError
from ax_bus.protocol import BROADCAST_ID
from ax_bus.registers import AX_12A, Model
from ax_tools.each import each
from ax_tools.errors import ToolError
from ax_tools.units import model_at

_ENABLE = AX_12A.register("torque_enable")  # at the same address in every table of protocol 1.0
_BURSTS = 3  # a broadcast is not acknowledged: one lost packet must not be the only one
_APART = 5e-3  # s
_LOOKS = 3  # at a position, until two readings in a row agree
_STILL = 1 / 32  # of the range: a servo at full speed turns less from READ to READ


def hold(bus: Bus, servo_id: int, settings: Mapping[str, int] = {}) -> int:  # noqa: B006 - never changed
    """Let a servo hold where its horn is: read the position, make it the goal, then switch the torque on.

    Parameters
    ----------
    servo_id : int
        Who.
    settings : mapping of str to int
        Registers to write before the goal, such as ``torque_limit``.

    Returns
    -------
    int
        Where it is, steps.

    Raises
    ------
    ToolError
        If it is in wheel mode, would have no torque, or reports positions that differ from READ to READ.
    ServoError
        If it does not answer or refuses; torque is then as it was.
    """
    model = model_at(bus, servo_id)
    if not any(bus.read_register(servo_id, model.register(f"{side}_angle_limit"), 3) for side in ("cw", "ccw")):
        raise ToolError(f"servo {servo_id} is in wheel mode and turns without end; set its angle limits first")
    for name, number in settings.items():
        bus.write_register(servo_id, model.register(name), number)
    if not bus.read_register(servo_id, model.register("torque_limit"), 3):
        raise ToolError(
            f"servo {servo_id} has torque limit 0, as after an alarm shutdown; find the cause (info {servo_id}), "
            f"then write {servo_id} torque_limit 100%"
        )
    present = _position(bus, servo_id, model)
    bus.write_register(servo_id, model.register("goal_position"), present)
    bus.write_register(servo_id, _ENABLE, 1)
    return present


def _position(bus: Bus, servo_id: int, model: Model) -> int:
    """Return where a horn is, once two readings agree: a garbled one may have a right checksum (one in 252)."""
    row = model.register("present_position")
    before = bus.read_register(servo_id, row, 3)
    for _ in range(_LOOKS):
        present = bus.read_register(servo_id, row, 3)
        if abs(present - before) <= _STILL * model.position_max:
            return present
        before = present
    raise ToolError(f"servo {servo_id} reports a position that changes from READ to READ; hold its horn still")


def on(bus: Bus, servo_ids: Sequence[int]) -> Dict[int, str]:
    """Let servos hold where they are; return why those that do not do not."""
    return each(servo_ids, lambda servo_id: hold(bus, servo_id))


def off(bus: Bus, servo_ids: Sequence[int]) -> Dict[int, str]:
    """Switch torque off, all at once, then servo by servo until read back; return those that did not confirm."""

    def confirm(servo_id: int) -> None:
        try:
            bus.write_register(servo_id, _ENABLE, 0)
        except ServoError as error:
            raise ToolError(
                f"servo {servo_id}: torque off is not confirmed, switch its power off if it holds: {error}"
            ) from error

    bus.sync_write(_ENABLE.address, dict.fromkeys(servo_ids, b"\x00"))  # before the slow reading back
    return each(servo_ids, confirm)


def all_off(bus: Bus) -> None:
    """Switch off the torque of every servo on the bus, whatever its ID; a broadcast is not acknowledged."""
    for _ in range(_BURSTS):
        bus.write(BROADCAST_ID, _ENABLE.address, b"\0")
        bus.port.sleep(_APART)
