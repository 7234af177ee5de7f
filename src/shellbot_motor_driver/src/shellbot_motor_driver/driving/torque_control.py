# SPDX-License-Identifier: MIT
"""Torque limits of all servos: ramps after switching on, fractions for heat, battery, overload; written on change."""

from __future__ import annotations

from typing import Dict, List

import numpy as np

from shellbot_motor_driver.map.servo_map import ServoMap

Array = np.ndarray
INITIAL_FRACTION = 0.05  # of the torque at the beginning of a ramp: enough to feel, too little to jump
_INTERVAL = 0.05  # s between two steps of a ramp


class TorqueControl:
    """Decide each servo's torque limit.

    Parameters
    ----------
    ramp : float
        s from nothing to everything.

    Attributes
    ----------
    on : (n,) array of bool
        Whether the torque of a servo is to be on.
    robot : float
        Fraction of the torque for all.
    part : (n,) array
        Fraction for each servo: heat of its leg, overload.
    requested : (n,) array
        Fraction that the operator's gains request.
    written : (n,) array of int
        Register values that were sent last; -1 if unknown.
    is_settled : bool
        Whether there is nothing to write until a fraction changes.
    """

    def __init__(self, servo_map: ServoMap, ramp: float) -> None:
        n = len(servo_map.entries)
        self._ramp = ramp
        self._full = np.array([entry.model.register("max_torque").factory for entry in servo_map.entries], dtype=float)
        self.on = np.zeros(n, dtype=bool)
        self.robot = 1.0
        self.part = np.ones(n)
        self.requested = np.ones(n)
        self.written = np.full(n, -1)
        self._begin = np.full(n, -np.inf)  # when a ramp began, s
        self._from = np.ones(n)
        self._due = -np.inf
        self.is_settled = False

    def switch_on(self, indices: List[int], now: float, fraction: float = INITIAL_FRACTION) -> None:
        """Let ramps of servos begin at ``fraction``."""
        self.on[indices] = True
        self._begin[indices] = now if fraction < 1.0 else -np.inf
        self._from[indices] = fraction
        self.is_settled = False

    def switch_off(self, indices: List[int]) -> None:
        """Note that servos are to be limp."""
        self.on[indices] = False
        self.written[indices] = -1

    def touch(self) -> None:
        """Look again soon: a fraction was changed."""
        self.is_settled = False

    def fractions(self, now: float) -> Array:
        """Return the fraction of its torque that each servo is to have, (n,)."""
        progress = np.maximum(np.minimum((now - self._begin) / self._ramp, 1.0), 0.0)
        ramp = self._from + (1.0 - self._from) * progress
        return np.where(self.on, ramp * self._allowed, 0.0)

    @property
    def _allowed(self) -> Array:
        return self.part * self.requested * self.robot

    def is_ramping(self, now: float) -> Array:
        """Return which servos' torque is still coming up, (n,) bool."""
        return self.on & (now - self._begin < self._ramp)

    def limit(self, index: int, now: float) -> int:
        """Return the register value of one servo now."""
        return int(round(float(self.fractions(now)[index]) * self._full[index]))

    def limit_in_wheel_mode(self, index: int) -> int:
        """Return the register value of a servo in wheel mode, whose torque has no ramp and comes with its speed."""
        return int(round(float(self._allowed[index] * self._full[index])))

    def fraction_of(self, index: int, limit: int) -> float:
        """Return the fraction that a register value means, at least that of a ramp's beginning."""
        return min(1.0, max(INITIAL_FRACTION, limit / float(self._full[index])))

    def changes(self, now: float, allowed: Array) -> Dict[int, int]:
        """Return what to write now: index to register value. Only to ``allowed`` ones: it would end an alarm."""
        if self.is_settled or now < self._due:
            return {}
        self._due = now + _INTERVAL
        values = np.rint(self.fractions(now) * self._full).astype(int)
        pending = self.on & (values != self.written)
        differ = np.flatnonzero(pending & allowed)
        self.is_settled = not pending.any() and not self.is_ramping(now).any()
        self.written[differ] = values[differ]
        return {int(i): int(values[i]) for i in differ}
