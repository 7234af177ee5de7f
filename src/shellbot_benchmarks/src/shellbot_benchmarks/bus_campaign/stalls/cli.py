# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment bus-faults --stalls."""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Optional, Sequence

from ax_bus.wire_time import MAX_LINK_LATENCY
from robot_evaluation.console import add_seeds, file_of, run_tool, say, seeds_of
from robot_evaluation.errors import DefinitionError
from robot_evaluation.parallel import add_workers, map_jobs
from robot_evaluation.reports import machine, write_json

from . import run, score
from .plan import FAULT_SLOT

MOST_SECONDS = 86_400.0  # of a run
_POLL = 0.05  # s
_PATIENCE = 20.0  # s that a run which is to end may take to clean up

_FIGURES = f"""\
figures; the first four should be 0 (exact definitions: the module stalls/score.py):
  false_torque_off         torque was reported as confirmed to be off, and was on at a servo
  stale_reported_good      a reading older than {score.OLD:g} s (by the observer's clock, or because the servo has not
                           answered for that long) was shown as GOOD and not stale
  goal_steps_beyond_limit  a servo with torque got a goal farther from the last one than its joint's speed limit allows
                           in the time between, plus {score.CONSTANT} steps; or torque came on with a goal farther than
                           {score.CONSTANT} steps from where the horn was in the last {score.OLD:g} s
  unreported_stops         an emergency stop or torque off that was neither confirmed within {score.CONFIRM:g} s nor
                           reported as unconfirmed within {score.REPORT:g} s, time of a stopped parent not counted
  worst_stop_s             the longest time until a stop was confirmed or reported as unconfirmed
Consecutive observations, and events of one servo within {score.SAME:g} s, count as one.
status: 0 if the first four are 0 in all runs, 1 if not or if a run failed, 2 after a wrong argument
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/experiment bus-faults --stalls",
        description="Bus faults and host stalls against the real processes in real time: a parent with its BusProcess, "
        "the bus process, and emulated servos on a pty, which record what really happened. Each seed is a random "
        "schedule of faults, stops, SIGSTOP of each process and CPU hogs, and a gait.",
        epilog=_FIGURES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("--stalls", action="store_true", help="this experiment")
    add_seeds(p, "1", "a run each")
    p.add_argument("--seconds", type=float, default=60.0, help="length of a run (default 60)")
    p.add_argument("--json", type=file_of, metavar="FILE", help="write runs and summary there")
    add_workers(p, scheduler=False, text="runs at the same time (default 1); each needs some 1.5 cores")
    p.add_argument(
        "--latency-ms", type=float, default=2.0, help="latency that the driver waits for (default 2, as onboard.launch)"
    )
    p.add_argument("--keep", type=Path, metavar="FOLDER", help="keep ground truth and log of each run there")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0 if every limit was met, 1 if not, 2 after an error."""
    arguments = parser().parse_args(argv)
    return run_tool(lambda: _run(arguments))


class Runs:
    """Carries out runs, each in a process of its own, which it ends when it is asked to.

    Parameters
    ----------
    seconds : float
        Length of each.
    link_latency : float
        That the driver waits for, s.
    keep : pathlib.Path, optional
        Folder in which they leave their files; by default nowhere.
    """

    def __init__(self, seconds: float, link_latency: float, keep: Optional[Path] = None) -> None:
        self._seconds, self._link_latency, self._keep = seconds, link_latency, keep
        self._is_over = threading.Event()

    def end(self) -> None:
        """Let the runs that are under way end, and begin no other."""
        self._is_over.set()

    def __call__(self, seed: int) -> Dict[str, Any]:
        """Carry out the run of a seed and return its result."""
        if self._keep is None:
            folder = Path(tempfile.mkdtemp(prefix="shellbot-stalls-"))
        else:
            folder = self._keep.resolve() / f"seed-{seed}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / run.RESULT).unlink(missing_ok=True)
        try:
            return self._carry_out(seed, folder)
        finally:
            if self._keep is None:
                shutil.rmtree(folder, ignore_errors=True)

    def _carry_out(self, seed: int, folder: Path) -> Dict[str, Any]:
        if self._is_over.is_set():
            raise KeyboardInterrupt
        values = (seed, self._seconds, folder, self._link_latency)
        command = [sys.executable, "-m", run.__name__, *map(str, values)]
        process = subprocess.Popen(command, start_new_session=True)
        try:
            while process.poll() is None:
                if self._is_over.wait(_POLL):
                    raise KeyboardInterrupt
        finally:
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
            run.clean_up(folder)  # in case that it could not do so itself
        if not (folder / run.RESULT).exists():
            result: Dict[str, Any] = {"seed": seed, "seconds": self._seconds,
                                      "error": f"the run ended with status {process.returncode}"}  # fmt: skip
        else:
            result = json.loads((folder / run.RESULT).read_text(encoding="utf-8"))
        say(_line(result))
        return result


def _line(result: Dict[str, Any]) -> str:
    if "error" in result:
        return f"seed {result['seed']}: FAILED: {result['error']}"
    counts = ", ".join(f"{name} {result[name]}" for name in score.COUNTS)
    return f"seed {result['seed']}: {counts}, worst_stop_s {result['worst_stop_s']:.3f} of {result['stops']} stops"


def summarise(results: Sequence[Dict[str, Any]]) -> Dict[str, Any]:
    """Return the sums over all runs, and the longest of ``worst_stop_s``."""
    done = [result for result in results if "error" not in result]
    total = {name: sum(result[name] for result in done) for name in score.COUNTS}
    total["worst_stop_s"] = max((result["worst_stop_s"] for result in done), default=0.0)
    total["runs"] = len(done)
    for name in ("seconds", "stops", "stalls", "faults"):
        total[name] = sum(result[name] for result in done)
    return total


def _run(arguments: argparse.Namespace) -> int:
    seeds = seeds_of(arguments.seeds)
    if not FAULT_SLOT <= arguments.seconds <= MOST_SECONDS:
        text = f"give {FAULT_SLOT:g}, which a fault needs, to {MOST_SECONDS:g} s"
        raise DefinitionError(f"--seconds is {arguments.seconds:g}; {text}")
    if not 0.0 <= arguments.latency_ms <= 1e3 * MAX_LINK_LATENCY:
        raise DefinitionError(f"--latency-ms is {arguments.latency_ms:g}; give 0 to {1e3 * MAX_LINK_LATENCY:g} ms")
    runs = Runs(arguments.seconds, 1e-3 * arguments.latency_ms, arguments.keep)

    def end(*_: object) -> NoReturn:
        runs.end()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        jobs = [(f"seed {seed}", seed) for seed in seeds]
        results = map_jobs(runs, jobs, arguments.jobs, concurrent.futures.ThreadPoolExecutor)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    total = summarise(results)
    if arguments.json is not None:
        write_json(arguments.json, {"machine": machine(), "summary": total, "runs": results})
        say(f"written to {arguments.json}")
    say(json.dumps(total, indent=2))
    is_good = total["runs"] == len(results) and not any(total[name] for name in score.COUNTS)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
