# SPDX-License-Identifier: MIT
"""Is numba here, and new enough? Imported first, so that whoever installed without scripts/setup reads what to do."""

_REQUIRED = (
    "robot_mechanics needs numba 0.56 or newer: pip install -U numba; in this workspace run scripts/setup, "
    "and start programs with its .venv/bin/python"
)

try:
    import numba
except ImportError as error:
    raise type(error)(f"numba cannot be imported ({error}); {_REQUIRED}", name="numba") from error
if tuple(int(part) for part in numba.__version__.split(".")[:2]) < (0, 56):
    raise ImportError(f"numba is {numba.__version__} ({numba.__file__}); {_REQUIRED}", name="numba")
