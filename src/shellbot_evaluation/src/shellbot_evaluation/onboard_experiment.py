# SPDX-License-Identifier: MIT
"""The same walk twice: through servos, bytes and driver, and in direct simulation at matched gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import DefinitionError
from robot_evaluation.plots import plot_traces
from robot_evaluation.trace import Trace
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.onboard_chain import BusOptions, OnboardChain

JOINT_LIMIT_DEG = 2.0
PATH_LIMIT_PERCENT = 5.0
COLUMNS = {
    "case": "case",
    "seed": "seed",
    "joint_rms_deg": "joint RMS difference / deg",
    "worst_joint_deg": "worst joint's / deg",
    "direct_m": "direct: path / m",
    "onboard_m": "through bytes / m",
    "direct_deg": "direct: turned / deg",
    "onboard_deg": "through bytes / deg",
    "path_percent": "path difference / %",
    "feedback_hz": "feedback of each servo / Hz",
    "met": "met",
}
DIGITS = {
    "joint_rms_deg": 2,
    "worst_joint_deg": 2,
    "direct_deg": 1,
    "onboard_deg": 1,
    "path_percent": 1,
    "feedback_hz": 0,
}


@dataclass(frozen=True)
class WalkCase:
    """A command held for a time."""

    name: str  #: For tables
    twist: Tuple[float, float, float]  #: Forward m/s, leftward m/s, turning rad/s
    seconds: float  #: How long, before it stops and settles
    seed: int = 0  #: Of start and noise
    variant: str = "walker"  #: walker or simulation
    bus: BusOptions = BusOptions()  #: The bus


CASES = {
    "ahead 0.15 m/s": (0.15, 0.0, 0.0),
    "ahead 0.30 m/s": (0.30, 0.0, 0.0),
    "sideways 0.12 m/s": (0.0, 0.12, 0.0),
    "turn 30 deg/s": (0.0, 0.0, np.radians(30.0)),
}


class Comparison(NamedTuple):
    """Both traces from the command until it has settled, and the figures."""

    row: Dict[str, Any]
    direct: Trace
    onboard: Trace


def compare(case: WalkCase) -> Comparison:
    """Stand up, walk and settle with both chains; the traces start with the command.

    Raises
    ------
    DefinitionError
        If the walk is too short to be judged.
    """
    if not 1.0 <= case.seconds <= 3600.0:
        raise DefinitionError(f"seconds is {case.seconds:g}; walk for 1 to 3600 s")
    config = ChainConfig(variant=case.variant, seed=case.seed)
    onboard = OnboardChain(config, case.bus)
    traces = [_walk(chain, case) for chain in (Chain(config), onboard)]
    direct, through = traces
    count = min(direct.t.size, through.t.size)
    apart = np.degrees(through.joint_position[:count] - direct.joint_position[:count])
    paths = [trace.truth_path.in_start_axes() for trace in traces]
    turns = [float(np.degrees(np.ptp(trace.yaw_world_base[[0, -1]]))) for trace in traces]
    if any(case.twist[:2]):
        length = float(np.linalg.norm(paths[0][-1]))
        percent = 100.0 * float(np.linalg.norm(paths[1][-1] - paths[0][-1])) / length
    else:
        percent = 100.0 * abs(turns[1] - turns[0]) / turns[0]
    rms = float(np.sqrt(np.mean(apart**2)))
    state = onboard.robot.driver.state()
    row = {
        "case": case.name,
        "seed": case.seed,
        "joint_rms_deg": rms,
        "worst_joint_deg": float(np.sqrt(np.mean(apart**2, axis=0)).max()),
        "direct_m": float(np.linalg.norm(paths[0][-1])),
        "onboard_m": float(np.linalg.norm(paths[1][-1])),
        "direct_deg": turns[0],
        "onboard_deg": turns[1],
        "path_percent": percent,
        "feedback_hz": state.timing.feedback_hz,
        "timeouts": state.timing.counters.get("timeouts", 0),
        "met": rms < JOINT_LIMIT_DEG and percent < PATH_LIMIT_PERCENT,
    }
    return Comparison(row, direct, through)


def plan(seeds: Sequence[int], seconds: float, variant: str) -> List[WalkCase]:
    """Return every case with every seed."""
    return [WalkCase(name, twist, seconds, seed, variant) for name, twist in CASES.items() for seed in seeds]


def plot(path: Any, comparison: Comparison, joints: Sequence[str]) -> None:
    """Draw some joints of both traces over each other, and both paths from above."""
    names = comparison.direct.joint_names
    series = {
        name: {
            "direct": np.degrees(comparison.direct.joint_position[:, names.index(name)]),
            "through bytes": np.degrees(comparison.onboard.joint_position[:, names.index(name)]),
        }
        for name in joints
    }
    times = comparison.direct.t - comparison.direct.t[0]
    plot_traces(path, f"{comparison.row['case']}: direct simulation and emulated servo bus", times, series, "deg")


def _walk(chain: Any, case: WalkCase) -> Trace:
    chain.stand_up()
    start = chain.time
    chain.walk(case.twist, seconds=case.seconds)
    return chain.trace().window(start, chain.time)
