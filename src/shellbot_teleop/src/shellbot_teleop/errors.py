# SPDX-License-Identifier: MIT
"""Errors of the operator side; every message says what is allowed and what to do."""

from __future__ import annotations

from shellbot_common import SettingsError


class TeleopError(Exception):
    """Base of all errors of this package."""


class KeymapError(TeleopError, SettingsError):
    """The key map cannot be read or contradicts itself."""


class MappingError(TeleopError, SettingsError):
    """The mapping of a joystick cannot be read or contradicts itself."""


class ConfigError(TeleopError, SettingsError):
    """A setting is missing, unknown or out of range."""


class ParameterError(TeleopError, ValueError):
    """A parameter of an action that there is not, or a value that it cannot have."""


class LimitsError(TeleopError, ValueError):
    """Limits of the walkspace that cannot be used."""
