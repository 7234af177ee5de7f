# SPDX-License-Identifier: MIT
"""The divergent component of motion (DCM) of a pendulum of constant height, planned backwards in closed form.

With xi = c + c' / omega the pendulum c'' = omega^2 (c - z) splits into c' = omega (xi - c), which is stable, and
xi' = omega (xi - z), which is not. For a centre of pressure that runs linearly, z(t) = z0 + s t,

    xi(t) = z(t) + s / omega + exp(omega t) (xi(0) - z0 - s / omega)

(Englsberger, Ott, Albu-Schaeffer 2015), so from where the DCM must be at the end follows where it must be now.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from robot_mechanics.native.jit import kernel


class PlannedInstant(NamedTuple):
    """Where centre of pressure and DCM should be, odometry frame, m, (2,) each."""

    zmp: np.ndarray
    dcm: np.ndarray
    dcm_end: np.ndarray  #: At the end of the present step


@kernel
def backwards(dcm_end: np.ndarray, first: np.ndarray, last: np.ndarray, duration: float, omega: float) -> np.ndarray:
    """Return the DCM at the start of a time in which the centre of pressure runs evenly from `first` to `last`."""
    if duration <= 0.0:
        return dcm_end.copy()
    decay, dcm = math.exp(-omega * duration), np.empty(2)
    for k in range(2):
        lag = (last[k] - first[k]) / (duration * omega)
        dcm[k] = first[k] + lag + decay * (dcm_end[k] - last[k] - lag)
    return dcm


@kernel
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
    dcm = zmps[-1].copy()
    for step in range(len(zmps) - 1, 1, -1):  # steps that follow, the last first
        dcm = backwards(dcm, zmps[step], zmps[step], later - later_double, omega)
        dcm = backwards(dcm, zmps[step - 1], zmps[step], later_double, omega)
    former, present = zmps[0], zmps[1]
    time = min(max(time, 0.0), step_time)
    if time >= double:
        now = backwards(dcm, present, present, step_time - time, omega)
        return PlannedInstant(present.copy(), now, dcm)
    zmp = former + (present - former) / double * time
    landed = backwards(dcm, present, present, step_time - double, omega)
    return PlannedInstant(zmp, backwards(landed, zmp, present, double - time, omega), dcm)
