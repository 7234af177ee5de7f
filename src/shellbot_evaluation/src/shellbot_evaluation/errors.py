# SPDX-License-Identifier: MIT
"""The one base exception of this package; every message says what to do next."""

from __future__ import annotations


class EvaluationError(Exception):
    """An experiment, a benchmark or a report could not be carried out as asked."""


class DefinitionError(EvaluationError, ValueError):
    """A definition file or an argument holds a value that is not allowed."""


class MissionFailed(EvaluationError):
    """The robot did not do what the mission asked within its time limit."""
