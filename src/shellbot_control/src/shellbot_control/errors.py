# SPDX-License-Identifier: MIT
"""Errors of this package; every message names the value, what is allowed and what to do next."""

from __future__ import annotations

from shellbot_common import SettingsError


class ControlError(Exception):
    """Base of all errors of shellbot_control."""


class ConfigurationError(ControlError, SettingsError):
    """A parameter, URDF or gain file that cannot be used."""


class TargetsError(ControlError, ValueError):
    """Joint targets that cannot be applied: wrong length, unknown names or not finite."""
