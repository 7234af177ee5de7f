# SPDX-License-Identifier: MIT
"""Command line of the servo tools: ``ax-servo``, and with a robot's own rows of commands beside these."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, Iterable, Optional, Sequence

from ax_tools.commands import COMMANDS
from ax_tools.console import note
from ax_tools.options import Command, add_port


def parser(commands: Iterable[Command] = COMMANDS, prog: str = "ax-servo", epilog: str = "") -> argparse.ArgumentParser:
    """Return the parser of the command line.

    Parameters
    ----------
    commands : iterable of Command
        The rows; a later one takes the place of an earlier one of the same name.
    prog, epilog : str
        Name of the program, and further last words of its help.
    """
    p = argparse.ArgumentParser(
        prog=prog,
        description="Look at, set up, move and emulate Dynamixel servos of protocol 1.0.",
        epilog=f"Nothing moves and nothing is stored unless the command says so. {epilog}".rstrip(),
    )
    subparsers = p.add_subparsers(dest="command", metavar="COMMAND")
    for command in _by_name(commands).values():
        c = subparsers.add_parser(command.name, help=command.help, description=command.help, epilog=command.epilog)
        command.add_options(c)
        if command.uses_bus:
            add_port(c)
    return p


def main(
    argv: Optional[Sequence[str]] = None,
    commands: Iterable[Command] = COMMANDS,
    prog: str = "ax-servo",
    epilog: str = "",
) -> int:
    """Run the tool; returns the exit status: 1 if it could not do what was requested. Parameters as of `parser`."""
    rows = _by_name(commands)
    p = parser(rows.values(), prog, epilog)
    # -30deg is a value, no option: argparse leaves alone what begins with a space
    words = [f" {word}" if re.match(r"-\.?\d", word) else word for word in (sys.argv[1:] if argv is None else argv)]
    arguments = p.parse_args(words)
    if arguments.command is None:
        p.error(f"give a command: {', '.join(rows)}")
    return _run(rows[arguments.command], arguments, prog)


def _run(command: Command, arguments: argparse.Namespace, prog: str) -> int:
    from ax_bus.errors import ServoError  # from here on a command runs: imports may cost

    try:
        if not command.uses_bus:
            return command.run(arguments)
        return _run_on_bus(command, arguments)
    except ServoError as error:
        note(f"{prog} {command.name}: {error}")
        return 1
    except BrokenPipeError:  # ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        note(f"{prog} {command.name}: {error.filename or 'the output'} cannot be used: {error.strerror or error}")
        return 1
    except KeyboardInterrupt:
        return 130


def _run_on_bus(command: Command, arguments: argparse.Namespace) -> int:
    from ax_bus.bus import Bus
    from ax_bus.serial_port import SerialPort
    from ax_bus.wire_time import Timeouts, check_line

    check_line(arguments.baud, arguments.latency_ms * 1e-3)
    name = _port_name(arguments.port)
    with SerialPort(name, arguments.baud, _direction(arguments, name)) as port:
        return command.run(Bus(port, Timeouts(link_latency=arguments.latency_ms * 1e-3)), arguments)


def _port_name(given: Optional[str]) -> str:
    from ax_tools.errors import ToolError

    if given is not None:
        return given
    there = sorted(Path("/dev/serial/by-id").glob("*"))
    if len(there) == 1:
        return str(there[0])
    what = ", ".join(map(str, there)) if there else "none: is the adapter plugged in?"
    raise ToolError(f"choose a port with --port; /dev/serial/by-id has: {what}")


def _direction(arguments: argparse.Namespace, port: str) -> Any:
    from ax_bus.direction import direction, is_usb
    from ax_tools.errors import ToolError

    if arguments.direction != "gpio":
        return direction(arguments.direction)
    chip, _, line = arguments.gpio.rpartition(":")
    if not chip or not line.isdigit():
        raise ToolError(f"--gpio {arguments.gpio} is not CHIP:LINE; write for example /dev/gpiochip0:149")
    return direction("gpio", chip=chip, line=int(line), is_usb=is_usb(port))


def _by_name(commands: Iterable[Command]) -> Dict[str, Command]:
    return {command.name: command for command in commands}


if __name__ == "__main__":
    sys.exit(main())
