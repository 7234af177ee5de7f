# SPDX-License-Identifier: MIT
"""Commands that only look: nothing moves, nothing is stored."""

from __future__ import annotations

import argparse
import contextlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, List

from ax_tools.console import Progress, note, report, say
from ax_tools.options import Command, add_ids, id_list

if TYPE_CHECKING:
    from ax_bus.bus import Bus


def _scan_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("--ids", type=id_list, help="IDs to try (default 0-252)")
    c.add_argument("--only-baud", action="store_true", help="only the rate of --baud")


def _scan(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import search

    bauds = (arguments.baud,) if arguments.only_baud else search.ALL_BAUDS
    with contextlib.closing(Progress()) as progress:
        found = search.search(bus, search.rounds(bauds, arguments.ids or search.ALL_IDS), progress)
    say(search.table(found))
    return 0 if found and not any(hit.is_garbled for hit in found) else 1


def _ping(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools.each import each

    def ping(servo_id: int) -> None:
        say(f"servo {servo_id} answers after {bus.ping(servo_id).round_trip * 1e3:.2f} ms")

    return report(each(arguments.ids, ping), arguments.ids, "answer")


def _info(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import registers

    say("\n\n".join(registers.info(bus, servo_id) for servo_id in arguments.ids))
    return 0


def _read_options(c: argparse.ArgumentParser) -> None:
    add_ids(c)
    c.add_argument("what", metavar="REGISTER", help="name or address of a register, or ADDRESS:COUNT for bytes")


def _read(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import registers
    from ax_tools.each import each

    failures = each(arguments.ids, lambda servo_id: say(registers.read(bus, servo_id, arguments.what)))
    return report(failures, arguments.ids, "read")


def _monitor_options(c: argparse.ArgumentParser) -> None:
    add_ids(c)
    c.add_argument("--rate", type=float, default=5.0, help="tables per second (default 5)")
    c.add_argument("--count", type=int, default=0, help="end after this many tables (default: with Ctrl-C)")


def _monitor(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import live

    live.show(bus, arguments.ids, arguments.rate, arguments.count)
    return 0


def _record_options(c: argparse.ArgumentParser) -> None:
    add_ids(c)
    c.add_argument("--out", type=Path, required=True, metavar="FILE", help=".csv (row by row) or .npz (arrays in SI)")
    c.add_argument("--rate", type=float, default=10.0, help="samples of all servos per second (default 10)")
    c.add_argument("--seconds", type=float, default=math.inf, help="end after this time (default: with Ctrl-C)")


def _record(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import record

    say(record.record(bus, arguments.ids, arguments.out, arguments.rate, arguments.seconds, note))
    return 0


def _wiring_options(c: argparse.ArgumentParser) -> None:
    add_ids(c)
    c.add_argument("--rounds", type=int, default=20, help="READs of each servo (default 20)")


def _wiring(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_bus.wiring import check_wiring

    result = check_wiring(bus, arguments.ids, max(1, arguments.rounds))
    say(result.text)
    return 0 if result.is_trusted else 1


def _bench_options(c: argparse.ArgumentParser) -> None:
    add_ids(c)
    c.add_argument("--reads", type=int, default=2000, help="READs to measure (default 2000)")
    c.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to this file")


def _bench(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import bench

    figures = bench.measure(bus, arguments.ids, arguments.reads)
    say(bench.text(figures))
    if arguments.json is not None:
        bench.write_json(arguments.json, figures)
    return 0


COMMANDS: List[Command] = [
    Command("scan", "find servos at all baud rates", _scan_options, _scan),
    Command("ping", "check that servos answer", add_ids, _ping),
    Command("info", "all registers with their meaning", add_ids, _info),
    Command("read", "read a register, or bytes", _read_options, _read),
    Command("monitor", "live table: position, load, voltage, temperature", _monitor_options, _monitor),
    Command("record", "record servo readings to a file until Ctrl-C", _record_options, _record),
    Command("wiring", "measure which replies arrive, and say what to change", _wiring_options, _wiring),
    Command("bench", "measure round trips and CPU on a bus", _bench_options, _bench),
]
