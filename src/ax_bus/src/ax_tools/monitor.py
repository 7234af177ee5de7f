# SPDX-License-Identifier: MIT
"""A live table of many servos, laid out so that all of them fit the terminal."""

from __future__ import annotations

import math
import textwrap
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ax_bus.bus import Bus
from ax_bus.errors import NoReplyError
from ax_bus.exchanger import Reply
from ax_bus.protocol import flag_names
from ax_bus.registers import AX_12A, FEEDBACK_ADDRESS, FEEDBACK_COUNT, Model
from ax_tools.echo_watch import EchoWatch
from ax_tools.units import degrees, model_at

_GAP = "  "  # between two columns of servos
_OLD = 0.5  # s after which a reading is shown with its age
_SHORT = {"input_voltage": "voltage", "angle_limit": "angle", "overheating": "hot", "instruction": "instruct"}


class Row(NamedTuple):
    """What is known of a servo."""

    servo_id: int  #: Who
    model: Model  #: Whose table its numbers are
    reply: Optional[Reply]  #: Its last feedback, if there was any
    age: float  #: s since then

    def number(self, name: str) -> int:
        """Return a register of the feedback."""
        assert self.reply is not None
        row = self.model.register(f"present_{name}")
        start = row.address - FEEDBACK_ADDRESS
        return row.from_bytes(self.reply.data[start : start + row.size])

    def si(self, name: str) -> float:
        """Return it in SI."""
        return self.model.register(f"present_{name}").to_si(self.number(name))

    @property
    def state(self) -> str:
        """Whether it is well, in at most 9 letters."""
        if self.reply is None:
            return "silent"
        if self.age > _OLD:
            return f"{self.age:.1f}s ago" if self.age < 100.0 else "silent"
        names = [_SHORT.get(name, name) for name in flag_names(self.reply.flags)]
        return f"{names[0]} +{len(names) - 1}" if len(names) > 1 and len(names[0]) < 7 else names[0] if names else "ok"


class Field(NamedTuple):
    """A column: its head, width, and text of a servo that answered."""

    head: str
    width: int
    text: Callable[[Row], str]


_ID = Field("id", 3, lambda row: str(row.servo_id))
_STEPS = Field("step", 4, lambda row: str(row.number("position")))
_DEGREES = Field("deg", 6, lambda row: f"{degrees(row.model, row.number('position')):.1f}")
_SPEED = Field("deg/s", 5, lambda row: f"{math.degrees(row.si('speed')):.0f}")
_LOAD = Field("load", 4, lambda row: f"{100.0 * row.si('load'):.0f}")
_VOLT = Field("V", 4, lambda row: f"{row.si('voltage'):.1f}")
_TEMPERATURE = Field("C", 3, lambda row: f"{row.si('temperature'):.0f}")
_STATE = Field("", -9, lambda row: row.state)
_AGE = Field("age s", 5, lambda row: f"{row.age:.1f}")
_ERRORS = Field("errors", -36, lambda row: ", ".join(flag_names(row.reply.flags if row.reply else 0)) or "-")

# from all that there is to the least that is of use
_FIELDS: Tuple[Tuple[Field, ...], ...] = (
    (_ID, _STEPS, _DEGREES, _SPEED, _LOAD, _VOLT, _TEMPERATURE, _AGE, _ERRORS),
    (_ID, _STEPS, _DEGREES, _LOAD, _VOLT, _TEMPERATURE, _STATE),
    (_ID, _STEPS, _DEGREES, _STATE),
    (_ID, _STEPS),
)


class Monitor:
    """Reads servos round by round.

    Parameters
    ----------
    servo_ids : sequence of int
        Who.
    """

    def __init__(self, bus: Bus, servo_ids: Sequence[int]) -> None:
        self._bus = bus
        self._ids = tuple(servo_ids)
        self._models: Dict[int, Model] = {}
        self._last: Dict[int, Reply] = {}
        self._echo = EchoWatch(bus)

    def read(self) -> List[Row]:
        """Read every servo once; a silent one keeps its last values, and an age."""
        return [self._row(servo_id) for servo_id in self._ids]

    def footer(self) -> List[str]:
        """Return lines about the bus: counters, and what is wrong with the line."""
        figures = self._bus.statistics
        counts = [(figures.replies, "replies"), (figures.timeouts, "time-outs")]
        rare = [
            (figures.bad_checksums, "bad checksums"),
            (figures.stale_replies, "stale"),
            (figures.noise_bytes, "bytes of noise"),
        ]
        words = [f"{count} {name}" for count, name in counts + [pair for pair in rare if pair[0]]]
        trip = figures.snapshot()["round_trip_p50"]
        lines = [", ".join(words) + (f", round trip {trip * 1e3:.2f} ms" if trip == trip else "")]
        echo = self._echo.look()
        return [echo, *lines] if echo else lines

    def _row(self, servo_id: int) -> Row:
        try:
            if servo_id not in self._models:
                self._models[servo_id] = model_at(self._bus, servo_id)
            self._last[servo_id] = self._bus.read(servo_id, FEEDBACK_ADDRESS, FEEDBACK_COUNT, retries=1)
        except NoReplyError:
            pass  # the age says so
        reply = self._last.get(servo_id)
        age = math.inf if reply is None else self._bus.port.now() - reply.stamp
        return Row(servo_id, self._models.get(servo_id, AX_12A), reply, age)


def layout(rows: Sequence[Row], footer: Sequence[str], width: int, height: int) -> List[str]:
    """Return the table as lines that fit: as many fields as possible, in as few columns of servos as needed.

    Parameters
    ----------
    rows : sequence of Row
        The servos.
    footer : sequence of str
        Last lines.
    width, height : int
        Of the terminal, characters and lines.
    """
    footer = [part for line in footer for part in textwrap.wrap(line, max(1, width))][: height // 4]
    room = max(1, height - 1 - len(footer))
    for fields in _FIELDS:
        columns = -(-len(rows) // room)
        if columns * (_width(fields) + len(_GAP)) - len(_GAP) <= width:
            return [line[:width] for line in (*_table(rows, fields, columns), *footer)]
    fields = _FIELDS[-1]
    columns = max(1, (width + len(_GAP)) // (_width(fields) + len(_GAP)))
    shown = rows[: columns * max(1, room - 1)]
    hidden = f"{len(rows) - len(shown)} more do not fit; make the window larger"
    return [line[:width] for line in (*_table(shown, fields, columns), hidden, *footer)][:height]


def _width(fields: Sequence[Field]) -> int:
    return sum(abs(field.width) + 1 for field in fields) - 1


def _table(rows: Sequence[Row], fields: Sequence[Field], columns: int) -> List[str]:
    """Return head and lines, servos running down each column."""
    count = -(-len(rows) // columns)
    head = _GAP.join([" ".join(_set(field, field.head) for field in fields)] * columns)
    cells = [_cells(row, fields) for row in rows]
    return [head.rstrip()] + [_GAP.join(cells[i::count]).rstrip() for i in range(count)]


def _cells(row: Row, fields: Sequence[Field]) -> str:
    """Return one servo's part of a line."""
    texts = []
    for field in fields:
        if row.reply is None and field not in (_ID, _STATE):
            texts.append(_set(field, "does not answer" if field is _ERRORS else "-"))
        else:
            texts.append(_set(field, field.text(row)))
    return " ".join(texts)


def _set(field: Field, text: str) -> str:
    return text.ljust(-field.width)[: -field.width] if field.width < 0 else text.rjust(field.width)
