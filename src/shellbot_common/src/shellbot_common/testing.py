# SPDX-License-Identifier: MIT
"""What the tests of all packages share: patience, and topics that do nothing."""

from __future__ import annotations

import time
import traceback
from typing import Any, Callable, List, Union

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


class SilentTopic:
    """Takes the place of publisher, subscriber and service."""

    def __init__(self, *_args: object, **_options: object) -> None:
        """Take what they take."""

    def publish(self, _message: object) -> None:
        """Do nothing."""


def silence(monkeypatch: Any, rospy: Any, *modules: Any) -> List[str]:
    """Replace rospy's topics, services and parameters, and the publishers of modules; return the log as it grows."""
    log: List[str] = []
    for name in ("Subscriber", "Service"):
        monkeypatch.setattr(rospy, name, SilentTopic)
    for module in modules:
        monkeypatch.setattr(module, "Publisher", SilentTopic)
    monkeypatch.setattr(rospy, "get_param", lambda _name, default: default)
    for name in ("logwarn", "loginfo", "logerr"):
        monkeypatch.setattr(rospy, name, lambda text, *values: log.append(text % values))
    return log
