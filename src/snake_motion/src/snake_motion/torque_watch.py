# SPDX-License-Identifier: MIT
"""Finds joints that have lost their torque, or are blocked, by their angles and efforts."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from snake_motion.config import EngineConfig


class TorqueWatch:
    """Watches the joints of one snake.

    A joint far from its command all the time is blocked or limp. A limp joint of a gait of small angles is never far;
    but it gives no effort while it is off its command, which a servo that works does not do.

    Parameters
    ----------
    joints : int
        Number of joints.
    config : EngineConfig
        Errors, time and effort that count.
    """

    def __init__(self, joints: int, config: EngineConfig) -> None:
        self._config = config
        self._far_for = np.zeros(joints)  # s
        self._error, self._effort = np.zeros(joints), np.zeros(joints)  # rad, N m: means over some lost_time

    def clear(self) -> None:
        """Forget what was seen."""
        for values in (self._far_for, self._error, self._effort):
            values.fill(0.0)

    def step(self, elapsed: float, command: np.ndarray, q: np.ndarray, effort: Optional[np.ndarray]) -> str:
        """Return a sentence if a joint is lost, else "".

        Parameters
        ----------
        elapsed : float
            Since the last call, s.
        command, q : (n,) array
            Commanded and measured angles, rad.
        effort : (n,) array or None
            Measured, N m (of servos: their load); None, or all zeros, if it is not known.
        """
        config = self._config
        error = np.abs(command - q)
        part = min(1.0, elapsed / config.lost_time)
        self._error += part * (error - self._error)
        self._far_for = np.where(error > math.radians(config.lost_error_deg), self._far_for + elapsed, 0.0)
        blocked = np.flatnonzero(self._far_for > config.lost_time)
        if len(blocked):
            off = f"{math.degrees(error[blocked[0]]):.0f} deg from its command for {config.lost_time:g} s"
            return f"{_name(blocked[0])} is {off}: no torque, or blocked; {_REMEDY}"
        if effort is None:
            return ""
        self._effort += part * (np.abs(effort) - self._effort)
        greatest = float(self._effort.max())
        if greatest == 0.0:  # not measured: some fill the field with zeros
            return ""
        limp = np.flatnonzero(
            (self._error > math.radians(config.limp_error_deg)) & (self._effort <= config.limp_effort * greatest)
        )
        if len(limp):
            off = f"{math.degrees(self._error[limp[0]]):.0f} deg off its command on average"
            return f"{_name(limp[0])} has no torque: no effort though it is {off}; {_REMEDY}"
        return ""


_REMEDY = "stopping flat. Free or replace it, then request the mode go"


def _name(joint: int) -> str:
    return f"module {joint + 1} ({'yaw' if joint % 2 else 'pitch'})"
