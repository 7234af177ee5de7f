# SPDX-License-Identifier: MIT
"""The packed kernels: the study's target sets to the last target, limits, branches, the fan, the closed loop's step."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from leg_rates import lower_rates
from numba.core.runtime import rtsys

from robot_mechanics.native.angles import angle, sincos
from shellbot_kinematics import (
    LIMBS,
    Frame,
    PackedReferences,
    ShellbotSolver,
    foot_branches,
    solve_limb,
)
from shellbot_kinematics._layout import ANSWER, CODES, G_A0, G_ST, G_TIP, LEG, S_DT
from shellbot_kinematics._tick import solve_tick
from shellbot_kinematics.packed import (
    ClikBlock,
    ClikLoop,
    LegBlock,
    LimbsBlock,
    ShellBlock,
    clik_follow,
    clik_step,
    foot_forward,
    foot_inverse,
    foot_inverse_free_fan,
    limbs_forward,
    limbs_inverse,
    shell_inverse,
)

MANY = 300 if numba.config.DISABLE_JIT else 10_000
HOME = (0.0, 0.0, -0.5, 1.8)
W = (20240601, np.radians([-45.0, -60.0, -80.0, 10.0]), np.radians([45.0, 60.0, 60.0, 140.0]))
F = (20240602, np.radians([-180.0] * 4), np.radians([180.0] * 4))


def wrapped(angles):
    return (np.asarray(angles) + np.pi) % (2 * np.pi) - np.pi


def leg_points(q):
    """Foot of leg 1 by products of Denavit-Hartenberg transforms alone, (k, 3), m; the numbers of the study."""
    rows = ((0.0, 66.0, 0.0, -29.0), (0.0, 120.0, None, 0.0), (-90.0, 38.0, None, -24.25), (0.0, 66.0, None, 24.25))
    T = np.tile(np.eye(4), (len(q), 1, 1))
    column = 0
    for alpha, a, theta, d in (*rows, (0.0, 122.0, None, 0.0)):
        turn = np.full(len(q), theta or 0.0)
        if theta is None:
            turn, column = q[:, column], column + 1
        A = np.tile(np.eye(4), (len(q), 1, 1))
        ca, sa = math.cos(math.radians(alpha)), math.sin(math.radians(alpha))
        c, s = np.cos(turn), np.sin(turn)
        A[:, 0] = np.stack([c, -s * ca, s * sa, 1e-3 * a * c], axis=1)
        A[:, 1] = np.stack([s, c * ca, -c * sa, 1e-3 * a * s], axis=1)
        A[:, 2, 1:] = sa, ca, 1e-3 * d
        T = T @ A
    return T[:, :3, 3]


def test_angles_are_exact(rng):
    for x in np.concatenate([rng.uniform(-7.0, 7.0, MANY), [0.0, math.pi / 2, -math.pi, 1e3, 1e7, -1e4]]):
        assert np.abs(np.subtract(sincos(x), (math.sin(x), math.cos(x)))).max() < 5e-16
    for y, x in rng.normal(size=(MANY, 2)) * 10.0 ** rng.uniform(-6, 6, (MANY, 2)):
        assert abs(angle(y, x) - math.atan2(y, x)) < 9e-16
    for y, x in ((0.0, 1.0), (0.0, -1.0), (-0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (-1.0, -1.0)):
        assert angle(y, x) == pytest.approx(math.atan2(y, x), abs=1e-15)
    assert math.isnan(angle(math.nan, 1.0)) and math.isnan(angle(1.0, math.nan)) and np.isnan(sincos(math.nan)).all()
    assert np.isnan(sincos(math.inf)).all()


@pytest.mark.parametrize("seed, low, high", [W, F], ids=["W", "F"])
def test_every_target_of_the_study_is_met(model, seed, low, high):
    """10,000 of 10,000 to 1e-6 m from home, without limits, checked with an independent forward kinematics."""
    points = leg_points(low + np.random.default_rng(seed).random((10_000, 4))[:MANY] * (high - low))
    block, found = LegBlock(), np.empty((MANY, 4))
    for i, point in enumerate(points):
        block.point[:], block.joints[:] = point, HOME
        assert foot_inverse_free_fan(model.legs[0], block.data) < 1e-9
        found[i] = block.joints
    assert np.linalg.norm(leg_points(found) - points, axis=1).max() < 1e-12
    assert np.abs(found).max() <= math.pi + 1e-12


@pytest.mark.parametrize("frame", [Frame.FOOT, Frame.SPHERE_CENTRE])
def test_every_target_within_the_limits_is_met_within_the_limits(model, frame, rng):
    chain = model.chain("lower_2", frame)
    block = LegBlock(limited=True, frame=frame)
    for q in rng.uniform(chain.lower, chain.upper, (MANY // 2, 4)):
        block.point[:], block.joints[:] = chain.fk(q)[:3, 3], HOME
        assert foot_inverse_free_fan(model.legs[1], block.data) < 1e-9
        assert chain.within_limits(block.joints, 1e-12)
        assert np.abs(chain.fk(block.joints)[:3, 3] - block.point).max() < 1e-9


@pytest.mark.parametrize("limited", [False, True])
def test_the_fan_turns_no_more_than_it_must(model, rng, limited):
    """Against a search over fan angles in steps of half a degree."""
    chain = model.chain("lower_1", Frame.FOOT)
    low, high = (chain.lower, chain.upper) if limited else (-np.pi * np.ones(4), np.pi * np.ones(4))
    block, other = LegBlock(limited=limited), LegBlock(limited=limited)
    turned = 0
    for q in rng.uniform(low, high, (MANY // 100, 4)):
        block.point[:], block.joints[:] = chain.fk(q)[:3, 3], HOME
        foot_inverse_free_fan(model.legs[0], block.data)
        turn = abs(block.joints[0])
        turned += turn > 0.01
        for fan in np.arange(0.0, turn - 0.01, np.radians(0.5)):
            for side in (-fan, fan):
                if low[0] <= side <= high[0]:
                    other.point[:], other.joints[:] = block.point, HOME
                    other.joints[0] = side
                    assert foot_inverse(model.legs[0], other.data) > 1e-9, "a smaller turn would have done"
    assert turned > 0


def test_the_nearest_branch_is_taken(model, rng):
    chain = model.chain("lower_4", Frame.FOOT)
    block = LegBlock()
    for q, near in zip(rng.uniform(-np.pi, np.pi, (MANY // 5, 4)), rng.uniform(-np.pi, np.pi, (MANY // 5, 4))):
        if rng.random() < 0.7:
            near = q + rng.normal(scale=0.3, size=4)
        block.point[:], block.joints[:] = chain.fk(q)[:3, 3], [q[0], *near[1:]]
        branches = foot_branches(model, "lower_4", block.point, q[0])
        costs = [np.abs(np.asarray(b)[1:] - wrapped(near[1:])).max() for b in branches.values()]
        block.joints[1:] = wrapped(near[1:])
        assert foot_inverse(model.legs[3], block.data) < 1e-9
        chosen = np.abs(block.joints[1:] - wrapped(near[1:])).max()
        assert chosen == pytest.approx(min(costs), abs=1e-6)


def test_out_of_reach_and_nan(model):
    block = LegBlock()
    block.point[:] = 0.6, 0.0, -0.1
    left = foot_inverse(model.legs[0], block.data)
    there = model.chain("lower_1", Frame.FOOT).fk(block.joints)[:3, 3]
    assert left == pytest.approx(np.linalg.norm(there - block.point), abs=1e-12) and left > 0.1
    assert left == pytest.approx(solve_limb(model, "lower_1", Frame.FOOT, block.point).error, abs=1e-9)
    block.point[1] = math.nan
    assert not foot_inverse(model.legs[0], block.data) < 1.0
    assert not foot_inverse_free_fan(model.legs[0], block.data) < 1.0
    limbs = LimbsBlock()
    limbs.feet[:], limbs.centres[:] = 0.1, 0.0
    for points in (limbs.feet, limbs.centres):
        points[1, 2] = math.nan
        assert math.isnan(limbs_inverse(model.packed, limbs.data))
        points[1, 2] = 0.1


def test_all_limbs_in_one_call(model, stand, rng):
    block, there = LimbsBlock(), LimbsBlock()
    for _ in range(MANY // 50):
        there.joints[:] = stand + rng.uniform(-0.2, 0.0, 36)
        there.joints[:24:4] = rng.uniform(-0.5, 0.0)
        limbs_forward(model.packed, there.data)
        block.feet[:], block.centres[:], block.joints[:] = there.feet, there.centres, stand
        block.joints[:24:4] = there.joints[:24:4]
        assert limbs_inverse(model.packed, block.data) < 1e-9
        np.testing.assert_allclose(block.joints, there.joints, atol=1e-9)
    for i, limb in enumerate(LIMBS):
        frame = Frame.FOOT if i < 6 else Frame.SPHERE_CENTRE
        p = model.chain(limb, frame).fk(there.joints[model.columns(limb)])[:3, 3]
        np.testing.assert_allclose((there.feet if i < 6 else there.centres)[i % 6], p, atol=1e-14)


def test_the_walker_has_no_upper_limbs(walker, stand):
    block = LimbsBlock()
    block.joints[:] = stand
    block.centres[:] = math.nan
    limbs_forward(walker.model.packed, block.data)
    assert limbs_inverse(walker.model.packed, block.data) < 1e-12 and np.isnan(block.centres).all()
    np.testing.assert_array_equal(block.joints[24:], stand[24:])


def test_one_step_of_the_closed_loop(model, stand, rng):
    """q += dt J^-1 (v + K e - J_fan dq_fan), against numpy on the chains' Jacobians."""
    block = ClikBlock(dt=0.004, fan_rate=-0.3)
    block.gain[:] = 20.0, 60.0, 130.0
    block.joints[:] = stand[:24] + rng.normal(scale=0.1, size=24)
    block.feet[:], block.velocities[:] = rng.normal(scale=0.1, size=(6, 3)), rng.normal(size=(6, 3))
    before = block.joints.copy()
    largest = clik_step(model.packed, block.data)
    errors = []
    for i in range(6):
        chain, q = model.chain(LIMBS[i], Frame.FOOT), before[4 * i : 4 * i + 4]
        e = block.feet[i] - chain.fk(q)[:3, 3]
        J = chain.jacobian(q)[:3]
        rates = np.linalg.solve(J[:, 1:], block.velocities[i] + block.gain * e - J[:, 0] * -0.3)
        np.testing.assert_allclose(block.joints[4 * i : 4 * i + 4] - q, 0.004 * np.array([-0.3, *rates]), atol=1e-12)
        errors.append(np.linalg.norm(e))
    assert largest == pytest.approx(max(errors))


def test_the_loop_that_keeps_its_joints_takes_the_same_steps(model, stand, rng):
    block, loop = ClikBlock(dt=0.008, fan_rate=0.2), ClikLoop(model.packed, dt=0.008, fan_rate=0.2)
    block.joints[:] = stand[:24] + rng.normal(scale=0.1, size=24)
    loop.joints[:] = block.joints.reshape(6, 4)
    block.gain[:] = loop.gain[:] = 20.0, 60.0, 110.0
    feet = np.array([model.chain(limb, Frame.FOOT).fk(stand[model.columns(limb)])[:3, 3] for limb in LIMBS[:6]])
    for _ in range(50):
        block.feet[:], block.velocities[:] = feet + rng.normal(scale=0.01, size=(6, 3)), rng.normal(size=(6, 3))
        task = np.concatenate([block.feet.ravel(), block.velocities.ravel()])
        assert clik_follow(loop.data, task) == pytest.approx(clik_step(model.packed, block.data), abs=1e-15)
        np.testing.assert_allclose(loop.joints.ravel(), block.joints, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("bend", [0.0, 1e-9, 0.01, 0.04, 0.0499])
def test_a_stretched_knee_is_damped_as_in_the_solver(model, stand, rng, bend):
    """Against lower_rates, whose damping the lanes repeat in another form."""
    block = ClikBlock(dt=0.01, fan_rate=0.1)
    block.joints[:] = stand[:24]
    straight = [leg[G_ST] * (leg[G_TIP + 2] - leg[G_A0] - bend) for leg in model.legs]
    block.joints[3::4] = straight
    block.feet[:], block.velocities[:] = rng.normal(scale=0.3, size=(6, 3)), rng.normal(size=(6, 3))
    before, rates = block.joints.copy(), np.zeros(24)
    clik_step(model.packed, block.data)
    for i in range(6):
        p = model.chain(LIMBS[i], Frame.FOOT).fk(before[4 * i : 4 * i + 4])[:3, 3]
        v = block.velocities[i] + 50.0 * (block.feet[i] - p)
        lower_rates(model.packed, i * LEG, 0, before, 4 * i, 0.1, v[0], v[1], v[2], rates)
        steps = block.joints[4 * i + 1 : 4 * i + 4] - before[4 * i + 1 : 4 * i + 4]
        np.testing.assert_allclose(steps, 0.01 * rates[4 * i + 1 : 4 * i + 4], rtol=1e-9, atol=1e-12)


def test_an_unknown_joint_spoils_its_own_leg_only(model, stand):
    block = ClikBlock()
    block.joints[:] = stand[:24]
    block.joints[9] = math.nan
    assert math.isnan(clik_step(model.packed, block.data))
    assert np.isnan(block.joints.reshape(6, 4)).any(axis=1).tolist() == [False, False, True, False, False, False]


@pytest.mark.parametrize("limited", [False, True])
def test_the_upper_sphere_centre(model, rng, limited):
    chain = model.chain("upper_3", Frame.SPHERE_CENTRE)
    block = ShellBlock(limited=limited)
    for q in rng.uniform(chain.lower, chain.upper, (MANY // 20, 2)):
        block.point[:], block.joints[:] = chain.fk(q)[:3, 3], q + 0.01
        assert shell_inverse(model.shells[2], block.data) < 1e-9
        assert np.abs(chain.fk(block.joints)[:3, 3] - block.point).max() < 1e-9
        assert not limited or chain.within_limits(block.joints, 1e-12)
    block.point[2] += 1.0
    left = shell_inverse(model.shells[2], block.data)
    assert left == pytest.approx(np.linalg.norm(chain.fk(block.joints)[:3, 3] - block.point), abs=1e-9) and left > 0.1
    block.point[0] = math.nan
    assert math.isnan(shell_inverse(model.shells[2], block.data))


KERNELS = [
    foot_inverse, foot_inverse_free_fan, foot_forward, shell_inverse, limbs_inverse, limbs_forward, clik_step,
    clik_follow,
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
def test_wrong_sizes_are_refused(model, kernel):
    with pytest.raises(ValueError, match="expected"):
        kernel(np.zeros(7) if kernel is clik_follow else model.packed[:-1], np.zeros(5))  # it writes into both


def counts_allocations():
    try:
        return rtsys.get_allocation_stats() is not None
    except RuntimeError:
        return False


@pytest.mark.jit
def test_nothing_is_allocated(model, urdf, stand):
    """Not in the packed calls, and not in a tick by any of the solvers."""
    leg, limbs, loop = LegBlock(), LimbsBlock(), ClikBlock()
    limbs.joints[:], loop.joints[:] = stand, stand[:24]
    limbs_forward(model.packed, limbs.data)
    loop.feet[:] = limbs.feet
    far = LegBlock(limited=True)
    far.point[:] = 0.0, 0.3, -0.15
    solver = ShellbotSolver(urdf)
    solver.reset(stand)
    references = PackedReferences.feet(0.0, solver.fk_feet(stand) + [0.0, 0.2, 0.0])
    answer, codes = np.empty(ANSWER), np.empty(CODES, dtype=np.int64)
    calls = [
        (foot_inverse, model.legs[0], leg.data),
        (foot_inverse_free_fan, model.legs[0], far.data),
        (limbs_inverse, model.packed, limbs.data),
        (clik_step, model.packed, loop.data),
        (solve_tick, model.packed, solver._state, references.packed, answer, codes),
    ]
    for name in ("closed_form", "clik", "lm"):
        solver.set_config(solver.config.replace(solver=name))
        solver._state[S_DT] = 0.01
        for call, *arrays in calls:
            call(*arrays)
            if not counts_allocations():
                pytest.skip("numba counts allocations only where NUMBA_NRT_STATS is set")
            before = rtsys.get_allocation_stats().alloc
            for _ in range(3):
                call(*arrays)
            assert rtsys.get_allocation_stats().alloc == before  # bare kernels: not even for what crosses from Python


def test_packed_is_read_only_and_shared(model):
    assert not model.packed.flags.writeable and model.legs.base is not None and not model.legs.flags.writeable
