# SPDX-License-Identifier: MIT
"""What a metre costs, walking and rolling: scripts/experiment transport."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List

import numpy as np

from ax_emulator.motor_bank import IDLE_CURRENT, NOMINAL_VOLTAGE, motor_current
from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import cost_of_transport, mechanical_power, path_length
from robot_evaluation.trace import Trace
from shellbot_chain.chain import Chain
from shellbot_motor_driver.map.servo_map import ServoMap

from .grouped_runs import GroupedRuns
from .roller import Roller
from .rolling_experiment import OFFSET_DEG, put_down
from .rolling_experiment import conditions as lying

WALKING_M_S = (0.1, 0.2, 0.3)
ROLLING_M_S = (0.2, 0.4, 0.8, 1.2)
GATHERS_S, MEASURED_S = 3.0, 6.0


@dataclass(frozen=True)
class Case:
    """One run: walking or rolling straight on, at a commanded speed."""

    seed: int
    motion: str
    commanded_m_s: float

    @property
    def label(self) -> str:
        """Name of the line of the table."""
        return f"{self.motion} {self.commanded_m_s:g}"


def conditions(seed: int) -> List[Case]:
    """Return the cases of a seed."""
    return [Case(seed, "walks", v) for v in WALKING_M_S] + [Case(seed, "rolls", v) for v in ROLLING_M_S]


def execute(case: Case) -> Dict[str, Any]:
    """Walk or roll, and measure once the speed is reached; NaN where the robot hardly moved."""
    row: Dict[str, Any] = {**vars(case), "label": case.label, "success": False, "message": ""}
    row.update(dict.fromkeys(("speed_m_s", "power_w", "cost", "electrical_w", "electrical_cost"), math.nan))
    try:
        chain = Chain(
            seed=case.seed, joint_offset_deg=OFFSET_DEG, start_mode="hexapod" if case.motion == "walks" else "shell"
        )
        speed = case.commanded_m_s
        trace = measured_walk(chain, speed) if case.motion == "walks" else measured_roll(chain, case.seed, speed)
    except EvaluationError as error:
        row["message"] = str(error)
        return row
    mass, duration = chain.simulator.mass, float(trace.t[-1] - trace.t[0])
    mechanical, electrical = mechanical_power(trace), electrical_power(trace, chain)
    row["speed_m_s"] = path_length(trace) / duration
    row.update(power_w=float(mechanical.mean()), electrical_w=float(electrical.mean()))
    row["cost"] = cost_of_transport(trace, mass, mechanical)
    row["electrical_cost"] = cost_of_transport(trace, mass, electrical)
    row["success"] = math.isfinite(row["cost"])
    return row


def electrical_power(trace: Trace, chain: Chain) -> np.ndarray:
    """Return what the servos of a simulated robot draw from a supply of 12 V, mean of each tick, (m,) W.

    Their motors and their electronics.
    """
    return motor_power(trace, chain).mean(axis=1) + NOMINAL_VOLTAGE * idle_current(chain)


def motor_power(trace: Trace, chain: Chain) -> np.ndarray:
    """Return what the motors of all servos draw, in each of the s physics steps before each row, (m, s) W.

    Fraction of time that the bridge is on, times the motor's current, as of the emulated servos. At another voltage the
    same torque takes another fraction and the same power.
    """
    servos = _servos(chain)
    stall = np.array([entry.model.stall_current for entry in servos.entries])
    servo = servos.expand(np.arange(len(stall), dtype=float)).astype(int)  # of each joint
    per_joint = stall[servo] / np.bincount(servo)[servo]  # the fan's motor is six joints'
    output, speed = trace.step_effort / chain.limits.effort, trace.step_velocity / chain.limits.velocity
    return NOMINAL_VOLTAGE * motor_current(output, speed, per_joint).sum(axis=2)


def idle_current(chain: Chain) -> float:
    """Return what the electronics of all servos draw at any voltage, A."""
    return IDLE_CURRENT * len(_servos(chain).entries)


def _servos(chain: Chain) -> ServoMap:
    return ServoMap.load("walker" if chain.config.variant == "walker" else "full")


def measured_walk(chain: Chain, speed: float, gathers_s: float = GATHERS_S, measured_s: float = MEASURED_S) -> Trace:
    """Return `measured_s` of walking ahead at a commanded speed, m/s, once it is reached; the chain begins sitting."""
    chain.stand_up()
    twist = (speed, 0.0, 0.0)
    chain.walk(twist, seconds=gathers_s, settle=False)
    start = chain.time
    chain.walk(twist, seconds=measured_s, settle=False)
    return chain.trace().window(start, chain.time)


def measured_roll(chain: Chain, seed: int, speed: float) -> Trace:
    """Return `MEASURED_S` of rolling at a commanded speed, m/s, once it is reached; attitude, bearing by the seed."""
    lies = lying(seed)
    roller = Roller(put_down(chain, lies))
    velocity = speed * np.array([math.cos(lies.bearing), math.sin(lies.bearing)])
    roller.for_time(velocity, GATHERS_S)
    start = chain.time
    roller.for_time(velocity, MEASURED_S)
    return chain.trace().window(start, chain.time)


TRANSPORT = GroupedRuns(
    name="transport",
    what="of each speed a run, walking and rolling",
    description="Walks and rolls straight on at several speeds on level ground with a friction of 0.8 and measures for "
    "6 s what it costs: power over m g v. Each seed draws attitude and direction of the roll, and errors of the "
    "joints' zeros of 1 deg standard deviation.",
    columns={
        "motion": "",
        "commanded_m_s": "commanded / m/s",
        "speed_m_s": "speed / m/s",
        "power_w": "mechanical power / W",
        "cost": "cost of transport, mechanical",
        "electrical_w": "electrical power / W",
        "electrical_cost": "cost of transport, electrical",
    },
    digits={**dict.fromkeys(("commanded_m_s", "speed_m_s", "cost", "electrical_cost"), 2)},
    goals={},
    conditions=conditions,
    execute=execute,
    duration=lambda row: math.nan,
    done="Moved",
)
