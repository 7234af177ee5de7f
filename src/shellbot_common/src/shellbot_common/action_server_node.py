# SPDX-License-Identifier: MIT
"""An action server whose own timer may still publish while its node shuts down; how its goals end."""

from __future__ import annotations

from typing import Any

import actionlib
import rospy

from shellbot_common.performance import Outcome
from shellbot_common.publisher_node import Publisher


class ActionServer(actionlib.ActionServer):
    """An ``actionlib.ActionServer`` that ends without a traceback; why is said at `Publisher`."""

    def initialize(self) -> None:
        """Make the topics, which drop messages once a shutdown was requested."""
        super().initialize()
        for publisher in (self.status_pub, self.result_pub, self.feedback_pub):
            publisher.__class__ = Publisher


def end_goal(name: str, goal: actionlib.ServerGoalHandle, outcome: Outcome, result: Any, text: str) -> None:
    """Log how the goal of an action ended, and send its result.

    Parameters
    ----------
    name : str
        Of the action, for the log.
    goal : ServerGoalHandle
        That was accepted.
    outcome : Outcome
        By which the result's status is chosen.
    result : message
        Of the action's type.
    text : str
        How it ended, a sentence.
    """
    (rospy.logwarn if outcome is Outcome.ABORTED else rospy.loginfo)(f"{name}: {outcome}: {text}")
    ends = {
        Outcome.SUCCEEDED: goal.set_succeeded,
        Outcome.CANCELLED: goal.set_canceled,
        Outcome.ABORTED: goal.set_aborted,
    }
    ends[outcome](result, text)


def reject_goal(name: str, goal: actionlib.ServerGoalHandle, result: Any, text: str) -> None:
    """Log why a goal is refused, and send its result; parameters as of `end_goal`."""
    rospy.logwarn(f"{name}: refused: {text}")
    goal.set_rejected(result, text)
