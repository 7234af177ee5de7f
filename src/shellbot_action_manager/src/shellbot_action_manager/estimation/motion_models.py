# SPDX-License-Identifier: MIT
"""Motion models by name: how far the body moved since the last tick, from what touches the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Dict, Optional, Protocol, Tuple

import numpy as np

from shellbot_action_manager.config import OdometryConfig
from shellbot_action_manager.interface import ContactEstimate

_COAST = 3  # ticks that the last velocity is kept for when the standing feet change all at once
_ROLLING_TIME = 0.03  # s: mean velocity that tells which of several low gores a ball rolls on; 0.02 to 0.05 are alike


@dataclass(frozen=True)
class Displacement:
    """How the body moved over the ground in a tick."""

    shift: np.ndarray  #: (2,) m, in the body's level axes before the motion
    turn: float  #: rad
    feet_used: int = 0  #: Feet that it was fitted to
    slid: float = 0.0  #: m that the feet moved, seen from the body, and may have pushed it along unnoticed


@dataclass(frozen=True)
class Attitude:
    """How the body lies at a tick."""

    R_level_base: np.ndarray  #: (3, 3) In the level axes of the heading, from the IMU, or from the feet without one
    imu_turn: Optional[float]  #: Turn of the heading since the previous tick, rad; None without an IMU


class MotionModel(Protocol):
    """Estimates the displacement of one kind of motion; odometry sums it up whichever model runs.

    Attributes
    ----------
    variance_rate : float
        Growth of the position's variance with the path length, and with what the feet slid, m^2/m per axis.
    """

    variance_rate: float

    def reset(self) -> None:
        """Forget the last tick: the next displacement is zero."""

    def step(self, dt: float, contacts: ContactEstimate, p_level: np.ndarray, attitude: Attitude) -> Displacement:
        """Return the displacement since the last tick.

        Parameters
        ----------
        dt : float
            s; after a gap or another model there is a `reset` before.
        contacts : ContactEstimate
            Of the contact model of the same name, k contacts.
        p_level : (k, 3) array
            Their positions from the body's centre in level axes, m.
        attitude : Attitude
            Of the body.
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
    tick in which a tripod takes over from the other no foot stands before and after: the last motion goes on. Feet
    count by the load that they carry, where it is known.
    """

    def __init__(self, config: OdometryConfig) -> None:
        self._config = config
        self.variance_rate = config.position_variance_rate
        self.reset()

    def reset(self) -> None:
        """Forget the last tick."""
        self._previous: Optional[ContactEstimate] = None
        self._previous_level = np.zeros((0, 3))
        self._velocity, self._coasted = np.zeros(3), 0

    def step(self, dt: float, contacts: ContactEstimate, p_level: np.ndarray, attitude: Attitude) -> Displacement:
        """Return the displacement that keeps the standing feet where they are."""
        previous, imu_turn = self._previous, attitude.imu_turn
        moved = Displacement(np.zeros(2), imu_turn or 0.0)
        if previous is not None and previous.names == contacts.names:
            both = contacts.in_contact & previous.in_contact
            used = int(both.sum())
            if used >= 2:
                before, after = self._previous_level[both, :2], p_level[both, :2]
                load = contacts.load_share[both]
                shift, turn = fit_motion(before, after, imu_turn, self._config.slip_scale, load)
                moved = Displacement(shift * np.array(self._config.distance_scale), turn, used)
                self._velocity, self._coasted = np.array([*moved.shift, moved.turn]) / dt, 0
            elif contacts.in_contact.any() and self._coasted < _COAST:
                turn = self._velocity[2] * dt if imu_turn is None else imu_turn
                moved = Displacement(self._velocity[:2] * dt, turn, used)
                self._coasted += 1
            else:
                moved = Displacement(moved.shift, moved.turn, used)
        self._previous, self._previous_level = contacts, p_level
        return moved


class RollingModel:
    """The point of the ball that touched the floor at the previous tick has not moved, so the body has.

    Parameters
    ----------
    config : OdometryConfig
        Scale.

    Notes
    -----
    With p a contact point in the body at the previous tick, p' where the same point of its gore is now, and R the
    attitude: d = R(k-1) p - R(k) p'. That counts the rotation of the body and of the gore in it, and no slip. While one
    gore takes over from another both are low, and one of them may slide, swing freely or be measured wrong by a few
    millimetres: of all low gores the one counts that continues the present motion best.
    """

    def __init__(self, config: OdometryConfig) -> None:
        self._scale, self.variance_rate = config.rolling_scale, config.rolling_variance_rate
        self.reset()

    def reset(self) -> None:
        """Forget the last tick."""
        self._before: Optional[np.ndarray] = None
        self._velocity = np.zeros(2)

    def step(self, dt: float, contacts: ContactEstimate, p_level: np.ndarray, attitude: Attitude) -> Displacement:
        """Return the displacement that keeps the point of contact where it was."""
        turn, shift, used = attitude.imu_turn or 0.0, np.zeros(2), 0
        R = attitude.R_level_base  # noqa: N806
        if self._before is not None:
            c, s = math.cos(turn), math.sin(turn)
            shifts = self._before[:, :2] - (contacts.previous_centre @ R.T)[:, :2] @ np.array([[c, s], [-s, c]])
            shifts = shifts[np.isfinite(shifts).all(axis=1)]
            used = len(shifts)
            if used:
                nearest = np.linalg.norm(shifts - self._velocity * dt, axis=1).argmin()
                shift = self._scale * shifts[nearest]
                self._velocity += min(dt / _ROLLING_TIME, 1.0) * (shifts[nearest] / dt - self._velocity)
        self._before = contacts.centre_of_pressure @ R.T
        return Displacement(shift, turn, used)


class NoMotion:
    """What touches the ground is not known: the place is kept, the heading is the IMU's.

    Parameters
    ----------
    config : OdometryConfig
        Growth of the variance.
    """

    def __init__(self, config: OdometryConfig) -> None:
        self.variance_rate = config.sliding_variance_rate
        self.reset()

    def reset(self) -> None:
        """Forget where the feet were."""
        self._previous: Optional[np.ndarray] = None

    def step(self, dt: float, contacts: ContactEstimate, p_level: np.ndarray, attitude: Attitude) -> Displacement:
        """Return the turn of the IMU alone, and how far the feet moved."""
        previous, self._previous = self._previous, contacts.position
        slid = 0.0 if previous is None else float(np.linalg.norm(contacts.position - previous, axis=1).mean())
        return Displacement(np.zeros(2), attitude.imu_turn or 0.0, slid=slid)


MOTION_MODELS: Dict[str, Callable[[OdometryConfig], MotionModel]] = {
    "feet": FeetModel,
    "none": NoMotion,
    "rolling": RollingModel,
}


def fit_motion(
    before: np.ndarray, after: np.ndarray, turn: Optional[float], slip_scale: float, load: Optional[np.ndarray] = None
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
    load : (n,) array, optional
        Load on the feet, in any unit; None or not all known: equal.
    """
    if turn is None:
        a, b = before - before.mean(axis=0), after - after.mean(axis=0)
        # before = R(turn) after + shift: sum of cross and dot products of the centred sets
        turn = math.atan2(float((b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0]).sum()), float((a * b).sum()))
    c, s = math.cos(turn), math.sin(turn)
    shifts = before - after @ np.array([[c, s], [-s, c]])
    centre = np.median(shifts, axis=0)
    weight = 1.0 / (1.0 + (((shifts - centre) ** 2).sum(axis=1) / slip_scale**2) ** 2)
    if load is not None and np.isfinite(load).all() and load.sum() > 0.0:
        weight *= load
    return (weight[:, None] * shifts).sum(axis=0) / weight.sum(), float(turn)
