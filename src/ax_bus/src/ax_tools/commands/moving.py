# SPDX-License-Identifier: MIT
"""Commands about torque and motion. Torque never comes on before the goal is where the horn is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, List, Union

from ax_tools.console import report, say
from ax_tools.options import Command, add_ids, add_path, id_list

if TYPE_CHECKING:
    from ax_bus.bus import Bus


def _move_options(c: argparse.ArgumentParser) -> None:
    add_ids(c)
    c.add_argument("to", metavar="POSITION", help="steps such as 614, or degrees from the middle such as 30deg, -30deg")
    add_path(c)
    c.add_argument("--wait", action="store_true", help="wait until they arrive; Ctrl-C stops them where they are")


def _move(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import motion

    how = motion.Motion(arguments.speed, arguments.torque)
    goals = motion.targets(bus, arguments.ids, arguments.to)
    with motion.stoppable(bus, goals):
        motion.start(bus, goals, how)
        if arguments.wait:
            say(motion.arrival(motion.wait(bus, goals, how), goals))
        else:
            say(f"{len(goals)} servo(s) under way; they hold when they arrive, torque off releases them")
    return 0


def _torque_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("state", choices=("on", "off"))
    c.add_argument("ids", type=_ids_or_all, metavar="IDS", help="servos, for example 0-18,30; all with off")


def _ids_or_all(text: str) -> Union[str, List[int]]:
    return "all" if text == "all" else id_list(text)


def _torque(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import torque
    from ax_tools.errors import ToolError

    if arguments.ids == "all":
        if arguments.state == "on":
            raise ToolError("torque on needs the position of each servo first; give their IDs")
        torque.all_off(bus)
        say("torque off was sent to all servos; a broadcast is not acknowledged: torque off IDS checks each")
        return 0
    if arguments.state == "off":
        return report(torque.off(bus, arguments.ids), arguments.ids, "without torque")
    return report(torque.on(bus, arguments.ids), arguments.ids, "hold where they are")


def _centre_options(c: argparse.ArgumentParser) -> None:
    add_ids(c)
    c.add_argument("--go", action="store_true", help="really move; without it the plan is printed")
    c.add_argument("--release", action="store_true", help="only switch the torque off")
    c.add_argument("--position", default="0deg", help="steps, or degrees from the middle (default 0deg)")
    add_path(c)


def _centre(bus: Bus, arguments: argparse.Namespace) -> int:
    from ax_tools import motion, torque

    if arguments.release:
        return report(torque.off(bus, arguments.ids), arguments.ids, "without torque")
    how = motion.Motion(arguments.speed, arguments.torque)
    goals = motion.targets(bus, arguments.ids, arguments.position)
    if not arguments.go:
        say(motion.plan(bus, goals, how))
        return 0
    with motion.stoppable(bus, goals):
        motion.start(bus, goals, how)
        say(motion.arrival(motion.wait(bus, goals, how), goals))
    return 0


COMMANDS: List[Command] = [
    Command("torque", "switch torque; on: servos hold where they are", _torque_options, _torque),
    Command("move", "go to a position slowly, with little torque and no jump", _move_options, _move),
    Command("centre", "go to the middle, slowly, for mounting horns", _centre_options, _centre),
]
