# SPDX-License-Identifier: MIT
"""Errors of the driver; every message names the value, what is allowed and what to do next."""

from __future__ import annotations

from typing import Any

from ax_bus.errors import NoReplyError, ServoError
from shellbot_common import SettingsError


class MotorDriverError(ServoError):
    """Base of the errors of shellbot_motor_driver; those of the bus below it are `ax_bus.ServoError` as well."""


class ServoMapError(MotorDriverError, SettingsError):
    """A servo map, or joint targets for it, that cannot be used."""


class DriverConfigError(MotorDriverError, SettingsError):
    """A parameter of the motor driver that cannot be used."""


class StartError(MotorDriverError):
    """The driver does not start: which servos answered, which did not, what to do; nothing has moved.

    Attributes
    ----------
    report : shellbot_motor_driver.driving.start_report.StartReport or None
        What was found until then.
    """

    report: Any = None


class ImpossibleReplyError(MotorDriverError, NoReplyError):
    """A servo answers with what cannot be: without a position that can be true there is no torque."""


class BusProcessError(MotorDriverError):
    """The bus process does not start, or does not answer."""
