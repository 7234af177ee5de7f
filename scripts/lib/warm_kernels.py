# SPDX-License-Identifier: MIT
"""Compile the kinematics' kernels into numba's cache, so that the robot's first start does not wait for them."""

from __future__ import annotations

import numpy as np

from shellbot_action_manager import load_geometry
from shellbot_description import expand
from shellbot_kinematics import ShellbotSolver


def main() -> None:
    """Compile by using: the calls that kinematics server and action manager make at their start."""
    ShellbotSolver(expand("simulation")).warm_up()
    legs = load_geometry("simulation").legs
    legs.solve(legs.forward(np.zeros((6, 4)))[:, None, :])


if __name__ == "__main__":
    main()
