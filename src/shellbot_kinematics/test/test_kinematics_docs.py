# SPDX-License-Identifier: MIT
"""The documents are true: every example prints what stands there, links lead somewhere, Sphinx builds."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numba
import numpy as np
import pytest

import shellbot_kinematics
from shellbot_kinematics import packed

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
GUIDES = [DOCS / "kinematics.md", DOCS / "dynamics.md"]
PAGES = [*GUIDES, *sorted((DOCS / "tutorials").glob("*.md")), *sorted((DOCS / "api").glob("*.rst"))]
READMES = [ROOT / "src" / package / "README.md" for package in ("robot_mechanics", "shellbot_kinematics")]
EXAMPLES = [page for page in [*PAGES, *READMES] if ">>>" in page.read_text(encoding="utf-8")]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def public_names():
    return {*shellbot_kinematics.__all__, *packed.__all__}


def public_modules():
    """The modules, or packages of modules, that the package's front page takes its names from; and `packed`."""
    front = Path(shellbot_kinematics.__file__).read_text(encoding="utf-8")
    return {*re.findall(r"^from shellbot_kinematics\.(\w+)\S* import", front, re.M), "packed"}


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


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda p: f"{p.parent.name}/{p.name}")
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


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=lambda p: f"{p.parent.name}/{p.name}")
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
    shown = set()
    for page in (DOCS / "api").glob("*.rst"):
        shown |= set(re.findall(r"automodule:: shellbot_kinematics\.(\S+)", page.read_text(encoding="utf-8")))
    missing = sorted(name for name in public_modules() if not any(s.split(".")[0] == name for s in shown))
    assert not missing, f"no page of docs/api shows {', '.join(missing)}"


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """The built pages, and what the build printed."""
    if numba.config.DISABLE_JIT:
        pytest.skip("built once, in the first pass")
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("latex2mathml")
    folder = tmp_path_factory.mktemp("docs")
    words = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(folder / "trees"), "-c", str(DOCS)]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words, str(ROOT), str(folder / "html")],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    return folder / "html", done


def test_sphinx_builds_without_a_warning(html):
    folder, done = html
    assert done.returncode == 0, done.stdout + done.stderr
    page = (folder / "docs" / "api" / "workspace.html").read_text(encoding="utf-8")
    assert "limb_reach" in page and "Spacing of the grid" in page
    assert (folder / "docs" / "tutorials" / "ur5.html").exists()
    start = (folder / "docs" / "index.html").read_text(encoding="utf-8")
    for page in ("CONTRIBUTING.md", "CHANGELOG.md", *(p.relative_to(ROOT) for p in ROOT.glob("src/*/README.md"))):
        assert f'href="../{Path(page).with_suffix(".html")}"' in start, f"the first page does not link to {page}"


def test_the_pages_need_no_network(html):
    """Nothing is loaded from elsewhere, and every formula is drawn by the browser itself."""
    for page in html[0].rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]*src=\"([^\"]*)\"|<link[^>]*href=\"([^\"]*)\"", text)
        assert not [address for pair in loaded for address in pair if "//" in address], page.name
    source = re.sub(r"```.*?```", "", (DOCS / "kinematics.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    page = (html[0] / "docs" / "kinematics.html").read_text(encoding="utf-8")
    assert page.count("<math ") == len(re.findall(r"\$\$.+?\$\$|\$[^$]+\$", source, re.DOTALL)) > 100
    unknown = re.findall(r"<m\w+[^>]*>\\\w+", page)
    assert not unknown, f"latex2mathml does not know {', '.join(unknown)}"


def test_every_public_name_has_an_entry(html):
    """Sphinx's inventory of what can be linked to: classes, functions and constants, each with its docstring."""
    inventory = zlib.decompress((html[0] / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode("utf-8")
    shown = {line.split(" ", 1)[0].rsplit(".", 1)[-1] for line in inventory.splitlines() if " py:" in line}
    missing = sorted(public_names() - shown)
    assert not missing, f"docs/api shows no {', '.join(missing)}: add it to the page of its module"


def test_every_public_function_is_called_by_a_test():
    tests = " ".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("*.py"))
    functions = {name for name in public_names() if name == name.lower()}
    missing = sorted(functions - set(re.findall(r"\w+", tests)))
    assert not missing, f"no test of this package names {', '.join(missing)}"


def test_the_derivations_name_every_public_module():
    page = (DOCS / "kinematics.md").read_text(encoding="utf-8")
    table = page[page.index("## Where it is") :]
    missing = sorted(public_modules() - set(re.findall(r"`(\w+)`", table)))
    assert not missing, f"the table at the end of docs/kinematics.md has no {', '.join(missing)}"


def test_sphinx_reports_a_broken_page(tmp_path):
    """The build that must not warn can: a reference to nothing is an error."""
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("latex2mathml")
    broken = tmp_path / "docs"
    broken.mkdir()
    shutil.copy(DOCS / "conf.py", broken)
    shutil.copytree(str(DOCS / "_static"), str(broken / "_static"))
    (broken / "index.rst").write_text("Heading\n=======\n\n:ref:`nowhere`\n", encoding="utf-8")
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "-b",
            "html",
            "-c",
            str(broken),
            str(tmp_path),
            str(tmp_path / "html"),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=environment,
    )
    assert done.returncode != 0 and "nowhere" in done.stderr
