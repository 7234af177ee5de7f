# SPDX-License-Identifier: MIT
"""What this machine can do at most with 64-bit numbers: multiply-add, divide, square root, copy; two cores of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict

import numba
import numpy as np
from worker import Case

from robot_mechanics.native.lanes import get, put

STREAMS, STEPS = 10, 24  # independent sums side by side: more than latency times units; multiply-adds on each
ROW = 256  # floats: all streams together stay in the first cache


def _kernel(body: str) -> Any:
    """Return kernel(w, times) that does `body` for ROW lanes; it vectorises as the library's lanes do."""
    scope: Dict[str, Any] = {"get": get, "put": put, "np": np}
    exec(f"def work(w, n):\n    for i in range(n):\n{body}", scope)  # noqa: S102 - our own text
    work = numba.njit(fastmath={"contract"}, error_model="numpy")(scope["work"])

    @numba.njit(nogil=True)
    def repeat(w: np.ndarray, n: int, times: int) -> None:
        for _ in range(times):
            work(w, n)

    return repeat


def _lines(*lines: str) -> str:
    return "".join(f"        {line}\n" for line in lines)


def _on_two(work: Callable[[int, int], Any]) -> Callable[[int], None]:
    """Return run(k) that does work(worker, k) for workers 0 and 1 at once."""
    pool = ThreadPoolExecutor(2)

    def run(k: int) -> None:
        for done in [pool.submit(work, worker, k) for worker in (0, 1)]:
            done.result()

    return run


def cases() -> Dict[str, Case]:
    """Return us a floating-point operation, a division, a square root, and a byte copied, each on one core."""
    sums = [f"y{s} = get(w, {s * ROW}, i)" for s in range(STREAMS)]
    sums += [f"y{s} = y{s}*0.999 + 0.001" for _ in range(STEPS) for s in range(STREAMS)]
    sums += [f"put(w, {s * ROW}, i, y{s})" for s in range(STREAMS)]
    multiply_add = _kernel(_lines(*sums))
    divide = _kernel(_lines(f"put(w, {ROW}, i, 1.5 / get(w, 0, i))"))
    root = _kernel(_lines(f"put(w, {ROW}, i, np.sqrt(get(w, 0, i)))"))
    w = np.linspace(1.0, 2.0, STREAMS * ROW)
    big, copy = np.ones(1 << 18), np.empty(1 << 18)  # 4 MB together: the batch's arrays of 100,000 targets

    def copies(k: int) -> None:
        for _ in range(k):
            np.copyto(copy, big)

    own, halves = [w.copy(), w.copy()], [np.array_split(a, 2) for a in (copy, big)]

    def copies_of_half(worker: int, k: int) -> None:
        for _ in range(k):
            np.copyto(halves[0][worker], halves[1][worker])

    for kernel in (multiply_add, divide, root):
        kernel(w, ROW, 1)
    flops, moved = 2.0 * ROW * STEPS * STREAMS, 2.0 * 8 * (1 << 18)
    return {
        "peak_flop": Case(lambda k: multiply_add(w, ROW, k), each=flops),
        "peak_flop_1_wall": Case(lambda k: multiply_add(w, ROW, k), each=flops, wall=True),
        "peak_flop_2": Case(_on_two(lambda i, k: multiply_add(own[i], ROW, k)), each=2.0 * flops, wall=True),
        "divide": Case(lambda k: divide(w, ROW, k), each=float(ROW)),
        "root": Case(lambda k: root(w, ROW, k), each=float(ROW)),
        "byte_copied": Case(copies, each=moved),
        "byte_copied_1_wall": Case(copies, each=moved, wall=True),
        "byte_copied_2": Case(_on_two(copies_of_half), each=moved, wall=True),
    }
