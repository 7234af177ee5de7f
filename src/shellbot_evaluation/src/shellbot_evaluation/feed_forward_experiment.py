# SPDX-License-Identifier: MIT
"""What feeding torques forward does, standing, walking and as a ball: scripts/experiment feed_forward."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.metrics import cost_of_transport, mechanical_power, total_torque
from shellbot_action_manager.body.body_pose import feet_in_base
from shellbot_chain.chain import Chain
from shellbot_chain.errors import MissionFailed
from shellbot_common import TICK, package_file
from shellbot_common.rotations import wrap_angle, yaw_from_quaternion
from shellbot_common.seed_streams import Stream, seeded

from .grouped_runs import GroupedRuns
from .seeded_runs import at_most

WALKING = {f"walk {speed} m/s": speed for speed in (0.1, 0.2, 0.3, 0.38)}
MOTIONS = ("stand", "stand, 1.2 times the mass", "tripod stance", *WALKING, "ball")
WALK_S, STARTS_S, BALL_S = 8.0, 2.0, 60.0
HEAVIER = 1.2
_DELAYS = np.arange(0.0, 3.01, 0.1)  # ticks of joints behind their command


@dataclass(frozen=True)
class Case:
    """One run."""

    seed: int
    motion: str
    feed_forward: float
    friction: float

    @property
    def label(self) -> str:
        """Name of the line of the table."""
        return f"{self.motion}, {'with' if self.feed_forward else 'without'}"


def conditions(seed: int) -> List[Case]:
    """Return the cases of a seed: friction from 0.6 to 1, each motion without and with feed-forward."""
    friction = float(seeded(seed, Stream.FLOOR).uniform(0.6, 1.0))
    return [Case(seed, motion, fraction, friction) for motion in MOTIONS for fraction in (0.0, 1.0)]


def execute(case: Case) -> Dict[str, Any]:
    """Do the motion; measure joints against what they are commanded, and what it costs."""
    row: Dict[str, Any] = {**vars(case), "label": case.label, "success": False, "message": "", "duration_s": math.nan}
    names = ("error_deg", "worst_deg", "sag_mm", "delay_ms", "course", "heading_deg", "torque", "power_w", "cost")
    row.update(dict.fromkeys(names, math.nan))
    mass = HEAVIER if "mass" in case.motion else 1.0
    folder = str(package_file("shellbot_evaluation", "config/actions"))
    try:
        chain = Chain(
            seed=case.seed,
            friction=case.friction,
            feed_forward=case.feed_forward,
            mass_scale=mass,
            action_folders=(folder,),
        )
        chain.stand_up()
        chain.run(1.5)
        start = len(chain.trace().t)
        if case.motion in WALKING:
            row.update(_walk(chain, WALKING[case.motion]))
        elif case.motion == "ball":
            _close(chain)
            row.update(_still(chain, standing=False))
        elif case.motion == "tripod stance":
            row.update(_on_three(chain))
        else:
            row.update(_still(chain, standing=True))
    except EvaluationError as error:
        return {**row, "message": str(error)}
    trace = chain.trace().window(float(chain.trace().t[min(start, len(chain.trace().t) - 1)]), chain.time)
    row["torque"] = float(total_torque(trace).mean())
    row["power_w"] = float(mechanical_power(trace).mean())
    row["cost"] = cost_of_transport(trace, chain.simulator.mass, mechanical_power(trace))
    row["duration_s"], row["success"] = chain.time, chain.mode in ("hexapod", "shell")
    return row


def intended_joints(chain: Chain) -> np.ndarray:
    """Return all joints (n,) where the robot means them to be, rad: without the lead of swinging feet."""
    q = np.empty(len(chain.joint_names))
    motion, groups = chain.manager.motion, chain.manager.geometry.limbs
    assert motion is not None
    for name, command in motion.limbs.items():
        q[groups[name].columns] = command.q[..., None]
    engine = chain.manager.engine
    if motion.activity == "walking":
        p_base = feet_in_base(engine.p_walk, engine.pose, engine.gait.stance_height)
        q[groups["lower"].columns] = chain.manager.geometry.legs.solve(p_base[:, None])[:, 0][..., None]
    return q


def _still(chain: Chain, standing: bool) -> Dict[str, float]:
    """Return errors of joints and height over half a second at rest."""
    errors, sag = [], []
    for _ in range(50):
        q = intended_joints(chain)
        chain.tick()
        errors.append(np.degrees(np.abs(chain.state.q - q)))
        if standing:
            geometry = chain.manager.geometry
            feet = geometry.feet
            down = np.array([0.0, 0.0, -1.0])
            points = feet.lowest_points(feet.poses(geometry.q_lower(q)), down)
            sag.append(-points[:, 2].min() - chain.state.p_world_base[2])
    mean = np.mean(errors, axis=0)
    loaded = [i for i, name in enumerate(chain.joint_names) if name.endswith(("_femur", "_tibia")) or not standing]
    found = {"error_deg": float(mean[loaded].mean()), "worst_deg": float(mean.max())}
    if standing:
        found["sag_mm"] = 1e3 * float(np.mean(sag))
    return found


def _on_three(chain: Chain) -> Dict[str, float]:
    """Stand on three legs and measure the end of that."""
    accepted, reason = chain.manager.perform("stand_on_three", {"hold": 3.0})
    if not accepted:
        raise MissionFailed(f"stand_on_three refused: {reason}")
    lifted = 0
    while lifted < 200:
        chain.tick()
        motion = chain.manager.motion
        planted = None if motion is None else motion.planted
        if not chain.manager.performer.active:
            raise MissionFailed("stand_on_three ended before it stood")
        lifted = lifted + 1 if planted is not None and planted.sum() == 3 else 0
    found = _still(chain, standing=True)
    while chain.manager.performer.active:
        chain.tick()
    return found


def _close(chain: Chain) -> None:
    accepted, reason = chain.request_mode("shell")
    if not accepted:
        raise MissionFailed(f"shell refused: {reason}")
    end = chain.time + BALL_S
    while chain.mode != "shell" or chain.step:
        if chain.time > end:
            raise MissionFailed(f"not a ball after {BALL_S:g} s: {chain.mode}")
        chain.tick()
    chain.run(1.5)


def _walk(chain: Chain, speed: float) -> Dict[str, float]:
    """Walk ahead; joints against their command at the constant delay that fits best, and the way gone."""
    measured, intended, path = [], [], []
    for k in range(int(round(WALK_S / TICK))):
        chain.command_twist((speed, 0.0, 0.0))
        chain.tick()
        if k * TICK >= STARTS_S:
            measured.append(chain.state.q[:24])
            intended.append(intended_joints(chain)[:24])
            path.append((*chain.state.p_world_base[:2], float(yaw_from_quaternion(chain.state.quat_world_base))))
    error, delay = tracking(np.degrees(measured), np.degrees(intended))
    (x, y, yaw), (x_end, y_end, yaw_end) = path[0], path[-1]
    forward = math.cos(yaw) * (x_end - x) + math.sin(yaw) * (y_end - y)
    turned = wrap_angle(yaw_end - yaw)
    commanded = float(chain.manager.twist[0]) * (len(path) - 1) * TICK
    return {
        "error_deg": error,
        "delay_ms": 1e3 * TICK * delay,
        "course": forward / commanded,
        "heading_deg": abs(math.degrees(turned)),
    }


def tracking(measured: np.ndarray, intended: np.ndarray) -> Tuple[float, float]:
    """Return the RMS of measured (m, n) against intended (m, n) at the delay that fits best, and that delay in rows.

    Row k is measured at the end of the tick in which the command of row k was sent; it acts in the next tick.
    """
    rows = np.arange(int(math.ceil(_DELAYS[-1])), len(measured))
    found = []
    for delay in _DELAYS:
        at = rows - delay
        below = np.floor(at).astype(int)
        part = (at - below)[:, None]
        reference = (1.0 - part) * intended[below] + part * intended[np.minimum(below + 1, len(intended) - 1)]
        found.append((float(np.sqrt(np.mean((measured[rows] - reference) ** 2))), float(delay)))
    return min(found)


FEED_FORWARD = GroupedRuns(
    name="feed_forward",
    what="standing, walking and closed to a ball, without and with feed-forward",
    description="Joints against what they are meant to be, without and with torques fed forward; friction 0.6 to 1.",
    columns={
        "label": "motion, feed-forward",
        "error_deg": "error of the joints / deg",
        "worst_deg": "worst joint / deg",
        "sag_mm": "sag / mm",
        "delay_ms": "delay / ms",
        "course": "distance / commanded",
        "heading_deg": "heading drift / deg",
        "torque": "root of sum of squared torques / N m",
        "power_w": "joint power / W",
        "cost": "cost of transport",
        "success": "runs",
    },
    digits={
        **dict.fromkeys(("error_deg", "worst_deg", "course"), 3),
        **dict.fromkeys(("sag_mm", "heading_deg", "torque", "cost"), 2),
        "delay_ms": 0,
    },
    goals={"error_deg": at_most(1.0)},
    conditions=conditions,
    execute=execute,
    duration=lambda row: float(row["duration_s"]),
    done="Did not fall",
)
