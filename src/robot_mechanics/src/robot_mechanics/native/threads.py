# SPDX-License-Identifier: MIT
"""Sharing the work of a batch between threads.

Kernels that release the interpreter's lock need no threading layer of numba: plain threads share them, compile nothing
more, survive a fork and may be used from several threads at once.

Tasks of Python (`run_parts`) are handed out part by part by the interpreter, some 10 us each, and wake a sleeping
thread, some 50 us. Jobs of C functions (`helpers`, `call`) do without both where batches follow each other closely: a
helper that has done its share of such a job looks out for the next for SPIN seconds before it goes to sleep.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from contextlib import nullcontext
from typing import Callable, ContextManager, List, Optional

import numpy as np

from robot_mechanics.errors import InvalidConfigError
from robot_mechanics.native import shared_job

SPIN = 100e-6
"""Seconds of a core that each helper spends at most, after a batch shared as a C function, in looking out for the next.

0 lets it sleep at once: every batch then waits about 50 us until its helpers are awake. It never spins where a batch
asks for more threads than there are cores for this process.
"""

# (first, last, worker): do items first .. last; no two calls with the same worker run at once
Task = Callable[[int, int, int], None]
_PARTS = 2  # a thread takes 1/_PARTS of its share of what is left, then less and less: all end together
_LEAST = 16  # of its share of the whole, for claiming a part costs some microseconds
_MOST = 64  # workers that can share a C function
_LEAVING = 0.01  # s that the end of the process waits for helpers to leave compiled code


def count_of(threads: Optional[int]) -> int:
    """Return the number of threads asked for; None means every core that this process may use.

    Parameters
    ----------
    threads : int, optional
        1 or more.

    Raises
    ------
    InvalidConfigError
        If it is no whole number of 1 or more.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidConfigError(f"threads is {threads!r}; expected a whole number of 1 or more, or None for all cores")
    return threads


def run_parts(total: int, threads: int, task: Task, smallest: int = 1024) -> None:
    """Call task(first, last, worker) on up to `threads` threads, this one included, until 0 .. total is done.

    Parts get smaller towards the end, so that no thread waits long for another; none is smaller than `smallest`, at
    whose multiples all parts begin. Workers are numbered from 0. Where another thread of Python already shares a batch,
    this one does its own alone.

    Parameters
    ----------
    total : int
        How many items there are.
    threads : int
        As from `count_of`.
    task : callable
        Of the first item, the one behind the last, and the worker's number.
    smallest : int
        Items of a part at least.

    Raises
    ------
    Exception
        Whatever a task raised first.
    """
    others = min(threads, -(-total // smallest)) - 1
    if others < 1 or _in_use.locked():
        task(0, total, 0)
        return
    with _in_use:
        least = -(-total // ((others + 1) * _LEAST * smallest)) * smallest
        queue = _Queue(total, others + 1, task, least)
        try:
            for helper in _first(others):
                helper.start_on(queue)
            queue.work(0)
            queue.close()
        except BaseException as error:
            queue.errors.append(error)  # the others stop
            raise
        if queue.errors:
            raise queue.errors[0]


def worker_count(threads: Optional[int], parts: int) -> int:
    """Return how many workers, who calls included, share a job of `parts` parts as a C function; threads as asked for.

    Parameters
    ----------
    threads : int, optional
        As of `count_of`.
    parts : int
        Of the job, 0 or more.

    Raises
    ------
    InvalidConfigError
        If threads is no whole number of 1 or more.
    """
    return max(1, min(count_of(threads), parts, _MOST))


def helpers(workers: int) -> ContextManager[Optional[bool]]:
    """Return the context in which `call` may be used: its value is true, or None where no thread can help.

    That is with one worker, where another thread of Python shares a batch, and where kernels are interpreted.

    Parameters
    ----------
    workers : int
        From `worker_count`.
    """
    return _in_use if shared_job.NATIVE and 1 < workers <= _MOST and not _in_use.locked() else _unlocked


def call(workers: int) -> np.ndarray:
    """Wake workers - 1 helpers, or find them awake; return the words by which `shared_job.lead` gives them a job.

    Parameters
    ----------
    workers : int
        From `worker_count`.
    """
    global _words
    if _words is None:
        _words = shared_job.new_words(_MOST)
        atexit.register(_leave, _words)
    _words[shared_job.SPIN_NS] = 1e9 * SPIN if workers <= count_of(None) else 0.0
    for helper in _first(workers - 1):
        helper.attend(_words)
    return _words


class _Queue:
    """What is left of one batch."""

    def __init__(self, total: int, workers: int, task: Task, smallest: int) -> None:
        self._left, self._total, self._workers, self._task, self._smallest = 0, total, workers, task, smallest
        self._changes = threading.Condition(threading.Lock())
        self._active, self._closed = 0, False
        self.errors: List[BaseException] = []

    def help(self, worker: int) -> None:
        """Do part after part until none is left, unless the queue is closed already."""
        with self._changes:
            if self._closed:
                return
            self._active += 1
        self.work(worker)
        with self._changes:
            self._active -= 1
            self._changes.notify()

    def work(self, worker: int) -> None:
        """Do part after part until none is left or a task has failed."""
        while True:
            with self._changes:
                first = self._left
                part = (self._total - first) // (self._workers * _PARTS) // self._smallest * self._smallest
                last = self._left = min(first + max(part, self._smallest), self._total)
            if first >= self._total or self.errors:
                return
            try:
                self._task(first, last, worker)
            except BaseException as error:  # noqa: BLE001 - raised in the thread that called run_parts()
                self.errors.append(error)
                return

    def close(self) -> None:
        """Wait for those who help; who comes later is too late."""
        with self._changes:
            self._closed = True
            while self._active:
                self._changes.wait()


class _Helper:
    """A thread that sleeps until it is given a queue, or asked to attend to jobs."""

    def __init__(self, worker: int) -> None:
        self._worker, self._state = worker, shared_job.state_of(worker)
        self._queue: Optional[_Queue] = None
        self._words: Optional[np.ndarray] = None
        self._wake = threading.Lock()  # free: there is something to do
        self._wake.acquire()
        threading.Thread(target=self._run, name=f"robot-mechanics-batch-{worker}", daemon=True).start()

    def start_on(self, queue: _Queue) -> None:
        """Wake the thread for a queue; it may come too late."""
        if self._words is not None and self._words[self._state]:
            self._words[self._state] = 2
        self._queue = queue
        self._rouse()

    def attend(self, words: np.ndarray) -> None:
        """Wake the thread for a job of a C function, unless it is looking out for one already."""
        self._words = words
        if not words[self._state]:
            self._rouse()

    def _rouse(self) -> None:
        if self._wake.locked():  # only who holds _in_use lets it free, so it stays locked
            self._wake.release()

    def _run(self) -> None:
        while True:
            self._wake.acquire()
            queue, self._queue = self._queue, None
            if queue is not None:
                if self._words is not None:
                    self._words[self._state] = 0  # where start_on asked it to leave when it just had
                queue.help(self._worker)
                queue = None  # nothing of a batch that is over may be kept
            elif self._words is not None:
                shared_job.attend(self._words, self._worker)


_helpers: List[_Helper] = []
_in_use = threading.Lock()  # its own `with`: no interrupt comes between taking it and being sure to let it go
_unlocked: ContextManager[None] = nullcontext()
_words: Optional[np.ndarray] = None


def _first(count: int) -> List[_Helper]:
    while len(_helpers) < count:
        _helpers.append(_Helper(len(_helpers) + 1))
    return _helpers[:count]


def _leave(words: np.ndarray) -> None:
    """Before the interpreter takes its modules down: no helper may be in their compiled code."""
    states = words[shared_job.STATE :: shared_job.state_of(1) - shared_job.STATE]
    end = time.monotonic() + _LEAVING
    while states.any() and time.monotonic() < end:
        states[states != 0] = 2
        time.sleep(50e-6)


def _forget() -> None:
    """Start anew in a forked child, which has none of its parent's threads."""
    global _in_use, _words
    _helpers.clear()
    _in_use, _words = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
