# SPDX-License-Identifier: MIT
"""What servos say, as text: the registers of one, and a live table of many."""

from __future__ import annotations

import contextlib
import math
from typing import List, Optional, Sequence

from ax_bus.bus import Bus
from ax_bus.errors import NoReplyError
from ax_bus.exchanger import Reply
from ax_bus.protocol import flag_names
from ax_bus.registers import AX_12A, FEEDBACK_ADDRESS, FEEDBACK_COUNT, MODELS, TABLE_SIZE, Register, baud_of


def info(bus: Bus, servo_id: int) -> str:
    """Return all registers of a servo with their meaning."""
    reply = bus.read(servo_id, 0, TABLE_SIZE, retries=3)
    number = int.from_bytes(reply.data[:2], "little")
    model = MODELS.get(number, AX_12A)
    name = model.name if number in MODELS else f"model {number}, not known: read as {model.name}"
    lines = [f"servo {servo_id}: {name}", f"{'address':>7} {'register':<24} {'number':>6}  meaning"]
    for row in model.registers:
        value = row.from_bytes(reply.data[row.address : row.address + row.size])
        lines.append(f"{row.address:>7} {row.name:<24} {value:>6}  {_meaning(row, value)}".rstrip())
    lines.append(f"error flags: {', '.join(flag_names(reply.flags)) or 'none'}")
    return "\n".join(lines)


def _meaning(row: Register, number: int) -> str:
    if row.name == "baud_rate":
        text = f"{baud_of(number):.0f} baud"
    elif row.name in ("alarm_led", "shutdown"):
        text = ", ".join(flag_names(number)) or "none"
    elif row.unit == "rad":
        text = f"{math.degrees(row.to_si(number)):.1f} degrees"
    elif row.unit == "s":
        text = f"{row.to_si(number) * 1e6:.0f} us"
    elif row.unit:
        text = f"{row.to_si(number):.3g} {row.unit}"
    else:
        text = ""
    return f"{text} ({row.note})" if row.note else text


class Monitor:
    """A table of what the servos feel, one line each.

    Parameters
    ----------
    bus : Bus
        The bus.
    servo_ids : sequence of int
        The lines.
    """

    def __init__(self, bus: Bus, servo_ids: Sequence[int]) -> None:
        self._bus = bus
        self._ids = tuple(servo_ids)
        self._last: List[Optional[Reply]] = [None] * len(self._ids)

    def table(self) -> str:
        """Read every servo once and return the table; a silent servo keeps its last values and an age."""
        lines = [f"{'id':>4} {'degrees':>8} {'deg/s':>7} {'load %':>7} {'volt':>5} {'temp':>5} {'age s':>6}  errors"]
        for i, servo_id in enumerate(self._ids):
            with contextlib.suppress(NoReplyError):  # the age says so
                self._last[i] = self._bus.read(servo_id, FEEDBACK_ADDRESS, FEEDBACK_COUNT, retries=1)
            lines.append(_line(servo_id, self._last[i], self._bus.port.now()))
        figures = self._bus.statistics
        lines.append(
            f"{figures.replies} replies, {figures.timeouts} time-outs, {figures.bad_checksums} bad checksums, "
            f"{figures.stale_replies} stale, {figures.noise_bytes} bytes of noise, "
            f"round trip {figures.snapshot()['round_trip_p50'] * 1e3:.2f} ms"
        )
        return "\n".join(lines)


def _line(servo_id: int, reply: Optional[Reply], now: float) -> str:
    if reply is None:
        return f"{servo_id:>4} {'-':>8} {'-':>7} {'-':>7} {'-':>5} {'-':>5} {'-':>6}  does not answer"
    values = {}
    for name in ("position", "speed", "load", "voltage", "temperature"):
        row = AX_12A.register(f"present_{name}")
        start = row.address - FEEDBACK_ADDRESS
        values[name] = row.to_si(row.from_bytes(reply.data[start : start + row.size]))
    return (
        f"{servo_id:>4} {math.degrees(values['position']) - 150.0:>8.1f} {math.degrees(values['speed']):>7.0f} "
        f"{100.0 * values['load']:>7.0f} {values['voltage']:>5.1f} {values['temperature']:>5.0f} "
        f"{now - reply.stamp:>6.1f}  {', '.join(flag_names(reply.flags)) or '-'}"
    )
