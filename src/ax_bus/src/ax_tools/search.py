# SPDX-License-Identifier: MIT
"""Find servos: which IDs answer at which baud rate."""

from __future__ import annotations

from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ax_bus.bus import Bus
from ax_bus.errors import GarbledReplyError, NoReplyError
from ax_bus.protocol import OVERHEAD
from ax_bus.registers import BAUD_REGISTERS, MODELS
from ax_tools.errors import ToolError

ALL_IDS = range(253)
ALL_BAUDS = tuple(BAUD_REGISTERS)
FACTORY_ID = 1
_FEW = 8  # IDs that may take some tries each; of many, silence costs most of the time
_RETRIES = 3  # one lost reply in a hundred is usual
Progress = Callable[[str, float], None]


class Found(NamedTuple):
    """A servo that answered, or an ID under which something did."""

    baud: int  #: Rate at which it answered
    servo_id: int  #: Its ID
    #: model_number, firmware: Registers 0 and 2; -1 if the answer was garbled
    model_number: int
    firmware: int

    @property
    def is_garbled(self) -> bool:
        """Whether answers came but none was whole: often two servos with one ID."""
        return self.model_number < 0

    @property
    def model_name(self) -> str:
        """Name of the model, or its number if it is not one of ours."""
        if self.is_garbled:
            return "?"
        model = MODELS.get(self.model_number)
        return model.name if model is not None else f"unknown model {self.model_number}"


Rounds = Sequence[Tuple[int, Sequence[int]]]  # rate, and the IDs to try at it


def rounds(bauds: Iterable[int] = ALL_BAUDS, ids: Sequence[int] = ALL_IDS) -> Rounds:
    """Return the same IDs at several rates; by default everything, which takes minutes."""
    return tuple((baud, tuple(ids)) for baud in bauds)


def quick_rounds(baud: int, ids: Iterable[int]) -> Rounds:
    """Return all IDs at the rate ``baud``, and only ``ids`` and the factory's at the others: a few seconds."""
    few = sorted({*ids, FACTORY_ID})
    return tuple((rate, ALL_IDS if rate == baud else few) for rate in sorted(ALL_BAUDS, key=lambda rate: rate != baud))


def search(bus: Bus, where: Optional[Rounds] = None, progress: Progress = lambda text, fraction: None) -> List[Found]:
    """PING IDs at rates; the port is left at the rate it had.

    Parameters
    ----------
    where : sequence of (int, sequence of int), optional
        Rates and the IDs to try at each; all by default.
    progress : callable
        ``progress(text, fraction)``: what is being tried, and the fraction of the time that is over.

    Returns
    -------
    list of Found
        By the order of rates, then by ID.

    Raises
    ------
    ToolError
        If the wiring echoes unexpectedly, so that every ID would seem to be there.
    """
    where = where if where is not None else rounds()
    retries = [_RETRIES if len(ids) <= _FEW else 0 for _, ids in where]
    # silence takes its time-out, which is longer at slow rates: the measure of progress
    costs = [bus.timeouts.reply(OVERHEAD, 0, baud) * (1 + more) for more, (baud, _) in zip(retries, where)]
    total = sum(cost * len(ids) for cost, (_, ids) in zip(costs, where))
    before, spent = bus.port.baud, 0.0
    found: List[Found] = []
    try:
        for more, cost, (baud, ids) in zip(retries, costs, where):
            bus.port.set_baud(baud)
            if not bus.port.echoes and bus.detect_echo():
                raise ToolError(
                    f"what is sent at {baud} baud comes back: a single-wire wiring; repeat with --direction echo"
                )
            hits: Dict[int, Found] = {}
            for servo_id in ids:
                progress(f"{baud} baud: querying {len(ids)} IDs", spent / total)
                hits.update(_search_id(bus, baud, servo_id, more))
                spent += cost
            for servo_id in ids if hits and not more else ():  # there are servos: others may have been missed
                if servo_id not in hits:
                    hits.update(_search_id(bus, baud, servo_id, 0))
            found += [hits[servo_id] for servo_id in sorted(hits)]
    finally:
        bus.port.set_baud(before)
    return found


def _search_id(bus: Bus, baud: int, servo_id: int, retries: int) -> Dict[int, Found]:
    try:
        bus.ping(servo_id, retries)
    except GarbledReplyError:
        pass  # there is a servo: reading more shows which
    except NoReplyError:
        return {}
    try:
        data = bus.read(servo_id, 0, 3, retries=3).data
    except NoReplyError:
        return {servo_id: Found(baud, servo_id, -1, -1)}
    return {servo_id: Found(baud, servo_id, data[0] | data[1] << 8, data[2])}


def table(found: Sequence[Found]) -> str:
    """Return what was found as lines for a terminal."""
    if not found:
        return "no servo answers; check power (LED flashes once at power-on), cable, port and direction control"
    lines = [f"{'baud':>8} {'id':>4}  {'model':<18} firmware"]
    for hit in found:
        if hit.is_garbled:
            lines.append(f"{hit.baud:>8} {hit.servo_id:>4}  garbled replies: two servos with this ID, or a bad contact")
        else:
            lines.append(f"{hit.baud:>8} {hit.servo_id:>4}  {hit.model_name:<18} {hit.firmware}")
    lines.append(f"{len(found)} servo(s)")
    return "\n".join(lines)
