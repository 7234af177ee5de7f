# SPDX-License-Identifier: MIT
"""All changes from one gait to another: speeds, falls, and whether the robot ends right side up."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Tuple

from robot_evaluation.errors import EvaluationError

from .snake_run import Setup, SnakeRun

_BEFORE, _AFTER, _LONGEST = 3.0, 2.0, 30.0  # cycles, cycles, s
_UPRIGHT = 0.5  # mean up-component of the bodies' tops: inclined side-winding lies at 0.71 by its nature


@dataclass(frozen=True)
class Change:
    """One change of gait."""

    first: str
    second: str
    friction: float
    seed: int
    greatest_reference: float  #: rad/s, of any joint's command
    greatest_speed: float  #: rad/s, of any measured joint
    duration: float  #: s, until the second gait began
    up: float  #: Mean up-component at the beginning of the second gait
    up_after: float  #: Two cycles later; NaN-free also for gaits that roll
    tipped: bool  #: Not right side up: at the beginning, or later in a gait that does not roll

    @staticmethod
    def summary(rows: Sequence[Change]) -> Dict[str, Any]:
        """Return the worst of all changes."""
        return {
            "changes": len(rows),
            "greatest_reference": max(row.greatest_reference for row in rows),
            "greatest_speed": max(row.greatest_speed for row in rows),
            "longest_s": max(row.duration for row in rows),
            "least_up": min(row.up for row in rows),
            "tipped": sum(row.tipped for row in rows),
        }


def run_changes(argument: Tuple[Setup, Sequence[str]]) -> List[Change]:
    """Run the changes between all pairs of some gaits, both orders, on one floor with one seed.

    Raises
    ------
    EvaluationError
        If there is no pair, or a gait never begins.
    """
    setup, names = argument
    if len(names) < 2:
        raise EvaluationError(f"changes need two gaits or more; got {', '.join(names)}: name others with --gait")
    return [_change(setup, first, second) for first, second in itertools.permutations(names, 2)]


def _change(setup: Setup, first: str, second: str) -> Change:
    run = SnakeRun(setup, maps={})
    engine, rows = run.core.engine, run.core.engine.gaits.rows
    run.run(0.1)
    _begin(run, first)
    run.run(_BEFORE * engine.gaits.shape(first).period)
    run.begin_measuring()
    begin = run.simulator.time
    _begin(run, second)
    duration, up = run.simulator.time - begin, run.truth.up
    run.run(_AFTER * engine.gaits.shape(second).period)
    after = run.truth.up
    is_tipped = up < _UPRIGHT or (after < _UPRIGHT and not rows[second].rolls)
    return Change(
        first, second, setup.friction, setup.seed or 0, run.greatest_reference, run.greatest_speed, duration, up, after,
        is_tipped,
    )  # fmt: skip


def _begin(run: SnakeRun, name: str) -> None:
    engine = run.core.engine
    run.request(name)
    if not run.run(_LONGEST, lambda: engine.active is not None and engine.active.name == name):
        raise EvaluationError(f"gait {name} did not begin within {_LONGEST:g} s; look at the change in the simulator")
