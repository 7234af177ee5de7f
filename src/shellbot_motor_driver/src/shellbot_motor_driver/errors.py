# SPDX-License-Identifier: MIT
"""Errors of this package; every message names the value, what is allowed and what to do next."""

from __future__ import annotations

from typing import Any


class MotorDriverError(Exception):
    """Base of all errors of shellbot_motor_driver."""


class RegisterError(MotorDriverError, ValueError):
    """A register, model or value that the servo does not have or take."""


class PacketError(MotorDriverError, ValueError):
    """A packet that cannot be built: ID, address or length out of range."""


class ServoMapError(MotorDriverError, ValueError):
    """A servo map, or joint targets for it, that cannot be used."""


class PortError(MotorDriverError, OSError):
    """A port that cannot be opened, or does not offer what the direction control needs."""


class PortMissingError(PortError):
    """There is no such port, or not yet."""


class PortLostError(PortError):
    """The port was there and is gone: unplugged, or the adapter restarted."""


class BusError(MotorDriverError):
    """An exchange with a servo that did not succeed."""


class NoReplyError(BusError, TimeoutError):
    """Nothing usable arrived in time, in any of the tries."""


class GarbledReplyError(NoReplyError):
    """Bytes arrived, but no valid reply among them: noise, a cut head or tail, a collision, or two servos of one ID."""


class ReadsNotTrustedError(BusError):
    """The wiring does not let replies through reliably, so nothing is read at all."""


class RefusedError(BusError):
    """The servo answered that it did not do what the instruction said."""


class EmulationError(MotorDriverError, ValueError):
    """An emulated chain or fault that cannot be set up."""


class ToolError(MotorDriverError):
    """A tool refuses: the message says why and what to do."""


class DriverConfigError(MotorDriverError, ValueError):
    """A parameter of the motor driver that cannot be used."""


class StartError(MotorDriverError):
    """The driver does not start: who answered, who did not, what to do; nothing has moved.

    Attributes
    ----------
    report : shellbot_motor_driver.start_report.StartReport or None
        What was found until then.
    """

    report: Any = None


class StopAskedError(MotorDriverError):
    """Somebody asks for a stop while servos are being asked: what was going on is given up."""


class BusProcessError(MotorDriverError):
    """The bus process does not start, or does not answer."""
