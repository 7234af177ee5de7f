# SPDX-License-Identifier: MIT
"""The program in the README runs and prints what stands below it."""

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
