# SPDX-License-Identifier: MIT
"""What the command model wants done; the link to ROS, or a test, carries it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple, Union


@dataclass(frozen=True)
class PublishTwist:
    """Send cmd_vel: m/s forward, m/s to the left, rad/s to the left."""

    x: float
    y: float
    yaw: float


ZERO_TWIST = PublishTwist(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class PublishBodyPose:
    """Send body_pose, relative to rest: x, y, z in m, roll, pitch, yaw in rad."""

    pose: Tuple[float, ...]


@dataclass(frozen=True)
class PublishUpperShells:
    """Send upper_shells: height in m, opening angle in rad."""

    height: float
    angle: float


@dataclass(frozen=True)
class PublishGait:
    """Send the name of the gait."""

    name: str


@dataclass(frozen=True)
class RequestMode:
    """Ask for a mode."""

    name: str


@dataclass(frozen=True)
class EmergencyStop:
    """Stop everything now, latched."""


@dataclass(frozen=True)
class Rearm:
    """Take the emergency stop back."""


@dataclass(frozen=True)
class TakeControl:
    """Take control of the robot, or give it up."""

    take: bool = True


@dataclass(frozen=True)
class Heartbeat:
    """Send the sign of life of the operator in control."""


@dataclass(frozen=True)
class Quit:
    """End the program."""


@dataclass(frozen=True)
class LayoutChanged:
    """Another key layout holds now."""

    name: str


@dataclass(frozen=True)
class ToggleHelp:
    """Show all keys, or hide them again."""


@dataclass(frozen=True)
class OfActions:
    """What a key does to the robot's actions: the program that shows them carries it out."""


@dataclass(frozen=True)
class ShowActions(OfActions):
    """Show the list of the robot's actions, or hide it again."""


@dataclass(frozen=True)
class TogglePause(OfActions):
    """Pause the present action, or let it go on."""


@dataclass(frozen=True)
class CancelAction(OfActions):
    """Take the present action back to rest."""


@dataclass(frozen=True)
class Notice:
    """Tell the operator; `level` is ``info``, ``warn`` or ``error``."""

    level: str
    text: str


Effect = Union[
    PublishTwist,
    PublishBodyPose,
    PublishUpperShells,
    PublishGait,
    RequestMode,
    EmergencyStop,
    Rearm,
    TakeControl,
    Heartbeat,
    Quit,
    LayoutChanged,
    ToggleHelp,
    OfActions,
    Notice,
]
