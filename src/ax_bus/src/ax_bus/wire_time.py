# SPDX-License-Identifier: MIT
"""Time on the wire: how long packets take, and how long to wait for a reply.

A byte is 10 bits (start, 8 data, stop). Latencies of the servo: reverse-engineered figures of an AX at return delay 0,
PING 18 us, READ 22 us, WRITE of N bytes 24 + 6 N us; the motor interrupt (1 kHz, 130 us long) may come on top.
"""

from __future__ import annotations

from dataclasses import dataclass

from ax_bus.errors import ServoError
from ax_bus.protocol import OVERHEAD, READ_BYTES, split_sync_write

BITS_PER_BYTE = 10
PING_LATENCY = 18e-6  # s
READ_LATENCY = 22e-6  # s
WRITE_LATENCY, WRITE_LATENCY_PER_BYTE = 24e-6, 6e-6  # s
INTERRUPT = 130e-6  # s, the servo's motor interrupt
MAX_RETURN_DELAY = 508e-6  # s
MAX_LINK_LATENCY = 0.1  # s, of adapter and kernel
BAUDS = (7000, 4_500_000)  # rates that some servo of this protocol has


def check_line(baud: int, link_latency: float) -> None:
    """Raise ServoError, in the words of a command line, if no line has such a rate or such a latency (s)."""
    if not BAUDS[0] <= baud <= BAUDS[1]:
        raise ServoError(f"--baud is {baud}; give {BAUDS[0]} to {BAUDS[1]}")
    if not 0.0 <= link_latency <= MAX_LINK_LATENCY:
        raise ServoError(f"--latency-ms is {1e3 * link_latency:g}; give 0 to {1e3 * MAX_LINK_LATENCY:g}")


def bytes_time(count: int, baud: float) -> float:
    """Return how long ``count`` bytes take, s."""
    return count * BITS_PER_BYTE / baud


def read_time(count: int, baud: float, return_delay: float = 0.0) -> float:
    """Return how long a READ of ``count`` bytes and its reply take on the wire, s; 242 us for 8 bytes at 1 Mbaud."""
    return bytes_time(READ_BYTES + OVERHEAD + count, baud) + READ_LATENCY + return_delay


def sync_write_bytes(servos: int, count: int) -> int:
    """Return the bytes of SYNC WRITE packets for ``servos`` servos with ``count`` bytes each."""
    return sum(OVERHEAD + 2 + len(group) * (count + 1) for group in split_sync_write(range(servos), count))


def sync_write_time(servos: int, count: int, baud: float) -> float:
    """Return how long SYNC WRITE to ``servos`` servos takes on the wire, s; 1.03 ms for 19 at 4 bytes and 1 Mbaud."""
    return bytes_time(sync_write_bytes(servos, count), baud)


@dataclass(frozen=True)
class Timeouts:
    """How long a reply may take: wire + return delay + servo's interrupt + the link's latency + a margin."""

    #: Longest return delay of a servo on the bus, s (508 us covers every setting)
    return_delay: float = MAX_RETURN_DELAY
    #: Latency of the adapter and the kernel that 99 of 100 replies keep, s; 1 ms for an FTDI at latency timer 1
    link_latency: float = 1e-3
    margin: float = 0.5e-3  #: s on top, for the process's own wake-up

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, high in (("return_delay", 0.01), ("link_latency", MAX_LINK_LATENCY), ("margin", 0.1)):
            value = getattr(self, name)
            if not 0.0 <= value <= high:
                raise ValueError(f"{name} is {value} s; give 0 to {high} s")

    def reply(self, sent: int, count: int, baud: float) -> float:
        """Return how long after the start of sending a status packet with ``count`` bytes must be here, s.

        Parameters
        ----------
        sent : int
            Bytes of the instruction packet.
        count : int
            Data bytes of the reply.
        baud : float
            Rate of the line.
        """
        latency = WRITE_LATENCY + WRITE_LATENCY_PER_BYTE * sent + 2.0 * INTERRUPT
        return (
            bytes_time(sent + OVERHEAD + count, baud)
            + self.return_delay
            + latency
            + 2.0 * self.link_latency  # there and back
            + self.margin
        )
