# SPDX-License-Identifier: MIT
"""The one base exception of this package; every message says what to do next."""

from __future__ import annotations

from shellbot_common import SettingsError


class ChainError(Exception):
    """A chain, the emulated robot, or what is built on them could not do what was requested."""


class DefinitionError(ChainError, SettingsError):
    """A definition file or an argument holds a value that is not allowed."""


class MissionFailed(ChainError):
    """The robot did not do what was commanded within the time limit."""
