# SPDX-License-Identifier: MIT
"""The actions that the running robot announces, whatever robot it is."""

from __future__ import annotations

import time
from typing import List

import rospy

from robot_evaluation.errors import EvaluationError
from robot_evaluation.running_robot_node import PERIOD, begin_node
from shellbot_action_manager.actions.library import Action, Parameter
from shellbot_msgs.msg import ActionDescriptions, ActionParameter

_START = "start the robot, for example with scripts/sim"
_PATIENCE = 10.0  # s of wall clock


def announced_actions() -> List[Action]:
    """Return the actions on the latched topic `actions`.

    Raises
    ------
    SettingsError
        If there is no ROS master.
    EvaluationError
        If no robot announces actions.
    """
    begin_node(_START)
    received: List[ActionDescriptions] = []
    topic = rospy.resolve_name("actions")
    subscriber = rospy.Subscriber(topic, ActionDescriptions, received.append, queue_size=1)
    end = time.monotonic() + _PATIENCE
    while not received and time.monotonic() < end:
        time.sleep(PERIOD)
    subscriber.unregister()
    if not received:
        raise EvaluationError(
            f"no actions were announced on {topic} within {_PATIENCE:g} s: the running robot has none, or none runs; "
            f"{_START}"
        )
    return [
        Action(action.name, action.text, {p.name: _parameter(p) for p in action.parameters}, (), cancel=action.cancel)
        for action in received[0].actions
    ]


def _parameter(p: ActionParameter) -> Parameter:
    return Parameter(p.default_value, p.low, p.high, p.unit, p.text)
