# SPDX-License-Identifier: MIT
"""SYNC WRITE to the same servos every tick, with the packets prepared once."""

from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np

from ax_bus import protocol
from ax_bus.bus import Bus
from ax_bus.errors import PacketError


class SyncWriter:
    """Write ``words`` two-byte registers from ``address`` of the same servos, again and again.

    Parameters
    ----------
    bus : Bus
        Where.
    address : int
        First register, such as 30 (goal position).
    servo_ids : sequence of int
        The n servos, in the order of the values.
    words : int
        Two-byte registers per servo: 1 goal position, 2 and moving speed, 3 and torque limit.
    """

    def __init__(self, bus: Bus, address: int, servo_ids: Sequence[int], words: int = 1) -> None:
        if not servo_ids or len(set(servo_ids)) != len(servo_ids):
            raise PacketError(f"servo IDs {list(servo_ids)} are empty or repeat; give each servo once")
        self._bus = bus
        self._shape = (len(servo_ids), words)
        self._packets: List[Tuple[bytearray, np.ndarray, slice]] = []
        start = 0
        for group in protocol.split_sync_write(servo_ids, 2 * words):
            packet = bytearray(protocol.sync_write(address, {servo_id: bytes(2 * words) for servo_id in group}))
            view = np.frombuffer(packet, np.uint8)[7:-1].reshape(len(group), 2 * words + 1)[:, 1:]
            self._packets.append((packet, view, slice(start, start + len(group))))
            start += len(group)

    @property
    def packets(self) -> int:
        """How many packets one call sends."""
        return len(self._packets)

    def __call__(self, values: np.ndarray) -> None:
        """Send the values.

        Parameters
        ----------
        values : (n, words) or (n,) array of int
            Register numbers, 0 to 65535; limits are the caller's.

        Raises
        ------
        PacketError
            If the shape is wrong or a value does not fit.
        """
        table = np.asarray(values)
        if table.ndim == 1:
            table = table[:, None]
        if table.shape != self._shape or table.dtype.kind not in "iu":
            raise PacketError(f"values are {table.dtype} {table.shape}; give whole numbers of shape {self._shape}")
        if table.size and (int(table.min()) < 0 or int(table.max()) > 0xFFFF):
            raise PacketError(f"values reach {table.min()} to {table.max()}; give 0 to 65535")
        words = np.ascontiguousarray(table, dtype="<u2").view(np.uint8)
        for packet, view, rows in self._packets:
            view[:] = words[rows]
            packet[-1] = protocol.checksum(packet[2:-1])
            self._bus.send(bytes(packet))
