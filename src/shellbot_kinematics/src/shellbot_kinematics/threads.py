# SPDX-License-Identifier: MIT
"""Sharing the work of a batch between threads.

Kernels that release the interpreter's lock need no threading layer of numba: plain threads share them, compile nothing
more, survive a fork and may be used from several threads at once.
"""

from __future__ import annotations

import os
import threading
from typing import Callable, List, Optional

from shellbot_kinematics.errors import InvalidConfigError

# (first, last, worker): do items first .. last; no two calls with the same worker run at once
Task = Callable[[int, int, int], None]
_PARTS = 2  # a thread takes 1/_PARTS of its share of what is left, then less and less: all end together
_LEAST = 16  # of its share of the whole, for claiming a part costs some microseconds


def count_of(threads: Optional[int]) -> int:
    """Return the number of threads asked for; None means every core that this process may use.

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


def share(total: int, threads: int, task: Task, smallest: int = 1024) -> None:
    """Call task(first, last, worker) on up to `threads` threads, this one included, until 0 .. total is done.

    Parts get smaller towards the end, so that no thread waits long for another; none is smaller than `smallest`, at
    whose multiples all parts begin. Workers are numbered from 0. Where another thread of Python already shares a batch,
    this one does its own alone.

    Raises
    ------
    Exception
        Whatever a task raised first.
    """
    helpers = min(threads, -(-total // smallest)) - 1
    if helpers < 1 or not _in_use.acquire(blocking=False):
        task(0, total, 0)
        return
    try:
        least = -(-total // ((helpers + 1) * _LEAST * smallest)) * smallest
        queue = _Queue(total, helpers + 1, task, least)
        while len(_helpers) < helpers:
            _helpers.append(_Helper(len(_helpers) + 1))
        for helper in _helpers[:helpers]:
            helper.start_on(queue)
        queue.work(0)
        for helper in _helpers[:helpers]:
            helper.idle.acquire()
            helper.idle.release()
        if queue.errors:
            raise queue.errors[0]
    finally:
        _in_use.release()


class _Queue:
    """What is left of one batch."""

    def __init__(self, total: int, workers: int, task: Task, smallest: int) -> None:
        self._left, self._total, self._workers, self._task, self._smallest = 0, total, workers, task, smallest
        self._lock = threading.Lock()
        self.errors: List[BaseException] = []

    def work(self, worker: int) -> None:
        """Do part after part until none is left."""
        while True:
            with self._lock:
                first = self._left
                part = (self._total - first) // (self._workers * _PARTS) // self._smallest * self._smallest
                last = self._left = min(first + max(part, self._smallest), self._total)
            if first >= self._total or self.errors:
                return
            try:
                self._task(first, last, worker)
            except BaseException as error:  # noqa: BLE001 - told to the thread that called share()
                self.errors.append(error)
                return


class _Helper:
    """A thread that sleeps until it is given a queue."""

    def __init__(self, worker: int) -> None:
        self._worker = worker
        self._queue: Optional[_Queue] = None
        self._wake = threading.Lock()
        self._wake.acquire()
        self.idle = threading.Lock()
        threading.Thread(target=self._run, name=f"shellbot-batch-{worker}", daemon=True).start()

    def start_on(self, queue: _Queue) -> None:
        """Wake the thread; `idle` is held until it has done its share."""
        self.idle.acquire()
        self._queue = queue
        self._wake.release()

    def _run(self) -> None:
        while True:
            self._wake.acquire()
            queue, self._queue = self._queue, None
            if queue is not None:
                queue.work(self._worker)
            self.idle.release()


_helpers: List[_Helper] = []
_in_use = threading.Lock()


def _forget() -> None:
    """Start anew in a forked child, which has none of its parent's threads."""
    global _in_use
    _helpers.clear()
    _in_use = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
