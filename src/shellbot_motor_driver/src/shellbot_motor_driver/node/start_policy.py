# SPDX-License-Identifier: MIT
"""What to do when the driver does not start: try again by itself, or wait until a person has looked; and its words."""

from __future__ import annotations

from typing import Optional

from ax_bus.errors import PortError, PortMissingError, ServoError
from shellbot_common import Level, Notice
from shellbot_motor_driver.errors import BusProcessError, StartError

RETRY_PORT_S = 1.0
RETRY_SILENT_S = 2.0
PATIENCE_S = 10.0  # for a port that is not there yet: udev, or an emulated robot that starts beside the driver


def retry_after(error: ServoError, retry_missing: bool = False) -> Optional[float]:
    """Return the s until the next try, or None: only on request (rearm).

    A port that is not there, or servos without power, come when a person plugs or switches them on: going on by itself
    is what that person expects. A servo that is missing among others, doubled or of another model is different:
    a person has hands in the robot, and torque must not come up behind them.

    Parameters
    ----------
    error : ServoError
        What the start raised.
    retry_missing : bool
        ``start.retry_missing``: try again whatever is wrong with the servos, as no person can touch them.
    """
    if isinstance(error, StartError):
        report = error.report
        return RETRY_SILENT_S if retry_missing or (report is not None and not report.answered) else None
    if isinstance(error, (PortError, BusProcessError)):
        return RETRY_PORT_S
    return None


class StartFailure:
    """Why the driver has not started, each reason logged once.

    Parameters
    ----------
    retry_missing : bool
        As of `retry_after`.

    Attributes
    ----------
    words : str
        The reason, and what to do; empty once it has started.
    """

    def __init__(self, retry_missing: bool = False) -> None:
        self._retry_missing = retry_missing
        self.words = "starting"
        self._since = 0.0
        self._is_reported = True

    def note(self, error: ServoError, now: float) -> Optional[Notice]:
        """Take the reason of a try at ``now``, s; return what is to be logged, if anything."""
        wait = retry_after(error, self._retry_missing)
        then = "then call rearm to try again" if wait is None else f"trying again every {wait:g} s"
        words = f"not started, nothing moves: {error}; {then}"
        if words != self.words:
            self.words, self._since, self._is_reported = words, now, False
            if isinstance(error, PortMissingError):
                return Notice("start", Level.INFO, "waiting for the port to appear")
        if self._is_reported or (isinstance(error, PortMissingError) and now - self._since < PATIENCE_S):
            return None
        self._is_reported = True
        # what is tried again by itself is no error yet
        return Notice("start", Level.ERROR if wait is None else Level.WARN, words)

    def clear(self) -> None:
        """Note that it has started."""
        self.words = ""
