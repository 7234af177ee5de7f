# SPDX-License-Identifier: MIT
"""The equations of motion of a serial arm in closed form, as in the book: to read, and to test the fast ones against.

Lynch and Park, Modern Robotics, 2017, ch. 8.4: the recursions of Newton and Euler stacked into matrices of 6n rows.
Twists and wrenches are (angular, linear) here, as there.
"""

from __future__ import annotations  # noqa: I001

from typing import NamedTuple, Sequence

import numpy as np
from robot_mechanics.native import required_scipy  # noqa: F401 - before scipy: says what to do if it is missing
from scipy.linalg import block_diag, expm


class Terms(NamedTuple):
    """M a + c + g = tau."""

    mass: np.ndarray  #: M (n, n)
    coriolis: np.ndarray  #: c (n,)
    gravity: np.ndarray  #: g (n,)


def equations_of_motion(
    home: Sequence[np.ndarray],
    screws: Sequence[np.ndarray],
    spatial: Sequence[np.ndarray],
    q: np.ndarray,
    v: np.ndarray,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Terms:
    """Return the terms of the equations of motion of n joints in a row.

    Parameters
    ----------
    home : n arrays (4, 4)
        M_i,i-1: pose of the frame before in the frame of link i, at q = 0; the frames stand at the centres of mass.
    screws : n arrays (6,)
        A_i: the joint's screw axis in the frame of link i, angular part first.
    spatial : n arrays (6, 6)
        G_i: spatial inertia of link i in its frame: tensor, then mass times identity.
    q, v : (n,) arrays
        Positions and velocities, rad and rad/s.
    gravity : (3,) sequence
        In the base, m/s^2.
    """
    n = len(screws)
    A = np.zeros((6 * n, n))
    W = np.zeros((6 * n, 6 * n))
    before = np.zeros((6 * n, 6))  # what enters from the base
    G = block_diag(*spatial)
    for i in range(n):
        rows = slice(6 * i, 6 * i + 6)
        A[rows, i] = screws[i]
        adjoint = _adjoint(expm(-_matrix(screws[i]) * q[i]) @ home[i])
        if i:
            W[rows, rows.start - 6 : rows.start] = adjoint
        else:
            before[rows] = adjoint
    L = np.linalg.inv(np.eye(6 * n) - W)
    ad_rates = block_diag(*(_ad(A[6 * i : 6 * i + 6, i] * v[i]) for i in range(n)))
    V = L @ A @ v
    ad_twists = block_diag(*(_ad(V[6 * i : 6 * i + 6]) for i in range(n)))
    mass = A.T @ L.T @ G @ L @ A
    coriolis = -A.T @ L.T @ (G @ L @ ad_rates @ W + ad_twists.T @ G) @ L @ A @ v
    lift = before @ np.concatenate([np.zeros(3), -np.asarray(gravity, dtype=float)])
    return Terms(mass, coriolis, A.T @ L.T @ G @ L @ lift)


def _cross(w: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _matrix(screw: np.ndarray) -> np.ndarray:
    return np.block([[_cross(screw[:3]), screw[3:, None]], [np.zeros((1, 4))]])


def _adjoint(T: np.ndarray) -> np.ndarray:  # noqa: N803
    R = T[:3, :3]
    return np.block([[R, np.zeros((3, 3))], [_cross(T[:3, 3]) @ R, R]])


def _ad(twist: np.ndarray) -> np.ndarray:
    return np.block([[_cross(twist[:3]), np.zeros((3, 3))], [_cross(twist[3:]), _cross(twist[:3])]])
