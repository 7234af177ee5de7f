# SPDX-License-Identifier: MIT
"""Getting up after a fall: scripts/experiment recover."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Tuple

import numpy as np
from scipy.spatial.transform import Rotation

from robot_evaluation.errors import EvaluationError
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.errors import ChainError
from shellbot_common.rotations import tilt_from_quaternion
from shellbot_common.seed_streams import Stream, seeded

from .bus_runs import build_chain, bus_figures
from .perturbations import rest_for_imu
from .roller import NAN
from .rolling_experiment import FRICTION, OFFSET_DEG, note_rising
from .seeded_runs import SeededRuns, at_most
from .torque_limit import TorqueLimit
from .transform_experiment import MASS

LEAST_DEG = 90.0  # from upright: from 76 deg it fell back onto its feet
FALL_S = 2.0  # after which a robot in any attitude lies still
REQUESTS = 3  # that an operator makes
LIMIT_S = 90.0  # after each
_NOT_UP: Mapping[str, Any] = {
    **dict.fromkeys(("folded_s", "upright_s", "stands_s"), NAN),
    **{"success": False, "requests": 0, "tries": 0, "message": ""},
}


@dataclass(frozen=True)
class Conditions:
    """Of one run; mass against the description's."""

    seed: int
    friction: float
    mass: float
    attitude: Tuple[float, float, float, float]  #: Quaternion x, y, z, w that the standing robot is thrown into
    joint_offset_deg: float = OFFSET_DEG
    changes: Mapping[str, Any] = field(default_factory=dict)  #: Settings of the chain that the command line changes


def conditions(seed: int) -> Conditions:
    """Return the conditions of a seed: friction, mass and an attitude, evenly from those beyond `LEAST_DEG`."""
    rng = seeded(seed, Stream.RECOVERY)
    friction, mass = rng.uniform(*FRICTION), rng.uniform(*MASS)
    tilt = math.acos(rng.uniform(-1.0, math.cos(math.radians(LEAST_DEG))))
    towards, yaw = rng.uniform(-math.pi, math.pi, 2)
    axis = np.array([math.cos(towards), math.sin(towards), 0.0])
    x, y, z, w = (Rotation.from_rotvec(tilt * axis) * Rotation.from_euler("z", yaw)).as_quat().tolist()
    return Conditions(seed, friction, mass, (x, y, z, w))


def fallen(case: Conditions) -> Chain:
    """Return a chain whose robot stood, was thrown, and lies still.

    Raises
    ------
    ChainError
        If its mode is another than that of a robot that fell and holds.
    """
    config = ChainConfig(
        seed=case.seed,
        friction=case.friction,
        mass_scale=case.mass,
        joint_offset_deg=case.joint_offset_deg,
        record=False,
    )
    chain = build_chain(config, case.changes)
    chain.stand_up()
    chain.simulator.reset_base(case.attitude)
    chain.run(FALL_S)
    rest_for_imu(chain)
    if chain.mode != "sit":
        raise ChainError(f"the robot does not hold after its fall: mode {chain.mode}")
    return chain


def execute(case: Conditions) -> Dict[str, Any]:
    """Fall, and get up; return the row of the table, NaN for what was not reached."""
    mass = case.changes.get("mass_scale", case.mass)
    row: Dict[str, Any] = {"seed": case.seed, "friction": case.friction, "mass": mass, "tilt_deg": NAN, **_NOT_UP}
    try:
        chain = fallen(case)
        row["tilt_deg"] = math.degrees(tilt_from_quaternion(chain.state.quat_world_base))
        row.update(get_up(chain), **bus_figures(chain))
    except EvaluationError as error:
        row["message"] = str(error)
    return row


def get_up(chain: Chain) -> Dict[str, Any]:
    """Request to recover, then, unless the robot stands, what its text names; return what `execute` adds to a row."""
    row, torque, start, request = dict(_NOT_UP), TorqueLimit(chain), chain.time, "recover"
    row.update(effort_pct=0.0, penetration_mm=0.0)
    while not row["success"] and row["requests"] < REQUESTS:
        row["requests"] += 1
        accepted, text = chain.request_mode(request)
        begun = chain.time
        while accepted and chain.time < begun + LIMIT_S:
            state = chain.tick()
            text = chain.output.mode.text if chain.output else ""
            if chain.step == "fold_ball":
                torque.step()
                effort = 100.0 * float(np.abs(state.effort / chain.limits.effort).max())
                row["effort_pct"] = max(row["effort_pct"], effort)
                row["penetration_mm"] = max(row["penetration_mm"], 1e3 * state.contacts.max_penetration)
            elif chain.step == "open_ball" and math.isnan(row["folded_s"]):
                row["folded_s"] = chain.time - start
            note_rising(row, text, chain.time - start)
            if chain.mode == chain.target and not chain.step and chain.time > begun + 0.1:
                break
        row["success"] = accepted and chain.mode == "stand"
        row["message"] = "" if row["success"] else text
        request = "stand" if "stand" in text and "recover" not in text else "recover"
    if row["success"]:
        row["stands_s"] = chain.time - start
    return {**row, "clamped_s": torque.longest_s, "clamped_joint": torque.joint, "limited_joints": torque.mean_joints}


RECOVER = SeededRuns(
    name="recover",
    what="a fall and getting up each",
    description="Stands, is thrown onto its side or back, and recovers: folds to a ball as it lies, rolls upright, "
    "opens and stands, with the whole chain in one process. Each seed draws the attitude, friction 0.5 to 1, mass 85 "
    "to 115 %, and errors of the joints' zeros of 1 deg standard deviation. A request that does not lead to standing "
    f"is followed by the one that the robot names, {REQUESTS} in all. Effort, torque limit and penetration are those "
    "of folding.",
    columns={
        "seed": "seed",
        "friction": "friction",
        "mass": "mass",
        "tilt_deg": "lies tilted by / deg",
        "folded_s": "folded / s",
        "upright_s": "upright / s",
        "stands_s": "stands / s",
        "requests": "requests",
        "tries": "tries to roll upright",
        "effort_pct": "greatest effort / %",
        "clamped_s": "torque limit / s",
        "clamped_joint": "joint at it",
        "limited_joints": "joints at it, mean",
        "penetration_mm": "penetration / mm",
        "message": "last message",
    },
    digits={
        **dict.fromkeys(("tilt_deg", "requests", "tries", "effort_pct"), 0),
        **dict.fromkeys(("friction", "mass", "clamped_s", "limited_joints", "penetration_mm"), 2),
    },
    goals={"stands_s": at_most(45.0), "requests": at_most(1.0), "clamped_s": at_most(0.5)},
    conditions=conditions,
    execute=execute,
    duration=lambda row: float(row["stands_s"]),
    done="Stood again",
    is_varied=True,
    not_running="throws the robot into an attitude drawn by the seed, which no topic can do; leave --running out",
)
