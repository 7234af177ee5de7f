# SPDX-License-Identifier: MIT
"""The decorator of every kernel: compiled on first call, cached on disk where a place for the cache can be written."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numba


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` in nopython mode with a cache on disk, without fastmath (it removes NaN tests).

    numba keeps the cache in NUMBA_CACHE_DIR if that is set, else in __pycache__ beside the source, else (read-only
    installation) in the user's cache folder. If none of them can be written it refuses to start; then the kernel is
    compiled anew in every process, with one warning, because a slow start is better than none.
    """
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        warnings.warn(
            "numba finds no writable folder for its cache, so every start compiles for some seconds; "
            "set NUMBA_CACHE_DIR to a writable folder",
            RuntimeWarning,
            stacklevel=2,
        )
        return numba.njit(function)
