# SPDX-License-Identifier: MIT
"""How long a battery lasts, standing, by each gait and rolling: scripts/experiment energy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List

import numpy as np

from ax_emulator.battery import Battery, BatteryParameters
from ax_emulator.motor_bank import NOMINAL_VOLTAGE
from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import cost_of_transport, path_length
from robot_evaluation.trace import Trace
from shellbot_chain.chain import Chain
from shellbot_motor_driver.driving.driver_config import DriverConfig

from .grouped_runs import GroupedRuns
from .rolling_experiment import OFFSET_DEG
from .transport_experiment import (
    GATHERS_S,
    MEASURED_S,
    electrical_power,
    idle_current,
    measured_roll,
    measured_walk,
    motor_power,
)

WALKS = {"tripod": 0.2, "ripple": 0.1, "wave": 0.05, "tetrapod": 0.1, "rough": 0.1, "sprint": 0.5}  # gait to m/s
ROLLS_M_S = (0.4, 0.8)
STEP = 1.0  # s in which the battery is discharged
_SETTLES = 9  # times that current and voltage under load are found from each other
MOVES = 0.01  # m/s below which there is no distance to speak of
LONGEST = 6 * 3600.0  # s
_PACK = BatteryParameters()


@dataclass(frozen=True)
class Case:
    """One run of one build of the robot."""

    seed: int
    build: str  #: walker: 19 servos; full: 31, simulated as 36 joints
    motion: str
    gait: str = ""
    speed: float = 0.0  #: Commanded, m/s

    @property
    def label(self) -> str:
        """Name of the line of the table."""
        return f"{self.build} {self.motion}"


def conditions(seed: int) -> List[Case]:
    """Return the cases of a seed."""
    still = [Case(seed, build, motion) for build in ("walker", "full") for motion in ("sits", "stands")]
    walks = [Case(seed, "walker", f"walks, {gait}", gait, speed) for gait, speed in WALKS.items()]
    walks.append(Case(seed, "full", "walks, tripod", "tripod", WALKS["tripod"]))
    rolls = [Case(seed, "full", f"rolls at {speed:g} m/s", "", speed) for speed in ROLLS_M_S]
    return [*still, *walks, Case(seed, "full", "lies closed"), *rolls]


def execute(case: Case) -> Dict[str, Any]:
    """Move, and measure once the speed is reached."""
    row: Dict[str, Any] = {**vars(case), "label": case.label, "success": False, "message": ""}
    row.update(
        dict.fromkeys(("speed_m_s", "mean_a", "peak_a", "sag_v", "run_min", "range_m", "electrical_cost"), math.nan)
    )
    closed = case.motion.startswith(("rolls", "lies"))
    mode = "shell" if closed else "sit" if case.motion == "sits" else "hexapod"
    options: Dict[str, Any] = {"gait": case.gait} if case.gait else {}
    try:
        chain = Chain(
            variant="walker" if case.build == "walker" else "simulation",
            seed=case.seed,
            joint_offset_deg=OFFSET_DEG,
            start_mode=mode,
            **options,
        )
        if closed:
            trace = measured_roll(chain, case.seed, case.speed)
        else:
            trace = measured_walk(chain, case.speed) if case.gait else _still(chain)
    except EvaluationError as error:
        return {**row, "message": str(error)}
    row.update(battery_figures(motor_power(trace, chain), idle_current(chain)))
    row["speed_m_s"] = path_length(trace) / float(trace.t[-1] - trace.t[0])
    if row["speed_m_s"] > MOVES:
        row["range_m"] = 60.0 * row["run_min"] * row["speed_m_s"]
        row["electrical_cost"] = cost_of_transport(trace, chain.simulator.mass, electrical_power(trace, chain))
    row["success"] = True
    return row


def battery_figures(power: np.ndarray, idle: float) -> Dict[str, float]:
    """Return what a load means for the pack, by the names of the table's columns.

    Parameters
    ----------
    power : (m, s) array
        Of the motors over time, W.
    idle : float
        Current of the electronics, A.
    """
    mean, peak = float(power.mean()), float(np.percentile(power, 99))
    half = Battery(0.5)
    for _ in range(_SETTLES):
        _drain(half, peak, idle, 0.0)
    currents = {"mean_a": idle + mean / NOMINAL_VOLTAGE, "peak_a": idle + peak / NOMINAL_VOLTAGE}
    return {**currents, "sag_v": half.voltage, "run_min": run_time(mean, idle) / 60.0}


def run_time(power: float, idle: float = 0.0, charge: float = 1.0) -> float:
    """Return how long the pack of `BatteryParameters` carries a load before it is empty, s.

    It is so when its charge is used up, or its voltage under that load falls to where the motor driver sits down.

    Parameters
    ----------
    power : float
        Of the motors, W: a bridge takes the same at any voltage, so that the current rises while the pack empties.
    idle : float
        Current of the electronics, A.
    charge : float
        Fraction that is left at the beginning, 0 to 1.
    """
    empty = DriverConfig.load().voltage.sit
    battery, seconds = Battery(charge), 0.0
    while seconds < LONGEST and battery.charge > 0.0 and _drain(battery, power, idle, STEP) > empty:
        seconds += STEP
    return seconds


def _drain(battery: Battery, power: float, idle: float, duration: float) -> float:
    return battery.drain(idle + power / battery.voltage, duration)


def _still(chain: Chain) -> Trace:
    """Return `MEASURED_S` of sitting, or of standing after standing up."""
    if chain.config.start_mode == "sit":
        chain.run(GATHERS_S)
    else:
        chain.stand_up()
    start = chain.time
    chain.run(MEASURED_S)
    return chain.trace().window(start, chain.time)


ENERGY = GroupedRuns(
    name="energy",
    what="sitting, standing, every gait, lying closed and rolling",
    description=f"Measures for {MEASURED_S:g} s what the servos draw, by their model, and how long a pack of "
    f"{_PACK.cells} cells and {1000.0 * _PACK.capacity:.0f} mA h would give that, from full until it is used up or the "
    "motor driver sits down for its voltage. Servos alone: the computer comes on top. walker: 19 servos, full: 31.",
    columns={
        "label": "",
        "speed_m_s": "speed / m/s",
        "mean_a": "mean current at 12 V / A",
        "peak_a": "99 % of the time below / A",
        "sag_v": "voltage then, half full / V",
        "run_min": "run time / min",
        "range_m": "range / m",
        "electrical_cost": "cost of transport, electrical",
    },
    digits={"speed_m_s": 2, "mean_a": 2, "peak_a": 1, "sag_v": 1, "run_min": 0, "range_m": 0, "electrical_cost": 1},
    goals={},
    conditions=conditions,
    execute=execute,
    duration=lambda row: math.nan,
    done="Measured",
)
