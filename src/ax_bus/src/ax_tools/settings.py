# SPDX-License-Identifier: MIT
"""Change what servos keep in EEPROM: ID and baud rate, only with one servo on the bus, verified by reading back."""

from __future__ import annotations

from typing import Optional

from ax_bus.bus import EEPROM_TIME_PER_BYTE, Bus
from ax_bus.errors import BusError, GarbledReplyError, NoReplyError
from ax_bus.registers import AX_12A, BAUD_REGISTERS, baud_register
from ax_tools.errors import ToolError
from ax_tools.options import MAX_ID
from ax_tools.search import Progress, Rounds, quick_rounds, search


def alone(bus: Bus, servo_id: int, where: Rounds, progress: Progress) -> None:
    """Make sure that ``servo_id`` is the only servo on the bus, at the port's rate, as far as ``where`` looks.

    Raises
    ------
    ToolError
        If there is none, another or more than one.
    """
    found = search(bus, where, progress)
    who = ", ".join(f"{hit.servo_id} at {hit.baud} baud" for hit in found[:6]) + (", ..." if len(found) > 6 else "")
    if not found:
        raise ToolError("no servo answers, so nothing was changed; find it with scan")
    if len(found) > 1:
        raise ToolError(
            f"{len(found)} servos are on the bus ({who}), so nothing was changed; connect only the one to be changed: "
            "two servos that end up with one ID can no longer be distinguished"
        )
    hit = found[0]
    if hit.is_garbled:
        raise ToolError(
            f"ID {hit.servo_id} sends garbled replies, as two servos with one ID do; connect only one, then try again"
        )
    if (hit.servo_id, hit.baud) != (servo_id, bus.port.baud):
        raise ToolError(
            f"the only servo on the bus is {who}, not {servo_id} at {bus.port.baud} baud; nothing was changed, "
            f"repeat with ID {hit.servo_id} and --baud {hit.baud} if that is the one"
        )


def set_id(
    bus: Bus,
    servo_id: int,
    new_id: int,
    where: Optional[Rounds] = None,
    progress: Progress = lambda text, fraction: None,
) -> None:
    """Give the only servo on the bus another ID.

    Parameters
    ----------
    servo_id, new_id : int
        Its ID now and from now on.
    where : sequence of (int, sequence of int), optional
        Where other servos are looked for before; by default `search.quick_rounds` for both IDs, which does not see a
        servo with a third ID at another rate than the port's.
    progress : callable
        As of `search.search`.

    Raises
    ------
    ToolError
        If it is not alone, the ID is impossible, or the servo does not answer under it afterwards.
    """
    if not 0 <= new_id <= MAX_ID:
        raise ToolError(f"ID {new_id} does not exist; give 0 to {MAX_ID}")
    if new_id == servo_id:
        raise ToolError(f"servo {servo_id} has that ID already; nothing was changed")
    alone(bus, servo_id, where if where is not None else quick_rounds(bus.port.baud, (servo_id, new_id)), progress)
    if _answers(bus, new_id):
        raise ToolError(f"a servo with ID {new_id} answers already, so nothing was changed; scan the bus")
    row = AX_12A.register("id")
    _order(bus, servo_id, row.address, row.to_bytes(new_id))
    bus.port.sleep(EEPROM_TIME_PER_BYTE * row.size)
    try:
        found = bus.read_register(new_id, row, retries=3)
    except NoReplyError as error:
        raise ToolError(
            f"servo {servo_id} was given ID {new_id} but does not answer as {new_id}; its lock may be 1 "
            "(switch it off and on), or the instruction was lost: scan the bus"
        ) from error
    if found != new_id:
        raise ToolError(f"servo {new_id} reports ID {found}; scan the bus")


def _answers(bus: Bus, servo_id: int) -> bool:
    """Return whether anything answers under an ID; a search tries each ID twice at most, and replies are lost."""
    try:
        bus.ping(servo_id, retries=3)
    except GarbledReplyError:
        return True
    except NoReplyError:
        return False
    return True


def set_baud(
    bus: Bus,
    servo_id: int,
    baud: int,
    where: Optional[Rounds] = None,
    progress: Progress = lambda text, fraction: None,
) -> None:
    """Give the only servo on the bus another baud rate; the port follows it. Parameters as of `set_id`.

    Raises
    ------
    ToolError
        If it is not alone, the rate is impossible, or the servo does not answer at it afterwards (the port then is at
        the old rate again).
    """
    if baud not in BAUD_REGISTERS:
        raise ToolError(f"baud rate {baud} is not one of {', '.join(map(str, BAUD_REGISTERS))}; choose one of them")
    before = bus.port.baud
    if baud == before:
        raise ToolError(f"servo {servo_id} already has {baud} baud; nothing was changed")
    alone(bus, servo_id, where if where is not None else quick_rounds(before, (servo_id,)), progress)
    row = AX_12A.register("baud_rate")
    bus.port.set_baud(baud)  # an adapter that cannot do the rate must say so before the servo has it
    bus.port.set_baud(before)
    _order(bus, servo_id, row.address, row.to_bytes(baud_register(baud)))
    bus.port.sleep(EEPROM_TIME_PER_BYTE * row.size)
    bus.port.set_baud(baud)
    try:
        found = bus.read_register(servo_id, row, retries=3)
    except NoReplyError as error:
        bus.port.set_baud(before)
        raise ToolError(
            f"servo {servo_id} was set to {baud} baud but does not answer at it; scan the bus, its lock may be 1"
        ) from error
    if found != baud_register(baud):
        raise ToolError(f"servo {servo_id} reports baud register {found}; scan the bus")


def _order(bus: Bus, servo_id: int, address: int, data: bytes) -> None:
    """Write once, whatever the answer: it may come at the old or the new setting; reading back decides."""
    try:
        bus.write(servo_id, address, data, retries=0)
    except NoReplyError:
        return
    except BusError as error:
        raise ToolError(f"{error}; nothing was changed") from error
