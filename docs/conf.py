# SPDX-License-Identifier: MIT
"""Settings of Sphinx for the kinematics library's pages; scripts/docs builds them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, List

HERE = Path(__file__).resolve().parent
for package in ("shellbot_kinematics", "shellbot_description"):
    sys.path.insert(0, str(HERE.parent / "src" / package / "src"))

project = "Shellbot kinematics"
author = "The Shellbot authors"
copyright = "The Shellbot authors, MIT licence"  # noqa: A001 - Sphinx's name

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "myst_parser"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
# the other pages of this folder are about the whole workspace and read in the repository
OURS = {"kinematics.md"}
exclude_patterns = sorted(page.name for page in HERE.glob("*.md") if page.name not in OURS)

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# links to the pages above, right in the repository; a test looks whether every linked file exists
suppress_warnings = ["myst.xref_missing", "myst.ref", "ref.myst"]  # the category's name changed with the versions

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types stand in the docstrings, with shapes and units
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "sidebar_width": "220px"}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_show_sourcelink = False


def keep_bars(_app: Any, _what: str, _name: str, _item: Any, _options: Any, lines: List[str]) -> None:
    """Let |x| in a docstring be an absolute value, not one of Sphinx's substitutions."""
    for i, line in enumerate(lines):
        if "``" not in line:
            lines[i] = re.sub(r"(?<!\\)\|", r"\\|", line)


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", keep_bars)
