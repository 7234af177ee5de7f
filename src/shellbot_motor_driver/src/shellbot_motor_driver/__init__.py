# SPDX-License-Identifier: MIT
"""Joint targets to AX servos and back: servo map, safety ladder, driver, bus process."""

from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.driving.driver_state import Condition, DriverState, ServoReading, Supply, TorqueOff
from shellbot_motor_driver.driving.motor_driver import MotorDriver
from shellbot_motor_driver.driving.start_report import Answer, ServoIdentity, StartReport
from shellbot_motor_driver.driving.timing import BusTiming, Histogram
from shellbot_motor_driver.errors import BusProcessError, DriverConfigError, MotorDriverError, ServoMapError, StartError
from shellbot_motor_driver.map.compliance import SLOPES, Compliance, compliance_from_gains, slope_for, stiffness
from shellbot_motor_driver.map.servo_map import ServoEntry, ServoMap
from shellbot_motor_driver.process.bus_process import BusProcess
from shellbot_motor_driver.process.bus_settings import BusSettings
from shellbot_motor_driver.process.servo_backend import ServoBackend
from shellbot_motor_driver.safety.ladder import Ladder, Phase, Reaction, Rung

__all__ = [
    "SLOPES",
    "Answer",
    "BusProcess",
    "BusProcessError",
    "BusSettings",
    "BusTiming",
    "Compliance",
    "Condition",
    "DriverConfig",
    "DriverConfigError",
    "DriverState",
    "Histogram",
    "Ladder",
    "MotorDriver",
    "MotorDriverError",
    "Phase",
    "Reaction",
    "Rung",
    "ServoBackend",
    "ServoEntry",
    "ServoIdentity",
    "ServoMap",
    "ServoMapError",
    "ServoReading",
    "StartError",
    "StartReport",
    "Supply",
    "TorqueOff",
    "compliance_from_gains",
    "slope_for",
    "stiffness",
]
