# SPDX-License-Identifier: MIT
"""The Dynamixel side: registers, protocol 1.0, half-duplex ports, bus, servo map; an emulated chain; servo tools."""

from shellbot_motor_driver.bus import Bus
from shellbot_motor_driver.bus_process import BusProcess
from shellbot_motor_driver.bus_settings import BusSettings
from shellbot_motor_driver.compliance import SLOPES, Compliance, compliance_from_gains, slope_for, stiffness
from shellbot_motor_driver.direction import DIRECTIONS, Direction, direction
from shellbot_motor_driver.driver_config import DriverConfig
from shellbot_motor_driver.driver_state import Condition, DriverState, ServoReading, Supply
from shellbot_motor_driver.errors import (
    BusError,
    BusProcessError,
    DriverConfigError,
    EmulationError,
    GarbledReplyError,
    MotorDriverError,
    NoReplyError,
    PacketError,
    PortError,
    PortLostError,
    ReadsNotTrustedError,
    RefusedError,
    RegisterError,
    ServoMapError,
    StartError,
    ToolError,
)
from shellbot_motor_driver.exchanger import Reply
from shellbot_motor_driver.ladder import Ladder, Phase, Reaction, Rung
from shellbot_motor_driver.motor_driver import MotorDriver
from shellbot_motor_driver.port import Port
from shellbot_motor_driver.protocol import ErrorFlags, Instruction, Status
from shellbot_motor_driver.registers import AX_12A, AX_18A, MODELS, Model, Register, model_of
from shellbot_motor_driver.serial_port import SerialPort
from shellbot_motor_driver.servo_backend import ServoBackend
from shellbot_motor_driver.servo_map import ServoEntry, ServoMap
from shellbot_motor_driver.start_report import Answer, ServoIdentity, StartReport
from shellbot_motor_driver.statistics import BusStatistics
from shellbot_motor_driver.status_parser import StatusParser
from shellbot_motor_driver.sync_writer import SyncWriter
from shellbot_motor_driver.timing import BusTiming, Histogram
from shellbot_motor_driver.wire_time import Timeouts
from shellbot_motor_driver.wiring import WiringReport, check_wiring

__all__ = [
    "AX_12A",
    "AX_18A",
    "DIRECTIONS",
    "MODELS",
    "SLOPES",
    "Answer",
    "Bus",
    "BusError",
    "BusProcess",
    "BusProcessError",
    "BusSettings",
    "BusStatistics",
    "BusTiming",
    "Compliance",
    "Condition",
    "Direction",
    "DriverConfig",
    "DriverConfigError",
    "DriverState",
    "EmulationError",
    "ErrorFlags",
    "GarbledReplyError",
    "Histogram",
    "Instruction",
    "Ladder",
    "Model",
    "MotorDriver",
    "MotorDriverError",
    "NoReplyError",
    "PacketError",
    "Phase",
    "Port",
    "PortError",
    "PortLostError",
    "Reaction",
    "ReadsNotTrustedError",
    "RefusedError",
    "Register",
    "RegisterError",
    "Reply",
    "Rung",
    "SerialPort",
    "ServoBackend",
    "ServoEntry",
    "ServoIdentity",
    "ServoMap",
    "ServoMapError",
    "ServoReading",
    "StartError",
    "StartReport",
    "Status",
    "StatusParser",
    "Supply",
    "SyncWriter",
    "Timeouts",
    "ToolError",
    "WiringReport",
    "check_wiring",
    "compliance_from_gains",
    "direction",
    "model_of",
    "slope_for",
    "stiffness",
]
