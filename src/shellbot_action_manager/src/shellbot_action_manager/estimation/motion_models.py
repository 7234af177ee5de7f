# SPDX-License-Identifier: MIT
"""Motion models by name: how far the body moved since the last tick, from what touches the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Dict, Optional, Protocol, Tuple

import numpy as np

from shellbot_action_manager.config import OdometryConfig

_COAST = 3  # ticks that the last velocity is kept for when the standing feet change all at once


@dataclass(frozen=True)
class Displacement:
    """How the body moved over the ground in a tick."""

    shift: np.ndarray  #: (2,) m, in the body's level axes before the motion
    turn: float  #: rad
    feet_used: int = 0  #: Feet that it was fitted to


class MotionModel(Protocol):
    """Estimates the displacement of one kind of motion; odometry sums it up whichever model runs."""

    def reset(self) -> None:
        """Forget the last tick: the next displacement is zero."""

    def step(self, dt: float, p_level: np.ndarray, contact: np.ndarray, imu_turn: Optional[float]) -> Displacement:
        """Return the displacement since the last tick.

        Parameters
        ----------
        dt : float
            s; after a gap or another model there is a `reset` before.
        p_level : (6, 3) array
            Feet from the body's centre in level axes, m.
        contact : (6,) bool array
            Feet on the ground.
        imu_turn : float or None
            Turn of the IMU's heading, rad; None without one.
        """


class FeetModel:
    """Feet that stand on the ground do not move, so the body does.

    Parameters
    ----------
    config : OdometryConfig
        Scales.

    Notes
    -----
    In level axes a foot that stands fulfils p(k-1) = R(turn) p(k) + d. With the IMU the turn is known and d is the
    weighted mean over the feet; without it both come from the rigid fit of two point sets (at least two feet). In the
    tick in which a tripod takes over from the other no foot stands before and after: the last motion goes on.
    """

    def __init__(self, config: OdometryConfig) -> None:
        self._config = config
        self.reset()

    def reset(self) -> None:
        """Forget the last tick."""
        self._previous_feet: Optional[np.ndarray] = None
        self._previous_contact = np.zeros(6, dtype=bool)
        self._velocity, self._coasted = np.zeros(3), 0

    def step(self, dt: float, p_level: np.ndarray, contact: np.ndarray, imu_turn: Optional[float]) -> Displacement:
        """Return the displacement that keeps the standing feet where they are."""
        moved = Displacement(np.zeros(2), imu_turn or 0.0)
        if self._previous_feet is not None:
            both = contact & self._previous_contact
            used = int(both.sum())
            if used >= 2:
                before, after = self._previous_feet[both, :2], p_level[both, :2]
                shift, turn = fit_motion(before, after, imu_turn, self._config.slip_scale)
                moved = Displacement(shift * np.array(self._config.distance_scale), turn, used)
                self._velocity, self._coasted = np.array([*moved.shift, moved.turn]) / dt, 0
            elif contact.any() and self._coasted < _COAST:
                turn = self._velocity[2] * dt if imu_turn is None else imu_turn
                moved = Displacement(self._velocity[:2] * dt, turn, used)
                self._coasted += 1
            else:
                moved = Displacement(moved.shift, moved.turn, used)
        self._previous_feet, self._previous_contact = p_level, contact
        return moved


class NoMotion:
    """What touches the ground is not known: the place is kept, the heading is the IMU's."""

    def reset(self) -> None:
        """Remember nothing."""

    def step(self, dt: float, p_level: np.ndarray, contact: np.ndarray, imu_turn: Optional[float]) -> Displacement:
        """Return the turn of the IMU alone."""
        return Displacement(np.zeros(2), imu_turn or 0.0)


MOTION_MODELS: Dict[str, Callable[[OdometryConfig], MotionModel]] = {
    "feet": FeetModel,
    "none": lambda config: NoMotion(),
}


def fit_motion(
    before: np.ndarray, after: np.ndarray, turn: Optional[float], slip_scale: float
) -> Tuple[np.ndarray, float]:
    """Return shift (2,) in m and turn in rad of the body under which the standing feet stay where they are.

    Parameters
    ----------
    before, after : (n, 2) array
        The same feet at two ticks, seen from the body in level axes, m.
    turn : float or None
        Known turn of the body, rad; None: it is fitted, too (rigid fit of two point sets).
    slip_scale : float
        m: a foot that moved this much against the others counts half.
    """
    if turn is None:
        a, b = before - before.mean(axis=0), after - after.mean(axis=0)
        # before = R(turn) after + shift: sum of cross and dot products of the centred sets
        turn = math.atan2(float((b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0]).sum()), float((a * b).sum()))
    c, s = math.cos(turn), math.sin(turn)
    shifts = before - after @ np.array([[c, s], [-s, c]])
    centre = np.median(shifts, axis=0)
    weight = 1.0 / (1.0 + (((shifts - centre) ** 2).sum(axis=1) / slip_scale**2) ** 2)
    return (weight[:, None] * shifts).sum(axis=0) / weight.sum(), float(turn)
