# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Angles of many points at once: polynomials in place of the C library, whose functions take one number at a time.

Every kernel is one loop over 1-D views, or a function of scalars for such a loop, which LLVM turns into SIMD code. What
matters for that (numba 0.56 and newest): views instead of computed offsets, conditions only as choices between two
values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from robot_mechanics.native.angles import in_quarter
from robot_mechanics.native.jit import lane_kernel
from robot_mechanics.native.series import TAN_EIGHTH

TWO_PI = 2.0 * math.pi
_HALF_PI, _QUARTER_PI, _EIGHTH_PI = 0.5 * math.pi, 0.25 * math.pi, 0.125 * math.pi

# atan(t) = t + t u P(u), u = t^2 in 0 .. tan^2(pi/8): interpolated at Chebyshev nodes in 50 digits, error 5.3e-17
_A0, _A1, _A2, _A3, _A4, _A5, _A6, _A7, _A8, _A9 = (
    float.fromhex(number)
    for number in (
        "-0x1.5555555555546p-2", "0x1.9999999990a81p-3", "-0x1.2492491dd36fep-3", "0x1.c71c6dd12673dp-4",
        "-0x1.745c7f6f74ddep-4", "0x1.3b068d86c9c53p-4", "-0x1.105e316e925c8p-4", "0x1.d5eaddccfafaep-5",
        "-0x1.6f43e8bd8d90ap-5", "0x1.74b7f80f108e5p-6",
    )
)  # fmt: skip


@intrinsic
def _get(typing_context: Any, w: Any, row: Any, lane: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load(
            builder.gep(builder.gep(data, [arguments[1]], inbounds=True), [arguments[2]], inbounds=True)
        )

    return types.float64(w, types.intp, types.intp), generate


@intrinsic
def _put(typing_context: Any, w: Any, row: Any, lane: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        at = builder.gep(builder.gep(data, [arguments[1]], inbounds=True), [arguments[2]], inbounds=True)
        builder.store(arguments[3], at)
        return context.get_dummy_value()

    return types.void(w, types.intp, types.intp, types.float64), generate


@intrinsic
def _put_flag(typing_context: Any, flags: Any, first: Any, lane: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        at = builder.gep(builder.gep(data, [arguments[1]], inbounds=True), [arguments[2]], inbounds=True)
        positive = builder.fcmp_ordered(">", arguments[3], ir.Constant(ir.DoubleType(), 0.0))
        builder.store(builder.zext(positive, ir.IntType(8)), at)
        return context.get_dummy_value()

    return types.void(flags, types.intp, types.intp, types.float64), generate


@intrinsic
def _copysign(typing_context: Any, size: Any, sign: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.DoubleType()
        function = builder.module.declare_intrinsic("llvm.copysign", [kind], ir.FunctionType(kind, [kind, kind]))
        return builder.call(function, arguments)

    return types.float64(types.float64, types.float64), generate


@intrinsic
def _prefer_wide_vectors(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # llvmlite refuses attributes that it does not know by name
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


if config.DISABLE_JIT:
    copysign = math.copysign

    def prefer_wide_vectors():
        """Do nothing."""

    def put_flag(flags, first, lane, value):
        """Write whether the value is positive into flags[first + lane], uint8."""
        flags[first + lane] = value > 0.0

    def get(w, row, lane):
        """Return w[row + lane]."""
        return w[row + lane]

    def put(w, row, lane, value):
        """Write w[row + lane]."""
        w[row + lane] = value

else:
    # w[row + lane] without the test for negative indices, which numba 0.56 cannot prove away; it stops vectorisation
    get, put, put_flag = _get, _put, _put_flag
    # For kernels that do little but multiply and add: all 512 bits of AVX-512, where LLVM takes 256 for Intel's CPUs,
    # as those slow down a little then. To be called in the kernel and in every function that it may be inlined into.
    prefer_wide_vectors = _prefer_wide_vectors
    copysign = _copysign  # numba's own is a call into the C library


@lane_kernel
def small_atan(n, d):
    """Return pi/8 + atan of (n - tan(pi/8) d) / (d + tan(pi/8) n), which is atan(n / d) for n in 0 .. d; rad."""
    t = (n - TAN_EIGHTH * d) / (d + TAN_EIGHTH * n)
    u = t * t
    w = u * u
    # in halves (Estrin): a chain half as long, for the processor waits for results more than for its units
    low = (_A3 * u + _A2) * w + (_A1 * u + _A0)
    high = (_A9 * u + _A8) * (w * w) + ((_A7 * u + _A6) * w + (_A5 * u + _A4))
    return _EIGHTH_PI + (t + (t * u) * (high * (w * w) + low))


@lane_kernel
def atan2(y, x):
    """Return atan2(y, x), rad, error at most 7e-16; (0, 0) gives NaN.

    By turning the point twice, by pi/4 and by pi/8, so that every point takes the same way: one division, no choices.
    """
    a, b = abs(x), abs(y)
    e = a - b
    return copysign(_HALF_PI - copysign(_QUARTER_PI + copysign(small_atan(abs(e), a + b), e), x), y)


@lane_kernel
def half_acos(s, c):
    """Return atan2(s, 1 + c) for s >= 0, not both zero: half the angle of sine s and cosine c, 0 .. pi/2 rad."""
    x = 1.0 + c
    e = x - s
    return _QUARTER_PI - copysign(small_atan(abs(e), x + s), e)


@lane_kernel
def sincos_flat(x):
    """Return sine and cosine of an angle (rad) without a branch; error at most 3e-16 up to 1e5 rad."""
    quarter, sine, cosine = in_quarter(x)
    half = 0.5 * quarter
    odd = half - np.floor(half)  # 0 or 1/2
    one = cosine if odd > 0.25 else sine
    other = sine if odd > 0.25 else cosine
    turn = 0.5 * np.floor(half)  # sign of the sine: quarters 2, 3; of the cosine: 1, 2
    sign = 1.0 - 4.0 * (turn - np.floor(turn))
    return sign * one, sign * (1.0 - 4.0 * odd) * other


@lane_kernel
def sincos_lanes(angle, first, n, scale, w, apart):
    """Write sines of scale * angle[first : first + n], rad, into w, and cosines into w[apart:]."""
    for i in range(n):
        sine, cosine = sincos_flat(scale * get(angle, first, i))
        put(w, 0, i, sine)
        put(w, apart, i, cosine)
