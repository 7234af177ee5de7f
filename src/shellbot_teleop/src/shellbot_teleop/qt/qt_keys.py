# SPDX-License-Identifier: MIT
"""Qt key events to the names of the key map."""

from __future__ import annotations

from typing import Dict, Optional

from python_qt_binding.QtCore import Qt

_NAMED = {
    Qt.Key_Up: "Up",
    Qt.Key_Down: "Down",
    Qt.Key_Left: "Left",
    Qt.Key_Right: "Right",
    Qt.Key_PageUp: "PageUp",
    Qt.Key_PageDown: "PageDown",
    Qt.Key_Home: "Home",
    Qt.Key_End: "End",
    Qt.Key_Insert: "Insert",
    Qt.Key_Delete: "Delete",
    Qt.Key_Space: "Space",
    Qt.Key_Escape: "Escape",
    Qt.Key_Tab: "Tab",
    Qt.Key_Backtab: "Tab",
    Qt.Key_Return: "Enter",
    Qt.Key_Enter: "Enter",
    Qt.Key_Backspace: "Backspace",
    Qt.Key_Plus: "Plus",
    Qt.Key_Equal: "Plus",
    Qt.Key_Minus: "Minus",
    Qt.Key_Underscore: "Minus",
    Qt.Key_Shift: "Shift",
}
# What the keypad sends with NumLock off: the digits printed on it.
_KEYPAD = {
    Qt.Key_Insert: "0",
    Qt.Key_End: "1",
    Qt.Key_Down: "2",
    Qt.Key_PageDown: "3",
    Qt.Key_Left: "4",
    Qt.Key_Clear: "5",
    Qt.Key_Right: "6",
    Qt.Key_Home: "7",
    Qt.Key_Up: "8",
    Qt.Key_PageUp: "9",
}


def key_name(key: int, modifiers: Qt.KeyboardModifiers) -> Optional[str]:
    """Name of a key as the key map spells it.

    Parameters
    ----------
    key : int
        ``QKeyEvent.key()``.
    modifiers : Qt.KeyboardModifiers
        ``QKeyEvent.modifiers()``; Shift and caps lock change no other key, Alt and Meta belong to the desktop.

    Returns
    -------
    str or None
        None for keys that no key map can bind.
    """
    if modifiers & (Qt.AltModifier | Qt.MetaModifier):
        return None
    if modifiers & Qt.ControlModifier:
        return f"Ctrl+{chr(key)}" if Qt.Key_A <= key <= Qt.Key_Z else None
    if modifiers & Qt.KeypadModifier and key in _KEYPAD:
        return _KEYPAD[key]
    if Qt.Key_A <= key <= Qt.Key_Z:
        return chr(key).lower()
    if Qt.Key_0 <= key <= Qt.Key_9:
        return chr(key)
    if Qt.Key_F1 <= key <= Qt.Key_F12:
        return f"F{key - Qt.Key_F1 + 1}"
    return _NAMED.get(key)


class PressedKeys:
    """Remembers under which name a physical key went down: its release may come with other modifiers."""

    def __init__(self) -> None:
        self._names: Dict[int, str] = {}

    @staticmethod
    def _identity(scan_code: int, key: int) -> int:
        return scan_code if scan_code > 1 else -key  # synthetic events have no scan code

    def press(self, scan_code: int, key: int, modifiers: Qt.KeyboardModifiers) -> Optional[str]:
        """Name of a key that goes down."""
        name = key_name(key, modifiers)
        if name is not None:
            self._names[self._identity(scan_code, key)] = name
        return name

    def release(self, scan_code: int, key: int, modifiers: Qt.KeyboardModifiers) -> Optional[str]:
        """Name that the key had when it went down; None if it did not go down here, but in a field, for example."""
        name = self._names.pop(self._identity(scan_code, key), None)
        return name or (None if scan_code > 1 else key_name(key, modifiers))

    def has(self, scan_code: int, key: int) -> bool:
        """Tell whether a physical key is down."""
        return self._identity(scan_code, key) in self._names

    def clear(self) -> None:
        """Forget all keys."""
        self._names.clear()
