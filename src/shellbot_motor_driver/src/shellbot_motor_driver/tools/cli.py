# SPDX-License-Identifier: MIT
"""Command line of scripts/servo: the tools of ax_tools, and what needs Shellbot's servo map."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, List, Optional, Sequence

from ax_bus.bus import Bus
from ax_emulator.servo import EmulatedServo
from ax_tools import cli
from ax_tools.errors import ToolError
from shellbot_motor_driver.emulated_servos import shellbot_servos
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.tools import prepare


def _add(commands: Any, line: argparse.ArgumentParser) -> None:
    c = commands.add_parser(
        "prepare",
        parents=[line],
        help="set up servos from the box: return delay, status level, angle limits, lock",
        epilog="IDs come first: give each servo its own with set-id, one at a time. Without --go nothing is written.",
    )
    c.add_argument("--variant", choices=("walker", "full"), default="walker", help="whose servo map (default walker)")
    c.add_argument("--servo-map", type=Path, metavar="FILE", help="a calibrated copy of servos.yaml")
    c.add_argument("--ids", type=cli.id_list, help="only these servos of the map")
    c.add_argument("--return-delay", type=int, default=0, help="units of 2 us (default 0; with a GPIO 100)")
    c.add_argument("--status-level", type=int, default=2, help="2: all orders are acknowledged (default)")
    c.add_argument("--no-lock", action="store_true", help="leave the EEPROM open")
    c.add_argument("--go", action="store_true", help="really write; without it the plan is printed")


def _add_to_emulate(c: argparse.ArgumentParser) -> None:
    c.add_argument("--variant", choices=("walker", "full"), default="walker", help="Shellbot's servos (default walker)")


def _servos(arguments: argparse.Namespace) -> List[EmulatedServo]:
    return shellbot_servos(arguments.variant, arguments.return_delay, seed=arguments.seed)


def _prepare(bus: Bus, arguments: argparse.Namespace) -> int:
    servo_map = ServoMap.load(arguments.variant, arguments.servo_map)
    how = prepare.Preparation(arguments.return_delay, arguments.status_level, not arguments.no_lock)
    entries = [entry for entry in servo_map.entries if arguments.ids is None or entry.servo_id in arguments.ids]
    strangers = sorted(set(arguments.ids or ()) - set(servo_map.servo_ids))
    if strangers:
        raise ToolError(f"the servo map of {arguments.variant} has no ID {', '.join(map(str, strangers))}")
    changes = prepare.plan(bus, servo_map, entries, how)
    if arguments.go:
        written = prepare.carry_out(bus, servo_map, changes, cli.say)
        cli.say(f"{written} register(s) written and read back, {len(changes) - written} were so already")
        return 0
    for change in changes:
        cli.say(prepare.line(change, "would be written" if change.is_needed else "is so"))
    cli.say(f"{sum(change.is_needed for change in changes)} register(s) would be written; add --go to do it")
    return 0


SHELLBOT = cli.Extension(
    "scripts/servo",
    "A window with a slider for each joint of one limb: scripts/servo leg --help.",
    _add,
    {"prepare": _prepare},
    _add_to_emulate,
    _servos,
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    return cli.parser(SHELLBOT)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run the tool; returns the exit status: 1 if it could not do what was requested."""
    return cli.main(argv, SHELLBOT)


if __name__ == "__main__":
    sys.exit(main())
