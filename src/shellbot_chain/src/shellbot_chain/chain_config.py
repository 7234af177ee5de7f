# SPDX-License-Identifier: MIT
"""What a chain is built from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Mapping, Optional, Tuple

from robot_evaluation.errors import DefinitionError
from shellbot_action_manager.body.rolling import RollingConfig
from shellbot_common import Settings, choice, number
from shellbot_common.seed_streams import GREATEST_SEED
from shellbot_simulator.core.config import ENGINES, Box, SimulatorConfig, load_config
from shellbot_simulator.core.errors import SimulatorError
from shellbot_simulator.core.terrain import terrain

MODE_LIMIT_S = 40.0  # s, simulated, to reach a mode


@dataclass(frozen=True)
class ChainConfig(Settings, error=DefinitionError):
    """What a chain is built from."""

    variant: str = "simulation"  #: simulation (36 joints) or walker (24)
    #: Of the simulator's start and sensor noise; None: no noise
    seed: Optional[int] = number(0, GREATEST_SEED, default=0, hint="None for no noise")
    engine: str = choice(ENGINES, default="mujoco")  #: Of the simulator
    friction: float = number(1e-3, math.inf, default=0.8)  #: Sliding friction of every contact
    timestep: float = 0.002  #: Of the physics, s
    gait: str = "tripod"  #: Of the action manager's gait table
    #: Fraction of the motion's torques that is fed forward; None: that of the action manager's file
    feed_forward: Optional[float] = number(0.0, 1.0, default=None, hint="None for the action manager's own setting")
    rolling: Optional[RollingConfig] = None  #: Rolling as a ball; None: that of the action manager's file
    start_mode: str = "hexapod"  #: Mode that the robot enters at the start: hexapod, stand or sit
    action_folders: Tuple[str, ...] = ()  #: Folders with actions of one's own
    self_collision: bool = True  #: Whether the robot's parts collide with each other
    slope_deg: float = 0.0  #: How steeply the floor rises
    slope_azimuth_deg: float = 0.0  #: Where it rises to
    boxes: Tuple[Box, ...] = ()  #: That stand on the floor
    #: Ground by name, in place of boxes and, where it has them, slope and friction; what is drawn follows from the seed
    terrain: str = "flat"
    mass_scale: float = 1.0  #: Mass of every link against the description
    #: Changes of the description's variables: `{"fan_drive.reduction": 1.0}`; `OnboardChain` refuses them
    design: Mapping[str, float] = field(default_factory=dict)
    #: Settings of the simulator's servos, supply, windings and noise (simulator.yaml): `{"servo_margin_deg": 0.29}`;
    #: `OnboardChain` refuses them
    servos: Mapping[str, float] = field(default_factory=dict)
    #: Torque limit of every servo against the description; `OnboardChain` refuses it: its servos have their own
    torque_scale: float = number(0.1, 2.0, default=1.0)
    #: Extra ticks by which a command reaches the servos late; `OnboardChain` refuses it: its bus has its own latency
    command_latency: int = number(0, 20, "ticks", default=0)
    #: Standard deviation of the constant errors of the joints' zeros, drawn from the seed; one error for the six fans
    joint_offset_deg: float = number(0.0, 5.0, "deg", default=0.0)
    raw_imu: bool = False  #: Whether the IMU gives no orientation of its own, so that the attitude filter runs
    #: Standard deviations of the constant biases of gyroscope and accelerometer, drawn from the seed
    gyro_bias_std_deg: float = number(0.0, 20.0, "deg/s", default=0.0)
    accelerometer_bias_std: float = number(0.0, 5.0, "m/s^2", default=0.0)
    imu_latency: int = number(0, 20, "ticks", default=0)  #: Ticks by which the IMU's readings come late
    #: By which the robot reckons its IMU to be late, s; None: that of the action manager's file
    attitude_latency: Optional[float] = number(0.0, 0.1, "s", default=None, hint="None for the file's")
    record: bool = True  #: Whether every tick is kept for `Chain.trace`

    def conflict(self) -> str:
        """Return that the design has a friction, which only Gazebo takes from there, if it does."""
        if "contact.friction" not in self.design:
            return ""
        return "design has contact.friction, which is Gazebo's; give friction, which is that of every link here"

    def physics(self) -> SimulatorConfig:
        """Return the simulator's settings with what this configuration says of floor, bodies and IMU.

        Raises
        ------
        DefinitionError
            If the simulator refuses a value; the message is the simulator's.
        """
        try:
            settings = load_config().replace(
                engine=self.engine,
                friction=self.friction,
                timestep=self.timestep,
                self_collision=self.self_collision,
                slope_deg=self.slope_deg,
                slope_azimuth_deg=self.slope_azimuth_deg,
                boxes=self.boxes,
                mass_scale=self.mass_scale,
                imu_orientation=not self.raw_imu,
                gyroscope_bias_std=math.radians(self.gyro_bias_std_deg),
                accelerometer_bias_std=self.accelerometer_bias_std,
                imu_latency=self.imu_latency,
                **self.servos,
            )
            if self.terrain == "flat":
                return settings
            return settings.replace(**terrain(self.terrain).settings(self.seed or 0))
        except SimulatorError as error:
            raise DefinitionError(str(error)) from error
