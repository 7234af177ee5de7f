# SPDX-License-Identifier: MIT
"""Node ``motor_driver``: joint_targets to the bus process, measured joints, battery, health and services back."""

from __future__ import annotations

import json
import signal
import threading
import time
from typing import Any, Iterable, Optional, Tuple

import rospy
from diagnostic_msgs.msg import DiagnosticArray
from dynamic_reconfigure.msg import Config
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, SetBoolResponse, Trigger, TriggerResponse

from ax_bus.errors import ServoError
from shellbot_common import Level, Notice
from shellbot_common.log_node import LOG, NodeLog
from shellbot_common.parameters_node import keep_parameter, wait_for_parameters
from shellbot_common.publisher_node import Publisher
from shellbot_common.robot_profile import PARAMETER
from shellbot_common.stop_interface_node import STOPPED_BY, StopInterface
from shellbot_control import ConfigurationError, TargetsError
from shellbot_motor_driver.driving.driver_state import DriverState
from shellbot_motor_driver.errors import DriverConfigError, ServoMapError
from shellbot_motor_driver.map.driven_robot import SERVOS_PARAMETER, DrivenRobot
from shellbot_motor_driver.map.shellbot import shellbot
from shellbot_motor_driver.node import motor_driver_conversions as conversions
from shellbot_motor_driver.node.gains_page import GainsPage
from shellbot_motor_driver.node.node_parameters import NodeParameters
from shellbot_motor_driver.node.stamp_clock import StampClock
from shellbot_motor_driver.node.start_policy import StartFailure, retry_after
from shellbot_motor_driver.node.state_publisher_node import StatePublisher
from shellbot_motor_driver.node.target_gate import TargetGate
from shellbot_motor_driver.process.bus_process import BusProcess
from shellbot_motor_driver.process.state_age import process_line
from shellbot_motor_driver.safety.health import (
    Health,
    HealthLine,
    health,
    is_feedback_slow,
    is_stopped,
    slow_feedback_words,
)

LIMP = "~limp"
PERSISTENT = (STOPPED_BY[1:], LIMP[1:])  # kept on the parameter server over a crash of this node
POLL_S = 0.05  # between two looks at the bus process's life and words
SITTING_S = 8.0  # at the end; with 2 s for torque off all in all less than the 15 s after which roslaunch kills
UNCONFIRMED = 3  # exit status: torque may be on


class MotorDriverNode:
    """Messages to the bus process and back; nothing here touches the port."""

    def __init__(self, parameters: NodeParameters, robot: DrivenRobot) -> None:
        self._parameters = parameters
        self._joint_names = robot.profile.joint_names
        self._gains = GainsPage(robot, parameters.config.compliance)
        self._gate = TargetGate(self._joint_names, parameters.target_timeout, self._gains.efforts)
        self._clock = StampClock()
        self._clock.look(time.monotonic(), time.time())
        self._lock = threading.RLock()  # requests to the bus process; targets, state and stop need none
        self._bus = BusProcess(parameters.bus_settings(robot))
        self._process: Optional[BusProcess] = None  # the same, once it has started
        self._signals = 0
        self._is_urgent = False
        self._restarts = 0
        self._failure = StartFailure(parameters.config.start.retry_missing)
        self._try_at: Optional[float] = 0.0
        self._log = NodeLog("motor_driver")
        self._latch = StopInterface()
        self._limp = bool(rospy.get_param(LIMP, False))
        if self._latch.cause:
            self._bus.emergency_stop(self._latch.cause)
        if self._limp:
            self._bus.torque(False)
        self._states = StatePublisher(parameters, self._gate, self._clock)
        self._diagnostics = Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        self._latch.show(bool(self._latch.cause))
        self._latch.advertise(self._stop, self._rearm)
        self._services = [
            rospy.Service("torque", SetBool, self._on_torque),
            rospy.Service("~timing", Trigger, self._on_timing),
        ]
        self._subscribers = [
            rospy.Subscriber("joint_targets", JointState, self._on_joint_targets, queue_size=2, tcp_nodelay=True),
            rospy.Subscriber("gains/parameter_updates", Config, self._on_gains, queue_size=5),
        ]

    # ------------------------------------------------------------------------------------------------------- life

    def on_signal(self, number: int, _frame: Any) -> None:
        """End as ``~at_end`` says; at SIGTERM, and at a second signal, without sitting down."""
        self._signals += 1
        self._is_urgent = number == signal.SIGTERM or self._signals > 1

    def _is_over(self) -> bool:
        return self._signals > 0 or rospy.is_shutdown()

    def run(self) -> int:
        """Start, watch and report until the end; return the exit status."""
        arguments = (lambda: self._process, self._pass_state)
        publisher = threading.Thread(target=self._states.run, args=arguments, name="states", daemon=True)
        publisher.start()
        report_at = 0.0
        while not self._is_over():
            now = time.monotonic()
            if self._process is None and self._try_at is not None and now >= self._try_at:
                self._start()
            self._watch()
            if now >= report_at:
                report_at = now + 1.0
                self._report()
            time.sleep(POLL_S)
        return self._end()

    def _start(self) -> None:
        """Try to start the bus process; report what prevents it."""
        bus = self._bus
        try:
            report = bus.start(give_up=self._is_over)
        except (DriverConfigError, ServoMapError):
            raise  # no bus mends these
        except ServoError as error:
            wait, now = retry_after(error, self._parameters.config.start.retry_missing), time.monotonic()
            self._try_at = None if wait is None else now + wait
            notice = None if self._is_over() else self._failure.note(error, now)
            if notice is not None:
                LOG[notice.level]("motor_driver: %s", notice.text)
            return
        rospy.loginfo("motor_driver: %s", report.text)
        with self._lock:
            self._failure.clear()
            self._try_at, self._restarts = None, bus.restarts
            if self._latch.cause:
                rospy.logwarn(
                    "motor_driver: still stopped (%s): torque is off until rearm is called", self._latch.cause
                )
            elif self._limp:
                rospy.logwarn("motor_driver: torque was switched off before and stays off; call torque with true")
            self._process = bus
            self._send_gains()

    def _watch(self) -> None:
        """Notice a bus process that died or hangs, log what the driver has to say."""
        bus = self._bus
        is_alive = bus.poll()
        self._log(*bus.events())
        if is_alive and bus.restarts != self._restarts:
            with self._lock:
                self._restarts = bus.restarts
                self._send_gains()
        if self._process is not None and not is_alive and not bus.settings.restart:
            self._log(Notice("dead", Level.ERROR, "the bus process has ended and is not restarted"))

    def _end(self) -> int:
        """Let the robot sit, then end the bus process; return the exit status."""
        how = self._parameters.at_end
        sit = SITTING_S if how == "sit" and not self._is_urgent else 0.0
        if sit and self._process is not None:
            rospy.loginfo("motor_driver: sitting down before the torque goes off")
        status = self._bus.shutdown(torque_off=how != "hold", sit=sit, is_urgent=lambda: self._is_urgent)
        self._log(*(notice for notice in self._bus.events() if notice.key != "torque_off"))
        if not status.is_requested or status.confirmed:
            rospy.loginfo("motor_driver: %s", status.text)
            return 0
        rospy.logfatal("motor_driver: %s", status.text)
        return UNCONFIRMED

    # -------------------------------------------------------------------------------------------------- out

    def _report(self) -> None:
        """Publish diagnostics, look whether the wall clock was set."""
        words = self._clock.look(time.monotonic(), time.time())
        if words:
            self._log(Notice("clock", Level.WARN, words))
        process = self._process
        if process is None:
            lines: Iterable[HealthLine] = (HealthLine("safety ladder", Health.ERROR, self._failure.words),)
        else:
            state = process.state()
            now, restarts = time.monotonic(), process.restarts
            lines = (
                *health(state, restarts, self._parameters.battery_cells),
                process_line(state, now, restarts, process.torque_off_status(now)),
                self._gains.line,
            )
            if is_feedback_slow(state):
                self._log(Notice("feedback", Level.WARN, slow_feedback_words(state.timing.feedback_hz)))
        message = conversions.diagnostics_message("motor_driver", lines, self._parameters.port, rospy.Time.now())
        self._diagnostics.publish(message)

    def _pass_state(self, state: DriverState) -> None:
        self._latch.show(bool(self._latch.cause) or is_stopped(state))

    # --------------------------------------------------------------------------------------------------- in

    def _on_joint_targets(self, message: JointState) -> None:
        process = self._process
        if process is None:
            return
        picked, notices = self._gate.pass_on(
            message.header.stamp.to_sec(), message.name, message.position, time.time(), message.effort
        )
        self._log(*notices)
        if picked is None:
            return
        try:
            process.set_targets(picked)
        except TargetsError as error:
            self._log(Notice("targets", Level.ERROR, f"joint_targets refused: {error}"))

    def _stop(self, cause: str) -> Tuple[bool, str]:
        """Stop; return whether every servo has confirmed it, and the words."""
        self._bus.emergency_stop(cause)  # first, and without the lock: nothing may delay it
        was_stopped = self._latch.cause
        self._latch.cause = was_stopped or cause
        self._latch.show(True)
        with self._lock:
            self._latch.cause = was_stopped or cause  # again: a rearming that came before may have ended just now
        self._latch.keep()
        status = self._bus.confirm_off()
        text = f"was stopped before ({was_stopped})" if was_stopped else f"stopped ({cause})"
        text += f": {status.text}; stays so until rearm is called"
        (rospy.logwarn if status.confirmed else rospy.logerr)("motor_driver: %s", text)
        return status.confirmed, text

    def _rearm(self) -> Tuple[bool, str]:
        with self._lock:
            accepted, reason = self._bus.rearm()
            if accepted:
                self._latch.cause = ""
            if self._process is None:
                self._try_at = 0.0  # as the words of the failure promise
                reason = f"trying to start again; the last attempt failed: {self._failure.words}"
        if accepted:
            self._latch.keep()
        (rospy.loginfo if accepted else rospy.logwarn)("motor_driver: rearm: %s", reason)
        return accepted, reason

    def _on_torque(self, request: Any) -> SetBoolResponse:
        if not request.data:
            accepted, reason = self._bus.torque(False)  # without the lock: nothing may delay it
        with self._lock:
            if request.data:
                if self._process is None:
                    return SetBoolResponse(False, self._failure.words)
                if self._latch.cause:
                    return SetBoolResponse(
                        False, f"stopped ({self._latch.cause}): call rearm, which also brings torque up"
                    )
                accepted, reason = self._bus.torque(True)
            if accepted or not request.data:
                self._limp = not request.data
        if accepted or not request.data:
            keep_parameter(LIMP, lambda: self._limp)
        (rospy.loginfo if accepted else rospy.logwarn)("motor_driver: torque: %s", reason)
        return SetBoolResponse(accepted, reason)

    def _on_timing(self, _request: Any) -> TriggerResponse:
        """Answer the histograms of the bus loop as JSON, for `bus_plot`."""
        process = self._process
        if process is None:
            return TriggerResponse(False, self._failure.words)
        timing = process.state().timing
        counts = {
            name: list(getattr(timing, name).counts) for name in ("lateness", "tick_time", "round_trip", "overhead")
        }
        figures = {name: value if value == value else None for name, value in timing.figures().items()}
        return TriggerResponse(True, json.dumps({"counts": counts, "figures": figures}))

    def _on_gains(self, message: Config) -> None:
        with self._lock:
            self._gains.values = conversions.page_from_config(message)
            self._send_gains()

    def _send_gains(self) -> None:
        """Bring the page's gains to the servos; called under the lock."""
        notice = self._gains.send(self._process)
        if notice is not None:
            self._log(notice)


def _robot(variant: str) -> DrivenRobot:
    """Return a build of Shellbot, or without one the robot whose description is on the parameter server."""
    if variant:
        return shellbot(variant)
    return DrivenRobot.from_texts(*wait_for_parameters("robot_description", PARAMETER, SERVOS_PARAMETER))


def main() -> None:
    """Run the node."""
    # ROS stays up until the robot sits: its own handlers would take topics, services and log away before.
    rospy.init_node("motor_driver", disable_rostime=True, disable_signals=True)
    try:
        private = {key: value for key, value in rospy.get_param("~", {}).items() if key not in PERSISTENT}
        parameters = NodeParameters.from_mapping(private)
        node = MotorDriverNode(parameters, _robot(parameters.variant))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, node.on_signal)
        status = node.run()
    except (ConfigurationError, ServoError) as error:
        rospy.logfatal("motor_driver: %s", error)
        raise SystemExit(1) from error
    except rospy.ROSInterruptException:
        return
    rospy.signal_shutdown("the motor driver has ended")
    raise SystemExit(status)
