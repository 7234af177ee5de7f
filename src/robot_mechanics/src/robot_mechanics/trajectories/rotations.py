# SPDX-License-Identifier: MIT
"""Smooth rotation through orientations, on the sphere of rotations itself: no gimbal lock, no dependence on axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np
from scipy.spatial.transform import Rotation, RotationSpline

from robot_mechanics.errors import TrajectoryError
from robot_mechanics.trajectories.timing import greatest, rest_to_rest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class RotationCurve:
    """Twice differentiable curve through orientations, over u from 0 to 1.

    Parameters
    ----------
    orientations : (n, 4) array-like
        Quaternions x, y, z, w of a moving frame, two at least, each of any length but zero.
    at : (n,) array-like, optional
        Parameter of each, increasing from 0 to 1; by default in proportion to the angles between them.

    Raises
    ------
    TrajectoryError
        If there are fewer than two, one has no direction, two in a row are equal, or `at` does not increase.

    Notes
    -----
    This is scipy's RotationSpline, with continuous angular velocity and acceleration, where squad's acceleration jumps
    at every orientation. It is cubic in the rotation vector from one orientation to the next.
    """

    def __init__(self, orientations: ArrayLike, at: Optional[ArrayLike] = None) -> None:
        q = np.asarray(orientations, dtype=np.float64)
        if q.ndim != 2 or q.shape[1] != 4 or len(q) < 2 or not np.isfinite(q).all():
            raise TrajectoryError(f"orientations of shape {q.shape}; give two at least as (n, 4), x, y, z, w, finite")
        if (np.linalg.norm(q, axis=1) < 1e-6).any():
            raise TrajectoryError("a quaternion is zero; give x, y, z, w of length 1")
        rotations = Rotation.from_quat(q)
        angles = (rotations[:-1].inv() * rotations[1:]).magnitude()
        if at is None:
            if (angles < 1e-9).any():
                i = int(np.argmin(angles))
                raise TrajectoryError(f"orientations {i} and {i + 1} are equal; leave one out, or give parameters")
            u = np.concatenate(([0.0], np.cumsum(angles[:-1]) / angles.sum(), [1.0]))
        else:
            u = np.asarray(at, dtype=np.float64)
        if u.shape != (len(q),) or u[0] != 0.0 or u[-1] != 1.0 or not (np.diff(u) > 0.0).all():
            raise TrajectoryError(f"parameters {u.tolist()} of {len(q)} orientations; give as many, from 0 to 1")
        self._spline = RotationSpline(u, rotations)

    def __call__(self, u: ArrayLike) -> np.ndarray:
        """Return quaternions x, y, z, w, (..., 4), at u (...)."""
        return np.asarray(self._spline(np.clip(u, 0.0, 1.0)).as_quat())

    def rates(self, u: ArrayLike) -> Tuple[np.ndarray, np.ndarray]:
        """Return the first and second derivative by u of the rotation, (..., 3) each, in the moving frame, rad.

        Parameters
        ----------
        u : (...) array_like
            0 to 1.
        """
        x = np.clip(u, 0.0, 1.0)
        return np.asarray(self._spline(x, 1)), np.asarray(self._spline(x, 2))


class RotationTrajectory:
    """A rotation followed from rest to rest with the minimum-jerk law.

    Parameters
    ----------
    curve : RotationCurve
        What is followed.
    duration : float
        s, positive.

    Raises
    ------
    TrajectoryError
        If the duration is not a positive number.
    """

    def __init__(self, curve: RotationCurve, duration: float) -> None:
        if not (np.isfinite(duration) and duration > 0.0):
            raise TrajectoryError(f"duration {duration:g} s; give a positive number")
        self._curve, self.duration = curve, float(duration)

    @classmethod
    def fastest(cls, curve: RotationCurve, velocity: float, acceleration: float = np.inf) -> RotationTrajectory:
        """Return the trajectory of least time within an angular velocity (rad/s) and acceleration (rad/s^2).

        Parameters
        ----------
        curve : RotationCurve
            Rotation over u from 0 to 1.
        velocity : float
            Greatest angular velocity, rad/s.
        acceleration : float
            Greatest angular acceleration, rad/s^2.

        Raises
        ------
        TrajectoryError
            If a limit is not positive.
        """
        if not (velocity > 0.0 and acceleration > 0.0 and np.isfinite(velocity)):
            raise TrajectoryError(f"{velocity:g} rad/s and {acceleration:g} rad/s^2 as limits; give positive ones")
        unit = cls(curve, 1.0)

        def stretch(t: np.ndarray) -> np.ndarray:
            turn, change = (np.linalg.norm(rate, axis=-1) for rate in unit.rates(t))
            return np.maximum(turn / velocity, np.sqrt(change / acceleration))

        return cls(curve, greatest(stretch))

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """Return quaternions x, y, z, w, (..., 4), at times t (...), s."""
        return self._curve(rest_to_rest(t, self.duration)[0])

    def rates(self, t: ArrayLike) -> Tuple[np.ndarray, np.ndarray]:
        """Return angular velocity (rad/s) and acceleration (rad/s^2), (..., 3) each, in the moving frame.

        Parameters
        ----------
        t : (...) array_like
            Times, s from the beginning.
        """
        u, (u1, u2, _) = rest_to_rest(t, self.duration)
        first, second = self._curve.rates(u)
        return first * u1[..., None], second * u1[..., None] ** 2 + first * u2[..., None]
