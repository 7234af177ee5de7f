# SPDX-License-Identifier: MIT
"""What a key may do: the table of actions.

A held action lasts as long as its key is down and pushes one axis one way; a command happens once, on the press.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Dict, Optional, Union


class Quantity(Enum):
    """What a held action pushes."""

    VELOCITY = "velocity"  # axes x, y (m/s), yaw (rad/s)
    POSE = "pose"  # axes x, y, z (m), roll, pitch, yaw (rad)
    SHELLS = "shells"  # axes height (m), angle (rad)
    DEAD_MAN = "dead man"  # no axis: while it is held the others may be pushed
    FINE = "fine"  # no axis: while it is held the others are pushed slowly


@dataclass(frozen=True)
class HeldAction:
    """Push an axis one way while the key is down."""

    quantity: Quantity  #: What is pushed
    axis: int  #: Index of the axis: velocity (x, y, yaw), pose (x, y, z, roll, pitch, yaw), shells (height, angle)
    #: +1 or -1, of a joystick's axis between; REP 103: x forward, y left, z up, +roll tilts right, +pitch tilts
    #: forward, +yaw turns left
    sign: float


@dataclass(frozen=True)
class Command:
    """Happens once, on the press; `argument` is what a mode request asks for."""

    name: str
    argument: str = ""


Action = Union[HeldAction, Command]


def _held(prefix: str, quantity: Quantity, rows: Dict[str, tuple]) -> Dict[str, Action]:
    return {f"{prefix}.{name}": HeldAction(quantity, axis, sign) for name, (axis, sign) in rows.items()}


ACTIONS: Dict[str, Action] = {
    **_held(
        "drive",
        Quantity.VELOCITY,
        {
            "forward": (0, 1),
            "backward": (0, -1),
            "left": (1, 1),
            "right": (1, -1),
            "turn_left": (2, 1),
            "turn_right": (2, -1),
        },
    ),
    **_held(
        "pose",
        Quantity.POSE,
        {
            "shift_forward": (0, 1),
            "shift_back": (0, -1),
            "shift_left": (1, 1),
            "shift_right": (1, -1),
            "raise": (2, 1),
            "lower": (2, -1),
            "roll_right": (3, 1),
            "roll_left": (3, -1),
            "pitch_forward": (4, 1),
            "pitch_back": (4, -1),
            "yaw_left": (5, 1),
            "yaw_right": (5, -1),
        },
    ),
    **_held("shells", Quantity.SHELLS, {"raise": (0, 1), "lower": (0, -1), "open": (1, 1), "close": (1, -1)}),
    **_held("control", Quantity.DEAD_MAN, {"dead_man": (0, 1)}),
    **_held("speed", Quantity.FINE, {"fine": (0, 1)}),
    **{
        name: Command(name)
        for name in (
            "control.take",
            "control.give_up",
            "drive.stop",
            "pose.neutral",
            "speed.faster",
            "speed.slower",
            "safety.emergency_stop",
            "safety.rearm",
            "gait.next",
            "gait.request",
            "layout.next",
            "actions.show",
            "actions.pause",
            "actions.cancel",
            "help.keys",
            "session.quit",
        )
    },
}

MODE = r"mode\.[a-z]\w{0,49}"
"""Beside ACTIONS: the request of any mode. The robot knows which ones it has, and refuses the others in words."""


def find_action(name: str) -> Optional[Action]:
    """Return what an action does, or None if there is none of this name."""
    return Command("mode", name.partition(".")[2]) if re.fullmatch(MODE, name) else ACTIONS.get(name)
