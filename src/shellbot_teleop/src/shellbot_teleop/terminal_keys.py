# SPDX-License-Identifier: MIT
"""Keys of a terminal as prompt_toolkit reads them, by the names of the key map."""

from __future__ import annotations

import re
from typing import Deque, Dict, Tuple

from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from shellbot_teleop.keys import CONTROL_KEYS, NAMED_KEYS

_NAMES: Dict[str, str] = {
    **{name.lower(): name for name in NAMED_KEYS},
    **{f"f{number + 12}": f"F{number}" for number in range(1, 13)},  # Shift with it
    **{name.lower().replace("ctrl+", "c-"): name for name in CONTROL_KEYS},
    **{"c-m": "Enter", "c-j": "Enter", "c-i": "Tab", "c-h": "Backspace"},
    **{" ": "Space", "+": "Plus", "=": "Plus", "-": "Minus", "_": "Minus"},
}
# A keypad in application mode, and its 5 without NumLock, are no keys of prompt_toolkit's.
ANSI_SEQUENCES.update({f"\x1bO{chr(ord('p') + digit)}": str(digit) for digit in range(10)})
ANSI_SEQUENCES.update({"\x1bOk": "+", "\x1bOm": "-", "\x1bOM": Keys.ControlM, "\x1bOE": "5", "\x1b[E": "5"})
# The keys that command the robot while letters are text, as prompt_toolkit calls them: those that do so in the window.
OURS: Tuple[str, ...] = ("escape", " ", *(f"{modifier}f{number}" for modifier in ("", "c-") for number in range(1, 25)))
OURS += ("c-c", *(name.lower().replace("ctrl+", "c-") for name in CONTROL_KEYS))
_ANSWER = re.compile(r"\[[<=>?]")  # of a terminal, to a program that ran in it before


def key_name(press: KeyPress, rest: Deque[KeyPress]) -> str:
    """Return the key map's name of a key, or "".

    Parameters
    ----------
    press : KeyPress
        The key, which Ctrl or Shift may have changed.
    rest : deque of KeyPress
        What was read with it. After an Escape that is emptied: it was no key of its own, but is what a terminal sends
        for Alt with a key, or for one that prompt_toolkit does not know. These are the emergency stop.
    """
    key = getattr(press.key, "value", press.key)
    name = _NAMES.get(key) or _NAMES.get(key.rpartition("-")[2], "")
    if name == "Escape":
        follows = "".join(each.data for each in rest)
        rest.clear()
        return "" if _ANSWER.match(follows) else name
    return name or (key.lower() if len(key) == 1 and key.isascii() and key.isalnum() else "")
