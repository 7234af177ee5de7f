# SPDX-License-Identifier: MIT
"""Joint targets to AX servos and back: servo map, safety ladder, driver, bus process."""

from typing import TYPE_CHECKING

from ax_bus.lazy import lazy_names

if TYPE_CHECKING:
    from shellbot_motor_driver.driving.driver_config import DriverConfig
    from shellbot_motor_driver.driving.driver_state import Condition, DriverState, ServoReading, Supply, TorqueOff
    from shellbot_motor_driver.driving.motor_driver import MotorDriver
    from shellbot_motor_driver.driving.start_report import Answer, ServoIdentity, StartReport
    from shellbot_motor_driver.driving.timing import BusTiming, Histogram
    from shellbot_motor_driver.errors import (
        BusProcessError,
        DriverConfigError,
        MotorDriverError,
        ServoMapError,
        StartError,
    )
    from shellbot_motor_driver.map.compliance import SLOPES, Compliance, compliance_from_gains, slope_for, stiffness
    from shellbot_motor_driver.map.servo_entry import ServoEntry
    from shellbot_motor_driver.map.servo_map import ServoMap
    from shellbot_motor_driver.process.bus_process import BusProcess
    from shellbot_motor_driver.process.bus_settings import BusSettings
    from shellbot_motor_driver.safety.ladder import Ladder, Phase, Reaction, Rung

# names are imported when they are first used: the help of a tool must not wait for numpy
_MODULES = {
    "driving.driver_config": "DriverConfig",
    "driving.driver_state": "Condition DriverState ServoReading Supply TorqueOff",
    "driving.motor_driver": "MotorDriver",
    "driving.start_report": "Answer ServoIdentity StartReport",
    "driving.timing": "BusTiming Histogram",
    "errors": "BusProcessError DriverConfigError MotorDriverError ServoMapError StartError",
    "map.compliance": "SLOPES Compliance compliance_from_gains slope_for stiffness",
    "map.servo_entry": "ServoEntry",
    "map.servo_map": "ServoMap",
    "process.bus_process": "BusProcess",
    "process.bus_settings": "BusSettings",
    "safety.ladder": "Ladder Phase Reaction Rung",
}
__getattr__, __dir__ = lazy_names(__name__, _MODULES)

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
