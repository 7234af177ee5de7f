# SPDX-License-Identifier: MIT
"""Paths through points, on positions and on rotations, and how they are followed in time."""

from robot_mechanics.trajectories.curves import ArcLength, Curve, Nurbs, Through
from robot_mechanics.trajectories.errors import TrajectoryError
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
