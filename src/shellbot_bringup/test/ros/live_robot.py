# SPDX-License-Identifier: MIT
"""A witness beside the running robot: what it commands, where it really is, and whether it ever jumped or fell."""

from __future__ import annotations

import math
import threading
import time

import rospy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Log
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from shellbot_msgs.msg import Mode
from shellbot_msgs.srv import RequestMode

# The command may never ask for more than the fastest servo does (AX-18A, 10.2 rad/s) in one tick of 10 ms, and a
# little for rounding; targets before the connector's limiter may be steeper at the height of a fast swing.
LARGEST_COMMAND_STEP = 0.105
LARGEST_TARGET_STEP = 0.2
TICK = 0.01


def yaw_of(q):
    return math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))


def tilt_of(q):
    return math.acos(max(-1.0, min(1.0, 1 - 2 * (q.x * q.x + q.y * q.y))))


class LiveRobot:
    """Subscribes to everything that a scorer may see; `jumps` and `falls` collect what must not happen."""

    def __init__(self):
        self.lock = threading.Lock()
        self.mode = None
        self.truth = self.odom = None
        self.targets = self.command = None
        self.log = []
        self.jumps = []
        self.falls = []
        self.watch_falls = False
        self.watch_targets = True
        self.cmd_vel = rospy.Publisher("cmd_vel", Twist, queue_size=1)
        self.subscribers = [
            rospy.Subscriber("mode", Mode, self._on_mode),
            rospy.Subscriber("ground_truth/odom", Odometry, self._on_truth),
            rospy.Subscriber("odom", Odometry, self._on_odom),
            rospy.Subscriber("joint_states", JointState, self._on_states),
            rospy.Subscriber("joint_targets", JointState, self._on_targets),
            rospy.Subscriber("/rosout", Log, self._on_log),
        ]
        self.subscribers.append(
            rospy.Subscriber("shellbot_legs_controller/command", Float64MultiArray, self._on_command)
        )
        self.states = None
        self.request = rospy.ServiceProxy("request_mode", RequestMode)

    def _on_mode(self, message):
        self.mode = message

    def _on_truth(self, message):
        self.truth = message
        pose = message.pose.pose
        if self.watch_falls and (pose.position.z < 0.1 or tilt_of(pose.orientation) > math.radians(12)):
            self.falls.append((message.header.stamp.to_sec(), pose.position.z, math.degrees(tilt_of(pose.orientation))))

    def _on_odom(self, message):
        self.odom = message

    def _on_states(self, message):
        self.states = message

    def _on_targets(self, message):
        last, self.targets = self.targets, message
        if last is None or last.name != message.name or not self.watch_targets:
            return
        dt = (message.header.stamp - last.header.stamp).to_sec()
        if not 0 < dt < 0.5:
            return  # a reset, or a node that was away: judged by the joints themselves
        ticks = max(1.0, round(dt / TICK))
        for name, a, b in zip(message.name, last.position, message.position):
            if abs(b - a) > LARGEST_TARGET_STEP * ticks:
                self.jumps.append((message.header.stamp.to_sec(), name, b - a))

    def _on_command(self, message):
        last, self.command = self.command, message
        now = int(message.layout.dim[0].label.split(":")[1])
        if last is None:
            return
        ticks = round((now - int(last.layout.dim[0].label.split(":")[1])) / 1e7)
        if not 0 < ticks < 50:
            return  # a reset, or the connector was away
        for joint, (a, b) in enumerate(zip(last.data, message.data)):
            if abs(b - a) > LARGEST_COMMAND_STEP * ticks:
                self.jumps.append(("command", now * 1e-9, joint, b - a))

    def _on_log(self, message):
        self.log.append(message)

    # ---- waiting, in simulated time, with a wall clock limit against a system that stands still ----

    def wait_for(self, condition, sim_s, what, wall_s=None):
        start, wall = rospy.get_time(), time.monotonic()
        wall_s = max(wall_s or 0, 10 * sim_s)
        while not rospy.is_shutdown():
            if condition():
                return rospy.get_time() - start
            now = rospy.get_time()
            if now < start:
                start = now
            if now - start > sim_s:
                raise AssertionError(f"{what}: not within {sim_s} s; mode {self.describe_mode()}")
            if time.monotonic() - wall > wall_s:
                raise AssertionError(f"{what}: simulated time stands still; mode {self.describe_mode()}")
            time.sleep(0.01)
        raise AssertionError("ROS was shut down")

    def describe_mode(self):
        return (
            "none"
            if self.mode is None
            else f"{self.mode.name} -> {self.mode.target} {self.mode.step} ({self.mode.text})"
        )

    def in_mode(self, name):
        return (
            self.mode is not None and self.mode.name == name and self.mode.target == name and self.mode.progress >= 1.0
        )

    def wait_until_standing(self, sim_s=20):
        return self.wait_for(
            lambda: self.in_mode("hexapod") and self.truth is not None and self.truth.pose.pose.position.z > 0.14,
            sim_s,
            "stand up",
            wall_s=300,
        )

    def drive(self, seconds, vx=0.0, vy=0.0, wz=0.0):
        """Publish cmd_vel at 20 Hz of simulated time."""
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.angular.z = vx, vy, wz
        end, wall = rospy.get_time() + seconds, time.monotonic() + 20 * seconds + 60
        while rospy.get_time() < end and time.monotonic() < wall and not rospy.is_shutdown():
            self.cmd_vel.publish(twist)
            rospy.sleep(0.05)

    def drive_until(self, is_far, seconds, vx=0.0, vy=0.0, wz=0.0, tries=10):
        """Drive, anew where a pause of this process ended the command too early; return how far it came the last time.

        ``is_far`` is of the displacement in the start's own frame and the turn, which are returned.
        """
        for _ in range(tries):
            start = self.pose()
            self.drive(seconds, vx, vy, wz)
            self.settle()
            moved = self.moved_since(start)
            if is_far(*moved):
                break
        return moved

    def let_pass(self, seconds):
        """Wait for pose and joints of so much later: those that a starved listener has are older than the clock."""

        def stamps():
            return [message.header.stamp.to_sec() for message in (self.truth, self.states)]

        end = max(stamps()) + seconds
        self.wait_for(lambda: min(stamps()) >= end, 60, f"pose and joints of {seconds:g} s later")

    def settle(self):
        self.stop()
        self.wait_for(lambda: self.in_mode("hexapod") and not self.mode.step, 60, "stand still")
        self.let_pass(0.3)

    def stop(self):
        self.cmd_vel.publish(Twist())

    def pose(self):
        p = self.truth.pose.pose
        return p.position.x, p.position.y, yaw_of(p.orientation)

    def moved_since(self, start):
        """Displacement seen in the start's own frame, and the turn."""
        x, y, yaw = self.pose()
        c, s = math.cos(start[2]), math.sin(start[2])
        dx, dy = x - start[0], y - start[1]
        return c * dx + s * dy, -s * dx + c * dy, math.atan2(math.sin(yaw - start[2]), math.cos(yaw - start[2]))

    def logged(self, *words):
        return [m.msg for m in self.log if all(w.lower() in m.msg.lower() for w in words)]

    def wait_logged(self, *words):
        self.wait_for(
            lambda: bool(self.logged(*words)), 60, f"a message with {words}; newest: {[m.msg for m in self.log[-5:]]}"
        )
