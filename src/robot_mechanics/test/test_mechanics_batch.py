# SPDX-License-Identifier: MIT
"""Batch inverse: against single solves and forward kinematics, whatever the layout and the number of threads."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict

import mpmath
import numba
import numpy as np
import pytest
from mechanics_chains import LEG, UR5, dh_chain

from robot_mechanics import Joint, KernelOptions, Mimic, SerialChain, compile_chain
from robot_mechanics.codegen import compiled_chain
from robot_mechanics.codegen.compiled_chain import CompiledChain
from robot_mechanics.errors import InvalidConfigError, ShapeError
from robot_mechanics.inverse import batch
from robot_mechanics.inverse.batch import inverse_batch
from robot_mechanics.native import lanes
from robot_mechanics.native.jit import scalar_kernel
from robot_mechanics.native.lane_mask import lowest, nonzero, without_lowest
from robot_mechanics.native.threads import run_parts

INTERPRETED = numba.config.DISABLE_JIT
HOME = np.array([0.0, 0.0, -0.5, 1.8])


def few(count):
    """As many samples, or few where the kernels are interpreted."""
    return max(6, count // 200) if INTERPRETED else count


@pytest.fixture(scope="module")
def leg():
    return SerialChain.from_dh(LEG)


# ------------------------------------------------------------------------------------------------ angles
def test_polynomial_atan2_against_50_digits(rng):
    count = few(4000)
    y, x = rng.normal(size=(2, count)) * 10.0 ** rng.uniform(-8, 8, (2, count))
    y[:6], x[:6] = [0, 0, 1, -1, 1, -1], [1, -1, 0, 0, 1, -1]
    out = [lanes.atan2(b, a) for b, a in zip(y, x)]
    with mpmath.workdps(50):
        exact = [mpmath.atan2(mpmath.mpf(float(b)), mpmath.mpf(float(a))) for b, a in zip(y, x)]
        # at +-pi both signs are right
        wrong = [
            min(abs(mpmath.mpf(float(o)) - e + turn) for turn in (0, 2 * mpmath.pi, -2 * mpmath.pi))
            for o, e in zip(out, exact)
        ]
    assert max(wrong) < 1e-15
    cosines = np.concatenate([[-1.0, 1.0], rng.uniform(-1, 1, count), 1e-9 * rng.random(count) - 1])
    halves = [lanes.half_acos(max(math.sqrt((1 - c) * (1 + c)), 1e-150), c) for c in cosines]
    with mpmath.workdps(50):
        exact = [mpmath.acos(mpmath.mpf(float(c))) / 2 for c in cosines]
        assert max(abs(mpmath.mpf(float(h)) - e) for h, e in zip(halves, exact)) < 1e-15


def test_polynomial_sine_and_cosine_against_50_digits(rng):
    count = few(4000)
    angle = np.concatenate([rng.uniform(-7, 7, count), rng.uniform(-1e5, 1e5, count), np.arange(-8, 9) * math.pi / 4])
    s, c = both = np.empty((2, len(angle)))
    lanes.sincos_lanes(angle, 0, len(angle), 1.0, both.ravel(), len(angle))
    with mpmath.workdps(50):
        for value, sine, cosine in zip(angle, s, c):
            assert abs(mpmath.sin(mpmath.mpf(float(value))) - mpmath.mpf(float(sine))) < 1e-15
            assert abs(mpmath.cos(mpmath.mpf(float(value))) - mpmath.mpf(float(cosine))) < 1e-15


# ------------------------------------------------------------------------------------------------ closed form
# ------------------------------------------------------------------------------------------------ Levenberg-Marquardt
def random_feet(chain, rng, count, spread=math.pi):
    q = rng.uniform(-spread, spread, (count, chain.n))
    return q, np.array([chain.fk(row)[:3, 3] for row in q])


def test_batch_reaches_every_target_of_the_full_range(leg, rng):
    _, points = random_feet(leg, rng, few(2000))
    answer = inverse_batch(leg, points, HOME, limits=False)
    assert answer.converged.all() and answer.success == 1.0
    reached = np.array([leg.fk(row)[:3, 3] for row in answer.q])
    distance = np.linalg.norm(reached - points, axis=1)
    assert distance.max() <= 1e-6
    # sines turned from step to step; what they are off by is within the hundredth kept back
    np.testing.assert_allclose(answer.distance, distance, atol=1e-9)
    assert answer.iterations.min() >= 1


def test_batch_equals_the_single_kernel(leg, rng):
    _, points = random_feet(leg, rng, few(200), 1.0)
    compiled = leg.compile()
    answer = inverse_batch(compiled, points, HOME, limits=False)
    for i, point in enumerate(points):
        q = HOME.copy()
        steps = compiled.ik(point, q)
        assert abs(answer.iterations[i] - steps) <= 1  # rounding may decide at the tolerance
        if answer.iterations[i] == steps:
            np.testing.assert_allclose(answer.q[i], q, atol=1e-6)


def test_batch_does_not_depend_on_threads_or_order(leg, rng):
    _, points = random_feet(leg, rng, few(3000))
    alone = inverse_batch(leg, points, HOME, threads=1, limits=False)
    shared = inverse_batch(leg, points, HOME, threads=3, limits=False)
    backwards = inverse_batch(leg, points[::-1], HOME, threads=2, limits=False)
    for name in ("q", "converged", "iterations", "distance"):
        np.testing.assert_array_equal(getattr(shared, name), getattr(alone, name))
        np.testing.assert_array_equal(getattr(backwards, name)[::-1], getattr(alone, name))


def test_batch_needs_few_steps_in_the_working_range(leg, rng):
    low, high = np.radians([-45, -60, -80, 10]), np.radians([45, 60, 60, 140])
    points = np.array([leg.fk(q)[:3, 3] for q in rng.uniform(low, high, (few(2000), 4))])
    answer = inverse_batch(leg, points, HOME, limits=False)
    assert answer.converged.all()
    assert answer.iterations.mean() < 3.5 and np.percentile(answer.iterations, 95) <= 4


def test_batch_of_one_seed_equals_that_of_as_many_seeds(leg, rng):
    _, points = random_feet(leg, rng, few(1000))
    one = inverse_batch(leg, points, HOME, limits=False)
    many = inverse_batch(leg, points, np.tile(HOME, (len(points), 1)), limits=False)
    track = inverse_batch(leg, points[:, None], HOME, limits=False)
    for name in ("q", "converged", "iterations", "distance"):
        np.testing.assert_array_equal(getattr(many, name), getattr(one, name))
        np.testing.assert_array_equal(getattr(track, name)[:, 0], getattr(one, name))


@pytest.mark.parametrize("tolerance", [1e-4, 1.2e-7, 1e-8, 1e-11] if INTERPRETED else [1.2e-7, 1e-11])
def test_batch_means_its_tolerance(leg, rng, tolerance):
    _, points = random_feet(leg, rng, few(2000))
    answer = inverse_batch(compile_chain(leg, KernelOptions(tolerance=tolerance)), points, HOME, limits=False)
    assert answer.converged.all()
    distance = np.linalg.norm([leg.fk(row)[:3, 3] - point for row, point in zip(answer.q, points)], axis=1)
    assert distance.max() <= tolerance


def test_batch_of_joints_that_follow_and_of_parallel_axes_in_one_place(rng):
    """Angles that change by several steps at once: bounded together where no joint has an angle of its own."""
    up, along = np.eye(4), np.eye(4)
    up[:3, 3], along[:3, 3] = (0.0, 0.0, 0.1), (0.12, 0.0, 0.0)
    finger = [
        Joint("yaw", "revolute", np.eye(4), (0, 0, 1), up),
        Joint("root", "revolute", np.eye(4), (0, 1, 0), along),
    ]
    finger += [Joint("middle", "revolute", np.eye(4), (0, 1, 0), along)]
    finger += [Joint("tip", "revolute", np.eye(4), (0, 1, 0), along, mimic=Mimic("middle", 0.7, 0.2))]
    rows = [(0, 0, 0, 0), (math.pi / 2, 0.1, 0, 0), (0, 0.2, 0, 0), (0, 0.15, 0, 0)]
    for chain in (SerialChain(finger, name="finger"), SerialChain.from_dh(rows)):
        q = rng.uniform(-3.0, 3.0, (few(1000), chain.n))
        points = np.array([chain.fk(row)[:3, 3] for row in q])
        answer = inverse_batch(chain, points, limits=False)
        assert answer.converged.all()
        assert np.linalg.norm([chain.fk(row)[:3, 3] - p for row, p in zip(answer.q, points)], axis=1).max() <= 1e-6


@scalar_kernel
def marked(w, row, out):
    """Write the lanes with an event into out; return how many there are."""
    count, mask = 0, nonzero(w, row)
    while mask != 0:
        out[count] = lowest(mask)
        mask = without_lowest(mask)
        count += 1
    return count


def test_marks_name_every_lane_with_an_event_once(rng):
    for chance in (0.0, 0.1, 1.0):
        row = np.where(rng.random(80) < chance, rng.choice([1.0, 2.0, -1.0, math.nan], 80), 0.0)
        lanes_found = np.full(64, -1)
        count = marked(row, 8, lanes_found)
        assert list(lanes_found[:count]) == list(np.flatnonzero(row[8:72]))


def test_batch_frees_rows_marked_nan(leg, rng):
    _, points = random_feet(leg, rng, few(210), 1.0)
    free = np.array([[bool(mask & 1 << k) for k in range(3)] for mask in rng.integers(0, 8, len(points))])
    answer = inverse_batch(leg, np.where(free, math.nan, points), HOME, limits=False)
    assert answer.converged.all()
    reached = np.array([leg.fk(row)[:3, 3] for row in answer.q])
    assert np.abs(np.where(free, 0.0, reached - points)).max() <= 1e-6
    assert (answer.iterations[free.all(axis=1)] == 0).all()


def test_batch_answers_out_of_reach_with_the_nearest_point(leg):
    answer = inverse_batch(leg, [[2.0, 0.0, -0.05325], [0.3, 0.0, -0.1]], HOME, limits=False)
    assert list(answer.converged) == [False, True]
    # 0.066 + 0.12 + 0.038 ... stretched: the distance of the full stretch is the least that any pose has
    assert answer.distance[0] == pytest.approx(
        min(2.0 - np.hypot(0.346, 0.02425) - 0.066, answer.distance[0]), abs=1e-3
    )


@pytest.mark.skipif(INTERPRETED, reason="the compiler is switched off")
def test_one_kernel_serves_read_only_arrays_and_single_targets(leg):
    targets = np.array([leg.fk(HOME)[:3, 3]] * 3)
    targets.setflags(write=False)
    inverse_batch(leg, targets, HOME, limits=False)
    inverse_batch(leg, targets[:1], HOME, limits=False)
    inverse_batch(leg, targets.copy(), [HOME] * 3, limits=False)
    kernel, _ = batch._kernel(leg.compile(), "lanes", False)
    assert len(kernel.signatures) == 1


def test_batch_along_trajectories_starts_from_the_point_before(leg):
    phase = np.linspace(0.0, 2.0 * math.pi, 12 if INTERPRETED else 200)
    one = leg.fk(HOME)[:3, 3] + 0.03 * np.column_stack([np.sin(phase), 0.0 * phase, 1.0 - np.cos(phase)])
    tracks = np.array([one + [0.0, 0.002 * k, 0.0] for k in range(3 if INTERPRETED else 70)])
    answer = inverse_batch(leg, tracks, HOME, threads=2, limits=False)
    assert answer.q.shape == (*tracks.shape[:2], 4) and answer.converged.all()
    assert answer.iterations[:, 1:].mean() < 0.6 * answer.iterations.mean() + 2.0
    if not INTERPRETED:
        assert np.abs(np.diff(answer.q, axis=1)).max() < 0.05  # warm starts: no jump to another branch
    alone = inverse_batch(leg, tracks[1:2], HOME, threads=1, limits=False)
    np.testing.assert_array_equal(alone.q[0], answer.q[1])


@pytest.mark.parametrize("limits", [False, True])
def test_batch_of_poses(rng, limits):
    arm = dh_chain(UR5, "ur5")
    q = rng.uniform(-2.5, 2.5, (few(200), 6))
    poses = np.array([arm.fk(row) for row in q])
    if not INTERPRETED:
        poses[0, :3, :3] = math.nan
        poses[1, 2, 3] = math.nan
    answer = inverse_batch(arm, poses, limits=limits)
    assert answer.converged.all()
    for i, row in enumerate(answer.q):
        T = arm.fk(row)
        known = np.isfinite(poses[i, :3])
        assert np.abs(np.where(known, T[:3] - poses[i, :3], 0.0)).max() < 2e-6
    assert answer.distance.max() <= 1e-6 and answer.angle.max() <= 1.01e-6
    single = inverse_batch(arm, poses, limits=limits, threads=1)
    np.testing.assert_array_equal(single.q, answer.q)


def test_batch_of_a_chain_with_a_slide(rng):
    chain = SerialChain.from_dh(
        [(0.3, 0.1, 0, 0), (math.pi / 2, 0, 0.4, 0, "prismatic"), (0, 0.2, 0, 0), (0, 0.1, 0.2, 0)]
    )
    q = rng.uniform(-1.0, 1.0, (few(300), 4))
    points = np.array([chain.fk(row)[:3, 3] for row in q])
    answer = inverse_batch(chain, points, limits=False)
    assert answer.converged.all()
    assert np.abs(np.array([chain.fk(row)[:3, 3] for row in answer.q]) - points).max() <= 1e-6


def test_batch_refuses_bad_input(leg):
    for bad in (np.zeros(3), np.zeros((2, 4)), np.zeros((2, 2, 2, 3)), "nonsense", [[math.inf, 0.0, 0.0]]):
        with pytest.raises(ShapeError, match="targets"):
            inverse_batch(leg, bad)
    for seeds in (np.zeros(3), np.zeros((3, 4)), [math.nan] * 4, "nonsense"):
        with pytest.raises(ShapeError, match="seeds"):
            inverse_batch(leg, np.zeros((2, 3)), seeds)
    with pytest.raises(InvalidConfigError, match="limits is 'no'; expected True or False"):
        inverse_batch(leg, np.zeros((2, 3)), limits="no")
    with pytest.raises(InvalidConfigError, match="threads"):
        inverse_batch(leg, np.zeros((2, 3)), threads=-1)
    empty = inverse_batch(leg, np.empty((0, 3)))
    assert empty.q.shape == (0, 4) and empty.success == 1.0


# ------------------------------------------------------------------------------------------------ threads
@pytest.mark.parametrize("total", [1, 7, 1024, 5000, 40_000])
def test_every_item_is_done_once(total):
    done, workers = np.zeros(total, dtype=int), set()

    def task(first, last, worker):
        assert first % 64 == 0
        workers.add(worker)
        done[first:last] += 1

    run_parts(total, 4, task, 64)
    assert (done == 1).all() and workers <= {0, 1, 2, 3}


def test_what_a_task_raised_is_raised_and_work_goes_on():
    def task(first, last, worker):
        raise ValueError(f"at {first}")

    with pytest.raises(ValueError, match="at "):
        run_parts(10_000, 3, task, 64)
    test_every_item_is_done_once(5000)


@pytest.mark.parametrize(
    ("shape", "smallest"), [((50,), 2048), ((40, 2), 1024), ((3, 100), 64), ((2, 3000), 64)], ids=str
)
def test_no_thread_is_woken_for_less_than_waking_it_costs(leg, monkeypatch, shape, smallest):
    """Parts of 2048 positions at least, and of 64 trajectories: fewer would leave lanes without work."""
    parts = []

    def run_and_report(total, threads, task, smallest):
        parts.append(smallest)
        run_parts(total, threads, task, smallest)

    monkeypatch.setattr(batch, "run_parts", run_and_report)
    targets = np.broadcast_to(leg.fk(HOME)[:3, 3] + [0.01, 0.0, 0.0], (*shape, 3))
    answer = inverse_batch(
        leg, targets[:, :2] if INTERPRETED and len(shape) == 2 else targets, HOME, threads=2, limits=False
    )
    assert answer.converged.all()
    assert INTERPRETED or parts == [smallest]


def test_batches_of_several_threads_at_once(leg, rng):
    _, points = random_feet(leg, rng, few(5000))
    expected = inverse_batch(leg, points, HOME, threads=1, limits=False).q
    answers = {}

    def solve(name):
        answers[name] = inverse_batch(leg, points, HOME, threads=2, limits=False).q

    threads = [threading.Thread(target=solve, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers.values():
        np.testing.assert_array_equal(answer, expected)
    assert len(answers) == 4
    assert batch.inverse_batch is inverse_batch


def test_a_compiled_chain_lists_its_kernels(leg):
    assert {"fk", "jacobian", "ik", "ik_pose", "clik"} <= set(dir(leg.compile() if hasattr(leg, "compile") else leg))


def test_a_chain_is_never_answered_by_the_kernel_of_one_that_is_gone():
    """A new object may get the address of an old one."""
    arms = [SerialChain.from_dh([(0.0, length, 0.0, 0.0)] * 2, name="arm") for length in (0.3, 0.4)]
    target = np.array([[0.35, 0.1, 0.0]])
    for _ in range(3):
        for arm in arms:
            compiled = CompiledChain(arm, KernelOptions())
            found = inverse_batch(compiled, target, limits=False)
            assert found.converged.all()
            np.testing.assert_allclose(arm.fk(found.q[0])[:3, 3], target[0], atol=1e-5)
            del compiled


def test_chains_of_other_names_are_other_chains_and_old_ones_are_forgotten(monkeypatch):
    rows = [(0.0, 0.3, 0.0, 0.0)] * 2
    a, b = (SerialChain.from_dh(rows, [f"{name}0", f"{name}1"], name) for name in "ab")
    assert a.compile() is a.compile()
    assert a.compile().chain.joint_names == ("a0", "a1") and b.compile().chain.joint_names == ("b0", "b1")
    monkeypatch.setattr(compiled_chain, "_MOST_CHAINS", 3)
    monkeypatch.setattr(compiled_chain, "_chains", OrderedDict())
    kept = a.compile()
    for length in (0.1, 0.2, 0.3):
        SerialChain.from_dh([(0.0, length, 0.0, 0.0)], name="other").compile()
        assert a.compile() is kept, "the one in use stays"
    assert len(compiled_chain._chains) == 3


def test_an_answer_prints_on_one_line(leg):
    found = inverse_batch(leg, np.full((50, 3), 9.0), HOME, limits=False)
    assert repr(found).startswith("BatchResult(50 targets, 0 reached, worst ") and "\n" not in repr(found)
