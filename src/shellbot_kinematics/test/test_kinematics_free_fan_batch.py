# SPDX-License-Identifier: MIT
"""The complete closed form over many targets, against the single one: same rule, same answers, same limits."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from robot_mechanics.errors import InvalidConfigError, ShapeError, UnknownNameError
from shellbot_kinematics import FootBatch, Frame, _free_fan, foot_batch, foot_batch_free_fan
from shellbot_kinematics.packed import LegBlock, foot_inverse_free_fan

INTERPRETED = numba.config.DISABLE_JIT
MANY = 25 if INTERPRETED else 3000


def single(model, leg, points, seeds, limits, frame):
    """Joints (N, 4) and distances left of the single solver."""
    block = LegBlock(limited=limits, frame=frame)
    q, left = np.empty((len(points), 4)), np.empty(len(points))
    for i, point in enumerate(points):
        block.point[:] = point
        block.joints[:] = seeds if np.ndim(seeds) == 1 else seeds[i]
        left[i] = foot_inverse_free_fan(model.legs[leg], block.data)
        q[i] = block.joints
    return q, left


def apart(a, b):
    """How far angles are from each other, whole turns left out: at -pi and pi rounding decides."""
    return np.abs((a - b + math.pi) % (2.0 * math.pi) - math.pi).max()


def random_points(model, limb, frame, limits, rng, count=MANY):
    """Points that the limb has, within its limits or anywhere."""
    chain = model.chain(limb, frame)
    low, high = (chain.lower, chain.upper) if limits else (-math.pi * np.ones(4), math.pi * np.ones(4))
    q = rng.uniform(low, high, (count, 4))
    return q, np.array([chain.fk(row)[:3, 3] for row in q])


@pytest.mark.parametrize("limits", [False, True])
@pytest.mark.parametrize("frame", [Frame.FOOT, Frame.SPHERE_CENTRE])
@pytest.mark.parametrize(("limb", "leg"), [("lower_1", 0), ("lower_4", 3)])
def test_answers_are_those_of_the_single_solver(model, rng, limb, leg, frame, limits):
    chain = model.chain(limb, frame)
    _, points = random_points(model, limb, frame, limits, rng)
    for seeds in (np.array([0.0, 0.0, -0.5, 1.8]), rng.uniform(chain.lower, chain.upper, (MANY, 4))):
        answer = foot_batch_free_fan(model, limb, points, seeds, limits, frame)
        expected, left = single(model, leg, points, seeds, limits, frame)
        np.testing.assert_array_equal(answer.converged, left < 1e-9)
        assert answer.converged.all()
        assert apart(answer.q, expected) < 1e-6  # a stretched knee magnifies rounding
        met = np.array([chain.fk(row)[:3, 3] for row in answer.q])
        assert np.abs(met - points).max() < 1e-9
        if limits:
            assert ((answer.q >= chain.lower - 1e-12) & (answer.q <= chain.upper + 1e-12)).all()
        turned = np.abs(answer.q[:, 0] - (seeds[0] if seeds.ndim == 1 else seeds[:, 0])) > 1e-9
        assert 0.1 < turned.mean() < 0.9  # both roads are taken


@pytest.mark.parametrize("limits", [False, True])
@pytest.mark.parametrize("frame", [Frame.FOOT, Frame.SPHERE_CENTRE])
def test_the_quick_way_ends_where_the_complete_search_does(model, rng, frame, limits):
    chain, leg, tip = model.chain("lower_6", frame), model.legs[5], int(frame == Frame.SPHERE_CENTRE)
    _, points = random_points(model, "lower_6", frame, limits, rng)
    points[::7] += rng.normal(scale=0.1, size=points[::7].shape)  # some out of reach
    seeds = rng.uniform(-5.0, 5.0, (len(points), 4))
    seeds[::2] = rng.uniform(chain.lower, chain.upper, seeds[::2].shape)
    met = 0
    for point, seed in zip(points, seeds):
        quick, complete = seed.copy(), seed.copy()
        left = _free_fan.foot_free(leg, 0, tip, *point, limits, quick, 0)
        if limits:
            complete[0] = np.clip(seed[0], chain.lower[0], chain.upper[0])
        assert _free_fan._free_of_all(leg, 0, tip, *point, limits, seed, complete, 0) == pytest.approx(left, abs=1e-8)
        assert apart(quick, complete) < 1e-5
        met += left < 1e-9
    assert met > 0.8 * len(points) and (INTERPRETED or met < len(points))  # both kinds


def test_answers_do_not_depend_on_layout_or_threads(model, rng):
    count = 30 if INTERPRETED else 5000
    _, points = random_points(model, "lower_2", Frame.FOOT, True, rng, count)
    for seeds in (None, rng.uniform(-0.5, 0.5, (count, 4))):
        for limits in (False, True):
            alone = foot_batch_free_fan(model, "lower_2", points, seeds, limits, threads=1)
            by_coordinate = None if seeds is None else seeds.T
            for threads in (1, 2, 3):
                again = foot_batch_free_fan(model, "lower_2", points, seeds, limits, threads=threads)
                turned = foot_batch_free_fan(model, "lower_2", points.T, by_coordinate, limits, threads=threads)
                for other in (again.q, turned.q.T):
                    np.testing.assert_array_equal(other, alone.q)
                for reached in (again.converged, turned.converged):
                    np.testing.assert_array_equal(reached, alone.converged)
            out = FootBatch(np.empty((4, count)), np.empty(count, dtype=bool))
            found = foot_batch_free_fan(model, "lower_2", points.T, by_coordinate, limits, out=out)
            assert found is out
            np.testing.assert_array_equal(out.q.T, alone.q)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 255, 257])
def test_any_number_of_targets(model, rng, count):
    count = min(count, MANY) if INTERPRETED else count
    q, points = random_points(model, "lower_3", Frame.FOOT, True, rng, count)
    answer = foot_batch_free_fan(model, "lower_3", points.reshape(count, 3), q.reshape(count, 4), True)
    assert answer.q.shape == (count, 4) and answer.converged.shape == (count,) and answer.converged.all()
    if count:
        assert apart(answer.q[:, 0], q[:, 0]) == 0.0  # the fan stands where it may stay
        one = foot_batch_free_fan(model, "lower_3", points[:1].T, q[:1].T, True)
        np.testing.assert_array_equal(one.q.T, answer.q[:1])


def test_a_fan_beyond_its_limits_is_brought_to_them(model):
    chain = model.chain("lower_1", Frame.FOOT)
    point = np.array([chain.fk([chain.upper[0], 0.1, -0.4, 1.5])[:3, 3]])
    seed = [chain.upper[0] + 0.5, 0.1, -0.4, 1.5]
    assert foot_batch_free_fan(model, "lower_1", point, seed, limits=True).q[0, 0] == chain.upper[0]
    free = foot_batch_free_fan(model, "lower_1", point, seed, limits=False)
    assert free.q[0, 0] == seed[0] and free.converged[0]


def test_out_of_reach_is_answered_with_the_nearest_found(model):
    points = np.array([[1.0, 0.1, -0.1], [0.27, 0.0, -0.15], [0.0, 0.9, 0.3]])
    points = np.concatenate([points, points])
    for limits in (False, True):
        answer = foot_batch_free_fan(model, "lower_1", points, limits=limits)
        assert list(answer.converged) == [False, True, False] * 2
        expected, left = single(model, 0, points, np.zeros(4), limits, Frame.FOOT)
        met = np.array([model.chain("lower_1", Frame.FOOT).fk(row)[:3, 3] for row in answer.q])
        np.testing.assert_allclose(np.linalg.norm(met - points, axis=1), left, atol=1e-9)
        assert apart(answer.q, expected) < 1e-6


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.filterwarnings("ignore:overflow")
def test_bad_input_is_refused(model):
    good = np.array([[0.27, 0.0, -0.15]] * 5)
    for column in range(3):
        for bad in (math.nan, math.inf, -math.inf):
            points = good.copy()
            points[3, column] = bad
            for given in (points, points.T):
                with pytest.raises(ShapeError, match="finite"):
                    foot_batch_free_fan(model, "lower_1", given)
    far = foot_batch_free_fan(model, "lower_1", 1e200 * good, [0.1, 0.2, 0.3, 0.4])
    assert not far.converged.any() and np.isfinite(far.q).all()
    for seeds in (np.zeros(3), np.zeros((4, 5)), np.full(4, math.nan), np.zeros((5, 3)), "a"):
        with pytest.raises(ShapeError, match="seeds"):
            foot_batch_free_fan(model, "lower_1", good, seeds)
    with pytest.raises(ShapeError, match="out"):
        foot_batch_free_fan(model, "lower_1", good, out=FootBatch(np.empty((5, 3)), np.empty(5, dtype=bool)))
    with pytest.raises(ShapeError, match="p_base"):
        foot_batch_free_fan(model, "lower_1", np.zeros((2, 2)))
    with pytest.raises(ShapeError, match="lower"):
        foot_batch_free_fan(model, "upper_1", good, frame=Frame.SPHERE_CENTRE)
    with pytest.raises(UnknownNameError):
        foot_batch_free_fan(model, "lower_9", good)
    with pytest.raises(InvalidConfigError, match="threads"):
        foot_batch_free_fan(model, "lower_1", good, threads=0)
    with pytest.raises(InvalidConfigError, match="limits is 'no'; expected True or False"):
        foot_batch_free_fan(model, "lower_1", good, limits="no")


def test_limits_are_kept_unless_they_are_left_out(model, rng):
    chain = model.chain("lower_2", Frame.FOOT)
    points = rng.uniform([-0.1, -0.3, -0.3], [0.35, 0.3, 0.2], (MANY, 3))
    answer, free = (foot_batch_free_fan(model, "lower_2", points, **o) for o in ({}, {"limits": False}))
    inside = [((a.q >= chain.lower - 1e-12) & (a.q <= chain.upper + 1e-12)).all(axis=1) for a in (answer, free)]
    assert inside[0].all() and not inside[1][free.converged].all()
    assert answer.converged.any() and not (answer.converged & ~free.converged).any()


@pytest.mark.jit
def test_the_fan_turns_least(model, rng):
    """No fan angle nearer to the given one meets the target: against all angles of a fine grid, without limits."""
    grid = np.linspace(-math.pi, math.pi, 4001)
    _, points = random_points(model, "lower_1", Frame.FOOT, False, rng, 300)
    turned = 0
    for point in points:
        seed = rng.uniform(-math.pi, math.pi, 4)
        fan = foot_batch_free_fan(model, "lower_1", point[None], seed, limits=False).q[0, 0]
        turn = abs((fan - seed[0] + math.pi) % (2.0 * math.pi) - math.pi)
        meets = foot_batch(
            model, "lower_1", np.tile(point, (len(grid), 1)), fan=seed[0] + grid, branch="nearest", limits=False
        ).converged
        assert turn <= np.abs(grid[meets]).min() + 1e-9
        turned += turn > 1e-9
    assert 30 < turned < 270
