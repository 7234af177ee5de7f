# SPDX-License-Identifier: MIT
"""One walk in the simulator, a distance or an angle at a speed; randomness by the seed, score by the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from humanoid_evaluation.paths import PERIOD, path_of
from humanoid_evaluation.robot import Robot, parameters
from humanoid_motion.planar import seen_from, wrapped
from robot_evaluation.metrics import cost_of_work, tick_work
from shellbot_common import TICK, Settings, check_number, choice, number, required
from shellbot_common.rotations import rpy_from_quaternion
from shellbot_common.seed_streams import Stream, seeded
from shellbot_simulator.core.config import ENGINES, SimulatorConfig, load_config
from shellbot_simulator.core.state import SimState

_STAND = 1.5  # s before the command
_SETTLE = 1.0  # s after the arrival
_PUSH_TIME = 0.1  # s
_PLATES = 60
_LEAST_SPEED = 0.01  # m/s or rad/s
_PATH_TICKS = round(PERIOD / TICK)


@dataclass(frozen=True)
class Trial(Settings):
    """What one run does; a number that the robot or the simulator cannot have is refused."""

    distance: float = number(-100.0, 100.0, "m")  #: Ahead
    angle_deg: float = number(-3600.0, 3600.0, "deg")  #: To the left
    speed: float = required()  #: m/s, or rad/s of a turn, up to the engine's limit
    seed: int = number(0, 2**31 - 1)
    push: float = number(0.0, 1000.0, "N", default=0.0)  #: For 0.1 s on the torso, direction and moment by the seed
    slope_deg: float = number(0.0, 45.0, "deg", default=0.0)  #: Of the floor, towards a direction by the seed
    plates: float = number(0.0, 0.1, "m", default=0.0)  #: Height of flat plates strewn on the floor
    motors: str = choice(("peak", "rated"), default="peak")
    heading: str = choice(("imu", "feet"), default="imu")  #: `feet`, for an IMU without a yaw axis
    engine: str = choice(ENGINES, default="mujoco")
    contacts: str = choice(("wrench", "cells"), default="wrench")  #: `cells`, the four force sensors of each sole
    aside: float = number(-100.0, 100.0, "m", default=0.0)  #: To the left, also beside a distance ahead

    def conflict(self) -> str:
        """Return why this is no walk, or that the engine would walk it more slowly than commanded."""
        if (self.distance != 0.0 or self.aside != 0.0) == (self.angle_deg != 0.0):
            return "give either a distance, ahead or aside, or an angle, not zero"
        limits = parameters()
        if self.angle_deg:
            what, most, unit = "turning", limits.limit_turn, "rad/s"
        elif self.distance:
            back = self.distance < 0.0
            what, most, unit = ("back", limits.limit_back, "m/s") if back else ("ahead", limits.limit_ahead, "m/s")
        else:
            what, most, unit = "sideways", limits.limit_sideways, "m/s"
        check_number(f"speed, {what},", self.speed, _LEAST_SPEED, most, unit)
        return ""


def world_of(trial: Trial) -> SimulatorConfig:
    """Return the world of a trial: friction 0.6 to 1.0, masses +-5 %, and what stands on the floor."""
    rng = seeded(trial.seed, Stream.HUMANOID_WORLD)
    friction, mass = rng.uniform(0.6, 1.0), rng.uniform(0.95, 1.05)
    boxes: Tuple[Tuple[float, ...], ...] = ()
    if trial.plates > 0.0:
        places = rng.uniform((0.15, -0.5), (3.3, 0.5), (_PLATES, 2))
        boxes = tuple((float(x), float(y), 0.15, 0.15, trial.plates) for x, y in places)
    azimuth = float(rng.uniform(0.0, 360.0))
    return load_config().replace(
        engine=trial.engine,
        friction=friction,
        mass_scale=mass,
        boxes=boxes,
        slope_deg=trial.slope_deg,
        slope_azimuth_deg=azimuth,
    )


def run_trial(trial: Trial) -> Dict[str, Any]:
    """Walk, and return what the truth says, with the trial's own fields and the path (`path_of`)."""
    walk = _Walk(world_of(trial), trial.seed, trial.motors, trial.heading, trial.contacts)
    simulator, engine = walk.simulator, walk.core.engine
    while simulator.time < _STAND:
        walk.tick()
    walk.begin()
    length = math.hypot(trial.distance, trial.aside) or abs(math.radians(trial.angle_deg))
    if not trial.angle_deg:
        engine.walk_by(trial.distance, trial.aside, 0.0, (trial.speed, trial.speed if trial.aside else 0.06, 0.4))
    else:
        engine.walk_by(0.0, 0.0, math.radians(trial.angle_deg), (0.10, 0.06, trial.speed))
    limit = _STAND + 2.0 * length / trial.speed + 10.0
    push_at = _push(trial, limit)
    arrived: Optional[float] = None
    while simulator.time < limit and not walk.core.has_fallen:
        if push_at is not None and simulator.time >= push_at[0]:
            simulator.push(push_at[1], _PUSH_TIME)
            push_at = None
        walk.tick()
        if arrived is None and engine.has_arrived and simulator.time > _STAND + 0.1:
            arrived = simulator.time
        if arrived is not None and simulator.time > arrived + _SETTLE:
            break
    score = walk.score()
    if trial.angle_deg:
        score["cost"] = math.nan  # a turn goes nowhere
    return {
        **vars(trial),
        **score,
        "seconds": (arrived or simulator.time) - _STAND,
        "arrived": arrived is not None,
        "path": path_of(walk.truth, walk.odometry),
    }


def _push(trial: Trial, limit: float) -> Optional[Tuple[float, Tuple[float, float, float]]]:
    """Return when the push comes, s, and its force, N: at any phase of a step, from any side."""
    if not trial.push:
        return None
    rng = seeded(trial.seed, Stream.HUMANOID_PUSH)
    angle, moment = rng.uniform(-math.pi, math.pi), rng.uniform(0.35, 0.45)
    force = (trial.push * math.cos(angle), trial.push * math.sin(angle), 0.0)
    return _STAND + moment * 0.4 * (limit - _STAND), force


class _Walk(Robot):
    """A robot with the truth beside its odometry."""

    def __init__(self, world: SimulatorConfig, seed: int, motors: str, heading: str, contacts: str) -> None:
        super().__init__(world, seed, motors, heading, contacts)
        self._turn, self._yaw = 0.0, _true_pose(self.state)[2]
        self._heights = [0.0, 0.0]
        self._tilt = self._work = 0.0
        self.truth: List[np.ndarray] = []  # poses x, y, yaw in the world since `begin`, PERIOD apart, m and rad
        self.odometry: List[np.ndarray] = []  # and the estimated ones, odometry frame

    def tick(self) -> None:
        super().tick()
        self._work += tick_work(self.state)
        roll, pitch, yaw = rpy_from_quaternion(*self.state.quat_world_base)
        self._turn += wrapped(yaw - self._yaw)
        self._yaw = yaw
        height = float(self.state.p_world_base[2])
        self._heights = [min(self._heights[0], height), max(self._heights[1], height)]
        self._tilt = max(self._tilt, abs(roll), abs(pitch))
        if self.truth and self.simulator.tick_count % _PATH_TICKS == self._phase:
            self._note()

    def begin(self) -> None:
        """Score from here."""
        height = float(self.state.p_world_base[2])
        self._heights, self._tilt, self._turn, self._work = [height, height], 0.0, 0.0, 0.0
        self._phase = self.simulator.tick_count % _PATH_TICKS
        self._note()

    def _note(self) -> None:
        self.truth.append(_true_pose(self.state))
        self.odometry.append(self.core.engine.state().base)

    def score(self) -> Dict[str, Any]:
        x, y, _ = seen_from(self.truth[0], _true_pose(self.state))
        odometry = seen_from(self.odometry[0], self.core.engine.state().base)
        return {
            "fell": self.core.has_fallen,
            "x_m": float(x),
            "y_m": float(y),
            "turn_deg": math.degrees(self._turn),
            "odometry_x_m": float(odometry[0]),
            "odometry_error_m": float(math.hypot(odometry[0] - x, odometry[1] - y)),
            "height_range_m": self._heights[1] - self._heights[0],
            "tilt_deg": math.degrees(self._tilt),
            "cost": cost_of_work(self._work, self.simulator.mass, math.hypot(x, y)),
        }


def _true_pose(state: SimState) -> np.ndarray:
    return np.array([*state.p_world_base[:2], rpy_from_quaternion(*state.quat_world_base)[2]])
