# SPDX-License-Identifier: MIT
"""The same function on many arguments, in this process or in several, with progress."""

from __future__ import annotations

import concurrent.futures
from typing import Any, Callable, List, Sequence, Tuple

from shellbot_chain.errors import DefinitionError

from .console import Progress


def map_jobs(
    function: Callable[[Any], Any],
    arguments: Sequence[Tuple[str, Any]],
    jobs: int,
    executor: Callable[[int], concurrent.futures.Executor] = concurrent.futures.ProcessPoolExecutor,
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
    executor : callable
        Makes the pool of so many workers; ``ThreadPoolExecutor`` for what only waits for processes of its own.

    Raises
    ------
    DefinitionError
        If jobs is less than 1.
    """
    if jobs < 1:
        raise DefinitionError(f"jobs is {jobs}; at least 1 process is needed")
    progress = Progress(len(arguments))
    if jobs == 1 or len(arguments) < 2:
        results = []
        for label, argument in arguments:
            results.append(function(argument))
            progress.step(label)
        return results
    with executor(jobs) as pool:
        futures = {pool.submit(function, argument): i for i, (_, argument) in enumerate(arguments)}
        found: List[Any] = [None] * len(arguments)
        try:
            for future in concurrent.futures.as_completed(futures):
                found[futures[future]] = future.result()
                progress.step(arguments[futures[future]][0])
        finally:
            for future in futures:
                future.cancel()
    return found
