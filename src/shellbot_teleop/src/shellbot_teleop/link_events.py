# SPDX-License-Identifier: MIT
"""What the link to ROS tells window and terminal; toolkit-free and ROS-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple, Union

from shellbot_teleop.effects import Notice
from shellbot_teleop.limits import Limits
from shellbot_teleop.robot_monitor import ModeInfo


@dataclass(frozen=True)
class LinkState:
    """The link came or went; `ended` when this node may not go on."""

    connected: bool
    text: str
    ended: bool = False


@dataclass(frozen=True)
class StoppedSeen:
    """Whether the emergency stop is latched."""

    stopped: bool


@dataclass(frozen=True)
class OperatorSeen:
    """Node of the operator in control of the robot; empty: no operator is."""

    name: str
    is_us: bool


@dataclass(frozen=True)
class BodyPoseSeen:
    """Somebody else commanded a body pose (x, y, z, roll, pitch, yaw)."""

    pose: Tuple[float, ...]


@dataclass(frozen=True)
class UpperShellsSeen:
    """Somebody else commanded the upper shells (height, angle)."""

    shells: Tuple[float, ...]


LinkEvent = Union[LinkState, StoppedSeen, OperatorSeen, BodyPoseSeen, UpperShellsSeen, ModeInfo, Limits, Notice]
