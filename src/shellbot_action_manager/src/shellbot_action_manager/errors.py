# SPDX-License-Identifier: MIT
"""Errors of the action manager. Each message gives the value, what is allowed and what to do next."""

from __future__ import annotations

from shellbot_common import SettingsError


class ActionManagerError(ValueError):
    """Base of every error of this package."""


class ConfigError(ActionManagerError, SettingsError):
    """A configuration file cannot be read, or a value in it is out of range."""


class UnknownGaitError(ActionManagerError):
    """A gait was commanded that is not in the table."""


class UnknownModelError(ActionManagerError):
    """Contacts name an odometry model that does not exist."""


class ActionError(ActionManagerError):
    """An action of the library cannot be read, or cannot be performed with these parameters."""
