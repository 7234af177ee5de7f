# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Words of marks: which of 64 lanes want attention, found at once and gone through bit by bit.

A test of lane after lane would be a branch each that no processor can foretell.
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
def _events(typing_context: Any, w: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        kind = ir.VectorType(ir.DoubleType(), WIDTH)
        place = builder.bitcast(builder.gep(data, [arguments[1]], inbounds=True), kind.as_pointer())
        marks = builder.fcmp_unordered("!=", builder.load(place, align=8), ir.Constant(kind, None))
        return builder.bitcast(marks, ir.IntType(WIDTH))

    return types.uint64(w, types.intp), generate


@intrinsic
def _lowest(typing_context: Any, marks: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def _others(typing_context: Any, marks: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.and_(arguments[0], builder.sub(arguments[0], _ONE))

    return types.uint64(types.uint64), generate


if config.DISABLE_JIT:

    def events(w, row):
        """Return the word whose bit k tells whether w[row + k] is not 0, for k in 0 .. 63."""
        return sum(1 << lane for lane in range(WIDTH) if w[row + lane] != 0.0)

    def lowest(marks):
        """Return the number of the lowest bit that is set; one must be."""
        return (marks & -marks).bit_length() - 1

    def others(marks):
        """Return the word without its lowest bit that is set."""
        return marks & (marks - 1)

else:
    events, lowest, others = _events, _lowest, _others
