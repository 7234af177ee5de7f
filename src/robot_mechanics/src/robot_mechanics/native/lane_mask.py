# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Masks of 64 lanes: which of them need attention, found at once and gone through bit by bit.

A test of lane after lane would be a branch each that no processor can predict.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

WIDTH = 64
_ONE = ir.Constant(ir.IntType(WIDTH), 1)


@intrinsic
def _nonzero(typing_context: Any, w: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        kind = ir.VectorType(ir.DoubleType(), WIDTH)
        place = builder.bitcast(builder.gep(data, [arguments[1]], inbounds=True), kind.as_pointer())
        mask = builder.fcmp_unordered("!=", builder.load(place, align=8), ir.Constant(kind, None))
        return builder.bitcast(mask, ir.IntType(WIDTH))

    return types.uint64(w, types.intp), generate


@intrinsic
def _lowest(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def _without_lowest(typing_context: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.and_(arguments[0], builder.sub(arguments[0], _ONE))

    return types.uint64(types.uint64), generate


if config.DISABLE_JIT:

    def nonzero(w, row):
        """Return the word whose bit k tells whether w[row + k] is not 0, for k in 0 .. 63."""
        return sum(1 << lane for lane in range(WIDTH) if w[row + lane] != 0.0)

    def lowest(mask):
        """Return the number of the lowest bit that is set; one must be."""
        return (mask & -mask).bit_length() - 1

    def without_lowest(mask):
        """Return the word without its lowest bit that is set."""
        return mask & (mask - 1)

else:
    nonzero, lowest, without_lowest = _nonzero, _lowest, _without_lowest
