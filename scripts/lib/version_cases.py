# SPDX-License-Identifier: MIT
"""Which Python goes with which numba, which packages are pinned beside them, and where an interpreter is found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple

# numba's own table: release -> first and last minor of Python 3 that it supports; later releases are as the last one
SUPPORT: Dict[Tuple[int, int], Tuple[int, int]] = {
    (0, 56): (8, 10),
    (0, 57): (8, 11),
    (0, 58): (8, 11),
    (0, 59): (9, 12),
    (0, 60): (9, 12),
    (0, 61): (10, 13),
    (0, 62): (10, 13),
}


class VersionsError(Exception):
    """Something that the user can mend; the text says how."""


@dataclass(frozen=True)
class Case:
    """One column of the matrix."""

    python: str  #: ``3.X``
    numba: str  #: Release, as on PyPI
    #: numpy, scipy: Pins; empty: whatever pip finds to go with that numba
    numpy: str = ""
    scipy: str = ""
    interpreted: bool = False  #: Whether the packages of kernels are tested once more without the compiler

    @property
    def name(self) -> str:
        """The word for it on the command line."""
        return f"{self.python}-{self.numba}"

    def requirements(self) -> List[str]:
        """Return what pip is asked for beside the requirements files."""
        pins = [f"numba=={self.numba}"]
        return pins + [f"{package}=={pin}" if pin else package
                       for package, pin in (("numpy", self.numpy), ("scipy", self.scipy))]  # fmt: skip

    def constraints(self, *pins: str) -> List[str]:
        """Return the lines of requirements files without those of the packages that the case itself chooses."""
        own = {_package(line) for line in self.requirements()}
        return [line for text in pins for line in _lines(text) if _package(line) not in own]


# Oldest and newest of each, and what stands between. Python 3.11 with Debian 12's numba 0.56.4 (which PyPI has for
# 3.10 at most) is the workspace's own interpreter: scripts/test.
CASES = (
    Case("3.8", "0.56.4", "1.20.3", "1.6.3", interpreted=True),
    Case("3.8", "0.58.1", "1.24.4", "1.10.1"),
    Case("3.9", "0.60.0", "2.0.2", "1.13.1"),
    Case("3.10", "0.61.2", "2.2.6", "1.15.3"),
    Case("3.11", "0.57.1", "1.24.4", "1.10.1"),
    Case("3.11", "0.68.1", "2.4.6", "1.17.1"),
    Case("3.12", "0.61.2", "2.2.6", "1.15.3"),
    Case("3.13", "0.68.1", "2.5.5", "1.18.1", interpreted=True),
)


def relevant(required_text: str, *pins: str) -> List[str]:
    """Return the requirements wanted, and of other files the pins of the same packages; without comments.

    A pin of something else, such as of a linter, is no reason to make an environment anew.
    """
    names = {_package(line) for line in _lines(required_text)}
    return _lines(required_text) + [line for text in pins for line in _lines(text) if _package(line) in names]


def _lines(text: str) -> List[str]:
    return [line for line in (line.split("#")[0].strip() for line in text.splitlines()) if line]


def _package(line: str) -> str:
    return re.split(r"[^\w.-]", line)[0].lower()


def parse_case(text: str) -> Case:
    """Return the case that a word such as ``3.8-0.58.1`` names: one of `CASES`, or any other pair that fits.

    Raises
    ------
    VersionsError
        If the word is none, or numba of that release does not run on that Python.
    """
    for case in CASES:
        if case.name == text:
            return case
    found = re.match(r"^3\.(\d+)-(\d+)\.(\d+)(?:\.\d+)?$", text)
    if found is None:
        raise VersionsError(
            f"'{text}' is no case: write PYTHON-NUMBA, such as {CASES[0].name}; the usual ones are "
            + ", ".join(case.name for case in CASES)
        )
    minor, release = int(found.group(1)), (int(found.group(2)), int(found.group(3)))
    if release < min(SUPPORT):
        raise VersionsError(f"'{text}': numba {'.'.join(map(str, min(SUPPORT)))} is the oldest that is supported")
    first, last = SUPPORT[max(key for key in SUPPORT if key <= release)]
    if not first <= minor <= last:
        raise VersionsError(
            f"'{text}' does not fit: numba {release[0]}.{release[1]} runs on Python 3.{first} to 3.{last}; "
            "choose another pair"
        )
    python, numba = text.split("-")
    return Case(python, numba)


def choose_cases(words: Sequence[str]) -> List[Case]:
    """Return the cases that the words name, in their order and each once; all of `CASES` without words."""
    return list({case.name: case for case in map(parse_case, words)}.values()) if words else list(CASES)


def probe(path: str) -> Tuple[str, str]:
    """Ask an interpreter for ``3.X`` and for its own path outside any virtual environment; empty if it does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2]); print(getattr(sys, '_base_executable', sys.executable))"
    try:
        done = subprocess.run(
            [path, "-I", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "", ""
    lines = done.stdout.decode(errors="replace").split("\n")
    return (lines[0], lines[1]) if done.returncode == 0 and len(lines) >= 2 else ("", "")


def candidates(version: str, environ: Mapping[str, str], home: Path) -> List[str]:
    """Return where ``3.X`` may be: on PATH, then in pyenv's folder, newest patch first.

    A command on PATH is only a candidate: pyenv's shims are there for every version and answer for the active ones.
    """
    found = []
    for folder in environ.get("PATH", "").split(os.pathsep):
        command = shutil.which(f"python{version}", path=folder) if folder else None
        if command:
            found.append(command)
    root = Path(environ.get("PYENV_ROOT") or home / ".pyenv")

    def patch(path: Path) -> List[int]:
        return [int(number) for number in re.findall(r"\d+", path.parent.parent.name)]

    return found + [str(p) for p in sorted(root.glob(f"versions/{version}.*/bin/python"), key=patch, reverse=True)]


def find_interpreter(
    version: str,
    given: Sequence[str] = (),
    environ: Optional[Mapping[str, str]] = None,
    home: Optional[Path] = None,
    ask: Callable[[str], Tuple[str, str]] = probe,
) -> str:
    """Return an interpreter of the version asked: one given by the user, on PATH, or of pyenv.

    Raises
    ------
    VersionsError
        There is none; the text says where it was looked for and what to do.
    """
    places = [*given, *candidates(version, os.environ if environ is None else environ, home or Path.home())]
    for place in places:
        answer, path = ask(place)
        if answer == version:
            return path or place
    raise VersionsError(
        f"no Python {version}: neither python{version} on PATH nor pyenv has one that runs; install it "
        f"(pyenv install {version}), name it with --python PATH, or leave its cases out with --only"
    )
