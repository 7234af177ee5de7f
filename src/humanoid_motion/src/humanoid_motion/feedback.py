# SPDX-License-Identifier: MIT
"""From what is measured to what is corrected: DCM observer, centre of pressure, next foothold and its time."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

from humanoid_motion.planar import clamped, turned
from robot_mechanics.native.jit import kernel

_PLACE_GAIN, _SPEED_GAIN = 0.4, 4.0  # of the observer on its error, per tick (–, 1/s)


@kernel
def _observe(
    place: np.ndarray, velocity: np.ndarray, measured: np.ndarray, pressure: np.ndarray, omega: float, dt: float
) -> None:
    """Advance place and velocity (2,) by the pendulum, and correct them by what is measured."""
    for k in range(2):
        acceleration = omega**2 * (place[k] - pressure[k])
        place[k] += velocity[k] * dt
        velocity[k] += acceleration * dt
        error = measured[k] - place[k]
        place[k] += _PLACE_GAIN * error
        velocity[k] += _SPEED_GAIN * error


@kernel
def _request(
    place: np.ndarray,
    velocity: np.ndarray,
    lean: np.ndarray,
    planned_dcm: np.ndarray,
    planned_pressure: np.ndarray,
    omega: float,
    gain: float,
) -> Tuple[np.ndarray, np.ndarray]:
    """Return what `ComObserver.request` does."""
    dcm, pressure = np.empty(2), np.empty(2)
    for k in range(2):
        dcm[k] = place[k] + velocity[k] / omega - lean[k]
        pressure[k] = planned_pressure[k] + (1.0 + gain) * (dcm[k] - planned_dcm[k])
    return dcm, pressure


class ComObserver:
    """Centre of mass and its velocity from measured place and centre of pressure, by the pendulum's own equation.

    Parameters
    ----------
    omega : float
        sqrt(g / height), 1/s.

    Attributes
    ----------
    place, velocity : (2,) arrays
        Odometry frame, m and m/s.
    """

    def __init__(self, omega: float) -> None:
        self._omega = omega
        self.place, self.velocity = np.zeros(2), np.zeros(2)
        self._started = False

    def update(self, measured: np.ndarray, pressure: np.ndarray, dt: float) -> None:
        """Take a measured centre of mass and centre of pressure, (2,) each, m."""
        if not self._started:
            self.place, self._started = measured.copy(), True
        _observe(self.place, self.velocity, measured, pressure, self._omega, dt)

    def request(
        self, planned_dcm: np.ndarray, planned_pressure: np.ndarray, lean: np.ndarray, gain: float
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Return the measured DCM and the centre of pressure that corrects it, (2,) each, m.

        Parameters
        ----------
        planned_dcm, planned_pressure : (2,) arrays
            On a floor without slope, as what is returned; odometry frame, m.
        lean : (2,) array
            How far a slope moves the centre of pressure downhill, m.
        gain : float
            Of the centre of pressure on the error, beyond 1.
        """
        dcm, pressure = _request(self.place, self.velocity, lean, planned_dcm, planned_pressure, self._omega, gain)
        return dcm, pressure


@kernel
def predicted_error(error: np.ndarray, offset: np.ndarray, omega: float, gain: float, remaining: float) -> np.ndarray:
    """Return the DCM's error at the end of the step, (2,), m.

    Parameters
    ----------
    error : (2,) array
        Now, m.
    offset : (2,) array
        How far the centre of pressure is really moved against it, m.
    omega : float
        1/s.
    gain : float
        Of the centre of pressure beyond 1: where nothing limits it, the error decays with gain * omega.
    remaining : float
        s.
    """
    growth, decay = math.exp(omega * remaining), math.exp(-gain * omega * remaining)
    limited, free = offset + (error - offset) * growth, error * decay
    return np.where(error > 0.0, np.maximum(limited, free), np.minimum(limited, free))


@kernel
def error_at_end(
    dcm: np.ndarray,
    pressure: np.ndarray,
    planned_dcm: np.ndarray,
    planned_pressure: np.ndarray,
    yaw: float,
    omega: float,
    gain: float,
    remaining: float,
) -> np.ndarray:
    """Return `predicted_error` along the axes of a foot, (2,), m.

    Parameters
    ----------
    dcm, pressure : (2,) arrays
        Measured DCM and centre of pressure, odometry frame, m.
    planned_dcm, planned_pressure : (2,) arrays
        As planned, likewise.
    yaw : float
        Of the foot in the odometry frame, rad.
    omega, gain, remaining : float
        As of `predicted_error`.
    """
    error, offset = turned(dcm - planned_dcm, -yaw), turned(pressure - planned_pressure, -yaw)
    return predicted_error(error, offset, omega, gain, remaining)


@kernel
def beyond_band(error: np.ndarray, band: float) -> np.ndarray:
    """Return what of an error (2,) is beyond a dead band, m."""
    beyond = np.empty(2)
    for k in range(2):
        beyond[k] = math.copysign(max(abs(error[k]) - band, 0.0), error[k])
    return beyond


@kernel
def foothold_change(
    beyond: np.ndarray, shift: np.ndarray, gain: float, limits: Tuple[float, float], most: float
) -> np.ndarray:
    """Return how the foothold's shift (2,) moves in a tick for an error (2,) at the step's end, m.

    Parameters
    ----------
    beyond, shift : (2,) arrays
        The error beyond the dead band, and the shift so far, along the same axes, m.
    gain : float
        Of the shift on the error.
    limits : tuple of two floats
        Of the shift, m.
    most : float
        The most of the change, m.
    """
    change = np.empty(2)
    for k in range(2):
        change[k] = clamped(clamped(gain * beyond[k], -limits[k], limits[k]) - shift[k], -most, most)
    return change


@kernel
def remaining_time(
    beyond: np.ndarray, lead: np.ndarray, remaining: float, nominal: float, omega: float, weight: float
) -> float:
    """Return the remaining time of a step that leaves the least error at its end, s.

    The DCM runs away from the centre of pressure by exp(omega t), so its error at the end is linear in
    x = exp(omega * remaining): the least squares of that error, and of x less its nominal value, are in closed form
    (as with Khadiv, Herzog, Moosavian, Righetti 2020, whose footholds and times are one quadratic program).

    Parameters
    ----------
    beyond : (2,) array
        Error of the DCM at the end of the step as it is timed now, beyond the dead band, m.
    lead : (2,) array
        DCM less centre of pressure now, along the same axes, m.
    remaining, nominal : float
        Remaining time now, and that of the step as it was planned, s.
    omega : float
        1/s.
    weight : float
        Of the time beside the error, m.
    """
    now, planned = math.exp(omega * remaining), math.exp(omega * nominal)
    slope = lead[0] * beyond[0] + lead[1] * beyond[1]
    square = lead[0] * lead[0] + lead[1] * lead[1] + weight * weight
    return math.log(max(now + (weight * weight * (planned - now) - slope) / square, 1.0)) / omega
