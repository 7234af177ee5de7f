# SPDX-License-Identifier: MIT
"""A process that carries out one run: starts emulated servos and walker, stalls them, scores, leaves nothing behind.

It is never stalled itself, and in a session of its own, so that Ctrl-C in a terminal reaches it by SIGTERM only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

import psutil

from robot_evaluation.errors import EvaluationError
from robot_evaluation.reports import write_json
from shellbot_motor_driver import ServoMap

from .emulator import READY, TRUTH, VARIANT
from .plan import Plan, Stall, make_plan
from .score import Stopped, score
from .truth import Truth
from .walk import Log

RESULT = "result.json"  # in the folder of the run
TAG = "SHELLBOT_STALL_RUN"  # in the environment of every process of a run, whoever its parent is
_HEAD_START = 0.2  # s from the last process being up to the beginning
_OVERTIME = 60.0  # s that the end of a run may take
_AFTER = 0.3  # s of ground truth after the walker has ended
_POLL = 0.02  # s
_START_LIMIT = 60.0  # s
_BUS_WORKER = "bus_worker"
_HOG = """
import os, sys, time
end, parent = time.monotonic() + float(sys.argv[1]), os.getppid()
while time.monotonic() < end and os.getppid() == parent:
    pass
"""


class Action(NamedTuple):
    """Something to do to a process, and when, CLOCK_MONOTONIC s."""

    time: float
    is_end: bool
    stall: Stall


class Run:
    """One run.

    Parameters
    ----------
    plan : Plan
        What happens.
    folder : pathlib.Path
        For port, logs and result; it exists.
    link_latency : float
        That the driver waits for, s.
    """

    def __init__(self, plan: Plan, folder: Path, link_latency: float) -> None:
        self.plan, self.folder, self._link_latency = plan, folder, link_latency
        self.stopped: List[Stopped] = []
        self._held: Dict[Stall, Tuple[float, List[int]]] = {}  # since when, which processes
        self._parent = os.getppid()
        self._hogs: List[subprocess.Popen] = []

    def carry_out(self) -> Dict[str, Any]:
        """Run, and return the result as `score` makes it.

        Raises
        ------
        EvaluationError
            If a process fails.
        """
        with self._process("emulator") as emulator, self._process("walk") as walker:
            begin = time.monotonic() + _HEAD_START
            for process in (emulator, walker):
                assert process.stdin is not None
                process.stdin.write(f"{begin!r}\n")
                process.stdin.flush()
            self._stall(begin, {"parent": walker, "emulator": emulator})
            if walker.returncode != 0:
                raise EvaluationError(f"the walker ended with status {walker.returncode}: {self._last_words('walk')}")
            time.sleep(_AFTER)
            emulator.terminate()
            if emulator.wait(_OVERTIME) != 0:
                raise EvaluationError(f"the emulated servos ended badly: {self._last_words('emulator')}")
        return score(self.plan, begin, Truth.load(self.folder / TRUTH), Log.load(self.folder), self.stopped)

    @contextlib.contextmanager
    def _process(self, name: str) -> Iterator[subprocess.Popen]:
        """Start ``stalls.<name>``; wait until it is up."""
        module = f"{__package__}.{name}"
        values = (self.plan.seed, self.plan.seconds, self.folder, self._link_latency)
        command = [sys.executable, "-m", module, *map(str, values)]
        with (self.folder / f"{name}.err").open("w") as errors, subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=self._environment
        ) as process:
            watch = threading.Timer(_START_LIMIT, process.kill)
            watch.start()
            try:
                assert process.stdout is not None
                is_ready = process.stdout.readline().strip() == READY
                watch.cancel()
                if not is_ready:
                    raise EvaluationError(f"stalls.{name} did not come up: {self._last_words(name)}")
                yield process
            finally:
                watch.cancel()
                process.kill()

    @property
    def _environment(self) -> Dict[str, str]:
        return {**os.environ, TAG: str(self.folder), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

    def _last_words(self, name: str) -> str:
        lines = (self.folder / f"{name}.err").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "no words"

    # -- stalls ------------------------------------------------------------------------------------------------------

    def _stall(self, begin: float, processes: Dict[str, subprocess.Popen]) -> None:
        """Stall processes as planned until the walker has ended."""
        actions = [Action(begin + stall.start, False, stall) for stall in self.plan.stalls]
        actions += [Action(begin + s.start + s.duration, True, s) for s in self.plan.stalls if s.target != "hog"]
        actions.sort(key=lambda action: action.time, reverse=True)
        walker, limit = processes["parent"], begin + self.plan.seconds + _OVERTIME
        try:
            while walker.poll() is None:
                now = time.monotonic()
                if os.getppid() != self._parent:
                    raise EvaluationError("the process that requested this run has ended")
                if now > limit or processes["emulator"].poll() is not None:
                    raise EvaluationError("the walker does not end" if now > limit else "the emulated servos died")
                if actions and actions[-1].time <= now:
                    action = actions.pop()
                    if action.is_end:
                        self._let_go(action.stall)
                    else:
                        self._hold(action.stall, processes)
                    continue
                following = actions[-1].time - now if actions else _POLL
                time.sleep(min(following, _POLL))
        finally:
            for stall in list(self._held):
                self._let_go(stall)
            for hog in self._hogs:
                hog.kill()
                hog.wait()

    def _hold(self, stall: Stall, processes: Dict[str, subprocess.Popen]) -> None:
        if stall.target == "hog":
            command = [sys.executable, "-S", "-c", _HOG, str(stall.duration)]
            self._hogs += [subprocess.Popen(command, env=self._environment) for _ in range(stall.hogs)]
            now = time.monotonic()
            self.stopped.append(Stopped("hog", now, now + stall.duration))
            return
        pids = [processes[stall.target].pid] if stall.target != "bus" else bus_processes(processes["parent"].pid)
        since = time.monotonic()
        _signal(pids, signal.SIGSTOP)
        if pids:
            self._held[stall] = since, pids

    def _let_go(self, stall: Stall) -> None:
        since, pids = self._held.pop(stall, (0.0, []))
        if pids:
            _signal(pids, signal.SIGCONT)
            self.stopped.append(Stopped(stall.target, since, time.monotonic()))


def bus_processes(parent: int) -> List[int]:
    """Return the bus processes among the descendants of a process."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process(parent).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if any(_BUS_WORKER in word for word in process.cmdline()):
                    found.append(process.pid)
    return found


def _signal(pids: List[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # the parent has replaced it meanwhile
            os.kill(pid, number)


def leftovers(folder: Path) -> List[int]:
    """Return the processes of a run, whoever their parent is; those that have ended but were not waited for are not."""
    return [p.pid for p in psutil.process_iter(["environ"]) if (p.info["environ"] or {}).get(TAG) == str(folder)]


def clean_up(folder: Path) -> None:
    """End all processes of a run, stopped ones included."""
    for _ in range(10):  # one that is ended may just have started another
        pids = leftovers(folder)
        if not pids:
            return
        _signal(pids, signal.SIGKILL)
        time.sleep(_POLL)


def main() -> None:
    """Run with seed, seconds, folder and link latency as arguments."""
    seed, seconds, folder, link_latency = int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(130))
    try:
        plan = make_plan(seed, seconds, ServoMap.load(VARIANT).servo_ids)
        result = Run(plan, folder, link_latency).carry_out()
    except Exception as error:
        traceback.print_exc()
        result = {"seed": seed, "seconds": seconds, "error": f"{type(error).__name__}: {error}"}
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        clean_up(folder)
    write_json(folder / RESULT, result)


if __name__ == "__main__":
    main()
