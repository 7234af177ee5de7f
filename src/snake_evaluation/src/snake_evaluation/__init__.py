# SPDX-License-Identifier: MIT
"""Experiments with the snake: gaits, velocity maps, missions, changes of gait, films."""
