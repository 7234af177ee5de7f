# SPDX-License-Identifier: MIT
"""Commands that change registers; everything is read back."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any, List

from ax_tools.console import Progress, report, say
from ax_tools.options import Command, add_ids

if TYPE_CHECKING:
    from ax_bus.bus import Bus


def _write_options(c: argparse.ArgumentParser) -> None:
    add_ids(c)
    c.add_argument("what", metavar="REGISTER", help="name or address of the register")
    c.add_argument("value", metavar="VALUE", help="number, or with a unit: 30deg 10rpm 50%% 9.6V 70C 200us on")
    c.add_argument("--eeprom", action="store_true", help="allow registers that survive power-off and wear out")


def _write(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import registers
    from ax_tools.each import each

    def write(servo_id: int) -> None:
        say(registers.write(bus, servo_id, arguments.what, arguments.value, arguments.eeprom))

    return report(each(arguments.ids, write), arguments.ids, "written and read back")


def _led_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("state", choices=("on", "off"))
    add_ids(c)


def _led(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import registers
    from ax_tools.each import each

    failures = each(arguments.ids, lambda servo_id: registers.write(bus, servo_id, "led", arguments.state))
    return report(failures, arguments.ids, f"with the LED {arguments.state}")


def _add_check(c: argparse.ArgumentParser) -> None:
    group = c.add_mutually_exclusive_group()
    group.add_argument("--only-baud", action="store_true", help="look for other servos at the rate of --baud only")
    group.add_argument("--full", action="store_true", help="look for other servos under all IDs at all rates: slow")


_CHECK = (
    "Before anything is changed other servos are looked for: all IDs at the present rate, and at the other rates the "
    "old, the new and the factory's ID (1). A servo with another ID at another rate is not found, and causes no "
    "conflict until its rate changes; --full finds it."
)


def _set_id_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("id", type=int, help="its present ID")
    c.add_argument("new_id", type=int, help="its new ID, 0 to 252")
    _add_check(c)


def _set_id(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import settings

    with contextlib.closing(Progress()) as progress:
        settings.set_id(bus, arguments.id, arguments.new_id, _rounds(bus, arguments), progress)
    say(f"servo {arguments.id} is now servo {arguments.new_id}")
    return 0


def _set_baud_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("id", type=int, help="its ID")
    c.add_argument("new_baud", type=int, help="its new rate")
    _add_check(c)


def _set_baud(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import settings

    with contextlib.closing(Progress()) as progress:
        settings.set_baud(bus, arguments.id, arguments.new_baud, _rounds(bus, arguments), progress)
    say(f"servo {arguments.id} now answers at {arguments.new_baud} baud")
    return 0


def _rounds(bus: Bus, arguments: argparse.Namespace) -> Any:
    from ax_tools import search

    if arguments.full:
        return search.rounds()
    return search.rounds((bus.port.baud,)) if arguments.only_baud else None


COMMANDS: List[Command] = [
    Command(
        "write",
        "write a register of servos and read it back",
        _write_options,
        _write,
        epilog="goal_position moves a servo that has torque, at its own moving_speed; move does it gently.",
    ),
    Command("led", "switch LEDs, to see which servo has which ID", _led_options, _led),
    Command("set-id", "change the ID of the only servo on the bus", _set_id_options, _set_id, True, _CHECK),
    Command(
        "set-baud", "change the baud rate of the only servo on the bus", _set_baud_options, _set_baud, True, _CHECK
    ),
]
