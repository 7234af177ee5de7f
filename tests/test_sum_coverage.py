# SPDX-License-Identifier: MIT
"""The table of scripts/test --coverage, and its page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def test_the_page_has_each_package_and_the_command(tmp_path):
    module, page = tmp_path / "src/arm/module.py", tmp_path / "page.md"
    module.parent.mkdir(parents=True)
    module.write_text("import sys\nif not sys.argv:\n    print(1)\nprint(2)\n", encoding="utf-8")
    page.write_text("before\n<!-- begin: coverage -->\nold\n<!-- end: coverage -->\nafter\n", encoding="utf-8")
    run = [sys.executable, "-m", "coverage", "run", "-p", "--data-file=data", "--source=src", str(module)]
    subprocess.run(run, cwd=str(tmp_path), check=True)
    table = [sys.executable, str(SCRIPTS / "lib/sum_coverage.py"), ".", "scripts/test unit", str(page)]
    subprocess.run(table, cwd=str(tmp_path), check=True)
    text = page.read_text(encoding="utf-8")
    assert "| arm       |            4 | 75.0% |" in text and "Made by `scripts/test unit` on" in text
    assert "old" not in text and text.startswith("before") and text.endswith("after\n")


def test_a_part_of_the_tests_is_not_written():
    for words in (("unit", "--write"), ("lint", "--coverage", "--write"), ("--coverage", "--write", "-k", "x")):
        done = subprocess.run([str(SCRIPTS / "test"), *words], stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode and "--write needs --coverage and whole tests" in done.stderr
