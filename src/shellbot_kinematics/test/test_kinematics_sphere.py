# SPDX-License-Identifier: MIT
"""The lower sphere centre by x, y, yaw and pitch: branches, closed ball, the 4x4 loop, references without a height."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from robot_mechanics.errors import ShapeError, UnknownNameError
from robot_mechanics.motion.rotations import rpy_from_rotation
from shellbot_kinematics import (
    LIMBS,
    Frame,
    PackedReferences,
    ShellbotSolver,
    ShellBranch,
    SolverConfig,
    SphereBranch,
    Status,
    pack_upper,
    shell_branches,
    shell_heights,
    shell_joints,
    solve_sphere,
    sphere_branches,
    sphere_coordinates,
    sphere_orientation,
)
from shellbot_kinematics._layout import LEG
from shellbot_kinematics._sphere import sphere_rates, turn_rates

SPHERE = Frame.SPHERE_CENTRE
LOWER = LIMBS[:6]
MANY = 60 if numba.config.DISABLE_JIT else 1500
CLOSED = np.radians([-118.48, 46.48, 130.0, 110.0])
DT = 0.01


def wrapped(angles):
    return (np.asarray(angles) + np.pi) % (2 * np.pi) - np.pi


def rpy_of(chain, q):
    return rpy_from_rotation(chain.fk(q)[:3, :3])


# ---------------------------------------------------------------------------------------------- closed forms
@pytest.mark.parametrize("free", [True, False])
def test_every_branch_meets_the_coordinates(model, rng, free):
    itself, count = 0, 0
    for k, q in enumerate(rng.uniform(-np.pi, np.pi, (MANY, 4))):
        limb = LOWER[k % 6]
        x, y, yaw, pitch = sphere_coordinates(model, limb, q)
        other = {"yaw": yaw} if free else {"fan_position": q[0]}
        branches = sphere_branches(model, limb, x, y, pitch, **other)
        for branch, found in branches.items():
            reached = sphere_coordinates(model, limb, found)
            np.testing.assert_allclose(reached[:2], [x, y], atol=1e-9)
            assert abs(wrapped(reached[3] - pitch)) < 1e-9
            assert abs(wrapped(reached[2] - yaw)) < 1e-9 if free else found[0] == pytest.approx(wrapped(q[0]))
            theta3 = found[2] * model.legs[LOWER.index(limb)][18]
            assert (math.sin(theta3) > -1e-9) == (branch.value[1] > 0.0) or abs(math.sin(theta3)) < 1e-6
        itself += min(np.abs(wrapped(found - q)).max() for found in branches.values()) < 1e-5
        count += len(branches)
    assert itself == MANY and count > 2 * MANY


def test_coordinates_are_those_of_the_frame(model, rng):
    """yaw and pitch from the orientation of the sphere-centre frame itself are those counted over the joints."""
    for k, q in enumerate(rng.uniform(-np.pi, np.pi, (MANY, 4))):
        limb = LOWER[k % 6]
        yaw, pitch = sphere_orientation(model, limb, rpy_of(model.chain(limb, SPHERE), q))
        expected = sphere_coordinates(model, limb, q)
        assert abs(wrapped(yaw - expected[2])) < 1e-9 and abs(wrapped(pitch - expected[3])) < 1e-9


@pytest.mark.parametrize("limb", LOWER)
def test_closed_ball(model, limb):
    """Conditions of the report: x = y = 0, yaw gamma - 60, pitch 360 deg; the high elbow gives the adopted angles."""
    branches = sphere_branches(model, limb, 0.0, 0.0, math.radians(360.0), yaw=math.radians(-72.0))
    best = min(branches.items(), key=lambda item: np.abs(wrapped(item[1] - CLOSED)).max())
    assert best[0] in (SphereBranch.NEAR_ELBOW_HIGH, SphereBranch.FAR_ELBOW_HIGH)
    np.testing.assert_allclose(np.degrees(best[1]), [-118.48, 46.48, 130.0, 110.0], atol=0.01)
    np.testing.assert_allclose(model.chain(limb, SPHERE).fk(best[1])[:3, 3], 0.0, atol=1e-4)
    within = solve_sphere(model, limb, 0.0, 0.0, math.radians(360.0), yaw=math.radians(-72.0), seed=CLOSED)
    assert within.converged and within.reason == ""
    np.testing.assert_allclose(within.q, best[1], atol=1e-9)


def test_closure_is_a_family_over_the_fan(model):
    """For any fan angle, two elbows keep x = y = 0 and the pitch: theta3 by the report's formula.

    mov^2 = d0^2/4 + l1^2 + d0 l1 cos q1 - h3^2 is the reach in the leg plane.
    """
    d, l1, l2, l3, h3 = 0.066, 0.120, 0.038, 0.066, 0.02425
    m = model.legs[0][26]
    for q1 in np.radians([-125.0, -118.48, -110.0, -100.0]):
        branches = sphere_branches(model, "lower_1", 0.0, 0.0, math.radians(360.0), fan_position=q1)
        mov = math.sqrt(d * d + l1 * l1 + 2.0 * d * l1 * math.cos(q1) - h3 * h3)
        B = model.legs[0][27] - math.radians(240.0)  # noqa: N806 - direction of the tip link
        cosines = {side: (side * mov - l2 - m * math.cos(B)) / l3 for side in (1.0, -1.0)}
        expected = {
            (side, elbow): elbow * math.acos(c) for side, c in cosines.items() if abs(c) <= 1 for elbow in (1, -1)
        }
        assert {branch.value for branch in branches} == set(expected)
        for branch, q in branches.items():
            assert q[2] == pytest.approx(expected[branch.value], abs=1e-9)
            assert wrapped(q[2] + q[3]) == pytest.approx(wrapped(math.radians(240.0)), abs=1e-9)


def test_out_of_reach_and_limits_are_named(model):
    # 0.3 m aside of the leg plane: no fan angle brings the coxa axis there
    far = solve_sphere(model, "lower_1", 0.1, 0.3, math.radians(300.0), yaw=0.0)
    assert not far.converged and "lower_1 stops" in far.reason and "yaw" in far.reason
    assert sphere_branches(model, "lower_1", 0.1, 0.3, math.radians(300.0), yaw=0.0) == {}
    fan = solve_sphere(model, "lower_2", 0.0, 0.0, math.radians(360.0), fan_position=-2.5)
    assert not fan.converged and "lower_2_fan" in fan.reason
    q = np.array([-1.0, 0.4, 0.5, 3.0])  # tibia beyond 2.6 rad
    x, y, _, pitch = sphere_coordinates(model, "lower_3", q)
    beyond = solve_sphere(model, "lower_3", x, y, pitch, fan_position=-1.0, seed=[-1.0, 0.4, 0.5, 2.5])
    chain = model.chain("lower_3", SPHERE)
    assert chain.within_limits(beyond.q, 1e-12)


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        (("upper_1", 0.0, 0.0, 0.0, 0.0), ShapeError, "no lower limb"),
        (("tail", 0.0, 0.0, 0.0, 0.0), UnknownNameError, "tail"),
        (("lower_1", 0.0, 0.0, 0.0), ShapeError, "yaw or fan_position"),
        (("lower_1", 0.0, 0.0, 0.0, 0.0, 0.0), ShapeError, "not both"),
        (("lower_1", 0.0, math.nan, 0.0, 0.0), ShapeError, "finite"),
        (("lower_1", 0.0, "y", 0.0, 0.0), ShapeError, "finite"),
    ],
)
def test_bad_questions_are_refused(model, arguments, kind, words):
    for function in (sphere_branches, solve_sphere):
        with pytest.raises(kind, match=words):
            function(model, *arguments)


def test_both_elbows_of_the_upper_leg_by_name(model):
    """The elbow outside: q5 -26.69, q6 131.69 (closed ball) and q5 26.69, q6 78.31 deg (shells up), by both forms."""
    chain = model.chain("upper_3", SPHERE)
    for angles in ((-26.69, 131.69), (26.69, 78.31)):
        T = chain.fk(np.radians(angles))  # noqa: N806
        by_position = shell_branches(model, "upper_3", T[:3, 3])
        by_height = shell_branches(model, "upper_3", height=T[2, 3], rpy_base=rpy_from_rotation(T[:3, :3]))
        for found in (by_position, by_height):
            assert list(found) == [ShellBranch.ELBOW_OUT, ShellBranch.ELBOW_IN]
            np.testing.assert_allclose(np.degrees(found[ShellBranch.ELBOW_OUT]), angles, atol=1e-6)
        for q in by_position.values():
            np.testing.assert_allclose(chain.fk(q)[:3, 3], T[:3, 3], atol=1e-12)
        for q in by_height.values():
            np.testing.assert_allclose(chain.fk(q)[2, 3], T[2, 3], atol=1e-12)
            np.testing.assert_allclose(chain.fk(q)[:3, :3], T[:3, :3], atol=1e-12)
    assert shell_branches(model, "upper_3", [1.0, 0.0, 0.0]) == {}
    for bad in ({}, {"p_base": [0, 0, 0], "height": 0.0}, {"height": 0.1}, {"height": math.nan, "rpy_base": [0, 0, 0]}):
        with pytest.raises(ShapeError, match="give|finite"):
            shell_branches(model, "upper_3", **bad)
    with pytest.raises(ShapeError, match="no upper limb"):
        shell_branches(model, "lower_3", [0, 0, 0])


def test_shoulder_and_shell_by_height_and_turn(model):
    """The packed form that the action manager leads the upper shells with, against the chain it was packed from."""
    chain = model.chain("upper_3", SPHERE)
    packed = pack_upper(chain)
    for angles in ((-26.69, 131.69), (26.69, 78.31)):
        q = np.radians(angles)
        np.testing.assert_allclose(shell_joints(packed, chain.fk(q)[2, 3], q.sum()), q, atol=1e-9)
    q = np.radians([[-26.69, 131.69], [26.69, 78.31], [150.0, 10.0]])
    heights, elbow_out = shell_heights(packed, q)
    np.testing.assert_allclose(heights, [chain.fk(angles)[2, 3] for angles in q], atol=1e-12)
    assert elbow_out.tolist() == [True, True, False]
    assert np.isnan(shell_joints(packed, 1.0, 0.0)).all()


# ---------------------------------------------------------------------------------------------- 4x4 Jacobian and loop
def test_rates_are_the_inverse_of_the_analytic_jacobian(model, rng):
    """Against central differences of (x, y, yaw, pitch), with the fan free (4x4) and with its rate given (3x3)."""
    for k, q in enumerate(rng.uniform([-2.0, -0.9, 0.4, 0.5], [0.0, 0.9, 2.4, 2.4], (40, 4))):
        limb = LOWER[k % 6]
        step = 1e-6
        J = np.array(
            [
                (sphere_coordinates(model, limb, q + d) - sphere_coordinates(model, limb, q - d)) / (2 * step)
                for d in step * np.eye(4)
            ]
        ).T
        rates = rng.normal(size=4)
        v = J @ rates
        if min(abs(np.linalg.det(J)), abs(np.linalg.det(J[[0, 1, 3], 1:]))) < 6e-4:  # damped
            continue
        o = LEG * LOWER.index(limb)
        np.testing.assert_allclose(sphere_rates(model.packed, o, q, 0, True, 0.0, *v), rates, atol=1e-6)
        np.testing.assert_allclose(
            sphere_rates(model.packed, o, q, 0, False, rates[0], v[0], v[1], 0.0, v[3]), rates, atol=1e-6
        )
        w = model.chain(limb, SPHERE).jacobian(q)[3:] @ rates
        np.testing.assert_allclose(turn_rates(model.packed, o, q, 0, *w), v[2:], atol=1e-9)


def test_rates_stay_bounded_at_singular_poses(model):
    for q in ([0.0, math.pi / 2, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0], [0.0, math.pi / 2, 0.0, 0.0]):
        rates = sphere_rates(model.packed, 0, np.array(q), 0, True, 0.0, 0.1, 0.1, 0.1, 0.1)
        assert np.isfinite(rates).all() and np.abs(rates).max() < 200.0


def plan(solver, q, fan=math.nan, stamp=0.0, rates=None):
    """References by x, y and orientation of the six lower sphere centres at q (36,), their heights free."""
    p, rpy, v, w = np.full((12, 3), np.nan), np.full((12, 3), np.nan), np.zeros((12, 3)), np.zeros((12, 3))
    for i, limb in enumerate(LOWER):
        chain, own = solver.model.chain(limb, SPHERE), q[4 * i : 4 * i + 4]
        p[i, :2] = chain.fk(own)[:2, 3]
        rpy[i] = rpy_of(chain, own)
        if rates is not None:
            twist = chain.jacobian(own) @ rates[4 * i : 4 * i + 4]
            v[i], w[i] = twist[:3], twist[3:]
    frame = [SPHERE] * 6 + [Frame.HOLD] * 6
    return PackedReferences(stamp, fan, 0.0, frame, p_base=p, rpy_base=rpy, v_base=v, w_base=w)


def whole(leg):
    return np.concatenate([np.tile(leg, 6), np.tile([0.466, 1.367], 6)])


NEAR_CLOSED = np.radians([-110.0, 40.0, 120.0, 105.0])


@pytest.mark.parametrize("name", ["closed_form", "clik", "lm"])
def test_the_yaw_leads_the_fan_when_its_angle_is_free(urdf, name):
    """All six legs agree: the fan goes where they ask, and every leg meets x, y, pitch and yaw."""
    solver = ShellbotSolver(urdf, SolverConfig(solver=name, blend_time=0.0, clik_gain=100.0))
    start, goal = whole(NEAR_CLOSED), whole(NEAR_CLOSED + [0.01, -0.02, 0.015, 0.01])
    solver.reset(start)
    q = start
    for k in range(30):
        targets = solver.solve(plan(solver, goal, stamp=k * DT), q, DT)
        assert [report.status for report in targets.reports[:6]] == [Status.OK] * 6
        q = targets.position
    np.testing.assert_allclose(q[:24], goal[:24], atol=1e-8)
    assert np.abs(np.diff(q[:24:4])).max() == 0.0  # one motor


def test_velocities_are_fed_forward_to_all_four_joints(solver):
    solver.set_config(SolverConfig(blend_time=0.0))
    q = whole(NEAR_CLOSED)
    rates = np.concatenate([np.tile([0.2, -0.3, 0.4, 0.1], 6), np.zeros(12)])
    solver.reset(q)
    targets = solver.solve(plan(solver, q, rates=rates), q, DT)
    np.testing.assert_allclose(targets.velocity[:24], rates[:24], atol=1e-9)
    given = solver.solve(plan(solver, q, fan=q[0], rates=rates), q, DT)  # fan given, its rate 0
    assert not given.velocity[:24:4].any() and given.all_reached


def test_legs_that_want_different_fan_angles_are_told(solver):
    solver.set_config(SolverConfig(blend_time=0.0))
    q = whole(NEAR_CLOSED)
    solver.reset(q)
    other = q.copy()
    other[4:8] = NEAR_CLOSED + [0.05, 0.0, 0.0, 0.0]
    targets = solver.solve(plan(solver, other), q, DT)
    statuses = [report.status for report in targets.reports[:6]]
    assert statuses == [Status.OUT_OF_REACH] * 6 and "yaw" in targets.reports[1].limit
    assert np.abs(np.diff(targets.position[:24:4])).max() == 0.0
    np.testing.assert_allclose(targets.position[0], NEAR_CLOSED[0] + 0.05 / 6, atol=0.01)


def test_one_limb_without_height_does_not_free_the_fan(solver):
    """Only all six together lead the fan; else it stays and every limb says that the reference was bad."""
    solver.set_config(SolverConfig(blend_time=0.0))
    q = whole(NEAR_CLOSED)
    solver.reset(q)
    references = plan(solver, whole(NEAR_CLOSED + 0.02))
    p = references.p_base.copy()
    p[3] = solver.forward("lower_4", SPHERE, q[12:16])[:3, 3]
    mixed = PackedReferences(0.0, math.nan, 0.0, references.frame, p_base=p, rpy_base=references.rpy_base)
    targets = solver.solve(mixed, q, DT)
    np.testing.assert_array_equal(targets.position[:24:4], q[:24:4])
    assert targets.reports[3].status == Status.BAD_REFERENCE


def errors_of(solver, q, goal):
    return np.array([sphere_coordinates(solver.model, "lower_1", q[:4])]) - sphere_coordinates(
        solver.model, "lower_1", goal[:4]
    )


@pytest.mark.parametrize("gains", [(60.0, 60.0, 10.0, 120.0, 160.0), (190.0,) * 5, (5.0, 5.0, 5.0, 199.0, 199.0)])
def test_each_coordinate_shrinks_by_its_own_gain(urdf, gains):
    """|e_k+1| = |1 - gain dt| |e_k| for x, y, yaw and pitch each: the 4x4 loop decouples.

    x and y alike: otherwise the six legs, which point six ways, ask for different rates of their common fan.
    """
    solver = ShellbotSolver(urdf, SolverConfig(solver="clik", clik_gain=gains, blend_time=0.0))
    goal = whole(NEAR_CLOSED)
    q = whole(NEAR_CLOSED + [2e-4, -1e-4, 1e-4, 1e-4])
    solver.reset(q)
    references = plan(solver, goal)
    before = errors_of(solver, q, goal)[0]
    q = solver.solve(references, q, DT).position
    after = errors_of(solver, q, goal)[0]
    factors = 1.0 - DT * np.array([gains[0], gains[1], gains[3], gains[4]])
    np.testing.assert_allclose(after, factors * before, atol=3e-7)


@pytest.mark.parametrize("beyond", [False, True])
def test_bound_of_the_gain_is_sharp(urdf, beyond):
    """Below 2 / dt the error dies out, above it grows; the same loop, the check of the gain stepped over."""
    gain = 210.0 if beyond else 190.0
    solver = ShellbotSolver(urdf, SolverConfig(solver="clik", clik_gain=gain, tick=0.009, blend_time=0.0))
    object.__setattr__(solver.config, "tick", DT)  # 210 is allowed for 9 ms, and used for 10
    goal = whole(NEAR_CLOSED)
    q = whole(NEAR_CLOSED + [1e-5, 1e-5, -1e-5, 1e-5])
    solver.reset(q)
    references, sizes = plan(solver, goal), []
    for _ in range(40):
        sizes.append(np.linalg.norm(errors_of(solver, q, goal)))
        q = solver.solve(references, q, DT).position
    assert (sizes[-1] > 10.0 * sizes[0]) if beyond else (sizes[-1] < 0.1 * sizes[0])
