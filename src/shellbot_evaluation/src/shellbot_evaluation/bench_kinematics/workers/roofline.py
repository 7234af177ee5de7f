# SPDX-License-Identifier: MIT
"""What one core of this machine can do at most with 64-bit numbers: multiply-add, divide, square root, copy."""

from __future__ import annotations

from typing import Any, Dict

import numba
import numpy as np
from worker import Case

from shellbot_kinematics._lanes import get, put

STREAMS, STEPS = 10, 24  # independent sums side by side: more than latency times units; multiply-adds on each
ROW = 256  # floats: all streams together stay in the first cache


def _kernel(body: str) -> Any:
    """Return kernel(w, times) that does `body` for ROW lanes; it vectorises as the library's lanes do."""
    scope: Dict[str, Any] = {"get": get, "put": put, "np": np}
    exec(f"def work(w, n):\n    for i in range(n):\n{body}", scope)  # noqa: S102 - our own text
    work = numba.njit(fastmath={"contract"}, error_model="numpy")(scope["work"])

    @numba.njit
    def repeat(w: np.ndarray, n: int, times: int) -> None:
        for _ in range(times):
            work(w, n)

    return repeat


def _lines(*lines: str) -> str:
    return "".join(f"        {line}\n" for line in lines)


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

    for kernel in (multiply_add, divide, root):
        kernel(w, ROW, 1)
    return {
        "peak_flop": Case(lambda k: multiply_add(w, ROW, k), each=2.0 * ROW * STEPS * STREAMS),
        "divide": Case(lambda k: divide(w, ROW, k), each=float(ROW)),
        "root": Case(lambda k: root(w, ROW, k), each=float(ROW)),
        "byte_copied": Case(copies, each=2.0 * 8 * (1 << 18)),
    }
