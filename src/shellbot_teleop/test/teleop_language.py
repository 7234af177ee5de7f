# SPDX-License-Identifier: MIT
"""An invented language for tests: every text stands in brackets, so that one that was not translated is seen."""

from __future__ import annotations

import re
import struct
from pathlib import Path

LANGUAGE = "xx"
_ENTRY = re.compile(r'^msgid ("(?:[^"\\]|\\.)+")$', re.MULTILINE)


def in_brackets(text):
    return f"⟦{text}⟧"


def write_catalogue(folder):
    """Write a catalogue of all texts of the template below a folder; return the environment that selects it."""
    import json

    template = Path(__file__).resolve().parents[1] / "locale" / "shellbot_teleop.pot"
    texts = [json.loads(found) for found in _ENTRY.findall(template.read_text(encoding="utf-8"))]
    messages = {"": "Content-Type: text/plain; charset=UTF-8\n", **{text: in_brackets(text) for text in texts}}
    path = Path(folder) / LANGUAGE / "LC_MESSAGES" / "shellbot_teleop.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(_compiled(messages))
    return {"LANGUAGE": LANGUAGE, "LC_ALL": "", "TEXTDOMAINDIR": str(folder)}


def _compiled(messages):
    """Return a catalogue as gettext reads it: two tables of (length, place), then the texts."""
    pairs = sorted((key.encode(), value.encode()) for key, value in messages.items())
    place, tables, block = 28 + 16 * len(pairs), [b"", b""], b""
    for column in (0, 1):
        for pair in pairs:
            tables[column] += struct.pack("<II", len(pair[column]), place + len(block))
            block += pair[column] + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0) + b"".join(tables) + block
