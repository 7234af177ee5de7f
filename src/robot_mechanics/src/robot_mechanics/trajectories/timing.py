# SPDX-License-Identifier: MIT
"""How a curve is followed in time: from rest to rest as fast as limits allow, or between given end conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence, Union

import numpy as np
from scipy.interpolate import BPoly

from robot_mechanics.trajectories.curves import ORDERS, Curve, compose
from robot_mechanics.trajectories.errors import TrajectoryError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_SAMPLES = 201  # at which the greatest derivatives are looked for
#: Minimum-jerk law s(x) = 10 x^3 - 15 x^4 + 6 x^5, coefficients from the highest power down; T. Flash and N. Hogan, The
#: coordination of arm movements, Journal of Neuroscience 5 (1985). Velocity and acceleration are zero at both ends.
_LAW = [np.polyder(np.array([6.0, -15.0, 10.0, 0.0, 0.0, 0.0]), k) for k in range(ORDERS)]

Limit = Union[float, Sequence[float]]


@dataclass(frozen=True)
class Limits:
    """Greatest derivatives, each a number for all coordinates or one for each (d,); infinite by default."""

    velocity: Limit = np.inf  #: Unit of the coordinate per s
    acceleration: Limit = np.inf  #: Per s^2
    jerk: Limit = np.inf  #: Per s^3


class Trajectory:
    """A curve followed from rest to rest in a given time, with the least jerk.

    Parameters
    ----------
    curve : Curve
        What is followed.
    duration : float
        s, positive.

    Raises
    ------
    TrajectoryError
        If the duration is not a positive number.
    """

    def __init__(self, curve: Curve, duration: float) -> None:
        if not (np.isfinite(duration) and duration > 0.0):
            raise TrajectoryError(f"duration {duration:g} s; give a positive number")
        self.curve, self.duration, self.dimension = curve, float(duration), curve.dimension

    def derivatives(self, t: ArrayLike) -> np.ndarray:
        """Return position, velocity, acceleration and jerk, (4, ..., d), at times t (...), s from the beginning.

        Before the beginning and after the end it stands still.
        """
        u, law = rest_to_rest(t, self.duration)
        return compose(self.curve.derivatives(u), law)

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """Return the positions (..., d) at times t (...), s."""
        return np.asarray(self.derivatives(t)[0])


def rest_to_rest(t: ArrayLike, duration: float) -> tuple:
    """Return u (...) and its first three derivatives by time, (3, ...), at times t (...), of the minimum-jerk law."""
    x = np.asarray(t, dtype=np.float64) / duration
    inside = (x >= 0.0) & (x <= 1.0)
    x = np.clip(x, 0.0, 1.0)
    law = np.stack([np.polyval(_LAW[k], x) * inside / duration**k for k in range(1, ORDERS)])
    return np.polyval(_LAW[0], x), law


def fastest(curve: Curve, limits: Limits, shortest: float = 1e-3) -> Trajectory:
    """Return the trajectory from rest to rest that keeps all limits in the least time.

    Parameters
    ----------
    curve : Curve
        What is followed. Coordinates that are NaN are not limited.
    limits : Limits
        One of them finite at least.
    shortest : float
        Duration of a curve that does not move, s.

    Raises
    ------
    TrajectoryError
        If a limit is not positive, does not fit the curve, or none is finite.

    Notes
    -----
    The k-th derivative by time falls with the k-th power of the duration, so that the duration follows from one
    evaluation: the greatest over all samples, coordinates and k of (derivative at duration 1 / limit) ^ (1 / k).
    """
    samples = np.nan_to_num(Trajectory(curve, 1.0).derivatives(np.linspace(0.0, 1.0, _SAMPLES))[1:])
    duration, bounded = shortest, False
    for k, (name, value) in enumerate(vars(limits).items(), start=1):
        limit = np.asarray(value, dtype=np.float64)
        if limit.shape not in ((), (curve.dimension,)) or not (limit > 0.0).all():
            raise TrajectoryError(f"{name} {value}; give a positive number, or {curve.dimension} of them")
        bounded = bounded or bool(np.isfinite(limit).any())
        duration = max(duration, float(np.max(np.abs(samples[k - 1]) / limit) ** (1.0 / k)))
    if not bounded:
        raise TrajectoryError("no limit is finite; give a velocity, an acceleration or a jerk")
    return Trajectory(curve, duration)


def quintic(start: ArrayLike, end: ArrayLike, duration: float) -> BPoly:
    """Return the polynomial of degree 5 between two states, such as a joint move that begins while moving.

    Parameters
    ----------
    start, end : (3, d) array-like
        Position, velocity and acceleration.
    duration : float
        s, positive.

    Returns
    -------
    scipy.interpolate.BPoly
        `p(t)` is the position (..., d) at times t (...), s; `p(t, nu=k)` its k-th derivative.

    Raises
    ------
    TrajectoryError
        If the shapes differ, a number is not finite, or the duration not positive.
    """
    ends = [np.asarray(state, dtype=np.float64) for state in (start, end)]
    if ends[0].shape != ends[1].shape or ends[0].ndim != 2 or len(ends[0]) != 3 or not np.isfinite(ends).all():
        raise TrajectoryError(f"states of shapes {ends[0].shape} and {ends[1].shape}; give both as (3, d), finite")
    if not (np.isfinite(duration) and duration > 0.0):
        raise TrajectoryError(f"duration {duration:g} s; give a positive number")
    return BPoly.from_derivatives([0.0, float(duration)], ends)
