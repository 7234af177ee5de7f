# SPDX-License-Identifier: MIT
"""Actionlib server `perform_action` of the humanoid, its service `pause_action` and its list of motions."""

from __future__ import annotations

import threading
from typing import Optional, Tuple

import actionlib
import rospy

from humanoid_motion.parameters import WalkError
from humanoid_motion.performer import GET_UP, GET_UP_TEXT
from humanoid_motion.robot_core import HumanoidCore
from shellbot_common.operator_interface_node import OperatorInterface
from shellbot_common.perform_action_node import NAME, PerformAction
from shellbot_common.performance import PerformanceStatus
from shellbot_msgs.msg import ActionDescription, PerformActionGoal


class MotionServer(PerformAction):
    """Performs the core's motions for operators and programs, by the interface of Shellbot's actions.

    Parameters
    ----------
    core : HumanoidCore
        Whose motions they are.
    lock : Lock
        Of the core.
    operator : OperatorInterface
        Tells whose requests count.
    """

    def __init__(self, core: HumanoidCore, lock: threading.Lock, operator: OperatorInterface) -> None:
        self._core = core
        super().__init__(lock, operator)
        texts = {**{name: motion.text for name, motion in core.performer.motions.items()}, GET_UP: GET_UP_TEXT}
        self._descriptions.publish([ActionDescription(name, text, [], "now") for name, text in sorted(texts.items())])

    def _status(self) -> Optional[PerformanceStatus]:
        return self._core.performer.status

    def _on_goal(self, goal: actionlib.ServerGoalHandle) -> None:
        given: PerformActionGoal = goal.get_goal()
        reason = self._operator.refusal(goal.status_tracker.goal)
        try:
            if reason:
                raise WalkError(reason)
            if given.parameters or given.parameter_names:
                raise WalkError(f"{given.name} has no parameters; leave them out")
            with self._lock:
                self._report_end()  # of one that ended since the last tick
                text = self._core.perform(given.name, given.speed or 1.0)
                self._begin(goal)
            rospy.loginfo(f"{NAME}: {text}")
        except WalkError as error:
            self._reject(goal, str(error))

    def _on_cancel(self, goal: actionlib.ServerGoalHandle) -> None:
        with self._lock:
            if goal == self._goal:
                self._core.cancel()

    def _pause(self, paused: bool) -> Tuple[bool, str]:
        try:
            return True, self._core.performer.pause(paused)
        except WalkError as error:
            return False, str(error)
