# SPDX-License-Identifier: MIT
"""Curves over a parameter u from 0 to 1: NURBS and Bézier, through or near points, by arc length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Protocol, Sequence

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline, make_lsq_spline
from scipy.special import comb

from robot_mechanics.errors import TrajectoryError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ORDERS = 4  # position and three derivatives
_INTERVALS = 400  # in which the length of a curve is summed up
_GAUSS_X, _GAUSS_W = np.polynomial.legendre.leggauss(5)


class Curve(Protocol):
    """A curve of d coordinates over u from 0 to 1.

    Attributes
    ----------
    dimension : int
        Number d of coordinates.
    """

    dimension: int

    def derivatives(self, u: ArrayLike) -> np.ndarray:
        """Return the curve and its first three derivatives by u, (4, ..., d), at each u (...).

        Parameters
        ----------
        u : (...) array_like
            0 to 1.
        """


class Nurbs:
    """Rational B-spline curve by its control points.

    Parameters
    ----------
    points : (n, d) array-like
        Control points. A coordinate that is NaN in all of them is left free, and is NaN along the curve.
    weights : (n,) array-like, optional
        Positive; how strongly each control point attracts the curve. All 1 by default: a plain B-spline.
    degree : int
        1 to n - 1.
    knots : (n + degree + 1,) array-like, optional
        Not decreasing, degree + 1 of them 0 at the beginning and 1 at the end. Equal spacing by default.

    Raises
    ------
    TrajectoryError
        If the arguments do not fit together; the text names the first that does not.

    Notes
    -----
    The curve is the projection C = A / w of a B-spline (A, w) in homogeneous coordinates. Its derivatives follow from
    the product rule, C(k) = (A(k) - sum of binomial(k, i) w(i) C(k-i) over i = 1 .. k) / w; L. Piegl and W. Tiller,
    The NURBS Book, 2nd edition, equation 4.8.
    """

    def __init__(
        self,
        points: ArrayLike,
        weights: Optional[ArrayLike] = None,
        degree: int = 3,
        knots: Optional[ArrayLike] = None,
    ) -> None:
        p = _points(points)
        n, self.dimension = p.shape
        self._free = np.isnan(p).all(axis=0)
        if np.isnan(p[:, ~self._free]).any():
            raise TrajectoryError("a coordinate is NaN in some control points; give it in all of them, or in none")
        if not 1 <= degree < n:
            raise TrajectoryError(f"degree {degree} with {n} control points; give 1 to {n - 1}")
        w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        if w.shape != (n,) or not np.isfinite(w).all() or (w <= 0.0).any():
            raise TrajectoryError(f"weights {w.tolist()} of {n} control points; give {n} positive numbers")
        t = _clamped(n, degree) if knots is None else np.asarray(knots, dtype=np.float64)
        clamped = not t[: degree + 1].any() and (t[-degree - 1 :] == 1.0).all()
        if t.shape != (n + degree + 1,) or (np.diff(t) < 0.0).any() or not clamped:
            raise TrajectoryError(
                f"knots {t.tolist()}; give {n + degree + 1} that do not decrease, {degree + 1} of them 0 and as many 1"
            )
        self._spline = BSpline(t, np.column_stack((np.where(self._free, 0.0, p) * w[:, None], w)), degree)

    @classmethod
    def bezier(cls, points: ArrayLike, weights: Optional[ArrayLike] = None) -> Nurbs:
        """Return the Bézier curve of control points (n, d), rational with weights (n,).

        Parameters
        ----------
        points : (n, d) array_like
            Two or more.
        weights : (n,) array_like, optional
            Above 0; equal if not given.

        Raises
        ------
        TrajectoryError
            As for the class.
        """
        return cls(points, weights, len(_points(points)) - 1)

    @classmethod
    def near(cls, points: ArrayLike, count: int, degree: int = 3) -> Nurbs:
        """Return the curve of few control points that comes nearest to many points, by least squares.

        Parameters
        ----------
        points : (n, d) array-like
            All finite, such as a recorded motion.
        count : int
            Control points, degree + 1 to n.
        degree : int
            Of the curve.

        Raises
        ------
        TrajectoryError
            If `count` or the points do not fit.
        """
        p = _points(points)
        if not 1 <= degree < count <= len(p):
            raise TrajectoryError(
                f"{count} control points of degree {degree} near {len(p)} points; give {degree + 1} to {len(p)}"
            )
        knots = _clamped(count, degree)
        try:
            spline = make_lsq_spline(_parameters(p), p, knots, degree)
        except (ValueError, np.linalg.LinAlgError):
            raise TrajectoryError(f"{count} control points are too many for these points; give fewer") from None
        return cls(spline.c, None, degree, knots)

    def derivatives(self, u: ArrayLike) -> np.ndarray:
        """Return the curve and its first three derivatives by u, (4, ..., d); u (...) is kept within 0 to 1.

        Parameters
        ----------
        u : (...) array_like
            0 at the beginning, 1 at the end.
        """
        a = np.stack([_nth(self._spline, u, k) for k in range(ORDERS)])
        w, curve = a[..., -1:], np.empty_like(a[..., :-1])
        for k in range(ORDERS):
            lower = sum(comb(k, i) * w[i] * curve[k - i] for i in range(1, k + 1))
            curve[k] = (a[k, ..., :-1] - lower) / w[0]
        curve[..., self._free] = np.nan
        return curve

    def __call__(self, u: ArrayLike) -> np.ndarray:
        """Return the points (..., d) at u (...)."""
        return np.asarray(self.derivatives(u)[0])


class Through:
    """Smooth curve that passes through points.

    Parameters
    ----------
    points : (n, d) array-like
        Two at least. A coordinate that is NaN in some of them goes smoothly through the others. NaN at an end, it has
        there the value that it is given nearest to that end; between these two equal values it swings beyond them.
        One that is NaN in all of them is free, and is NaN along the curve.
    degree : int
        1 (straight lines) to 5; less in a coordinate that is given in fewer points.
    at : (n,) array-like, optional
        Parameter of each point, increasing from 0 to 1. By default by the square root of the distances between the
        points (centripetal), which avoids loops and overshoot; E. Lee, Choosing nodes in parametric curve
        interpolation, Computer-Aided Design 21 (1989).

    Raises
    ------
    TrajectoryError
        If there are fewer than two points, two in a row are equal, or `at` does not increase from 0 to 1.
    """

    def __init__(self, points: ArrayLike, degree: int = 3, at: Optional[ArrayLike] = None) -> None:
        p = _points(points)
        self.dimension = p.shape[1]
        if not 1 <= degree <= 5:
            raise TrajectoryError(f"degree {degree}; give 1 to 5")
        u = _parameters(p) if at is None else np.asarray(at, dtype=np.float64)
        if u.shape != (len(p),) or u[0] != 0.0 or u[-1] != 1.0 or not (np.diff(u) > 0.0).all():
            raise TrajectoryError(f"parameters {u.tolist()} of {len(p)} points; give as many, increasing from 0 to 1")
        self._splines = [_column(u, values, degree) for values in p.T]

    def derivatives(self, u: ArrayLike) -> np.ndarray:
        """Return the curve and its first three derivatives by u, (4, ..., d); u (...) is kept within 0 to 1.

        Parameters
        ----------
        u : (...) array_like
            0 at the beginning, 1 at the end.
        """
        return np.stack([np.stack([_nth(s, u, k) for s in self._splines], axis=-1) for k in range(ORDERS)])

    def __call__(self, u: ArrayLike) -> np.ndarray:
        """Return the points (..., d) at u (...)."""
        return np.asarray(self.derivatives(u)[0])


class ArcLength:
    """A curve over the fraction of its length, so that equal steps of u are equal distances.

    Parameters
    ----------
    curve : Curve
        Whose speed by u is zero nowhere.
    columns : sequence of int, optional
        Coordinates that the length is measured in, such as 0, 1, 2 of a pose; all by default.

    Attributes
    ----------
    length : float
        In the unit of the coordinates.

    Raises
    ------
    TrajectoryError
        If the curve stands still somewhere.
    """

    def __init__(self, curve: Curve, columns: Optional[Sequence[int]] = None) -> None:
        self._curve, self.dimension = curve, curve.dimension
        self._columns = list(range(curve.dimension)) if columns is None else list(columns)
        borders = np.linspace(0.0, 1.0, _INTERVALS + 1)
        half = 0.5 / _INTERVALS
        speeds = self._speed((borders[:-1, None] + half) + half * _GAUSS_X)
        if not (speeds > 1e-9 * speeds.max()).all():
            raise TrajectoryError("the curve stands still somewhere; leave out points equal to their neighbours")
        sums = np.concatenate(([0.0], np.cumsum(half * speeds @ _GAUSS_W)))
        self.length = float(sums[-1])
        # d u / d fraction at the borders is known, too: the inverse is a cubic Hermite spline, exact to 1e-9
        self._borders, self._fractions = borders, sums / self.length

    def derivatives(self, u: ArrayLike) -> np.ndarray:
        """Return the curve and its first three derivatives by the fraction of the length u (...), (4, ..., d).

        Parameters
        ----------
        u : (...) array_like
            0 to 1.
        """
        fraction = np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0)
        inner = self._parameter(fraction)
        curve = self._curve.derivatives(inner)
        d1, d2, d3 = curve[1:][..., self._columns]
        g, g1 = (d1 * d1).sum(axis=-1), 2.0 * (d1 * d2).sum(axis=-1)
        g2 = 2.0 * ((d2 * d2).sum(axis=-1) + (d1 * d3).sum(axis=-1))
        u1 = self.length / np.sqrt(g)
        u2 = -0.5 * self.length**2 * g1 / g**2
        u3 = -0.5 * self.length**2 * (g2 / g**2 - 2.0 * g1**2 / g**3) * u1
        return compose(curve, np.stack((u1, u2, u3)))

    def __call__(self, u: ArrayLike) -> np.ndarray:
        """Return the points (..., d) at the fractions of the length u (...)."""
        return np.asarray(self._curve.derivatives(self._parameter(np.clip(u, 0.0, 1.0)))[0])

    def _speed(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.norm(self._curve.derivatives(u)[1][..., self._columns], axis=-1))

    def _parameter(self, fraction: np.ndarray) -> np.ndarray:
        """Return the curve's own parameter at fractions of the length: from the table, then two steps of Newton's."""
        u = np.interp(fraction, self._fractions, self._borders)
        interval = np.clip(np.searchsorted(self._fractions, fraction, side="right") - 1, 0, _INTERVALS - 1)
        start, sum_ = self._borders[interval], self._fractions[interval] * self.length
        for _ in range(2):
            half = 0.5 * (u - start)
            x = (start + half)[..., None] + half[..., None] * _GAUSS_X
            reached = sum_ + half * (self._speed(x) @ _GAUSS_W)
            u = np.clip(u - (reached - fraction * self.length) / self._speed(u), 0.0, 1.0)
        return np.asarray(u)


def compose(curve: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Return the derivatives of C(u(t)) by t, (4, ..., d), by the chain rule.

    Parameters
    ----------
    curve : (4, ..., d) array
        C and its first three derivatives by u.
    inner : (3, ...) array
        First three derivatives of u by t.
    """
    c0, c1, c2, c3 = curve
    u1, u2, u3 = inner[..., None]
    return np.stack((c0, c1 * u1, c2 * u1**2 + c1 * u2, c3 * u1**3 + 3.0 * c2 * u1 * u2 + c1 * u3))


def _points(points: ArrayLike) -> np.ndarray:
    p = np.asarray(points, dtype=np.float64)
    if p.ndim != 2 or len(p) < 2 or p.shape[1] < 1 or np.isinf(p).any():
        raise TrajectoryError(f"points of shape {p.shape}; give two at least as (n, d), finite, NaN where left free")
    return p


def _clamped(count: int, degree: int) -> np.ndarray:
    """Return equally spaced knots with which the curve begins in its first and ends in its last control point."""
    return np.concatenate((np.zeros(degree), np.linspace(0.0, 1.0, count - degree + 1), np.ones(degree)))


def filled(points: ArrayLike) -> np.ndarray:
    """Return points (n, d) whose free coordinates, NaN, lie on straight lines between those given; 0 if none is.

    Parameters
    ----------
    points : (n, d) array_like
        NaN where a coordinate is free.
    """
    p = np.array(points, dtype=np.float64)
    number = np.arange(len(p))
    for column in p.T:
        known = np.isfinite(column)
        column[:] = np.interp(number, number[known], column[known]) if known.any() else 0.0
    return p


def _parameters(p: np.ndarray) -> np.ndarray:
    steps = np.sqrt(np.linalg.norm(np.diff(filled(p), axis=0), axis=1))
    if (steps <= 0.0).any():
        i = int(np.argmin(steps))
        raise TrajectoryError(f"points {i} and {i + 1} are equal; leave one out, or give the parameter of each point")
    return np.asarray(np.concatenate(([0.0], np.cumsum(steps[:-1]) / steps.sum(), [1.0])))


def _column(u: np.ndarray, values: np.ndarray, degree: int) -> BSpline:
    """Return the spline of one coordinate through the points that it is given in."""
    known = np.isfinite(values)
    if not known.any():
        return BSpline([0.0, 0.0, 1.0, 1.0], np.full(2, np.nan), 1)
    first, last = np.flatnonzero(known)[[0, -1]]
    filled = values.copy()
    filled[0], filled[-1] = values[first], values[last]
    known[[0, -1]] = True
    return make_interp_spline(u[known], filled[known], min(degree, int(known.sum()) - 1))


def _nth(spline: BSpline, u: ArrayLike, order: int) -> np.ndarray:
    x = np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0)
    if order > spline.k:
        return np.zeros(x.shape + spline.c.shape[1:]) + 0.0 * spline(x)  # NaN stays NaN
    return np.asarray(spline(x, nu=order))
