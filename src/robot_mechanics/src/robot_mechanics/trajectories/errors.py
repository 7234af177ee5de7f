# SPDX-License-Identifier: MIT
"""What trajectories raise."""


class TrajectoryError(ValueError):
    """Points, weights, times or limits from which no trajectory can be made; the text names the value and the range."""
