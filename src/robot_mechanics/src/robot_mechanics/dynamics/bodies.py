# SPDX-License-Identifier: MIT
"""Inertias of links and friction of joints from a URDF."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Mapping

from robot_mechanics.arguments import from_zero
from robot_mechanics.errors import InvalidUrdfError
from robot_mechanics.models.inertia import Inertia, inertias_of_urdf
from robot_mechanics.models.urdf import number, parse_urdf


@dataclass(frozen=True)
class JointFriction:
    """Friction of one joint, and the inertia of what turns with its motor.

    Raises
    ------
    InvalidConfigError
        If a value is no finite number from 0.
    """

    viscous: float = 0.0  #: N m s/rad, or N s/m
    coulomb: float = 0.0  #: N m, or N; sign of the velocity times this
    armature: float = 0.0  #: Rotor inertia behind the gear, kg m^2, or kg

    def __post_init__(self) -> None:
        """Check the values."""
        for entry in fields(self):
            from_zero(getattr(self, entry.name), f"{entry.name} of JointFriction")


@dataclass(frozen=True)
class Bodies:
    """What a URDF says of masses and friction."""

    inertias: Mapping[str, Inertia]  #: By link, in the frame of the link; links without <inertial> are missing
    friction: Mapping[str, JointFriction]  #: By joint; joints without <dynamics> are missing


def load_bodies(source: object) -> Bodies:
    """Read masses and friction of a URDF.

    Parameters
    ----------
    source : str or path
        As in `load_urdf`.

    Raises
    ------
    InvalidUrdfError
        Naming the link or joint and the value that cannot be used.
    """
    root, inertias = parse_urdf(source), inertias_of_urdf(source)
    friction = {}
    for joint in root.findall("joint"):
        dynamics, name = joint.find("dynamics"), joint.get("name", "")
        if dynamics is not None:
            viscous, coulomb = (number(dynamics, key, 0.0, f"joint '{name}'") for key in ("damping", "friction"))
            if viscous < 0.0 or coulomb < 0.0:
                raise InvalidUrdfError(
                    f"joint '{name}' has damping {viscous:g} and friction {coulomb:g}; expected numbers from 0"
                )
            friction[name] = JointFriction(viscous, coulomb)
    return Bodies(inertias, friction)
