# SPDX-License-Identifier: MIT
"""Test the libraries under other Pythons and numbas, each pair in an environment of its own, without ROS."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

ROOT = Path(__file__).resolve().parents[2]
LIB = ROOT / "scripts" / "lib"
OURS = ("robot_evaluation", "shellbot_common")  # what the table and its errors come from
sys.path[:0] = [str(LIB), *(str(ROOT / "src" / name / "src") for name in OURS)]

from version_cases import CASES, Case, VersionsError, choose_cases, find_interpreter, relevant  # noqa: E402
from version_report import INTERPRETED, KERNELS, PACKAGES, Results, read_junit, report  # noqa: E402

from robot_evaluation.errors import EvaluationError  # noqa: E402
from robot_evaluation.tables import write_between_markers  # noqa: E402


def say(text: str) -> None:
    """Tell the user how far it is."""
    print(f"[shellbot] {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep a case's folder for this call: another one would take its environment or its files from under its tests."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another call that tests {folder.name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(command: Sequence[str], log: Path, environment: Mapping[str, str], folder: Path) -> int:
    """Run a command with its output in a file; at Ctrl-C end it and everything that it has started."""
    # Interrupts are blocked until the process is inside the try block, otherwise it would be left running.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        with open(log, "wb") as output:
            process = subprocess.Popen(
                list(command), stdout=output, stderr=subprocess.STDOUT, env=dict(environment), cwd=str(folder),
                start_new_session=True, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask),
            )  # fmt: skip
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            return process.wait()
        except BaseException:
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, number)
                    process.wait(timeout=10)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    continue
            raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def last_lines(log: Path) -> str:
    """Return the end of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:])


def clean_environment(case_folder: Path, environ: Mapping[str, str]) -> Dict[str, str]:
    """Return an environment without ROS and without the user's Python; caches beside the case."""
    dropped = ("PYTHON", "ROS", "CATKIN", "CMAKE_PREFIX", "VIRTUAL_ENV", "NUMBA", "PYTEST")
    inherited = {key: value for key, value in environ.items() if not key.startswith(dropped)}
    inherited["PATH"] = os.pathsep.join(
        [str(case_folder / "venv" / "bin"), *inherited.get("PATH", "/usr/bin:/bin").split(":")]
    )
    inherited.update(
        NUMBA_CACHE_DIR=str(case_folder / "numba"),
        PYTHONPYCACHEPREFIX=str(case_folder / "pycache"),
        HYPOTHESIS_STORAGE_DIRECTORY=str(case_folder / "hypothesis"),
        MPLCONFIGDIR=str(case_folder / "matplotlib"),
        MPLBACKEND="Agg",
        PYTHONUNBUFFERED="1",
        NUMBA_NRT_STATS="1",  # newer numbas count allocations, which a test looks at, only when told to
    )
    return inherited


def make_environment(case: Case, folder: Path, given: Sequence[str]) -> Path:
    """Return the interpreter of the case's virtual environment, made now unless it is there with the same pins."""
    venv, stamp = folder / "venv", folder / "complete"
    files = [LIB / "requirements-versions.txt", LIB / "requirements.txt", LIB / "requirements-dev.txt"]
    texts = [file.read_text(encoding="utf-8") for file in files]
    required = "\n".join([*case.requirements(), *relevant(*texts)])
    python = venv / "bin" / "python"
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == required:
        return python
    base = find_interpreter(case.python, given)
    say(f"{case.name}: making the environment with {', '.join(case.requirements())}")
    stamp.unlink() if stamp.exists() else None
    shutil.rmtree(venv, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    environment, log = clean_environment(folder, os.environ), folder / "install.log"
    if run([base, "-m", "venv", str(venv)], log, environment, ROOT) != 0:
        raise VersionsError(
            f"{base} makes no virtual environment; is its venv module installed (python{case.python}-venv)?\n"
            + last_lines(log)
        )
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--prefer-binary"]
    pins = folder / "constraints.txt"
    pins.write_text("\n".join(case.constraints(*texts[1:])) + "\n", encoding="utf-8")
    pip += ["-r", str(files[0]), "-c", str(pins), *case.requirements()]
    if run(pip, log, environment, ROOT) != 0:
        raise VersionsError(
            f"{case.name} cannot be installed; is the network there? All of it: {log}\n{last_lines(log)}"
        )
    stamp.write_text(required, encoding="utf-8")
    return python


def test_suite(case: Case, folder: Path, python: Path, tree: Path, suite: str) -> Dict[str, Any]:
    """Run the tests of one package and return their counts."""
    environment = clean_environment(folder, os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, sorted(tree.glob("src/*/src"))), str(LIB)])
    package, kind, _ = suite.partition(INTERPRETED)
    if kind:
        environment["NUMBA_DISABLE_JIT"] = "1"
    name = suite.replace(", ", "_")
    log, junit = folder / f"{name}.log", folder / f"{name}.xml"
    if junit.exists():
        junit.unlink()
    tests = f"src/{package}/test"
    command = [str(python), "-m", "pytest", "-q", "-p", "without_ros", "-p", "no:cacheprovider", f"--junitxml={junit}"]
    start = time.monotonic()
    code = run([*command, "--continue-on-collection-errors", tests], log, environment, tree)
    counts = read_junit(junit)
    if code not in (0, 1, 5) and not counts["failed"]:
        counts.update(failed=1, failures=[f"pytest ended with status {code}"])
    counts["seconds"] = time.monotonic() - start
    words = f"{case.name} {suite}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
    say(f"{words}, {counts['seconds']:.0f} s" + (f"; see {log}" if counts["failed"] else ""))
    for failure in counts["failures"][:10]:
        say(f"    failed: {failure}")
    return counts


def versions_in(python: Path) -> str:
    """Return the releases in an environment, as far as they matter."""
    code = (
        "import platform, numba, numpy, scipy; print(platform.python_version(), numba.__version__, numpy.__version__, "
    )
    code += "scipy.__version__)"
    return subprocess.run([str(python), "-I", "-c", code], stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def tree_of(commit: Optional[str], folder: Path) -> Path:
    """Return what is tested: the working tree, or the files of a commit, copied to a folder."""
    if commit is None:
        return ROOT
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    command = ["git", "archive", commit, "src", "docs", "pyproject.toml", "scripts"]
    packed = subprocess.run(command, cwd=str(ROOT), stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "-x", "-C", str(tree)], input=packed.stdout, check=True)
    return tree


def tested_commit(commit: Optional[str]) -> str:
    """Return the short name of what is tested, with a plus for a working tree with changes; a dash outside git."""
    command = ["git", "rev-parse", "--verify", "--quiet", "--short", (commit or "HEAD") + "^{commit}"]
    done = subprocess.run(command, cwd=str(ROOT), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    name = done.stdout.decode().strip()
    if done.returncode != 0:
        if commit is not None:
            raise VersionsError(f"git knows no commit '{commit}'; leave --commit out to test the files as they are")
        return "–"
    changes = ["git", "diff", "--quiet", "HEAD"]
    return name + ("+" if commit is None and subprocess.run(changes, cwd=str(ROOT), check=False).returncode else "")


def load(folder: Path) -> Results:
    """Return the results so far, from a file in the folder of each case; one that is not whole is left out."""
    results: Results = {}
    for file in sorted(folder.glob("*/results.json")):
        with contextlib.suppress(ValueError):
            results[file.parent.name] = dict(json.loads(file.read_text(encoding="utf-8")))
    return results


def suites_of(case: Case, packages: Sequence[str], interpreted: bool) -> List[str]:
    """Return what is run of a case: its packages, those of kernels interpreted, too, where that is asked."""
    twice = KERNELS if case.interpreted or interpreted else ()
    return [suite for name in packages for suite in ([name, name + INTERPRETED] if name in twice else [name])]


def arguments(argv: Optional[Sequence[str]]) -> argparse.Namespace:
    """Read the command line."""
    usual = "".join(f"\n  {case.name:12s} {', '.join(case.requirements()[1:])}{', also interpreted' * case.interpreted}"
                    for case in CASES)  # fmt: skip
    parser = argparse.ArgumentParser(
        prog="scripts/test versions",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__
        + "\nEnvironments, logs, JUnit files and results are in build/versions. Needs the network once.",
        epilog=f"the usual pairs of Python and numba:{usual}\n\n"
        "What needs ROS is skipped, with the reason: that is for scripts/test unit.",
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="PYTHON-NUMBA", help="these pairs; any that fits will do"
    )
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES), metavar="PACKAGE", choices=PACKAGES,
                        help=f"these packages: {' '.join(PACKAGES)}")  # fmt: skip
    parser.add_argument(
        "--interpreted", action="store_true", help="test the packages of kernels without the compiler in every pair"
    )
    parser.add_argument(
        "--python", action="append", default=[], metavar="PATH",
        help="an interpreter to take; otherwise python3.X on PATH and pyenv's are looked through",
    )  # fmt: skip
    parser.add_argument("--commit", help="test this commit, not the files as they are; others may go on editing")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=ROOT / "docs" / "results" / "versions.md", metavar="PAGE",
        help="put the table between '<!-- begin: versions -->' and its end marker; page: docs/results/versions.md",
    )  # fmt: skip
    parser.add_argument("--table", action="store_true", help="run nothing: the table of the results so far")
    return parser.parse_args(argv)


def run_case(case: Case, options: argparse.Namespace, folder: Path, commit: str) -> bool:
    """Run what is asked of one pair and keep each result at once; return whether nothing failed."""
    place, good = folder / case.name, True
    try:
        python = make_environment(case, place, options.python)
    except VersionsError as error:  # the other pairs may do
        say(str(error))
        return False
    versions, tree = versions_in(python), tree_of(commit if options.commit else None, place)
    for suite in suites_of(case, options.packages, options.interpreted):
        counts = test_suite(case, place, python, tree, suite)
        good = good and not counts["failed"]
        recorded = load(folder).get(case.name, {})
        recorded[suite] = dict(counts, versions=versions, commit=commit)
        (place / "results.json").write_text(json.dumps(recorded, indent=1), encoding="utf-8")
    return good


def campaign(options: argparse.Namespace, folder: Path) -> bool:
    """Run all that is asked; return whether nothing failed."""
    cases = choose_cases(options.only)
    for case in cases:  # before hours of work: all interpreters are there
        find_interpreter(case.python, options.python)
    commit = tested_commit(options.commit)
    good = True
    for number, case in enumerate(cases, 1):
        say(f"{case.name} ({number} of {len(cases)})")
        with alone(folder / case.name):
            good = run_case(case, options, folder, commit) and good
    return good


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run the campaign and print the table."""
    options = arguments(argv)
    folder = ROOT / "build" / "versions"
    folder.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGINT, signal.SIGTERM):  # what a caller in the background ignores, and a plain kill, too
        signal.signal(number, signal.default_int_handler)
    try:
        good = options.table or campaign(options, folder)
        results = load(folder)
        if not results:
            raise VersionsError("there are no results yet; run scripts/test versions without --table")
        text = report(results)
        print(text, end="")
        if options.write:
            command = "scripts/test versions --write"
            write_between_markers(options.write, "versions", f"{text}\nMade by `{command}`.")
    except (VersionsError, EvaluationError) as error:
        say(str(error))
        return 2
    except KeyboardInterrupt:
        say("interrupted; what has finished is stored: scripts/test versions --table, and --only runs the others")
        return 130
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
