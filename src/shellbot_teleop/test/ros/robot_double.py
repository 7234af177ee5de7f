# SPDX-License-Identifier: MIT
"""The robot's end of the operator's topics and services, played by the test over a real roscore."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

import rospy
import yaml
from geometry_msgs.msg import Pose, Twist
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger, TriggerResponse

from shellbot_common import package_file
from shellbot_common.operator_interface_node import OperatorInterface
from shellbot_msgs.msg import Mode, UpperShells, Walkspace
from shellbot_msgs.srv import RequestMode, RequestModeResponse

SLOW_HZ = 5.0  # commands while a key is held: a press or release that waited for the next would be late by 0.1 s


def settings(**changes):
    """Return the path of the shipped settings with changes, for a program's --config."""
    shipped = yaml.safe_load(Path(package_file("shellbot_teleop", "config/teleop.yaml")).read_text(encoding="utf-8"))
    file = Path(tempfile.mkdtemp()) / "teleop.yaml"
    file.write_text(yaml.safe_dump({**shipped, **changes}), encoding="utf-8")
    return str(file)


class RobotDouble:
    """Records what the operator sends, with arrival times, and answers services."""

    def __init__(self):
        self.lock = threading.Condition()
        self.heard = []  # (time, topic, message)
        self.subscribers = {}
        for topic, kind in (
            ("cmd_vel", Twist),
            ("body_pose", Pose),
            ("upper_shells", UpperShells),
            ("gait", String),
            ("emergency_stop", Bool),
        ):
            self.subscribers[topic] = rospy.Subscriber(
                topic, kind, lambda message, topic=topic: self.hear(topic, message), queue_size=100, tcp_nodelay=True
            )
        self.mode = rospy.Publisher("mode", Mode, queue_size=1, latch=True)
        self.walkspace = rospy.Publisher("walkspace", Walkspace, queue_size=1, latch=True)
        self.stopped = rospy.Publisher("stopped", Bool, queue_size=1, latch=True)
        self.refusal = ""
        self.operator = OperatorInterface(lambda: self.hear("no longer driven", None))
        rospy.Service("request_mode", RequestMode, self.answer_mode)
        rospy.Service("emergency_stop", Trigger, lambda _: self.latch(True))
        rospy.Service("rearm", Trigger, lambda _: self.latch(False))
        self.stopped.publish(False)

    def hear(self, what, message):
        if what == "cmd_vel" and not self.operator.accepts_motion(message, bool(message.linear.x)):
            what = "refused"
        with self.lock:
            self.heard.append((time.monotonic(), what, message))
            self.lock.notify_all()

    def answer_mode(self, request):
        self.hear("request_mode", request.mode)
        return RequestModeResponse(not self.refusal, self.refusal or "going", "stand")

    def latch(self, stopped):
        self.hear("latched", stopped)
        self.stopped.publish(stopped)
        return TriggerResponse(True, "stopped" if stopped else "rearmed")

    def clear(self):
        with self.lock:
            self.heard.clear()

    def wait(self, condition, timeout=60.0):
        """Wait until condition(list of (time, message)) of something heard is true; tell whether it became so."""
        with self.lock:
            return bool(self.lock.wait_for(condition, timeout=timeout))

    def of(self, what):
        return [(when, message) for when, heard, message in list(self.heard) if heard == what]

    @property
    def twists(self):
        return [(when, (message.linear.x, message.linear.y, message.angular.z)) for when, message in self.of("cmd_vel")]

    @property
    def zeros(self):
        return [when for when, twist in self.twists if twist == (0.0, 0.0, 0.0)]

    @property
    def has_stopped(self):
        """Whether a drive and its zero came last: then all that was sent before on the topic has come, too."""
        return [any(twist) for _, twist in self.twists[-2:]] == [True, False]

    def publish_walkspace(self, x, y, yaw, gait="tripod"):
        message = Walkspace(gait=gait, gaits=["tripod", "moonwalk"])
        message.max_velocity.linear.x, message.max_velocity.linear.y, message.max_velocity.angular.z = x, y, yaw
        message.min_shift.x = message.min_shift.y = message.min_shift.z = -0.05
        message.max_shift.x = message.max_shift.y = message.max_shift.z = 0.05
        message.max_tilt.x = message.max_tilt.y = message.max_tilt.z = 0.2
        self.walkspace.publish(message)
