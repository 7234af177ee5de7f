# SPDX-License-Identifier: MIT
"""Inertia tensors of rigid bodies: moved between frames by the parallel-axis rule, checked, and written as tables.

A tensor about the centre of mass G, seen about another point O (c: from O to G, same axes), is (Huygens and Steiner)

    I_O = I_G + m (|c|^2 1 - c c^T)

so what is subtracted on the way to the centre of mass is positive on the diagonal. Only this pair of points is related
so directly: between two other points the way leads through G.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Dict, List, Sequence, Union

import numpy as np

from robot_mechanics.errors import InvalidInertiaError, InvalidUrdfError
from robot_mechanics.models.urdf import number, parse_urdf, triple
from robot_mechanics.motion.rotations import rotation_from_rpy

COMPONENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
"""Order of the six numbers that stand for a tensor, with the signs of the matrix: ixy = -sum m x y."""

# m, of a body of a robot; by a tensor in g mm^2, g cm^2 or kg mm^2 it is some 30 to 1000 times as large as its body
_LARGEST_RADIUS = 10.0
_INDEX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
Numbers = Union[Sequence[float], np.ndarray]


def tensor_matrix(components: Numbers) -> np.ndarray:
    """Return the symmetric matrix (3, 3) of `COMPONENTS`, kg m^2.

    Parameters
    ----------
    components : (6,) sequence of float
        In the order of `COMPONENTS`, kg m^2.

    Raises
    ------
    InvalidInertiaError
        If there are not six finite numbers.
    """
    values = np.asarray(components, dtype=float)
    if values.shape != (6,) or not np.isfinite(values).all():
        raise InvalidInertiaError(f"an inertia is {list(components)}; give six finite numbers: {', '.join(COMPONENTS)}")
    matrix = np.zeros((3, 3))
    for (row, column), value in zip(_INDEX, values):
        matrix[row, column] = matrix[column, row] = value
    return matrix


def tensor_components(matrix: np.ndarray) -> np.ndarray:
    """Return the `COMPONENTS` (6,) of a symmetric matrix (3, 3).

    Parameters
    ----------
    matrix : (3, 3) array
        kg m^2.
    """
    return np.array([matrix[index] for index in _INDEX])


def steiner_term(mass: float, offset: Numbers) -> np.ndarray:
    """Return m (|c|^2 1 - c c^T), (3, 3), kg m^2: what a point `offset` (m) away from the centre of mass adds.

    Parameters
    ----------
    mass : float
        kg.
    offset : (3,) sequence of float
        From the centre of mass to the point, or back, m.
    """
    c = np.asarray(offset, dtype=float)
    return float(mass) * (float(c @ c) * np.eye(3) - np.outer(c, c))


@dataclass(frozen=True, repr=False)
class Inertia:
    """Mass properties of a body in a frame: mass (kg), centre of mass (3,) m, tensor about it in the frame's axes."""

    mass: float
    com: np.ndarray
    tensor: np.ndarray  #: (3, 3) About the centre of mass, kg m^2; one that no body has is not refused, see `problems`

    def __post_init__(self) -> None:
        """Refuse what is no mass; raises InvalidInertiaError."""
        if not (np.isfinite(self.mass) and self.mass >= 0.0):
            raise InvalidInertiaError(f"mass is {self.mass} kg; give a number from 0")
        for name in ("com", "tensor"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))
            getattr(self, name).setflags(write=False)
        if self.com.shape != (3,) or not np.isfinite(self.com).all():
            raise InvalidInertiaError(f"the centre of mass is {self.com}; give three finite coordinates in m")
        size = np.abs(self.tensor).max(initial=0.0)
        if self.tensor.shape != (3, 3) or not np.abs(self.tensor - self.tensor.T).max() <= 1e-6 * size:
            rows = self.tensor.tolist()
            raise InvalidInertiaError(f"the inertia tensor is {rows}; give a symmetric matrix (3, 3), kg m^2")

    @classmethod
    def from_parameters(cls, parameters: Numbers) -> Inertia:
        """Build from the ten numbers of `parameters`; the mass must be greater than 0.

        Parameters
        ----------
        parameters : (10,) sequence of float
            kg, kg m, kg m^2.
        """
        p = np.asarray(parameters, dtype=float)
        if p.shape != (10,) or not p[0] > 0.0:
            raise InvalidInertiaError(f"parameters are {p.tolist()}; give 10 numbers, the mass first, above 0 kg")
        return cls.about_point(p[0], p[1:4] / p[0], tensor_matrix(p[[4, 7, 9, 5, 6, 8]]))

    @property
    def parameters(self) -> np.ndarray:
        """(10,) the numbers that torques are linear in: mass, mass * com (3), and the tensor about the *origin of the
        frame*: xx, xy, xz, yy, yz, zz.
        """
        about_origin = self.tensor_about((0.0, 0.0, 0.0))
        return np.array(
            [self.mass, *(self.mass * self.com), *about_origin[0], *about_origin[1, 1:], about_origin[2, 2]]
        )

    def __add__(self, other: Inertia) -> Inertia:
        """Return the inertia of two bodies, given in the same frame, that move as one."""
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass if mass else np.zeros(3)
        return Inertia(mass, com, self.tensor_about(com) + other.tensor_about(com))

    @classmethod
    def about_point(cls, mass: float, com: Numbers, tensor: np.ndarray, point: Numbers = (0.0, 0.0, 0.0)) -> Inertia:
        """Return the properties of a body whose tensor is given about `point` (3,) of the frame, not about its CoM.

        Parameters
        ----------
        mass : float
            kg.
        com : (3,) sequence of float
            Centre of mass in the frame, m.
        tensor : (3, 3) array
            About `point`, in the frame's axes, kg m^2.
        point : (3,) sequence of float
            The frame's origin if not given, m.
        """
        centre = np.asarray(com, dtype=float)
        return cls(float(mass), centre, np.asarray(tensor) - steiner_term(mass, centre - np.asarray(point)))

    def tensor_about(self, point: Numbers) -> np.ndarray:
        """Return the tensor (3, 3) about `point` (3,) of the frame, kg m^2.

        Parameters
        ----------
        point : (3,) sequence of float
            In the frame, m.
        """
        arm = self.com - np.asarray(point, dtype=float)
        return self.tensor + steiner_term(self.mass, arm)

    def in_frame(self, p_b_a: Numbers, r_b_a: np.ndarray) -> Inertia:
        """Return the same body in another frame b.

        Parameters
        ----------
        p_b_a : (3,) sequence of float
            Origin of the present frame in b, m.
        r_b_a : (3, 3) array
            Rotation that takes vectors of the present frame into b.
        """
        rotation = np.asarray(r_b_a, dtype=float)
        return Inertia(self.mass, np.asarray(p_b_a) + rotation @ self.com, rotation @ self.tensor @ rotation.T)

    def __repr__(self) -> str:
        """One line: mass, centre, principal moments."""
        com, moments = (", ".join(f"{x:.4g}" for x in values) for values in (self.com, np.linalg.eigvalsh(self.tensor)))
        return f"Inertia({self.mass:.4g} kg at [{com}] m, principal moments [{moments}] kg m^2)"

    def problems(self) -> List[str]:
        """Return why no rigid body can have this tensor, in sentences; empty if one can."""
        moments = np.linalg.eigvalsh(self.tensor)
        found: List[str] = []
        if self.mass == 0.0 and not moments.any():
            return found  # no body at all
        radius = np.sqrt(moments[2] / self.mass) if self.mass > 0.0 and moments[2] > 0.0 else 0.0
        if self.mass == 0.0:
            found.append("it has a tensor but no mass; give the mass in kg")
        elif radius > _LARGEST_RADIUS:
            found.append(
                f"its radius of gyration is {radius:.4g} m, more than {_LARGEST_RADIUS:g} m; give the tensor in kg m^2 "
                "(1 g mm^2 is 1e-9 of that)"
            )
        if moments[0] < -1e-9 * abs(moments[2]):  # a thin rod has one that is 0, a point three
            found.append(f"its least principal moment is {moments[0]:.4g} kg m^2; none may be negative")
        elif moments[0] + moments[1] < moments[2] * (1.0 - 1e-9):
            found.append(
                f"its principal moments {moments[0]:.4g}, {moments[1]:.4g}, {moments[2]:.4g} kg m^2 break the triangle "
                "inequality: the two lesser ones must add up to the greatest at least"
            )
        return found


def inertias_of_urdf(source: object) -> Dict[str, Inertia]:
    """Return the mass properties of each link that has any, in its link frame (rpy of the inertial frame included).

    Parameters
    ----------
    source : str or path
        As in `load_urdf`.

    Raises
    ------
    InvalidUrdfError
        If the text is no URDF or an inertial lacks mass or inertia; names the link.
    """
    found = {}
    for link in parse_urdf(source).findall("link"):
        inertial = link.find("inertial")
        if inertial is not None:
            found[str(link.get("name"))] = _inertia_of(inertial, f"link '{link.get('name')}'")
    return found


def _inertia_of(inertial: ElementTree.Element, what: str) -> Inertia:
    origin, mass, tensor = (inertial.find(tag) for tag in ("origin", "mass", "inertia"))
    if mass is None or tensor is None or mass.get("value") is None:
        missing = "inertia" if tensor is None else "mass"
        raise InvalidUrdfError(f"{what}: its inertial is not usable ({missing} is missing)")
    xyz, rpy = (triple(origin, key, (0.0, 0.0, 0.0), what) for key in ("xyz", "rpy"))
    six = [number(tensor, component, 0.0, what) for component in COMPONENTS]
    try:
        own = Inertia(number(mass, "value", 0.0, what), np.zeros(3), tensor_matrix(six))
    except InvalidInertiaError as error:
        raise InvalidUrdfError(f"{what}: its inertial is not usable ({error})") from None
    return own.in_frame(xyz, rotation_from_rpy(*rpy))
