# SPDX-License-Identifier: MIT
"""Actionlib server `perform_action` with its services `pause_action` and `undo_action`: one action at a time."""

from __future__ import annotations

import threading
from collections import deque
from typing import Deque, Optional, Tuple

import actionlib
import rospy
from std_srvs.srv import Trigger, TriggerRequest, TriggerResponse

from shellbot_action_manager.actions.plan import Plan
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.errors import ActionError
from shellbot_action_manager.node.action_manager_conversions import descriptions_to_message
from shellbot_common.operator_interface_node import OperatorInterface
from shellbot_common.perform_action_node import NAME, PerformAction
from shellbot_common.performance import Outcome, PerformanceStatus
from shellbot_msgs.msg import PerformActionGoal, PerformActionResult

LONGEST_QUEUE = 20


class PerformActionServer(PerformAction):
    """Asks the core to perform, and reports how far it is.

    Parameters
    ----------
    core : ActionManagerCore
        Whose actions they are.
    lock : RLock
        Of the core.
    operator : OperatorInterface
        Tells whose requests count.
    """

    def __init__(self, core: ActionManagerCore, lock: threading.RLock, operator: OperatorInterface) -> None:
        self._core = core
        self._queue: Deque[Tuple[actionlib.ServerGoalHandle, Plan, float]] = deque()
        super().__init__(lock, operator)
        self._undo_service = rospy.Service("undo_action", Trigger, self._on_undo)

    def announce(self) -> None:
        """Tell operators which actions there are."""
        self._descriptions.publish(descriptions_to_message(self._core.config.actions))

    def _status(self) -> Optional[PerformanceStatus]:
        return self._core.performer.status

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
                accepted, text = self._begin_plan(goal, plan, given.speed or 1.0)
        except ActionError as error:
            accepted, text = False, str(error)
        if not accepted:
            self._reject(goal, text)

    def _begin_plan(self, goal: actionlib.ServerGoalHandle, plan: Plan, speed: float) -> Tuple[bool, str]:
        accepted, text = self._core.begin_action(plan, speed)
        if accepted:
            self._begin(goal)
        return accepted, text

    def _on_cancel(self, goal: actionlib.ServerGoalHandle) -> None:
        with self._lock:
            if goal == self._goal:
                reason = self._core.performer.cancel()
                if reason:
                    rospy.logwarn(f"{NAME}: {reason}")
            elif any(waiting == goal for waiting, _, _ in self._queue):
                self._queue = deque(row for row in self._queue if row[0] != goal)
                goal.set_canceled(PerformActionResult(False, "taken out of the queue"), "taken out of the queue")

    def _pause(self, paused: bool) -> Tuple[bool, str]:
        performer = self._core.performer
        if not performer.active or performer.status is None:
            return False, f"no action is being performed; send a goal to {NAME} first"
        performer.pause(paused)
        return True, f"{performer.status.name} {'pauses' if paused else 'goes on'}"

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
        super()._end(outcome, text)
        while self._queue and self._goal is None:
            waiting, plan, speed = self._queue.popleft()
            if outcome is Outcome.ABORTED:
                self._reject(waiting, f"the action before it was aborted: {text}")
                continue
            accepted, reason = self._begin_plan(waiting, plan, speed)
            if not accepted:
                self._reject(waiting, reason)
