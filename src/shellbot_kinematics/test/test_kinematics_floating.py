# SPDX-License-Identifier: MIT
"""The robot on a floating base: joints for a body pose with the feet fixed, any mix, the body pose from the feet."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from robot_mechanics import InverseConfig, LimbSet, Mimic, SerialChain, inverse_limbs
from robot_mechanics.errors import ShapeError, UnknownNameError
from robot_mechanics.motion.rotations import rotation_from_rpy, rpy_from_rotation, transform
from shellbot_kinematics import LIMBS, Frame, base_pose_from_feet, fit_pose, floating_base_inverse, solve_pose

LOWER, UPPER = LIMBS[:6], LIMBS[6:]


def body(x=0.0, y=0.0, z=0.1623, roll=0.0, pitch=0.0, yaw=0.0):
    return transform(rotation_from_rpy(roll, pitch, yaw), (x, y, z))


def feet_of(model, q):
    return np.array([model.chain(limb, Frame.FOOT).fk(q[model.columns(limb)])[:3, 3] for limb in LOWER])


@pytest.fixture
def standing(model, stand):
    """Feet in the world for the stand pose, (6, 3)."""
    return feet_of(model, stand) @ body()[:3, :3].T + body()[:3, 3]


def test_body_moves_over_fixed_feet(model, stand, standing, rng):
    for _ in range(20):
        T = body(*rng.uniform(-0.02, 0.02, 2), 0.1623 + rng.uniform(-0.02, 0.02), *rng.uniform(-0.1, 0.1, 3))  # noqa: N806
        result = floating_base_inverse(model, T, standing, seed=stand)
        assert result.converged and result.reason == "" and len(result.limbs) == 6
        # by the chains, not by what the result says
        np.testing.assert_allclose(feet_of(model, result.q) @ T[:3, :3].T + T[:3, 3], standing, atol=1e-9)
        np.testing.assert_array_equal(result.q[24:], stand[24:])
        assert (result.q >= model.lower).all() and (result.q <= model.upper).all()
        found = base_pose_from_feet(model, result.q, standing)
        np.testing.assert_allclose(found.T_world_base, T, atol=1e-9)
        assert found.worst < 1e-9


def test_any_mix_of_world_body_and_joints(model, stand, standing):
    T = body(0.01, -0.01, 0.16, 0.03, -0.02, 0.1)  # noqa: N806
    in_body = feet_of(model, stand)[3] + [0.0, 0.0, 0.03]
    shell = model.chain("upper_2", Frame.SPHERE_CENTRE).fk([0.3, 1.2])[:3, 3]
    centre = model.chain("lower_5", Frame.SPHERE_CENTRE).fk([0.0, -0.2, -0.1, 1.8])[:3, 3]
    result = floating_base_inverse(
        model,
        T,
        {limb: standing[LOWER.index(limb)] for limb in ("lower_1", "lower_3")},
        p_base={"lower_4": in_body, "upper_2": shell, "lower_5": centre},
        joints={"lower_2": [0.0, 0.1, -0.2, 1.7], "upper_1": [0.1, 0.2]},
        frames={"lower_5": Frame.SPHERE_CENTRE},
        seed=stand,
    )
    assert result.converged
    np.testing.assert_allclose(result.p_world["lower_1"], standing[0], atol=1e-9)
    np.testing.assert_allclose(feet_of(model, result.q)[3], in_body, atol=1e-9)
    np.testing.assert_array_equal(result.q[4:8], [0.0, 0.1, -0.2, 1.7])
    np.testing.assert_array_equal(result.q[24:26], [0.1, 0.2])
    np.testing.assert_allclose(result.q[26:28], [0.3, 1.2], atol=1e-9)
    np.testing.assert_allclose(
        model.chain("lower_5", Frame.SPHERE_CENTRE).fk(result.q[16:20])[:3, 3], centre, atol=1e-9
    )
    np.testing.assert_array_equal(result.q[20:24], stand[20:24])  # nothing said


def test_without_a_pose_it_is_fitted_to_legs_that_stand(model, stand, standing):
    """Three legs by joints and in the world give the pose; the other three follow in the world."""
    T = body(0.015, 0.01, 0.15, 0.05, 0.02, -0.1)  # noqa: N806
    known = floating_base_inverse(model, T, standing, seed=stand).q
    legs = ("lower_1", "lower_3", "lower_5")
    result = floating_base_inverse(
        model, None, standing, joints={limb: known[model.columns(limb)] for limb in legs}, seed=stand
    )
    np.testing.assert_allclose(result.T_world_base, T, atol=1e-9)
    np.testing.assert_allclose(result.q, known, atol=1e-8)
    with pytest.raises(ShapeError, match="three limbs"):
        floating_base_inverse(model, None, standing, joints={"lower_1": known[:4]})


def test_unreachable_feet_are_named(model, stand, standing):
    result = floating_base_inverse(model, body(z=0.5), standing, seed=stand)
    assert not result.converged and all(limb in result.reason for limb in LOWER)
    assert min(result.errors.values()) > 0.1


def test_the_common_fan_turns_as_little_as_all_legs_need(model):
    """Feet that no leg reaches with the fan at zero; the angle found suits all six, and no smaller one does."""
    q = np.concatenate([np.tile([-1.2, 0.3, -0.3, 1.6], 6), np.zeros(12)])
    feet = feet_of(model, q)
    assert not floating_base_inverse(model, np.eye(4), feet).converged
    result = floating_base_inverse(model, np.eye(4), feet, fan_position=None)
    assert result.converged and np.ptp(result.q[:24:4]) == 0.0
    for fan in np.arange(0.0, abs(result.q[0]) - 0.01, 0.02):
        assert not floating_base_inverse(model, np.eye(4), feet, fan_position=-fan).converged


def test_pose_is_the_least_squares_one(rng):
    """Against a numerical search over six coordinates, with noise and weights."""
    a = rng.normal(size=(6, 3))
    b = a @ rotation_from_rpy(0.3, -0.4, 2.0).T + [1.0, 2.0, 3.0] + rng.normal(scale=0.05, size=(6, 3))
    w = rng.uniform(0.2, 2.0, 6)

    def residuals(x):
        return (np.sqrt(w)[:, None] * (a @ rotation_from_rpy(*x[3:]).T + x[:3] - b)).ravel()

    best = least_squares(residuals, [1.0, 2.0, 3.0, 0.3, -0.4, 2.0], xtol=1e-15, ftol=1e-15)
    found = fit_pose(a, b, w)
    np.testing.assert_allclose(found.T_world_base[:3, 3], best.x[:3], atol=1e-6)
    np.testing.assert_allclose(found.T_world_base[:3, :3], rotation_from_rpy(*best.x[3:]), atol=1e-6)
    a[2] = np.nan
    partly = fit_pose(a, b)
    assert np.isnan(partly.residual[2]) and np.isfinite(partly.worst)
    # points in one plane, mirrored by noise: still a rotation, never a reflection
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert np.linalg.det(fit_pose(flat, flat[:, [1, 0, 2]]).T_world_base[:3, :3]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "a, b, words",
    [
        (np.zeros((2, 3)), np.zeros((2, 3)), "needs three"),
        (np.outer(np.arange(4.0), [1, 2, 3]), np.eye(4, 3), "one line"),
        (np.eye(3), np.zeros((3, 3)), "p_world lie"),
        (np.eye(3), np.eye(4, 3), r"\(k, 3\)"),
        (np.full((3, 3), np.inf), np.eye(3), "infinite"),
    ],
)
def test_points_that_give_no_pose_are_refused(a, b, words):
    with pytest.raises(ShapeError, match=words), np.errstate(invalid="ignore"):
        fit_pose(a, b)


@pytest.mark.parametrize(
    "changes, kind, words",
    [
        ({"T_world_base": np.ones((4, 4))}, ShapeError, "T_world_base"),
        ({"p_world": np.zeros((5, 3))}, ShapeError, r"\(6, 3\)"),
        ({"p_world": {"lower_1": [0, 0]}}, ShapeError, "three finite"),
        ({"p_world": {"tail": [0, 0, 0]}}, UnknownNameError, "tail"),
        ({"p_world": {"lower_1": [0, 0, 0]}, "p_base": {"lower_1": [0, 0, 0]}}, ShapeError, "twice"),
        ({"joints": {"lower_1": [0, 0]}}, ShapeError, r"\(4,\)"),
        ({"frames": {"upper_1": Frame.FOOT}}, UnknownNameError, "SPHERE_CENTRE"),
        ({"seed": [0.0]}, ShapeError, "seed"),
    ],
)
def test_bad_questions_are_refused(model, changes, kind, words):
    with pytest.raises(kind, match=words):
        floating_base_inverse(model, **{"T_world_base": np.eye(4), **changes})


def test_any_set_of_limbs(rng):
    """Three arms of six joints on one base that turns, targets in the world and in the base, a shared first joint."""
    rows = [(math.pi / 2, 0.0, 0.0, 0.2), (0.0, 0.4, 0.0, 0.0), (0.0, 0.4, 0.0, 0.0)]
    rows += [(math.pi / 2, 0.0, 0.0, 0.1), (-math.pi / 2, 0.0, 0.0, 0.1), (0.0, 0.0, 0.0, 0.1)]
    limbs = {name: SerialChain.from_dh(rows, [f"{name}{i}" for i in range(6)], name) for name in "abc"}
    robot = LimbSet(limbs, {"drive": ["a0", "b0"]})
    T = transform(rotation_from_rpy(0.2, -0.3, 1.0), (0.5, 0.1, 0.2))  # noqa: N806
    goal = rng.uniform(-1.0, 1.0, 18)
    goal[6] = goal[0]
    poses = robot.fk(goal, T)
    start = goal + rng.uniform(-0.2, 0.2, 18)
    start[[0, 6]] = goal[0]
    inside = robot.fk(goal)[2]
    result = inverse_limbs(
        robot, T, {"a": poses[0], "b": (poses[1][:3, 3], None)}, {"c": [math.nan, *inside[1:3, 3]]}, seed=start
    )
    assert result.converged
    reached = robot.fk(result.q, T)
    np.testing.assert_allclose(reached[0], poses[0], atol=1e-8)
    np.testing.assert_allclose(reached[1][:3, 3], poses[1][:3, 3], atol=1e-8)
    np.testing.assert_allclose(robot.fk(result.q)[2][1:3, 3], inside[1:3, 3], atol=1e-8)
    assert result.q[0] == result.q[6] == start[0]
    with pytest.raises(ShapeError, match="free in part"):
        inverse_limbs(robot, T, {"a": [math.nan, 0.0, 0.0]})
    with pytest.raises(ShapeError, match="twice"):
        inverse_limbs(robot, T, {"a": poses[0]}, {"a": poses[0]})
    with pytest.raises(UnknownNameError):
        inverse_limbs(robot, T, {"d": poses[0]})
    with pytest.raises(ShapeError, match="seed"):
        inverse_limbs(robot, T, {}, seed=[0.0])


# ---------------------------------------------------------------------------------------------- part of a pose
def test_part_of_a_pose(model, rng):
    """Each set of free coordinates of a foot with the fan given: what is given is met, within the limits."""
    chain = model.chain("lower_6", Frame.FOOT)
    for _ in range(5):
        q = rng.uniform(chain.lower * 0.5, chain.upper * 0.5)
        p = chain.fk(q)[:3, 3]
        for mask in range(1, 8):
            given = np.array([mask & 1, mask & 2, mask & 4]) != 0
            result = solve_pose(model, "lower_6", Frame.FOOT, np.where(given, p, np.nan), fan_position=q[0])
            assert result.converged, result.reason
            np.testing.assert_allclose(chain.fk(result.q)[:3, 3][given], p[given], atol=1e-8)
            assert chain.within_limits(result.q, 1e-9) and result.q[0] == q[0]


def test_a_free_fan_and_what_cannot_be_met(model):
    chain = model.chain("lower_1", Frame.FOOT)
    p = chain.fk([-1.5, 0.1, -0.4, 1.5])[:3, 3]
    assert not solve_pose(model, "lower_1", Frame.FOOT, p).converged
    free = solve_pose(model, "lower_1", Frame.FOOT, p, fan_position=math.nan)
    assert free.converged and np.abs(chain.fk(free.q)[:3, 3] - p).max() < 1e-9 and free.iterations == 0
    far = solve_pose(model, "lower_1", Frame.FOOT, [1.0, 0.0, 0.0], fan_position=math.nan)
    assert not far.converged and "lower_1 stops" in far.reason and "every fan angle" in far.reason
    high = solve_pose(model, "lower_1", Frame.FOOT, [math.nan, math.nan, 1.0])
    assert not high.converged and "lower_1 stops" in high.reason and high.error > 0.5
    with pytest.raises(ShapeError, match="nothing is given"):
        solve_pose(model, "lower_1", Frame.FOOT, [math.nan] * 3)
    for fan in (math.inf, "a", None):
        with pytest.raises(ShapeError, match="fan_position is .*expected an angle"):
            solve_pose(model, "lower_1", Frame.FOOT, [0.2, 0, 0], fan_position=fan)


def test_a_fan_beyond_its_limit_is_not_converged_for_a_part_of_a_pose_either(model):
    chain = model.chain("lower_1", Frame.FOOT)
    p = chain.fk([chain.upper[0], -0.3, -0.2, 1.9])[:3, 3]
    for given in (p, [math.nan, *p[1:]]):
        result = solve_pose(model, "lower_1", Frame.FOOT, given, fan_position=2.5)
        assert not result.converged and result.q[0] == chain.upper[0] and result.error < 1e-6
        assert result.reason == "lower_1_fan was commanded to 2.500 rad and stops at its limit 0.050 rad"
    far = solve_pose(model, "lower_1", Frame.FOOT, [math.nan, math.nan, 1.0], fan_position=2.5)
    assert "lower_1 stops" in far.reason and far.reason.endswith(
        "; lower_1_fan was commanded to 2.500 rad and stops at its limit 0.050 rad"
    )


@pytest.mark.parametrize("fan", [0.0, math.nan])
def test_a_seed_that_is_no_number_is_refused(model, fan):
    """With the fan free, NaN turned it to its limit and the answer was called converged."""
    p, frame = [0.27, 0.0, -0.1623], Frame.FOOT
    for bad in ([math.nan] * 4, [0.0, math.inf, 0.0, 0.0], [0.0] * 3, "a", [None] * 4):
        for given in (p, [math.nan, *p[1:]]):
            with pytest.raises(ShapeError, match=r"seed (of lower_1 )?(is|has shape) .*; expected"):
                solve_pose(model, "lower_1", frame, given, fan_position=fan, seed=bad)
    with pytest.raises(ShapeError, match="seed of upper_2 is"):
        solve_pose(model, "upper_2", Frame.SPHERE_CENTRE, [0.1, 0.1, 0.1], seed=[math.nan, 0.0])
    others = np.full(model.n, math.nan)  # joints of other limbs do not count
    others[:4] = 0.0
    found = solve_pose(model, "lower_1", frame, p, fan_position=fan, seed=others)
    np.testing.assert_array_equal(found.q, solve_pose(model, "lower_1", frame, p, fan_position=fan).q)


def test_upper_limb_by_one_coordinate(model):
    chain = model.chain("upper_1", Frame.SPHERE_CENTRE)
    result = solve_pose(model, "upper_1", Frame.SPHERE_CENTRE, [math.nan, math.nan, 0.05], seed=[0.4, 1.4])
    assert result.converged and abs(chain.fk(result.q)[2, 3] - 0.05) < 1e-8


def geared(limbs, **mimics):
    """Return limbs of three joints and a few of them following others: name=(joint, ratio, offset)."""
    rows = [(0.0, 0.3, 0.0, 0.0)] * 3
    made = {}
    for name in limbs:
        chain = SerialChain.from_dh(rows, [f"{name}{i}" for i in range(3)], name)
        joints = [
            replace(j, lower=-2.0, upper=2.0, mimic=Mimic(*mimics[j.name]) if j.name in mimics else None)
            for j in chain.joints
        ]
        made[name] = SerialChain(joints, name)
    return made


def test_a_drive_of_two_joints_inside_a_limb_turns_both(rng):
    robot = LimbSet(geared("ab"), {"motor": ["a0", "a2"]})
    for _ in range(20):
        goal = robot.expand(rng.uniform(-1.0, 1.0, len(robot.drive_names)))
        result = inverse_limbs(robot, np.eye(4), base={"a": robot.fk(goal)[0], "b": robot.fk(goal)[1][:3, 3]})
        assert result.converged
        assert result.q[0] == result.q[2]
        np.testing.assert_allclose(robot.fk(result.q)[0], robot.fk(goal)[0], atol=1e-8)
        np.testing.assert_array_equal(robot.expand(result.u), result.q)


def test_a_joint_that_follows_another_limb_stays_and_so_does_the_one_it_follows(rng):
    robot = LimbSet(geared("ab", b1=("a1", -0.5, 0.3)))
    q0 = robot.expand(rng.uniform(-0.5, 0.5, len(robot.drive_names)))
    target = robot.fk(q0)[0][:3, 3] + [0.01, 0.02, 0.0]
    result = inverse_limbs(robot, np.eye(4), base={"a": (target, None)}, seed=q0)
    assert result.q[4] == pytest.approx(-0.5 * result.q[1] + 0.3, abs=1e-12)
    assert result.q[1] == pytest.approx(q0[1], abs=1e-12)
    np.testing.assert_allclose(result.q[3:], q0[3:], atol=1e-12)
    assert robot.within_limits(result.u, 1e-12)


def tips(robot, q, limbs):
    """Targets of the named limbs (position, the turn about x and y free) that the joints q meet."""
    poses = dict(zip(robot.limb_names, robot.fk(q)))
    return {
        limb: (poses[limb][:3, 3], (math.nan, math.nan, rpy_from_rotation(poses[limb][:3, :3])[2])) for limb in limbs
    }


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.jit
def test_limbs_that_share_drives_are_solved_together(rng, limits):
    """Targets of joints that the drives can take are reached, with the shared drives moved as little as by one limb."""
    robot = LimbSet(geared("abcd", b1=("a1", -0.5, 0.3)), {"motor": ["b0", "c0"]})
    config = InverseConfig(limits=limits)
    for _ in range(10):
        goal = robot.expand(rng.uniform(0.9 * robot.lower, 0.9 * robot.upper))
        start = robot.expand(np.clip(robot.reduce(goal) + rng.uniform(-0.5, 0.5, 10), robot.lower, robot.upper))
        result = inverse_limbs(robot, np.eye(4), base=tips(robot, goal, "abc"), seed=start, config=config)
        assert result.converged, result
        np.testing.assert_allclose(robot.fk(result.q)[:3, :3, 3], robot.fk(goal)[:3, :3, 3], atol=1e-8)
        np.testing.assert_allclose(robot.expand(result.u), result.q, atol=1e-12)
        np.testing.assert_allclose(result.q[9:], start[9:], atol=1e-12)
        assert not limits or robot.within_limits(result.u, 1e-12)
        for limb in "abc":
            np.testing.assert_array_equal(result.limbs[limb].q, result.q[robot.columns(limb)])


def test_a_shared_drive_that_rests_is_named_and_no_limb_misses_for_another(rng):
    robot = LimbSet(geared("abc", b1=("a1", -0.5, 0.3)))
    goal = robot.expand(rng.uniform(-0.8, 0.8, len(robot.drive_names)))
    alone = inverse_limbs(robot, np.eye(4), base=tips(robot, goal, "a"))
    assert not alone.converged and alone.limbs["a"].reason.endswith("; a1 rests: it also moves b, without a target")
    np.testing.assert_array_equal(alone.q[robot.columns("b")], robot.expand(np.zeros(8))[3:6])
    still = robot.expand(np.r_[0.4, 0.0, 0.3, rng.uniform(-0.5, 0.5, 5)])
    base = {"a": tips(robot, still, "a")["a"], "b": [5.0, 0.0, 0.0]}  # a is reached with the drive at 0
    result = inverse_limbs(robot, np.eye(4), base=base, config=InverseConfig(restarts=2))
    assert result.limbs["a"].converged and not result.limbs["b"].converged
    assert "mm away" in result.limbs["b"].reason and "rests" not in result.limbs["b"].reason


def test_reduce_is_the_inverse_of_expand_and_names_what_no_drive_can_do(rng):
    robot = LimbSet(geared("ab", b1=("a1", -0.5, 0.3)), {"motor": ["a0", "a2"]})
    u = rng.uniform(-0.5, 0.5, len(robot.drive_names))
    np.testing.assert_allclose(robot.reduce(robot.expand(u)), u, atol=1e-12)
    q = robot.expand(u)
    q[2] += 0.1
    with pytest.raises(ShapeError, match=r"joint 'a2' at .* but drive 'motor' takes it to .*expand\(u\)"):
        robot.reduce(q)
    with pytest.raises(ShapeError, match="joint 'a2'"):
        inverse_limbs(robot, np.eye(4), base={"a": [0.5, 0.1, 0.0]}, seed=q)
