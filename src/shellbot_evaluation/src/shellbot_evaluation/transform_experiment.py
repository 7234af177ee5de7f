# SPDX-License-Identifier: MIT
"""Closing to a ball and opening again, with everything varied that a robot does not know about itself and its floor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import tick_work
from robot_evaluation.trace import Trace
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import MODE_LIMIT_S, ChainConfig
from shellbot_chain.errors import ChainError
from shellbot_client.mission import Mission
from shellbot_client.phases import OPEN_LIMIT_S, GoTo, Phase, stand_up
from shellbot_common import TICK
from shellbot_common.rotations import tilt_from_quaternion, up_from_quaternion
from shellbot_common.seed_streams import Stream, seeded
from shellbot_description import named_pose_array

from .bus_runs import build_chain, bus_figures
from .perturbations import rest_for_imu
from .seeded_runs import at_most
from .torque_limit import TorqueLimit

FRICTION = (0.3, 1.0)
MASS = (0.85, 1.15)
SLOPE_DEG = 3.0
OFFSET_DEG = 1.0
_INVERSE = np.array([-1.0, -1.0, -1.0, 1.0])  # of a quaternion x, y, z, w, by factors
LIMIT_S = 30.0  # of each transformation, waiting included
REST_S = 1.0  # in the ball and after opening
GOALS = {  # of a run
    "to_shell_s": at_most(12.0),
    "to_hexapod_s": at_most(12.0),
    "tilt_deg": at_most(3.0),
    "ball_joint_error_deg": at_most(1.0),
    "penetration_mm": at_most(0.5),
    "clamped_s": at_most(0.5),
}
COLUMNS = {
    "seed": "seed",
    "friction": "friction",
    "mass": "mass",
    "slope_deg": "slope / deg",
    "to_shell_s": "closes in / s",
    "to_hexapod_s": "opens in / s",
    "tilt_deg": "tilt / deg",
    "ball_joint_error_deg": "joint error in the ball / deg",
    "penetration_mm": "penetration / mm",
    "clamped_s": "torque limit / s",
    "work_j": "work of the joints, both / J",
    "message": "last message",
}


@dataclass(frozen=True)
class Conditions:
    """Of one run; mass against the description's, deg."""

    seed: int
    friction: float
    mass: float
    slope_deg: float
    slope_azimuth_deg: float
    joint_offset_deg: float = OFFSET_DEG
    design: Mapping[str, float] = field(default_factory=dict)  #: Changes of the description's variables
    changes: Mapping[str, Any] = field(default_factory=dict)  #: Settings of the chain that the command line changes


def conditions(seed: int) -> Conditions:
    """Return the conditions of a seed: friction, mass and slope from their whole ranges, joint zeros from the seed."""
    rng = seeded(seed, Stream.TRANSFORMATION)
    friction, mass = rng.uniform(*FRICTION), rng.uniform(*MASS)
    return Conditions(seed, friction, mass, rng.uniform(0.0, SLOPE_DEG), rng.uniform(-180.0, 180.0))


class Watch:
    """Ground truth of one transformation: what the robot itself does not know.

    Parameters
    ----------
    chain : Chain
        The robot; `tick` advances it.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._torque = TorqueLimit(chain)
        self.tilt_deg = self.penetration_mm = self.clamped_s = 0.0
        self.clamped_joint = ""
        self.work_j = 0.0

    def tick(self) -> None:
        """Advance the chain by a tick and keep the worst of each figure."""
        chain = self._chain
        state = chain.tick()
        self.work_j += tick_work(state)
        # against the plumb line, beyond what the floor itself leans
        up_world_base = up_from_quaternion(state.quat_world_base * _INVERSE)
        lean = np.arccos(np.clip(up_world_base @ np.array(chain.simulator.config.up), -1.0, 1.0))
        self.tilt_deg = max(self.tilt_deg, float(np.degrees(lean)) - chain.config.slope_deg)
        self.penetration_mm = max(self.penetration_mm, 1e3 * state.contacts.max_penetration)
        self._torque.step()
        self.clamped_s, self.clamped_joint = self._torque.longest_s, self._torque.joint


def execute(case: Conditions) -> Dict[str, Any]:
    """Close and open once; return the row of the table, NaN for what was not reached."""
    chain = chain_of(case)
    drawn = {"mass": chain.config.mass_scale, "slope_deg": chain.config.slope_deg}
    return {**vars(case), **drawn, **transform(chain), **bus_figures(chain)}


def chain_of(case: Conditions) -> Chain:
    """Return the chain of a case, not yet standing."""
    config = ChainConfig(
        seed=case.seed,
        friction=case.friction,
        mass_scale=case.mass,
        slope_deg=case.slope_deg,
        slope_azimuth_deg=case.slope_azimuth_deg,
        joint_offset_deg=case.joint_offset_deg,
        design=case.design,
        record=False,
    )
    return build_chain(config, case.changes)


def transform(chain: Chain) -> Dict[str, Any]:
    """Let a chain stand up, close and open; return the figures, NaN for what was not reached."""
    row: Dict[str, Any] = dict.fromkeys(GOALS, float("nan"))
    row.update(success=False, clamped_joint="", ball_tilt_deg=float("nan"), message="")
    watches: List[Watch] = []
    try:
        chain.stand_up()
        rest_for_imu(chain)
        for goal, column in (("shell", "to_shell_s"), ("hexapod", "to_hexapod_s")):
            accepted, message = chain.request_mode(goal)
            watches.append(Watch(chain))
            start = chain.time
            while accepted and not (chain.mode == chain.target == goal) and chain.time < start + LIMIT_S:
                watches[-1].tick()
                if chain.mode == "halfway" or (goal == "hexapod" and chain.target == "shell"):
                    break
            row["message"] = message if not accepted else chain.output.mode.text if chain.output else ""
            if not accepted or chain.mode != goal:
                break
            row[column] = chain.time - start
            for _ in range(int(REST_S / TICK)):
                watches[-1].tick()
            if goal == "shell":
                error = np.abs(chain.robot.measured(chain.state) - named_pose_array("closed", chain.config.variant))
                row["ball_joint_error_deg"] = float(np.degrees(error.max()))
        else:
            row["success"], row["message"] = True, ""
    except EvaluationError as error:
        row["message"] = str(error)
    for column in ("tilt_deg", "penetration_mm", "clamped_s"):
        row[column] = max((getattr(watch, column) for watch in watches), default=float("nan"))
    row["work_j"] = sum(watch.work_j for watch in watches)
    row["clamped_joint"] = max(watches, key=lambda watch: watch.clamped_s).clamped_joint if watches else ""
    row["close"], row["open"] = (
        {k: getattr(w, k) for k in ("tilt_deg", "penetration_mm", "clamped_s", "clamped_joint")} if w else None
        for w in (watches + [None, None])[:2]
    )
    return row


def phases() -> Tuple[Phase, ...]:
    """Return standing up, closing, opening, each with its second of rest."""
    return stand_up(), GoTo("close", MODE_LIMIT_S, "shell"), GoTo("open", OPEN_LIMIT_S, "hexapod")


def scored(mission: Mission, trace: Trace, effort_limit: np.ndarray) -> Dict[str, Any]:
    """Return the figures of `phases` of a robot over ROS by a trace that covers them; NaN for what was not reached.

    Parameters
    ----------
    mission : Mission
        That has ended.
    trace : Trace
        Of samples at the ends of ticks: a servo is at its limit if it is in each of them.
    effort_limit : (n,) array
        N m.
    """
    row: Dict[str, Any] = dict.fromkeys(GOALS, float("nan"))
    done = mission.records[1:]
    for record, column in zip(done, ("to_shell_s", "to_hexapod_s")):
        row[column] = record.t_stop - record.t_start
    row["tilt_deg"] = float(np.degrees(tilt_from_quaternion(trace.q_world_base).max()))
    if done:
        q = trace.window(done[0].t_stop, done[0].t_end).joint_position[-1]
        row["ball_joint_error_deg"] = float(np.degrees(np.abs(q - named_pose_array("closed")).max()))
    if np.isfinite(trace.joint_effort).all():
        held, worst = np.zeros(len(effort_limit)), 0.0
        for at_limit, dt in zip(np.abs(trace.joint_effort[1:]) >= 0.999 * effort_limit, np.diff(trace.t)):
            held = np.where(at_limit, held + dt, 0.0)
            worst = max(worst, float(held.max()))
        row["clamped_s"] = worst
    return row


def pictures(engine: str = "mujoco", width: int = 480, height: int = 360) -> Dict[str, np.ndarray]:
    """Return a picture (height, width, 3) of the end of each step of closing, by its name and the time, s.

    Raises
    ------
    ChainError
        If the ball does not close, or nothing can be rendered here.
    """
    chain = Chain(seed=None, record=False, engine=engine)
    chain.stand_up()
    found = {"standing": chain.simulator.render(width, height)}
    accepted, message = chain.request_mode("shell")
    step, start = "", chain.time
    while accepted and chain.mode != "shell":
        chain.tick()
        message = chain.output.mode.text if chain.output else ""
        if message != step and step.startswith("closing"):
            found[f"{chain.time - start:.1f} s: {step.split(': ')[1]}"] = chain.simulator.render(width, height)
        step = message
        if chain.time > start + LIMIT_S or chain.mode == "halfway":
            raise ChainError(f"the ball did not close: {message}")
    chain.simulator.close()
    return found
