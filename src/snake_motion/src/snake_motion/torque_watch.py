# SPDX-License-Identifier: MIT
"""Finds joints that have lost their torque, or are blocked, by their angles and efforts."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from shellbot_common import TICK
from shellbot_control.joint_order import shorten
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
        self._far_for, self._idle_for = np.zeros(joints), np.zeros(joints)  # s: far off; without effort
        self._error = np.zeros(joints)  # rad: mean over some lost_time
        self._strongest = 0.0  # N m: greatest effort of any joint, remembered for some _MEMORY times lost_time
        self._elapsed = 0.0  # s since joints were last looked at

    def clear(self) -> None:
        """Forget what was seen."""
        for values in (self._far_for, self._idle_for, self._error):
            values.fill(0.0)
        self._strongest = self._elapsed = 0.0

    def step(self, elapsed: float, command: np.ndarray, q: np.ndarray, effort: Optional[np.ndarray]) -> str:
        """Return a sentence if joints are lost, else "".

        Parameters
        ----------
        elapsed : float
            Since the last call, s. Joints are looked at five ticks after they last were.
        command, q : (n,) array
            Commanded and measured angles, rad.
        effort : (n,) array or None
            Measured, N m (of servos: their load); None, or zeros since `clear`, if it is not known.
        """
        self._elapsed += elapsed
        if self._elapsed < _LOOK_S:
            return ""
        elapsed, self._elapsed = self._elapsed, 0.0
        config = self._config
        error = np.abs(command - q)
        part = min(1.0, elapsed / config.lost_time)
        self._error += part * (error - self._error)
        self._far_for = np.where(error > math.radians(config.lost_error_deg), self._far_for + elapsed, 0.0)
        if effort is not None:
            size = np.abs(effort)
            self._strongest = max(float(size.max()), (1.0 - part / _MEMORY) * self._strongest)
            idle = size <= config.limp_effort * self._strongest
            self._idle_for = np.where(idle, self._idle_for + elapsed, 0.0)
        if self._strongest > 0.0:  # else it is not measured: some fill the field with zeros
            idle = self._idle_for > config.lost_time
            limp = np.flatnonzero(idle & (self._error > math.radians(config.limp_error_deg)))
            if len(limp):
                off = f"{math.degrees(self._error[limp].max()):.0f} deg off on average, without effort"
                if idle.all():
                    return f"no module has torque: up to {off}; stopping flat. Switch the supply on, then {_REQUEST}"
                return f"{_names(limp)} {'has' if len(limp) == 1 else 'have'} no torque: {off}; {_REMEDY}"
        blocked = np.flatnonzero(self._far_for > config.lost_time)
        if len(blocked):
            off = f"{math.degrees(error[blocked].max()):.0f} deg from the command for {config.lost_time:g} s"
            return f"{_names(blocked)} {'is' if len(blocked) == 1 else 'are'} {off}: no torque, or blocked; {_REMEDY}"
        return ""


_LOOK_S = 4.5 * TICK  # s, so each fifth tick: to look at every one would take a tenth of the time of a simulated tick
_MEMORY = 10.0
_REQUEST = "request the mode go"
_REMEDY = f"stopping flat. Free or replace it, then {_REQUEST}"


def _names(joints: np.ndarray) -> str:
    """Return joints as an operator counts modules."""
    return shorten(f"module {joint + 1} ({'yaw' if joint % 2 else 'pitch'})" for joint in joints)
