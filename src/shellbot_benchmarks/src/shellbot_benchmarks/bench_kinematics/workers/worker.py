# SPDX-License-Identifier: MIT
"""One library in one process: prepares its cases once, then times them round by round as the bench asks.

Speaks JSON, one line a message, over standard input and output. A case is a function of a repetition count; its time is
that of the process (all threads), so other jobs on the machine do not count, or of the wall where it is parallel.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, Optional


class Case:
    """One thing to time.

    Parameters
    ----------
    run : callable
        run(k): do k times what is timed.
    each : float
        Operations (solves, legs) in one of those.
    facts : dict
        What was found besides, for example the fraction of targets reached.
    wall : bool
        Time by the wall clock.
    """

    def __init__(
        self, run: Callable[[int], Any], each: float = 1.0, facts: Optional[Dict[str, Any]] = None, wall: bool = False
    ):
        self.run, self.each, self.facts, self.wall = run, each, facts or {}, wall
        self.count = 1

    def calibrate(self, seconds: float) -> None:
        """Choose how often to run a round, so that it lasts about `seconds`."""
        while True:
            spent = self.seconds()
            if spent > 0.2 * seconds or self.count > 10_000_000:
                break
            self.count *= max(2, min(50, int(0.3 * seconds / max(spent, 1e-7))))
        self.count = max(1, int(self.count * seconds / max(spent, 1e-9)))

    def seconds(self) -> float:
        """Time one round."""
        clock = time.perf_counter if self.wall else time.process_time
        begin = clock()
        self.run(self.count)
        return clock() - begin


def cycle(function: Callable[..., Any], items: Any) -> Callable[[int], None]:
    """Return run(k) that calls the function with k of the items, which are tuples, one after the other."""
    items = list(items)

    def run(k: int) -> None:
        whole, rest = divmod(k, len(items))
        for part in [items] * whole + [items[:rest]]:
            for arguments in part:
                function(*arguments)

    return run


def main() -> None:
    """Serve requests until standard input ends."""
    name, folder = sys.argv[1], Path(__file__).resolve().parent
    sys.path.insert(0, str(folder))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not come between the answers
    cases: Dict[str, Case] = {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "prepare":
                module = importlib.import_module(f"peer_{name}")
                cases = module.cases(request["options"])
                for case in cases.values():
                    case.calibrate(request["seconds"])
                versions = getattr(module, "VERSIONS", {})
                answer: Dict[str, Any] = {
                    "cases": {key: case.facts for key, case in cases.items()},
                    "versions": versions,
                }
            else:
                case = cases[request["case"]]
                answer = {"us": 1e6 * case.seconds() / (case.count * case.each)}
        except Exception as error:  # noqa: BLE001 - told to the bench, which says so in the table
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main()
