# SPDX-License-Identifier: MIT
"""Settings of Sphinx; scripts/docs builds the pages."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any, List

from latex2mathml.converter import convert

HERE = Path(__file__).resolve().parent
WORKSPACE = HERE.parent
for folder in WORKSPACE.glob("src/*/src"):
    sys.path.insert(0, str(folder))

# Sphinx writes inherited annotations into the classes shown; Settings could not read those of a module loaded later.
for page in sorted((HERE / "api").glob("*.rst")):
    for name in re.findall(r"automodule:: (\S+)", page.read_text(encoding="utf-8")):
        importlib.import_module(name)

project = "Shellbot"
author = "The Shellbot authors"
copyright = "The Shellbot authors, MIT licence"  # noqa: A001 - Sphinx's name

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_parser"]
html_math_renderer = "mathml"  # browsers draw it themselves: no script, no network
# The source folder is the workspace, so that links between guides and the packages' READMEs are the same here and in the
# repository.
root_doc = "docs/index"
include_patterns = ["docs/**", "CONTRIBUTING.md", "CHANGELOG.md", "src/*/README.md"]
exclude_patterns = ["build", "devel", "install", "logs", "results", "shared", ".*", "**/.*", "src/*/*/**"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types stand in the docstrings, with shapes and units
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

# a font that has the tall brackets (package fonts-dejavu-extra); without it a browser takes what it finds
MATH_FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuMathTeXGyre.ttf")
html_static_path = ["_static", *([str(MATH_FONT)] if MATH_FONT.is_file() else [])]
html_css_files = ["pages.css"]
html_theme = "furo"
html_title = "Shellbot"
html_show_sourcelink = False


def mend(_app: Any, _what: str, _name: str, _item: Any, _options: Any, lines: List[str]) -> None:
    """Let |x| in a docstring be an absolute value, not one of Sphinx's substitutions; and "a, b : array" two attributes
    with one text, not b of the type a.
    """
    for i, line in enumerate(lines):
        if "``" not in line:
            lines[i] = re.sub(r"(?<!\\)\|", r"\\|", line)
        if re.match(r":(ivar|vartype) [\w, ]+:", line):
            start, names, rest = re.split(r"(?<=ivar) |(?<=vartype) |(?<=\w):", lines[i], maxsplit=2)
            lines[i] = f"{start} {names.replace(', ', ',' + chr(0x200B))}:{rest}"


def formula(translator: Any, node: Any) -> None:
    """Write a formula as MathML: within a line, or as a block of its own."""
    from docutils.nodes import SkipNode

    block = node.tagname == "math_block"
    source = re.sub(r"\\operatorname\{(\w+)\}", r"\\mathrm{\1}", node.astext())  # else in italics, letter by letter
    text = convert(source, display="block" if block else "inline")
    text = re.sub(r"<mi>(sin|cos|cot|arcsin|log|det)</mi>", r'<mrow>\g<0><mspace width="0.15em" /></mrow>', text)
    translator.body.append(f'<div class="math">{text}</div>\n' if block else text)
    raise SkipNode


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("autodoc-process-docstring", mend)
