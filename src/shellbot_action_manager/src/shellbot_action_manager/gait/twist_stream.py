# SPDX-License-Identifier: MIT
"""How long a commanded velocity counts: by the rhythm of the commands, so that the end of a stream is noticed soon."""

from __future__ import annotations

import math
from collections import deque
from typing import Deque

from shellbot_action_manager.config import LapseConfig

_RECENT = 8  # intervals: 0.4 s of an operator's stream


class TwistStream:
    """The arrival times of one topic's commands.

    Parameters
    ----------
    config : LapseConfig
        When a stream has ended.
    timeout : float
        How long a command counts without a rhythm, and at most, s.
    """

    def __init__(self, config: LapseConfig, timeout: float) -> None:
        self._config, self._timeout = config, timeout
        self._arrived = -math.inf
        self._intervals: Deque[float] = deque(maxlen=_RECENT)

    def timeout(self, arrived: float) -> float:
        """Return how long the newest command counts, s.

        The longest of the recent intervals tells the rhythm with its jitter: an operator's 20 Hz end after 0.2 s, a
        planner's 5 Hz and a program in step with the ticks not before the time-out of a single command.

        Parameters
        ----------
        arrived : float
            Simulated time at which it arrived, s; -inf: none ever came.
        """
        interval = arrived - self._arrived
        if interval != 0.0:
            if 0.0 < interval <= self._timeout:
                self._intervals.append(interval)
            else:  # another stream begins, or the clock went back
                self._intervals.clear()
            self._arrived = arrived
        count = len(self._intervals)
        if not count or sum(self._intervals) < self._config.quickest * count:
            return self._timeout
        return min(max(self._config.periods * max(self._intervals), self._config.shortest), self._timeout)
