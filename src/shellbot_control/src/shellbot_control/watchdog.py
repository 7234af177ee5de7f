# SPDX-License-Identifier: MIT
"""Watchdog on the age of the targets, in time that is passed in."""

from __future__ import annotations

import math
from typing import Optional

from shellbot_control.errors import ConfigurationError


class Watchdog:
    """Tell whether something was fed recently enough.

    Parameters
    ----------
    timeout : float
        Greatest age in s that still counts as fresh; positive and finite.

    Raises
    ------
    ConfigurationError
        If the timeout is not positive and finite.
    """

    def __init__(self, timeout: float) -> None:
        if not (math.isfinite(timeout) and timeout > 0.0):
            raise ConfigurationError(f"the watchdog's timeout is {timeout} s; give a positive number of seconds")
        self._timeout = timeout
        self._fed: Optional[float] = None

    @property
    def timeout(self) -> float:
        """Greatest age in s that still counts as fresh."""
        return self._timeout

    def feed(self, t: float) -> None:
        """Note that something fresh arrived, valid at time ``t`` in s."""
        self._fed = t

    def age(self, t: float) -> float:
        """Return the seconds since the last feed at time ``t``; infinite before the first, never negative."""
        return math.inf if self._fed is None else max(t - self._fed, 0.0)

    def expired(self, t: float) -> bool:
        """Return whether the last feed is older than the timeout at time ``t`` in s (or there was none)."""
        return self.age(t) > self._timeout

    def reset(self) -> None:
        """Forget the last feed (the clock was set back)."""
        self._fed = None
