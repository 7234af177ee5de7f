# SPDX-License-Identifier: MIT
"""Dynamixel protocol 1.0 over half-duplex ports: registers, packets, ports, a bus that believes only what is true."""

from ax_bus.bus import Bus
from ax_bus.direction import DIRECTIONS, Direction, direction
from ax_bus.errors import (
    BusError,
    GarbledReplyError,
    NoReplyError,
    PacketError,
    PortError,
    PortLostError,
    PortMissingError,
    ReadsNotTrustedError,
    RefusedError,
    RegisterError,
    ServoError,
    StopAskedError,
)
from ax_bus.exchanger import Reply
from ax_bus.port import Port
from ax_bus.protocol import ErrorFlags, Instruction, Status
from ax_bus.registers import AX_12A, AX_18A, MODELS, MX_28, MX_64, Model, Register, model_of
from ax_bus.serial_port import SerialPort
from ax_bus.statistics import BusStatistics
from ax_bus.status_parser import StatusParser
from ax_bus.sync_writer import SyncWriter
from ax_bus.wire_time import Timeouts
from ax_bus.wiring import WiringReport, check_wiring

__all__ = [
    "AX_12A",
    "AX_18A",
    "DIRECTIONS",
    "MODELS",
    "MX_28",
    "MX_64",
    "Bus",
    "BusError",
    "BusStatistics",
    "Direction",
    "ErrorFlags",
    "GarbledReplyError",
    "Instruction",
    "Model",
    "NoReplyError",
    "PacketError",
    "Port",
    "PortError",
    "PortLostError",
    "PortMissingError",
    "ReadsNotTrustedError",
    "RefusedError",
    "Register",
    "RegisterError",
    "Reply",
    "SerialPort",
    "ServoError",
    "Status",
    "StatusParser",
    "StopAskedError",
    "SyncWriter",
    "Timeouts",
    "WiringReport",
    "check_wiring",
    "direction",
    "model_of",
]
