# SPDX-License-Identifier: MIT
"""Which notices are logged: every new sentence at once, the same one seldom, and no flood of a kind."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Dict, Iterable, Optional, Tuple

from shellbot_common.notices import Notice

SAME_S = 5.0  # s after which the same sentence is said again
MOST = 3  # sentences of one kind (`Notice.key`) in `WINDOW_S`
WINDOW_S = 1.0
_MEASURED = re.compile(
    r"\d+\.\d+"
)  # a sentence with another measured value is the same; IDs and counts are not measured


@dataclass(frozen=True)
class _Window:
    since: float
    said: int = 1
    held: Optional[Notice] = None  # the newest of those that were too many
    more: int = 0


class LogThrottle:
    """Decide what is logged. Time is passed in, s; call `pass_on` regularly, also without notices.

    A sentence that differs from those before is said at once, whatever its kind has said before: what a kind says next
    may be the reason why. Of more than three different ones in a second the newest is said at the end of the second,
    with the number of the others.
    """

    def __init__(self) -> None:
        self._same: Dict[Tuple[str, str], float] = {}
        self._windows: Dict[str, _Window] = {}

    def pass_on(self, notices: Iterable[Notice], now: float) -> Tuple[Notice, ...]:
        """Take notices; return those to log now."""
        out = list(self._overdue(now))
        for notice in notices:
            identity = (notice.key, _MEASURED.sub("#", notice.text))
            if now - self._same.get(identity, -SAME_S) < SAME_S:
                continue
            self._same[identity] = now
            window = self._windows.get(notice.key)
            if window is None:
                self._windows[notice.key] = _Window(now)
            elif window.said < MOST:
                self._windows[notice.key] = replace(window, said=window.said + 1)
            else:
                self._windows[notice.key] = replace(window, held=notice, more=window.more + 1)
                continue
            out.append(notice)
        self._same = {identity: at for identity, at in self._same.items() if now - at < SAME_S}
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
