# SPDX-License-Identifier: MIT
"""Command line of scripts/servo: the commands of ax_tools, and what needs Shellbot's servo map."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional, Sequence

from ax_tools import cli
from ax_tools.commands import COMMANDS, emulating
from ax_tools.console import say
from ax_tools.options import Command, id_list

if TYPE_CHECKING:
    from ax_bus.bus import Bus

_PROG = "scripts/servo"
_EPILOG = "A window with a slider for each joint of one limb: scripts/servo leg --help."


def _add_map(c: argparse.ArgumentParser) -> None:
    c.add_argument("--variant", choices=("walker", "full"), default="walker", help="whose servo map (default walker)")
    c.add_argument("--servo-map", type=Path, metavar="FILE", help="a calibrated copy of servos.yaml")
    c.add_argument("--ids", type=id_list, help="only these servos of the map")


def _prepare_options(c: argparse.ArgumentParser) -> None:
    _add_map(c)
    c.add_argument("--return-delay", type=int, default=0, help="units of 2 us (default 0; with a GPIO 100)")
    c.add_argument("--status-level", type=int, default=2, help="2: all orders are acknowledged (default)")
    c.add_argument("--no-lock", action="store_true", help="leave the EEPROM open")
    c.add_argument("--go", action="store_true", help="really write; without it the plan is printed")


def _prepare(bus: Bus, arguments: argparse.Namespace) -> int:
    from shellbot_motor_driver.map.servo_map import ServoMap
    from shellbot_motor_driver.tools import prepare

    servo_map = ServoMap.load(arguments.variant, arguments.servo_map)
    how = prepare.Preparation(arguments.return_delay, arguments.status_level, not arguments.no_lock)
    changes = prepare.plan(bus, servo_map, servo_map.select(arguments.ids), how)
    mute = prepare.mute(changes)
    for servo_id in mute:
        say(f"servo {servo_id} is read once its status return level is written: at level 0 it answers no READ")
    if arguments.go:
        written = prepare.carry_out(bus, servo_map, changes, say)
        if mute:
            done = f"{written} register(s) were written before"
            more = prepare.plan(bus, servo_map, servo_map.select(mute), how, done)
            written += prepare.carry_out(bus, servo_map, more, say)
            changes += more
        say(f"{written} register(s) written and read back, {len(changes) - written} were already right")
        return 0
    for change in changes:
        say(prepare.line(change, "would be written" if change.is_needed else "is so"))
    say(f"{sum(change.is_needed for change in changes)} register(s) would be written; add --go to do it")
    return 0


def _calibrate_options(c: argparse.ArgumentParser) -> None:
    _add_map(c)
    c.add_argument("--out", type=Path, default=Path("servos.yaml"), metavar="FILE", help="default servos.yaml, here")
    c.add_argument("--again", action="store_true", help="also joints that the file says are calibrated")


def _calibrate(bus: Bus, arguments: argparse.Namespace) -> int:
    from shellbot_motor_driver.tools.calibrate import calibrate

    return calibrate(bus, arguments.variant, arguments.out, arguments.servo_map, arguments.ids, arguments.again)


def _emulate_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("--variant", choices=("walker", "full"), default="walker", help="Shellbot's servos (default walker)")
    emulating.add_options(c)


def _emulate(arguments: argparse.Namespace) -> int:
    from shellbot_motor_driver.emulated_servos import shellbot_servos

    if arguments.ids is not None:
        return emulating.run(arguments)
    return emulating.run(arguments, shellbot_servos(arguments.variant, arguments.return_delay, seed=arguments.seed))


OWN: List[Command] = [
    Command(
        "prepare",
        "set up servos from the box: status level, return delay, angle limits, lock",
        _prepare_options,
        _prepare,
        epilog="IDs come first: give each servo its own with set-id, one at a time. Without --go nothing is written.",
    ),
    Command(
        "calibrate",
        "measure zeros, signs and ranges of joints moved by hand, and write servos.yaml",
        _calibrate_options,
        _calibrate,
        epilog="Every joint is saved as soon as it is measured; the same command goes on where it was ended.",
    ),
    Command("emulate", "a pty with Shellbot's servos behind it, or with equal ones", _emulate_options, _emulate, False),
]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    return cli.parser((*COMMANDS, *OWN), _PROG, _EPILOG)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run the tool; returns the exit status: 1 if it could not do what was requested."""
    return cli.main(argv, (*COMMANDS, *OWN), _PROG, _EPILOG)


if __name__ == "__main__":
    sys.exit(main())
