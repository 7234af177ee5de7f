# SPDX-License-Identifier: MIT
"""How far the action is that a robot performs, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Optional


class Outcome(str, Enum):
    """How a performance ended."""

    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    ABORTED = "aborted"

    __str__ = str.__str__


@dataclass(frozen=True)
class PerformanceStatus:
    """How far an action is."""

    name: str
    step: str  #: What is being done now, such as "2 of 5: lift"
    phase: float = 0.0  #: 0..1 of the step
    progress: float = 0.0  #: 0..1 of the whole
    paused: bool = False
    outcome: Optional[Outcome] = None  #: None while it runs
    text: str = ""  #: Sentence about the outcome
