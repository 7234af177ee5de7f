# SPDX-License-Identifier: MIT
"""Paths through points, on positions and on rotations, and how they are followed in time."""

from robot_mechanics.native import required_scipy  # noqa: F401, I001  first: says what to do if it is missing
from robot_mechanics.errors import TrajectoryError
from robot_mechanics.trajectories.curves import ArcLength, Curve, Nurbs, Through
from robot_mechanics.trajectories.rotations import RotationCurve, RotationTrajectory
from robot_mechanics.trajectories.timing import Keyframes, Limits, Trajectory, fastest, quintic

__all__ = [
    "ArcLength",
    "Curve",
    "Keyframes",
    "Limits",
    "Nurbs",
    "RotationCurve",
    "RotationTrajectory",
    "Through",
    "Trajectory",
    "TrajectoryError",
    "fastest",
    "quintic",
]
