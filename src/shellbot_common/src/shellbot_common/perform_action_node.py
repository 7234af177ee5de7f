# SPDX-License-Identifier: MIT
"""What every actionlib server `perform_action` does, with its service `pause_action`: one action at a time."""

from __future__ import annotations

from typing import Any, ContextManager, Optional, Tuple

import actionlib
import rospy
from std_srvs.srv import SetBool, SetBoolRequest, SetBoolResponse

from shellbot_common.action_server_node import ActionServer, end_goal, reject_goal
from shellbot_common.operator_interface_node import OperatorInterface
from shellbot_common.performance import Outcome, PerformanceStatus
from shellbot_common.publisher_node import Publisher
from shellbot_msgs.msg import ActionDescriptions, PerformActionAction, PerformActionFeedback, PerformActionResult

NAME = "perform_action"
_FEEDBACK = 0.1  # s of simulated time


class PerformAction:
    """The server; a subclass, which makes its core before this is initialised, performs.

    Parameters
    ----------
    lock : context manager
        Of the core. The server's own lock is always taken first.
    operator : OperatorInterface
        Tells whose requests count.
    """

    def __init__(self, lock: ContextManager[Any], operator: OperatorInterface) -> None:
        self._lock, self._operator = lock, operator
        self._goal: Optional[actionlib.ServerGoalHandle] = None  # of the action under way
        self._reported = -1.0  # s, of the last feedback
        self._descriptions = Publisher("actions", ActionDescriptions, queue_size=1, latch=True)
        self._server = ActionServer(NAME, PerformActionAction, self._on_goal, self._on_cancel, False)
        self._server.start()
        self._pause_service = rospy.Service("pause_action", SetBool, self._on_pause)

    def report(self, t: float) -> None:
        """Send feedback or the result; called without the core's lock after each tick at time t, s."""
        if self._goal is None or not self._server.lock.acquire(blocking=False):
            return  # a goal is being taken: a later tick reports
        try:
            with self._lock:
                is_due, status = not 0.0 <= t - self._reported < _FEEDBACK, self._status()
                if not self._report_end() and is_due and status is not None:
                    self._reported = t
                    feedback = PerformActionFeedback(status.step, status.phase, status.progress, status.paused)
                    self._goal.publish_feedback(feedback)
        finally:
            self._server.lock.release()

    def _status(self) -> Optional[PerformanceStatus]:
        """Return how far the core's action is; None before the first."""
        raise NotImplementedError

    def _on_goal(self, goal: actionlib.ServerGoalHandle) -> None:
        raise NotImplementedError

    def _on_cancel(self, goal: actionlib.ServerGoalHandle) -> None:
        raise NotImplementedError

    def _pause(self, paused: bool) -> Tuple[bool, str]:
        """Let the action pause or continue; return whether it does, and a sentence."""
        raise NotImplementedError

    def _report_end(self) -> bool:
        """Send the result of an action that has ended; return whether none is under way."""
        status = self._status()
        if self._goal is None:
            return True
        if status is None:
            self._end(Outcome.ABORTED, "the simulation was reset")
        elif status.outcome:
            self._end(status.outcome, status.text)
        else:
            return False
        return True

    def _begin(self, goal: actionlib.ServerGoalHandle) -> None:
        self._goal, self._reported = goal, -1.0
        goal.set_accepted()

    def _reject(self, goal: actionlib.ServerGoalHandle, text: str) -> None:
        reject_goal(NAME, goal, PerformActionResult(False, text), text)

    def _end(self, outcome: Outcome, text: str) -> None:
        goal, self._goal = self._goal, None
        end_goal(NAME, goal, outcome, PerformActionResult(outcome is Outcome.SUCCEEDED, text), text)

    def _on_pause(self, request: SetBoolRequest) -> SetBoolResponse:
        reason = self._operator.refusal(request)
        if reason:
            return SetBoolResponse(False, reason)
        with self._lock:
            return SetBoolResponse(*self._pause(request.data))
