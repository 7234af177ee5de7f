# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Kernel of `feet_filter`: a tick of it in a few microseconds."""

from __future__ import annotations

import numpy as np

from robot_mechanics.native.jit import kernel

#: Numbers of FeetFilterConfig in the order of the array `noise`, and the index of each
NOISE = (
    "acceleration", "blind_acceleration", "foot", "creep", "landing_creep", "landing_time", "slip_gain", "slip_time",
)  # fmt: skip
ACCELERATION, BLIND_ACCELERATION, FOOT, CREEP, LANDING_CREEP, LANDING_TIME, SLIP_GAIN, SLIP_TIME = range(len(NOISE))


@kernel
def feet_filter_tick(
    noise, dt, p_feet, stands, acceleration, rolled, x, P, stood, p_before, slip, since_landed, a_before
):
    """Move on by a tick.

    Parameters
    ----------
    noise : (8,)
        Of the config, in the order of NOISE.
    dt, p_feet, stands, acceleration, rolled
        As in `FeetFilter.step`; an acceleration that is not measured is NaN.
    x, P : (k + 2, 2), (k + 2, k + 2)
        State and covariance (changed).
    stood, p_before, slip, since_landed, a_before : (k,), (k, 2), (k, 2), (k,), (2,)
        Of the tick before (changed): standing feet and where they were, m; m/s; s; m/s^2.
    """
    if stood.any():
        _predict(noise, dt, acceleration, a_before, x, P)
    a_before[:] = acceleration
    stayed = stood & stands
    _drift(noise, dt, p_feet - rolled - p_before, stayed, slip, since_landed, P)
    # element by element: array expressions take seconds to compile
    size = x.shape[0]
    for i in range(stands.shape[0]):
        anchor = 2 + i
        if stayed[i]:
            for axis in range(2):
                x[anchor, axis] += rolled[i, axis]
        elif stands[i]:  # it lands
            for axis in range(2):
                x[anchor, axis] = x[0, axis] + p_feet[i, axis]
            for k in range(size):
                P[anchor, k] = P[0, k]
            for k in range(size):
                P[k, anchor] = P[k, 0]
            P[anchor, anchor] = P[0, 0] + noise[FOOT] ** 2
            since_landed[i] = 0.0
        stood[i] = stands[i]
        for axis in range(2):
            p_before[i, axis] = p_feet[i, axis]
    # One foot after the other, which is the same for independent errors.
    H = np.empty(size)
    for i in range(stands.shape[0]):
        anchor = 2 + i
        if stayed[i]:
            for k in range(size):
                H[k] = P[anchor, k] - P[0, k]  # a foot measures its anchor minus the body's position
            variance = H[anchor] - H[0] + noise[FOOT] ** 2
            ahead = p_feet[i, 0] - (x[anchor, 0] - x[0, 0])
            aside = p_feet[i, 1] - (x[anchor, 1] - x[0, 1])
            for row in range(size):
                gain = H[row] / variance
                x[row, 0] += gain * ahead
                x[row, 1] += gain * aside
                for k in range(size):
                    P[row, k] -= gain * H[k]


@kernel
def _predict(noise, dt, acceleration, a_before, x, P):
    x[0] += x[1] * dt
    deviation = noise[BLIND_ACCELERATION]
    if not np.isnan(acceleration[0]):
        deviation = noise[ACCELERATION]
        mean = acceleration if np.isnan(a_before[0]) else 0.5 * (acceleration + a_before)
        x[0] += 0.5 * mean * dt**2
        x[1] += mean * dt
    P[0] += dt * P[1]
    P[:, 0] += dt * P[:, 1]
    P[0, 0] += deviation**2 * dt**4 / 4
    P[0, 1] += deviation**2 * dt**3 / 2
    P[1, 0] += deviation**2 * dt**3 / 2
    P[1, 1] += deviation**2 * dt**2


@kernel
def _drift(noise, dt, moved, stayed, slip, since_landed, P):
    """Let the anchors creep, those of feet that slip the most."""
    middle = np.zeros(2)  # median velocity of the feet that stay
    is_known = stayed.sum() >= 3  # of two feet that move apart, it is not known which one slips
    for axis in range(2):
        if is_known:
            middle[axis] = np.median(moved[stayed, axis] / dt)
    blend = min(dt / noise[SLIP_TIME], 1.0)
    for i in range(stayed.shape[0]):
        since_landed[i] += dt
        if not stayed[i]:
            slip[i] = 0.0
            continue
        speed = moved[i] / dt - middle if is_known else np.zeros(2)
        slip[i] += blend * (speed - slip[i])
        landing = noise[LANDING_CREEP] * np.exp(-since_landed[i] / noise[LANDING_TIME])
        variance = noise[CREEP] ** 2 + landing**2 + noise[SLIP_GAIN] ** 2 * (slip[i] ** 2).sum()
        P[2 + i, 2 + i] += variance * dt**2
