# SPDX-License-Identifier: MIT
"""Read the kinematic tree of a URDF: links, joints, limits. `dynamics.bodies` reads inertias; visuals and plugins are
not looked at.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from typing import Any, Dict, Optional, Tuple

from robot_mechanics.errors import InvalidChainError, InvalidUrdfError
from robot_mechanics.models.joint import FIXED, PRISMATIC, REVOLUTE, Joint, Mimic
from robot_mechanics.models.sources import read_source
from robot_mechanics.models.tree import KinematicTree
from robot_mechanics.motion.rotations import rotation_from_rpy, transform

_KIND_OF_TYPE = {"revolute": REVOLUTE, "continuous": REVOLUTE, "prismatic": PRISMATIC, "fixed": FIXED}


def load_urdf(source: object) -> KinematicTree:
    """Return the tree of a URDF.

    Parameters
    ----------
    source : str or path
        The expanded text, as in the parameter robot_description (it holds a "<"), or the path of a file that holds it.

    Raises
    ------
    InvalidUrdfError
        Naming the element that cannot be used and what was expected.
    """
    root = parse_urdf(source)
    links = tuple(_name(element, "link") for element in root.findall("link"))
    if not links:
        raise InvalidUrdfError("the robot description has no <link>")
    known = set(links)
    joints: Dict[str, Joint] = {}
    for element in root.findall("joint"):
        joint = _joint(element, known)
        if joint.name in joints:
            raise InvalidUrdfError(f"joint '{joint.name}' is defined twice")
        joints[joint.name] = joint
    for joint in joints.values():
        if joint.mimic is not None and joint.mimic.joint not in joints:
            raise InvalidUrdfError(f"joint '{joint.name}' mimics '{joint.mimic.joint}', which does not exist")
    try:
        return KinematicTree(tuple(joints.values()), root.get("name", ""), links)
    except InvalidChainError as error:
        raise InvalidUrdfError(str(error)) from None


def parse_urdf(source: object) -> ElementTree.Element:
    """Return the element <robot> of a URDF, as `load_urdf` takes it; InvalidUrdfError if it is none.

    Parameters
    ----------
    source : str or path
        As in `load_urdf`.
    """
    text = read_source(source, "the robot description", InvalidUrdfError, lambda text: "<" in text)
    try:
        root = ElementTree.fromstring(text.encode("utf-8"))
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # bad markup, text, or declared encoding
        raise InvalidUrdfError(
            f"the robot description is no well-formed XML ({error}); give the expanded URDF text or its file"
        ) from None
    if root.tag != "robot":
        raise InvalidUrdfError(
            f"the robot description starts with <{root.tag}>; expected <robot> (expand xacro files first)"
        )
    return root


def _joint(element: ElementTree.Element, links: Any) -> Joint:
    name = _name(element, "joint")
    kind = element.get("type", "")
    if kind not in _KIND_OF_TYPE:
        raise InvalidUrdfError(f"joint '{name}' is of type '{kind}'; supported: {', '.join(_KIND_OF_TYPE)}")
    ends = {}
    for tag in ("parent", "child"):
        link = element.find(tag)
        ends[tag] = "" if link is None else link.get("link", "")
        if ends[tag] not in links:
            raise InvalidUrdfError(f"{tag} link '{ends[tag]}' of joint '{name}' does not exist")
    origin, axis, limit = element.find("origin"), element.find("axis"), element.find("limit")
    owner = f"joint '{name}'"
    xyz = triple(origin, "xyz", (0.0, 0.0, 0.0), owner)
    rpy = triple(origin, "rpy", (0.0, 0.0, 0.0), owner)
    direction = triple(axis, "xyz", (1.0, 0.0, 0.0), owner)  # the URDF's default axis is x
    bounded = kind in ("revolute", "prismatic")
    if bounded and limit is None:
        raise InvalidUrdfError(f"joint '{name}' is {kind} and has no <limit>")
    try:
        return Joint(
            name,
            _KIND_OF_TYPE[kind],
            transform(rotation_from_rpy(*rpy), xyz),
            direction if kind != "fixed" else (0.0, 0.0, 1.0),  # type: ignore[arg-type]
            lower=number(limit, "lower", 0.0, owner) if bounded else -math.inf,
            upper=number(limit, "upper", 0.0, owner) if bounded else math.inf,
            velocity=number(limit, "velocity", math.inf, owner),
            effort=number(limit, "effort", math.inf, owner),
            parent=ends["parent"],
            child=ends["child"],
            mimic=_mimic(element.find("mimic"), owner),
        )
    except InvalidUrdfError:
        raise
    except InvalidChainError as error:
        raise InvalidUrdfError(str(error)) from None


def _mimic(element: Optional[ElementTree.Element], owner: str) -> Optional[Mimic]:
    if element is None:
        return None
    if not element.get("joint"):
        raise InvalidUrdfError(f'the <mimic> of {owner} names no joint; expected joint="..."')
    ratio, offset = number(element, "multiplier", 1.0, owner), number(element, "offset", 0.0, owner)
    return Mimic(element.get("joint", ""), ratio, offset)


def _name(element: ElementTree.Element, tag: str) -> str:
    name = element.get("name", "")
    if not name:
        raise InvalidUrdfError(f"a <{tag}> has no name")
    return name


def number(element: Optional[ElementTree.Element], key: str, default: float, owner: str) -> float:
    """Return an attribute that is one number; InvalidUrdfError, naming its owner (joint 'a'), if it is none.

    Parameters
    ----------
    element : Element, optional
        None has no attributes.
    key : str
        Attribute.
    default : float
        Where there is none.
    owner : str
        For messages.
    """
    text = None if element is None else element.get(key)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidUrdfError(f"{key}='{text}' of {owner} is no finite number")
    return value


def triple(
    element: Optional[ElementTree.Element], key: str, default: Tuple[float, float, float], owner: str
) -> Tuple[float, float, float]:
    """Return an attribute that is three numbers; InvalidUrdfError, naming its owner, if it is not.

    Parameters
    ----------
    element : Element, optional
        None has no attributes.
    key : str
        Attribute.
    default : (3,) tuple of float
        Where there is none.
    owner : str
        For messages, such as "joint 'a'".
    """
    text = None if element is None else element.get(key)
    if text is None:
        return default
    try:
        values = tuple(float(x) for x in text.split())
    except ValueError:
        values = ()
    if len(values) != 3 or not all(math.isfinite(x) for x in values):
        raise InvalidUrdfError(f"{key}='{text}' of {owner} must be three finite numbers")
    return values[0], values[1], values[2]
