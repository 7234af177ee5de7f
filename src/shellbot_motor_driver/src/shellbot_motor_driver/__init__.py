# SPDX-License-Identifier: MIT
"""The Dynamixel side: registers, protocol 1.0, half-duplex ports, bus, servo map; an emulated chain; servo tools."""

from shellbot_motor_driver.bus import Bus
from shellbot_motor_driver.direction import DIRECTIONS, Direction, direction
from shellbot_motor_driver.errors import (
    BusError,
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
    ToolError,
)
from shellbot_motor_driver.exchanger import Reply
from shellbot_motor_driver.port import Port
from shellbot_motor_driver.protocol import ErrorFlags, Instruction, Status
from shellbot_motor_driver.registers import AX_12A, AX_18A, MODELS, Model, Register, model_of
from shellbot_motor_driver.serial_port import SerialPort
from shellbot_motor_driver.servo_map import ServoEntry, ServoMap
from shellbot_motor_driver.statistics import BusStatistics
from shellbot_motor_driver.status_parser import StatusParser
from shellbot_motor_driver.sync_writer import SyncWriter
from shellbot_motor_driver.wire_time import Timeouts
from shellbot_motor_driver.wiring import WiringReport, check_wiring

__all__ = [
    "AX_12A",
    "AX_18A",
    "DIRECTIONS",
    "MODELS",
    "Bus",
    "BusError",
    "BusStatistics",
    "Direction",
    "EmulationError",
    "ErrorFlags",
    "GarbledReplyError",
    "Instruction",
    "Model",
    "MotorDriverError",
    "NoReplyError",
    "PacketError",
    "Port",
    "PortError",
    "PortLostError",
    "ReadsNotTrustedError",
    "RefusedError",
    "Register",
    "RegisterError",
    "Reply",
    "SerialPort",
    "ServoEntry",
    "ServoMap",
    "ServoMapError",
    "Status",
    "StatusParser",
    "SyncWriter",
    "Timeouts",
    "ToolError",
    "WiringReport",
    "check_wiring",
    "direction",
    "model_of",
]
