# SPDX-License-Identifier: MIT
"""Exceptions of the simulator; all derive from `SimulatorError`."""

from __future__ import annotations

from shellbot_common import SettingsError


class SimulatorError(Exception):
    """Base of everything this package raises on purpose."""


class ConfigError(SimulatorError, SettingsError):
    """A setting is missing, unknown or out of range; the text names key, value and allowed range."""


class ModelError(SimulatorError, ValueError):
    """The robot description cannot be turned into a physics model."""


class CommandError(SimulatorError, ValueError):
    """A command or a gain was refused; nothing has changed."""


class ObstacleError(SimulatorError, ValueError):
    """An obstacle was refused; nothing has changed."""


class SimulationDivergedError(SimulatorError, RuntimeError):
    """The physics state became invalid (NaN or unbounded); `Simulator.reset` starts again."""


class RenderError(SimulatorError, RuntimeError):
    """No offscreen picture can be made here; the text says what is missing."""
