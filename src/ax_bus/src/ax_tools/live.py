# SPDX-License-Identifier: MIT
"""Show a changing table: in place on a terminal, which is left as it was, and one after the other elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Iterator, Sequence, TextIO

from ax_bus.bus import Bus
from ax_tools.errors import ToolError
from ax_tools.monitor import Monitor, layout

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"  # the other screen, without a cursor
_HOME, _END_OF_LINE, _END = "\x1b[H", "\x1b[K\r\n", "\x1b[J"
_LOOK = 0.1  # s between two looks at the size of the terminal
_PLAIN = os.terminal_size((100, 10_000))  # a file or a pipe has room for everything


def show(bus: Bus, servo_ids: Sequence[int], rate: float, count: int = 0) -> None:
    """Read servos and show them again and again.

    Parameters
    ----------
    servo_ids : sequence of int
        Who.
    rate : float
        Tables per second.
    count : int
        How many; 0 is until Ctrl-C.

    Raises
    ------
    ToolError
        If the rate is out of range.
    """
    if not 0.1 <= rate <= 50.0:
        raise ToolError(f"rate is {rate}; give 0.1 to 50 tables per second")
    monitor, shown, out = Monitor(bus, servo_ids), 0, sys.stdout
    lines: Sequence[str] = ()
    with _screen(out) as is_live:
        while True:
            rows, footer = monitor.read(), monitor.footer()
            size = _size(out, is_live)
            lines = layout(rows, footer, *size)
            _draw(out, lines, is_live)
            shown += 1
            if shown == count:
                break
            until = time.monotonic() + 1.0 / rate
            while time.monotonic() < until:
                time.sleep(max(0.0, min(_LOOK, until - time.monotonic())))
                if _size(out, is_live) != size:
                    size = _size(out, is_live)
                    _draw(out, layout(rows, footer, *size), is_live)
    if is_live:
        _draw(out, lines, False)  # a table that ended by --count stays to be read


@contextlib.contextmanager
def _screen(out: TextIO) -> Iterator[bool]:
    """Yield whether ``out`` is a terminal; if so, its other screen is used meanwhile."""
    if not out.isatty():
        yield False
        return
    out.write(_ENTER)
    out.flush()
    try:
        yield True
    finally:
        out.write(_LEAVE)
        out.flush()


def _size(out: TextIO, is_live: bool) -> os.terminal_size:
    if not is_live:
        return _PLAIN
    with contextlib.suppress(OSError):
        size = os.get_terminal_size(out.fileno())
        if size.columns and size.lines:
            return size
    return os.terminal_size((80, 24))


def _draw(out: TextIO, lines: Sequence[str], is_live: bool) -> None:
    # no line end behind the last line: it would scroll a full screen
    text = _HOME + _END_OF_LINE.join(lines) + "\x1b[K" + _END if is_live else "\n".join(lines) + "\n"
    out.write(text)
    out.flush()
