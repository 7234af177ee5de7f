# SPDX-License-Identifier: MIT
"""Joint space, common to all backends: gains, limits, watchdog, the backend contract and its perfect mock."""

from shellbot_control.arrival import ArrivalStatus, arrival_status
from shellbot_control.backend import JointSample, RobotBackend
from shellbot_control.backend_contract import CHECKS, BackendUnderTest, ContractViolation, check_backend
from shellbot_control.command_filter import CommandFilter, FilteredCommand
from shellbot_control.command_filter_parameters import CommandFilterParameters
from shellbot_control.errors import ConfigurationError, ControlError, TargetsError
from shellbot_control.gains import CONTROLLER, JOINT_CLASSES, Gains, GainTable, controller_joints, joint_class
from shellbot_control.joint_limits import JointLimits
from shellbot_control.joint_order import JointOrder
from shellbot_control.limiting import clamp_targets, rate_limit
from shellbot_control.perfect_backend import PerfectBackend
from shellbot_control.watchdog import Watchdog

__all__ = [
    "CHECKS",
    "CONTROLLER",
    "JOINT_CLASSES",
    "ArrivalStatus",
    "BackendUnderTest",
    "CommandFilter",
    "CommandFilterParameters",
    "ConfigurationError",
    "ContractViolation",
    "ControlError",
    "FilteredCommand",
    "GainTable",
    "Gains",
    "JointLimits",
    "JointOrder",
    "JointSample",
    "PerfectBackend",
    "RobotBackend",
    "TargetsError",
    "Watchdog",
    "arrival_status",
    "check_backend",
    "clamp_targets",
    "controller_joints",
    "joint_class",
    "rate_limit",
]
