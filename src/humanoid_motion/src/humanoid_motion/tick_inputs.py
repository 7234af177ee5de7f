# SPDX-License-Identifier: MIT
"""Messages of several topics that belong to one tick: of the leading topic's stamp, or less than a tick away."""

from __future__ import annotations

from collections import deque
from typing import Any, Deque, List, Optional, Tuple

from shellbot_common import TICK

_TICK_NS = round(1e9 * TICK)
_HELD = 20  # messages of each topic that wait for the others; beyond, the oldest is dropped


class TickInputs:
    """Collects one message of each topic for each stamp of the first topic. Not thread safe.

    The embedded simulator gives all topics the same stamp, and no other fits, because its stamps are a tick apart. In
    Gazebo each sensor has a period of its own: the nearest message counts, which is hardly older than the joints.

    Parameters
    ----------
    count : int
        Number of topics.
    """

    def __init__(self, count: int) -> None:
        self._waiting: List[Deque[Tuple[int, Any]]] = [deque(maxlen=_HELD) for _ in range(count)]
        self._newest, self._done = 0, -_TICK_NS

    def add(self, topic: int, stamp: int, message: Any) -> Optional[List[Any]]:
        """Return the messages of a tick, in the order of the topics, with the last of them; else None.

        Parameters
        ----------
        topic : int
            Index of the topic; 0 leads.
        stamp : int
            Of the message, ns.
        message
            Handed back.
        """
        self._waiting[topic].append((stamp, message))
        self._newest = stamp
        leading = self._waiting[0]
        for index in range(len(leading) - 1, -1, -1):  # the newest that is complete; older ones are late then
            tick = [self._nearest(other, leading[index][0]) for other in range(len(self._waiting))]
            if all(tick):
                self._done = leading[index][0]
                for _ in range(index + 1):
                    leading.popleft()
                return [each[0] for each in tick]
        return None

    def silent(self) -> List[int]:
        """Return the topics of which nothing came for the newest stamp; empty if its tick is complete."""
        if abs(self._newest - self._done) < _TICK_NS:
            return []
        return [topic for topic in range(len(self._waiting)) if not self._nearest(topic, self._newest)]

    def _nearest(self, topic: int, stamp: int) -> List[Any]:
        """Return the message of a topic nearest to a stamp, if one is less than a tick away; else nothing."""
        near = [each for each in self._waiting[topic] if abs(each[0] - stamp) < _TICK_NS]
        return [message for _, message in sorted(near, key=lambda each: abs(each[0] - stamp))[:1]]
