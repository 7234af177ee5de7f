# SPDX-License-Identifier: MIT
"""The page's texts: found in its files, and translated before a browser gets them."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Iterator

from shellbot_teleop.texts import tr

_IN_HTML = re.compile(r'(>\s*|\b(?:lang|title|placeholder|aria-label|alt)=")([^<>"\s][^<>"]*?)(\s*<|")')
_IN_SCRIPT = re.compile(r'\btr\(("(?:[^"\\]|\\.)*")')


def texts_of(file: Path) -> Iterator[str]:
    """Yield the English texts of a file of the page."""
    source = file.read_text(encoding="utf-8")
    if file.suffix == ".html":
        yield from (html.unescape(found[2]) for found in _IN_HTML.finditer(source))
    else:
        yield from (json.loads(found[1]) for found in _IN_SCRIPT.finditer(source))


def translated(page: str) -> str:
    """Return a page, HTML, with its texts in the operator's language."""
    return _IN_HTML.sub(lambda found: found[1] + html.escape(tr(html.unescape(found[2]))) + found[3], page)


def script(folder: Path) -> str:
    """Return the texts of the scripts in a folder, in the operator's language, as a script of its own."""
    texts = {text: tr(text) for file in sorted(folder.glob("*.js")) for text in texts_of(file)}
    return f"export const TEXTS = {json.dumps(texts)};\n"
