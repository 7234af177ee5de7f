# SPDX-License-Identifier: MIT
"""The divergent component of motion (DCM) of a pendulum of constant height, planned backwards in closed form.

With xi = c + c' / omega the pendulum c'' = omega^2 (c - z) splits into c' = omega (xi - c), which is stable, and
xi' = omega (xi - z), which is not. For a centre of pressure that runs linearly, z(t) = z0 + s t,

    xi(t) = z(t) + s / omega + exp(omega t) (xi(0) - z0 - s / omega)

(Englsberger, Ott, Albu-Schaeffer 2015), so from where the DCM must be at the end follows where it must be now.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PlannedInstant:
    """Where centre of pressure and DCM should be, odometry frame, m, (2,) each."""

    zmp: np.ndarray
    zmp_rate: np.ndarray  #: m/s
    dcm: np.ndarray
    dcm_end: np.ndarray  #: At the end of the present step


def backwards(dcm_end: np.ndarray, first: np.ndarray, last: np.ndarray, duration: float, omega: float) -> np.ndarray:
    """Return the DCM at the start of a time in which the centre of pressure runs evenly from `first` to `last`."""
    if duration <= 0.0:
        return dcm_end
    lag = (last - first) / (duration * omega)
    return np.asarray(first + lag + math.exp(-omega * duration) * (dcm_end - last - lag))


def instant(
    time: float, step_time: float, double: float, zmps: np.ndarray, later: float, later_double: float, omega: float
) -> PlannedInstant:
    """Return the plan at one moment of the present step.

    Parameters
    ----------
    time : float
        Since the step began, s.
    step_time, double : float
        Duration of the present step and of its double support, s.
    zmps : (n, 2) array
        Centre of pressure of the former step, the present one and those that follow, n >= 3; it rests on the last, m.
    later, later_double : float
        Durations of the steps that follow, s.
    omega : float
        sqrt(g / height), 1/s.
    """
    dcm = zmps[-1]
    for before, z in zip(zmps[-2:0:-1], zmps[:1:-1]):  # steps that follow, the last first
        dcm = backwards(backwards(dcm, z, z, later - later_double, omega), before, z, later_double, omega)
    end, former, present = dcm, zmps[0], zmps[1]
    time = min(max(time, 0.0), step_time)
    if time >= double:
        return PlannedInstant(present, np.zeros(2), backwards(end, present, present, step_time - time, omega), end)
    rate = (present - former) / double
    zmp = former + rate * time
    landed = backwards(end, present, present, step_time - double, omega)
    return PlannedInstant(zmp, rate, backwards(landed, zmp, present, double - time, omega), end)
