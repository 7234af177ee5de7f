# SPDX-License-Identifier: MIT
"""The documents are true: every example prints what stands there, links lead somewhere, Sphinx builds."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = [DOCS / "kinematics.md", *sorted((DOCS / "tutorials").glob("*.md")), *sorted((DOCS / "api").glob("*.rst"))]
README = ROOT / "src" / "shellbot_kinematics" / "README.md"
EXAMPLES = [page for page in [*PAGES, README] if ">>>" in page.read_text(encoding="utf-8")]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples_of(page):
    """Return the page with everything but its examples blanked, so that line numbers stay."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".rst":
        return text
    lines = [""] * (text.count("\n") + 1)
    for fence in FENCE.finditer(text):
        if ">>>" in fence.group(2):
            first = text[: fence.start(2)].count("\n")
            block = fence.group(2).split("\n")
            lines[first : first + len(block)] = block
    return "\n".join(lines)


@pytest.fixture
def clean_numpy():
    with np.printoptions():
        yield


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda p: p.name)
def test_examples_print_what_the_page_says(page, clean_numpy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parsed = doctest.DocTestParser().get_doctest(examples_of(page), {}, page.name, str(page), 0)
    assert len(parsed.examples) >= 2
    said = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    result = runner.run(parsed, out=said.append)
    assert result.failed == 0, "".join(said)


def test_an_example_that_prints_something_else_is_caught(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text\n\n```python\n>>> 1 + 1\n3\n```\n", encoding="utf-8")
    parsed = doctest.DocTestParser().get_doctest(examples_of(page), {}, page.name, str(page), 0)
    result = doctest.DocTestRunner(verbose=False).run(parsed, out=lambda _: None)
    assert (result.attempted, result.failed) == (1, 1)


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda p: p.name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).resolve().exists(), f"{page.name} links to {target}, which is not there"


def test_every_code_block_of_the_tutorial_is_run_or_a_command():
    for page in sorted((DOCS / "tutorials").glob("*.md")):
        for fence in FENCE.finditer(page.read_text(encoding="utf-8")):
            language, block = fence.groups()
            assert ">>>" in block or language == "sh", f"a block of {page.name} is never run:\n{block}"


def test_every_public_module_has_its_page():
    source = ROOT / "src" / "shellbot_kinematics" / "src" / "shellbot_kinematics"
    shown = set()
    for page in (DOCS / "api").glob("*.rst"):
        shown |= set(re.findall(r"automodule:: shellbot_kinematics\.(\S+)", page.read_text(encoding="utf-8")))
    names = re.findall(r"^from shellbot_kinematics\.(\S+) import", (source / "__init__.py").read_text("utf-8"), re.M)
    missing = sorted(set(names) - shown)
    assert not missing, f"no page of docs/api shows {', '.join(missing)}"


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="built once, in the first pass")
def test_sphinx_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    html = tmp_path / "html"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", str(tmp_path / "trees")]
        + [str(DOCS), str(html)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (html / "api" / "workspace.html").read_text(encoding="utf-8")
    assert "limb_reach" in page and "Spacing of the grid" in page
    assert (html / "tutorials" / "ur5.html").exists()


def test_sphinx_reports_a_broken_page(tmp_path):
    """The build that must not warn can: a reference to nothing is an error."""
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    broken = tmp_path / "docs"
    broken.mkdir()
    shutil.copy(DOCS / "conf.py", broken)
    (broken / "index.rst").write_text("Heading\n=======\n\n:ref:`nowhere`\n", encoding="utf-8")
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(broken), str(tmp_path / "html")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert done.returncode != 0 and "nowhere" in done.stderr
