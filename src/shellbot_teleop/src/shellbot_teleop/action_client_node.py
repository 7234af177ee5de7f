# SPDX-License-Identifier: MIT
"""Client of the robot's actions: sends goals to `perform_action`, pauses, cancels; follows what anybody performs."""

from __future__ import annotations

import threading
from typing import Any, Callable, List, Mapping

import actionlib
import rospy
from actionlib_msgs.msg import GoalStatus
from std_srvs.srv import SetBool

from shellbot_msgs.msg import (
    ActionDescriptions,
    PerformActionAction,
    PerformActionActionFeedback,
    PerformActionActionGoal,
    PerformActionActionResult,
    PerformActionGoal,
)
from shellbot_teleop.action_model import (
    ActionEntry,
    ActionNews,
    ActionParameter,
    ActionsSeen,
    FeedbackSeen,
    GoalSeen,
    ResultSeen,
)
from shellbot_teleop.effects import Notice
from shellbot_teleop.texts import tr

SERVER = "perform_action"
_NO_SERVER = tr("perform_action does not answer: this robot knows no actions, or its action manager is not running")


class ActionClient:
    """The operator's end of the robot's actions; before `join` nothing is sent.

    Parameters
    ----------
    on_news : callable
        Called with an ActionNews, from ROS threads.
    on_notice : callable
        Called with a Notice for the operator, from ROS threads.
    timeout : float
        How long a service or server may take to be found, s.
    """

    def __init__(
        self, on_news: Callable[[ActionNews], None], on_notice: Callable[[Notice], None], timeout: float
    ) -> None:
        self._on_news, self._on_notice, self._timeout = on_news, on_notice, timeout
        self._client: Any = None  # an actionlib.ActionClient once joined
        self._goals: List[Any] = []  # a handle that is dropped is no longer followed
        self._subscribers: List[rospy.Subscriber] = []

    def join(self) -> None:
        """Follow the robot's actions, at a restarted master anew. The node must be initialised."""
        if self._client is not None:
            self.close()
            self._on_news(ActionsSeen(()))
        self._client = actionlib.ActionClient(SERVER, PerformActionAction)
        self._subscribers = [
            rospy.Subscriber("actions", ActionDescriptions, self._on_actions, queue_size=1),
            rospy.Subscriber(f"{SERVER}/goal", PerformActionActionGoal, self._on_goal, queue_size=20),
            rospy.Subscriber(f"{SERVER}/feedback", PerformActionActionFeedback, self._on_feedback, queue_size=5),
            rospy.Subscriber(f"{SERVER}/result", PerformActionActionResult, self._on_result, queue_size=20),
        ]

    def close(self) -> None:
        """Leave the topics; a running action goes on."""
        if self._client is not None:
            self._client.stop()
        for subscriber in self._subscribers:
            subscriber.unregister()

    def run(self, name: str, parameters: Mapping[str, float]) -> None:
        """Send an action; returns at once, the news say what becomes of it."""

        def send() -> None:
            if not self._client.wait_for_server(rospy.Duration(self._timeout)):
                self._on_notice(Notice("error", f"{name}: {_NO_SERVER}."))
                return
            goal = PerformActionGoal(
                name=name, speed=1.0, parameters=list(parameters.values()), parameter_names=list(parameters)
            )
            self._goals = [self._client.send_goal(goal)]

        self._in_thread(send)

    def pause(self, paused: bool) -> None:
        """Hold the present action where it is, or let it go on."""

        def call() -> None:
            try:
                rospy.wait_for_service("pause_action", timeout=self._timeout)
                answer = rospy.ServiceProxy("pause_action", SetBool)(paused)
            except (rospy.ROSException, rospy.ServiceException, OSError) as error:
                self._on_notice(
                    Notice("error", tr("{service} did not answer: {error}.", service="pause_action", error=error))
                )
                return
            self._on_notice(
                Notice("info" if answer.success else "warn", tr("Action: {message}.", message=answer.message))
            )

        self._in_thread(call)

    def cancel(self) -> None:
        """Take the present action back to rest, whoever started it, and drop those that wait."""
        if self._client is not None:
            self._client.cancel_all_goals()

    def _in_thread(self, work: Callable[[], None]) -> None:
        if self._client is not None:
            threading.Thread(target=work, name="actions_call", daemon=True).start()

    def _on_actions(self, message: ActionDescriptions) -> None:
        entries = tuple(
            ActionEntry(
                action.name,
                action.text,
                tuple(
                    ActionParameter(p.name, p.default_value, p.low, p.high, p.unit, p.text, p.whole)
                    for p in action.parameters
                ),
                action.cancel,
            )
            for action in message.actions
        )
        self._on_news(ActionsSeen(entries))

    def _on_goal(self, message: PerformActionActionGoal) -> None:
        self._on_news(GoalSeen(message.goal.name, message.goal_id.id))

    def _on_feedback(self, message: PerformActionActionFeedback) -> None:
        feedback = message.feedback
        identity = message.status.goal_id.id
        self._on_news(FeedbackSeen(identity, feedback.sub_action, feedback.progress, feedback.paused))

    def _on_result(self, message: PerformActionActionResult) -> None:
        status = message.status.status
        level = "info" if status == GoalStatus.SUCCEEDED else "warn"
        text = message.result.text
        text = tr("refused: {reason}", reason=text) if status == GoalStatus.REJECTED else text
        self._on_news(ResultSeen(message.status.goal_id.id, level, text))
