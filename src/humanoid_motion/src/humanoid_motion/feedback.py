# SPDX-License-Identifier: MIT
"""From what is measured to what is corrected: DCM observer, centre of pressure, next foothold."""

from __future__ import annotations

import math

import numpy as np

from humanoid_motion.parameters import WalkParameters

_PLACE_GAIN, _SPEED_GAIN = 0.4, 4.0  # of the observer on its error, per tick (–, 1/s)


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
        acceleration = self._omega**2 * (self.place - pressure)
        self.place = self.place + self.velocity * dt
        self.velocity = self.velocity + acceleration * dt
        error = measured - self.place
        self.place = self.place + _PLACE_GAIN * error
        self.velocity = self.velocity + _SPEED_GAIN * error

    @property
    def dcm(self) -> np.ndarray:
        """The measured DCM, (2,), m."""
        return np.asarray(self.place + self.velocity / self._omega)


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
    growth = math.exp(omega * remaining)
    limited = offset + (error - offset) * growth
    free = error * math.exp(-gain * omega * remaining)
    return np.where(error > 0.0, np.maximum(limited, free), np.minimum(limited, free))


def foothold_shift(error_at_end: np.ndarray, parameters: WalkParameters) -> np.ndarray:
    """Return how far the next foothold moves, (2,), m, in the axes of `error_at_end`."""
    band = parameters.step_dead_band
    beyond = np.sign(error_at_end) * np.maximum(np.abs(error_at_end) - band, 0.0)
    limits = np.array(parameters.step_limits)
    return np.clip(parameters.step_gain * beyond, -limits, limits)
