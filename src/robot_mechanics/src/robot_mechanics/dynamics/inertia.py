# SPDX-License-Identifier: MIT
"""Mass, centre of mass and moments of a rigid body, in any frame; what no body can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, List

import numpy as np

from robot_mechanics.errors import InvalidInertiaError
from robot_mechanics.motion.se3 import as_pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# of the largest moment: tables print some six digits, and a flat body meets the triangle inequality with equality
_TOLERANCE = 1e-6
_POINT = ((0.0, 0.0, 0.0),) * 3


@dataclass(frozen=True, eq=False)
class Inertia:
    """Inertia of a rigid body in one frame.

    Parameters
    ----------
    mass : float
        kg, not negative.
    com : (3,) array_like
        Centre of mass in the frame, m.
    moments : (3, 3) array_like
        Inertia tensor about the centre of mass, axes parallel to the frame's, kg m^2. The off-diagonal elements are
        minus the integrals of the products, as in URDF.

    Raises
    ------
    InvalidInertiaError
        If a number is not finite, the mass negative, or the tensor not symmetric. A tensor that no body has is not
        refused, as published tables have them; `problems` names what is wrong.
    """

    mass: float
    com: np.ndarray
    moments: np.ndarray

    def __init__(self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), moments: ArrayLike = _POINT) -> None:
        try:
            numbers = float(mass), np.array(com, dtype=float), np.array(moments, dtype=float)
        except (TypeError, ValueError) as error:
            raise InvalidInertiaError(f"mass, com and moments must be numbers ({error})") from None
        if not (np.isfinite(numbers[0]) and numbers[0] >= 0.0):
            raise InvalidInertiaError(f"mass is {mass!r} kg; expected a finite number from 0")
        for array, name, shape in ((numbers[1], "com", (3,)), (numbers[2], "moments", (3, 3))):
            if array.shape != shape or not np.isfinite(array).all():
                raise InvalidInertiaError(f"{name} is {array.tolist()}; expected {shape} finite numbers")
            array.setflags(write=False)
        if np.abs(numbers[2] - numbers[2].T).max() > _TOLERANCE * np.abs(numbers[2]).max(initial=0.0):
            raise InvalidInertiaError(f"moments {numbers[2].tolist()} are not symmetric")
        for field, value in zip(("mass", "com", "moments"), numbers):
            object.__setattr__(self, field, value)

    @classmethod
    def of(cls, mass: float, com: ArrayLike, *six: float) -> Inertia:
        """Build from the six numbers of a URDF: ixx, ixy, ixz, iyy, iyz, izz, kg m^2 about the centre of mass."""
        xx, xy, xz, yy, yz, zz = six
        return cls(mass, com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @classmethod
    def from_parameters(cls, parameters: ArrayLike) -> Inertia:
        """Build from the ten numbers of `parameters`; the mass must be greater than 0."""
        p = np.asarray(parameters, dtype=float)
        if p.shape != (10,) or not p[0] > 0.0:
            raise InvalidInertiaError(
                f"parameters are {p.tolist()}; expected 10 numbers, the mass first and above 0 kg"
            )
        com = p[1:4] / p[0]
        about_origin = np.array([[p[4], p[5], p[6]], [p[5], p[7], p[8]], [p[6], p[8], p[9]]])
        return cls(p[0], com, about_origin - p[0] * _moments_of_point(com))

    @property
    def parameters(self) -> np.ndarray:
        """(10,) the numbers that torques are linear in: mass, mass * com (3), and the tensor about the *origin of the
        frame*: xx, xy, xz, yy, yz, zz.
        """
        tensor = self.about_origin
        return np.array([self.mass, *(self.mass * self.com), *tensor[0], *tensor[1, 1:], tensor[2, 2]])

    @property
    def about_origin(self) -> np.ndarray:
        """(3, 3) tensor about the origin of the frame, kg m^2 (Steiner's theorem)."""
        return self.moments + self.mass * _moments_of_point(self.com)

    def transformed(self, pose: ArrayLike) -> Inertia:
        """Return the same body's inertia in another frame.

        Parameters
        ----------
        pose : (4, 4) array_like
            Pose of the present frame in the other one: com_other = R com + p, moments_other = R moments R^T.
        """
        T = as_pose(pose, "pose")
        R = T[:3, :3]
        return Inertia(self.mass, R @ self.com + T[:3, 3], R @ self.moments @ R.T)

    def __add__(self, other: Inertia) -> Inertia:
        """Return the inertia of two bodies, given in the same frame, that move as one."""
        mass = self.mass + other.mass
        if mass == 0.0:
            return Inertia(0.0, np.zeros(3), self.moments + other.moments)
        com = (self.mass * self.com + other.mass * other.com) / mass
        moments = self.moments + other.moments
        for part in (self, other):
            moments = moments + part.mass * _moments_of_point(part.com - com)
        return Inertia(mass, com, moments)

    def problems(self) -> List[str]:
        """Return what no rigid body can have, in words; empty for a possible one.

        The principal moments must not be negative, and none may exceed the sum of the other two (triangle inequality).
        """
        principal = np.linalg.eigvalsh(self.moments)
        least, slack = principal[0], principal[0] + principal[1] - principal[2]
        tolerance = _TOLERANCE * abs(principal[2])
        text = ", ".join(f"{value:.4g}" for value in principal)
        found = []
        if least < -tolerance:
            found.append(f"the tensor is not positive: principal moments {text} kg m^2")
        elif slack < -tolerance:
            found.append(f"no body has the principal moments {text} kg m^2: the greatest exceeds the sum of the others")
        if self.mass == 0.0 and principal[2] > 0.0:
            found.append(f"moments {text} kg m^2 without a mass")
        return found


def _moments_of_point(p: np.ndarray) -> np.ndarray:
    return float(p @ p) * np.eye(3) - np.outer(p, p)
