# SPDX-License-Identifier: MIT
"""Performs an action on the running robot and shows how far it is; Ctrl-C takes it back to rest."""

from __future__ import annotations

import argparse
import sys
from typing import List, Mapping, Optional

import actionlib
import rosgraph
import rospy
from actionlib_msgs.msg import GoalStatus

from shellbot_msgs.msg import PerformActionAction, PerformActionFeedback, PerformActionGoal

from .action_cli import add_parameters, parameters_of
from .console import run_tool, say
from .errors import EvaluationError

_WAIT = 10.0  # s of wall clock for the server, and for the way back to rest


def perform(name: str, speed: float, parameters: Mapping[str, float]) -> int:
    """Send the goal and wait for its end; return 0 if it succeeded, 1 if not.

    Parameters
    ----------
    name : str
        Of the action.
    speed : float
        Fraction of the usual one.
    parameters : mapping of str to float
        Those that differ from their defaults.

    Raises
    ------
    EvaluationError
        If no robot runs.
    """
    missing = "start the robot first, for example with scripts/sim"
    if not rosgraph.is_master_online():
        raise EvaluationError(f"no ROS master; {missing}")
    rospy.init_node("action_client", anonymous=True, disable_rostime=True, disable_signals=True)
    client = actionlib.SimpleActionClient("perform_action", PerformActionAction)
    if not client.wait_for_server(rospy.Duration(_WAIT)):
        raise EvaluationError(f"no server {rospy.resolve_name('perform_action')}; {missing}")

    def show(feedback: PerformActionFeedback) -> None:
        sys.stderr.write(f"\r\033[K{100 * feedback.progress:3.0f} %  {feedback.sub_action}")
        sys.stderr.flush()

    client.send_goal(PerformActionGoal(name, speed, list(parameters.values()), list(parameters)), feedback_cb=show)
    try:
        while not client.wait_for_result(rospy.Duration(0.2)):
            if rospy.is_shutdown():
                raise EvaluationError("the robot's ROS master is gone")
    except KeyboardInterrupt:
        client.cancel_goal()
        client.wait_for_result(rospy.Duration(_WAIT))
    result = client.get_result()
    sys.stderr.write("\n")
    say(result.text if result is not None else "no answer; did the action manager die?")
    return 0 if client.get_state() == GoalStatus.SUCCEEDED else 1


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0 if the action succeeded, 1 if not, 2 after an error."""
    p = argparse.ArgumentParser(
        prog="scripts/action run",
        description="Performs an action on the running robot; Ctrl-C takes it back to rest.",
        epilog="example: scripts/action run wave leg=3 --speed 0.5",
    )
    p.add_argument("action", help="its name; scripts/action list has them all")
    add_parameters(p)
    p.add_argument("--speed", type=float, default=1.0, help="fraction of the usual speed, 0.05 to 1 (default 1)")
    arguments = p.parse_args(argv)
    return run_tool(lambda: perform(arguments.action, arguments.speed, parameters_of(arguments)))


if __name__ == "__main__":
    sys.exit(main())
