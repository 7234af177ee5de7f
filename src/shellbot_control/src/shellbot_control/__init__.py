# SPDX-License-Identifier: MIT
"""Joint space, common to simulators and servos: gains, limits, the filter of commands, its watchdog."""

from shellbot_control.arrival import ArrivalStatus, arrival_status
from shellbot_control.catch_up import CatchUp
from shellbot_control.command_filter import CommandFilter, FilteredCommand
from shellbot_control.command_filter_parameters import CommandFilterParameters
from shellbot_control.effort_offset import EffortOffset
from shellbot_control.errors import ConfigurationError, ControlError, TargetsError
from shellbot_control.gains import Gains, GainTable, check_controller_joints, controller_stiffness
from shellbot_control.joint_limits import JointLimits
from shellbot_control.joint_order import JointOrder
from shellbot_control.limiting import clamp_targets, rate_limit
from shellbot_control.watchdog import Watchdog

__all__ = [
    "ArrivalStatus",
    "CatchUp",
    "CommandFilter",
    "CommandFilterParameters",
    "ConfigurationError",
    "ControlError",
    "EffortOffset",
    "FilteredCommand",
    "GainTable",
    "Gains",
    "JointLimits",
    "JointOrder",
    "TargetsError",
    "Watchdog",
    "arrival_status",
    "check_controller_joints",
    "controller_stiffness",
    "clamp_targets",
    "rate_limit",
]
