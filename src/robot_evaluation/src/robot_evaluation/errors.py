# SPDX-License-Identifier: MIT
"""The one base exception of this package; every message says what to do next."""

from __future__ import annotations

from shellbot_common import SettingsError


class EvaluationError(Exception):
    """A run, an experiment or a report could not be carried out as requested."""


class DefinitionError(EvaluationError, SettingsError):
    """A definition file or an argument holds a value that is not allowed."""
