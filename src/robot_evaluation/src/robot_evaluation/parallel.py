# SPDX-License-Identifier: MIT
"""The same function on many arguments: in this process, on several cores or on a cluster."""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import functools
import multiprocessing
import os
import signal
import sys
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .console import Progress
from .errors import DefinitionError, EvaluationError
from .journal import Journal

Pool = Callable[[int], concurrent.futures.Executor]
TRIES = 3  # of runs whose worker is killed each time


def add_workers(
    parser: argparse.ArgumentParser, scheduler: bool = True, text: str = "processes to use (default 1)"
) -> None:
    """Add the options ``--workers`` (as `jobs`), with its help text, and ``--scheduler``, which `pool_of` reads."""
    parser.add_argument("--workers", "--jobs", dest="jobs", type=int, default=1, metavar="N", help=text)
    if scheduler:
        parser.add_argument(
            "--scheduler", default="", metavar="ADDRESS", help="run on a Dask cluster instead, such as tcp://host:8786"
        )


def pool_of(scheduler: str) -> Optional[Pool]:
    """Return what makes the pool of a Dask scheduler; None, this machine, for an empty address."""
    return functools.partial(_Cluster, scheduler) if scheduler else None


def map_jobs(
    function: Callable[[Any], Any],
    arguments: Sequence[Tuple[str, Any]],
    jobs: int,
    executor: Optional[Pool] = None,
    journal: Optional[Journal] = None,
) -> List[Any]:
    """Return ``function(argument)`` for each pair of a label and an argument, in their order.

    Parameters
    ----------
    function : callable
        At module level, so that other processes find it.
    arguments : sequence of (str, object)
        Label for the progress bar, and argument.
    jobs : int
        Processes; 1: this one.
    executor : callable, optional
        Makes the pool of so many workers; ``ThreadPoolExecutor`` for what only waits for processes of its own, or
        `pool_of`. Processes of this machine by default.
    journal : Journal, optional
        Runs that it holds are not repeated; others are written there as they are done.

    Raises
    ------
    DefinitionError
        If jobs is less than 1.
    EvaluationError
        If a run kills its worker again and again, or the journal cannot be written.
    """
    if jobs < 1:
        raise DefinitionError(f"--workers is {jobs}; at least 1 process is needed")
    found: Dict[int, Any] = {}
    if journal is not None:
        before = {i: journal.find(function, argument) for i, (_, argument) in enumerate(arguments)}
        found = {i: result for i, result in before.items() if result is not None}
    progress = Progress(len(arguments), done=len(found))

    def finish(i: int, result: Any) -> None:
        label, argument = arguments[i]
        found[i] = result if journal is None else journal.add(function, argument, result)
        progress.step(label)

    left = [i for i in range(len(arguments)) if i not in found]
    if executor is None and (jobs == 1 or len(left) < 2):
        for i in left:
            finish(i, function(arguments[i][1]))
        left = []
    tries = 0
    while left:
        _pass(function, arguments, left, (executor or _processes)(1 if tries else min(jobs, len(left))), finish)
        still = [i for i in left if i not in found]
        tries = tries + 1 if len(still) == len(left) else 0
        if tries == TRIES:
            raise EvaluationError(
                f"the worker of '{arguments[left[0]][0]}' was killed {TRIES} times; is there too little memory? "
                "Give fewer --workers"
            )
        if still:
            sys.stderr.write(f"a worker was killed; {len(still)} runs are left, its own among them\n")
        left = still
    return [found[i] for i in range(len(arguments))]


def _pass(
    function: Callable[[Any], Any],
    arguments: Sequence[Tuple[str, Any]],
    left: Sequence[int],
    pool: concurrent.futures.Executor,
    finish: Callable[[int, Any], None],
) -> None:
    """Carry out runs on a pool until all are done or one of its workers was killed; close the pool."""
    before = multiprocessing.active_children()
    futures: Dict[Any, int] = {}
    try:
        with contextlib.suppress(concurrent.futures.BrokenExecutor):
            for i in left:
                futures[pool.submit(function, arguments[i][1])] = i
        for future in concurrent.futures.as_completed(futures):
            try:
                result = future.result()
            except (concurrent.futures.BrokenExecutor, concurrent.futures.CancelledError):
                continue  # it is for the next pass
            except Exception as error:
                if not type(error).__module__.startswith("distributed"):  # of the cluster: a worker was killed
                    raise
                continue
            finish(futures[future], result)
    except BaseException:  # such as Ctrl-C: nothing waits for runs that have begun
        children = [child for child in multiprocessing.active_children() if child not in before]
        for child in children:
            child.terminate()
        for future in futures if not children else ():  # of a pool without workers those end by themselves
            future.cancel()
        pool.shutdown(wait=bool(children))  # a cluster may have lost all of its workers, or have none yet
        raise
    pool.shutdown()


def _processes(jobs: int) -> concurrent.futures.Executor:
    return concurrent.futures.ProcessPoolExecutor(jobs, initializer=_begin_worker)


def _begin_worker() -> None:
    """Let a worker end without a word at Ctrl-C, which reaches the whole group of the terminal, and with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class _Cluster(concurrent.futures.Executor):
    """Workers of a Dask scheduler."""

    def __init__(self, address: str, jobs: int) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise EvaluationError(
                "--scheduler needs the package distributed, which is not installed: apt-get install python3-distributed"
            ) from None
        try:
            self._client = Client(address, timeout=10)
        except (OSError, ValueError) as error:
            raise EvaluationError(f"no Dask scheduler at {address}: {error}; start one with dask-scheduler") from None
        self._executor = self._client.get_executor(pure=False)
        if not self._client.scheduler_info()["workers"]:
            sys.stderr.write(f"{address} has no workers yet: waiting; start some: dask-worker {address}\n")

    def submit(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:  # type: ignore[override]
        """Send a call to the cluster."""
        return self._executor.submit(function, *arguments, **keywords)

    def shutdown(self, wait: bool = True, **options: Any) -> None:
        """Leave the cluster."""
        self._executor.shutdown(wait)
        self._client.close()
