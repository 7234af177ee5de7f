# SPDX-License-Identifier: MIT
"""How a curve is followed in time: from rest to rest as fast as limits allow, past points at given times, or between
given end conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Dict, List, Sequence, Union

import numpy as np
from scipy.interpolate import BPoly, PchipInterpolator

from robot_mechanics.errors import TrajectoryError
from robot_mechanics.trajectories.curves import ORDERS, Curve, compose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_SAMPLES = 201  # at which the greatest derivatives are looked for, then around each greatest one
_AROUND, _ROUNDS = 21, 4  # samples between both neighbours, and how often these come ten times nearer
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

        Parameters
        ----------
        t : (...) array_like
            s.
        """
        u, law = rest_to_rest(t, self.duration)
        return compose(self.curve.derivatives(u), law)

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """Return the positions (..., d) at times t (...), s."""
        return np.asarray(self.derivatives(t)[0])


def rest_to_rest(t: ArrayLike, duration: float) -> tuple:
    """Return u (...) and its first three derivatives by time, (3, ...), at times t (...), of the minimum-jerk law.

    Parameters
    ----------
    t : (...) array_like
        s; before 0 and after `duration` it stands still.
    duration : float
        s.
    """
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
    The k-th derivative by time falls with the k-th power of the duration, so that the duration is the greatest over all
    times, coordinates and k of (derivative at duration 1 / limit) ^ (1 / k).
    """
    unit = Trajectory(curve, 1.0)
    return Trajectory(curve, max(shortest, greatest(lambda t: _stretch(unit.derivatives(t)[1:], limits))))


def greatest(values: Callable[[np.ndarray], np.ndarray]) -> float:
    """Return the greatest value over times from 0 to 1: of samples, and of more and more around those that stand out.

    Parameters
    ----------
    values : callable
        Takes times (m,), returns (m,).
    """
    t = np.linspace(0.0, 1.0, _SAMPLES)
    found = values(t)
    most, beyond = float(found.max()), np.concatenate(([-np.inf], found, [-np.inf]))
    tops = t[(found >= beyond[:-2]) & (found >= beyond[2:])]
    width = t[1]
    for _ in range(_ROUNDS):
        around = np.clip(tops[:, None] + np.linspace(-width, width, _AROUND), 0.0, 1.0)
        found = values(around.ravel()).reshape(around.shape)
        tops = around[np.arange(len(tops)), found.argmax(axis=1)]
        most, width = max(most, float(found.max())), 2.0 * width / (_AROUND - 1)
    return most


def _stretch(samples: np.ndarray, limits: Limits) -> np.ndarray:
    """Return the factors of time (m,) with which the derivatives (k, m, d) from the first on just keep the limits."""
    factor, bounded, dimension = np.zeros(samples.shape[1]), False, samples.shape[-1]
    for k, (name, value) in enumerate(vars(limits).items(), start=1):
        limit = np.asarray(value, dtype=np.float64)
        if limit.shape not in ((), (dimension,)) or not (limit > 0.0).all():
            raise TrajectoryError(f"{name} {value}; give a positive number, or {dimension} of them")
        bounded = bounded or bool(np.isfinite(limit).any())
        ratio = np.abs(np.nan_to_num(samples[k - 1])) / limit
        factor = np.maximum(factor, ratio.max(axis=-1) ** (1.0 / k))
    if not bounded:
        raise TrajectoryError("no limit is finite; give a velocity, an acceleration or a jerk")
    return factor


class Keyframes:
    """Passes points at given times, from rest to rest.

    Between two points no coordinate leaves the interval of its two values, and where they are equal it stands still: a
    foot that is down stays down. Velocity is continuous, acceleration is not; F. Fritsch and J. Butland, A method for
    constructing local monotone piecewise cubic interpolants, SIAM J. Sci. Stat. Comput. 5 (1984).

    Parameters
    ----------
    points : (n, d) array-like
        Two at least. A coordinate that is NaN in some of them goes through the others; the first point has all.
    at : (n,) array-like
        When each point is passed, s, increasing from 0.

    Attributes
    ----------
    at : (n,) array
        As given.
    duration : float
        s.

    Raises
    ------
    TrajectoryError
        If points and times do not fit together.
    """

    def __init__(self, points: ArrayLike, at: ArrayLike) -> None:
        p, t = np.asarray(points, dtype=np.float64), np.asarray(at, dtype=np.float64)
        if p.ndim != 2 or len(p) < 2 or np.isinf(p).any() or np.isnan(p[0]).any():
            raise TrajectoryError(f"points of shape {p.shape}; give two at least as (n, d), the first one finite")
        if t.shape != (len(p),) or t[0] != 0.0 or not (np.diff(t) > 0.0).all() or not np.isfinite(t[-1]):
            raise TrajectoryError(f"times {t.tolist()} of {len(p)} points; give as many, increasing from 0")
        self.duration, self.dimension, self.at = float(t[-1]), p.shape[1], t
        # a second before and after, where it stands still: this makes it begin and end at rest
        # coordinates that are known in the same points are one interpolator, which is as fast as for one of them
        known = np.isfinite(p)
        groups: Dict[bytes, List[int]] = {}
        for column in range(p.shape[1]):
            groups.setdefault(known[:, column].tobytes(), []).append(column)
        self._order = np.argsort([column for group in groups.values() for column in group])
        self._groups = []
        for group in groups.values():
            rows = known[:, group[0]]
            times = np.concatenate(([-1.0], t[rows], [t[-1] + 1.0]))
            values = p[rows][:, group]
            self._groups.append(PchipInterpolator(times, np.concatenate((values[:1], values, values[-1:]))))

    def derivatives(self, t: ArrayLike) -> np.ndarray:
        """Return position, velocity, acceleration and jerk, (4, ..., d), at times t (...), s from the beginning.

        Parameters
        ----------
        t : (...) array_like
            s.
        """
        x = np.clip(np.asarray(t, dtype=np.float64), 0.0, self.duration)
        return np.stack([self._evaluated(x, k) for k in range(ORDERS)])

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """Return the positions (..., d) at times t (...), s."""
        x = np.clip(np.asarray(t, dtype=np.float64), 0.0, self.duration)
        return self._evaluated(x, 0)

    def _evaluated(self, x: np.ndarray, order: int) -> np.ndarray:
        return np.concatenate([group(x, nu=order) for group in self._groups], axis=-1)[..., self._order]

    def stretch(self, limits: Limits) -> np.ndarray:
        """Return the factor (n - 1,) by which each interval has to grow to keep limits; 1 where it does keep them.

        Neighbours change with an interval that grows: repeat until all are 1, or stretch all by the greatest.

        Parameters
        ----------
        limits : Limits
            As of `fastest`.

        Raises
        ------
        TrajectoryError
            As for `fastest`.
        """
        inside = np.linspace(1e-9, 1.0 - 1e-9, 9)  # acceleration is linear between two points, and jumps at them
        t = self.at[:-1, None] + np.diff(self.at)[:, None] * inside
        samples = self.derivatives(t)[1:]
        return np.array([max(1.0, float(_stretch(samples[:, i], limits).max())) for i in range(len(t))])


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
