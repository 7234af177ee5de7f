# SPDX-License-Identifier: MIT
"""Batches of a leg: closed forms against single solves, the general inverse within the leg's limits."""

from __future__ import annotations

import itertools
import math

import numba
import numpy as np
import pytest

from robot_mechanics.errors import InvalidConfigError, InvalidReferenceError, ShapeError, UnknownNameError
from robot_mechanics.inverse.batch import inverse_batch
from shellbot_kinematics import Frame, LegBranch, foot_batch_free_fan, foot_branches
from shellbot_kinematics.foot_batch import FootBatch, foot_batch

INTERPRETED = numba.config.DISABLE_JIT


def few(count):
    """As many samples, or few where the kernels are interpreted."""
    return max(6, count // 200) if INTERPRETED else count


def feet_within_reach(model, rng, count, limb="lower_2"):
    """Random joints (fan, coxa, femur, tibia) and their feet."""
    q = rng.uniform([-1.5, -1.0, -1.2, 0.2], [0.05, 1.0, 1.0, 2.3], (count, 4))
    chain = model.chain(limb, Frame.FOOT)
    return q, np.array([chain.fk(row)[:3, 3] for row in q])


@pytest.mark.parametrize("by_coordinate", [True, False])
@pytest.mark.parametrize("frame", [Frame.FOOT, Frame.SPHERE_CENTRE])
def test_closed_form_batch_equals_the_single_solver_in_every_branch(model, rng, frame, by_coordinate):
    q, _ = feet_within_reach(model, rng, few(300))
    points = np.array([model.chain("lower_2", frame).fk(row)[:3, 3] for row in q])
    reached = 0
    for branch in LegBranch:
        given = np.ascontiguousarray(points.T) if by_coordinate else points
        answer = foot_batch(model, "lower_2", given, fan=q[:, 0], branch=branch, frame=frame, limits=False)
        joints = answer.q.T if by_coordinate else answer.q
        for i, point in enumerate(points):
            single = foot_branches(model, "lower_2", point, q[i, 0], frame)
            assert answer.converged[i] == (branch in single)
            if answer.converged[i]:
                difference = joints[i] - single[branch][1:]
                assert np.abs(difference - 2 * math.pi * np.round(difference / (2 * math.pi))).max() < 1e-7
                p = model.chain("lower_2", frame).fk([q[i, 0], *joints[i]])[:3, 3]
                np.testing.assert_allclose(p, point, atol=1e-12)
                reached += 1
    assert reached > 2 * len(points)


def test_closed_form_batch_nearest_branch_returns_to_the_joints(model, rng):
    q, points = feet_within_reach(model, rng, few(1000))
    # the seed decides: close to the joints that made the target
    seeds = q[:, 1:] + rng.uniform(-0.02, 0.02, (len(q), 3))
    for limits in (False, True):
        answer = foot_batch(model, "lower_2", points, fan=q[:, 0], branch="nearest", seeds=seeds, limits=limits)
        assert answer.converged.all()
        np.testing.assert_allclose(answer.q, q[:, 1:], atol=1e-6)
        turned = foot_batch(model, "lower_2", points.T, fan=q[:, 0], branch="nearest", seeds=seeds.T, limits=limits)
        np.testing.assert_array_equal(turned.q.T, answer.q)


def test_closed_form_batch_nearest_leaves_branches_beyond_the_limits_out(model, rng):
    q, points = feet_within_reach(model, rng, few(400), "lower_1")
    low, high = model.lower[1:4], model.upper[1:4]
    seeds = np.array([2.9, 2.5, -2.5])  # draws towards branches that the limits forbid
    free = foot_batch(model, "lower_1", points, fan=q[:, 0], branch="nearest", seeds=seeds, limits=False)
    kept = foot_batch(model, "lower_1", points, fan=q[:, 0], branch="nearest", seeds=seeds)
    outside = ((free.q < low) | (free.q > high)).any(axis=1)
    assert outside.any()
    assert kept.converged.all() and ((kept.q >= low) & (kept.q <= high)).all()


@pytest.mark.parametrize("frame", [Frame.FOOT, Frame.SPHERE_CENTRE])
@pytest.mark.parametrize("branch", [*LegBranch, "nearest"])
def test_a_foot_beyond_its_limits_is_not_converged(model, rng, branch, frame):
    """With limits, which are the default: the same joints, and converged only where all are within them."""
    low, high = model.lower[1:4], model.upper[1:4]
    points = rng.uniform([-0.1, -0.3, -0.3], [0.35, 0.3, 0.2], (300 if INTERPRETED else 5000, 3))
    points[0] = 0.0610, 0.0429, -0.1391  # turns the coxa to 2.626 rad
    kept, free = (
        foot_batch(model, "lower_1", points, branch=branch, frame=frame, **options)
        for options in ({}, {"limits": False})
    )
    inside = ((kept.q >= low - 1e-12) & (kept.q <= high + 1e-12)).all(axis=1)
    if branch == "nearest":
        assert inside[kept.converged].all() and kept.converged.sum() < free.converged.sum()
    else:
        np.testing.assert_array_equal(kept.q, free.q)
        np.testing.assert_array_equal(kept.converged, free.converged & inside)
        assert free.converged.sum() > kept.converged.sum()
    turned = foot_batch(model, "lower_1", points, np.zeros(len(points)), branch, frame=frame)
    np.testing.assert_array_equal(turned.converged, kept.converged)


def test_joints_at_their_limits_are_within_them(model):
    chain = model.chain("lower_5", Frame.FOOT)
    fans = (chain.lower[0], 0.0, chain.upper[0])
    corners = np.array(list(itertools.product(fans, *zip(chain.lower[1:], chain.upper[1:]))))
    for frame in (Frame.FOOT, Frame.SPHERE_CENTRE):
        points = np.array([model.chain("lower_5", frame).fk(q)[:3, 3] for q in corners])
        found = foot_batch(model, "lower_5", points, corners[:, 0], "nearest", corners[:, 1:], frame=frame)
        assert found.converged.all()
        np.testing.assert_allclose(found.q, corners[:, 1:], atol=1e-9)


def test_a_fan_beyond_its_limits_converges_nowhere(model):
    points = np.array([model.chain("lower_1", Frame.FOOT).fk([f, 0.1, -0.4, 1.5])[:3, 3] for f in (0.0, 1.0)])
    assert list(foot_batch(model, "lower_1", points, [0.0, 1.0]).converged) == [True, False]
    assert not foot_batch(model, "lower_1", points, 1.0).converged.any()
    assert foot_batch(model, "lower_1", points, [0.0, 1.0], limits=False).converged.all()


@pytest.mark.parametrize("limb", ["lower_1", "lower_4"])
def test_closed_form_batch_does_not_depend_on_threads_or_layout(model, rng, limb):
    q, points = feet_within_reach(model, rng, few(5000), limb)
    points = np.tile(points, (1 if INTERPRETED else 4, 1))
    alone = foot_batch(model, limb, points, threads=1)
    for threads in (2, 3, None):
        shared = foot_batch(model, limb, points, threads=threads)
        np.testing.assert_array_equal(shared.q, alone.q)
        np.testing.assert_array_equal(shared.converged, alone.converged)
    np.testing.assert_array_equal(foot_batch(model, limb, points.T.copy()).q.T, alone.q)
    out = FootBatch(np.zeros_like(alone.q), np.zeros_like(alone.converged))
    assert foot_batch(model, limb, points, out=out) is out
    np.testing.assert_array_equal(out.q, alone.q)


def test_closed_form_batch_out_of_reach_is_the_nearest_in_the_plane(model):
    far = np.array([[1.0, 0.0, 0.0], [0.25, 0.0, -0.12]])
    answer = foot_batch(model, "lower_1", far, limits=False)
    assert list(answer.converged) == [False, True]
    tip = model.chain("lower_1", Frame.FOOT).fk([0.0, *answer.q[0]])[:3, 3]
    assert tip[0] > 0.4 and np.isfinite(answer.q).all()  # stretched towards it


def test_closed_form_batch_refuses_bad_input(model):
    good = np.array([[0.25, 0.0, -0.12]] * 2)
    for bad in (np.zeros(3), np.zeros((2, 2)), "nonsense", [[0.25, math.nan, 0.0]] * 2, [[math.inf, 0.0, 0.0]] * 2):
        with pytest.raises(ShapeError):
            foot_batch(model, "lower_1", bad)
    for options in (
        {"fan": math.nan},
        {"fan": [0.0] * 3},
        {"branch": "nearest", "seeds": np.zeros(2)},
        {"fan": "a"},
        {"branch": "nearest", "seeds": "a"},
    ):
        with pytest.raises(ShapeError):
            foot_batch(model, "lower_1", good, **options)
    with pytest.raises(UnknownNameError):
        foot_batch(model, "lower_7", good)
    with pytest.raises(ShapeError, match="lower"):
        foot_batch(model, "upper_1", good, frame=Frame.SPHERE_CENTRE)
    with pytest.raises(InvalidReferenceError, match="nearest"):
        foot_batch(model, "lower_1", good, branch="left")
    for threads in (0, True, 1.5):
        with pytest.raises(InvalidConfigError, match="threads"):
            foot_batch(model, "lower_1", good, threads=threads)
    for limits in ("no", None, 1, []):
        with pytest.raises(InvalidConfigError, match=r"limits is .*; expected True or False"):
            foot_batch(model, "lower_1", good, limits=limits)
    assert foot_batch(model, "lower_1", np.empty((0, 3))).q.shape == (0, 3)


@pytest.mark.parametrize("limits", [False, True])
def test_batch_takes_no_step_where_it_is_already(model, rng, limits):
    chain = model.chain("lower_2", Frame.FOOT)
    seeds = rng.uniform(0.9 * chain.lower, 0.9 * chain.upper, (few(300), 4))
    seeds[:, 0] = -0.3
    points = np.array([chain.fk(q)[:3, 3] for q in seeds])
    answer = inverse_batch(chain, points, seeds, limits=limits)
    np.testing.assert_array_equal(answer.q, seeds)
    assert answer.converged.all() and not answer.iterations.any() and answer.distance.max() < 1e-11
    # along a track that stands still, and goes on later
    track = np.concatenate([np.tile(points[:, None], (1, 4, 1)), points[:, None] + [0.0, 0.001, 0.0]], axis=1)
    track = np.concatenate([track, track[:, -1:]], axis=1)
    answer = inverse_batch(chain, track, seeds, limits=limits)
    np.testing.assert_array_equal(answer.q[:, :4], np.tile(seeds[:, None], (1, 4, 1)))
    assert not answer.iterations[:, :4].any() and not answer.iterations[:, 5].any()
    assert answer.iterations[:, 4].min() >= 1
    np.testing.assert_array_equal(answer.q[:, 5], answer.q[:, 4])


def test_batch_keeps_to_the_limits(model, rng):
    chain = model.chain("lower_3", Frame.FOOT)
    q = rng.uniform(chain.lower, chain.upper, (few(1000), 4))
    points = np.array([chain.fk(row)[:3, 3] for row in q])
    answer = inverse_batch(chain, points)
    assert (answer.q >= chain.lower).all() and (answer.q <= chain.upper).all()
    assert answer.converged.all()
    assert np.abs(np.array([chain.fk(row)[:3, 3] for row in answer.q]) - points).max() <= 1e-6
    free = inverse_batch(chain, points, limits=False)
    assert ((free.q < chain.lower) | (free.q > chain.upper)).any()


def test_answers_print_on_one_line(model):
    assert repr(foot_batch(model, "lower_1", np.full((3, 50), 9.0))) == "FootBatch(50 targets, 0 reached)"


def test_three_targets_are_not_guessed_at(model):
    """(3, 3) can be read by row and by column: one of them is 80 to 200 mm off, and would be called reached."""
    points = np.array([[0.27, 0.02, -0.16], [0.26, -0.03, -0.15], [0.28, 0.01, -0.17]])
    for solve in (foot_batch, foot_batch_free_fan):
        with pytest.raises(ShapeError, match=r"three targets.*by_coordinate=True"):
            solve(model, "lower_1", points)
        rows = solve(model, "lower_1", points, by_coordinate=False)
        columns = solve(model, "lower_1", points.T, by_coordinate=True)
        four = solve(model, "lower_1", np.vstack((points, points[:1])))
        np.testing.assert_array_equal(columns.q.T, rows.q)
        np.testing.assert_array_equal(four.q[:3], rows.q)
        with pytest.raises(ShapeError, match=r"shape \(4, 3\); expected \(3, N\)"):
            solve(model, "lower_1", np.zeros((4, 3)), by_coordinate=True)
