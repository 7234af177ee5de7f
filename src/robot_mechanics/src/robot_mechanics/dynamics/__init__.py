# SPDX-License-Identifier: MIT
"""Rigid-body dynamics of any tree, on a fixed or a floating base."""

from robot_mechanics.dynamics.bodies import load_bodies
from robot_mechanics.dynamics.inertia import Inertia
from robot_mechanics.dynamics.model import DynamicModel

__all__ = ["DynamicModel", "Inertia", "load_bodies"]
