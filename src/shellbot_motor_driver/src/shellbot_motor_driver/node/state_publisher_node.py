# SPDX-License-Identifier: MIT
"""The part of node ``motor_driver`` that publishes each tick of the bus process as soon as it is there."""

from __future__ import annotations

import time
import traceback
from typing import Any, Callable, Optional

import rospy
from sensor_msgs.msg import BatteryState, JointState

from shellbot_common.publisher_node import Publisher
from shellbot_control import arrival_status
from shellbot_control.arrival_conversions import status_message
from shellbot_motor_driver.driving.driver_state import DriverState
from shellbot_motor_driver.node import motor_driver_conversions as conversions
from shellbot_motor_driver.node.node_parameters import NodeParameters
from shellbot_motor_driver.node.stamp_clock import StampClock
from shellbot_motor_driver.node.target_gate import TargetGate
from shellbot_motor_driver.process.bus_process import BusProcess
from shellbot_motor_driver.safety.ladder import Phase
from shellbot_msgs.msg import ReferenceStatus, ServoStates

IDLE_S = 0.05  # between two looks for a bus process
LATE_S = 0.3e-3  # after a tick was due its state is there
MANY_LOOKS = 50  # at a tenth of a period each, for the next tick; then it is late
STATUS_EVERY, SERVOS_EVERY, BATTERY_EVERY = 5, 10, 100  # ticks: 20, 10 and 1 Hz


class StatePublisher:
    """Measured joints at each tick, the rest now and then.

    Parameters
    ----------
    parameters : NodeParameters
        Tick, tolerance, battery.
    gate : TargetGate
        Which targets came.
    clock : StampClock
        Wall clock of ticks.
    """

    def __init__(self, parameters: NodeParameters, gate: TargetGate, clock: StampClock) -> None:
        self._parameters, self._gate, self._clock = parameters, gate, clock
        self._published = 0
        self._battery_known = False
        self._joint_states = Publisher("joint_states", JointState, queue_size=1, tcp_nodelay=True)
        self._battery = Publisher("battery_state", BatteryState, queue_size=1, latch=True)
        self._servos = Publisher("servo_states", ServoStates, queue_size=1)
        self._status = Publisher("reference_status", ReferenceStatus, queue_size=5)

    def run(self, process: Callable[[], Optional[BusProcess]], on_state: Callable[[DriverState], None]) -> None:
        """Publish until shutdown; an error here must end the node, which is respawned, not leave it silent.

        Parameters
        ----------
        process : callable
            Returns the started bus process, or None.
        on_state : callable
            Is given each state that was published, and the last one now and then while no new one comes.
        """
        try:
            self._publish_ticks(process, on_state)
        except Exception:
            rospy.logfatal("motor_driver: the publishing thread failed:\n%s", traceback.format_exc())
            rospy.signal_shutdown("the publishing thread failed")

    def _publish_ticks(
        self, process: Callable[[], Optional[BusProcess]], on_state: Callable[[DriverState], None]
    ) -> None:
        """Publish each tick's joints as soon as they are there; their arrival starts the chain's tick."""
        period, tick, looks = self._parameters.config.tick.period, -1, 0
        while not rospy.is_shutdown():
            bus = process()
            if bus is None:
                tick = -1
                time.sleep(IDLE_S)
                continue
            state = bus.state()
            looks = looks + 1 if state.tick == tick else 0
            if not looks:
                tick = state.tick
                self._publish(state, on_state)
            elif looks > MANY_LOOKS and looks % STATUS_EVERY == 0:
                on_state(state)  # no tick comes: the age of the state alone changes what it means
                self._publish_status(state, rospy.Time.from_sec(self._clock.stamp(time.monotonic())))
            if looks:
                time.sleep(period if looks > MANY_LOOKS else 0.1 * period)
                continue
            time.sleep(max(state.stamp + period + LATE_S - time.monotonic(), 0.0))

    def _publish(self, state: DriverState, on_state: Callable[[DriverState], None]) -> None:
        stamp = rospy.Time.from_sec(self._clock.stamp(state.stamp))
        self._joint_states.publish(conversions.joint_states_message(state, stamp))
        self._published += 1
        on_state(state)
        count = self._published
        if count % STATUS_EVERY == 0:
            self._publish_status(state, stamp)
        if count % SERVOS_EVERY == 0:
            self._servos.publish(conversions.servo_states_message(state, stamp))
        is_known = state.supply.filtered == state.supply.filtered
        if count % BATTERY_EVERY == 1 or is_known != self._battery_known:
            self._battery_known = is_known
            cells = self._parameters.battery_cells
            self._battery.publish(conversions.battery_message(state, cells, stamp))

    def _publish_status(self, state: DriverState, stamp: rospy.Time) -> None:
        self._status.publish(status_message(self._arrival(state, time.time()), stamp))

    def _arrival(self, state: DriverState, now: float) -> Any:
        gate, ladder = self._gate, state.ladder
        waiting = "no joint_targets yet: start the nodes that make them"
        text = ladder.text or gate.text or ("" if gate.requested is not None else waiting)
        return arrival_status(
            state.joint_names,
            gate.requested,
            None if state.is_write_only else state.position,
            self._parameters.arrival_tolerance,
            gate.age(now),
            ladder.phase is not Phase.FOLLOWING,
            text,
        )
