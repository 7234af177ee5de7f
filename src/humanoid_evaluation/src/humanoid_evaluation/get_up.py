# SPDX-License-Identifier: MIT
"""Falls in the simulator, and what comes after them: protection, and getting up.

With even seeds it stands and is pushed as no walk survives; with odd seeds it is let go in any attitude, at any joint
angles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, Sequence

import numpy as np

from humanoid_evaluation.robot import Robot
from shellbot_common.seed_streams import Stream, seeded
from shellbot_simulator.core.config import load_config

_STAND, _PUSH_TIME = 1.2, 0.1  # s
_FALL_TIME, _LIMIT = 6.0, 60.0  # s: for the fall, and for all of it
_HOLD = 1.0  # s for which it has to stand
_FORCE = (60.0, 150.0)  # N


@dataclass(frozen=True)
class Fall:
    """A fall; side, force, floor and masses by the seed."""

    seed: int
    motors: str = "peak"


def run_get_up(fall: Fall) -> Dict[str, Any]:
    """Push the robot over, ask it to get up once it lies, and return what happened.

    Returns
    -------
    dict
        The fall's fields; `side` it lay on, `noticed_s` before the torso came to rest, greatest acceleration of the
        torso in the fall (m/s^2), `stands`, seconds and tries to get up, `base_height_m` at the end.
    """
    rng = seeded(fall.seed, Stream.HUMANOID_FALL)
    world = load_config().replace(friction=float(rng.uniform(0.6, 1.0)), mass_scale=float(rng.uniform(0.95, 1.05)))
    robot = Robot(world, fall.seed, fall.motors)
    angle, force = rng.uniform(-math.pi, math.pi), rng.uniform(*_FORCE)
    if fall.seed % 2:
        force = angle = 0.0
        _let_go(robot, rng)
    else:
        while robot.time < _STAND:
            robot.tick()
        robot.simulator.push((force * math.cos(angle), force * math.sin(angle), 0.0), _PUSH_TIME)
    shock, falling, requested, up = 0.0, math.nan, math.nan, math.nan
    tries, side = 0, ""
    while robot.time < _LIMIT:
        robot.tick()
        mode = robot.core.status().mode
        if mode == "falling":
            falling = robot.time if math.isnan(falling) else falling
            shock = max(shock, float(np.linalg.norm(robot.state.imu.specific_force)))
        elif mode == "fallen":
            if not math.isnan(requested):
                break  # it gave up
            requested, side = robot.time, robot.core.falls.detector.side
            robot.core.request("recover")
        elif mode == "get_up":
            tries = robot.core.falls.tries
        elif not math.isnan(requested):
            up = robot.time if math.isnan(up) else up
            if robot.time > up + _HOLD:
                break
        elif robot.time > _FALL_TIME and mode != "falling":
            break  # it did not fall
    return {
        **vars(fall),
        "push_N": force,
        "push_deg": math.degrees(angle),
        "fell": not math.isnan(requested),
        "side": side,
        "noticed_s": requested - falling,
        "shock_m_s2": shock,
        "stands": robot.core.status().mode == "stand" and not math.isnan(requested),
        "seconds": up - requested,
        "tries": tries,
        "base_height_m": float(robot.state.p_world_base[2]),
    }


def _let_go(robot: Robot, rng: np.random.Generator) -> None:
    """Put it on the floor in a random attitude with random joint angles."""
    lower, upper = robot.core.joint_limits
    q = lower + rng.uniform(0.0, 1.0, len(lower)) * (upper - lower)
    names = list(robot.simulator.joint_names)
    q[names.index("RHipYawPitch")] = q[names.index("LHipYawPitch")]
    attitude = rng.standard_normal(4)
    robot.state = robot.simulator.reset(q, int(rng.integers(1000)), attitude / np.linalg.norm(attitude))


def summarise_get_up(runs: Sequence[Dict[str, Any]]) -> Dict[str, Any]:
    """Return how many of those that fell got up, at the first try and at all, and how long it took."""
    fallen = [run for run in runs if run["fell"]]
    up = [run for run in fallen if run["stands"]]
    return {
        "runs": len(runs),
        "fell": len(fallen),
        "got_up": len(up),
        "at_the_first_try": sum(run["tries"] == 1 for run in up),
        "mean_seconds": float(np.mean([run["seconds"] for run in up])) if up else math.nan,
        "worst_seconds": max((run["seconds"] for run in up), default=math.nan),
        "mean_shock_m_s2": float(np.mean([run["shock_m_s2"] for run in fallen])) if fallen else math.nan,
    }
