# SPDX-License-Identifier: MIT
"""Names of keys that window and terminal agree on."""

from __future__ import annotations

import string
from typing import FrozenSet, Tuple

NAMED_KEYS: Tuple[str, ...] = (
    "Up",
    "Down",
    "Left",
    "Right",
    "PageUp",
    "PageDown",
    "Home",
    "End",
    "Insert",
    "Delete",
    "Space",
    "Escape",
    "Tab",
    "Enter",
    "Backspace",
    "Plus",
    "Minus",
    "Shift",
) + tuple(f"F{number}" for number in range(1, 13))

# A terminal sends Ctrl with these letters as Backspace, Tab, Enter or a signal: they cannot be bound.
_TERMINAL_CONTROL_LETTERS = frozenset("CHIJMZ")

CONTROL_KEYS: Tuple[str, ...] = tuple(
    f"Ctrl+{letter}" for letter in string.ascii_uppercase if letter not in _TERMINAL_CONTROL_LETTERS
)

ALL_KEYS: FrozenSet[str] = (
    frozenset(string.ascii_lowercase) | frozenset(string.digits) | frozenset(NAMED_KEYS) | frozenset(CONTROL_KEYS)
)

_SYMBOLS = {
    "Up": "↑",
    "Down": "↓",
    "Left": "←",
    "Right": "→",
    "PageUp": "PgUp",
    "PageDown": "PgDn",
    "Plus": "+",
    "Minus": "−",
    "Escape": "Esc",
}


def key_label(key: str) -> str:
    """Text of a key cap.

    Parameters
    ----------
    key : str
        Canonical key name.

    Returns
    -------
    str
        What is printed on the key: ``"W"`` for ``"w"``, an arrow for ``"Up"``.
    """
    if len(key) == 1:
        return key.upper()
    return _SYMBOLS.get(key, key)
