# SPDX-License-Identifier: MIT
"""Walking on rough ground: scripts/experiment terrain."""

from __future__ import annotations

import argparse
import functools
import math
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import cost_of_work, tick_work
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_client.chain_link import ChainLink
from shellbot_client.link import run_mission
from shellbot_client.mission import Mission
from shellbot_client.phases import walk
from shellbot_common.rotations import tilt_from_quaternion, yaw_from_quaternion
from shellbot_common.seed_streams import Stream, seeded
from shellbot_simulator.core.terrain import Terrain

from .experiments import Experiment, check_speeds, make_case, plan_runs
from .grouped_runs import GroupedRuns
from .perturbations import PUSH_S

KINDS = (
    *(("rubble", 0.04), ("rubble", 0.06), ("step", 0.03)),
    *(("slope", 10.0), ("slope", 15.0), ("slope", 20.0)),
    *(("push", 60.0), ("fast", 0.55)),
)
UNITS = {"rubble": (1e3, " mm"), "step": (1e3, " mm"), "slope": (1.0, "°"), "push": (1.0, " N"), "fast": (1.0, " m/s")}
REQUIRED = {
    "rubble 40 mm": 0.85,
    "rubble 60 mm": 0.78,
    "step 30 mm": 0.85,
    "slope 20°": 0.5,
}  # fraction of the distance
FALLEN_DEG = 45.0  # against the floor


@dataclass(frozen=True)
class Case:
    """One run: a kind of ground, or a push on flat ground; `size` in m, deg, N or m/s."""

    seed: int
    kind: str
    size: float
    gait: str
    distance_m: float
    speed_m_s: float
    friction: float

    @property
    def ground(self) -> str:
        """What is walked on, with its size."""
        scale, unit = UNITS[self.kind]
        return f"{self.kind} {scale * self.size:g}{unit}"

    @property
    def label(self) -> str:
        """Name of the line of the table."""
        return f"{self.gait}, {self.ground}"


def ground(case: Case) -> Dict[str, Any]:
    """Return the fields of ChainConfig that make the ground of a case."""
    if case.kind == "rubble":
        made = Terrain(rubble_height=case.size, rubble_length=case.distance_m + 0.6)
    elif case.kind == "step":
        made = Terrain(steps=1, step_height=case.size, step_depth=1.0)
    else:
        made = Terrain(slope_deg=case.size if case.kind == "slope" else 0.0)
    return made.settings(case.seed)


class _Watched(ChainLink):
    """A chain that is pushed once, and whose greatest tilt against the floor is kept."""

    def __init__(self, chain: Chain, case: Case) -> None:
        super().__init__(chain)
        self.tilt_deg, self.work_j = 0.0, 0.0
        rng = seeded(case.seed, Stream.TERRAIN_PUSH)
        fraction, side = rng.uniform(0.3, 0.7), rng.choice((-1.0, 1.0))
        self._force = (0.0, side * case.size, 0.0)
        self._pushed_at = chain.time + fraction * case.distance_m / case.speed_m_s if case.kind == "push" else math.inf

    def tick(self) -> None:
        """Advance by a tick."""
        if self.chain.time >= self._pushed_at:
            self._pushed_at = math.inf
            self.chain.simulator.push(self._force, PUSH_S)
        super().tick()
        self.work_j += tick_work(self.chain.state)
        self.tilt_deg = max(self.tilt_deg, math.degrees(tilt_from_quaternion(self.chain.state.quat_world_base)))


def execute(case: Case) -> Dict[str, Any]:
    """Walk straight on until the robot's own odometry says that it is there, or its time is over."""
    row: Dict[str, Any] = {**vars(case), "label": case.label, "ground": case.ground, "success": False, "message": ""}
    row.update(
        dict.fromkeys(("fraction", "walked_m", "lateral_m", "mean_m_s", "odometry_m", "tilt_deg", "cost"), math.nan)
    )
    row["fell"] = True
    try:
        chain = Chain(seed=case.seed, friction=case.friction, gait=case.gait, record=False, **ground(case))
        chain.stand_up()
    except EvaluationError as error:
        row["message"] = str(error)
        return row
    start, begun, odom = chain.state, chain.time, np.array(chain.odom[:2])
    yaw, link = yaw_from_quaternion(start.quat_world_base), _Watched(chain, case)
    speed = case.size if case.kind == "fast" else case.speed_m_s
    try:
        run_mission(link, Mission((walk(case.ground, case.distance_m, (1.0, 0.0), speed),)))
    except EvaluationError as error:  # a run that ends too early counts with what it walked
        row["message"] = str(error)
    moved, ahead = chain.state.p_world_base[:2] - start.p_world_base[:2], np.array((math.cos(yaw), math.sin(yaw)))
    row["walked_m"], row["lateral_m"] = float(moved @ ahead), abs(float(moved @ (-ahead[1], ahead[0])))
    row["fraction"] = row["walked_m"] / case.distance_m
    row["cost"] = cost_of_work(link.work_j, chain.simulator.mass, row["walked_m"])
    row["mean_m_s"] = row["walked_m"] / (chain.time - begun)
    row["odometry_m"] = float(np.linalg.norm(np.array(chain.odom[:2]) - odom))
    row["tilt_deg"], row["fell"] = link.tilt_deg, link.tilt_deg > FALLEN_DEG or chain.mode != "hexapod"
    row["success"] = not row["fell"] and row["fraction"] >= REQUIRED.get(case.ground, 0.0)
    return row


def conditions(
    seed: int, gaits: Sequence[str], distance_m: float, speed_m_s: float, friction: Tuple[float, float]
) -> List[Case]:
    """Return the cases of a seed, by every gait; friction is drawn between two values."""
    mu = float(seeded(seed, Stream.FLOOR).uniform(*friction))
    return [Case(seed, kind, size, gait, distance_m, speed_m_s, mu) for gait in gaits for kind, size in KINDS]


@dataclass(frozen=True)
class TerrainRuns(GroupedRuns):
    """Gaits, distance, speed and friction from the command line."""

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the command line."""
        p = super().parser()
        p.add_argument("--gait", nargs="+", default=["tripod", "rough"], help="gaits to compare (tripod rough)")
        p.add_argument("--distance", type=float, default=1.0, metavar="M", help="commanded, m (default 1)")
        p.add_argument("--speed", type=float, default=0.1, metavar="M_S", help="commanded, m/s (default 0.1)")
        p.add_argument("--friction", type=float, nargs=2, default=(0.6, 1.0), metavar=("LOW", "HIGH"))
        return p

    def run(self, arguments: argparse.Namespace, command: str) -> int:
        """Run the seeds with what the command line says."""
        friction = tuple(arguments.friction)
        walk_values = {"kind": "walk", "distance_m": arguments.distance, "speed_m_s": arguments.speed}
        walks = Experiment("terrain", tuple(make_case(g, {**walk_values, "gait": g}) for g in arguments.gait), ())
        plan_runs(walks, (0,), friction)  # refuses numbers out of range
        check_speeds([walks], ChainConfig(), is_given=True)
        given = functools.partial(
            conditions,
            gaits=arguments.gait,
            distance_m=arguments.distance,
            speed_m_s=arguments.speed,
            friction=friction,
        )
        return super(TerrainRuns, replace(self, conditions=given)).run(arguments, command)

    def summary(self, rows: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
        """Return the totals, and of every case median and worst of what it walked."""
        found = super().summary(rows)
        for label in dict.fromkeys(row["label"] for row in rows):
            of_case = [row for row in rows if row["label"] == label]
            fractions = [row["fraction"] for row in of_case if math.isfinite(row["fraction"])] or [0.0]
            found[label] = {
                "median": float(np.median(fractions)),
                "worst": float(np.min(fractions)),
                "required": REQUIRED.get(of_case[0]["ground"]),
                "success": sum(row["success"] for row in of_case),
                "falls": sum(row["fell"] for row in of_case),
                "runs": len(of_case),
            }
        return found

    def lines(self, rows: Sequence[Mapping[str, Any]]) -> List[Dict[str, Any]]:
        """Return the lines of the table, with the worst run of each case."""
        found = self.summary(rows)
        return super().lines([{**row, **{key: found[row["label"]][key] for key in ("worst", "falls")}} for row in rows])


TERRAIN = TerrainRuns(
    name="terrain",
    what="every ground by every gait",
    description="Walks straight on over rubble (boxes of 0.1 m side by side, each 10 to 100 % of the height), a step, "
    "slopes, through a push from the side, and as fast as commanded. A run ends by the robot's own odometry and is "
    "scored by ground truth.",
    columns={
        "gait": "gait",
        "ground": "ground",
        "success": "as required",
        "fraction": "walked / commanded, median",
        "worst": "worst",
        "falls": "falls",
        "mean_m_s": "speed / m/s",
        "lateral_m": "off the line / m",
        "tilt_deg": "greatest tilt / deg",
        "cost": "cost of transport",
    },
    digits={"fraction": 2, "worst": 2, "mean_m_s": 3, "lateral_m": 3, "cost": 2},
    goals={},
    conditions=functools.partial(
        conditions, gaits=("tripod", "rough"), distance_m=1.0, speed_m_s=0.1, friction=(0.6, 1.0)
    ),
    execute=execute,
    duration=lambda row: math.nan,
    done="As required",
)
