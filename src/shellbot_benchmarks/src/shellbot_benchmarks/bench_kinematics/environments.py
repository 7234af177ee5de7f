# SPDX-License-Identifier: MIT
"""The peers' environments: one virtual environment each, made once under build/, and a C++ program against one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence, Tuple

WORKERS = Path(__file__).resolve().parent / "workers"


@dataclass(frozen=True)
class Environment:
    """What one worker runs in; no packages: the workspace's own interpreter."""

    name: str
    module: str
    packages: Tuple[str, ...] = ()


# pinned: figures of different releases are not comparable (Robotics Toolbox 1.4 is ten times slower than 1.1)
ENVIRONMENTS = (
    Environment("ours", "ours"),
    Environment("ours_newest", "ours", ("numba==0.68.1", "pyyaml")),
    Environment("system", "system"),
    Environment("pin", "pin", ("pin==4.1.0", "EAIK==1.2.2")),
    Environment(
        "rtb",
        "rtb",
        ("roboticstoolbox-python==1.1.0", "spatialgeometry==1.1.0", "numpy<2", "scipy<1.12", "setuptools<81"),
    ),
    Environment("placo", "placo", ("placo==0.10.2",)),
    Environment("tracik", "tracik", ("pytracik==0.0.3",)),
)
OFFLINE = "is the network there? --no-peers measures without them, and --peers-env uses ones made elsewhere"


def interpreter(environment: Environment, folder: Path, say: Callable[[str], None]) -> Tuple[Optional[str], str]:
    """Return the interpreter of an environment, made now if it is not there, or None and why not."""
    if not environment.packages:
        return sys.executable, ""
    place = folder / environment.name
    python, stamp = place / "bin" / "python", place / "complete"
    required = "\n".join(environment.packages)
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == required:
        return str(python), ""
    say(f"making the environment {environment.name}: {', '.join(environment.packages)}")
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for command in (
        [str(base if base.exists() else sys.executable), "-m", "venv", str(place)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *environment.packages],
    ):
        done = subprocess.run(command, env=clean, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            reason = (done.stdout.decode(errors="replace").strip().splitlines() or ["no output"])[-1]
            return None, f"cannot be installed ({reason[:200]}); {OFFLINE}"
    stamp.write_text(required, encoding="utf-8")
    return str(python), ""


def cpp_figures(
    pin_folder: Path, work: Path, name: str, arguments: Sequence[str], say: Callable[[str], None]
) -> Tuple[Dict[str, float], str]:
    """Build and run workers/NAME.cpp against the pin wheel; return its figures (ns), or none and why.

    Parameters
    ----------
    pin_folder : Path
        Environment with pin.
    work : Path
        Folder for the program.
    name : str
        bench or dynamics.
    arguments : sequence of str
        Of the program.
    """
    prefixes = sorted(pin_folder.glob("lib/python*/site-packages/cmeel.prefix"))
    compiler = shutil.which("g++")
    if not prefixes or compiler is None:
        return {}, "no C++ figures: " + ("g++ is missing" if compiler is None else "the pin wheel is missing")
    include = [prefixes[0] / "include", prefixes[0] / "include" / "eigen3", Path("/usr/include/eigen3")]
    source = WORKERS / f"{name}.cpp"
    if not source.is_file():
        return {}, f"no C++ figures: {source.name} is not installed; run from the source tree"
    if not any((folder / "Eigen" / "Core").is_file() for folder in include):
        return {}, "no C++ figures: Eigen's headers are missing; install libeigen3-dev"
    program = work / f"{name}_pinocchio"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        say("compiling the C++ program against the pin wheel")
        command: List[str] = [compiler, "-O3", "-march=native", "-std=c++17", "-DNDEBUG"]
        # as Pinocchio's own build does: its variant of joints is longer than Boost's default lists
        command += ["-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_MPL_LIMIT_LIST_SIZE=30"]
        command += ["-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_FUSION_INVOKE_MAX_ARITY=10"]
        command += [f"-I{folder}" for folder in include if folder.is_dir()]
        command += [str(source), "-o", str(program), f"-L{prefixes[0]}/lib", "-lpinocchio_default"]
        command.append(f"-Wl,-rpath,{prefixes[0]}/lib")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            errors = [line for line in done.stdout.decode(errors="replace").splitlines() if "error" in line]
            return {}, f"no C++ figures: it does not compile ({(errors or ['no message'])[0][:200]})"
    done = subprocess.run([str(program), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        return {}, f"no C++ figures: the program failed ({done.stdout.decode(errors='replace')[-200:]})"
    pairs = [line.split() for line in done.stdout.decode().splitlines()]
    return {name: float(value) for name, value in pairs}, ""
