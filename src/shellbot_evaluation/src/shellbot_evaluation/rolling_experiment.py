# SPDX-License-Identifier: MIT
"""Rolling as a ball: fast, slow, round a corner, to a point, round a square, at rest; rolling upright. Own estimate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np
from scipy.spatial.transform import Rotation

from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import cost_of_transport, mechanical_power
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.errors import ChainError
from shellbot_common.rotations import tilt_from_quaternion
from shellbot_common.seed_streams import Stream, seeded

from .bus_runs import build_chain, bus_figures
from .perturbations import rest_for_imu
from .roller import LIMIT_S, NAN, Roller

FRICTION = (0.5, 1.0)
OFFSET_DEG = 1.0
REST_S = 1.0  # that a ball put down in any attitude comes to rest in
TOP_M_S = 1.2
FAR_M = 5.0
STARTED_M = 0.15
SLOW_M_S = 0.2
POINT_M = 3.0
SQUARE_M = 1.5
HOLD_S = 10.0
BRAKED_S = 3.0  # after which a ball holds its place
UPRIGHT_S = 20.0  # required of a righting; a design of the sweep that needs longer does not right itself
RIGHT_LIMIT_S = 40.0  # that it is watched, for how much longer it takes; and LIMIT_S to stand
CORNER_LIMIT_S = 30.0  # a square is for places, the point for time
_ROLLED = ("speed_m_s", "start_s", "heading_error_deg", "turn_s", "stop_m", "slow_m_s", "point_s", "point_error_m")
_LOADS = ("cost", "clamped_s", "limited_joints", "hold_m", "hold_odometry_m")
_NOT_RISEN: Mapping[str, Any] = {"success": False, "upright_s": NAN, "tries": 0, "stands_s": NAN, "message": ""}
_TO_CORNERS = ("square_s", "square_error_m", "odometry_error_pct", "path_m")


@dataclass(frozen=True)
class Conditions:
    """Of one run."""

    seed: int
    friction: float
    attitude: Tuple[float, float, float, float]  #: Quaternion x, y, z, w that the ball is put down with
    bearing: float  #: Of the first path, in the heading's axes, rad
    joint_offset_deg: float = OFFSET_DEG
    changes: Mapping[str, Any] = field(default_factory=dict)  #: Settings of the chain that the command line changes


def conditions(seed: int) -> Conditions:
    """Return the conditions of a seed: friction, attitude and bearing from their whole ranges."""
    rng = seeded(seed, Stream.ROLLING)
    x, y, z, w = Rotation.random(random_state=int(rng.integers(2**31))).as_quat().tolist()
    return Conditions(seed, float(rng.uniform(*FRICTION)), (x, y, z, w), float(rng.uniform(-np.pi, np.pi)))


def build(case: Conditions, record: bool = False) -> Chain:
    """Return a chain whose ball lies at rest.

    Raises
    ------
    ChainError
        If it does not come to rest as a ball.
    """
    config = ChainConfig(
        seed=case.seed,
        friction=case.friction,
        joint_offset_deg=case.joint_offset_deg,
        start_mode="shell",
        record=record,
    )
    return put_down(build_chain(config, case.changes), case)


def put_down(chain: Chain, case: Conditions) -> Chain:
    """Put the closed ball down as a case says and let it come to rest."""
    chain.reset(seed=case.seed, pose="closed", attitude=case.attitude)
    chain.run(REST_S)
    rest_for_imu(chain)
    if chain.mode != "shell":
        text = chain.output.mode.text if chain.output else "nothing"
        raise ChainError(f"the ball is not found closed: mode {chain.mode}, {text}")
    return chain


def far(roller: Roller, bearing: float) -> Dict[str, float]:
    """Roll 5 m from rest as fast as it goes, then turn by 90 degrees at speed, then stop."""
    ahead = np.array([math.cos(bearing), math.sin(bearing)])
    start = roller.truth

    def gone() -> float:
        return float(np.linalg.norm(roller.truth - start))

    started = took = roller.until(TOP_M_S * ahead, lambda: gone() >= STARTED_M)
    if math.isfinite(started):
        took = started + roller.until(TOP_M_S * ahead, lambda: gone() >= FAR_M, LIMIT_S - started)
    moved = roller.truth - start
    commanded = roller.in_world(ahead)
    row = {
        "speed_m_s": float(np.linalg.norm(moved)) / (took if math.isfinite(took) else LIMIT_S),
        "start_s": started,
        "heading_error_deg": _angle_deg(moved, commanded),
    }
    aside = np.array([-ahead[1], ahead[0]])
    window: List[np.ndarray] = []

    def turned() -> bool:
        window.append(roller.truth)
        if len(window) < 20:
            return False
        return _angle_deg(window[-1] - window[-20], roller.in_world(aside)) < 20.0

    row["turn_s"] = roller.until(TOP_M_S * aside, turned, 8.0)
    row["stop_m"] = roller.stop()
    return row


def slow(roller: Roller, bearing: float) -> Dict[str, float]:
    """Roll slowly for 6 s; the first second does not count."""
    v = SLOW_M_S * np.array([math.cos(bearing), math.sin(bearing)])
    roller.for_time(v, 1.0)
    start = roller.truth
    roller.for_time(v, 5.0)
    speed = float((roller.truth - start) @ roller.in_world(v) / np.linalg.norm(v)) / 5.0
    roller.stop()
    return {"slow_m_s": speed}


def point(roller: Roller, bearing: float) -> Dict[str, float]:
    """Roll to a point 3 m away; the error is true, the guide knows the own odometry only."""
    path = POINT_M * np.array([math.cos(bearing), math.sin(bearing)])
    goal = roller.truth + roller.in_world(path)
    took = roller.go(roller.own + path)
    roller.stop(1.0)
    return {"point_s": took, "point_error_m": float(np.linalg.norm(roller.truth - goal))}


def square(roller: Roller, bearing: float) -> Dict[str, float]:
    """Roll round a square of 1.5 m with a stop at each corner; the error is the worst true one of a corner.

    NaN, both, if a corner takes too long.
    """
    corner, goal = roller.own, roller.truth
    took, worst = 0.0, 0.0
    for k in range(4):
        angle = bearing + 0.5 * k * math.pi
        path = SQUARE_M * np.array([math.cos(angle), math.sin(angle)])
        corner, goal = corner + path, goal + roller.in_world(path)
        took += roller.go(corner, CORNER_LIMIT_S)
        worst = max(worst, float(np.linalg.norm(roller.truth - goal)))
    return {"square_s": took, "square_error_m": worst if math.isfinite(took) else NAN}


def hold(roller: Roller) -> Dict[str, float]:
    """Command zero; how far the ball creeps in 10 s once it has braked, and how wrong odometry is about that."""
    roller.stop(BRAKED_S)
    truth, own = roller.truth, roller.own
    crept = roller.stop(HOLD_S)
    error = roller.in_world(roller.own - own) - (roller.truth - truth)
    return {"hold_m": crept, "hold_odometry_m": float(np.linalg.norm(error))}


def roll(case: Conditions) -> Dict[str, Any]:
    """Return the row of one seed of rolling; NaN for what was not reached."""
    row: Dict[str, Any] = {"seed": case.seed, "friction": case.friction, "success": False, "message": ""}
    row.update(dict.fromkeys(_ROLLED + _TO_CORNERS + _LOADS, NAN))
    try:
        roller = Roller(build(case, record=True))
        start = roller.chain.time
        for part in (far, slow, point, square):
            row.update(part(roller, case.bearing))
        row["odometry_error_pct"] = 100.0 * roller.odometry_error
        row["path_m"] = roller.path_m
        trace = roller.chain.trace().window(start, roller.chain.time)
        row["cost"] = cost_of_transport(trace, roller.chain.simulator.mass, mechanical_power(trace))
        row["clamped_s"], row["limited_joints"] = roller.torque.longest_s, roller.torque.mean_joints
        row.update(hold(roller), **bus_figures(roller.chain))
        row["success"] = math.isfinite(row["point_s"]) and row["point_error_m"] <= 0.10
    except EvaluationError as error:
        row["message"] = str(error)
    return row


def right(case: Conditions) -> Dict[str, Any]:
    """Return the row of one seed of rolling upright and standing up."""
    row: Dict[str, Any] = {"seed": case.seed, "friction": case.friction, "tilt_deg": NAN, **_NOT_RISEN}
    try:
        chain = build(case)
        row["tilt_deg"] = math.degrees(tilt_from_quaternion(chain.state.quat_world_base))
        row.update(rise(chain), **bus_figures(chain))
    except EvaluationError as error:
        row["message"] = str(error)
    return row


def rise(chain: Chain, stands: bool = True) -> Dict[str, Any]:
    """Request to stand; return what `right` adds to a row. Without `stands` it ends once upright."""
    row = dict(_NOT_RISEN)
    accepted, text = chain.request_mode("stand")
    start = chain.time
    while accepted and chain.time < start + RIGHT_LIMIT_S + LIMIT_S:
        chain.tick()
        text = chain.output.mode.text if chain.output else ""
        note_rising(row, text, chain.time - start)
        rests = chain.mode == chain.target and chain.time > start + 0.1
        if rests or (not stands and math.isfinite(row["upright_s"])):
            break
    end: Dict[str, Any] = (
        {"success": True, "stands_s": chain.time - start} if chain.mode == "stand" else {"message": text}
    )
    return {**row, **end}


def note_rising(row: Dict[str, Any], text: str, elapsed_s: float) -> None:
    """Put the tries of rolling upright, and when the ball is upright, into a row, by the text of the present mode."""
    if text.startswith("rolling upright"):
        row["tries"] = int(text.split("try ")[1].split(":")[0])
    elif math.isnan(row["upright_s"]) and text.startswith("opening"):
        row["upright_s"] = elapsed_s


def _angle_deg(a: np.ndarray, b: np.ndarray) -> float:
    return abs(math.degrees(math.atan2(a[0] * b[1] - a[1] * b[0], float(a @ b))))
