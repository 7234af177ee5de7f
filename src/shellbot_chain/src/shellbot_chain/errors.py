# SPDX-License-Identifier: MIT
"""The one base exception of this package; every message says what to do next."""

from __future__ import annotations

from robot_evaluation.errors import EvaluationError


class ChainError(EvaluationError):
    """A chain, the emulated robot, or what is built on them could not do what was requested."""


class MissionFailed(ChainError):
    """The robot did not do what was commanded within the time limit."""
