# SPDX-License-Identifier: MIT
"""Rigid-body dynamics of any tree, on a fixed or a floating base."""

from robot_mechanics.dynamics.bodies import load_bodies
from robot_mechanics.dynamics.model import DynamicModel
from robot_mechanics.models.inertia import Inertia

__all__ = ["DynamicModel", "Inertia", "load_bodies"]
