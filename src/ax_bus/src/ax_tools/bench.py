# SPDX-License-Identifier: MIT
"""What the bus costs on this machine: round trips over the wire's time, and CPU."""

from __future__ import annotations

import json
import struct
import time
from pathlib import Path
from typing import Dict, Sequence

import numpy as np

from ax_bus.bus import Bus
from ax_bus.errors import NoReplyError
from ax_bus.registers import FEEDBACK_ADDRESS, FEEDBACK_COUNT
from ax_bus.statistics import percentile
from ax_bus.sync_writer import SyncWriter
from ax_bus.wire_time import read_time, sync_write_time
from ax_tools.errors import ToolError

_SYNC_WRITES = 500


def measure(bus: Bus, servo_ids: Sequence[int], reads: int = 2000) -> Dict[str, float]:
    """Read 8 bytes of servo after servo, then SYNC WRITE to all (each servo's own goal and speed: nothing changes).

    Parameters
    ----------
    servo_ids : sequence of int
        Servos that answer.
    reads : int
        How many READs.

    Returns
    -------
    dict of str to float
        Figures, with units in the names.

    Raises
    ------
    ToolError
        If nothing could be measured.
    """
    if reads < 10:
        raise ToolError(f"{reads} reads measure nothing; give 10 or more")
    baud = bus.port.baud
    values = np.array([struct.unpack("<HH", bus.read(i, 30, 4, retries=3).data) for i in servo_ids])
    trips, lost = [], 0
    bus.statistics.clear()
    cpu, wall = time.process_time(), time.monotonic()
    for i in range(reads):
        try:
            trips.append(bus.read(servo_ids[i % len(servo_ids)], FEEDBACK_ADDRESS, FEEDBACK_COUNT).round_trip)
        except NoReplyError:
            lost += 1
    cpu, wall = time.process_time() - cpu, time.monotonic() - wall
    if not trips:
        raise ToolError("no reply at all; scan the bus")
    wire = read_time(FEEDBACK_COUNT, baud)
    writer = SyncWriter(bus, 30, servo_ids, words=2)
    pause = sync_write_time(len(servo_ids), 4, baud)
    cpu_sync = 0.0
    for _ in range(_SYNC_WRITES):
        start = time.process_time()
        writer(values)
        cpu_sync += time.process_time() - start
        bus.port.sleep(pause)
    return {
        "servos": len(servo_ids),
        "reads": reads,
        "lost_reads": lost,
        "wire_us_per_read": wire * 1e6,
        "round_trip_us_p50": percentile(trips, 50) * 1e6,
        "round_trip_us_p99": percentile(trips, 99) * 1e6,
        "overhead_us_per_read": (percentile(trips, 50) - wire) * 1e6,
        "cpu_us_per_read": cpu / reads * 1e6,
        "cpu_us_per_sync_write": cpu_sync / _SYNC_WRITES * 1e6,
        "cpu_ms_per_tick": (len(servo_ids) * cpu / reads + cpu_sync / _SYNC_WRITES) * 1e3,
        "reads_per_second": reads / wall,
    }


def text(figures: Dict[str, float]) -> str:
    """Return the figures as lines."""
    return "\n".join(f"{name:<24} {value:>10.1f}" for name, value in figures.items())


def write_json(path: Path, figures: Dict[str, float]) -> None:
    """Write the figures to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
