# SPDX-License-Identifier: MIT
"""Bytes of a terminal to the names of the key map."""

from __future__ import annotations

import re
from typing import List

_CONTROL = {0x09: "Tab", 0x0A: "Enter", 0x0D: "Enter", 0x08: "Backspace", 0x7F: "Backspace", 0x20: "Space"}
_SYMBOLS = {"+": "Plus", "=": "Plus", "-": "Minus", "_": "Minus"}
_FINAL = {
    "A": "Up",
    "B": "Down",
    "C": "Right",
    "D": "Left",
    "H": "Home",
    "F": "End",
    "P": "F1",
    "Q": "F2",
    "R": "F3",
    "S": "F4",
    "E": "5",
    "Z": "Tab",
}
_TILDE = {
    1: "Home",
    2: "Insert",
    3: "Delete",
    4: "End",
    5: "PageUp",
    6: "PageDown",
    7: "Home",
    8: "End",
    11: "F1",
    12: "F2",
    13: "F3",
    14: "F4",
    15: "F5",
    17: "F6",
    18: "F7",
    19: "F8",
    20: "F9",
    21: "F10",
    23: "F11",
    24: "F12",
}
# Application keypad: ESC O p .. y are the digits.
_KEYPAD = {chr(ord("p") + digit): str(digit) for digit in range(10)}
_KEYPAD.update({"k": "Plus", "m": "Minus", "M": "Enter"})
_LINUX_FUNCTION = {letter: f"F{number}" for number, letter in enumerate("ABCDE", start=1)}  # ESC [ [ A .. E
_CSI = re.compile(rb"\x1b\[([0-?]*)[ -/]*([@-~])")


class TerminalDecoder:
    """Collects bytes until they are whole keys.

    A lone Escape is the emergency stop, and the first byte of every arrow. What follows decides: ``[`` and ``O`` begin
    a sequence and are waited for until `flush`; anything else leaves Escape a key of its own.
    """

    def __init__(self) -> None:
        self._pending = b""

    @property
    def waiting(self) -> bool:
        """True while an unfinished sequence is kept."""
        return bool(self._pending)

    def feed(self, data: bytes) -> List[str]:
        """Take bytes; return the keys that are complete."""
        self._pending += data
        keys: List[str] = []
        while self._pending:
            length, key = self._next()
            if length == 0:
                break
            self._pending = self._pending[length:]
            if key:
                keys.append(key)
        return keys

    def flush(self) -> List[str]:
        """No more bytes came in time: an Escape that begins no sequence is the key."""
        pending, self._pending = self._pending, b""
        if not pending:
            return []
        return ["Escape"] + self.feed(pending[1:])

    def _next(self) -> tuple:
        """Length and name of the first key; length 0: wait for more; empty name: not a key of ours."""
        data = self._pending
        if data[0] != 0x1B:
            return 1, _plain(data[0])
        if len(data) == 1:
            return 0, ""
        if data[1:2] == b"O":
            if len(data) < 3:
                return 0, ""
            final = chr(data[2])
            return 3, _FINAL.get(final) or _KEYPAD.get(final, "")
        if data[1:2] == b"[":
            if data[2:3] == b"[":
                return (4, _LINUX_FUNCTION.get(chr(data[3]), "")) if len(data) > 3 else (0, "")
            match = _CSI.match(data)
            if match is None:
                # An unfinished sequence waits; bytes that no sequence contains end it.
                return (0, "") if re.fullmatch(rb"\x1b\[[ -?]*", data) else (2, "")
            parameters, final = match.group(1).decode(), match.group(2).decode()
            if final == "~":
                number = parameters.split(";")[0]
                return match.end(), _TILDE.get(int(number), "") if number.isdigit() else ""
            return match.end(), _FINAL.get(final, "")
        return 1, "Escape"


def _plain(byte: int) -> str:
    if byte in _CONTROL:
        return _CONTROL[byte]
    if byte < 0x20:
        return f"Ctrl+{chr(byte + 64)}" if 1 <= byte <= 26 else ""
    character = chr(byte).lower() if byte < 0x80 else ""
    return character if character.isalnum() else _SYMBOLS.get(character, "")
