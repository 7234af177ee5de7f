# SPDX-License-Identifier: MIT
"""Find servos: which IDs answer at which baud rate."""

from __future__ import annotations

from typing import Callable, Iterable, List, NamedTuple, Sequence

from ax_bus.bus import Bus
from ax_bus.errors import GarbledReplyError, NoReplyError
from ax_bus.registers import BAUD_REGISTERS, MODELS
from ax_tools.errors import ToolError

ALL_IDS = range(253)
ALL_BAUDS = tuple(BAUD_REGISTERS)


class Found(NamedTuple):
    """A servo that answered, or an ID under which something did.

    Parameters
    ----------
    baud : int
        Rate at which it answered.
    servo_id : int
        Its ID.
    model_number, firmware : int
        Registers 0 and 2; -1 if the answer was garbled.
    """

    baud: int
    servo_id: int
    model_number: int
    firmware: int

    @property
    def is_garbled(self) -> bool:
        """Whether answers came but none was whole: often two servos of one ID."""
        return self.model_number < 0

    @property
    def model_name(self) -> str:
        """Name of the model, or its number if it is not one of ours."""
        if self.is_garbled:
            return "?"
        model = MODELS.get(self.model_number)
        return model.name if model is not None else f"unknown model {self.model_number}"


def search(
    bus: Bus,
    bauds: Iterable[int] = ALL_BAUDS,
    ids: Sequence[int] = ALL_IDS,
    progress: Callable[[str], None] = lambda text: None,
) -> List[Found]:
    """PING every ID at every rate; the port is left at the rate it had.

    Parameters
    ----------
    bus : Bus
        The bus.
    bauds : iterable of int
        Rates to try.
    ids : sequence of int
        IDs to try.
    progress : callable
        Told what is being tried.

    Returns
    -------
    list of Found
        In the order found.

    Raises
    ------
    ToolError
        If the wiring echoes unexpectedly, so that every ID would seem to be there.
    """
    before, found = bus.port.baud, []
    try:
        for baud in bauds:
            bus.port.set_baud(baud)
            progress(f"{baud} baud: asking {len(ids)} IDs")
            if not bus.port.echoes and bus.detect_echo():
                raise ToolError(
                    f"what is sent at {baud} baud comes back: a single-wire wiring; repeat with --direction echo"
                )
            found += [hit for servo_id in ids for hit in _ask(bus, baud, servo_id)]
    finally:
        bus.port.set_baud(before)
    return found


def _ask(bus: Bus, baud: int, servo_id: int) -> List[Found]:
    try:
        bus.ping(servo_id, retries=0)
    except GarbledReplyError:
        pass  # somebody is there: reading more tells who
    except NoReplyError:
        return []
    try:
        data = bus.read(servo_id, 0, 3, retries=3).data
    except NoReplyError:
        return [Found(baud, servo_id, -1, -1)]
    return [Found(baud, servo_id, data[0] | data[1] << 8, data[2])]


def table(found: Sequence[Found]) -> str:
    """Return what was found as lines for a terminal."""
    if not found:
        return "no servo answers; check power (LED flashes once at power-on), cable, port and direction control"
    lines = [f"{'baud':>8} {'id':>4}  {'model':<18} firmware"]
    for hit in found:
        if hit.is_garbled:
            lines.append(f"{hit.baud:>8} {hit.servo_id:>4}  answers in pieces: two servos of this ID, or a bad contact")
        else:
            lines.append(f"{hit.baud:>8} {hit.servo_id:>4}  {hit.model_name:<18} {hit.firmware}")
    lines.append(f"{len(found)} servo(s)")
    return "\n".join(lines)
