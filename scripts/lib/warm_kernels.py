# SPDX-License-Identifier: MIT
"""Compile the kinematics' kernels into numba's cache, so that the robot's first start does not wait for them."""

from __future__ import annotations

from shellbot_description import expand
from shellbot_kinematics import ShellbotSolver


def main() -> None:
    """Compile by using: the same call that the kinematics server makes at its start."""
    ShellbotSolver(expand("simulation")).warm_up()


if __name__ == "__main__":
    main()
