# SPDX-License-Identifier: MIT
"""How long a process may stand still before it counts as hung."""

from __future__ import annotations

from typing import Any

_LONGEST_LOOK = 0.1  # s


class Patience:
    """Whether something has not changed for too long, in time during which it was polled.

    Between two looks at most 0.1 s count, however long they are apart: if the whole machine stood still, or whoever
    looks did, the other one could not move either and gets its time again.

    Parameters
    ----------
    limit : float
        s without a change that are too long.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._mark: Any = None
        self._last = 0.0
        self._waited = 0.0

    def is_over(self, now: float, mark: Any) -> bool:
        """Look at ``now``, s; return whether ``mark`` has been the same for more than the limit."""
        if mark != self._mark:
            self._mark, self._waited = mark, 0.0
        else:
            self._waited += min(now - self._last, _LONGEST_LOOK)
        self._last = now
        return self._waited > self.limit
