# SPDX-License-Identifier: MIT
"""The replies to one BULK READ: every servo answers when the whole reply of the one before it has passed the wire."""

from __future__ import annotations

from typing import Dict, Iterator, List, NamedTuple, Sequence

from ax_bus.status_parser import StatusParser


class Block(NamedTuple):
    """What one servo is to send."""

    size: int
    servo_id: int
    address: int


def blocks(parameters: Sequence[int]) -> List[Block]:
    """Return the blocks of a BULK READ in the order of the replies; none if its parameters are not well formed.

    Protocol 1.0, Bulk Read: the first parameter is 0, three follow for each servo, not for a single servo, and of
    several blocks for one ID the first counts.
    """
    if len(parameters) < 7 or len(parameters) % 3 != 1 or parameters[0]:
        return []
    by_id: Dict[int, Block] = {}
    for i in range(1, len(parameters), 3):
        by_id.setdefault(parameters[i + 1], Block(*parameters[i : i + 3]))
    return list(by_id.values())


class BulkRead:
    """Whose turn it is.

    Parameters
    ----------
    order : iterable of Block
        All blocks of the instruction.
    """

    def __init__(self, order: Sequence[Block]) -> None:
        self._order = list(order)
        self._parser = StatusParser()

    @property
    def turn(self) -> Block:
        """Who answers now."""
        return self._order[0]

    def hear(self, data: bytes) -> Iterator[Block]:
        """Take bytes of replies as they pass the wire; yield a block when its turn has come.

        A reply that does not come, or not whole, silences all that follow: they wait for it.
        """
        self._parser.buffer += data
        while len(self._order) > 1 and self._parser.next(self.turn.servo_id) is not None:
            del self._order[0]
            yield self.turn
