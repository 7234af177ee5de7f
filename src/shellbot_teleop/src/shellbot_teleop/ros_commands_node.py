# SPDX-License-Identifier: MIT
"""The commands of the operator on their way to the robot: topics at once, services in threads of their own."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from typing import Any, Callable, Dict, Iterable, List, Optional

import rospy
from geometry_msgs.msg import Pose, Twist
from std_msgs.msg import Bool, Empty, String
from std_srvs.srv import SetBool, Trigger

from shellbot_common.motion_conversions import pose_message, twist_message
from shellbot_msgs.msg import UpperShells
from shellbot_msgs.srv import RequestMode
from shellbot_teleop import effects
from shellbot_teleop import teleop_conversions as conversions
from shellbot_teleop.effects import Effect, Notice
from shellbot_teleop.link_events import LinkEvent, OperatorSeen
from shellbot_teleop.texts import tr

_CONTROL = "take_control"
_OFFER = 8.0  # s
_LEAVE = 0.5  # s
_TURN = 8.0  # s; a call to a robot whose power was cut never ends


class RosCommands:
    """Carries effects out.

    Parameters
    ----------
    timeout : float
        How long a service may take to be found, s.
    tell : callable
        Called with a Notice or OperatorSeen, from threads of services, too.
    tell_throttled : callable
        Called with a subject and a Notice; of each subject one is shown now and then.

    Attributes
    ----------
    publishers : dict of str to rospy.Publisher
        By topic; empty while there is no master.
    """

    def __init__(
        self, timeout: float, tell: Callable[[LinkEvent], None], tell_throttled: Callable[[str, Notice], None]
    ) -> None:
        self._timeout, self._tell, self._tell_throttled = timeout, tell, tell_throttled
        self.publishers: Dict[str, rospy.Publisher] = {}
        self._stopping: List[threading.Thread] = []  # calls of the emergency stop that are under way
        self._taking: Optional[threading.Thread] = None  # the last call that takes or gives up control
        self.in_control = False  # as the robot reported last

    def advertise(self) -> None:
        """Set the topics up at a master."""

        def publisher(name: str, kind: Any, latch: bool = False) -> None:
            self.publishers[name] = rospy.Publisher(name, kind, queue_size=10, latch=latch, tcp_nodelay=True)

        publisher("cmd_vel", Twist)
        publisher("body_pose", Pose)
        publisher("upper_shells", UpperShells)
        publisher("gait", String, latch=True)
        publisher("operator_alive", Empty)
        publisher("emergency_stop", Bool)  # not latched: a node that restarts after rearm must not be stopped again

    def execute(self, effect: Effect) -> None:
        """Carry out an effect of the command model; without a master the operator gets a notice."""
        if not self.publishers:
            self._tell_throttled("master", Notice("warn", tr("No ROS master yet: the command went nowhere.")))
        elif isinstance(effect, effects.PublishTwist):
            self._publish("cmd_vel", twist_message((effect.x, effect.y, effect.yaw)))
        elif isinstance(effect, effects.PublishBodyPose):
            self._publish("body_pose", pose_message(effect.pose))
        elif isinstance(effect, effects.PublishUpperShells):
            self._publish("upper_shells", conversions.shells_message(effect))
        elif isinstance(effect, effects.PublishGait):
            self._publish("gait", String(data=effect.name))
        elif isinstance(effect, effects.Heartbeat):
            self._publish("operator_alive", Empty())
        elif isinstance(effect, effects.TakeControl):
            self._take_in_turn(effect.take)
        elif isinstance(effect, effects.RequestMode):
            self._call("request_mode", RequestMode, lambda proxy: self._mode_answer(effect.name, proxy(effect.name)))
        elif isinstance(effect, effects.EmergencyStop):
            # The topic reaches whoever listens within a millisecond; the service confirms.
            self._publish("emergency_stop", Bool(data=True))
            call = self._call(
                "emergency_stop", Trigger, lambda proxy: self._trigger_answer(tr("Emergency stop"), proxy())
            )
            self._stopping = [call, *(earlier for earlier in self._stopping if earlier.is_alive())]
        elif isinstance(effect, effects.Rearm):
            # A call of the stop that arrives later would stop the robot again; one that never ends does not count.
            self._call("rearm", Trigger, lambda proxy: self._trigger_answer(tr("Rearm"), proxy()), self._stopping)

    def take_when_offered(self, ends: Callable[[], bool]) -> None:
        """Take control as soon as the robot offers it, in a thread that waits for this until `ends` returns true.

        A robot that does not offer it for a while is one that everybody may command; until it does.
        """

        def run() -> None:
            given_up = time.monotonic() + _OFFER
            while not ends():
                with contextlib.suppress(rospy.ROSException):
                    rospy.wait_for_service(_CONTROL, timeout=self._timeout)
                    self._take_control(True)
                    return
                if time.monotonic() >= given_up:
                    given_up = math.inf
                    self._control_is_free()

        threading.Thread(target=run, name="take_when_offered", daemon=True).start()

    def give_up(self) -> None:
        """Give control up before the program ends; waits for it, but not long."""
        if self.in_control:
            self._take_in_turn(False).join(_LEAVE)

    def _take_in_turn(self, take: bool) -> threading.Thread:
        """Take control or give it up after the request before: the last one counts, even if that is late."""

        def run(earlier: Optional[threading.Thread]) -> None:
            if earlier is not None:
                earlier.join(_TURN)
            self._take_control(take)

        self._taking = threading.Thread(target=run, args=(self._taking,), name="take_control", daemon=True)
        self._taking.start()
        return self._taking

    def _take_control(self, take: bool) -> None:
        try:
            rospy.wait_for_service(_CONTROL, timeout=self._timeout)
            answer = rospy.ServiceProxy(_CONTROL, SetBool)(take)
            if not answer.success:
                text = tr("Control refused: {reason}", reason=answer.message)
                text = text if take else tr("Control not given up: {reason}", reason=answer.message)
                self._tell(Notice("warn", f"{text}."))
        except rospy.ROSException:  # no such service
            if take:
                self._control_is_free()
            else:
                self._tell(OperatorSeen("", False))
        except (rospy.ServiceException, OSError) as error:
            self._tell(
                Notice("error", tr("{service} did not answer: {error}. Try again.", service=_CONTROL, error=error))
            )

    def _control_is_free(self) -> None:
        self._tell(Notice("info", tr("This robot lets everybody command it: there is no service take_control.")))
        self._tell(OperatorSeen(own_name(), True))

    def _publish(self, topic: str, message: Any) -> None:
        try:
            self.publishers[topic].publish(message)
        except (rospy.ROSException, KeyError) as error:
            self._tell_throttled(
                topic, Notice("error", tr("{topic} could not be published: {error}.", topic=topic, error=error))
            )

    def _call(
        self, service: str, kind: Any, use: Callable[[Any], None], after: Iterable[threading.Thread] = ()
    ) -> threading.Thread:
        def run() -> None:
            given_up = time.monotonic() + _TURN
            for earlier in after:
                earlier.join(max(given_up - time.monotonic(), 0.0))
            try:
                rospy.wait_for_service(service, timeout=self._timeout)
                use(rospy.ServiceProxy(service, kind))
            except (rospy.ROSException, rospy.ServiceException, OSError) as error:
                text = tr(
                    "{service} did not answer: {error}. Is the robot's launch file running?",
                    service=service,
                    error=error,
                )
                self._tell(Notice("error", text))

        thread = threading.Thread(target=run, name=f"call_{service}", daemon=True)
        thread.start()
        return thread

    def _mode_answer(self, requested: str, answer: Any) -> None:
        level, text = ("info", tr("accepted")) if answer.accepted else ("warn", tr("refused"))
        self._tell(Notice(level, f"{requested}: {text}. {answer.reason}"))

    def _trigger_answer(self, what: str, answer: Any) -> None:
        level = "info" if answer.success else "error"
        self._tell(Notice(level, f"{what}: {answer.message or (tr('done') if answer.success else tr('refused'))}"))


def own_name() -> str:
    """Return this node's name as the robot reports it."""
    return str(rospy.get_name().lstrip("/"))
