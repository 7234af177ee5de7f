# SPDX-License-Identifier: MIT
"""Dynamixel protocol 1.0 over half-duplex ports: registers, packets, ports, a bus that believes only what is true.

Names are imported on first use: `import ax_bus` needs neither numpy nor pyserial.
"""

from typing import TYPE_CHECKING

# Not lazy: a module has this name, too, and once it is imported it would be found in place of the function.
from ax_bus.direction import DIRECTIONS, Direction, direction
from ax_bus.lazy import lazy_names

if TYPE_CHECKING:
    from ax_bus.bulk_reader import BulkReplies
    from ax_bus.bus import Bus
    from ax_bus.errors import (
        BusError,
        GarbledReplyError,
        ImplausibleReadingError,
        NoReplyError,
        NoSuchRegisterError,
        PacketError,
        PortError,
        PortLostError,
        PortMissingError,
        ReadsNotTrustedError,
        RefusedError,
        RegisterError,
        ServoError,
        StopRequestedError,
    )
    from ax_bus.exchanger import Reply
    from ax_bus.model import Model, Register
    from ax_bus.port import Port
    from ax_bus.protocol import ErrorFlags, Instruction, Status
    from ax_bus.registers import AX_12A, AX_18A, MODELS, MX_28, MX_64, model_of
    from ax_bus.serial_port import SerialPort
    from ax_bus.servo import Servo
    from ax_bus.statistics import BusStatistics
    from ax_bus.status_parser import StatusParser
    from ax_bus.sync_writer import SyncWriter
    from ax_bus.wire_time import Timeouts
    from ax_bus.wiring import WiringReport, check_wiring

_MODULES = {
    "bulk_reader": "BulkReplies",
    "bus": "Bus",
    "errors": (
        "BusError GarbledReplyError ImplausibleReadingError NoReplyError NoSuchRegisterError PacketError "
        "PortError PortLostError PortMissingError ReadsNotTrustedError RefusedError RegisterError ServoError "
        "StopRequestedError"
    ),
    "exchanger": "Reply",
    "model": "Model Register",
    "port": "Port",
    "protocol": "ErrorFlags Instruction Status",
    "registers": "AX_12A AX_18A MODELS MX_28 MX_64 model_of",
    "serial_port": "SerialPort",
    "servo": "Servo",
    "statistics": "BusStatistics",
    "status_parser": "StatusParser",
    "sync_writer": "SyncWriter",
    "wire_time": "Timeouts",
    "wiring": "WiringReport check_wiring",
}
__getattr__, __dir__ = lazy_names(__name__, _MODULES)

__all__ = [
    "AX_12A",
    "AX_18A",
    "DIRECTIONS",
    "MODELS",
    "MX_28",
    "MX_64",
    "BulkReplies",
    "Bus",
    "BusError",
    "BusStatistics",
    "Direction",
    "ErrorFlags",
    "GarbledReplyError",
    "ImplausibleReadingError",
    "Instruction",
    "Model",
    "NoReplyError",
    "NoSuchRegisterError",
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
    "Servo",
    "ServoError",
    "Status",
    "StatusParser",
    "StopRequestedError",
    "SyncWriter",
    "Timeouts",
    "WiringReport",
    "check_wiring",
    "direction",
    "model_of",
]
