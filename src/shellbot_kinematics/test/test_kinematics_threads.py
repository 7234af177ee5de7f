# SPDX-License-Identifier: MIT
"""Threads that share batches: tasks of Python and jobs of C functions, in turns, interrupted, forked, at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import nullcontext

import numba
import numpy as np
import pytest

from robot_mechanics.errors import ShapeError
from robot_mechanics.native import shared_job, threads
from robot_mechanics.native.jit import c_kernel
from shellbot_common.testing import PATIENCE, wait_until
from shellbot_kinematics import FootBatch, Frame, LegBranch, foot_batch, foot_batch_free_fan

INTERPRETED = numba.config.DISABLE_JIT
job = pytest.mark.skipif(not shared_job.NATIVE, reason="the compiler is switched off")
TARGET = np.array([0.27, 0.0, -0.15])


def targets(count):
    """Points about a foot's place, by coordinate; all can be met."""
    spread = np.random.default_rng(7).uniform(-0.02, 0.02, (3, count))
    return np.ascontiguousarray(TARGET[:, None] + spread)


def _count(block, first, last, worker):
    array = numba.carray(shared_job.words_at(block), last)
    x = first
    if worker > 0 and last - first == 1:  # a slow helper
        for _ in range(20_000):
            x = (x * 25214903917 + 11) & 281474976710655
    for i in range(first, last):
        array[i] += 1000 + worker + (1000 if x == -1 else 0)


@pytest.fixture(scope="module")
def counting():
    """Address of a C function that adds 1000 + worker to its items."""
    made = c_kernel(_count, "void(int64, int64, int64, int64)")
    yield made.address  # which is good as long as `made` is there
    del made


def counted(address, total, workers, part):
    """Do a job and return how often each item was done, and by whom last."""
    items = np.zeros(max(total, 1), dtype=np.int64)
    with threads.helpers(workers) as held:
        assert held
        shared_job.lead(threads.call(workers), address, items.ctypes.data, total, part, workers)
    return items[:total] // 1000, items[:total] % 1000


# ------------------------------------------------------------------------------------------------ jobs
@job
@pytest.mark.parametrize("spin", [0.0, 100e-6])
@pytest.mark.parametrize("workers", [2, 3, 7])
def test_a_job_does_every_item_once(monkeypatch, counting, workers, spin):
    monkeypatch.setattr(threads, "SPIN", spin)
    for total in (0, 1, 5, 64, 65, 1000, 20_011):
        for part in (1, 64, 1024):
            for _ in range(3):
                times, _ = counted(counting, total, workers, part)
                assert (times == 1).all()


@job
def test_a_thousand_jobs_in_a_row_are_shared(counting):
    seen = set()
    for number in range(1000):
        times, by = counted(counting, 500 + number % 7, 2, 16)
        assert (times == 1).all()
        seen |= set(by.tolist())
    assert seen <= {0, 1}


@job
def test_slow_helpers_are_waited_for(counting):
    end, seen = time.monotonic() + PATIENCE, 0
    while seen < 20:
        assert time.monotonic() < end
        times, by = counted(counting, 40, 2, 1)
        assert (times == 1).all()
        seen += bool((by == 1).any())


def test_slow_helpers_are_waited_for_in_tasks_of_python():
    end, seen = time.monotonic() + PATIENCE, 0
    while seen < 5:
        assert time.monotonic() < end
        done = np.zeros(64, dtype=int)

        def task(first, last, worker, done=done):
            for _ in range(300 * worker):
                os.sched_yield()
            done[first:last] = 1 + worker

        threads.run_parts(64, 2, task, 1)
        assert done.all()
        seen += bool((done == 2).any())


@job
def test_helpers_take_part(counting):
    end = time.monotonic() + PATIENCE
    shares = []
    while not any(0.2 < share < 0.8 for share in shares):
        assert time.monotonic() < end, f"the helper did {shares[-5:]} of the last jobs"
        shares.append(np.mean(counted(counting, 20_000, 2, 256)[1]))


@job
def test_helpers_look_out_for_a_while_and_then_sleep(monkeypatch, counting):
    state = shared_job.state_of(1)
    for spin, workers in ((100e-6, 2), (0.0, 2), (100e-6, len(os.sched_getaffinity(0)) + 1)):
        monkeypatch.setattr(threads, "SPIN", spin)
        counted(counting, 5000, workers, 64)
        words = threads._words
        # never where threads would spin against each other for a core
        allowed = spin if workers <= threads.count_of(None) else 0.0
        assert words[shared_job.SPIN_NS] == pytest.approx(1e9 * allowed)
        wait_until(lambda words=words: words[state] == 0)


@job
def test_jobs_and_tasks_of_python_in_turns(counting):
    for _ in range(200):
        done = np.zeros(4000, dtype=int)

        def task(first, last, worker, done=done):
            done[first:last] += 1

        threads.run_parts(4000, 2, task, 64)
        assert (done == 1).all()
        assert (counted(counting, 3000, 2, 64)[0] == 1).all()
    end = time.monotonic() + PATIENCE
    while not (counted(counting, 20_000, 2, 64)[1] == 1).any():  # the helper still comes
        assert time.monotonic() < end


def test_helpers_keep_nothing_of_a_batch_that_is_over():
    helped = threading.Event()

    class Task:
        def __call__(self, first, last, worker):
            if worker > 0:
                helped.set()
            else:
                helped.wait(PATIENCE)

    task = Task()
    threads.run_parts(64, 2, task, 1)
    assert helped.is_set()
    watched = weakref.ref(task)
    del task
    wait_until(lambda: watched() is None)


def test_nobody_helps_twice():
    with threads.helpers(2) as held:
        assert held or not shared_job.NATIVE
        with threads.helpers(2) as again:
            assert again is None
    with threads.helpers(1) as alone:
        assert alone is None


@job
@pytest.mark.parametrize("solve", [foot_batch, foot_batch_free_fan])
def test_batches_on_more_cores_than_a_job_has_workers_are_shared_all_the_same(monkeypatch, model, solve):
    asked = []

    def nobody(workers):
        asked.append(workers)
        return nullcontext()

    monkeypatch.setattr(sys.modules[solve.__module__], "helpers", nobody)
    points = np.repeat(TARGET[:, None], 65 * 1024, axis=1)
    assert solve(model, "lower_1", points, threads=96).converged.all()
    with threads.helpers(asked[0]) as held:
        assert held and asked[0] > 1


# ------------------------------------------------------------------------------------------------ batches
def test_batches_of_many_sizes_equal_those_of_one_thread(model):
    points = targets(300 if INTERPRETED else 20_000)
    for count in (1, 255, 256, 257, 1024, 1025, 2047, 2049, 4097, 20_000):
        given = np.ascontiguousarray(points[:, :count])
        for options in ({}, {"branch": "nearest"}, {"fan": np.linspace(-0.2, 0.0, given.shape[1])}):
            alone = foot_batch(model, "lower_1", given, threads=1, **options)
            assert alone.converged.all()
            for layout in (given, np.ascontiguousarray(given.T)):
                shared = foot_batch(model, "lower_1", layout, threads=2, **options)
                np.testing.assert_array_equal(shared.q if layout is given else shared.q.T, alone.q)
                np.testing.assert_array_equal(shared.converged, alone.converged)


@pytest.mark.parametrize("options", [{}, {"branch": "nearest"}, {"fan": "each"}, {"branch": LegBranch.INSIDE_KNEE_UP}])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_that_are_not_finite_are_found_wherever_they_are(model, options, bad):
    count = 40 if INTERPRETED else 3000
    options = {**options, "fan": np.zeros(count)} if "fan" in options else options
    for column, at in ((0, 0), (1, count // 2), (2, count - 1)):
        points = targets(count)
        points[column, at] = bad
        for given in (points, np.ascontiguousarray(points.T)):
            for workers in (1, 2):
                with pytest.raises(ShapeError, match="finite"):
                    foot_batch(model, "lower_1", given, threads=workers, **options)
    points = targets(count)
    points[:, 1] = 1e200, -1e200, 1e200  # finite, if far
    assert not foot_batch(model, "lower_1", points, **options).converged[1]


def test_an_answer_to_be_filled_must_fit(model):
    points = targets(4)
    q, reached = np.empty((3, 4)), np.empty(4, dtype=bool)
    for wrong in (
        FootBatch(np.empty((3, 5)), reached),
        FootBatch(q.astype(np.float32), reached),
        FootBatch(q, reached.astype(int)),
        FootBatch(np.empty((4, 3)).T, reached),
        FootBatch(q, np.empty(8, dtype=bool)[::2]),
    ):
        with pytest.raises(ShapeError, match="out"):
            foot_batch(model, "lower_1", points, out=wrong)


def test_threads_at_once_each_get_their_own_answers(model):
    count = 300 if INTERPRETED else 30_000
    given = [targets(count) + 0.001 * k for k in range(4)]
    expected = [foot_batch(model, "lower_1", points, threads=1).q for points in given]
    wrong = []

    def work(k):
        out = FootBatch(np.empty_like(given[k]), np.empty(count, dtype=bool))
        for _ in range(2 if INTERPRETED else 30):
            if not np.array_equal(foot_batch(model, "lower_1", given[k], threads=2, out=out).q, expected[k]):
                wrong.append(k)

    together = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    assert not wrong


# ------------------------------------------------------------------------------------------------ interrupts
def test_a_task_that_fails_leaves_the_threads_usable(model):
    for _ in range(20):
        with pytest.raises(ZeroDivisionError):
            threads.run_parts(4096, 2, lambda first, last, worker: 1 // 0, 64)
        with pytest.raises(ShapeError):
            foot_batch(model, "lower_1", targets(2048), threads=2, branch="nearest", seeds=np.zeros(2))
    assert not threads._in_use.locked()
    assert foot_batch(model, "lower_1", targets(300 if INTERPRETED else 5000), threads=2).converged.all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer of the system")
def test_ctrl_c_ends_a_batch_and_the_next_is_shared_again(model):
    class Stopped(Exception):
        pass

    def stop(*_):
        raise Stopped

    count = 200 if INTERPRETED else 50_000
    points = targets(count)
    expected = foot_batch(model, "lower_1", points, threads=1)
    rows = np.zeros(1000, dtype=int)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for number in range(5 if INTERPRETED else 60):
            with pytest.raises(Stopped):
                signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.0001 * number)
                while True:
                    foot_batch(model, "lower_1", points, threads=2)
                    threads.run_parts(1000, 2, lambda first, last, worker: rows[first:last].sum(), 16)
            assert not threads._in_use.locked()
            np.testing.assert_array_equal(foot_batch(model, "lower_1", points, threads=2).q, expected.q)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # what is tested
def test_a_forked_child_shares_batches_too(model):
    count = 200 if INTERPRETED else 20_000
    points = targets(count)
    expected = foot_batch(model, "lower_1", points, threads=2)
    for _ in range(5):
        foot_batch(model, "lower_1", points, threads=2)  # helpers look out while the process forks
        child = os.fork()
        if child == 0:
            status = 1
            try:
                rows = np.zeros(1000, dtype=int)
                threads.run_parts(1000, 2, lambda first, last, _, rows=rows: rows[first:last].fill(1), 16)
                found = [foot_batch(model, "lower_1", points, threads=2).q for _ in range(20)]
                status = 0 if rows.all() and all(np.array_equal(q, expected.q) for q in found) else 2
                if len(threads._helpers) != 1 or threading.active_count() != 2:
                    status = 3  # those of the parent are not here
            finally:
                os._exit(status)
        end = time.monotonic() + PATIENCE
        ended = (0, 0)
        while ended == (0, 0):
            ended = os.waitpid(child, os.WNOHANG)
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.001)
        assert ended[1] == 0, f"the child ended with status {ended[1]}"
        np.testing.assert_array_equal(foot_batch(model, "lower_1", points, threads=2).q, expected.q)


@job
def test_a_process_may_end_right_after_a_batch(urdf, tmp_path):
    (tmp_path / "robot.urdf").write_text(urdf)
    program = (
        "import numpy as np\n"
        "from robot_mechanics.native import threads\n"
        "from shellbot_kinematics import ShellbotModel, foot_batch\n"
        "threads.SPIN = 0.5\n"
        f"model = ShellbotModel(open({str(tmp_path / 'robot.urdf')!r}).read())\n"
        "points = np.tile([[0.27], [0.0], [-0.15]], (1, 20000))\n"
        "for _ in range(5): found = foot_batch(model, 'lower_1', points, threads=2)\n"
        "print(found)\n"
    )
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", program], capture_output=True, text=True, timeout=600
        )
        assert ended.returncode == 0, ended.stderr
        assert "Fatal" not in ended.stderr
        assert ended.stdout == "FootBatch(20000 targets, 20000 reached)\n"


def test_frames_of_the_tip_share_too(model):
    points = targets(300 if INTERPRETED else 5000)
    alone = foot_batch(model, "lower_1", points, frame=Frame.SPHERE_CENTRE, threads=1)
    np.testing.assert_array_equal(foot_batch(model, "lower_1", points, frame=Frame.SPHERE_CENTRE, threads=2).q, alone.q)
