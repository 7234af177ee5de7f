# SPDX-License-Identifier: MIT
"""Closed forms of the legs: round trips over all branches, figures of the reports, limits, targets out of reach."""

from __future__ import annotations

import math
import re

import numba
import numpy as np
import pytest
from leg_rates import lower_rates
from scipy.optimize import minimize

import shellbot_description as description
from robot_mechanics.errors import ShapeError, UnknownNameError
from shellbot_kinematics import LIMBS, Frame, LegBranch, ShellbotModel, foot_branches, solve_limb
from shellbot_kinematics._lower_leg import lower_jacobian, lower_tip

FOOT, SPHERE = Frame.FOOT, Frame.SPHERE_CENTRE
LOWER, UPPER = LIMBS[:6], LIMBS[6:]
MANY = 1000 if numba.config.DISABLE_JIT else 10_000


def wrapped(angles):
    return (np.asarray(angles) + np.pi) % (2 * np.pi) - np.pi


# ---------------------------------------------------------------------------------------------- round trips
@pytest.mark.parametrize("frame", [FOOT, SPHERE])
def test_thousands_of_targets_all_branches(frame, model):
    """Joints anywhere within +-180 deg: every branch found meets the target, and one of them is the pose it came
    from.
    """
    rng = np.random.default_rng(20240602)
    worst, found_itself, count = 0.0, 0, 0
    for i, q in enumerate((rng.random((MANY, 4)) - 0.5) * 2 * np.pi):
        limb = LOWER[i % 6]
        chain = model.chain(limb, frame)
        p = chain.fk(q)[:3, 3]
        branches = foot_branches(model, limb, p, q[0], frame)
        gaps = [np.abs(wrapped(solution - q)).max() for solution in branches.values()]
        # at a stretched knee acos loses half of the digits of the angle, not of the position
        found_itself += min(gaps) < 1e-5
        count += len(branches)
        for solution in branches.values():
            worst = max(worst, np.abs(chain.fk(solution)[:3, 3] - p).max())
    assert found_itself == MANY
    assert count > 2.5 * MANY  # two to four branches a target
    assert worst < 1e-9


def test_thousands_of_targets_within_limits(model):
    """Targets sampled inside the joint limits are met inside the joint limits."""
    rng = np.random.default_rng(20240601)
    chain = model.chain("lower_3", FOOT)
    for q in chain.lower + rng.random((MANY, 4)) * (chain.upper - chain.lower):
        p = chain.fk(q)[:3, 3]
        result = solve_limb(model, "lower_3", FOOT, p, fan_position=q[0])
        assert result.converged and chain.within_limits(result.q, 1e-12)
        assert np.abs(chain.fk(result.q)[:3, 3] - p).max() < 1e-9


@pytest.mark.parametrize("limb", UPPER)
def test_upper_round_trip_by_position_and_by_height(limb, model, rng):
    chain = model.chain(limb, SPHERE)
    for q in chain.lower + rng.random((300, 2)) * (chain.upper - chain.lower):
        T = chain.fk(q)
        by_position = solve_limb(model, limb, SPHERE, T[:3, 3], seed=q)
        assert by_position.converged and np.abs(by_position.q - q).max() < 1e-5
        rpy = [math.atan2(T[2, 1], T[2, 2]), math.asin(-T[2, 0]), math.atan2(T[1, 0], T[0, 0])]
        by_height = solve_limb(model, limb, SPHERE, [np.nan, np.nan, T[2, 3]], rpy, seed=q)
        assert by_height.converged and np.abs(by_height.q - q).max() < 1e-5


def test_both_elbows_of_the_upper_leg(model):
    chain = model.chain("upper_2", SPHERE)
    p = chain.fk([0.3, 1.2])[:3, 3]
    elbows = [solve_limb(model, "upper_2", SPHERE, p, seed=seed).q for seed in ([0.3, 1.2], [-1.6, 2.0])]
    assert np.abs(elbows[0] - elbows[1]).max() > 0.5
    for q in elbows:
        np.testing.assert_allclose(chain.fk(q)[:3, 3], p, atol=1e-12)


def test_kernels_jitted_and_interpreted(model, rng, kernels):
    """The same answers either way: closed form, forward, Jacobian."""
    chain = model.chain("lower_5", FOOT)
    for q in rng.uniform(chain.lower, chain.upper, (20, 4)):
        p = chain.fk(q)[:3, 3]
        np.testing.assert_allclose(lower_tip(model.legs[4], 0, 0, q, 0), p, atol=1e-14)
        result = solve_limb(model, "lower_5", FOOT, p, fan_position=q[0], seed=q)
        np.testing.assert_allclose(result.q, q, atol=1e-5)
        J = np.empty((3, 4))
        lower_jacobian(model.legs[4], 0, 0, q, 0, J)
        np.testing.assert_allclose(J, chain.jacobian(q)[:3], atol=1e-14)


@pytest.mark.parametrize("tip", [0, 1])
def test_rates_undo_the_jacobian(model, rng, tip, kernels):
    """dq = J^-1 (v - J_fan dq_fan), away from singular poses."""
    for limb in range(6):
        q = np.array([-0.4, 0.5, -0.3, 1.7])
        rates = rng.normal(size=4)
        J = np.empty((3, 4))
        lower_jacobian(model.legs[limb], 0, tip, q, 0, J)
        dq = np.array([rates[0], 0.0, 0.0, 0.0])
        lower_rates(model.legs[limb], 0, tip, q, 0, rates[0], *(J @ rates), dq)
        np.testing.assert_allclose(dq, rates, atol=1e-9)


def test_rates_stay_bounded_when_stretched(model):
    g, q, dq = model.legs[0], np.zeros(4), np.zeros(4)
    for bend in (0.0, 1e-9, 1e-3, 0.03):
        q[3] = bend
        lower_rates(g, 0, 0, q, 0, 0.0, 0.1, 0.1, 0.1, dq)
        assert np.isfinite(dq).all() and np.abs(dq).max() < 100.0


# ---------------------------------------------------------------------------------------------- figures
def test_stand(model):
    """Of the study, foot circle 270, centre 162.3 mm high: q2 -16.8, q3 -9.4, q4 110.2 deg, and y = 0 not q2 = 0."""
    for k, limb in enumerate(LOWER):
        azimuth = k * np.pi / 3
        p = [0.270 * np.cos(azimuth), 0.270 * np.sin(azimuth), -0.1623]
        result = solve_limb(model, limb, FOOT, p)
        np.testing.assert_allclose(np.degrees(result.q), [0.0, -16.8, -9.4, 110.2], atol=0.05)


def test_torque_of_12_newton(model):
    """Of the study: 12 N upward at the tip with |q3| = 52.8, |q3 + q4| = 85.4 deg: (0, 0, -6.075, -1.194) kg cm."""
    q = np.radians([0.0, 0.0, -52.8, 85.4 + 52.8])
    torque = model.chain("lower_1", FOOT).jacobian(q)[:3].T @ [0.0, 0.0, 12.0]  # N m
    np.testing.assert_allclose(torque / (9.80665 * 0.01), [0.0, 0.0, -6.075, -1.194], atol=0.02)


def test_upper_shell_heights(urdf, model):
    """Adopted h1: the closed ball's centre is at 0.0 mm. With the report's h1 = 66.35 mm: its 1.748 and 78.21 mm
    within 0.06 mm.
    """
    chain = model.chain("upper_1", SPHERE)
    closed, up = chain.fk(np.radians([-26.69, 131.69])), chain.fk(np.radians([26.69, 78.31]))
    np.testing.assert_allclose(1e3 * closed[:3, 3], 0.0, atol=0.01)
    np.testing.assert_allclose(1e3 * (up[2, 3] + 66.35e-3 - 64.55e-3), 78.21, atol=0.06)
    np.testing.assert_allclose(1e3 * (closed[2, 3] + 66.35e-3 - 64.55e-3), 1.748, atol=0.06)
    np.testing.assert_allclose(closed[:3, :3], up[:3, :3], atol=1e-3)  # both vertical


def test_upper_shell_by_height_gives_the_published_angles(model):
    """Vertical shell: height 0 is q5 -26.69, q6 131.69 deg; 76.36 mm (78.2 with the report's h1) is q5 26.69, q6 78.31
    deg.
    """
    chain = model.chain("upper_4", SPHERE)
    T = chain.fk(np.radians([-26.69, 131.69]))
    rpy = [math.atan2(T[2, 1], T[2, 2]), math.asin(-T[2, 0]), math.atan2(T[1, 0], T[0, 0])]
    for height, angles in ((0.0, [-26.69, 131.69]), (0.07636, [26.69, 78.31])):
        result = solve_limb(model, "upper_4", SPHERE, [np.nan, np.nan, height], rpy, seed=[0.0, 1.8])
        assert result.converged
        np.testing.assert_allclose(np.degrees(result.q), angles, atol=0.02)


def test_lower_closed_ball_centre(model):
    """Of the study: q1 -118.48, q2 46.48, q3 130, q4 110 deg bring the lower sphere centre to the ball's."""
    for limb in LOWER:
        p = model.chain(limb, SPHERE).fk(np.radians([-118.48, 46.48, 130.0, 110.0]))[:3, 3]
        assert np.abs(1e3 * p).max() < 0.1


def test_older_lengths_load_and_solve(rng):
    """Seed 000's other set of lengths goes through the same code: nothing of the robot is repeated here."""
    path = description.package_path() / "config" / "shellbot_older.yaml"
    older = ShellbotModel(description.expand("simulation", variables=path))
    chain = older.chain("lower_2", FOOT)
    assert np.abs(older.legs - ShellbotModel(description.expand()).legs).max() > 1e-3
    for q in rng.uniform(chain.lower, chain.upper, (100, 4)):
        p = chain.fk(q)[:3, 3]
        assert np.abs(chain.fk(solve_limb(older, "lower_2", FOOT, p, fan_position=q[0]).q)[:3, 3] - p).max() < 1e-9


@pytest.mark.parametrize("joint", ["fan", "coxa", "femur", "tibia", "shoulder", "shell"])
def test_axes_may_point_the_other_way(urdf, joint, rng):
    """A description with the opposite sign of a joint goes through the same closed form."""
    flipped = re.sub(
        rf'(<joint name="(?:lower|upper)_\d_{joint}".*?<axis xyz=")0 0 1"', r'\g<1>0 0 -1"', urdf, flags=re.DOTALL
    )
    assert flipped.count('"0 0 -1"') == 6
    other = ShellbotModel(flipped)
    limb, frame = ("lower_2", FOOT) if joint in ("fan", "coxa", "femur", "tibia") else ("upper_2", SPHERE)
    chain, where = other.chain(limb, frame), other.columns(limb)
    for q in rng.uniform(other.lower[where], other.upper[where], (30, chain.n)):
        p = chain.fk(q)[:3, 3]
        result = solve_limb(other, limb, frame, p, fan_position=q[0], seed=q)
        np.testing.assert_allclose(result.q, q, atol=1e-5)
        if frame == FOOT:
            J = np.empty((3, 4))
            lower_jacobian(other.legs[1], 0, 0, q, 0, J)
            np.testing.assert_allclose(J, chain.jacobian(q)[:3], atol=1e-13)


# ---------------------------------------------------------------------------------------------- branches and edges
def test_tip_inside_the_coxa_axis_does_not_turn_the_coxa(model):
    """The minus branch of s = +-sqrt(x^2 + y^2 - h3^2)."""
    q = np.array([0.0, 0.2, 0.3, 2.5])
    chain = model.chain("lower_1", FOOT)
    p = chain.fk(q)[:3, 3]
    assert p[0] < 0.186 - 0.01  # behind the coxa axis at x = 66 + 120 mm
    branches = foot_branches(model, "lower_1", p, 0.0)
    np.testing.assert_allclose(branches[LegBranch.INSIDE_KNEE_UP], q, atol=1e-9)
    assert abs(wrapped(branches[LegBranch.FRONT_KNEE_UP][1] - q[1])) > 0.5
    np.testing.assert_allclose(solve_limb(model, "lower_1", FOOT, p).q, q, atol=1e-9)


def test_out_of_reach_names_limb_distance_and_reason(model):
    far = solve_limb(model, "lower_1", FOOT, [0.6, 0.0, -0.1])
    assert not far.converged and far.reason.startswith("lower_1 stops ") and "beyond the stretched links" in far.reason
    reached = model.chain("lower_1", FOOT).fk(far.q)[:3, 3]
    assert far.error == pytest.approx(np.linalg.norm(reached - [0.6, 0.0, -0.1]), abs=1e-12)
    assert f"{1e3 * far.error:.1f} mm" in far.reason
    axis = solve_limb(model, "lower_1", FOOT, [0.186 + 0.01, 0.0, -0.15])  # 10 mm from the coxa axis, h3 is 24.25
    assert not axis.converged and axis.error < 0.03
    side = solve_limb(model, "upper_1", SPHERE, [0.05, 0.05, 0.05])
    assert not side.converged and "upper_1" in side.reason


def test_fan_beyond_its_limit_is_named(model):
    chain = model.chain("lower_1", FOOT)
    fan = solve_limb(model, "lower_1", FOOT, [0.27, 0.0, -0.1623], fan_position=1.0)
    assert not fan.converged and "lower_1_fan" in fan.reason and fan.q[0] == chain.upper[0]


def test_nearest_is_near_the_true_optimum(model, rng):
    """Out of reach: the answer is at most 5 mm + 15 % farther than the best that a numerical search over the joints
    finds.
    """
    chain = model.chain("lower_1", FOOT)
    low, high = chain.lower[1:], chain.upper[1:]
    ratios = []
    for p in rng.uniform([-0.2, -0.35, -0.35], [0.55, 0.35, 0.2], (60, 3)):
        result = solve_limb(model, "lower_1", FOOT, p)
        if result.converged:
            continue

        def cost(q, p=p):
            return float(np.sum((chain.fk(np.concatenate([[0.0], q]))[:3, 3] - p) ** 2))

        starts = [result.q[1:], *rng.uniform(low, high, (6, 3))]
        best = min(minimize(cost, start, bounds=list(zip(low, high)), method="L-BFGS-B").fun for start in starts) ** 0.5
        ratios.append((result.error, best))
    assert len(ratios) > 10
    for error, best in ratios:
        assert error <= 1.15 * best + 0.005


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        (("lower_7", FOOT, [0, 0, 0]), UnknownNameError, "lower_7"),
        (("upper_1", FOOT, [0, 0, 0]), UnknownNameError, "SPHERE_CENTRE"),
        (("lower_1", Frame.JOINT, [0, 0, 0]), UnknownNameError, "FOOT"),
        (("lower_1", FOOT, [0, 0]), ShapeError, "three finite"),
        (("lower_1", FOOT, [0, np.nan, 0]), ShapeError, "three finite"),
        (("lower_1", FOOT, [0, 0, 0], None, np.nan), ShapeError, "fan_position"),
        (("lower_1", FOOT, [0, 0, 0], None, 0.0, [1, 2, 3]), ShapeError, r"\(36,\)"),
        (("upper_1", SPHERE, [np.nan, np.nan, 0.05]), ShapeError, "rpy_base"),
        (("upper_1", SPHERE, [0.0, 0.0, np.nan]), ShapeError, "finite z"),
    ],
)
def test_bad_questions_are_refused(model, arguments, kind, words):
    with pytest.raises(kind, match=words):
        solve_limb(model, *arguments)
