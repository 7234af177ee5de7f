# SPDX-License-Identifier: MIT
"""Walking without a leg: scripts/experiment limp."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Dict, List

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import cost_of_work, tick_work
from shellbot_chain.chain import Chain
from shellbot_common.rotations import tilt_from_quaternion, wrap_angle, yaw_from_quaternion
from shellbot_common.seed_streams import Stream, seeded

from .grouped_runs import GroupedRuns
from .seeded_runs import at_least, at_most

DISTANCE_M, LIMIT_S = 2.0, 40.0
COMMANDED_M_S = 0.4  # the tripod's greatest speed
STARTS_M = 0.1  # from here on the speed is measured: before, the body leans and the foot is lifted
KINDS = ("locked", "limp")


@dataclass(frozen=True)
class Case:
    """One run: a leg that is lost in mid-stride, its servos stuck where they are or without torque."""

    seed: int
    leg: int
    kind: str
    friction: float

    @property
    def label(self) -> str:
        """Name of the line of the table."""
        return f"lower_{self.leg} {self.kind}"


def conditions(seed: int) -> List[Case]:
    """Return the cases of a seed: friction from 0.6 to 1."""
    friction = float(seeded(seed, Stream.FLOOR).uniform(0.6, 1.0))
    return [Case(seed, leg, kind, friction) for leg in range(1, 7) for kind in KINDS]


def execute(case: Case) -> Dict[str, Any]:
    """Walk at top speed, lose the leg, walk on for 2 m."""
    row: Dict[str, Any] = {**vars(case), "label": case.label, "success": False, "message": ""}
    row.update(
        dict.fromkeys(("speed_m_s", "fraction", "start_s", "yaw_deg", "course_deg", "tilt_deg", "cost"), math.nan)
    )
    try:
        chain = Chain(seed=case.seed, friction=case.friction, record=False)
        chain.stand_up()
        phase = seeded(case.seed, Stream.LIMP_PHASE).uniform(1.0, 1.5)  # s: anywhere in a stride
        chain.walk((COMMANDED_M_S, 0.0, 0.0), seconds=phase, settle=False)
        _lose(chain, case)
        start, yaw, begun = np.array(chain.state.p_world_base[:2]), _yaw(chain), chain.time
        moved, started, tilt, work_j = np.zeros(2), (math.nan, 0.0), 0.0, 0.0
        while np.linalg.norm(moved) < DISTANCE_M and chain.time < begun + LIMIT_S:
            chain.command_twist((COMMANDED_M_S, 0.0, 0.0))
            work_j += tick_work(chain.tick())
            moved = np.array(chain.state.p_world_base[:2]) - start
            tilt = max(tilt, math.degrees(tilt_from_quaternion(chain.state.quat_world_base)))
            if math.isnan(started[0]) and np.linalg.norm(moved) > STARTS_M:
                started = (chain.time, float(np.linalg.norm(moved)))
    except EvaluationError as error:
        row["message"] = str(error)
        return row
    distance = float(np.linalg.norm(moved))
    row["speed_m_s"] = (distance - started[1]) / max(chain.time - started[0], 1e-9)
    row["fraction"] = row["speed_m_s"] / COMMANDED_M_S
    row["cost"] = cost_of_work(work_j, chain.simulator.mass, distance)
    row["start_s"] = started[0] - begun
    row["yaw_deg"] = abs(math.degrees(wrap_angle(_yaw(chain) - yaw)))
    row["course_deg"] = abs(math.degrees(wrap_angle(math.atan2(moved[1], moved[0]) - yaw)))
    row["tilt_deg"] = tilt
    row["success"] = distance >= DISTANCE_M
    row["message"] = "" if row["success"] else f"{distance:.2f} m in {LIMIT_S:g} s: {chain.mode}"
    return row


def _lose(chain: Chain, case: Case) -> None:
    joints = [f"lower_{case.leg}_{joint}" for joint in ("coxa", "femur", "tibia")]
    if case.kind == "locked":
        index = [chain.joint_names.index(joint) for joint in joints]
        chain.robot.stuck_at[index] = chain.state.q[index]  # type: ignore[union-attr]
    else:
        for joint in joints:
            chain.simulator.set_gains(joint, 0.0)
    chain.commands = replace(chain.commands, lost_legs=(case.leg,))


def _yaw(chain: Chain) -> float:
    return float(yaw_from_quaternion(chain.state.quat_world_base))


LIMP = GroupedRuns(
    name="limp",
    what="each leg, locked and without torque",
    description="Walks at 0.4 m/s, loses a leg in mid-stride, its servos stuck or without torque, and walks on for 2 m "
    "on five legs; friction 0.6 to 1.",
    columns={
        "label": "leg",
        "speed_m_s": "speed / m/s",
        "fraction": "of full speed",
        "start_s": "walks on after / s",
        "yaw_deg": "heading drift / deg",
        "course_deg": "off the course / deg",
        "tilt_deg": "greatest tilt / deg",
        "cost": "cost of transport",
    },
    digits={
        **dict.fromkeys(("start_s", "yaw_deg", "course_deg", "tilt_deg"), 1),
        "speed_m_s": 3,
        "fraction": 2,
        "cost": 2,
    },
    goals={"fraction": at_least(0.4), "yaw_deg": at_most(10.0), "course_deg": at_most(10.0)},
    conditions=conditions,
    execute=execute,
    duration=lambda row: float(row["start_s"]),
    done="Walked 2 m",
)
