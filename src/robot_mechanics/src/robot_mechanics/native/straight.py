# SPDX-License-Identifier: MIT
"""What straight-line kernels tell the compiler: leave the scalars as they are."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import config
from numba.extending import intrinsic


@intrinsic
def _stay_scalar(typing_context: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        # LLVM's vectorisers leave functions alone that have this attribute; it forbids floating-point registers where
        # the source has none, no more. It also holds where the kernel is linked into a caller and optimised again.
        builder.function.attributes.add("noimplicitfloat")
        return _context.get_dummy_value()

    return types.none(), generate


if config.DISABLE_JIT:

    def stay_scalar() -> None:
        """Do nothing; see below."""

else:
    # To be called in a kernel of long straight-line arithmetic: LLVM's SLP vectoriser (on in numba before 0.57) would
    # pair its operations with shuffles between them, which lengthens the way from one result to the next by a tenth.
    stay_scalar = _stay_scalar
