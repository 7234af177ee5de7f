# SPDX-License-Identifier: MIT
"""What commands are made of: a row each, and the options they share. Imports no bus: help is instant."""

from __future__ import annotations

import argparse
from typing import Callable, List, NamedTuple

MAX_ID = 252  # 253 is the adapter USB2AX's
# names of ax_bus.direction.DIRECTIONS, whose import would cost more than all of the help; a test compares them
DIRECTION_NAMES = ("auto", "rs485", "echo", "gpio", "rts", "write-only")


class Command(NamedTuple):
    """One command."""

    #: name, help: The word, and a line about it
    name: str
    help: str
    add_options: Callable[[argparse.ArgumentParser], None]  #: ``add_options(parser)``; must import nothing heavy
    #: ``run(bus, arguments)``, or ``run(arguments)`` if `uses_bus` is false; returns the exit status
    run: Callable[..., int]
    uses_bus: bool = True  #: Whether it has the options of the port, and a `Bus` on it
    epilog: str = ""  #: Last words of its help


def id_list(text: str) -> List[int]:
    """Return the IDs of a text such as ``0-18,30``.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is no such text.
    """
    ids: List[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of IDs; write for example 0-18,30")
        ids += range(int(first), int(last or first) + 1)
    if not ids or max(ids) > MAX_ID or len(set(ids)) != len(ids):
        raise argparse.ArgumentTypeError(f"IDs {text!r} are empty, repeat or exceed {MAX_ID}")
    return ids


def add_ids(parser: argparse.ArgumentParser) -> None:
    """Add the argument of the commands for several servos."""
    parser.add_argument("ids", type=id_list, metavar="IDS", help="servos, for example 0-18,30")


def add_port(parser: argparse.ArgumentParser) -> None:
    """Add the options of the line."""
    group = parser.add_argument_group("port")
    group.add_argument("--port", metavar="PATH", help="serial port; by default the only one in /dev/serial/by-id")
    group.add_argument("--baud", type=int, default=1_000_000, help="rate of the line (default 1000000)")
    group.add_argument(
        "--direction",
        choices=DIRECTION_NAMES,
        default="auto",
        help="what switches the line direction: auto (the adapter), rs485 (kernel), echo (single wire), gpio, rts",
    )
    group.add_argument("--gpio", default="/dev/gpiochip0:0", metavar="CHIP:LINE", help="line of --direction gpio")
    group.add_argument("--latency-ms", type=float, default=2.0, help="link latency to allow for (default 2)")


def add_path(parser: argparse.ArgumentParser) -> None:
    """Add the options of a gentle motion."""
    parser.add_argument("--speed", "--rpm", type=float, default=10.0, metavar="RPM", help="speed (default 10)")
    parser.add_argument("--torque", type=float, default=0.3, help="fraction of the stall torque (default 0.3)")
