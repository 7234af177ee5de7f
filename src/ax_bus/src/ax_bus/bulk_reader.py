# SPDX-License-Identifier: MIT
"""BULK READ: one instruction, a reply of every servo in turn, each checked as the reply to a READ is."""

from __future__ import annotations

from typing import Dict, Mapping, NamedTuple, Tuple

from ax_bus import protocol
from ax_bus.exchanger import LATE_WINDOW, Exchanger, Key, Reply


class BulkReplies(NamedTuple):
    """What came."""

    replies: Dict[int, Reply]  #: By ID, in the order of the instruction
    #: Who did not answer; after the last try the first of them is silent itself, those behind it waited for its reply
    missing: Tuple[int, ...]


def bulk_read(exchanger: Exchanger, blocks: Mapping[int, Key], retries: int) -> BulkReplies:
    """Read ``blocks`` (ID to address and number of bytes); see `ax_bus.Bus.bulk_read`.

    A silent servo silences all behind it; in a further try it comes last, and only missing servos are queried.
    """
    exchanger.check_trusted(next(iter(blocks), 0))
    waiting = dict(blocks)
    replies: Dict[int, Reply] = {}
    protocol.bulk_read(waiting)  # refuses before anything is sent
    for attempt in range(1, retries + 2):
        if attempt > 1:
            exchanger.statistics.retries += 1
        try:
            came = _round(exchanger, waiting, attempt)
        except KeyboardInterrupt:
            exchanger.break_off(LATE_WINDOW)
            raise
        replies.update(came)
        left = [servo_id for servo_id in waiting if servo_id not in came]
        waiting = {servo_id: waiting[servo_id] for servo_id in left[1:] + left[:1]}
        if len(waiting) < 2:  # BULK READ is not for a single servo
            break
    missing = tuple(servo_id for servo_id in blocks if servo_id in waiting)
    return BulkReplies({servo_id: replies[servo_id] for servo_id in blocks if servo_id in replies}, missing)


def _round(exchanger: Exchanger, waiting: Mapping[int, Key], attempt: int) -> Dict[int, Reply]:
    """Send once; return the replies up to the first that does not come."""
    port, statistics = exchanger.port, exchanger.statistics
    exchanger.settle()
    came: Dict[int, Reply] = {}
    exchanger.check_stop(next(iter(waiting)))
    late = [expiry for servo_id in waiting for expiry in exchanger.owed.pop(servo_id, {}).values()]
    port.sleep(max([expiry - port.now() for expiry in late] + [0.0]))  # what is still under way belongs to older READs
    packet = protocol.bulk_read(waiting)
    exchanger.discard()
    started = max(port.now(), exchanger.line_free)
    statistics.exchanges += len(waiting)
    is_sent = exchanger.transmit(packet, started)
    for servo_id, (_, count) in waiting.items():
        sending, wire, timeout = exchanger.times_for(len(packet), count)
        deadline = started + timeout
        status = exchanger.wait_for(packet, servo_id, count, deadline)[0] if is_sent else None
        if status is None:
            statistics.timeouts += 1
            for silent in waiting.keys() - came.keys():
                exchanger.owe(silent, waiting[silent])
            break
        came[servo_id] = exchanger.accept(status, wire, attempt, started, deadline)
        started = port.now() - sending  # the next one is in transit as long as the reply to a READ of its own
    return came
