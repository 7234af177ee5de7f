# SPDX-License-Identifier: MIT
"""The embedded simulator: MuJoCo physics behind the names of gazebo_ros and ros_control."""

from . import _mujoco  # noqa: F401  says what to do if it is missing or too old
from .core.config import SimulatorConfig, load_config
from .core.errors import (
    CommandError,
    ConfigError,
    ModelError,
    ObstacleError,
    RenderError,
    SimulationDivergedError,
    SimulatorError,
)
from .core.obstacles import Obstacle
from .core.servo import PidGains
from .core.simulator import Simulator
from .core.state import GroundContacts, ImuSample, SimState

__all__ = [
    "CommandError",
    "ConfigError",
    "GroundContacts",
    "ImuSample",
    "ModelError",
    "Obstacle",
    "ObstacleError",
    "PidGains",
    "RenderError",
    "SimState",
    "SimulationDivergedError",
    "Simulator",
    "SimulatorConfig",
    "SimulatorError",
    "load_config",
]
