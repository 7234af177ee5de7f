# SPDX-License-Identifier: MIT
"""Actionlib server `perform_action` of the humanoid, its service `pause_action` and its list of motions."""

from __future__ import annotations

import threading
from typing import Optional

import actionlib
import rospy
from std_srvs.srv import SetBool, SetBoolRequest, SetBoolResponse

from humanoid_motion.parameters import WalkError
from humanoid_motion.performer import GET_UP, GET_UP_TEXT, SUCCEEDED
from humanoid_motion.robot_core import HumanoidCore
from shellbot_common.action_server_node import ActionServer, end_goal, reject_goal
from shellbot_common.operator_interface_node import OperatorInterface
from shellbot_common.publisher_node import Publisher
from shellbot_msgs.msg import (
    ActionDescription,
    ActionDescriptions,
    PerformActionAction,
    PerformActionFeedback,
    PerformActionGoal,
    PerformActionResult,
)

NAME = "perform_action"
_FEEDBACK = 0.1  # s of simulated time


class MotionServer:
    """Performs the core's motions for operators and programs, by the interface of Shellbot's actions.

    Parameters
    ----------
    core : HumanoidCore
        Whose motions they are.
    lock : Lock
        Of the core. The server's own lock is always taken first.
    operator : OperatorInterface
        Tells whose requests count.
    """

    def __init__(self, core: HumanoidCore, lock: threading.Lock, operator: OperatorInterface) -> None:
        self._core, self._lock, self._operator = core, lock, operator
        self._goal: Optional[actionlib.ServerGoalHandle] = None
        self._reported = -1.0
        self._server = ActionServer(NAME, PerformActionAction, self._on_goal, self._on_cancel, False)
        self._server.start()
        self._pause = rospy.Service("pause_action", SetBool, self._on_pause)
        texts = {**{name: motion.text for name, motion in core.performer.motions.items()}, GET_UP: GET_UP_TEXT}
        self._descriptions = Publisher("actions", ActionDescriptions, queue_size=1, latch=True)
        self._descriptions.publish([ActionDescription(name, text, [], "now") for name, text in sorted(texts.items())])

    def report(self, t: float) -> None:
        """Send feedback or the result; called without the core's lock after each tick at time t, s."""
        if self._goal is None or not self._server.lock.acquire(blocking=False):
            return  # a goal is being taken: a later tick reports
        try:
            with self._lock:
                if not self._report_end() and not 0.0 <= t - self._reported < _FEEDBACK:
                    status = self._core.performer.status
                    assert status is not None
                    self._reported = t
                    feedback = PerformActionFeedback(status.step, status.phase, status.progress, status.paused)
                    self._goal.publish_feedback(feedback)
        finally:
            self._server.lock.release()

    def _report_end(self) -> bool:
        """Send the result of an action that has ended; return whether none is under way."""
        status = self._core.performer.status
        if self._goal is None or status is None or not status.outcome:
            return self._goal is None
        goal, self._goal = self._goal, None
        result = PerformActionResult(status.outcome == SUCCEEDED, status.text)
        end_goal(NAME, goal, status.outcome, result, status.text)
        return True

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
                self._goal, self._reported = goal, -1.0
                goal.set_accepted()
            rospy.loginfo(f"{NAME}: {text}")
        except WalkError as error:
            reject_goal(NAME, goal, PerformActionResult(False, str(error)), str(error))

    def _on_cancel(self, goal: actionlib.ServerGoalHandle) -> None:
        with self._lock:
            if goal == self._goal:
                self._core.cancel()

    def _on_pause(self, request: SetBoolRequest) -> SetBoolResponse:
        reason = self._operator.refusal(request)
        try:
            if reason:
                raise WalkError(reason)
            with self._lock:
                return SetBoolResponse(True, self._core.performer.pause(request.data))
        except WalkError as error:
            return SetBoolResponse(False, str(error))
