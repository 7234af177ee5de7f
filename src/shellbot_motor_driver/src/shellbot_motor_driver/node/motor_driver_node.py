# SPDX-License-Identifier: MIT
"""Node ``motor_driver``: joint_targets to the bus process, measured joints, battery, health and services back."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, Dict, Iterable, Optional

import rospy
from diagnostic_msgs.msg import DiagnosticArray
from dynamic_reconfigure.msg import Config
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool, SetBoolResponse, Trigger, TriggerResponse

from ax_bus.errors import ServoError
from shellbot_control import ConfigurationError, Level, Notice, TargetsError
from shellbot_description import driven_joint_names
from shellbot_motor_driver.driving.driver_state import DriverState
from shellbot_motor_driver.errors import DriverConfigError, ServoMapError
from shellbot_motor_driver.node import motor_driver_conversions as conversions
from shellbot_motor_driver.node.gains_page import GainsPage
from shellbot_motor_driver.node.node_parameters import NodeParameters
from shellbot_motor_driver.node.stamp_clock import StampClock
from shellbot_motor_driver.node.start_policy import StartFailure, retry_after
from shellbot_motor_driver.node.state_publisher_node import StatePublisher
from shellbot_motor_driver.node.target_gate import TargetGate
from shellbot_motor_driver.process.bus_process import BusProcess
from shellbot_motor_driver.safety.health import (
    Health,
    HealthLine,
    health,
    is_feedback_slow,
    is_stopped,
    slow_feedback_words,
)
from shellbot_motor_driver.safety.ladder import Phase

STOPPED_BY = "~stopped_by"
LIMP = "~limp"
KEPT = (STOPPED_BY[1:], LIMP[1:])  # kept on the parameter server over a crash of this node
THROTTLE_S = 5.0  # wall clock, per kind of notice
POLL_S = 0.05  # between two looks at the bus process's life and words
SITTING_S = 10.0  # at the end: on the way to the pose "sit" at most so long
LOG = {Level.INFO: rospy.loginfo, Level.WARN: rospy.logwarn, Level.ERROR: rospy.logerr}


class MotorDriverNode:
    """Messages to the bus process and back; nothing here touches the port."""

    def __init__(self, parameters: NodeParameters) -> None:
        self._parameters = parameters
        self._joint_names = driven_joint_names(parameters.variant)
        self._gate = TargetGate(self._joint_names, parameters.target_timeout)
        self._clock = StampClock()
        self._clock.look(time.monotonic(), time.time())
        self._lock = threading.RLock()  # requests to the bus process; targets, state and stop need none
        self._process: Optional[BusProcess] = None  # started
        self._latest: Optional[BusProcess] = None  # also while it starts and ends: who is to be stopped
        self._restarts = 0
        self._failure = StartFailure()
        self._try_at: Optional[float] = 0.0
        self._gains = GainsPage(self._joint_names, parameters.config.compliance)
        self._logged: Dict[str, float] = {}
        self._told_stopped: Optional[bool] = None
        self._stop_cause = str(rospy.get_param(STOPPED_BY, ""))
        self._limp = bool(rospy.get_param(LIMP, False))
        self._torque_withheld = False
        self._states = StatePublisher(parameters, self._gate, self._clock)
        self._stopped = rospy.Publisher("stopped", Bool, queue_size=1, latch=True)
        self._diagnostics = rospy.Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        self._tell_stopped(bool(self._stop_cause))
        self._services = [
            rospy.Service("torque", SetBool, self._on_torque),
            rospy.Service(
                "emergency_stop", Trigger, lambda _: TriggerResponse(True, self._stop("service emergency_stop"))
            ),
            rospy.Service("rearm", Trigger, self._on_rearm),
            rospy.Service("~timing", Trigger, self._on_timing),
        ]
        self._subscribers = [
            rospy.Subscriber("emergency_stop", Bool, self._on_emergency_stop, queue_size=5),
            rospy.Subscriber("joint_targets", JointState, self._on_joint_targets, queue_size=2, tcp_nodelay=True),
            rospy.Subscriber("gains/parameter_updates", Config, self._on_gains, queue_size=5),
        ]

    # ------------------------------------------------------------------------------------------------------- life

    def run(self) -> None:
        """Start, watch and report until shutdown; end as ``~at_end`` says."""
        arguments = (lambda: self._process, self._tell_state)
        publisher = threading.Thread(target=self._states.run, args=arguments, name="states", daemon=True)
        publisher.start()
        report_at = 0.0
        while not rospy.is_shutdown():
            now = time.monotonic()
            if self._process is None and self._try_at is not None and now >= self._try_at:
                self._start()
            self._watch()
            if now >= report_at:
                report_at = now + 1.0
                self._report()
            time.sleep(POLL_S)
        publisher.join(timeout=1.0)
        self._end()

    def _start(self) -> bool:
        """Try to start the bus process; say in words what is in the way."""
        torque = not (self._limp or self._stop_cause)
        self._latest = process = BusProcess(self._parameters.bus_settings(torque))
        try:
            report = process.start()
        except (DriverConfigError, ServoMapError):
            raise  # no bus mends these
        except ServoError as error:
            wait, now = retry_after(error), time.monotonic()
            self._try_at = None if wait is None else now + wait
            notice = self._failure.note(error, now)
            if notice is not None:
                LOG[notice.level]("motor_driver: %s", notice.text)
            return False
        rospy.loginfo("motor_driver: %s", report.text)
        with self._lock:
            self._failure.clear()
            self._try_at, self._restarts = None, process.restarts
            self._torque_withheld = not torque
            if self._stop_cause:
                process.emergency_stop(self._stop_cause)
                rospy.logwarn("motor_driver: still stopped (%s): torque is off until rearm is called", self._stop_cause)
            elif self._limp:
                rospy.logwarn("motor_driver: torque was switched off before and stays off; call torque with true")
            self._process = process
            self._send_gains()
        return True

    def _watch(self) -> None:
        """Notice a dead bus process, log what the driver has to say."""
        process = self._process
        if process is None:
            return
        with self._lock:
            is_limp = bool(self._limp or self._stop_cause)
            may_hold = self._parameters.config.start.torque and not is_limp
            if process.settings.config.start.torque != may_hold:
                # should it have died, the next one begins as limp as this one was left
                process.settings = self._parameters.bus_settings(may_hold)
            is_alive = process.poll()
            notices = process.events()
            if is_alive and process.restarts != self._restarts:
                self._restarts = process.restarts
                self._torque_withheld = is_limp
                if self._stop_cause:
                    process.emergency_stop(self._stop_cause)  # a new process knows of no stop
                elif self._limp:
                    process.torque(False)
                self._send_gains()
        for notice in notices:
            self._log(notice)
        if not is_alive and not process.settings.restart:
            self._log(Notice("dead", Level.ERROR, "the bus process has ended and is not restarted"))

    def _end(self) -> None:
        """Let the robot sit, then end the bus process."""
        process, how = self._process, self._parameters.at_end
        if process is None:
            return
        self._process = None  # no more targets
        if how == "sit" and process.state().ladder.phase in (Phase.FOLLOWING, Phase.HOLDING, Phase.WAITING):
            rospy.loginfo("motor_driver: sitting down before the torque goes off")
            deadline = time.monotonic() + self._parameters.config.setpoint.sit_after + SITTING_S
            while time.monotonic() < deadline and process.poll():
                if process.state().ladder.phase in (Phase.SAT, Phase.OFF, Phase.BUS_DOWN):
                    break
                time.sleep(POLL_S)
        process.shutdown(torque_off=how != "hold")

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
            lines = (*health(state, process.restarts, self._parameters.battery_cells), self._gains.line)
            if is_feedback_slow(state):
                self._log(Notice("feedback", Level.WARN, slow_feedback_words(state.timing.feedback_hz)))
        message = conversions.diagnostics_message("motor_driver", lines, self._parameters.port, rospy.Time.now())
        try:
            self._diagnostics.publish(message)
        except rospy.ROSException:  # shut down in between
            return

    def _tell_state(self, state: DriverState) -> None:
        self._tell_stopped(bool(self._stop_cause) or is_stopped(state))

    def _tell_stopped(self, stopped: bool) -> None:
        if stopped != self._told_stopped:
            self._told_stopped = stopped
            self._stopped.publish(stopped)

    def _log(self, notice: Notice) -> None:
        now = time.monotonic()
        if now - self._logged.get(notice.key, -THROTTLE_S) >= THROTTLE_S:
            self._logged[notice.key] = now
            LOG[notice.level]("motor_driver: %s", notice.text)

    # --------------------------------------------------------------------------------------------------- in

    def _on_joint_targets(self, message: JointState) -> None:
        process = self._process
        if process is None:
            return
        wanted, notices = self._gate.pass_on(message.header.stamp.to_sec(), message.name, message.position, time.time())
        for notice in notices:
            self._log(notice)
        if wanted is None:
            return
        try:
            process.set_targets(wanted)
        except TargetsError as error:
            self._log(Notice("targets", Level.ERROR, f"joint_targets refused: {error}"))

    def _on_emergency_stop(self, message: Bool) -> None:
        if message.data:
            self._stop(f"topic emergency_stop from {message._connection_header.get('callerid', 'somebody')}")

    def _stop(self, cause: str) -> str:
        process = self._latest
        if process is not None:
            process.emergency_stop(cause)  # first, and without the lock: nothing may delay it
        with self._lock:
            was_stopped, self._stop_cause = self._stop_cause, self._stop_cause or cause
            rospy.set_param(STOPPED_BY, self._stop_cause)
            self._tell_stopped(True)
        text = f"was stopped before ({was_stopped})" if was_stopped else f"stopped ({cause})"
        text += ": torque is off until rearm is called"
        rospy.logwarn("motor_driver: %s", text)
        return text

    def _on_rearm(self, _request: Any) -> TriggerResponse:
        with self._lock:
            process = self._process
            if process is None:
                return self._rearm_without_bus()
            accepted, reason = process.rearm()
            if accepted:
                self._forget_stop()
                if self._torque_withheld and not self._limp:
                    # this process was started limp because of the stop of the one before
                    self._torque_withheld = False
                    accepted, reason = process.torque(True)
        (rospy.loginfo if accepted else rospy.logwarn)("motor_driver: rearm: %s", reason)
        return TriggerResponse(accepted, reason)

    def _rearm_without_bus(self) -> TriggerResponse:
        """Try to start again, as the words of the failure promise."""
        self._stop_cause = ""
        rospy.set_param(STOPPED_BY, "")
        self._try_at = 0.0
        return TriggerResponse(True, f"trying to start again; it did not so far: {self._failure.words}")

    def _forget_stop(self) -> None:
        self._stop_cause = ""
        rospy.set_param(STOPPED_BY, "")

    def _on_torque(self, request: Any) -> SetBoolResponse:
        with self._lock:
            process = self._process
            if process is None:
                return SetBoolResponse(False, self._failure.words)
            if request.data and self._stop_cause:
                return SetBoolResponse(False, f"stopped ({self._stop_cause}): call rearm, which also brings torque up")
            accepted, reason = process.torque(bool(request.data))
            if accepted:
                self._limp, self._torque_withheld = not request.data, False
                rospy.set_param(LIMP, self._limp)
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


def main() -> None:
    """Run the node."""
    rospy.init_node("motor_driver", disable_rostime=True)
    try:
        private = {key: value for key, value in rospy.get_param("~", {}).items() if key not in KEPT}
        MotorDriverNode(NodeParameters.from_mapping(private)).run()
    except (ConfigurationError, ServoError) as error:
        rospy.logfatal("motor_driver: %s", error)
        raise SystemExit(1) from error
    except rospy.ROSInterruptException:
        pass
