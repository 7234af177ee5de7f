# SPDX-License-Identifier: MIT
"""The texts that an operator reads, collected for translators: prints a template of a gettext catalogue."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import yaml

from shellbot_teleop.web.page_texts import texts_of

ROOT = Path(__file__).resolve().parents[2]
TELEOP = ROOT / "src" / "shellbot_teleop"
TEMPLATE = TELEOP / "locale" / "shellbot_teleop.pot"
_HEAD = r"""# Made by scripts/texts, which is where to begin, too.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"""


def calls_of_tr(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield where a module translates."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tr":
            yield node


def _places() -> Iterator[Tuple[str, Path]]:
    """Yield every text with a file that has it."""
    for file in sorted((TELEOP / "src").rglob("*.py")):
        for call in calls_of_tr(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call.args[0], ast.Constant):
                yield str(call.args[0].value), file
    for file in sorted((TELEOP / "web").glob("*.*")):
        if file.suffix in (".html", ".js"):
            yield from ((text, file) for text in texts_of(file))
    for file in sorted(ROOT.glob("src/*/config/keymap*.yaml")):
        keymap = yaml.safe_load(file.read_text(encoding="utf-8"))
        helps = [binding["help"] for binding in keymap["bindings"]]
        yield from ((text, file) for text in (*keymap["layouts"].values(), *keymap["groups"].values(), *helps))


def template() -> str:
    """Return the template."""
    found: Dict[str, List[str]] = {}
    for text, file in _places():
        found.setdefault(text, []).append(str(file.relative_to(ROOT)))
    entries = [_HEAD]
    for text, files in found.items():
        flag = "#, python-brace-format\n" if "{" in text else ""
        where = " ".join(dict.fromkeys(files))
        entries.append(f'#: {where}\n{flag}msgid {json.dumps(text, ensure_ascii=False)}\nmsgstr ""\n')
    return "\n".join(entries)


if __name__ == "__main__":
    sys.stdout.write(template())
