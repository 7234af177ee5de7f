# SPDX-License-Identifier: MIT
"""What to do when the driver does not start: try again by itself, or wait until a person has looked."""

from __future__ import annotations

from typing import Optional

from shellbot_motor_driver.errors import BusProcessError, MotorDriverError, PortError, StartError

RETRY_PORT_S = 1.0
RETRY_SILENT_S = 2.0


def retry_after(error: MotorDriverError) -> Optional[float]:
    """Return the s until the next try, or None: only when somebody asks.

    A port that is not there, or servos without power, come when a person plugs or switches them on: going on by itself
    is what that person expects. A servo that is missing among others, doubled or of another model is different:
    somebody has hands in the robot, and torque must not come up behind them.

    Parameters
    ----------
    error : MotorDriverError
        What the start raised.
    """
    if isinstance(error, StartError):
        report = error.report
        return RETRY_SILENT_S if report is not None and not report.answered else None
    if isinstance(error, (PortError, BusProcessError)):
        return RETRY_PORT_S
    return None


def failure_words(error: MotorDriverError) -> str:
    """Return what to tell the operator, the next step included."""
    wait = retry_after(error)
    if wait is None:
        return f"not started, nothing moves: {error}; then call rearm to try again"
    return f"not started, nothing moves: {error}; trying again every {wait:g} s"
