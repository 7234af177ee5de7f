# SPDX-License-Identifier: MIT
"""Runs of an experiment, each on a fresh chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np

from robot_evaluation.errors import DefinitionError, EvaluationError
from robot_evaluation.metrics import as_row, body_metrics, cost_of_transport, speed_metrics
from robot_evaluation.trace import Trace
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_client.chain_link import ChainLink
from shellbot_client.link import run_mission
from shellbot_client.mission import Mission
from shellbot_control import JointLimits

from .experiments import Experiment, Run
from .perturbations import PUSH, chain_changes, pusher
from .phase_metrics import square_metrics, turn_metrics, walk_metrics
from .transport_experiment import electrical_power

SPEED_WINDOW_S = 3.0  # the greatest mean speed is taken over this long


@dataclass(frozen=True)
class RunResult:
    """Figures of one run, and its trace from the start of the motion to its settled end.

    A run that failed has `success` False, its reason as `message` and no figures, and a trace up to there if the motion
    had begun.
    """

    row: Dict[str, object]
    trace: Optional[Trace]


def execute(run: Run, base: Optional[ChainConfig] = None) -> RunResult:
    """Carry out one run; one in which the robot does not do what it should is a result, too.

    Raises
    ------
    EvaluationError
        Naming case, seed and friction, if the case itself cannot be run.
    """
    base = base or ChainConfig()
    changes = {**chain_changes(run.drawn), "gait": run.case.gait or base.gait}
    chain = Chain(base.replace(seed=run.seed, friction=run.friction, **changes))
    head: Dict[str, object] = {
        "experiment": run.experiment,
        "case": run.case.name,
        "kind": run.case.kind,
        "simulator": base.engine,
        "seed": run.seed,
        "friction": chain.simulator.config.friction,  # of a ground by name, that of the ground
        **run.drawn,
        "success": True,
    }
    mission: Optional[Mission] = None
    try:
        if run.case.kind == "speed":
            return _speed_run(run, chain, head)
        mission = Mission(run.case.phases())
        push = pusher(chain, mission, run.drawn.get(PUSH, 0.0), run.seed, run.case.seconds)
        run_mission(ChainLink(chain), mission, push)
        return mission_result(head, mission, chain.trace(), body_of(chain))
    except DefinitionError as error:
        raise EvaluationError(f"case '{run.case.name}', seed {run.seed}, friction {run.friction:g}: {error}") from error
    except EvaluationError as error:
        return RunResult({**head, "success": False, "message": str(error)}, _until_failure(chain, mission))


def _until_failure(chain: Chain, mission: Optional[Mission]) -> Optional[Trace]:
    if mission is None or not mission.records:
        return None
    try:
        return chain.trace().window(mission.records[0].t_end, chain.time)
    except EvaluationError:  # it failed at once
        return None


@dataclass(frozen=True)
class Body:
    """What the figures need to know of a robot."""

    limits: JointLimits  #: Of its joints
    mass: float  #: kg
    #: Takes a trace to the electrical power of its ticks, (m,) W; none: not known
    electrical: Optional[Callable[[Trace], np.ndarray]] = None


def body_of(chain: Chain) -> Body:
    """Return what the figures need to know of a simulated robot."""
    return Body(chain.limits, chain.simulator.mass, lambda window: electrical_power(window, chain))


def mission_result(head: Dict[str, object], mission: Mission, trace: Trace, body: Body) -> RunResult:
    """Return the result of a mission of a walk, a turn or a square, in words and figures.

    Parameters
    ----------
    head : dict
        Columns that the result begins with; `kind` is among them.
    mission : Mission
        That has ended; its first phase stands up.
    trace : Trace
        That covers it.
    body : Body
        Of the robot.
    """
    records, paths = mission.records[1:], (trace.truth_path, trace.odom_path)
    if head["kind"] == "square":
        own: object = square_metrics(records, *paths)
    else:
        own = (walk_metrics if head["kind"] == "walk" else turn_metrics)(records[-1], *paths)
    return run_result(head, own, trace.window(records[0].t_start, records[-1].t_end), body)


def run_result(head: Dict[str, object], own: object, window: Trace, body: Body) -> RunResult:
    """Return a result with the figures of the body over a window; as `mission_result`, `own` being the motion's."""
    limits = body.limits
    figures = body_metrics(window, limits.lower, limits.upper, limits.effort, body.mass)
    if body.electrical is None:
        return RunResult(as_row(head, own, figures), window)
    cost = {"electrical_cost": cost_of_transport(window, body.mass, body.electrical(window))}
    return RunResult(as_row(head, own, figures, cost), window)


def _speed_run(run: Run, chain: Chain, head: Dict[str, object]) -> RunResult:
    chain.stand_up()
    start = chain.time
    speed, (forward, left) = run.case.values["speed_m_s"], run.case.direction()
    chain.walk((speed * forward, speed * left, 0.0), seconds=run.case.values["duration_s"])
    return speed_result(head, speed, chain.trace().window(start, chain.time), body_of(chain))


def speed_result(head: Dict[str, object], speed: float, window: Trace, body: Body) -> RunResult:
    """Return the result of a run by time at a commanded speed, m/s; parameters as of `run_result`."""
    return run_result(head, {"commanded_m_s": speed, **speed_metrics(window, SPEED_WINDOW_S)}, window, body)


def verdicts(experiment: Experiment, rows: Sequence[Mapping[str, object]]) -> List[Dict[str, object]]:
    """Compare every limit of an experiment with the worst run of each case.

    Returns
    -------
    list of dict
        case, figure, limit, worst, runs, met; a limit whose column no run has is not met. Of a case with runs that
        failed, which have no figures, the first line counts these.
    """
    table: List[Dict[str, object]] = []
    for case in experiment.cases:
        succeeded = [bool(row["success"]) for row in rows if row["case"] == case.name]
        if not all(succeeded):
            worst = f"{succeeded.count(False)} failed"
            line: Dict[str, object] = {"case": case.name, "figure": "success", "limit": "every run", "worst": worst}
            table.append({**line, "runs": len(succeeded), "met": False})
        for limit in experiment.limits:
            found = [row[limit.column] for row in rows if row["case"] == case.name and limit.column in row]
            values = [float(value) for value in found]  # type: ignore[arg-type]
            if values:
                table.append(
                    {
                        "case": case.name,
                        "figure": limit.column,
                        "limit": ("at least " if limit.is_minimum else "at most ") + f"{limit.bound:g}",
                        "worst": limit.worst(values),
                        "runs": len(values),
                        "met": limit.is_met(values),
                    }
                )
    if all(row["success"] for row in rows):
        for name in (limit.column for limit in experiment.limits if not any(limit.column in row for row in rows)):
            line = {"case": "all", "figure": name, "limit": "", "worst": "no run has this figure"}
            table.append({**line, "runs": len(rows), "met": False})
    return table
