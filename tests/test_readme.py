# SPDX-License-Identifier: MIT
"""The program in the README runs and prints what stands below it; its figures stand where their rows link to."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_program_prints_what_the_readme_says():
    text = README.read_text(encoding="utf-8")
    program = re.search(r"^```python\n(.*?)^```", text, re.M | re.S).group(1)
    printed = re.search(r"^```text\n(.*?)^```", text, re.M | re.S).group(1)
    assert len([line for line in program.splitlines() if line]) <= 10
    ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    number = r"\d+\.\d+"
    assert re.sub(number, "#", ended.stdout) == re.sub(number, "#", printed)
    # another version of the physics may differ in the last digits
    said, wanted = (list(map(float, re.findall(number, each))) for each in (ended.stdout, printed))
    assert said == pytest.approx(wanted, abs=0.02)


def section(link):
    """The text of a page, or of the section under the heading that the link names."""
    page, _, anchor = link.partition("#")
    text = (README.parent / page).read_text(encoding="utf-8")
    for part in re.split(r"^(?=#)", text, flags=re.M) if anchor else [text]:
        heading = part.partition("\n")[0].lstrip("# ").lower()
        if not anchor or re.sub(r"[^\w -]", "", heading).replace(" ", "-") == anchor:
            return part
    raise AssertionError(f"{page} has no section #{anchor}")


def stands(figure, text):
    """Whether a text has a figure; one with decimals may stand there with more of them."""
    decimals = len(figure.partition(".")[2])
    numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text)
    return figure in numbers or bool(decimals and figure in {f"{float(number):.{decimals}f}" for number in numbers})


def test_headline_figures_stand_where_their_rows_link_to():
    table = re.search(r"^\| \| measured \|\n.*?\n\n", README.read_text(encoding="utf-8"), re.M | re.S).group(0)
    rows = [row.strip("|").split("|") for row in table.strip().splitlines()[2:]]
    assert len(rows) == 8
    lost = []
    for claim, measured in rows:
        text = "".join(map(section, re.findall(r"\]\((.+?)\)", claim)))
        lost += [f"{claim}: {figure}" for figure in re.findall(r"\d+(?:\.\d+)?", measured) if not stands(figure, text)]
    assert not lost, "\n".join(lost)
