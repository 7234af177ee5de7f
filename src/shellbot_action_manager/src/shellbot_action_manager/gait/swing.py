# SPDX-License-Identifier: MIT
"""The path of a foot through the air: closed forms that start and end at rest relative to the ground."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np


def smooth_step(fraction: np.ndarray) -> np.ndarray:
    """Return the minimum-jerk step 10 u^3 - 15 u^4 + 6 u^5 for `fraction` clipped to 0..1: at rest at both ends."""
    u = np.clip(fraction, 0.0, 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


def lift_profile(fraction: float, peak: float) -> Tuple[float, float]:
    """Return the height 0..1 of the foot at a fraction 0..1 of the swing, and its second derivative by it.

    Parameters
    ----------
    fraction : float
        Fraction of the swing that is over.
    peak : float
        Fraction at which the foot is highest, 0.3..0.6; an early peak lets the foot down gently.

    Notes
    -----
    h(u) = u^3 (1 - u)^n / h_max with n = 3 (1 - peak) / peak: height and speed are zero at both ends; so
    is the acceleration with a peak before 0.6.
    """
    u = min(max(fraction, 0.0), 1.0)
    v, n = 1.0 - u, 3.0 * (1.0 - peak) / peak
    scale = 1.0 / (peak**3.0 * (1.0 - peak) ** n)
    acceleration = 6.0 * u * v**n - 6.0 * n * u * u * v ** (n - 1.0) + n * (n - 1.0) * u**3.0 * v ** (n - 2.0)
    return scale * u**3.0 * v**n, scale * acceleration


def travel_profile(fraction: float, lift_dwell: float, landing_dwell: float, ramp: float) -> Tuple[float, float]:
    """Return how far along its path over the ground, 0..1, the foot is, and the second derivative by the fraction.

    Parameters
    ----------
    fraction : float
        Fraction of the swing that is over.
    lift_dwell, landing_dwell : float
        Fraction at the start and at the end in which the foot stays over its point on the ground, 0..0.3.
    ramp : float
        Fraction of the remainder at each end in which the foot speeds up and slows down, 0.05..0.5.

    Notes
    -----
    Speed rises as (1 - cos(pi u / a)) / 2 over the ramp a, stays, and falls likewise; its top is 1 / (1 - a) of the
    mean. A short ramp asks for less speed of the servos, a long one for less torque. Speed and acceleration are zero at
    both ends.
    """
    travelling = 1.0 - lift_dwell - landing_dwell
    u = min(max((fraction - lift_dwell) / travelling, 0.0), 1.0)
    near = min(u, 1.0 - u)  # the curve is point-symmetric about its middle
    acceleration = 0.0
    if near < ramp:
        distance = 0.5 * near - ramp / (2.0 * math.pi) * math.sin(math.pi * near / ramp)
        acceleration = 0.5 * math.pi / ramp * math.sin(math.pi * near / ramp) / ((1.0 - ramp) * travelling**2)
    else:
        distance = near - 0.5 * ramp
    distance /= 1.0 - ramp
    return (distance, acceleration) if u <= 0.5 else (1.0 - distance, -acceleration)
