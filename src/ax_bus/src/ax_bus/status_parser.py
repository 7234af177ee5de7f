# SPDX-License-Identifier: MIT
"""Find status packets in a stream of bytes that may be cut, garbled or late."""

from __future__ import annotations

from typing import Iterator, Optional, Tuple

from ax_bus.protocol import FLAGS, HEADER, MAX_ID, OVERHEAD, Status

_WHOLE = (255 + 255 + 255) & 0xFF  # sum of a whole packet: header, and everything behind it with its checksum
_LONGEST = 74 + 2  # LEN of the reply with the whole table of an MX, the longest there is


def whole(data: bytes, servo_id: int, count: int) -> Optional[Status]:
    """Return the status packet that ``data`` are from end to end, of this servo and with ``count`` bytes, or None."""
    if (
        len(data) == count + OVERHEAD
        and data[2] == servo_id
        and data[3] == count + 2
        and data[4] < 128
        and data.startswith(HEADER)
        and sum(data) & 0xFF == _WHOLE
    ):
        return Status(servo_id, FLAGS[data[4]], data[5:-1])
    return None


class StatusParser:
    """Collect received bytes and take status packets out of them.

    A candidate is accepted if its ID is the expected one (or any, if none is expected), its length the expected one,
    bit 7 of its error byte is 0 and its checksum is right. If not, the parser drops one byte and looks again from the
    next: a header inside garbage is never skipped, and data that look like a header do not swallow a real packet.

    Attributes
    ----------
    buffer : bytearray
        What waits; received bytes are appended to it.
    skipped : int
        Bytes dropped so far.
    bad_checksums, bad_lengths, foreign : int
        Candidates that failed for their checksum (with everything else right), that were valid packets of another
        length, and that were valid packets of another ID.
    """

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.skipped = 0
        self.bad_checksums = 0
        self.bad_lengths = 0
        self.foreign = 0

    def clear(self) -> bytes:
        """Drop and return what waits."""
        dropped = bytes(self.buffer)
        self.buffer.clear()
        return dropped

    def drop(self, count: int) -> bytes:
        """Drop and return the first ``count`` bytes (an echo)."""
        dropped = bytes(self.buffer[:count])
        del self.buffer[:count]
        return dropped

    def next(self, servo_id: Optional[int] = None, count: Optional[int] = None) -> Optional[Status]:
        """Return the next status packet that meets the expectation, or None if more bytes are needed.

        Parameters
        ----------
        servo_id : int, optional
            The only ID to accept; others are dropped and counted.
        count : int, optional
            The only number of data bytes to accept.
        """
        buffer = self.buffer
        while True:
            start = buffer.find(HEADER)
            if start < 0:
                # The last byte may be the first half of a header.
                self._skip(len(buffer) - 1 if buffer.endswith(b"\xff") else len(buffer))
                return None
            self._skip(start)
            verdict, status, size = self._candidate(servo_id, count)
            if verdict is None:
                return None
            if status is None:
                self._skip(1)
                continue
            del buffer[:size]
            if verdict:
                return status
            self.skipped += size

    def packets(self) -> Iterator[Status]:
        """Yield every complete status packet that waits, whoever sent it."""
        while True:
            status = self.next()
            if status is None:
                return
            yield status

    def _skip(self, count: int) -> None:
        if count > 0:
            del self.buffer[:count]
            self.skipped += count

    def _candidate(self, servo_id: Optional[int], count: Optional[int]) -> Tuple[Optional[bool], Optional[Status], int]:
        """Judge the candidate at the start: (wanted or None for incomplete, packet or None for garbage, its size)."""
        buffer = self.buffer
        if len(buffer) < 3:
            return None, None, 0
        # FF FF FF: the header begins one byte later (0xFF is no ID)
        if buffer[2] > MAX_ID:
            return False, None, 0
        if len(buffer) < 4:
            return None, None, 0
        length = buffer[3]
        size = length + 4
        is_expected = (servo_id is None or buffer[2] == servo_id) and (count is None or length == count + 2)
        # A longer one than there can be is garbage, and waiting for it would lose the tick.
        if length < 2 or length > _LONGEST or (len(buffer) > 4 and buffer[4] > 127):
            return False, None, 0
        if len(buffer) < size:
            # Something else that is not complete may still hide the reply: look behind it rather than wait.
            if not is_expected and self._hides_reply(servo_id, count):
                return False, None, 0
            return None, None, 0
        if (sum(buffer[2:size]) & 0xFF) != 0xFF:
            if is_expected and size >= OVERHEAD:
                self.bad_checksums += 1
            return False, None, 0
        status = Status(buffer[2], FLAGS[buffer[4]], bytes(buffer[5 : size - 1]))
        if not is_expected:
            if servo_id is not None and buffer[2] != servo_id:
                self.foreign += 1
            else:
                self.bad_lengths += 1
        return is_expected, status, size

    def _hides_reply(self, servo_id: Optional[int], count: Optional[int]) -> bool:
        """Return whether a complete expected packet begins behind the first byte."""
        if servo_id is None or count is None:
            return False
        size = count + OVERHEAD
        buffer = self.buffer
        start = buffer.find(bytes((0xFF, 0xFF, servo_id, count + 2)), 1)
        while 0 <= start <= len(buffer) - size:
            if sum(buffer[start + 2 : start + size]) & 0xFF == 0xFF and buffer[start + 4] < 128:
                return True
            start = buffer.find(bytes((0xFF, 0xFF, servo_id, count + 2)), start + 1)
        return False
