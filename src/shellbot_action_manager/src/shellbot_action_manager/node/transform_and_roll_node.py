# SPDX-License-Identifier: MIT
"""Node `transform_and_roll`: the actionlib server of that name; a tick is the arrival of odom."""

from __future__ import annotations

import queue
import threading
import time
from typing import Optional, Tuple

import actionlib
import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry

from shellbot_action_manager.actions.transform_and_roll import (
    NAME,
    TransformAndRoll,
    TransformCommands,
    TransformObservation,
    refusal,
)
from shellbot_common.action_server_node import ActionServer, end_goal, reject_goal
from shellbot_common.init_node import init_node
from shellbot_common.performance import Outcome
from shellbot_common.publisher_node import Publisher
from shellbot_common.rotations import rpy_from_quaternion
from shellbot_msgs.msg import Mode, PerformActionAction, PerformActionFeedback, PerformActionResult
from shellbot_msgs.srv import RequestMode

SILENCE = 30.0  # s of wall clock without odom after which a goal is given up
FEEDBACK = 0.1  # s of simulated time
SERVICE = 5.0  # s of wall clock


class TransformAndRollNode:
    """Feeds the core from odom and mode; one goal at a time, another one is rejected."""

    def __init__(self) -> None:
        self._goal: Optional[actionlib.ServerGoalHandle] = None
        self._core: Optional[TransformAndRoll] = None
        self._mode: Optional[Mode] = None
        self._seen: Optional[TransformObservation] = None
        self._last_feedback, self._last_odom = -1.0, time.monotonic()  # feedback, simulated; odom, wall
        self._requests: queue.Queue[Tuple[TransformAndRoll, str]] = queue.Queue()
        self._cmd_vel = Publisher("cmd_vel", Twist, queue_size=1, tcp_nodelay=True)
        self._server = ActionServer(NAME, PerformActionAction, self._on_goal, self._on_cancel, False)
        threading.Thread(target=self._request, daemon=True).start()
        self._server.start()
        rospy.Subscriber("mode", Mode, self._on_mode, queue_size=5)
        rospy.Subscriber("odom", Odometry, self._on_odom, queue_size=1, tcp_nodelay=True)

    def run(self) -> None:
        """Give a goal up when odom does not come, until shutdown."""
        while not rospy.is_shutdown():
            time.sleep(0.5)
            with self._server.lock:
                if self._core is not None and time.monotonic() - self._last_odom > SILENCE:
                    self._end(Outcome.ABORTED, f"no odom for {SILENCE:g} s; is the odometry running?")

    def _on_goal(self, goal: actionlib.ServerGoalHandle) -> None:
        with self._server.lock:
            given = goal.get_goal()
            has_mode = self._mode is not None
            reason = refusal(given.name, given.speed, given.parameters, given.parameter_names, self._seen, has_mode)
            if self._core is not None:
                reason = "another goal is under way; cancel it first"
            if reason:
                reject_goal(NAME, goal, PerformActionResult(False, reason), reason)
                return
            self._goal, self._core = goal, TransformAndRoll(given.parameters, given.speed)
            self._last_feedback, self._last_odom = -1.0, time.monotonic()
            goal.set_accepted()

    def _on_cancel(self, goal: actionlib.ServerGoalHandle) -> None:
        with self._server.lock:
            if self._core is not None and goal == self._goal:
                self._core.cancel()

    def _on_mode(self, message: Mode) -> None:
        with self._server.lock:
            self._mode = message

    def _on_odom(self, message: Odometry) -> None:
        with self._server.lock:
            self._last_odom, mode = time.monotonic(), self._mode
            if mode is None:
                return
            position, q, v = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist.linear
            yaw = float(rpy_from_quaternion(q.x, q.y, q.z, q.w)[2])
            t = message.header.stamp.to_sec()
            self._seen = TransformObservation(
                t,
                (position.x, position.y, yaw),
                (v.x, v.y),
                mode.name,
                mode.target,
                mode.step,
                mode.progress,
                mode.text,
            )
            if self._core is not None:
                self._obey(self._core.step(self._seen), t)

    def _obey(self, orders: TransformCommands, t: float) -> None:
        if orders.request and self._core is not None:
            self._requests.put((self._core, orders.request))
        if orders.velocity is not None:
            twist = Twist()
            twist.linear.x, twist.linear.y = orders.velocity
            self._cmd_vel.publish(twist)
        if orders.end is not None:
            self._end(orders.end, orders.text)
        elif self._goal is not None and not 0.0 <= t - self._last_feedback < FEEDBACK:
            self._last_feedback = t
            self._goal.publish_feedback(PerformActionFeedback(orders.sub_action, orders.phase, orders.progress, False))

    def _end(self, end: Outcome, text: str) -> None:
        goal, self._goal, self._core = self._goal, None, None
        assert goal is not None
        end_goal(NAME, goal, end, PerformActionResult(end is Outcome.SUCCEEDED, text), text)

    def _request(self) -> None:
        # A service call waits for its answer, which must not keep the ticks waiting.
        while not rospy.is_shutdown():
            (core, mode), reason = self._requests.get(), ""
            try:
                rospy.wait_for_service("request_mode", timeout=SERVICE)
                answer = rospy.ServiceProxy("request_mode", RequestMode)(mode)
                reason = "" if answer.accepted else answer.reason
            except (rospy.ROSException, rospy.ServiceException) as error:
                reason = f"request_mode cannot be called: {error}"
            with self._server.lock:
                if reason and core is self._core:  # the goal of the request may have ended meanwhile
                    core.refused(reason)


def main() -> None:
    """Run the node."""
    # Time comes with odom; /clock at every tick would only cost processor time.
    init_node(NAME, disable_rostime=True)
    TransformAndRollNode().run()
