# SPDX-License-Identifier: MIT
"""Mass properties of the links, from their shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterable, Tuple

import numpy as np

from shellbot_common.rotations import rotation_from_rpy
from shellbot_description.gore import gore_quadrature
from shellbot_description.shapes import Shape, link_shapes
from shellbot_description.variables import Variables


@dataclass(frozen=True)
class Inertial:
    """Mass (kg), centre of mass (m, link frame) and inertia about it (kg·m², (3, 3), axes of the link frame)."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


def principal_moments(shape: Shape) -> np.ndarray:
    """Return the moments (3,) of a homogeneous shape of mass 1 about its own axes, m²."""
    if shape.kind == "box":
        x, y, z = (side**2 for side in shape.size)
        return np.array([y + z, x + z, x + y]) / 12.0
    if shape.kind == "cylinder":
        radius, length = shape.size
        side = radius**2 / 4.0 + length**2 / 12.0
        return np.array([side, side, radius**2 / 2.0])
    return np.full(3, 0.4 * shape.size[0] ** 2)  # sphere


def point_inertia(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the inertia (3, 3) about the origin of point masses `weights` (n,) at `points` (n, 3)."""
    squares = np.einsum("n,ni,nj->ij", weights, points, points)
    return np.trace(squares) * np.eye(3) - squares


def inertial_of_shapes(shapes: Iterable[Shape], mass: float) -> Inertial:
    """Return the mass properties of a link of mass `mass` (kg) whose shapes carry their shares of it.

    Parallel axes: I = sum(R I_own Rᵀ) + inertia of the masses put at the shapes' centres about the common centre.
    """
    parts = [shape for shape in shapes if shape.mass_fraction > 0.0]
    fractions = np.array([shape.mass_fraction for shape in parts])
    weights = mass * fractions / fractions.sum()
    centres = np.array([shape.xyz for shape in parts])
    com = weights @ centres / mass
    inertia = point_inertia(centres - com, weights)
    for shape, weight in zip(parts, weights):
        turn = rotation_from_rpy(*shape.rpy)
        inertia += weight * turn @ np.diag(principal_moments(shape)) @ turn.T
    return Inertial(mass, com, inertia)


def gore_inertial(variables: Variables, mass: float, lower: bool) -> Inertial:
    """Return the mass properties of a gore in its sphere frame, by numeric integration over the thick shell."""
    points, weights = gore_quadrature(variables, lower)
    weights = weights * (mass / weights.sum())
    com = weights @ points / mass
    return Inertial(mass, com, point_inertia(points - com, weights))


def link_inertials(variables: Variables) -> Dict[str, Inertial]:
    """Return the mass properties of each kind of link; keys as `Variables.masses`."""
    masses = variables.masses()
    result = {kind: inertial_of_shapes(shapes, masses[kind]) for kind, shapes in link_shapes(variables).items()}
    result["lower_gore"] = gore_inertial(variables, masses["lower_gore"], lower=True)
    result["upper_gore"] = gore_inertial(variables, masses["upper_gore"], lower=False)
    return result


def six(inertia: np.ndarray) -> Tuple[float, ...]:
    """Return ixx, ixy, ixz, iyy, iyz, izz of a (3, 3) inertia."""
    rows, columns = np.triu_indices(3)
    return tuple(float(value) for value in inertia[rows, columns])
