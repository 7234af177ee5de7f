# SPDX-License-Identifier: MIT
"""SYNC WRITE to the same servos every tick, with the packets prepared once."""

from __future__ import annotations

from struct import Struct
from struct import error as StructError
from typing import List, Sequence, Tuple

import numpy as np

from ax_bus import protocol
from ax_bus.bus import Bus
from ax_bus.errors import PacketError
from ax_bus.protocol import HEADER


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
            raise PacketError(f"servo IDs {list(servo_ids)} are empty or repeated; give each servo once")
        self._bus = bus
        self._shape = (len(servo_ids), words)
        self._groups: List[Tuple[bytes, Struct, slice]] = []  # packet up to the first servo, the servos' part, its rows
        start = 0
        for group in protocol.split_sync_write(servo_ids, 2 * words):
            packet = protocol.sync_write(address, {servo_id: bytes(2 * words) for servo_id in group})
            # an ID stands before the words of each servo: a word of its own in the table, a byte in the packet
            layout = Struct("<" + ("B" + words * "H") * len(group))
            self._groups.append((packet[2:7], layout, slice(start * (words + 1), (start + len(group)) * (words + 1))))
            start += len(group)
        self._table = [0] * (len(servo_ids) * (words + 1))
        self._table[:: words + 1] = servo_ids

    @property
    def packets(self) -> int:
        """How many packets one call sends."""
        return len(self._groups)

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
        numbers = np.asarray(values)
        if numbers.ndim == 1:
            numbers = numbers[:, None]
        if numbers.shape != self._shape or numbers.dtype.kind not in "iu":
            raise PacketError(f"values are {numbers.dtype} {numbers.shape}; give whole numbers of shape {self._shape}")
        for k, column in enumerate(numbers.T.tolist(), start=1):
            self._table[k :: self._shape[1] + 1] = column
        try:
            bodies = [head + layout.pack(*self._table[part]) for head, layout, part in self._groups]
        except StructError:
            raise PacketError(f"values reach {numbers.min()} to {numbers.max()}; give 0 to 65535") from None
        for body in bodies:
            self._bus.send(HEADER + body + bytes((protocol.checksum(body),)))
