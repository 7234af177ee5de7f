# SPDX-License-Identifier: MIT
"""What the robot tells, taken over by the command model: the same for every program of the operator."""

from __future__ import annotations

from typing import List

from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.effects import Effect
from shellbot_teleop.limits import Limits
from shellbot_teleop.link_events import BodyPoseSeen, LinkEvent, OperatorSeen, StoppedSeen, UpperShellsSeen
from shellbot_teleop.robot_monitor import ModeInfo


def observe(model: CommandModel, event: LinkEvent, t: float) -> List[Effect]:
    """Take over what concerns the command, at time `t` (s); the rest is for the program alone."""
    if isinstance(event, StoppedSeen):
        return model.observe_stopped(event.stopped, t)
    if isinstance(event, OperatorSeen):
        return model.observe_operator(event.name, event.is_us)
    if isinstance(event, ModeInfo):
        model.observe_mode(event.name)
    elif isinstance(event, Limits):
        model.observe_limits(event)
    elif isinstance(event, BodyPoseSeen):
        model.observe_body_pose(event.pose)
    elif isinstance(event, UpperShellsSeen):
        model.observe_upper_shells(event.shells)
    return []
