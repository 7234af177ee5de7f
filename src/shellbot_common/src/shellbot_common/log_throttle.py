# SPDX-License-Identifier: MIT
"""Which notices are logged: every new sentence at once, the same one seldom, and no flood of a kind."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Dict, Iterable, Optional, Tuple

from shellbot_common.notices import Level, Notice

SAME_S = 5.0  # s after which the same sentence is said again
LONGEST_S = 60.0  # s between two of a warning that goes on and on; errors are said every `SAME_S`
MOST = 3  # sentences of one kind (`Notice.key`) in `WINDOW_S`
WINDOW_S = 1.0
# A sentence with another measured value is the same; IDs and counts are not measured.
_MEASURED = re.compile(r"\d+\.\d+")


@dataclass(frozen=True)
class _Same:
    reported: float
    offered: float
    pause: float  # s until it is said again


@dataclass(frozen=True)
class _Window:
    since: float
    reported: int = 1
    held: Optional[Notice] = None  # the newest of those that were too many
    more: int = 0


class LogThrottle:
    """Decide what is logged. Time is passed in, s; call `pass_on` regularly, also without notices.

    A sentence that differs from those before is said at once, whatever its kind has said before: what a kind says next
    may be the reason why. A warning that goes on is said after 5, 10, 20, 40 s and then once a minute. Of more than
    three different ones in a second the newest is said at the end of the second, with the number of the others.
    """

    def __init__(self) -> None:
        self._same: Dict[Tuple[str, str], _Same] = {}
        self._windows: Dict[str, _Window] = {}

    def pass_on(self, notices: Iterable[Notice], now: float) -> Tuple[Notice, ...]:
        """Take notices; return those to log now."""
        out = list(self._overdue(now))
        self._same = {identity: same for identity, same in self._same.items() if now - same.offered <= SAME_S}
        for notice in notices:
            identity = (notice.key, _MEASURED.sub("#", notice.text))
            before = self._same.get(identity)
            if before is not None and now - before.reported < before.pause:
                self._same[identity] = replace(before, offered=now)
                continue
            pause = SAME_S
            if before is not None and notice.level is not Level.ERROR:
                pause = min(2.0 * before.pause, LONGEST_S)
            self._same[identity] = _Same(now, now, pause)
            window = self._windows.get(notice.key)
            if window is None:
                self._windows[notice.key] = _Window(now)
            elif window.reported < MOST:
                self._windows[notice.key] = replace(window, reported=window.reported + 1)
            else:
                self._windows[notice.key] = replace(window, held=notice, more=window.more + 1)
                continue
            out.append(notice)
        return tuple(out)

    def _overdue(self, now: float) -> Iterable[Notice]:
        for key, window in tuple(self._windows.items()):
            if now - window.since < WINDOW_S:
                continue
            del self._windows[key]
            if window.held is not None:
                others = f" (and {window.more - 1} more like this)" if window.more > 1 else ""
                self._windows[key] = _Window(now)
                yield replace(window.held, text=window.held.text + others)
