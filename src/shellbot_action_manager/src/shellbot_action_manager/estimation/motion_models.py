# SPDX-License-Identifier: MIT
"""Motion models by name: how far the body moved since the last tick, from what touches the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Dict, Optional, Protocol

import numpy as np

from shellbot_action_manager.config import OdometryConfig
from shellbot_action_manager.estimation.feet_filter import FeetFilter
from shellbot_action_manager.interface import ContactEstimate
from shellbot_common.rotations import rotation_2d

_ROLLING_TIME = 0.03  # s: mean velocity that tells which of several low gores a ball rolls on; 0.02 to 0.05 are alike
_COASTING = 2.5  # s: time constant of the speed of a ball that nothing drives; from 0.4 to 1.1 m/s it is 1.5 to 3.5 s
_COASTING_ERROR = 0.4  # of the distance that it coasts unseen: one standard deviation of that, on each axis


@dataclass(frozen=True)
class Displacement:
    """How the body moved over the ground in a tick."""

    shift: np.ndarray  #: (2,) m, in the body's level axes before the motion
    turn: float  #: rad
    variance: float  #: Growth of the position's variance, m^2 per axis


@dataclass(frozen=True)
class Attitude:
    """How the body lies at a tick."""

    R_level_base: np.ndarray  #: (3, 3) In the level axes of the heading, from the IMU, or from the feet without one
    imu_turn: Optional[float]  #: Turn of the heading since the previous tick, rad; None without an IMU
    acceleration: Optional[np.ndarray] = None  #: (2,) Of base_link in the same axes, m/s^2; None: not measured


class MotionModel(Protocol):
    """Estimates the displacement of one kind of motion; odometry sums it up whichever model runs."""

    def reset(self) -> None:
        """Forget the last tick: the next displacement is zero."""

    def pause(self) -> None:
        """Go on after a gap in time, without what touched the ground before it."""

    def step(self, dt: float, contacts: ContactEstimate, attitude: Attitude) -> Displacement:
        """Return the displacement since the last tick.

        Parameters
        ----------
        dt : float
            s; after a gap there is a `pause` before, after another model a `reset`.
        contacts : ContactEstimate
            Of the contact model of the same name, k contacts.
        attitude : Attitude
            Of the body.
        """


class FeetModel:
    """Feet that stand on the ground do not slide, so the body moves.

    Parameters
    ----------
    config : OdometryConfig
        Its section `feet` and `scale_error` are used.

    Notes
    -----
    With the IMU the turn is known; without it the rigid fit of the standing feet at two ticks gives it. The shift is
    that of `FeetFilter`, which works in axes that do not turn. A foot is a ball: it rolls as its shank tilts, and the
    point at which it touches the ground moves on. Its variance is that of chance; what every step errs
    alike, by floor, gait and speed, grows with the distance from where it began.
    """

    def __init__(self, config: OdometryConfig) -> None:
        self._config, self._scale_error = config.feet, config.scale_error
        self.reset()

    def reset(self) -> None:
        """Forget the last tick."""
        self._filter: Optional[FeetFilter] = None
        self._yaw = 0.0  # since the filter began
        self._turn = self._variance = 0.0

    def pause(self) -> None:
        """Begin anew: where the feet stood before the gap says nothing."""
        self.reset()

    def step(self, dt: float, contacts: ContactEstimate, attitude: Attitude) -> Displacement:
        """Return the displacement that keeps the standing feet where they are."""
        stands, R = contacts.in_contact, attitude.R_level_base  # noqa: N806
        pressure = contacts.centre_of_pressure
        p_feet = np.where(np.isfinite(pressure), pressure, contacts.position) @ R.T[:, :2]
        rolled = (pressure - contacts.previous_centre) @ R.T[:, :2]
        rolled[~np.isfinite(rolled)] = 0.0
        if self._filter is None or not stands.any():
            self.reset()
            self._filter = FeetFilter(self._config, len(stands))
            self._stands, self._p_feet = stands, p_feet
        if attitude.imu_turn is not None:
            turn = attitude.imu_turn
        elif (stands & self._stands).sum() >= 2:
            both = stands & self._stands
            turn = self._turn = fit_turn(self._p_feet[both], p_feet[both])
        else:  # one tripod has taken over from the other: the last turn goes on, once
            turn, self._turn = self._turn, 0.0
        self._stands, self._p_feet = stands, p_feet
        R_start_before = rotation_2d(self._yaw)  # noqa: N806
        self._yaw += turn
        R_start_level = rotation_2d(self._yaw)  # noqa: N806
        acceleration = None if attitude.acceleration is None else R_start_level @ attitude.acceleration
        position, variance = self._filter.position, self._variance
        self._filter.step(dt, p_feet @ R_start_level.T, stands, acceleration, rolled @ R_start_level.T)
        moved = self._filter.position - position
        distance = math.hypot(*self._filter.position)
        self._variance = self._filter.variance + (self._scale_error * distance) ** 2
        return Displacement(R_start_before.T @ moved, turn, self._variance - variance)


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
    millimetres: of all low gores the one counts that continues the present motion best. Without an attitude, and over
    a gap in time, nothing of that is known: the ball coasts, and its place becomes as uncertain as that is.
    """

    def __init__(self, config: OdometryConfig) -> None:
        self._scale, self._variance_rate = config.rolling_scale, config.rolling_variance_rate
        self.reset()

    def reset(self) -> None:
        """Forget the last tick."""
        self._before: Optional[np.ndarray] = None
        self._velocity, self._coasted = np.zeros(2), 0.0  # m/s; m since a contact was last seen

    def pause(self) -> None:
        """Let the ball coast over the gap."""
        self._before = None

    def step(self, dt: float, contacts: ContactEstimate, attitude: Attitude) -> Displacement:
        """Return the displacement that keeps the point of contact where it was."""
        turn, R, known = attitude.imu_turn or 0.0, attitude.R_level_base, attitude.imu_turn is not None  # noqa: N806
        if self._before is not None and known:
            c, s = math.cos(turn), math.sin(turn)
            shifts = self._before[:, :2] - (contacts.previous_centre @ R.T)[:, :2] @ np.array([[c, s], [-s, c]])
            shifts = shifts[np.isfinite(shifts).all(axis=1)]
            if len(shifts):
                nearest = np.linalg.norm(shifts - self._velocity * dt, axis=1).argmin()
                shift = self._scale * shifts[nearest]
                self._velocity += min(dt / _ROLLING_TIME, 1.0) * (shifts[nearest] / dt - self._velocity)
                self._coasted, self._before = 0.0, contacts.centre_of_pressure @ R.T
                return Displacement(shift, turn, self._variance_rate * float(np.linalg.norm(shift)))
        self._before = contacts.centre_of_pressure @ R.T if known else None
        slowed = math.exp(-dt / _COASTING)
        shift = _COASTING * (1.0 - slowed) * self._velocity
        self._velocity = slowed * self._velocity
        before, self._coasted = self._coasted, self._coasted + float(np.linalg.norm(shift))
        return Displacement(shift, turn, _COASTING_ERROR**2 * (self._coasted**2 - before**2))


class NoMotion:
    """What touches the ground is not known: the place is kept, the heading is the IMU's.

    Parameters
    ----------
    config : OdometryConfig
        Growth of the variance.
    """

    def __init__(self, config: OdometryConfig) -> None:
        self._variance_rate = config.sliding_variance_rate
        self.reset()

    def reset(self) -> None:
        """Forget where the feet were."""
        self._previous: Optional[np.ndarray] = None

    def pause(self) -> None:
        """Begin anew."""
        self.reset()

    def step(self, dt: float, contacts: ContactEstimate, attitude: Attitude) -> Displacement:
        """Return the turn of the IMU alone; the feet that moved may have pushed the body along unnoticed."""
        previous, self._previous = self._previous, contacts.position
        slid = 0.0 if previous is None else float(np.linalg.norm(contacts.position - previous, axis=1).mean())
        return Displacement(np.zeros(2), attitude.imu_turn or 0.0, self._variance_rate * slid)


MOTION_MODELS: Dict[str, Callable[[OdometryConfig], MotionModel]] = {
    "feet": FeetModel,
    "none": NoMotion,
    "rolling": RollingModel,
}


def fit_turn(before: np.ndarray, after: np.ndarray) -> float:
    """Return the turn (rad) of a body from points that do not move, seen from it at two ticks.

    Parameters
    ----------
    before, after : (n, 2) array
        Two or more, in level axes, m.
    """
    a, b = before - before.mean(axis=0), after - after.mean(axis=0)
    # before = R(turn) after + shift: sum of cross and dot products of the centred sets
    return math.atan2(float((b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0]).sum()), float((a * b).sum()))
