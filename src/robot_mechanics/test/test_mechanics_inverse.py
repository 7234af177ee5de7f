# SPDX-License-Identifier: MIT
"""The general inverse: free and weighted rows, limits, resting joints, redundancy, best effort, and what it says."""

from __future__ import annotations

import itertools
import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from mechanics_chains import PUMA, UR5, dh_chain, random_chain
from scipy.optimize import least_squares, minimize

from robot_mechanics import Damping, InverseConfig, InverseKinematics, Joint, NullSpaceTask, SerialChain, inverse_batch
from robot_mechanics.errors import InvalidChainError, InvalidConfigError, ShapeError, UnknownNameError
from robot_mechanics.inverse.target import read_target
from robot_mechanics.motion.rotations import (
    quaternion_from_rotation,
    rotation_about,
    rotation_from_quaternion,
    rotation_from_rpy,
    rpy_from_rotation,
)

INTERPRETED = bool(numba.config.DISABLE_JIT)
READY = np.array([0.0, -1.2, 1.5, -0.8, 0.6, 0.3])
MASKS = [mask for mask in itertools.product([0, 1], repeat=6) if any(mask)]
# an unreachable target costs all restarts; interpreted that is a second each
RESTARTS = 5 if INTERPRETED else 100


def some(count):
    return max(1, count // 20) if INTERPRETED else count


def ur5():
    return dh_chain(UR5, "ur5")


def limited(chain, low, high):
    return SerialChain(
        [Joint(j.name, j.kind, j.origin, j.axis, j.after, lower=low, upper=high) for j in chain.joints], name=chain.name
    )


def panda():
    """Seven revolute joints: one too many for a pose. Lengths of the Franka Emika data sheet."""
    rows = [(-90, 0, 0, 0.333), (90, 0, 0, 0), (90, 0.0825, 0, 0.316), (-90, -0.0825, 0, 0)]
    rows += [(90, 0, 0, 0.384), (90, 0.088, 0, 0), (0, 0, 0, 0.107)]
    return limited(dh_chain(rows, "panda"), -2.8, 2.8)


def log(R):
    """Rotation vector, no code of the library; not for half turns."""
    v = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = np.linalg.norm(v)
    return v * (math.atan2(sine, 0.5 * (np.trace(R) - 1.0)) / sine) if sine > 1e-9 else v


@pytest.mark.parametrize("frame", ["world", "target"])
def test_all_63_masks_on_a_six_axis_arm(frame, rng):
    """A pose of the arm itself is the target, so every mask can be met; the rest of the rows goes free."""
    chain = ur5()
    for mask in MASKS[:: 9 if INTERPRETED else 1]:
        inverse = InverseKinematics(chain, InverseConfig(weights=mask, orientation_frame=frame))
        for _ in range(some(20)):
            target = chain.fk(rng.uniform(-math.pi, math.pi, 6))
            result = inverse.solve(target, READY)
            assert result.converged, (mask, result.reason)
            T = chain.fk(result.q)
            e = log(target[:3, :3] @ T[:3, :3].T)
            if frame == "target":
                e = target[:3, :3].T @ e
            away = np.concatenate([target[:3, 3] - T[:3, 3], e])
            assert np.abs(away[np.array(mask, dtype=bool)]).max() <= 2e-9
            assert np.array_equal(np.isnan(result.residual), ~np.array(mask, dtype=bool))


def test_random_chains_return_to_poses_of_their_own(rng):
    maker = np.random.default_rng(4)
    for _ in range(some(40)):
        chain = random_chain(maker, 1 + int(rng.integers(12)), mimics=int(rng.integers(2)))
        start = rng.uniform(-1.0, 1.0, chain.n)
        target = chain.fk(start + rng.uniform(-0.3, 0.3, chain.n))
        result = InverseKinematics(chain).solve(target, start)
        assert result.converged, (str(chain), result.reason)
        np.testing.assert_allclose(chain.fk(result.q), target, atol=1e-8)


def test_forms_of_a_target_mean_the_same(rng):
    chain = dh_chain(PUMA, "puma")
    inverse = InverseKinematics(chain)
    T = chain.fk(READY + 0.3)
    p, R = T[:3, 3], T[:3, :3]
    rpy, quaternion = rpy_from_rotation(R), quaternion_from_rotation(R)
    expected = inverse.solve(T, READY).q
    for target in ((p, R), (p, quaternion), (p, rpy), [*p, *rpy], [*p, *quaternion], (list(p), tuple(rpy))):
        np.testing.assert_allclose(inverse.solve(target, READY).q, expected, atol=1e-7)
    assert inverse.solve((p, None), READY).distance <= 1e-9
    assert np.isnan(inverse.solve(p, READY).residual[3:]).all()


def test_free_roll_in_the_target_frame_and_free_yaw_in_the_world(rng):
    """A NaN roll is a free turn about the target's x axis, a NaN yaw one about the base's z axis."""
    chain = ur5()
    for _ in range(some(40)):
        T = chain.fk(rng.uniform(-2.0, 2.0, 6))
        roll, pitch, yaw = rpy_from_rotation(T[:3, :3])
        inverse = InverseKinematics(chain, InverseConfig(orientation_frame="target"))
        result = inverse.solve([*T[:3, 3], math.nan, pitch, yaw], READY)
        assert result.converged
        found = chain.fk(result.q)[:3, :3]
        np.testing.assert_allclose(found[:, 0], rotation_from_rpy(0.0, pitch, yaw)[:, 0], atol=1e-8)
        inverse = InverseKinematics(chain, InverseConfig(orientation_frame="world"))
        result = inverse.solve([*T[:3, 3], roll, pitch, math.nan], READY)
        assert result.converged
        np.testing.assert_allclose(chain.fk(result.q)[2, :3], rotation_from_rpy(roll, pitch, 0.0)[2], atol=1e-8)


@pytest.mark.parametrize("angle", [math.pi, math.pi - 1e-9, math.pi - 1e-3, 3.0])
def test_half_a_turn_of_orientation_error(angle):
    """The error is found at exactly half a turn, where the difference of the matrices vanishes."""
    wrist = SerialChain([Joint("a", axis=[0, 0, 1]), Joint("b", axis=[0, 1, 0]), Joint("c", axis=[1, 0, 0])])
    inverse = InverseKinematics(wrist)
    for axis in ([0, 0, 1.0], [0.6, 0, 0.8], [1.0, 0, 0], [-0.6, 0.48, 0.64]):
        target = np.eye(4)
        target[:3, :3] = rotation_about(axis, angle)
        result = inverse.solve(target, np.array([0.1, 0.2, 0.3]))
        assert result.converged
        np.testing.assert_allclose(wrist.fk(result.q)[:3, :3], target[:3, :3], atol=1e-8)


@pytest.mark.parametrize("mask", [(1, 1, 1, 0, 0, 0), (1, 1, 1, 1, 1, 1), (1, 0, 1, 0, 1, 1)])
def test_unreachable_targets_end_where_scipy_ends(mask, rng):
    """Best of several runs of scipy's least squares with the same weights; both are local, so ours may be better."""
    chain = limited(ur5(), -2.0, 2.0) if mask[4] else ur5()
    inverse = InverseKinematics(chain, InverseConfig(weights=mask, restarts=RESTARTS))
    low, high = (chain.lower, chain.upper) if mask[4] else (np.full(6, -np.inf), np.full(6, np.inf))
    # position rows weigh 1 over a quarter of the lengths
    weight = np.array(mask, dtype=float)
    weight[:3] /= 0.25 * (0.089159 + 0.425 + 0.39225 + 0.10915 + 0.09465 + 0.0823)
    for _ in range(some(4)):
        target = chain.fk(rng.uniform(-1.5, 1.5, 6))
        direction = rng.normal(size=3) * mask[:3]
        target[:3, 3] = 1.4 * direction / np.linalg.norm(direction)

        def residual(q, target=target):
            T = chain.fk(q)
            return weight * np.concatenate([target[:3, 3] - T[:3, 3], log(target[:3, :3] @ T[:3, :3].T)])

        result = inverse.solve(target, READY)
        ours = float(np.sum(residual(result.q) ** 2))
        theirs = min(
            2.0 * least_squares(residual, q, bounds=(low, high), xtol=1e-12, ftol=1e-12, gtol=1e-12).cost
            for q in [np.clip(result.q, low + 1e-6, high - 1e-6), *rng.uniform(-1.9, 1.9, (2, 6))]
        )
        assert not result.converged and "not reached" in result.reason and "mm" in result.reason
        assert ours <= theirs * (1.0 + 1e-6)


def test_limits_are_never_violated_and_named(rng):
    chain = limited(ur5(), -1.0, 1.2)
    inverse = InverseKinematics(chain, InverseConfig(restarts=RESTARTS))
    stopped = 0
    for _ in range(some(60)):
        result = inverse.solve(rng.uniform(-0.6, 0.6, 3), rng.uniform(-3.0, 3.0, 6))
        assert chain.within_limits(result.q)
        at_limit = {chain.joint_names[i] for i in range(6) if result.q[i] in (-1.0, 1.2)}
        assert set(result.limits_hit) == at_limit
        if not result.converged and at_limit:
            stopped += 1
            assert all(name in result.reason for name in at_limit)
    assert stopped or INTERPRETED


def test_targets_within_limits_are_reached(rng):
    chain = limited(ur5(), -1.5, 1.5)
    inverse = InverseKinematics(chain)
    for _ in range(some(100)):
        target = chain.fk(rng.uniform(-1.5, 1.5, 6))
        result = inverse.solve(target, np.zeros(6))
        assert result.converged and chain.within_limits(result.q), result.reason


def test_resting_joints_rest(rng):
    chain = ur5()
    inverse = InverseKinematics(chain)
    for active in (["joint_0", "joint_1", "joint_2"], [0, 2, 4], ["joint_5", 1, np.int64(0)]):
        moving = [chain.joint_names.index(a) if isinstance(a, str) else int(a) for a in active]
        still = [i for i in range(6) if i not in moving]
        goal = READY.copy()
        goal[moving] += rng.uniform(-0.4, 0.4, 3)
        result = inverse.solve(chain.fk(goal)[:3, 3], READY, active=active)
        assert np.array_equal(result.q[still], READY[still])
        assert result.converged
    nothing = inverse.solve([0.3, 0.3, 0.3], READY, active=[])
    assert not nothing.converged and np.array_equal(nothing.q, READY)


def test_a_joint_that_rests_beyond_its_limits_stays_there_and_is_named():
    chain = limited(ur5(), -1.0, 1.2)
    q = np.array([-1.0, 1.2, 0.3, 0.1, 2.0, -1.4])
    result = InverseKinematics(chain).solve(chain.fk(q), q, active=["joint_1", "joint_2", "joint_3"])
    assert result.converged and result.iterations == 0 and np.array_equal(result.q, q)
    assert result.limits_hit == ("joint_0", "joint_1", "joint_4", "joint_5")
    for limit in (-1.0, 1.2):
        q = np.array([0.1, limit, 0.3, 0.1, 0.5, -0.4])
        assert InverseKinematics(chain).solve(chain.fk(q), q).limits_hit == ("joint_1",)


@pytest.mark.parametrize("frame", ["world", "target"])
def test_residuals_are_in_the_configured_axes(frame):
    chain = ur5()
    T = chain.fk(READY)
    target = T.copy()
    target[:3, :3] = T[:3, :3] @ rotation_from_rpy(0.3, -0.2, 0.5)
    target[:3, 3] += [0.02, -0.01, 0.03]
    result = InverseKinematics(chain, InverseConfig(orientation_frame=frame)).solve(target, READY, active=[])
    turn = log(target[:3, :3] @ T[:3, :3].T)
    assert result.residual[3:] == pytest.approx(target[:3, :3].T @ turn if frame == "target" else turn, abs=1e-12)
    assert result.residual[:3] == pytest.approx([0.02, -0.01, 0.03], abs=1e-12)


def test_weights_say_who_gives_way():
    """Two links in a plane cannot reach x and y far out: the heavier row gets nearer to its wish."""
    chain = dh_chain([(0, 0.3, 0, 0), (0, 0.2, 0, 0)], "planar")
    target = np.array([0.6, 0.6, math.nan])
    errors = []
    for x_weight in (0.1, 1.0, 10.0):
        config = InverseConfig(weights=(x_weight, 1.0, 1.0, 0.0, 0.0, 0.0), restarts=RESTARTS)
        result = InverseKinematics(chain, config).solve(target, [0.5, 0.5])
        assert not result.converged
        errors.append(abs(result.residual[0]))
    assert errors[0] > errors[1] > errors[2]
    # equal weights: the nearest point of the circle
    assert errors[1] == pytest.approx(0.6 - 0.5 * math.sqrt(0.5), abs=1e-7)


def test_tolerances_per_coordinate():
    chain = ur5()
    target = chain.fk(READY + 0.4)
    rough = InverseConfig(tolerances=(0.05, 1e-3, 1e-3, 0.2, 0.2, 0.2))
    result = InverseKinematics(chain, rough).solve(target, READY)
    fine = InverseKinematics(chain).solve(target, READY)
    assert result.converged and result.iterations < fine.iterations
    assert np.abs(result.residual[1:3]).max() <= 1e-3 and np.abs(fine.residual).max() <= 1e-9


@pytest.mark.parametrize(
    "start", [np.zeros(6), np.array([0, -math.pi / 2, 0, -math.pi / 2, 0, 0]), np.full(6, math.pi)]
)
def test_singular_starts(start, rng):
    chain = ur5()
    inverse = InverseKinematics(chain)
    for _ in range(some(30)):
        assert inverse.solve(chain.fk(rng.uniform(-2.0, 2.0, 6)), start).converged


def test_straight_inwards_from_the_stretched_pose_without_restarts():
    """There the gradient vanishes although the target is in reach: a maximum, not a minimum."""
    chain = dh_chain([(0, 0.3, 0, 0), (0, 0.2, 0, 0)], "planar")
    inverse = InverseKinematics(chain, InverseConfig(restarts=0))
    assert inverse.solve([0.4, 0.0, math.nan], [0.0, 0.0]).converged


def test_near_whole_turns_the_solution_is_the_nearest(rng):
    chain = ur5()
    inverse = InverseKinematics(chain)
    for _ in range(some(60)):
        q0 = rng.uniform(-9.0, 9.0, 6)
        result = inverse.solve(chain.fk(q0 + 0.05), q0)
        np.testing.assert_allclose(result.q, q0 + 0.05, atol=0.1)
        far = inverse.solve(chain.fk(rng.uniform(-3.0, 3.0, 6)), q0)
        assert np.abs(far.q - q0).max() <= math.pi + 1e-9


def test_prismatic_joints(rng):
    gantry = SerialChain([Joint(a, "prismatic", axis=np.eye(3)[i], lower=-1, upper=1) for i, a in enumerate("xyz")])
    result = InverseKinematics(gantry).solve([0.3, -0.2, 0.9])
    np.testing.assert_allclose(result.q, [0.3, -0.2, 0.9], atol=1e-9)
    outside = InverseKinematics(gantry).solve([0.3, -2.0, 3.0])
    np.testing.assert_allclose(outside.q, [0.3, -1.0, 1.0], atol=1e-6)
    assert outside.limits_hit == ("y", "z") and not outside.converged


def test_equal_calls_have_equal_results(rng):
    chain = ur5()
    for _ in range(some(20)):
        target = chain.fk(rng.uniform(-3.0, 3.0, 6))
        one, two = (InverseKinematics(chain).solve(target, np.zeros(6)) for _ in range(2))
        assert np.array_equal(one.q, two.q) and one.iterations == two.iterations
        seeded = [InverseKinematics(chain).solve(target, np.zeros(6), rng=np.random.default_rng(7)).q for _ in range(2)]
        assert np.array_equal(*seeded)


@pytest.mark.parametrize("kind", ["posture", "limits", "manipulability"])
def test_null_space_tasks_do_not_disturb_the_target(kind, rng):
    chain = panda()
    inverse = InverseKinematics(chain)
    middle = np.array([0.0, 0.3, 0.0, 1.5, 0.0, 1.8, 0.5])
    better = 0
    for _ in range(some(10)):
        wanted = middle + rng.uniform(-0.3, 0.3, 7)
        target = chain.fk(wanted)
        plain = inverse.solve(target, middle + 0.4)
        task = NullSpaceTask(kind, posture=wanted if kind == "posture" else None)
        result = inverse.solve(target, middle + 0.4, null_space=task)
        assert plain.converged and result.converged
        assert result.distance <= 1e-9 and result.angle <= 1e-9
        cost = {
            "posture": lambda q, wanted=wanted: np.sum((q - wanted) ** 2),
            "limits": lambda q: np.sum(q**2),
            "manipulability": lambda q: -np.linalg.det(chain.jacobian(q) @ chain.jacobian(q).T),
        }[kind]
        assert cost(result.q) <= cost(plain.q) + 1e-12
        better += cost(result.q) < cost(plain.q) - 1e-6
        # at the optimum the cost has no slope along the freedom that is left, or the step ended there
        if kind != "manipulability":
            z = np.linalg.svd(chain.jacobian(result.q))[2][-1]
            slope = 2.0 * (result.q - (wanted if kind == "posture" else 0.0))
            assert abs(z @ slope) <= 2e-3 * np.linalg.norm(slope) + 1e-6
    assert better


def test_null_space_keeps_limits_and_resting_joints():
    chain = limited(panda(), -0.9, 0.9)
    inverse = InverseKinematics(chain)
    start = np.full(7, 0.4)
    target = chain.fk(start)[:3, 3]
    result = inverse.solve(
        target, start, active=[0, 1, 2, 3, 4], null_space=NullSpaceTask("posture", posture=np.full(7, 2.0))
    )
    assert result.converged and chain.within_limits(result.q)
    assert np.array_equal(result.q[5:], start[5:])
    assert np.linalg.norm(result.q[:5] - 2.0) < np.linalg.norm(start[:5] - 2.0)


def test_damping_schedules_reach_the_same(rng):
    chain = ur5()
    target = chain.fk(READY + 0.2)
    for damping in (Damping(), Damping(0.05), Damping(1.0, 1.0, 1.0), Damping(1e-3, 0.1, 10.0)):
        result = InverseKinematics(chain, InverseConfig(damping=damping)).solve(target, READY)
        assert result.converged
        np.testing.assert_allclose(result.q, READY + 0.2, atol=1e-6)


def test_long_redundant_chain(rng):
    n = 40
    chain = dh_chain([((90, -90)[i % 2], 0.05, 0, 0) for i in range(n)], "snake")
    target = chain.fk(rng.uniform(-0.3, 0.3, n))
    assert InverseKinematics(chain).solve(target, np.full(n, 0.05)).converged


@pytest.mark.parametrize(
    "target",
    [
        None,
        "there",
        [0.1, 0.2],
        np.zeros((3, 4)),
        [0.1, 0.2, math.inf],
        (np.zeros(3), np.zeros((3, 3))),
        (np.zeros(3), [0.0, 0.0, 0.0, 2.0]),
        (np.zeros(3), [0.0, math.inf, 0.0]),
        (np.zeros(2), None),
        (np.zeros(3), -np.eye(3)),
        np.ones((4, 4)),
        np.array([[1.0, 0.0, 0.0, math.inf], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]),
    ],
)
def test_targets_that_are_none(target):
    with pytest.raises(ShapeError, match="target|orientation|position|quaternion|rotation|roll"):
        read_target(target)


def test_other_bad_input():
    chain = ur5()
    inverse = InverseKinematics(chain)
    with pytest.raises(ShapeError):
        inverse.solve([0.1, 0.2, 0.3], np.zeros(5))
    with pytest.raises(ShapeError):
        inverse.solve([0.1, 0.2, 0.3], np.full(6, math.nan))
    for active in (["elbow"], [6], [-1], [1.5]):
        with pytest.raises(UnknownNameError, match="joint_0"):
            inverse.solve([0.1, 0.2, 0.3], active=active)
    for solve in (InverseKinematics, lambda chain: inverse_batch(chain, np.zeros((2, 3)))):
        with pytest.raises(InvalidChainError, match="chain is 'ur5'; expected a SerialChain, such as"):
            solve("ur5")
    for wrong in ("joint_1", 3):
        with pytest.raises(ShapeError, match="active is .*; expected a list"):
            inverse.solve([0.1, 0.2, 0.3], active=wrong)
    with pytest.raises(InvalidConfigError, match=r"null_space is 'limits'; expected a NullSpaceTask, such as"):
        inverse.solve([0.1, 0.2, 0.3], null_space="limits")
    for far in ([0.1, 0.2, 0.3], [9.0, 0.0, 0.0]):
        with pytest.raises(InvalidConfigError, match=r"rng is 3; expected a Generator, such as numpy.random"):
            inverse.solve(far, rng=3)
    for wrong in ([1.0], [math.nan] * 6, "abc", 0.5):
        with pytest.raises(ShapeError, match="posture of NullSpaceTask"):
            inverse.solve(chain.fk(READY), READY, null_space=NullSpaceTask(posture=wrong))
    with pytest.raises(ShapeError, match="weights"):
        inverse.solve(chain.fk(READY), READY, null_space=NullSpaceTask(weights=[-1.0] * 6))


@pytest.mark.parametrize(
    "make",
    [
        lambda: InverseConfig(tolerance=0.0),
        lambda: InverseConfig(angle_tolerance=math.nan),
        lambda: InverseConfig(weights=[1.0] * 5),
        lambda: InverseConfig(weights=[-1.0] * 6),
        lambda: InverseConfig(tolerances=[0.0] * 6),
        lambda: InverseConfig(steps=0),
        lambda: InverseConfig(steps=2.5),
        lambda: InverseConfig(restarts=True),
        lambda: InverseConfig(damping=0.3),
        lambda: InverseConfig(weights="many"),
        lambda: InverseConfig(limits="no"),
        lambda: InverseKinematics(ur5(), 0.3),
        lambda: InverseConfig(tolerance="small"),
        lambda: InverseConfig(restarts=-1),
        lambda: InverseConfig(orientation_frame="tool"),
        lambda: Damping(start=0.0),
        lambda: Damping(success=2.0),
        lambda: Damping(failure=0.5),
        lambda: NullSpaceTask("comfort"),
        lambda: NullSpaceTask(steps=0),
    ],
)
def test_settings_out_of_range(make):
    with pytest.raises(InvalidConfigError, match="expected"):
        make()


def test_orientations_are_read_as_the_functions_of_motion_compute_them(kernels, rng):
    for k in range(200):
        p, rpy = rng.uniform(-1.0, 1.0, 3), rng.uniform(-4.0, 4.0, 3)
        quaternion = rng.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        R, free = rotation_from_rpy(*rpy), k % 3
        partly, held = rpy.copy(), rpy.copy()
        partly[free], held[free] = math.nan, 0.0
        rows = np.ones(6)
        rows[3 + free] = 0.0
        for target, expected, counts in (
            ([*p, *rpy], R, np.ones(6)),
            ((p, rpy), R, np.ones(6)),
            ((p, R), R, np.ones(6)),
            ([*p, *quaternion], rotation_from_quaternion(*quaternion), np.ones(6)),
            ((list(p), tuple(quaternion)), rotation_from_quaternion(*quaternion), np.ones(6)),
            ((p, partly), rotation_from_rpy(*held), rows),
            ((p, np.full((3, 3), math.nan)), np.eye(3), [1, 1, 1, 0, 0, 0]),
            (p, np.eye(3), [1, 1, 1, 0, 0, 0]),
        ):
            pose, found = read_target(target)
            np.testing.assert_allclose(pose, np.column_stack([expected, p]), atol=1e-15, rtol=0, err_msg=str(target))
            np.testing.assert_array_equal(found, counts, err_msg=str(target))


def test_a_quaternion_that_is_a_little_too_long_is_the_rotation_it_means():
    chain = ur5()
    pose = chain.fk(READY)
    quaternion = np.array(quaternion_from_rotation(pose[:3, :3]))
    T, rows = read_target((pose[:3, 3], 1.0009 * quaternion))
    assert rows.all()
    np.testing.assert_allclose(T[:, :3], pose[:3, :3], atol=1e-12)
    found = InverseKinematics(chain).solve((pose[:3, 3], 0.9991 * quaternion), READY + 0.1)
    assert found.converged
    np.testing.assert_allclose(chain.fk(found.q), pose, atol=1e-8)


def test_null_space_is_used_up_to_the_limits_and_along_them(rng):
    """As near to the posture as scipy comes, which knows target and limits as constraints."""
    chain = limited(panda(), -0.9, 0.9)
    inverse, posture = InverseKinematics(chain), np.full(7, 2.0)
    at_limits = 0
    for _ in range(some(6)):
        start = rng.uniform(-0.5, 0.5, 7)
        target = chain.fk(start)[:3, 3]
        result = inverse.solve(target, start, null_space=NullSpaceTask("posture", posture=posture))
        best = minimize(
            lambda q: np.sum((q - posture) ** 2), start, bounds=[(-0.9, 0.9)] * 7, method="SLSQP", tol=1e-10,
            constraints={"type": "eq", "fun": lambda q, target=target: chain.fk(q)[:3, 3] - target},
        )  # fmt: skip
        assert chain.within_limits(result.q, 1e-12) and result.converged
        assert np.sum((result.q - posture) ** 2) <= best.fun * 1.05  # both are local
        at_limits += np.sum(np.abs(result.q) > 0.9 - 1e-9)
    assert at_limits


@pytest.mark.skipif(INTERPRETED, reason="interpreted it takes minutes")
def test_threads_share_one_object():
    inverse, chain = InverseKinematics(ur5()), ur5()
    targets = [chain.fk(READY + 0.1 * k)[:3, 3] for k in range(8)]
    task = NullSpaceTask("posture", posture=np.zeros(6))

    def solve(target):
        return [inverse.solve(target, READY, null_space=task).q for _ in range(10)]

    alone = [solve(target)[0] for target in targets]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(solve, targets))
    finally:
        sys.setswitchinterval(interval)
    for q, found in zip(alone, together):
        for other in found:
            np.testing.assert_array_equal(other, q)
