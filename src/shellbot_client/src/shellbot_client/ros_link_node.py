# SPDX-License-Identifier: MIT
"""The running robot, over ROS, as a robot to drive."""

from __future__ import annotations

import math
import threading
import time
from typing import Mapping, NamedTuple, Optional, Sequence, Tuple

import actionlib
import rosgraph
import rospy
from actionlib_msgs.msg import GoalStatus
from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import Twist as TwistMessage
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from shellbot_chain.errors import MissionFailed
from shellbot_common import RobotProfile
from shellbot_common.motion_conversions import pose_message, twist_message
from shellbot_common.robot_profile import PARAMETER
from shellbot_msgs.msg import Mode, PerformActionAction, PerformActionFeedback, PerformActionGoal, Walkspace
from shellbot_msgs.srv import RequestMode

from .link import ActionProgress
from .mission import REST_POSE, BodyPose, Observation, Twist
from .pose_conversions import greatest_acceleration, planar_pose

_PATIENCE = 10.0  # s of wall clock for a node to answer or to tick
_SILENT = 5.0  # s of simulated time without feedback, which comes at 10 Hz, after which an action counts as lost
_ENDED = (GoalStatus.SUCCEEDED, GoalStatus.PREEMPTED, GoalStatus.ABORTED, GoalStatus.REJECTED, GoalStatus.LOST)
_CONNECTED_WITHIN = (2.0, 4.0, 8.0, 16.0)  # s of wall clock for each try to connect
_START = "start the robot first, for example with scripts/sim"


class _Commands(NamedTuple):
    cmd_vel: rospy.Publisher
    body_pose: rospy.Publisher
    gait: rospy.Publisher


class RosLink:
    """Drives the running robot; a `Link`. Each message of joint_states is a tick.

    Raises
    ------
    MissionFailed
        If there is no ROS master, or no robot listens.
    """

    def __init__(self) -> None:
        if not rosgraph.is_master_online():
            raise MissionFailed(f"no ROS master at {rosgraph.get_master_uri()}; {_START}")
        if not rospy.core.is_initialized():  # a notebook runs many links in one process
            rospy.init_node("shellbot_client", anonymous=True, disable_rostime=True, disable_signals=True)
        self._ticked = threading.Condition()
        self._stamp, self._seen_stamp = math.nan, math.nan
        self._joints: Tuple[Sequence[str], Sequence[float]] = ((), ())
        self._odom: Tuple[float, float, float] = (math.nan, math.nan, math.nan)
        self._velocity: Tuple[float, float] = (0.0, 0.0)
        self._mode, self._walkspace = Mode(name="waiting", target="waiting"), Walkspace()
        # what another operator has commanded stays until a program changes it
        self._commanded: Optional[BodyPose] = REST_POSE
        self._progress, self._heard = ActionProgress(), math.nan
        self._commands = self._advertise()
        self._action = actionlib.SimpleActionClient("perform_action", PerformActionAction)
        self._subscribers = [
            rospy.Subscriber("mode", Mode, self._on_mode, queue_size=10),
            rospy.Subscriber("walkspace", Walkspace, self._on_walkspace, queue_size=1),
            rospy.Subscriber("odom", Odometry, self._on_odom, queue_size=1, tcp_nodelay=True),
            rospy.Subscriber("joint_states", JointState, self._on_tick, queue_size=1, tcp_nodelay=True),
        ]
        try:
            self._connect()
            self.tick()
        except BaseException:  # Ctrl-C, too: who calls has no link to close
            self.close()
            raise

    def observe(self) -> Observation:
        """Return what the robot says of itself at the newest tick."""
        mode, most = self._mode, greatest_acceleration(self._walkspace)
        return Observation(
            self._seen_stamp, *self._odom, mode.name, mode.target, mode.step, False, self._velocity, most
        )

    def tick(self) -> None:
        """Wait for the next joint_states.

        Raises
        ------
        MissionFailed
            If none come for 10 s of wall clock.
        """
        end = time.monotonic() + _PATIENCE
        with self._ticked:
            while self._stamp == self._seen_stamp or math.isnan(self._stamp):
                if rospy.is_shutdown() or time.monotonic() > end:
                    raise MissionFailed(
                        f"no joint_states for {_PATIENCE:g} s; is the simulation paused, or the robot switched off?"
                    )
                self._ticked.wait(0.2)
            self._seen_stamp = self._stamp

    def command(self, twist: Twist, body_pose: BodyPose) -> None:
        """Command a velocity (m/s, m/s, rad/s) and a body pose (m, rad from the rest pose)."""
        self._commands.cmd_vel.publish(twist_message(twist))
        if body_pose != self._commanded:
            self._commanded = body_pose
            self._commands.body_pose.publish(pose_message(body_pose))

    def renew_body_pose(self) -> None:
        """Let the next command send its body pose whatever was sent before."""
        self._commanded = None

    def request_mode(self, name: str) -> Tuple[bool, str]:
        """Request a mode; return whether it was accepted, and one sentence."""
        try:
            rospy.wait_for_service("request_mode", timeout=_PATIENCE)
            answer = rospy.ServiceProxy("request_mode", RequestMode)(name)
        except (rospy.ROSException, rospy.ServiceException) as error:
            return False, f"request_mode cannot be called: {error}"
        return answer.accepted, answer.reason

    def set_gait(self, name: str) -> None:
        """Command a gait by its name."""
        self._commands.gait.publish(name)

    @property
    def gait(self) -> str:
        """The gait in use."""
        return str(self._walkspace.gait)

    @property
    def text(self) -> str:
        """What the mode says, one sentence."""
        return str(self._mode.text)

    @property
    def joints(self) -> Tuple[Sequence[str], Sequence[float]]:
        """Names and positions (rad) of the joints at the newest tick."""
        return self._joints

    def begin_action(self, name: str, speed: float, parameters: Mapping[str, float]) -> None:
        """Send an action of the library; `progress` says what becomes of it.

        Raises
        ------
        MissionFailed
            If there is no server.
        """
        if not self._action.wait_for_server(rospy.Duration(_PATIENCE)):
            raise MissionFailed(f"no server {rospy.resolve_name('perform_action')}; {_START}")
        self._progress, self._heard = ActionProgress(), self._stamp  # newer than the last tick that was looked at
        goal = PerformActionGoal(
            name=name,
            speed=speed,
            parameters=[float(value) for value in parameters.values()],
            parameter_names=list(parameters),
        )
        self._action.send_goal(goal, feedback_cb=self._on_feedback)

    def progress(self) -> ActionProgress:
        """Return how far the action that was sent last is."""
        state, result = self._action.get_state(), self._action.get_result()
        if state in _ENDED and result is not None:
            refused = "refused: " if state == GoalStatus.REJECTED else ""
            return ActionProgress("", 1.0, True, state == GoalStatus.SUCCEEDED, refused + result.text)
        if self._seen_stamp - self._heard > _SILENT:
            return ActionProgress(ended=True, text="the action manager does not answer any more; was it restarted?")
        return self._progress

    def cancel_action(self) -> None:
        """Take the action back to rest."""
        self._action.cancel_goal()

    def emergency_stop(self) -> None:
        """Stop now, until `rearm`."""
        self._call("emergency_stop")

    def rearm(self) -> None:
        """End an emergency stop."""
        self._call("rearm")

    def close(self) -> None:
        """Leave the topics; the node itself lives as long as the process."""
        for subscriber in self._subscribers:
            subscriber.unregister()
        for publisher in self._commands:
            publisher.unregister()
        self._action.action_client.stop()

    @staticmethod
    def _advertise() -> _Commands:
        return _Commands(
            rospy.Publisher("cmd_vel", TwistMessage, queue_size=1),
            rospy.Publisher("body_pose", PoseMessage, queue_size=1),
            rospy.Publisher("gait", String, queue_size=1, latch=True),
        )

    def _connect(self) -> None:
        for seconds in _CONNECTED_WITHIN:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                if self._is_heard():
                    return
                time.sleep(0.02)
            # rospy's subscriber never connects if its callback was still processing a message of a previous publisher
            # of this process when these were advertised
            for publisher in self._commands:
                publisher.unregister()
            self._commands = self._advertise()
        profile = rospy.get_param(PARAMETER, "")
        remedy = f"the running robot, {RobotProfile.from_text(profile).name}, has none" if profile else _START
        raise MissionFailed(f"no node subscribes to {rospy.resolve_name('cmd_vel')}; {remedy}")

    def _is_heard(self) -> bool:
        """Return whether cmd_vel is heard, and the others where a node subscribes: not every robot has gaits."""
        if not self._commands.cmd_vel.get_num_connections():
            return False
        unheard = {publisher.name for publisher in self._commands if not publisher.get_num_connections()}
        if not unheard:
            return True
        _, subscribed, _ = rosgraph.Master(rospy.get_name()).getSystemState()
        return unheard.isdisjoint(topic for topic, _ in subscribed)

    def _call(self, service: str) -> None:
        try:
            rospy.wait_for_service(service, timeout=_PATIENCE)
            answer = rospy.ServiceProxy(service, Trigger)()
        except (rospy.ROSException, rospy.ServiceException) as error:
            raise MissionFailed(f"{service} cannot be called: {error}") from None
        if not answer.success:
            raise MissionFailed(f"{service} refused: {answer.message}")

    def _on_mode(self, message: Mode) -> None:
        self._mode = message

    def _on_walkspace(self, message: Walkspace) -> None:
        self._walkspace = message

    def _on_odom(self, message: Odometry) -> None:
        self._odom = planar_pose(message)
        self._velocity = (message.twist.twist.linear.x, message.twist.twist.linear.y)

    def _on_tick(self, message: JointState) -> None:
        with self._ticked:
            self._stamp = message.header.stamp.to_sec()
            self._joints = message.name, message.position
            self._ticked.notify_all()

    def _on_feedback(self, feedback: PerformActionFeedback) -> None:
        self._progress, self._heard = ActionProgress(feedback.sub_action, feedback.progress), self._seen_stamp
