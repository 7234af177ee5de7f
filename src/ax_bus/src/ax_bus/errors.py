# SPDX-License-Identifier: MIT
"""Errors of the bus; every message names the value, what is allowed and what to do next."""

from __future__ import annotations


class ServoError(Exception):
    """Base of all errors of ax_bus, ax_emulator and ax_tools, and of what builds on them."""


class RegisterError(ServoError, ValueError):
    """A register, model or value that the servo does not have or take."""


class NoSuchRegisterError(RegisterError, AttributeError):
    """An attribute of a `Servo` that is none of its registers."""


class PacketError(ServoError, ValueError):
    """A packet that cannot be built: ID, address or length out of range."""


class PortError(ServoError, OSError):
    """A port that cannot be opened, or does not offer what the direction control needs."""


class PortMissingError(PortError):
    """There is no such port, or not yet."""


class PortLostError(PortError):
    """The port was there and is gone: unplugged, or the adapter restarted."""


class BusError(ServoError):
    """An exchange with a servo that did not succeed."""


class NoReplyError(BusError, TimeoutError):
    """Nothing usable arrived in time, in any of the tries."""


class GarbledReplyError(NoReplyError):
    """Bytes arrived, but no valid reply among them: noise, a truncated reply, a collision, two servos with one ID."""


class ReadsNotTrustedError(BusError):
    """The wiring does not let replies through reliably, so nothing is read at all."""


class ImplausibleReadingError(BusError):
    """A reading that came whole and in time, and still cannot be right."""


class RefusedError(BusError):
    """The servo reported that it did not execute the instruction."""


class StopRequestedError(ServoError):
    """A stop was requested while servos were being read: what was going on is given up."""
