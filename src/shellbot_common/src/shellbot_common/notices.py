# SPDX-License-Identifier: MIT
"""Messages for the operator as data: a pure core returns them, its node logs them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How much a notice matters."""

    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True)
class Notice:
    """One sentence for the operator."""

    key: str  #: Kind of the notice; a node throttles notices of one key together
    level: Level  #: How much it matters
    text: str  #: What happened, and what to do next
