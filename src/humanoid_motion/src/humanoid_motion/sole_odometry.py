# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False
"""Place over the floor from loaded soles and accelerometer: a Kalman filter in the plane."""

from __future__ import annotations

import math
from typing import Optional, Tuple

import numpy as np

from humanoid_motion.planar import applied
from robot_mechanics.native.jit import kernel
from shellbot_common import TICK

# Rows of the state: place and velocity of the inertial unit, bias of its acceleration, what the attitude's error of a
# tick adds to the place of both soles alike, and where each sole stands.
_PLACE, _VELOCITY, _BIAS, _LEAN, _ANCHOR = range(5)
_ROWS = _ANCHOR + 2

# One standard deviation each.
_LEAN_NOISE, _SOLE_NOISE = 6e-4, 3e-5  # m: 0.1 deg at 0.31 m, and what the joints measure besides
_ACCELERATION, _BLIND = 0.05, 3.0  # m/s^2: measured, or assumed to be none
_IMPULSE = 0.3  # of a tick: when in it its change of velocity came
_BIAS_START, _BIAS_WALK = 0.05, 0.02  # m/s^2, and in a second
_VELOCITY_START = 0.05  # m/s
_REST = 3e-6  # m: how far a sole that stands moves in a tick
_LANDING, _LANDING_DECAY = 2e-4, 3.0  # m in the second tick after it touched the floor, and its decay a tick
_LIFTING, _LIFTING_LOAD = 4e-4, 15.0  # m in a tick without load, none from this load on, N


@kernel
def _predict(x, covariance, acceleration, noise):
    """Advance state (r, 2) and covariance (r, r) by a tick with a mean acceleration (2,)."""
    half = 0.5 * TICK * TICK
    for k in range(2):
        a = acceleration[k] - x[_BIAS, k]
        x[_PLACE, k] += TICK * x[_VELOCITY, k] + half * a
        x[_VELOCITY, k] += TICK * a
        x[_LEAN, k] = 0.0
    for j in range(_ROWS):
        covariance[_PLACE, j] += TICK * covariance[_VELOCITY, j] - half * covariance[_BIAS, j]
        covariance[_VELOCITY, j] -= TICK * covariance[_BIAS, j]
        covariance[_LEAN, j] = 0.0
    for j in range(_ROWS):
        covariance[j, _PLACE] += TICK * covariance[j, _VELOCITY] - half * covariance[j, _BIAS]
        covariance[j, _VELOCITY] -= TICK * covariance[j, _BIAS]
        covariance[j, _LEAN] = 0.0
    variance, hurry = noise * noise, acceleration[0] ** 2 + acceleration[1] ** 2
    covariance[_PLACE, _PLACE] += variance * half * half + hurry * (_IMPULSE * TICK * TICK) ** 2
    covariance[_PLACE, _VELOCITY] += variance * half * TICK
    covariance[_VELOCITY, _PLACE] += variance * half * TICK
    covariance[_VELOCITY, _VELOCITY] += variance * TICK * TICK
    covariance[_BIAS, _BIAS] += _BIAS_WALK * _BIAS_WALK * TICK
    covariance[_LEAN, _LEAN] = _LEAN_NOISE * _LEAN_NOISE


@kernel
def _measure(x, covariance, anchor, seen):
    """Correct the state by a sole seen at (2,) from the unit."""
    gain = covariance[anchor] - covariance[_PLACE] + covariance[_LEAN]
    variance = gain[anchor] - gain[_PLACE] + gain[_LEAN] + _SOLE_NOISE * _SOLE_NOISE
    for k in range(2):
        error = (seen[k] - (x[anchor, k] - x[_PLACE, k] + x[_LEAN, k])) / variance
        for i in range(_ROWS):
            x[i, k] += gain[i] * error
    for i in range(_ROWS):
        for j in range(_ROWS):
            covariance[i, j] -= gain[i] * gain[j] / variance


@kernel
def _land(x, covariance, anchor, seen):
    """Let a sole stand where it is seen, (2,) from the unit."""
    row = covariance[_PLACE] - covariance[_LEAN]
    own = row[_PLACE] - row[_LEAN] + _SOLE_NOISE * _SOLE_NOISE
    for j in range(_ROWS):
        covariance[anchor, j] = row[j]
        covariance[j, anchor] = row[j]
    covariance[anchor, anchor] = own
    for k in range(2):
        x[anchor, k] = x[_PLACE, k] + seen[k] - x[_LEAN, k]


@kernel
def _step(x, covariance, stands, acceleration, noise, arm, former, rotation, before, points, rolled, loaded, loads):
    """Take one tick; see `SoleOdometry.step`."""
    _predict(x, covariance, acceleration, noise)
    seen, ahead = np.empty((2, 2)), np.empty(2)
    for s in range(2):
        seen[s, 0], seen[s, 1], _ = applied(
            rotation, points[s, 0] - arm[0], points[s, 1] - arm[1], points[s, 2] - arm[2]
        )
        if not stands[s]:
            continue
        anchor = _ANCHOR + s
        slide = _LIFTING * max(0.0, 1.0 - loads[s] / _LIFTING_LOAD)
        if loads[s] > 0.0:
            slide = math.hypot(slide, _LANDING * math.exp(_LANDING_DECAY * (2.0 - loaded[s])))
            rx, ry, rz = applied(before[s], rolled[s, 0], rolled[s, 1], rolled[s, 2])
            ahead[0], ahead[1], _ = applied(former, rx, ry, rz)
            x[anchor] += ahead
        covariance[anchor, anchor] += _REST * _REST + slide * slide
        _measure(x, covariance, anchor, seen[s])
    for s in range(2):
        if loads[s] <= 0.0:
            stands[s] = False
        elif not stands[s]:
            stands[s] = True
            _land(x, covariance, _ANCHOR + s, seen[s])


class SoleOdometry:
    """Place of the inertial unit in axes that do not turn.

    A loaded sole rests, except while it lands, loses its load again, lands once more, and lifts: in these few ticks it
    slides by 0.2 to 2.7 mm a step, mostly ahead. The accelerometer bridges them. Both soles are seen with the same
    error, which is the attitude's, so that what a foot measures against the other is exact; hence a sole measures in
    the first tick without load, too.

    Parameters
    ----------
    arm : (3,) array
        Inertial unit in the root link, m.

    Notes
    -----
    After M. Bloesch et al., "State estimation for legged robots", RSS 2012, in the plane and with the attitude given,
    which makes it linear; x and y have one covariance.
    """

    def __init__(self, arm: np.ndarray) -> None:
        self._arm = arm
        self._x = np.zeros((_ROWS, 2))
        self._covariance = np.zeros((_ROWS, _ROWS))
        self._stands = np.zeros(2, dtype=np.bool_)
        self.lift()

    def lift(self) -> None:
        """Forget velocity and where the soles stand."""
        self._x[_VELOCITY:] = 0.0
        self._covariance[:] = 0.0
        self._covariance[_VELOCITY, _VELOCITY] = _VELOCITY_START**2
        self._covariance[_BIAS, _BIAS] = _BIAS_START**2
        self._stands[:] = False

    def step(
        self,
        acceleration: Optional[np.ndarray],
        rotations: Tuple[np.ndarray, np.ndarray],
        before: np.ndarray,
        points: np.ndarray,
        rolled: np.ndarray,
        loaded: np.ndarray,
        loads: np.ndarray,
    ) -> np.ndarray:
        """Take one tick; returns the place of the unit, (2,), m.

        Parameters
        ----------
        acceleration : (3,) array, optional
            Of the unit in these axes, mean of the tick, without gravity, m/s^2; None: not measured.
        rotations : two (3, 3) arrays
            Root link to these axes, in the tick before and now.
        before : (2, 3, 3) array
            Soles in the root link in the tick before.
        points : (2, 3) array
            Centre of pressure of each sole in the root link, m.
        rolled : (2, 3) array
            Its motion within the sole since the tick before, in the sole's axes, m.
        loaded : (2,) array
            Ticks since each sole landed.
        loads : (2,) array
            N; 0: it does not stand.
        """
        is_blind = acceleration is None
        given = np.zeros(3) if acceleration is None else acceleration
        noise = _BLIND if is_blind else _ACCELERATION
        _step(
            self._x, self._covariance, self._stands, given, noise, self._arm, *rotations, before, points, rolled,
            loaded, loads,
        )  # fmt: skip
        return self._x[_PLACE]
