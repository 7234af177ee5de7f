# SPDX-License-Identifier: MIT
"""What window and page offer to click beside the keys: buttons of modes, sliders of body and shells."""

from __future__ import annotations

import math
from typing import NamedTuple, Tuple

from shellbot_teleop.keymap import Keymap
from shellbot_teleop.texts import tr

_MODES = (
    (tr("Stand up"), "mode.stand"),
    (tr("Walk"), "mode.hexapod"),
    (tr("Ball"), "mode.shell"),
    (tr("Sit down"), "mode.sit"),
    (tr("Relax"), "mode.relax"),
    (tr("Get up"), "mode.recover"),
)


class Slider(NamedTuple):
    """A slider of one axis: its index, name, how many of the shown unit are one m or rad, that unit, digits shown."""

    axis: int
    name: str
    factor: float
    unit: str
    digits: int


POSE_SLIDERS = (
    Slider(3, tr("roll"), 180.0 / math.pi, "°", 1),
    Slider(4, tr("pitch"), 180.0 / math.pi, "°", 1),
    Slider(5, tr("yaw"), 180.0 / math.pi, "°", 1),
    Slider(2, tr("height"), 1000.0, "mm", 0),
    Slider(0, tr("shift x"), 1000.0, "mm", 0),
    Slider(1, tr("shift y"), 1000.0, "mm", 0),
)
SHELL_SLIDERS = (Slider(0, tr("height"), 1000.0, "mm", 0), Slider(1, tr("opening"), 180.0 / math.pi, "°", 1))


def mode_buttons(keymap: Keymap) -> Tuple[Tuple[str, str], ...]:
    """Return (text, action) of the modes for which a key map has keys: those with names of their own first."""
    bound = tuple(dict.fromkeys(b.action for b in keymap.bindings if b.action.startswith("mode.")))
    named = [action for _, action in _MODES]
    others = [(action.partition(".")[2].capitalize(), action) for action in bound if action not in named]
    return tuple(mode for mode in _MODES if mode[1] in bound) + tuple(others)
