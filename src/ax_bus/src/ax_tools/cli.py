# SPDX-License-Identifier: MIT
"""Command line of the servo tools: ``ax-servo``, and with a robot's own commands beside them (`Extension`)."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from ax_bus.bus import Bus
from ax_bus.direction import DIRECTIONS, direction
from ax_bus.errors import ServoError
from ax_bus.registers import baud_register, model_of
from ax_bus.serial_port import SerialPort
from ax_bus.wire_time import Timeouts
from ax_bus.wiring import check_wiring
from ax_emulator import KINDS, EmulatedChain, EmulatedServo, FaultInjector, PtyServer, load_faults
from ax_tools import bench, display, motion, record, search, settings
from ax_tools.errors import ToolError

_CLEAR = "\x1b[H\x1b[J"


def say(text: str) -> None:
    """Write a text for the user."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Write what is being done, apart from the result."""
    sys.stderr.write(text + "\n")


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
            raise argparse.ArgumentTypeError(f"{text!r} is no list of IDs; write for example 0-18,30")
        ids += range(int(first), int(last or first) + 1)
    if not ids or max(ids) > 252 or len(set(ids)) != len(ids):
        raise argparse.ArgumentTypeError(f"IDs {text!r} are empty, repeat or exceed 252")
    return ids


class Extension(NamedTuple):
    """What a robot adds to the command line.

    Parameters
    ----------
    prog : str
        Name of the program in its help.
    epilog : str
        Last words of its help.
    add : callable
        ``add(commands, line)`` adds parsers of further commands; ``line`` has the options of the port.
    commands : dict of str to callable
        ``run(bus, arguments)`` of each, returning the exit status.
    add_to_emulate : callable
        ``add_to_emulate(parser)`` adds options of ``emulate``.
    servos : callable
        ``servos(arguments)``: the servos of ``emulate`` if no ``--ids`` are given.
    """

    prog: str = "ax-servo"
    epilog: str = ""
    add: Callable[[Any, argparse.ArgumentParser], None] = lambda commands, line: None
    commands: Dict[str, Callable[[Bus, argparse.Namespace], int]] = {}
    add_to_emulate: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    servos: Optional[Callable[[argparse.Namespace], List[EmulatedServo]]] = None


PLAIN = Extension()


def parser(extension: Extension = PLAIN) -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    line = argparse.ArgumentParser(add_help=False)
    group = line.add_argument_group("port")
    group.add_argument("--port", metavar="PATH", help="serial port; by default the only one in /dev/serial/by-id")
    group.add_argument("--baud", type=int, default=1_000_000, help="rate of the line (default 1000000)")
    group.add_argument(
        "--direction",
        choices=tuple(DIRECTIONS),
        default="auto",
        help="who turns the line: auto (the adapter), rs485 (kernel), echo (single wire), gpio, rts",
    )
    group.add_argument("--gpio", default="/dev/gpiochip0:0", metavar="CHIP:LINE", help="line of --direction gpio")
    group.add_argument("--latency-ms", type=float, default=2.0, help="latency of the link to allow (default 2)")
    ids = argparse.ArgumentParser(add_help=False)
    ids.add_argument("ids", type=id_list, metavar="IDS", help="servos, for example 0-18,30")

    p = argparse.ArgumentParser(
        prog=extension.prog,
        description="Look at, set up and emulate AX-12A/AX-18A servos.",
        epilog=f"Nothing moves and nothing is stored unless the command says so. {extension.epilog}".rstrip(),
    )
    commands = p.add_subparsers(dest="command", metavar="COMMAND")
    c = commands.add_parser("scan", parents=[line], help="find servos at all baud rates")
    c.add_argument("--ids", type=id_list, default=list(search.ALL_IDS), help="IDs to try (default 0-252)")
    c.add_argument("--only-baud", action="store_true", help="only the rate of --baud")
    commands.add_parser("ping", parents=[line, ids], help="ask servos whether they are there")
    commands.add_parser("info", parents=[line, ids], help="all registers with their meaning")
    c = commands.add_parser("set-id", parents=[line], help="change the ID of the only servo on the bus")
    c.add_argument("id", type=int, help="its ID now")
    c.add_argument("new_id", type=int, help="its ID from now on, 0 to 252")
    c = commands.add_parser("set-baud", parents=[line], help="change the baud rate of the only servo on the bus")
    c.add_argument("id", type=int, help="its ID")
    c.add_argument("new_baud", type=int, help="its rate from now on")
    c = commands.add_parser("centre", parents=[line, ids], help="go to the middle, slowly, for mounting horns")
    c.add_argument("--go", action="store_true", help="really move; without it the plan is printed")
    c.add_argument("--release", action="store_true", help="only switch the torque off")
    c.add_argument("--position", type=int, default=512, help="steps, 0 to 1023 (default 512)")
    c.add_argument("--rpm", type=float, default=10.0, help="speed (default 10)")
    c.add_argument("--torque", type=float, default=0.3, help="share of the stall torque (default 0.3)")
    c = commands.add_parser("monitor", parents=[line, ids], help="live table: position, load, voltage, temperature")
    c.add_argument("--rate", type=float, default=5.0, help="tables per second (default 5)")
    c.add_argument("--count", type=int, default=0, help="end after so many tables (default: with Ctrl-C)")
    c = commands.add_parser("record", parents=[line, ids], help="write what servos say to a file, until Ctrl-C")
    c.add_argument("--out", type=Path, required=True, metavar="FILE", help=".csv (row by row) or .npz (arrays in SI)")
    c.add_argument("--rate", type=float, default=10.0, help="samples of all servos per second (default 10)")
    c.add_argument("--seconds", type=float, default=math.inf, help="end after this time (default: with Ctrl-C)")
    extension.add(commands, line)
    c = commands.add_parser("wiring", parents=[line, ids], help="measure which replies arrive, and say what to change")
    c.add_argument("--rounds", type=int, default=20, help="READs of each servo (default 20)")
    c = commands.add_parser("bench", parents=[line, ids], help="measure round trips and CPU on a bus")
    c.add_argument("--reads", type=int, default=2000, help="READs to measure (default 2000)")
    c.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to this file")
    c = commands.add_parser(
        "emulate",
        help="a pty with servos behind it",
        epilog="faults: " + "; ".join(f"{k}: {row.text}" for k, row in KINDS.items()),
    )
    extension.add_to_emulate(c)
    c.add_argument("--ids", type=id_list, help="equal servos with these IDs (default 1)")
    c.add_argument("--model", default="AX-12A", help="of --ids (default AX-12A)")
    c.add_argument("--baud", type=int, default=1_000_000, help="the servos' rate (default 1000000)")
    c.add_argument("--return-delay", type=int, default=0, metavar="N", help="units of 2 us (default 0)")
    c.add_argument("--link", type=Path, help="also give the pty this stable name")
    c.add_argument("--faults", type=Path, metavar="FILE", help="YAML list of faults, each {kind: ..., servo: ...}")
    c.add_argument("--seed", type=int, default=0, help="of every chance (default 0)")
    c.add_argument("--echo", action="store_true", help="a single-wire wiring, which gives back what is sent")
    c.add_argument("--relaxed", action="store_true", help="never spin: replies 0.1 ms late, hardly any CPU")
    return p


def main(argv: Optional[Sequence[str]] = None, extension: Extension = PLAIN) -> int:
    """Run the tool; returns the exit status: 1 if it could not do what was requested."""
    p = parser(extension)
    arguments = p.parse_args(argv)
    commands = {**_COMMANDS, **extension.commands}
    if arguments.command is None:
        p.error(f"say what to do: {', '.join([*commands, 'emulate'])}")
    try:
        if arguments.command == "emulate":
            return emulate(arguments, extension)
        with SerialPort(_port_name(arguments.port), arguments.baud, _direction(arguments)) as port:
            bus = Bus(port, Timeouts(link_latency=arguments.latency_ms * 1e-3))
            return commands[arguments.command](bus, arguments)
    except ServoError as error:
        note(f"{extension.prog} {arguments.command}: {error}")
        return 1
    except KeyboardInterrupt:
        return 130


def emulate(arguments: argparse.Namespace, extension: Extension = PLAIN) -> int:
    """Serve an emulated chain until the process is told to end."""
    if arguments.ids is None and extension.servos is not None:
        servos = extension.servos(arguments)
    else:
        model = model_of(arguments.model)
        servos = [EmulatedServo(i, model, 1, arguments.return_delay, seed=arguments.seed) for i in arguments.ids or [1]]
    for servo in servos:
        servo.table["baud_rate"] = baud_register(arguments.baud)
    faults = FaultInjector(load_faults(arguments.faults) if arguments.faults else (), arguments.seed)
    chain = EmulatedChain(servos, arguments.baud, faults, arguments.echo)
    server = PtyServer(chain, arguments.link, precise=not arguments.relaxed)
    ended: List[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, frame: ended.append(received))
    try:
        say(f"{server.name}")
        note(f"{len(servos)} emulated servos, IDs {', '.join(str(s.servo_id) for s in servos)}; end with Ctrl-C")
        server.run(lambda: bool(ended))
    finally:
        server.close()
    struck = ", ".join(f"{kind} {count}" for kind, count in sorted(faults.struck.items()))
    note(f"ended; faults: {struck or 'none'}")
    return 0


def _port_name(given: Optional[str]) -> str:
    if given is not None:
        return given
    there = sorted(Path("/dev/serial/by-id").glob("*"))
    if len(there) == 1:
        return str(there[0])
    what = ", ".join(map(str, there)) if there else "none: is the adapter plugged in?"
    raise ToolError(f"say which port with --port; in /dev/serial/by-id there is {what}")


def _direction(arguments: argparse.Namespace) -> Any:
    if arguments.direction != "gpio":
        return direction(arguments.direction)
    chip, _, line = arguments.gpio.rpartition(":")
    if not chip or not line.isdigit():
        raise ToolError(f"--gpio {arguments.gpio} is not CHIP:LINE; write for example /dev/gpiochip0:149")
    is_usb = any(word in str(arguments.port) for word in ("ttyUSB", "ttyACM", "usb"))
    return direction("gpio", chip=chip, line=int(line), is_usb=is_usb)


def _scan(bus: Bus, arguments: argparse.Namespace) -> int:
    bauds = (arguments.baud,) if arguments.only_baud else search.ALL_BAUDS
    found = search.search(bus, bauds, arguments.ids, note)
    say(search.table(found))
    return 0 if found and not any(hit.is_garbled for hit in found) else 1


def _ping(bus: Bus, arguments: argparse.Namespace) -> int:
    missing = 0
    for servo_id in arguments.ids:
        try:
            reply = bus.ping(servo_id)
            say(f"servo {servo_id} answers after {reply.round_trip * 1e3:.2f} ms")
        except ServoError as error:
            missing += 1
            say(str(error))
    return 1 if missing else 0


def _info(bus: Bus, arguments: argparse.Namespace) -> int:
    say("\n\n".join(display.info(bus, servo_id) for servo_id in arguments.ids))
    return 0


def _set_id(bus: Bus, arguments: argparse.Namespace) -> int:
    settings.set_id(bus, arguments.id, arguments.new_id, progress=note)
    say(f"servo {arguments.id} is servo {arguments.new_id} now")
    return 0


def _set_baud(bus: Bus, arguments: argparse.Namespace) -> int:
    settings.set_baud(bus, arguments.id, arguments.new_baud, progress=note)
    say(f"servo {arguments.id} answers at {arguments.new_baud} baud now")
    return 0


def _centre(bus: Bus, arguments: argparse.Namespace) -> int:
    how = motion.Centring(arguments.position, arguments.rpm, arguments.torque)
    if arguments.release:
        motion.release(bus, arguments.ids)
        say(f"{len(arguments.ids)} servo(s) without torque")
    elif not arguments.go:
        say(motion.plan(bus, arguments.ids, how))
    else:
        say(motion.arrival(motion.centre(bus, arguments.ids, how), how))
    return 0


def _monitor(bus: Bus, arguments: argparse.Namespace) -> int:
    if not 0.1 <= arguments.rate <= 50.0:
        raise ToolError(f"rate is {arguments.rate}; give 0.1 to 50 tables per second")
    monitor = display.Monitor(bus, arguments.ids)
    shown = 0
    while True:
        text = monitor.table()
        say((_CLEAR if sys.stdout.isatty() else "") + text)
        shown += 1
        if shown == arguments.count:
            return 0
        time.sleep(1.0 / arguments.rate)


def _record(bus: Bus, arguments: argparse.Namespace) -> int:
    say(record.record(bus, arguments.ids, arguments.out, arguments.rate, arguments.seconds, note))
    return 0


def _wiring(bus: Bus, arguments: argparse.Namespace) -> int:
    report = check_wiring(bus, arguments.ids, max(1, arguments.rounds))
    say(report.text)
    return 0 if report.is_trusted else 1


def _bench(bus: Bus, arguments: argparse.Namespace) -> int:
    figures = bench.measure(bus, arguments.ids, arguments.reads)
    say(bench.text(figures))
    if arguments.json is not None:
        bench.write_json(arguments.json, figures)
    return 0


_COMMANDS: Dict[str, Callable[[Bus, argparse.Namespace], int]] = {
    "scan": _scan,
    "ping": _ping,
    "info": _info,
    "set-id": _set_id,
    "set-baud": _set_baud,
    "centre": _centre,
    "monitor": _monitor,
    "record": _record,
    "wiring": _wiring,
    "bench": _bench,
}

if __name__ == "__main__":
    sys.exit(main())
