# SPDX-License-Identifier: MIT
"""Do something with servo after servo: one that fails does not keep the others from their turn."""

from __future__ import annotations

from typing import Callable, Dict, Iterable

from ax_bus.errors import ServoError


def each(servo_ids: Iterable[int], act: Callable[[int], object]) -> Dict[int, str]:
    """Call ``act(servo_id)`` for all; return why it failed for those for which it did."""
    failures: Dict[int, str] = {}
    for servo_id in servo_ids:
        try:
            act(servo_id)
        except ServoError as error:
            failures[servo_id] = str(error)
    return failures
