# SPDX-License-Identifier: MIT
"""How long an action takes to plan, and a tick of the action manager while it is performed."""

from __future__ import annotations

import time
from typing import Any, Dict, List

import numpy as np

from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.interface import Feedback, OperatorCommands
from shellbot_common import TICK
from shellbot_description import named_pose_array

PLANNING_MS = 50.0  # of an action of up to ten steps; of a longer one in proportion
TICK_MS = 1.0  # at the 99th percentile
_STEPS = 10
_REPETITIONS = 7

COLUMNS = {
    "action": "action",
    "steps": "steps",
    "duration_s": "lasts s",
    "planning_ms": "planning ms",
    "tick_p50_ms": "tick p50 ms",
    "tick_p99_ms": "tick p99 ms",
}
DIGITS = {"duration_s": 1, "planning_ms": 1, "tick_p50_ms": 3, "tick_p99_ms": 3}


def bench_actions() -> List[Dict[str, Any]]:
    """Plan and perform every action of the library on a robot that follows exactly; returns the rows of `COLUMNS`."""
    core = ActionManagerCore.from_description()
    feedback = Feedback(named_pose_array("stand", "simulation"))
    t = 0.0

    def tick() -> float:
        nonlocal t
        t += TICK
        start = time.perf_counter()
        core.step(t, OperatorCommands(), feedback)
        return time.perf_counter() - start

    while core.mode.label != "hexapod":
        tick()
    rows: List[Dict[str, Any]] = []
    for name in sorted(core.config.actions.actions):
        planning = []
        for _ in range(_REPETITIONS):
            start = time.perf_counter()
            plan = core.plan_action(name, {})
            planning.append(time.perf_counter() - start)
        if plan.travels:  # there is no odometry here, and no one who sits down
            continue
        core.begin_action(plan)
        if not core.performer.active:  # its conditions do not hold
            continue
        ticks = []
        while core.performer.active:
            ticks.append(tick())
        rows.append(
            {
                "action": name,
                "steps": plan.step_count,
                "duration_s": plan.duration,
                "planning_ms": 1e3 * float(np.median(planning)),
                "tick_p50_ms": 1e3 * float(np.percentile(ticks, 50)),
                "tick_p99_ms": 1e3 * float(np.percentile(ticks, 99)),
            }
        )
    return rows


def fast_enough(rows: List[Dict[str, Any]]) -> bool:
    """Whether planning and ticks take less than is required."""
    return all(
        row["planning_ms"] < PLANNING_MS * max(row["steps"] / _STEPS, 1.0) and row["tick_p99_ms"] < TICK_MS
        for row in rows
    )
