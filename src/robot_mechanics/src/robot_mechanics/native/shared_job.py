# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Threads that share a job without the interpreter: they claim its parts from words of memory, and spin for the next.

A job is a C function and a block of memory that it knows. The leading thread opens it, claims part after part itself,
closes it, and waits for those who joined in. Helpers only ever help: one that sleeps, or comes too late, is not waited
for. To join, a helper counts itself as active and then looks whether the job is still open; the leader closes the job
and then looks whether anybody is active. Both in one order for all threads (seq_cst), so that one of them sees the
other.

Each worker begins with an equal share of its own, which lies together and, in a batch of the same size as the last, in
the cache of its core; whoever is done takes parts of the others' shares.

Words (int64), each alone on two lines of the cache, which processors fetch in pairs.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from robot_mechanics.native.jit import lane_kernel

NATIVE = not config.DISABLE_JIT and os.name == "posix" and sys.maxsize > 2**32
_STRIDE = 16
TICKET, ACTIVE = 0, _STRIDE  # number of the open job or 0; helpers in a job
FUNCTION, BLOCK, TOTAL, PART, WORKERS = range(2 * _STRIDE, 2 * _STRIDE + 5)  # of the job
SPIN_NS = 3 * _STRIDE  # ns that a helper spins for the next job
JOBS = 4 * _STRIDE  # opened so far
OWN = 5 * _STRIDE  # 32 words for the block of who leads
STATE = 7 * _STRIDE  # of worker k at STATE + 2 k _STRIDE: 0 elsewhere, 1 attending, 2 asked to leave
_NEXT = STATE + _STRIDE  # of worker k likewise: the first item of its part that is not claimed
WAKE_SPIN_NS = 200_000  # that a helper waits for the job it was woken for
_LEADER_SPIN_NS = 50_000  # that the leader spins for a helper's last part; then it sleeps: the core is taken
_SLEEP_US = 50
_PAUSE = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause"}.get(platform.machine())
_CLOCK = getattr(time, "CLOCK_MONOTONIC", 1)
_I32, _I64 = ir.IntType(32), ir.IntType(64)


def new_words(workers: int) -> np.ndarray:
    """Return the words for workers 0 (who leads) .. workers - 1."""
    size = STATE + 2 * workers * _STRIDE
    raw = np.zeros(size + _STRIDE, dtype=np.int64)
    first = -(raw.ctypes.data // 8) % _STRIDE
    return raw[first : first + size]


def state_of(worker: int) -> int:
    """Return where the state of a worker stands."""
    return STATE + 2 * worker * _STRIDE


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]], inbounds=True)


@intrinsic
def _load(typing_context: Any, words: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature, arguments), "seq_cst", 8)

    return types.int64(words, types.intp), generate


@intrinsic
def _swap(typing_context: Any, words: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("xchg", _place(context, builder, signature, arguments), arguments[2], "seq_cst")

    return types.int64(words, types.intp, types.int64), generate


@intrinsic
def _add(typing_context: Any, words: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _place(context, builder, signature, arguments), arguments[2], "seq_cst")

    return types.int64(words, types.intp, types.int64), generate


@intrinsic
def _pause(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _PAUSE is not None:
            builder.call(builder.module.declare_intrinsic(_PAUSE, (), ir.FunctionType(ir.VoidType(), ())), ())
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _clock_ns(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pair = ir.ArrayType(_I64, 2)  # struct timespec of a 64-bit system
        function = ir.FunctionType(_I32, (_I32, pair.as_pointer()))
        clock = cgutils.get_or_insert_function(builder.module, function, "clock_gettime")
        place = cgutils.alloca_once(builder, pair)
        builder.call(clock, (ir.Constant(_I32, _CLOCK), place))
        now = builder.load(place)
        seconds, rest = builder.extract_value(now, 0), builder.extract_value(now, 1)
        return builder.add(builder.mul(seconds, ir.Constant(_I64, 1_000_000_000)), rest)

    return types.int64(), generate


@intrinsic
def _sleep_us(typing_context: Any, span: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I32, (_I32,)), "usleep")
        builder.call(function, (builder.trunc(arguments[0], _I32),))
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def _call(typing_context: Any, function: Any, block: Any, first: Any, last: Any, worker: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), (_I64,) * 4)
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(*(types.int64,) * 5), generate


@intrinsic
def _address(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, _I64)

    return types.int64(array), generate


def _pointer_maker(kind: Any) -> Any:
    @intrinsic
    def maker(typing_context: Any, address: Any) -> Any:
        made = types.CPointer(kind)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(made))

        return made(types.int64), generate

    return maker


address_of = _address  # of an array's first element; for job blocks
floats_at, words_at, flags_at = (_pointer_maker(kind) for kind in (types.float64, types.int64, types.uint8))


@lane_kernel
def _part_begins(total, part, workers, worker):
    return min(total, part * (-(-total // part) * worker // workers))


@lane_kernel
def _take_parts(words, worker):
    function, block, total, part, workers = words[FUNCTION], words[BLOCK], words[TOTAL], words[PART], words[WORKERS]
    for shift in range(workers):
        portion = (worker + shift) % workers
        end = _part_begins(total, part, workers, portion + 1)
        while True:
            first = _add(words, _NEXT + 2 * portion * _STRIDE, part)
            if first >= end:
                break
            _call(function, block, first, min(first + part, end), worker)


@lane_kernel
def attend(words, worker):
    """Help with the jobs that come, until none has come for SPIN_NS; for a thread that was woken for one."""
    here = STATE + 2 * worker * _STRIDE
    _swap(words, here, 1)
    seen, spin, since = 0, max(WAKE_SPIN_NS, words[SPIN_NS]), _clock_ns()
    while _load(words, here) == 1:
        ticket = _load(words, TICKET)
        if ticket != 0 and ticket != seen:
            seen = ticket
            _add(words, ACTIVE, 1)
            if _load(words, TICKET) == ticket and worker < words[WORKERS]:
                _take_parts(words, worker)
                spin = words[SPIN_NS]
            _add(words, ACTIVE, -1)
            since = _clock_ns()
        elif _clock_ns() - since > spin:
            break
        else:
            _pause()
    _swap(words, here, 0)


@lane_kernel
def lead(words, function, block, total, part, workers):
    """Do items 0 .. total with up to workers - 1 helpers, `part` at a time; return when all are done.

    function: address of a C function (block, first, last, worker), int64 each, that raises nothing.
    """
    words[FUNCTION], words[BLOCK], words[TOTAL], words[PART], words[WORKERS] = function, block, total, part, workers
    for worker in range(workers):
        _swap(words, _NEXT + 2 * worker * _STRIDE, _part_begins(total, part, workers, worker))
    words[JOBS] += 1
    _swap(words, TICKET, words[JOBS])
    _take_parts(words, 0)
    _swap(words, TICKET, 0)
    since = _clock_ns()
    while _load(words, ACTIVE) != 0:
        if _clock_ns() - since < _LEADER_SPIN_NS:
            _pause()
        else:
            _sleep_us(_SLEEP_US)
