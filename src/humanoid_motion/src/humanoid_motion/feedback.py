# SPDX-License-Identifier: MIT
"""From what is measured to what is corrected: DCM observer, centre of pressure, next foothold."""

from __future__ import annotations

import math

import numpy as np

from humanoid_motion.parameters import WalkParameters
from humanoid_motion.planar import clamped
from robot_mechanics.native.jit import kernel

_PLACE_GAIN, _SPEED_GAIN = 0.4, 4.0  # of the observer on its error, per tick (–, 1/s)


@kernel
def _observe(place, velocity, measured, pressure, omega, dt):  # type: ignore[no-untyped-def]
    """Advance place and velocity (2,) by the pendulum, and correct them by what is measured."""
    for k in range(2):
        acceleration = omega**2 * (place[k] - pressure[k])
        place[k] += velocity[k] * dt
        velocity[k] += acceleration * dt
        error = measured[k] - place[k]
        place[k] += _PLACE_GAIN * error
        velocity[k] += _SPEED_GAIN * error


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

    @property
    def dcm(self) -> np.ndarray:
        """The measured DCM, (2,), m."""
        return np.asarray(self.place + self.velocity / self._omega)


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
def _shift(error_at_end, gain, band, limits):  # type: ignore[no-untyped-def]
    shift = np.empty(2)
    for k in range(2):
        beyond = max(abs(error_at_end[k]) - band, 0.0)
        shift[k] = clamped(gain * math.copysign(beyond, error_at_end[k]), -limits[k], limits[k])
    return shift


def foothold_shift(error_at_end: np.ndarray, parameters: WalkParameters) -> np.ndarray:
    """Return how far the next foothold moves, (2,), m, in the axes of `error_at_end`."""
    p = parameters
    return np.asarray(_shift(error_at_end, p.step_gain, p.step_dead_band, p.step_limits))
