# SPDX-License-Identifier: MIT
"""Driver state to ROS messages; the gains' page from one."""

from __future__ import annotations

import math
from typing import Dict, Iterable

import rospy
from diagnostic_msgs.msg import DiagnosticArray
from dynamic_reconfigure.msg import Config
from sensor_msgs.msg import BatteryState, JointState

from shellbot_common.diagnostics_conversions import diagnostic_status, diagnostics
from shellbot_motor_driver.driving.driver_state import DriverState, ServoReading
from shellbot_motor_driver.safety.battery_estimate import charge_estimate
from shellbot_motor_driver.safety.health import HealthLine
from shellbot_msgs.msg import ServoState, ServoStates

CAPACITY_AH = 2.3  # of the robot's 3S battery


def joint_states_message(state: DriverState, stamp: rospy.Time) -> JointState:
    """Return the measured joints."""
    message = JointState(
        name=list(state.joint_names),
        position=state.position.tolist(),
        velocity=state.velocity.tolist(),
        effort=state.effort.tolist(),
    )
    message.header.stamp = stamp
    return message


def servo_states_message(state: DriverState, stamp: rospy.Time) -> ServoStates:
    """Return all servos as last read."""
    message = ServoStates(servos=[_servo_state(servo) for servo in state.servos])
    message.header.stamp = stamp
    return message


def _servo_state(servo: ServoReading) -> ServoState:
    return ServoState(
        id=servo.servo_id,
        joint=servo.joint,
        position=servo.position,
        velocity=servo.velocity,
        load=servo.load,
        voltage=servo.voltage,
        temperature=servo.temperature,
        error=int(servo.alarms) & 0xFF,
        torque_enabled=servo.torque_on,
        age=servo.age,
    )


def battery_message(state: DriverState, cells: int, stamp: rospy.Time) -> BatteryState:
    """Return the battery: voltage is measured (median over servos and time), charge estimated, the rest not known."""
    voltage = state.supply.filtered
    is_known = math.isfinite(voltage)
    message = BatteryState(
        voltage=voltage,
        current=math.nan,
        charge=math.nan,
        capacity=math.nan,
        design_capacity=CAPACITY_AH,
        percentage=charge_estimate(voltage, cells),
        power_supply_status=(
            BatteryState.POWER_SUPPLY_STATUS_DISCHARGING if is_known else BatteryState.POWER_SUPPLY_STATUS_UNKNOWN
        ),
        power_supply_health=BatteryState.POWER_SUPPLY_HEALTH_UNKNOWN,
        power_supply_technology=BatteryState.POWER_SUPPLY_TECHNOLOGY_LIPO,
        present=is_known,
        # the message's own rule: their number is known, their voltages are not
        cell_voltage=[math.nan] * cells,
        location="servo bus",
    )
    message.header.stamp = stamp
    return message


def diagnostics_message(node: str, lines: Iterable[HealthLine], hardware: str, stamp: rospy.Time) -> DiagnosticArray:
    """Return the lines of health under a node's name."""
    statuses = (
        diagnostic_status(f"{node}: {line.name}", int(line.level), line.message, dict(line.values), hardware)
        for line in lines
    )
    return diagnostics(stamp, *statuses)


def page_from_config(config: Config) -> Dict[str, float]:
    """Return the entries of a dynamic_reconfigure page that are numbers."""
    # a whole number in a YAML file becomes an int on the wire of a Python server
    return {entry.name: float(entry.value) for entry in [*config.doubles, *config.ints]}
