# SPDX-License-Identifier: MIT
"""The snake in one process: simulator, engine and odometry, one tick of latency less than on the wire; no ROS."""

from __future__ import annotations

import contextlib
import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator, Mapping, Optional, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from shellbot_common import TICK, check_number, package_file
from shellbot_common.rotations import rotation_from_quaternion
from shellbot_simulator import Simulator
from shellbot_simulator.core.config import SimulatorConfig, load_config
from snake_description import SnakeVariables, expand, load_variables, snake_profile
from snake_motion.chassis import BodyGeometry, body_poses, chassis_of
from snake_motion.config import load_engine_config
from snake_motion.core import CoreOutput, SnakeCore
from snake_motion.drive import VelocityDrive
from snake_motion.engine import SnakeEngine
from snake_motion.errors import SnakeMotionError
from snake_motion.families import PERIOD
from snake_motion.gait_table import GaitRow, GaitTable, ServoLimits, load_rows, split_request
from snake_motion.odometry import Slip, load_slips, slips_file
from snake_motion.velocity_map import VelocityMap, load_maps

TIMESTEPS = (0.0005, 0.005)  # s, least and greatest: longer ones move the robot differently
SLOW = {"source": 3.0}
"""Time scale of the gaits by servo, 1 where it is not named: the source's servo takes 1.6 to 3.1 s a cycle."""


@dataclass(frozen=True)
class Setup:
    """A robot on a floor."""

    modules: int = 16
    servo: str = "ax"
    friction: float = 0.8
    seed: Optional[int] = 1
    timestep: float = 0.002  #: s, of the physics; contacts are as soft as one above 0.003 s needs
    engine: str = "mujoco"  #: Or `bullet`
    variables_file: Optional[Path] = None  #: Body and servos; those of the packages where a file is not given
    gaits_file: Optional[Path] = None
    maps_folder: Optional[Path] = None
    odometry_file: Optional[Path] = None
    sideways_by: str = "side_winding"  #: Of `SIDEWAYS_BY`
    alpha_scale: float = 1.0  #: Of the winding angles of all gaits
    k_scale: float = 1.0  #: Of their undulations

    def __post_init__(self) -> None:
        """Refuse what no robot or floor can have, before anything is computed with it."""
        _ = self.variables, self.simulator  # both check what they are made of
        check_number("timestep", self.timestep, *TIMESTEPS)
        check_number("alpha_scale", self.alpha_scale, 0.01, 10.0)
        check_number("k_scale", self.k_scale, 0.01, 10.0)

    @property
    def variables(self) -> SnakeVariables:
        """The robot's variables."""
        return load_variables(self.variables_file, modules=self.modules, servo=self.servo)

    @property
    def simulator(self) -> SimulatorConfig:
        """The physics' settings."""
        kind = "simulator_long" if self.modules > 16 else "simulator"
        changes = load_config(package_file("snake_description", f"config/{kind}.yaml"))
        least = 2.0 * self.timestep  # MuJoCo's, of the time constants
        given = (changes.contact_solref, changes.coupling_solref)
        contact, coupling = ((max(time, least), ratio) for time, ratio in given)
        softness = {"contact_solref": contact, "coupling_solref": coupling}
        return changes.replace(friction=self.friction, timestep=self.timestep, engine=self.engine, **softness)

    @property
    def time_scale(self) -> float:
        """All gaits are slower by it."""
        return SLOW.get(self.servo, 1.0)

    @property
    def period(self) -> float:
        """Duration of a cycle of the families of cmd_vel, s."""
        return PERIOD * self.time_scale

    @property
    def gaits(self) -> GaitTable:
        """What this robot can do, and why not the rest of the table."""
        variables, config = self.variables, load_engine_config()
        velocity = variables.chosen_servo.velocity
        limits = ServoLimits(math.radians(variables.joint_limit_deg), velocity, config.acceleration)
        rows = load_rows(self.gaits_file)
        if (self.alpha_scale, self.k_scale) != (1.0, 1.0):
            rows = dict(self._scaled(rows))
        return GaitTable(rows, self.modules, limits, self.time_scale)

    def _scaled(self, rows: Mapping[str, GaitRow]) -> Iterator[Tuple[str, GaitRow]]:
        for name, row in rows.items():
            with contextlib.suppress(SnakeMotionError):  # beyond what a row may have: this robot has no such gait
                yield name, row.scaled(self.alpha_scale, self.k_scale)

    @property
    def digest(self) -> str:
        """Of the user's files, which the digest of the code in a journal does not cover; empty without such files."""
        files = [file for file in (self.variables_file, self.gaits_file, self.odometry_file) if file]
        files += sorted(self.maps_folder.glob("*.yaml")) if self.maps_folder else []
        return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12] if files else ""


@dataclass(frozen=True)
class Truth:
    """The virtual chassis in the world, as the simulator knows it."""

    x: float  #: m
    y: float  #: m
    yaw: float  #: rad
    roll: float  #: rad, of the body about its axis
    up: float  #: Mean component of the bodies' tops along the vertical


class SnakeRun:
    """One robot, from lying straight.

    Parameters
    ----------
    setup : Setup
        Robot, floor, seed.
    maps : mapping of str to VelocityMap, optional
        Of cmd_vel; those of the setup's folder if not given.
    slips : mapping, optional
        Of the odometry; those of the package if not given.
    """

    def __init__(
        self,
        setup: Setup,
        maps: Optional[Dict[str, VelocityMap]] = None,
        slips: Optional[Mapping[Tuple[str, int], Slip]] = None,
    ) -> None:
        variables = setup.variables
        self.setup, self._stall = setup, 0.999 * variables.chosen_servo.effort
        self.simulator = Simulator(expand(variables), snake_profile(variables), setup.simulator)
        self.simulator.reset(seed=setup.seed)
        self.geometry = BodyGeometry(setup.modules, variables.length, variables.width, variables.height)
        maps = load_maps(setup.modules, setup.maps_folder) if maps is None else maps
        drive = VelocityDrive(maps, setup.modules, setup.time_scale, setup.sideways_by)
        engine = SnakeEngine(setup.gaits, load_engine_config())
        slips = load_slips(setup.odometry_file or slips_file(setup.modules)) if slips is None else slips
        self.core = SnakeCore(engine, drive, self.geometry, slips)
        self.output: Optional[CoreOutput] = None
        # since `begin_measuring`:
        self.energy = 0.0  # J, positive mechanical work of the servos
        self.greatest_speed = 0.0  # rad/s, of any joint
        self.greatest_reference = 0.0  # rad/s
        self.saturated = 0.0  # joint seconds at the stall torque
        self.observer: Optional[Callable[[], None]] = None

    def tick(self) -> None:
        """Advance by 10 ms."""
        simulator = self.simulator  # read in parts: a whole state costs as much as the physics
        before = self.output.motion.position if self.output else None
        attitude, effort = simulator.imu_orientation, simulator.joint_effort
        self.output = self.core.step(simulator.time, self._measured(), attitude, effort)
        assert self.output is not None  # time goes forward
        position = self.output.motion.position
        if before is not None:
            self.greatest_reference = max(self.greatest_reference, float(np.abs(position - before).max()) / TICK)
        self._advance(position)
        effort, speed, step = simulator.step_effort, simulator.step_velocity, self.setup.timestep
        self.energy += float(np.maximum(0.0, effort * speed).sum()) * step
        self.greatest_speed = max(self.greatest_speed, float(np.abs(simulator.joint_velocity).max()))
        self.saturated += float(np.count_nonzero(np.abs(effort) >= self._stall)) * step
        if self.observer is not None:
            self.observer()

    def _measured(self) -> np.ndarray:
        """Return the joint angles that the robot knows, (n,) rad."""
        return self.simulator.joint_position

    def _advance(self, position: np.ndarray) -> None:
        """Command joint angles, (n,) rad, and let 10 ms pass."""
        self.simulator.command(position)
        self.simulator.step_tick()

    def request(self, gait: str) -> None:
        """Request a gait of the table, with its direction, as `SnakeEngine.request_gait`.

        Raises
        ------
        EvaluationError
            If there is no such gait, or this robot cannot do it.
        """
        engine = self.core.engine
        try:
            engine.gaits.shape(split_request(gait)[0])  # first: the engine's own sentence is that it stops
        except SnakeMotionError as error:
            raise EvaluationError(str(error)) from None
        accepted, reason = engine.request_gait(gait)
        if not accepted:
            raise EvaluationError(reason)

    def run(self, seconds: float, until: Optional[Callable[[], bool]] = None) -> bool:
        """Advance; returns whether `until` came true, at once when it does."""
        for _ in range(round(seconds / TICK)):
            self.tick()
            if until is not None and until():
                return True
        return False

    def begin_measuring(self) -> None:
        """Begin anew with work, saturation and greatest speeds."""
        self.greatest_speed = self.greatest_reference = self.energy = self.saturated = 0.0

    @property
    def estimate(self) -> Tuple[float, float, float]:
        """Where the robot believes to be: x, y (m) and yaw (rad) of the virtual chassis; NaN before it knows."""
        state = self.output.state if self.output else None
        if state is None:
            return math.nan, math.nan, math.nan
        return float(state.p_odom_chassis[0]), float(state.p_odom_chassis[1]), state.yaw

    @property
    def truth(self) -> Truth:
        """Where the robot really is."""
        state = self.simulator.state()
        rotation = rotation_from_quaternion(state.quat_world_base)
        x, y, _, yaw, roll, up = chassis_of(body_poses(state.q, self.geometry, rotation))
        return Truth(x + float(state.p_world_base[0]), y + float(state.p_world_base[1]), yaw, roll, up)
