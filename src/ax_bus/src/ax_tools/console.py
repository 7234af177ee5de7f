# SPDX-License-Identifier: MIT
"""Words for the user of a terminal: results, remarks, and how long a search still takes."""

from __future__ import annotations

import sys
import time
from typing import Callable, Dict, Iterable, Optional, TextIO

_REDRAW = 0.2  # s between two drawings of a progress line
_PLAIN = 10.0  # s between two lines about the same round where lines cannot be overwritten


def say(text: str) -> None:
    """Write a result."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Write what is being done, apart from the result."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def report(failures: Dict[int, str], servo_ids: Iterable[int], done: str) -> int:
    """Report which servos succeeded and which failed.

    Parameters
    ----------
    failures : dict of int to str
        Why each servo that failed did.
    servo_ids : iterable of int
        All of them.
    done : str
        What the others did, as the end of a sentence about them.

    Returns
    -------
    int
        Exit status: 1 if a servo failed.
    """
    total = len(list(servo_ids))
    if len(failures) < total:
        say(f"{total - len(failures)} servo(s) {done}")
    for text in failures.values():
        say(text)
    if failures:
        say(f"failed: {len(failures)} of {total} servo(s): {', '.join(map(str, failures))}")
    return 1 if failures else 0


class Progress:
    """How far a long search is and how long it still takes: one line rewritten on a terminal, few lines elsewhere.

    Parameters
    ----------
    stream : file, optional
        Where to; standard error by default.
    clock : callable
        s.
    """

    def __init__(self, stream: Optional[TextIO] = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._clock = clock
        self._start = clock()
        self._drawn = -float("inf")
        self._text = ""
        self._is_live = self._stream.isatty()

    def __call__(self, text: str, fraction: float) -> None:
        """Show the current step and the fraction (0 to 1) of the whole that is done."""
        now = self._clock()
        is_new = text != self._text
        if not is_new and now - self._drawn < (_REDRAW if self._is_live else _PLAIN):
            return
        self._text, self._drawn = text, now
        elapsed = now - self._start
        # a first estimate from a few milliseconds would be nonsense
        left = (
            f", about {elapsed * (1.0 - fraction) / fraction:.0f} s left" if fraction > 0.005 and elapsed > 0.2 else ""
        )
        line = f"{text} ({fraction:.0%}{left})"
        self._stream.write(f"\r{line}\x1b[K" if self._is_live else line + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Leave the line to what comes next."""
        if self._is_live and self._text:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
