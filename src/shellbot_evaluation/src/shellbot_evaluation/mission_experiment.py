# SPDX-License-Identifier: MIT
"""The whole mission: walk, close, roll to a point, right itself and open, walk; by the robot's own estimate only."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Dict, Mapping, Optional, Type

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import cost_of_transport
from robot_evaluation.trace import Trace
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_client.chain_link import ChainLink
from shellbot_client.link import Link, run_mission
from shellbot_client.mission import Mission, MissionState
from shellbot_common.seed_streams import Stream, seeded

from .bus_runs import build_chain, bus_figures
from .parts import score_parts
from .perturbations import rest_for_imu
from .plans import MissionPlan
from .seeded_runs import at_most
from .transport_experiment import electrical_power

FRICTION = (0.5, 1.0)
OFFSET_DEG = 1.0
GOALS = {"total_s": at_most(60.0), "point_error_m": at_most(0.10), "odometry_error_pct": at_most(2.0)}
COLUMNS = {
    "seed": "seed",
    "friction": "friction",
    "bearing_deg": "rolls to / deg",
    "walk out": "walks / s",
    "close": "closes / s",
    "roll": "rolls / s",
    "open": "rights itself and opens / s",
    "tries": "tries",
    "walk on": "walks / s",
    "total_s": "in all / s",
    "own_error_m": "point, own / m",
    "point_error_m": "point, true / m",
    "odometry_error_pct": "odometry of the roll / %",
    "odometry_error_m": "odometry in all / m",
    "electrical_cost": "cost of transport, electrical",
    "message": "last message",
}


@dataclass(frozen=True)
class Conditions:
    """Of one run."""

    seed: int
    friction: float
    bearing_deg: float  #: Of the point to roll to, from the heading in which the robot closes
    joint_offset_deg: float = OFFSET_DEG
    speed_m_s: float = MissionPlan.speed_m_s  #: Of the walks
    changes: Mapping[str, Any] = field(default_factory=dict)  #: Settings of the chain that the command line changes


def conditions(seed: int) -> Conditions:
    """Return the conditions of a seed: friction and bearing from their whole ranges, joint zeros from the seed."""
    rng = seeded(seed, Stream.MISSION)
    return Conditions(seed, float(rng.uniform(*FRICTION)), float(rng.uniform(-180.0, 180.0)))


def execute(
    case: Conditions,
    watch: Optional[Callable[[Chain, Mission], None]] = None,
    plan: Type[MissionPlan] = MissionPlan,
) -> Dict[str, Any]:
    """Run the mission, or another plan, once; `watch` is called before each tick.

    Returns
    -------
    dict
        Row of the table, NaN for what was not reached; `parts` with start, duration, own and true error of each.
    """
    config = ChainConfig(seed=case.seed, friction=case.friction, joint_offset_deg=case.joint_offset_deg)
    chain = build_chain(config, case.changes)
    rest_for_imu(chain)
    mission = planned(case, plan)
    row = {**vars(case), **drive(ChainLink(chain), mission, None if watch is None else lambda: watch(chain, mission))}
    trace = chain.trace()
    row.update(scored(mission, trace), **bus_figures(chain))
    if row["success"]:
        done = trace.window(mission.records[0].t_end, chain.time)
        row["electrical_cost"] = cost_of_transport(done, chain.simulator.mass, electrical_power(done, chain))
    return row


def planned(case: Conditions, plan: Type[MissionPlan]) -> Mission:
    """Return the mission of a case."""
    return Mission(plan(roll_deg=case.bearing_deg, speed_m_s=case.speed_m_s).phases())


def drive(link: Link, mission: Mission, watch: Optional[Callable[[], None]] = None) -> Dict[str, Any]:
    """Run a mission; return whether all of it was done, how often the ball tried to rise, and why it ended early."""
    row: Dict[str, Any] = {"success": False, "tries": 0, "message": ""}

    def each_tick() -> None:
        if link.text.startswith("rolling upright, try "):
            row["tries"] = int(link.text.split("try ")[1].split(":")[0])
        if watch is not None:
            watch()

    try:
        run_mission(link, mission, each_tick)
        row["success"] = True
    except EvaluationError as error:
        row["message"] = f"{error}; the mode was: {link.text or 'nothing'}"
    return row


def scored(mission: Mission, trace: Trace) -> Dict[str, Any]:
    """Return the figures of a mission's parts by a trace that covers them; NaN for what was not reached."""
    row: Dict[str, Any] = dict.fromkeys(GOALS, math.nan)
    truth, own = trace.truth_path, trace.odom_path
    parts = score_parts(mission.records, truth, own)
    row["parts"] = [asdict(part) for part in parts]
    for part in parts:
        row[part.name] = part.duration_s
        if part.name == "roll":
            row.update(own_error_m=part.own_error_m, point_error_m=part.true_error_m)
            row["odometry_error_pct"] = 100.0 * part.odometry_error_m / part.path_m
    if mission.state is MissionState.SUCCEEDED:
        begin, end = mission.records[0].t_end, mission.records[-1].t_end
        row["total_s"] = end - begin
        ends = (path.between(begin, end).in_start_axes()[-1] for path in (own, truth))
        row["odometry_error_m"] = float(np.linalg.norm(np.subtract(*ends)))
    return row
