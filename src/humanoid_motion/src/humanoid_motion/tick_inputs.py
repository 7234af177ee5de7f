# SPDX-License-Identifier: MIT
"""Messages of several topics that belong to one tick: those of one stamp, whatever their order of arrival."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

_HELD = 20  # stamps that wait for the rest of their messages; beyond, the oldest is dropped


class TickInputs:
    """Collects one message of each topic by stamp. Not thread safe.

    Parameters
    ----------
    count : int
        Number of topics.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._waiting: Dict[Any, Dict[int, Any]] = {}

    def add(self, topic: int, stamp: Any, message: Any) -> Optional[List[Any]]:
        """Return all messages of a stamp, in the order of the topics, with the last of them; else None.

        Parameters
        ----------
        topic : int
            Index of the topic.
        stamp : hashable
            Of the message.
        message
            A second one of the same topic and stamp replaces the first.
        """
        held = self._waiting.setdefault(stamp, {})
        held[topic] = message
        if len(held) < self._count:
            while len(self._waiting) > _HELD:
                del self._waiting[next(iter(self._waiting))]
            return None
        del self._waiting[stamp]
        return [held[index] for index in range(self._count)]

    def silent(self) -> List[int]:
        """Return the topics of which nothing came with the newest stamp that waits; empty if none waits."""
        if not self._waiting:
            return []
        newest = list(self._waiting.values())[-1]
        return [index for index in range(self._count) if index not in newest]
