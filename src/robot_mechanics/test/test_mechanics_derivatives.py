# SPDX-License-Identifier: MIT
"""Poses and derivatives of random and known chains against the product of exponentials, KDL, complex steps and
differences; measures and singular poses.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from mechanics_chains import (
    PUMA,
    UR5,
    complex_poses,
    complex_step_jacobian,
    dh_chain,
    kdl_array,
    kdl_chain,
    kdl_jacobian,
    kdl_matrix,
    known_chains,
    product_of_exponentials,
    random_chain,
    random_chains,
)

from robot_mechanics import Joint, SerialChain
from robot_mechanics.errors import ShapeError, SingularPoseError, UnknownNameError
from robot_mechanics.models.derivatives import euler_angles, euler_rate_matrix
from robot_mechanics.motion import se3

REFERENCES = ("local_world_aligned", "world", "local")
INDEPENDENT = random_chains(11)
FOLLOWING = random_chains(12, mimics=2)
KNOWN = known_chains()
EVERY = [*INDEPENDENT, *FOLLOWING, *KNOWN]


def near(actual, expected, tolerance, chain):
    """Compare two arrays, and name the chain where they differ."""
    np.testing.assert_allclose(actual, expected, atol=tolerance, err_msg=f"chain {EVERY.index(chain)}: {chain.name}")


def positions(chain, seed, count=3):
    rng = np.random.default_rng(seed)
    return rng.uniform(-np.pi, np.pi, (count, chain.n))


def test_poses_are_products_of_exponentials():
    for chain in EVERY:
        for q in positions(chain, 1):
            near(chain.fk(q), product_of_exponentials(chain, q), 1e-12, chain)
            near(chain.frames(q), complex_poses(chain, q).real, 1e-13, chain)


def test_poses_jacobian_and_its_rate_are_those_of_kdl():
    kdl = pytest.importorskip("PyKDL")
    for chain in [*INDEPENDENT, *KNOWN]:
        judge = kdl_chain(chain, kdl)
        for q, dq in zip(positions(chain, 2), positions(chain, 3)):
            frame, J = kdl.Frame(), kdl.Jacobian(chain.n)
            kdl.ChainFkSolverPos_recursive(judge).JntToCart(kdl_array(q, kdl), frame)
            near(chain.fk(q), kdl_matrix(frame), 1e-12, chain)
            kdl.ChainJntToJacSolver(judge).JntToJac(kdl_array(q, kdl), J)
            near(chain.jacobian(q), kdl_jacobian(J), 1e-12, chain)
            rate = kdl.Jacobian(chain.n)
            state = kdl.JntArrayVel(kdl_array(q, kdl), kdl_array(dq, kdl))
            kdl.ChainJntToJacDotSolver(judge).JntToJacDot(state, rate)  # its default, "hybrid", is world-aligned
            near(chain.jacobian_dot(q, dq), kdl_jacobian(rate), 1e-11, chain)


def test_jacobian_by_complex_step_and_differences(kernels):
    for chain in EVERY:
        for q in positions(chain, 4, 2):
            J, T = chain.jacobian(q), chain.fk(q)
            near(J, complex_step_jacobian(chain, q), 1e-12, chain)
            for i in range(chain.n):
                step = np.zeros(chain.n)
                step[i] = 1e-6
                ahead, behind = chain.fk(q + step), chain.fk(q - step)
                near(J[:3, i], (ahead - behind)[:3, 3] / 2e-6, 1e-7, chain)
                near(J[3:, i], se3.so3_log(ahead[:3, :3] @ behind[:3, :3].T) / 2e-6, 1e-7, chain)
            # the other references say the same twist elsewhere
            R, p = T[:3, :3], T[:3, 3]
            near(chain.jacobian(q, "local"), np.kron(np.eye(2), R.T) @ J, 1e-12, chain)
            world = J.copy()
            world[:3] += np.cross(p, J[3:], axisb=0).T  # the body's point at the base's origin: v - w x p
            near(chain.jacobian(q, "world"), world, 1e-12, chain)
            near(se3.adjoint(T) @ chain.jacobian(q, "local"), world, 1e-12, chain)


@pytest.mark.parametrize("reference", REFERENCES)
def test_hessian_and_rate_by_differences(reference, kernels):
    for chain in EVERY[::3]:
        q, dq = positions(chain, 5, 2)
        H = chain.hessian(q, reference)
        assert H.shape == (6, chain.n, chain.n)
        for k in range(chain.n):
            step = np.zeros(chain.n)
            step[k] = 1e-6
            slope = (chain.jacobian(q + step, reference) - chain.jacobian(q - step, reference)) / 2e-6
            near(H[:, :, k], slope, 3e-8 * (1 + np.abs(H).max()), chain)
        near(chain.jacobian_dot(q, dq, reference), H @ dq, 1e-11 * (1 + np.abs(H).max()), chain)


@pytest.mark.parametrize("angles", ["zyz", "rpy"])
def test_analytic_jacobian_by_differences(angles):
    for chain in EVERY[::4]:
        for q in positions(chain, 6):
            J = chain.analytic_jacobian(q, angles)
            R = chain.fk(q)[:3, :3]
            of_pose = euler_angles(R, angles)
            distance = abs(math.sin(of_pose[1]) if angles == "zyz" else math.cos(of_pose[1]))  # from the singular pose
            for i in range(chain.n):
                step = np.zeros(chain.n)
                step[i] = 1e-6
                ahead, behind = chain.fk(q + step), chain.fk(q - step)
                turn = np.subtract(euler_angles(ahead[:3, :3], angles), euler_angles(behind[:3, :3], angles))
                turn -= 2 * np.pi * np.round(turn / (2 * np.pi))
                slope = np.concatenate([(ahead - behind)[:3, 3], turn]) / 2e-6
                near(J[:, i], slope, 1e-8 / distance**3, chain)
            near(euler_rate_matrix(of_pose, angles) @ J[3:], chain.jacobian(q)[3:], 1e-11, chain)


def test_analytic_jacobian_names_the_singular_angle():
    wrist = SerialChain([Joint("a"), Joint("b", axis=(0, 1, 0)), Joint("c")])
    for theta in (0.0, 1e-8, math.pi, -1e-7):
        with pytest.raises(SingularPoseError, match=r"theta of ZYZ is .* rad from the singular .* expected at least"):
            wrist.analytic_jacobian([0.3, theta, 0.1], "zyz")
    assert np.isfinite(wrist.analytic_jacobian([0.3, 1e-3, 0.1], "zyz")).all()
    assert np.isfinite(wrist.analytic_jacobian([0.3, 0.0, 0.1], "rpy")).all()
    for pitch in (math.pi / 2, -math.pi / 2 + 1e-7):
        with pytest.raises(SingularPoseError, match=r"pitch of RPY is"):
            wrist.analytic_jacobian([0.3, pitch, 0.0], "rpy")


@pytest.mark.parametrize("rows, part", [("all", slice(0, 6)), ("translation", slice(0, 3)), ("rotation", slice(3, 6))])
def test_manipulability_is_the_determinant_and_its_gradient_the_slope(rows, part):
    for chain in [dh_chain(PUMA, "puma"), dh_chain(UR5, "ur5"), *INDEPENDENT[6:12], *FOLLOWING[7:12]]:
        for q in positions(chain, 7, 2):
            J = chain.jacobian(q)[part]
            wide = J.shape[1] >= J.shape[0]
            expected = math.sqrt(max(0.0, np.linalg.det(J @ J.T if wide else J.T @ J)))
            measure = chain.manipulability(q, rows)
            assert measure == pytest.approx(expected, rel=1e-6, abs=1e-7)
            if measure < 1e-4:
                continue
            gradient = chain.manipulability_gradient(q, rows)
            for k in range(chain.n):
                step = np.zeros(chain.n)
                step[k] = 1e-6
                slope = (chain.manipulability(q + step, rows) - chain.manipulability(q - step, rows)) / 2e-6
                assert gradient[k] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_manipulability_of_two_links_is_the_textbooks():
    """Yoshikawa 1985: w = l1 l2 |sin q2|, greatest at q2 = 90 deg."""
    # in the plane only, so two of the three rows: fewer coordinates than rows, the measure of J^T J
    arm = SerialChain.from_dh([(0, 0.3, 0, 0), (0, 0.2, 0, 0)])
    for q2 in (0.1, 1.0, np.pi / 2, 3.0):
        assert arm.manipulability([0.7, q2], "translation") == pytest.approx(0.06 * abs(math.sin(q2)), abs=1e-15)
    np.testing.assert_allclose(
        arm.manipulability_gradient([0.7, 1.0], "translation"), [0, 0.06 * math.cos(1.0)], atol=1e-12
    )
    assert arm.manipulability([0.7, 0.0], "translation") < 1e-15
    with pytest.raises(SingularPoseError, match="no gradient"):
        arm.manipulability_gradient([0.7, 0.0], "translation")


def test_turns_of_two_pi_change_nothing():
    for chain in EVERY[:12]:
        turns = np.array([1.0 if joint.kind == "revolute" else 0.0 for joint in chain.joints if joint.moves])
        for q in positions(chain, 8, 1):
            for count in (1, -3):
                moved = q + turns * 2 * np.pi * count
                np.testing.assert_allclose(chain.fk(moved), chain.fk(q), atol=1e-13)
                np.testing.assert_allclose(chain.jacobian(moved), chain.jacobian(q), atol=1e-13)
            for edge in (2 * np.pi - 1e-9, 2 * np.pi, np.nextafter(2 * np.pi, 7), np.pi, -np.pi):
                at_edge = np.where(turns > 0, edge, q)
                np.testing.assert_allclose(chain.fk(at_edge), product_of_exponentials(chain, at_edge), atol=1e-12)


@pytest.mark.parametrize("joints", [64, 256])
def test_long_chains_stay_exact(joints):
    chain = random_chain(np.random.default_rng(joints), joints, mimics=joints // 8)
    q = positions(chain, 9, 1)[0]
    scale = np.abs(chain.frames(q)[:, :3, 3]).max()  # tens of metres
    np.testing.assert_allclose(chain.fk(q), complex_poses(chain, q)[-1].real, atol=1e-13 * scale)
    dq = positions(chain, 10, 1)[0]
    np.testing.assert_allclose(chain.jacobian_dot(q, dq), chain.hessian(q) @ dq, rtol=1e-9, atol=1e-9 * scale)
    step = 1e-7 * dq
    slope = (chain.jacobian(q + step) - chain.jacobian(q - step)) / 2e-7
    np.testing.assert_allclose(chain.jacobian_dot(q, dq), slope, atol=1e-6 * np.abs(slope).max())


def test_prismatic_joints_only_translate():
    chain = SerialChain([Joint("a", "prismatic", axis=(1, 0, 0)), Joint("b", "prismatic", axis=(0, 3, 4))])
    np.testing.assert_allclose(chain.fk([0.5, 2.0]), [[1, 0, 0, 0.5], [0, 1, 0, 1.2], [0, 0, 1, 1.6], [0, 0, 0, 1]])
    np.testing.assert_allclose(chain.jacobian([0.5, 2.0]), [[1, 0], [0, 0.6], [0, 0.8], [0, 0], [0, 0], [0, 0]])
    assert not chain.hessian([0.5, 2.0]).any()


def test_chain_of_fixed_joints_has_no_coordinates():
    chain = SerialChain([Joint("a", "fixed", origin=se3.se3_exp([1, 2, 3, 0, 0, 0]))])
    assert chain.n == 0 and chain.jacobian([]).shape == (6, 0) and chain.hessian([]).shape == (6, 0, 0)
    np.testing.assert_array_equal(chain.fk([])[:3, 3], [1, 2, 3])
    assert chain.manipulability([]) == 0.0 and chain.manipulability_gradient([]).shape == (0,)


def test_bad_arguments_are_named():
    chain = EVERY[-1]
    q = np.zeros(chain.n)
    for call, error, words in (
        (lambda: chain.jacobian(q, "tool"), UnknownNameError, "'tool'; expected one of local_world_aligned"),
        (lambda: chain.analytic_jacobian(q, "xyz"), UnknownNameError, "'xyz'; expected one of zyz, rpy"),
        (lambda: chain.manipulability(q, "linear"), UnknownNameError, "'linear'; expected one of all"),
        (lambda: chain.jacobian_dot(q, q[:2]), ShapeError, r"dq of chain 'ur5' has shape \(2,\); expected \(6,\)"),
        (lambda: chain.jacobian_dot(q, q + np.inf), ShapeError, "dq of .* expected finite numbers"),
        (lambda: chain.hessian(q * np.nan), ShapeError, "q of .* expected finite numbers"),
        (lambda: chain.fk([1e12] * 6), ShapeError, r"within \+-1e\+09"),
        (lambda: chain.fk([[0] * 6]), ShapeError, r"shape \(1, 6\); expected \(6,\)"),
    ):
        with pytest.raises(error, match=words):
            call()
