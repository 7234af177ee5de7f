# SPDX-License-Identifier: MIT
"""Is mujoco here, and new enough? Imported first, so that whoever installed without scripts/setup reads what to do."""

_REQUIRED = (
    "shellbot_simulator needs mujoco 3.2 or newer: run scripts/setup, "
    "and start programs with the workspace's .venv/bin/python"
)

try:
    import mujoco
except ImportError as error:
    raise type(error)(f"mujoco cannot be imported ({error}); {_REQUIRED}", name="mujoco") from error
if tuple(int(part) for part in mujoco.__version__.split(".")[:2]) < (3, 2):
    raise ImportError(f"mujoco is {mujoco.__version__} ({mujoco.__file__}); {_REQUIRED}", name="mujoco")
