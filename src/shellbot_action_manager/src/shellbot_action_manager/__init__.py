# SPDX-License-Identifier: MIT
"""What Shellbot does: modes, gaits, body pose, and where it is by its own feet."""

from shellbot_action_manager.body.geometry import RobotGeometry, load_geometry
from shellbot_action_manager.config import ActionManagerConfig, load_config
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.errors import ActionManagerError, ConfigError, UnknownGaitError
from shellbot_action_manager.estimation.odometry import OdometryCore, OdometryState
from shellbot_action_manager.gait.gait_table import Gait, load_gaits
from shellbot_action_manager.gait.walkspace import WalkspaceLimits
from shellbot_action_manager.interface import ActionOutput, ContactEstimate, Feedback, OperatorCommands
from shellbot_action_manager.modes.mode_machine import ModeStatus
from shellbot_action_manager.modes.mode_table import Mode

__all__ = [
    "ActionManagerConfig",
    "ActionManagerCore",
    "ActionManagerError",
    "ActionOutput",
    "ConfigError",
    "ContactEstimate",
    "Feedback",
    "Gait",
    "Mode",
    "ModeStatus",
    "OdometryCore",
    "OdometryState",
    "OperatorCommands",
    "RobotGeometry",
    "UnknownGaitError",
    "WalkspaceLimits",
    "load_config",
    "load_gaits",
    "load_geometry",
]
