# SPDX-License-Identifier: MIT
"""Inertias of links and friction of joints from a URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Dict, Mapping

from robot_mechanics.dynamics.inertia import Inertia
from robot_mechanics.errors import InvalidInertiaError, InvalidUrdfError
from robot_mechanics.models.urdf import number, parse_urdf, triple
from robot_mechanics.motion.rotations import rotation_from_rpy, transform

_SIX = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True)
class JointFriction:
    """Friction of one joint, and the inertia of what turns with its motor."""

    viscous: float = 0.0  #: N m s/rad, or N s/m
    coulomb: float = 0.0  #: N m, or N; sign of the velocity times this
    armature: float = 0.0  #: Rotor inertia behind the gear, kg m^2, or kg


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
    root = parse_urdf(source)
    inertias: Dict[str, Inertia] = {}
    for link in root.findall("link"):
        element = link.find("inertial")
        if element is not None:
            inertias[link.get("name", "")] = _inertia(element, f"link '{link.get('name', '')}'")
    friction = {}
    for joint in root.findall("joint"):
        dynamics, name = joint.find("dynamics"), joint.get("name", "")
        if dynamics is not None:
            viscous, coulomb = (number(dynamics, key, 0.0, name) for key in ("damping", "friction"))
            if viscous < 0.0 or coulomb < 0.0:
                raise InvalidUrdfError(
                    f"joint '{name}' has damping {viscous:g} and friction {coulomb:g}; expected numbers from 0"
                )
            friction[name] = JointFriction(viscous, coulomb)
    return Bodies(inertias, friction)


def _inertia(element: ElementTree.Element, what: str) -> Inertia:
    mass, tensor, origin = element.find("mass"), element.find("inertia"), element.find("origin")
    if mass is None:
        raise InvalidUrdfError(f"the <inertial> of {what} has no <mass>")
    rotation = rotation_from_rpy(*triple(origin, "rpy", (0.0, 0.0, 0.0), what))
    xyz = triple(origin, "xyz", (0.0, 0.0, 0.0), what)
    six = [number(tensor, key, 0.0, what) for key in _SIX]
    try:
        inertia = Inertia.of(number(mass, "value", 0.0, what), (0.0, 0.0, 0.0), *six)
    except InvalidInertiaError as error:
        raise InvalidUrdfError(f"inertial of {what}: {error}") from None
    return inertia.transformed(transform(rotation, xyz))
