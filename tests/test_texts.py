# SPDX-License-Identifier: MIT
"""Texts of the operator's programs go through the catalogue, and the template for translators has all of them."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

import collect_texts  # noqa: E402

TELEOP = ROOT / "src" / "shellbot_teleop"
# What is printed before a window, terminal or page is there, and the details of refusals: English.
BEFORE = {"command_line", "config", "errors", "joystick_mapping", "keymap", "limits", "requests", "palette", "theme"}
# Calls, functions and names around what is translated, or is not shown.
NOT_SHOWN = {"tr", "raise", "add_argument", "argument_parser", "parse_arguments", "settings_parser", "write", "main"}
NOT_SHOWN |= {"_CAP", "_TYPES", "set_header", "restyle", "setStyleSheet", "legend", "script", "signal_shutdown"}
NOT_SHOWN |= {"NO_DISPLAY", "NO_TORNADO", "_misfit", "_range", "_BUTTON", "DEAD_MAN", "from_dict", "window_parser"}
SHOWN = {"button", "label", "setText", "setToolTip", "setPlaceholderText", "addTab", "insertTab", "drawText", "Notice"}
SHOWN |= {"show_state", "_heading", "ValueSlider", "VelocityBar", "ChoiceRow", "LinkState", "set_xlabel", "set_ylabel"}
LEVELS = {"info", "warn", "error"}
WORDS = re.compile(r"[A-Za-z]{2,}[,:;.]? +[A-Za-z({]")  # two of them
NAMES = re.compile(r"^(m/s|rad/s|mm|N·m|°C|[A-Z]{3}…|Shellbot.*|Python|walk\(.*)$")


def name_of(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def literals(node, inside=()):
    """Yield (text, names of the calls and statements around it) of every literal, docstrings left out."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.JoinedStr):
        pieces = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
        yield "".join(pieces), inside, node.lineno
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value, inside, node.lineno
        return
    if isinstance(node, ast.Call):
        inside = (*inside, name_of(node))
    elif isinstance(node, (ast.Raise, ast.Assert, ast.Compare)) or (
        isinstance(node, ast.keyword) and node.arg == "name"
    ):
        inside = (*inside, "raise")
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        inside = (*inside, node.targets[0].id)
    elif isinstance(node, ast.FunctionDef):
        inside = (*inside, node.name)
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.JoinedStr):  # its pieces were seen together
        children = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    for child in children:
        yield from literals(child, inside)


def is_untranslated(text, inside):
    text = re.sub(r"<[^>]*>|&\w+;", "", text)
    if NOT_SHOWN & set(inside) or NAMES.match(text):
        return False
    is_word = bool(inside) and inside[-1] in SHOWN and text not in LEVELS and re.search("[A-Za-z]{2}", text)
    return bool(WORDS.search(text) or is_word)


def test_no_text_bypasses_the_catalogue():
    offenders = []
    for file in sorted((TELEOP / "src").rglob("*.py")):
        if file.stem in BEFORE:
            continue
        for text, inside, line in literals(ast.parse(file.read_text(encoding="utf-8"))):
            if is_untranslated(text, inside):
                offenders.append(f"{file.relative_to(TELEOP)}:{line}: {text[:70]!r} in {inside[-2:]}")
    for file in sorted((TELEOP / "web").glob("*.js")):
        source = re.sub(r"//.*", "", file.read_text(encoding="utf-8"))
        source = re.sub(r'\btr\("(?:[^"\\]|\\.)*"', "tr(", source)
        for found in re.finditer(r'"((?:[^"\\\n]|\\.)*)"|`([^`\n]*)`', source):
            text = re.sub(r"\$\{[^}]*\}", "{}", found[1] or found[2] or "")
            if WORDS.search(text) and not re.search("^#|=|prefers-color-scheme|translate", text):
                offenders.append(f"{file.name}: {text[:70]!r}")
    assert not offenders, "\n".join(["put them into tr(...):", *offenders])


def test_what_is_translated_is_a_literal():
    """Other texts would not be collected; those of key maps are collected from their files."""
    dynamic = []
    for file in sorted((TELEOP / "src").rglob("*.py")):
        for call in collect_texts.calls_of_tr(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call.args[0], ast.Constant):
                dynamic.append((file.stem, ast.unparse(call.args[0]) if sys.version_info >= (3, 9) else ""))
    assert {name for name, _ in dynamic} <= {
        "command_model",
        "header",
        "keymap",
        "keys_panel",
        "page_state",
        "page_texts",
        "terminal_screen",
    }, dynamic


def test_the_template_has_every_text():
    shown = collect_texts.TEMPLATE.read_text(encoding="utf-8")
    assert shown == collect_texts.template(), "run scripts/texts"
    for text in ("Take control", "EMERGENCY STOP", "twist left", "Picture of the robot's camera", "Body pose"):
        assert f'msgid "{text}"' in shown
