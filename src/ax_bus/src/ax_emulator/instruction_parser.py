# SPDX-License-Identifier: MIT
"""How servos find instruction packets in what they receive."""

from __future__ import annotations

from typing import Iterator, NamedTuple

from ax_bus.protocol import HEADER, MAX_PACKET

_GAP = 0.1  # s between bytes after which a servo gives a packet up


class InstructionPacket(NamedTuple):
    """An instruction packet as received."""

    servo_id: int
    instruction: int
    parameters: bytes
    is_valid: bool
    start: float  # s, of its first byte


class InstructionParser:
    """Collect bytes; yield packets. A packet that does not fit the receive buffer is lost in silence.

    A garbled length makes a servo wait for bytes that belong to the next packets: they are lost, too, as in reality.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._end = 0.0
        self.oversize = 0

    def feed(self, data: bytes, start: float, end: float) -> Iterator[InstructionPacket]:
        """Take bytes that passed from ``start`` to ``end``; yield the packets that are now complete."""
        if self._buffer and start - self._end > _GAP:
            self._buffer.clear()
        self._end = end
        self._buffer += data
        byte_time = (end - start) / len(data) if data else 0.0
        while True:
            at = self._buffer.find(HEADER)
            if at < 0:
                del self._buffer[: len(self._buffer) - self._buffer.endswith(b"\xff")]
                return
            del self._buffer[:at]
            if len(self._buffer) < 4:
                return
            if self._buffer[2] == 0xFF or self._buffer[3] < 2:
                del self._buffer[:1]
                continue
            size = self._buffer[3] + 4
            if len(self._buffer) < size:
                return
            packet = bytes(self._buffer[:size])
            began = end - len(self._buffer) * byte_time
            del self._buffer[:size]
            if size > MAX_PACKET:
                self.oversize += 1
                continue
            yield InstructionPacket(packet[2], packet[4], packet[5:-1], sum(packet[2:]) & 0xFF == 0xFF, began)
