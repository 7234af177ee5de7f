# SPDX-License-Identifier: MIT
"""Lie groups: exponentials by scipy's matrix exponential, round trips, group axioms, angles at their edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from robot_mechanics.errors import ShapeError, UnknownNameError
from robot_mechanics.motion import se3
from robot_mechanics.motion.rotations import (
    quaternion_from_rotation,
    rotation_about,
    rotation_from_rpy,
    rotation_from_zyz,
    rpy_from_rotation,
    zyz_from_rotation,
)

PI = math.pi
LENGTHS = [
    0.0,
    1e-300,
    1e-160,
    1e-12,
    1e-8,
    1e-4,
    0.03,
    0.0999,
    0.1001,
    0.5,
    1.0,
    3.0,
    PI - 1e-3,
    PI - 1e-8,
    PI - 1e-14,
]


def directions(rng, count=6):
    v = np.concatenate([np.eye(3), -np.eye(3), rng.normal(size=(count, 3))])
    return v / np.linalg.norm(v, axis=1)[:, None]


def matrix(twist):
    out = np.zeros((4, 4))
    out[:3, :3], out[:3, 3] = se3.skew(twist[3:]), twist[:3]
    return out


@pytest.mark.parametrize("length", [*LENGTHS, PI, 5.0, 2 * PI, 40.0])
def test_exponentials_are_those_of_matrices(length, rng):
    for direction in directions(rng):
        w = length * direction
        np.testing.assert_allclose(se3.so3_exp(w), expm(se3.skew(w)), atol=2e-13)
        twist = np.concatenate([rng.normal(size=3), w])
        np.testing.assert_allclose(se3.se3_exp(twist), expm(matrix(twist)), atol=5e-13)


@pytest.mark.parametrize("length", LENGTHS)
def test_logarithms_undo_exponentials(length, rng):
    for direction in directions(rng):
        w = length * direction
        # near pi a rounding of the matrix is one of the angle, not of its sine
        np.testing.assert_allclose(se3.so3_log(se3.so3_exp(w)), w, atol=1e-15 + 1e-15 * length, rtol=1e-14)
        np.testing.assert_allclose(se3.so3_log(rotation_about(direction, length)), w, atol=1e-14)
        twist = np.concatenate([rng.normal(size=3), w])
        np.testing.assert_allclose(se3.se3_log(se3.se3_exp(twist)), twist, atol=1e-13)


def test_logarithm_at_pi_is_one_of_two(rng):
    for direction in directions(rng):
        w = se3.so3_log(2 * np.outer(direction, direction) - np.eye(3))
        assert np.linalg.norm(w) == pytest.approx(PI, abs=1e-14)
        assert min(np.abs(w - PI * direction).max(), np.abs(w + PI * direction).max()) < 1e-14
    # beyond pi the shorter way round
    np.testing.assert_allclose(se3.so3_log(se3.so3_exp([0, 0, PI + 0.1])), [0, 0, 0.1 - PI], atol=1e-14)


def test_rotation_vectors_are_scipys(rng):
    R = Rotation.random(300, random_state=5)
    np.testing.assert_allclose(se3.so3_log(R.as_matrix()), R.as_rotvec(), atol=1e-13)
    np.testing.assert_allclose(se3.so3_exp(R.as_rotvec()), R.as_matrix(), atol=1e-13)
    for M, q in zip(R.as_matrix(), R.as_quat()):
        assert abs(np.dot(quaternion_from_rotation(M), q)) == pytest.approx(1.0, abs=1e-14)


def test_groups_axioms(rng):
    A, B, C = se3.se3_exp(rng.normal(size=(3, 50, 6)))
    eye = np.broadcast_to(np.eye(4), A.shape)
    np.testing.assert_allclose(A @ se3.inverse(A), eye, atol=1e-13)
    np.testing.assert_allclose(se3.inverse(A @ B), se3.inverse(B) @ se3.inverse(A), atol=1e-13)
    np.testing.assert_allclose(se3.adjoint(A @ B), se3.adjoint(A) @ se3.adjoint(B), atol=1e-12)
    np.testing.assert_allclose(se3.adjoint(se3.inverse(A)), np.linalg.inv(se3.adjoint(A)), atol=1e-12)
    xi = rng.normal(size=(50, 6))
    moved = (se3.adjoint(A) @ xi[..., None])[..., 0]
    np.testing.assert_allclose(se3.se3_exp(moved), A @ se3.se3_exp(xi) @ se3.inverse(A), atol=1e-12)
    np.testing.assert_allclose(se3.twist_between(C, C), np.zeros((50, 6)), atol=1e-13)


def test_twist_between_poses_leads_from_one_to_the_other(rng):
    for _ in range(50):
        A, B = se3.se3_exp(rng.normal(size=(2, 6)))
        local, world, aligned = (se3.twist_between(A, B, ref) for ref in ("local", "world", "local_world_aligned"))
        np.testing.assert_allclose(A @ se3.se3_exp(local), B, atol=1e-12)
        np.testing.assert_allclose(se3.se3_exp(world) @ A, B, atol=1e-12)
        np.testing.assert_allclose(aligned, np.kron(np.eye(2), A[:3, :3]) @ local, atol=1e-13)
        # the turn about the base's axes is the same in both
        np.testing.assert_allclose(aligned[3:], world[3:], atol=1e-12)


def test_poses_and_quaternions(rng):
    for T in se3.se3_exp(rng.normal(size=(100, 6))):
        p, q = se3.position_and_quaternion(T)
        assert q[3] >= 0 and np.linalg.norm(q) == pytest.approx(1, abs=1e-15)
        np.testing.assert_allclose(se3.transform_from_quaternion(p, q), T, atol=1e-14)
        np.testing.assert_allclose(se3.transform_from_quaternion(p, -q * 1.0001), T, atol=1e-14)


@pytest.mark.parametrize("second", [0.3, 1.2, PI - 0.2, 1e-5])
def test_zyz_angles_are_scipys(second, rng):
    for phi, psi in rng.uniform(-PI, PI, (40, 2)):
        R = rotation_from_zyz(phi, second, psi)
        np.testing.assert_allclose(R, Rotation.from_euler("ZYZ", [phi, second, psi]).as_matrix(), atol=1e-14)
        np.testing.assert_allclose(zyz_from_rotation(R), [phi, second, psi], atol=1e-9)
        np.testing.assert_allclose(rotation_from_zyz(*zyz_from_rotation(R)), R, atol=1e-14)


def test_angles_at_their_singular_orientations(rng):
    for a, b in rng.uniform(-PI, PI, (40, 2)):
        for theta in (0.0, PI, 1e-10, PI - 1e-10):
            R = rotation_from_zyz(a, theta, b)
            assert zyz_from_rotation(R)[0] == 0.0
            np.testing.assert_allclose(rotation_from_zyz(*zyz_from_rotation(R)), R, atol=1e-9)
        for pitch in (PI / 2, -PI / 2):
            R = rotation_from_rpy(a, pitch, b)
            assert rpy_from_rotation(R)[0] == 0.0
            np.testing.assert_allclose(rotation_from_rpy(*rpy_from_rotation(R)), R, atol=1e-9)


def test_leading_dimensions_are_kept(rng):
    xi = rng.normal(size=(2, 3, 6))
    T = se3.se3_exp(xi)
    assert T.shape == (2, 3, 4, 4) and se3.adjoint(T).shape == (2, 3, 6, 6) and se3.inverse(T).shape == T.shape
    np.testing.assert_allclose(se3.se3_log(T)[1, 2], se3.se3_log(T[1, 2]), atol=0)
    assert se3.se3_log(T[:0]).shape == (0, 3, 6) and se3.so3_exp(np.empty((0, 3))).shape == (0, 3, 3)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: se3.so3_exp([0, 0]), r"w has shape \(2,\); expected \(\.\.\., 3\)"),
        (lambda: se3.so3_exp([0, 0, np.nan]), "finite"),
        (lambda: se3.so3_exp("abc"), "expected numbers"),
        (lambda: se3.so3_log(np.ones((3, 3))), "no rotation"),
        (lambda: se3.so3_log(-np.eye(3)), r"det\(R\) = -1"),
        (lambda: se3.so3_log(1e200 * np.ones((3, 3))), "no rotation"),
        (lambda: se3.so3_log(1e200 * np.array([[1, -1, 0], [1, 1, 0], [0, 0, 1]])), "no rotation"),  # inf - inf
        (lambda: se3.se3_exp(np.zeros(7)), r"twist has shape \(7,\)"),
        (lambda: se3.se3_log(np.diag([1, 1, 1, 2])), "last row"),
        (lambda: se3.inverse(np.eye(3)), r"\(3, 3\); expected \(\.\.\., 4, 4\)"),
        (lambda: se3.adjoint([[np.inf] * 4] * 4), "finite"),
        (lambda: se3.transform_from_quaternion([0, 0, 0], [0, 0, 0, 2]), "length 2; expected length 1"),
        (lambda: se3.transform_from_quaternion([0, 0], [0, 0, 0, 1]), r"p has shape \(2,\)"),
        (lambda: se3.position_and_quaternion(np.zeros((2, 4, 4)) + np.eye(4)), r"\(2, 4, 4\); expected \(4, 4\)"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ShapeError, match=words):
        call()


def test_unknown_reference():
    with pytest.raises(UnknownNameError, match="'body'; expected one of local_world_aligned, world, local"):
        se3.twist_between(np.eye(4), np.eye(4), "body")
