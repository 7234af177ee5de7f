# SPDX-License-Identifier: MIT
"""Measure which replies arrive, and say in words what the wiring does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Tuple

from ax_bus.bus import Bus
from ax_bus.errors import GarbledReplyError, NoReplyError
from ax_bus.registers import FEEDBACK_ADDRESS, FEEDBACK_COUNT

_TRUSTED_FRACTION = 0.98  # of replies that must be whole; the driver is made for 1 % lost ones
_HEADLESS = 6  # bytes: a reply that lacks at most these at its front lost its head, not its tail


@dataclass(frozen=True)
class WiringReport:
    """What a check of the wiring found."""

    #: sent, whole, garbled, silent: READs sent, good replies, replies in pieces, no replies
    sent: int
    whole: int
    garbled: int
    silent: int
    headless: int  #: Of the garbled ones, those that lack only their first bytes: the line was turned too late
    echoes: bool  #: Whether what is sent comes back
    is_trusted: bool  #: Whether replies may be relied on
    text: str  #: The finding and the next step


def check_wiring(bus: Bus, servo_ids: Sequence[int], rounds: int = 20) -> WiringReport:
    """Read every servo several times and judge.

    Parameters
    ----------
    bus : Bus
        The bus; its statistics count along.
    servo_ids : sequence of int
        Servos that should be there.
    rounds : int
        READs of each.

    Returns
    -------
    WiringReport
        The finding; nothing is raised for missing replies.
    """
    port = bus.port
    expects_echo, may_read = port.echoes, port.reads_trusted
    echoes = bus.detect_echo()
    whole = garbled = silent = headless = 0
    port.reads_trusted = True  # only to measure: no program acts on these replies
    try:
        for servo_id in [servo_id for _ in range(rounds) for servo_id in servo_ids]:
            try:
                bus.read(servo_id, FEEDBACK_ADDRESS, FEEDBACK_COUNT, retries=0)
                whole += 1
            except GarbledReplyError as error:
                garbled += 1
                headless += _lacks_head(getattr(error, "received", b""))
            except NoReplyError:
                silent += 1
    finally:
        port.reads_trusted = may_read
    sent = rounds * len(servo_ids)
    is_trusted, text = _verdict((sent, whole, garbled, silent, headless), echoes, expects_echo)
    if is_trusted and not may_read:
        is_trusted = False
        text += " now, but the timing of this direction control is not guaranteed, so the driver will not rely on it"
    if not is_trusted:
        advice = getattr(getattr(bus.port, "direction", None), "advice", "")
        text += f" ({advice})" if advice else ""
    return WiringReport(sent, whole, garbled, silent, headless, echoes, is_trusted, text)


def _lacks_head(received: bytes) -> bool:
    """Return whether bytes are the end of a reply: its checksum follows from a header that can be guessed."""
    missing = FEEDBACK_COUNT + 6 - len(received)
    return 0 < missing <= _HEADLESS and not received.startswith(b"\xff\xff")


def _verdict(counts: Tuple[int, int, int, int, int], echoes: bool, expects_echo: bool) -> Tuple[bool, str]:
    sent, whole, garbled, silent, headless = counts
    if not sent:
        return False, "no servo IDs were given; name the servos that should be on the bus"
    fraction = whole / sent
    found = f"{whole} of {sent} replies arrived whole, {garbled} garbled, {silent} not at all"
    if echoes and not expects_echo:
        return False, f"{found}. What is sent comes back: this is a single-wire wiring, choose direction control 'echo'"
    if expects_echo and not echoes:
        return False, f"{found}. What is sent does not come back: choose direction control 'auto', or repair the echo"
    if fraction >= _TRUSTED_FRACTION:
        return True, f"{found}: replies can be trusted"
    if whole == 0 and garbled == 0:
        return False, f"{found}. No servo answers: check power, cable and baud rate (ax-servo scan)"
    if headless > garbled / 2 and garbled > silent:
        return False, f"{found}, {headless} without their first bytes: the line is switched to receiving too late"
    if garbled > silent:
        return False, f"{found}: noise, a bad contact, two servos with one ID, or a missing pull-up"
    return False, f"{found}: some servos or replies are missing; scan the bus, check their cables"
