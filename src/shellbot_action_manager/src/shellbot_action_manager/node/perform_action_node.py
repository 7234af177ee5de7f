# SPDX-License-Identifier: MIT
"""Actionlib server `perform_action` with its services `pause_action` and `undo_action`: one action at a time."""

from __future__ import annotations

import threading
from collections import deque
from typing import Deque, Optional, Tuple

import actionlib
import rospy
from std_srvs.srv import SetBool, SetBoolRequest, SetBoolResponse, Trigger, TriggerRequest, TriggerResponse

from shellbot_action_manager.actions.performance import Outcome
from shellbot_action_manager.actions.plan import Plan
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.errors import ActionError
from shellbot_action_manager.node.action_manager_conversions import descriptions_to_message
from shellbot_common.action_server_node import ActionServer, end_goal, reject_goal
from shellbot_common.operator_interface_node import OperatorInterface
from shellbot_common.publisher_node import Publisher
from shellbot_msgs.msg import (
    ActionDescriptions,
    PerformActionAction,
    PerformActionFeedback,
    PerformActionGoal,
    PerformActionResult,
)

NAME = "perform_action"
FEEDBACK = 0.1  # s of simulated time
LONGEST_QUEUE = 20


class PerformActionServer:
    """Asks the core to perform, and reports how far it is.

    Parameters
    ----------
    core : ActionManagerCore
        Whose actions they are.
    lock : RLock
        Of the core. The server's own lock is always taken first.
    operator : OperatorInterface
        Tells whose requests count.
    """

    def __init__(self, core: ActionManagerCore, lock: threading.RLock, operator: OperatorInterface) -> None:
        self._core, self._lock, self._operator = core, lock, operator
        self._goal: Optional[actionlib.ServerGoalHandle] = None
        self._queue: Deque[Tuple[actionlib.ServerGoalHandle, Plan, float]] = deque()
        self._last_feedback = -1.0
        self._server = ActionServer(NAME, PerformActionAction, self._on_goal, self._on_cancel, False)
        self._server.start()
        self._descriptions = Publisher("actions", ActionDescriptions, queue_size=1, latch=True)
        self._pause_service = rospy.Service("pause_action", SetBool, self._on_pause)
        self._undo_service = rospy.Service("undo_action", Trigger, self._on_undo)

    def announce(self) -> None:
        """Tell operators which actions there are."""
        self._descriptions.publish(descriptions_to_message(self._core.config.actions))

    def report(self, t: float) -> None:
        """Send feedback or the result; called without the core's lock after each tick at time t, s."""
        if self._goal is None or not self._server.lock.acquire(blocking=False):
            return  # another goal is being planned: a later tick reports
        try:
            with self._lock:
                self._report(t)
        finally:
            self._server.lock.release()

    def _report_end(self) -> bool:
        """Send the result of the action if it has ended; return whether there is none under way."""
        status = self._core.performer.status
        if self._goal is not None and status is None:
            self._end(Outcome.ABORTED, "the simulation was reset")
        elif self._goal is not None and status is not None and status.outcome is not None:
            self._end(status.outcome, status.text)
        else:
            return self._goal is None
        return True

    def _report(self, t: float) -> None:
        if self._report_end():
            return
        status, goal = self._core.performer.status, self._goal
        assert status is not None
        assert goal is not None
        if not 0.0 <= t - self._last_feedback < FEEDBACK:
            self._last_feedback = t
            goal.publish_feedback(PerformActionFeedback(status.step, status.phase, status.progress, status.paused))

    def _on_goal(self, goal: actionlib.ServerGoalHandle) -> None:
        given: PerformActionGoal = goal.get_goal()
        reason = self._operator.refusal(goal.status_tracker.goal)
        if reason:
            self._reject(goal, reason)
            return
        try:
            action = self._core.config.actions.find(given.name)
            parameters = action.assign(given.parameter_names, given.parameters)
            plan = self._core.plan_action(given.name, parameters)  # while the ticks go on
            with self._lock:
                self._report_end()  # of an action that ended while this one was planned
                if given.queued and self._goal is not None:
                    if len(self._queue) >= LONGEST_QUEUE:
                        raise ActionError(f"{LONGEST_QUEUE} actions wait already; send it again when one has begun")
                    self._queue.append((goal, plan, given.speed or 1.0))
                    return  # it stays pending
                accepted, text = self._begin(goal, plan, given.speed or 1.0)
        except ActionError as error:
            accepted, text = False, str(error)
        if not accepted:
            self._reject(goal, text)

    def _begin(self, goal: actionlib.ServerGoalHandle, plan: Plan, speed: float) -> Tuple[bool, str]:
        accepted, text = self._core.begin_action(plan, speed)
        if accepted:
            self._goal, self._last_feedback = goal, -1.0
            goal.set_accepted()
        return accepted, text

    def _reject(self, goal: actionlib.ServerGoalHandle, text: str) -> None:
        reject_goal(NAME, goal, PerformActionResult(False, text), text)

    def _on_cancel(self, goal: actionlib.ServerGoalHandle) -> None:
        with self._lock:
            if goal == self._goal:
                reason = self._core.performer.cancel()
                if reason:
                    rospy.logwarn(f"{NAME}: {reason}")
            elif any(waiting == goal for waiting, _, _ in self._queue):
                self._queue = deque(row for row in self._queue if row[0] != goal)
                goal.set_canceled(PerformActionResult(False, "taken out of the queue"), "taken out of the queue")

    def _on_pause(self, request: SetBoolRequest) -> SetBoolResponse:
        reason = self._operator.refusal(request)
        if reason:
            return SetBoolResponse(False, reason)
        with self._lock:
            performer = self._core.performer
            if not performer.active or performer.status is None:
                return SetBoolResponse(False, "no action is being performed; send a goal to perform_action first")
            performer.pause(request.data)
            return SetBoolResponse(True, f"{performer.status.name} {'pauses' if request.data else 'goes on'}")

    def _on_undo(self, request: TriggerRequest) -> TriggerResponse:
        reason = self._operator.refusal(request)
        if reason:
            return TriggerResponse(False, reason)
        with self._lock:
            reason = self._core.performer.undo()
            status = self._core.performer.status
        if reason or status is None:
            return TriggerResponse(False, reason)
        return TriggerResponse(True, f"{status.step} is undone, then {status.name} pauses")

    def _end(self, outcome: Outcome, text: str) -> None:
        goal, self._goal = self._goal, None
        assert goal is not None
        end_goal(NAME, goal, outcome.value, PerformActionResult(outcome is Outcome.SUCCEEDED, text), text)
        while self._queue and self._goal is None:
            waiting, plan, speed = self._queue.popleft()
            if outcome is Outcome.ABORTED:
                self._reject(waiting, f"the action before it was aborted: {text}")
                continue
            accepted, reason = self._begin(waiting, plan, speed)
            if not accepted:
                self._reject(waiting, reason)
