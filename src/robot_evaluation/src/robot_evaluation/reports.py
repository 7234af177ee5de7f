# SPDX-License-Identifier: MIT
"""Results as files: CSV for spreadsheets, JSON for programs, or any other; and the machine they come from."""

from __future__ import annotations

import contextlib
import csv
import functools
import hashlib
import io
import json
import math
import os
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Any, Dict, Mapping, Sequence

from shellbot_common import package_file, write_file

from .errors import EvaluationError

_SOURCES = (".py", ".yaml", ".xacro", ".stl")
_NUMBERS = re.compile(r"\[\n(?:\s+(?:-?\d[-+.eE\d]*|null),?\n)+\s+\]")  # no text of JSON has a line's end in it
_LIBRARIES = ("mujoco", "pybullet", "numpy", "scipy", "numba")


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows with the union of their keys as header, in order of first appearance.

    Raises
    ------
    EvaluationError
        If there are no rows.
    """
    if not rows:
        raise EvaluationError(f"no rows for {path}; no run has finished")
    names = list(dict.fromkeys(key for row in rows for key in row))
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, names, restval="")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    write_file(path, stream.getvalue())


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write indented JSON, its folder made if need be; nan and infinity, which JSON does not know, become null.

    A list of numbers is one line: paths of runs would have a hundred thousand.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_plain(content), indent=2, allow_nan=False)
    text = _NUMBERS.sub(lambda found: " ".join(found[0].split()).replace("[ ", "[").replace(" ]", "]"), text)
    write_file(path, text + "\n")


def made_by(command: str) -> str:
    """Return the line under a table of runs: in virtual time, or of the robot that runs."""
    time = "" if "--running" in command.split() else " in virtual time: the machine does not matter"
    return f"\nMade by `{command}`{time}.\n"


def machine() -> Dict[str, object]:
    """Return what is stored beside every figure: processor, cores, system, interpreter, libraries, digest of code."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        name = models[0] if models else name
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "load_at_end": load,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "libraries": library_versions(),
        "code": code_version(),
    }


def library_versions() -> Dict[str, str]:
    """Return the versions of the libraries that results depend on, by name, as far as they are installed."""
    found = {}
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@functools.lru_cache(maxsize=1)
def code_version() -> str:
    """Return a digest of code, settings, meshes and versions of libraries: results of different ones do not mix."""
    source = package_file("robot_evaluation", "config").resolve().parents[1]
    digest = hashlib.sha256(repr(library_versions()).encode())
    files = (path for path in source.rglob("*") if path.suffix in _SOURCES and "test" not in path.parts)
    for file in sorted(files):
        digest.update(str(file.relative_to(source)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def _cell(value: object) -> object:
    return json.dumps(_plain(value)) if isinstance(value, (Mapping, list, tuple)) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
