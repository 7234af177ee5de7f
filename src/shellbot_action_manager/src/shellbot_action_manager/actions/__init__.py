# SPDX-License-Identifier: MIT
"""Named motions: library in YAML, planner and player; above the core, `transform_and_roll`."""
