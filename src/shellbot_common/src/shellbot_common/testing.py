# SPDX-License-Identifier: MIT
"""What the tests of all packages share: patience."""

from __future__ import annotations

import time
import traceback
from typing import Callable, Union

PATIENCE = 180.0  # s of wall clock; only what hangs takes so long, however busy the machine


def wait_until(
    condition: Callable[[], object],
    what: Union[str, Callable[[], object]] = "",
    seconds: float = PATIENCE,
    meanwhile: Callable[[], object] = lambda: None,
    period: float = 0.01,
) -> float:
    """Wait until a condition holds; return how long it took (s of wall clock).

    Parameters
    ----------
    condition : callable
        Returns something true when the wait is over.
    what : str or callable
        What is waited for, or a function that returns it, for the error's sentence; default: the line of the caller.
    seconds : float
        s of wall clock after which the test fails.
    meanwhile : callable
        Called before each further look at the condition.
    period : float
        s of wall clock between two looks.

    Raises
    ------
    AssertionError
        If the condition does not hold in time.
    """
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            text = what() if callable(what) else what or traceback.extract_stack(limit=2)[0].line
            raise AssertionError(f"not within {seconds:g} s: {text}")
        meanwhile()
        time.sleep(period)
    return time.monotonic() - start
