# SPDX-License-Identifier: MIT
"""Read the kinematic tree of a URDF: links, joints, limits. Visuals, inertias and plugins are not looked at."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple

from shellbot_kinematics.errors import InvalidChainError, InvalidUrdfError, UnknownNameError
from shellbot_kinematics.joint import FIXED, PRISMATIC, REVOLUTE, Joint, Mimic
from shellbot_kinematics.rotations import rotation_from_rpy, transform

_KIND_OF_TYPE = {"revolute": REVOLUTE, "continuous": REVOLUTE, "prismatic": PRISMATIC, "fixed": FIXED}


@dataclass(frozen=True)
class RobotTree:
    """The tree of a robot: one root link, every other link the child of exactly one joint.

    Attributes
    ----------
    name, root : str
        Name of the robot and of its root link.
    links : tuple of str
        In the order of the file.
    joints : mapping of str to Joint
        In the order of the file.
    """

    name: str
    root: str
    links: Tuple[str, ...]
    joints: Mapping[str, Joint]

    def path(self, base: str, tip: str) -> Tuple[Joint, ...]:
        """Return the joints from link `base` down to link `tip`.

        Raises
        ------
        UnknownNameError
            If a link does not exist.
        InvalidChainError
            If `tip` is not below `base`.
        """
        for link in (base, tip):
            if link not in self.links:
                raise UnknownNameError(f"robot '{self.name}' has no link '{link}'; it has {', '.join(self.links)}")
        above = {joint.child: joint for joint in self.joints.values()}
        path: List[Joint] = []
        link = tip
        while link != base:
            if link not in above:
                raise InvalidChainError(f"link '{tip}' is not below '{base}': its ancestors end at '{link}'")
            path.append(above[link])
            link = above[link].parent
        return tuple(reversed(path))


def load_urdf(text: str) -> RobotTree:
    """Return the tree of a URDF given as text.

    Raises
    ------
    InvalidUrdfError
        Naming the element that cannot be used and what was expected.
    """
    try:
        root = ElementTree.fromstring(text.encode("utf-8"))
    except ElementTree.ParseError as error:
        raise InvalidUrdfError(
            f"the robot description is no well-formed XML ({error}); give the expanded URDF text"
        ) from None
    if root.tag != "robot":
        raise InvalidUrdfError(
            f"the robot description starts with <{root.tag}>; expected <robot> (expand xacro files first)"
        )
    links = tuple(_name(element, "link") for element in root.findall("link"))
    if not links:
        raise InvalidUrdfError("the robot description has no <link>")
    if len(set(links)) != len(links):
        raise InvalidUrdfError(f"link names must differ; twice: {sorted({n for n in links if links.count(n) > 1})}")
    joints: Dict[str, Joint] = {}
    for element in root.findall("joint"):
        joint = _joint(element, links)
        if joint.name in joints:
            raise InvalidUrdfError(f"joint '{joint.name}' is defined twice")
        joints[joint.name] = joint
    for joint in joints.values():
        if joint.mimic is not None and joint.mimic.joint not in joints:
            raise InvalidUrdfError(f"joint '{joint.name}' mimics '{joint.mimic.joint}', which does not exist")
    return RobotTree(root.get("name", ""), _root(links, joints), links, joints)


def _root(links: Tuple[str, ...], joints: Mapping[str, Joint]) -> str:
    children = [joint.child for joint in joints.values()]
    twice = sorted({child for child in children if children.count(child) > 1})
    if twice:
        raise InvalidUrdfError(f"link '{twice[0]}' is the child of several joints; a tree allows one")
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        raise InvalidUrdfError(f"a tree has one root link; this robot has {len(roots)}: {', '.join(roots) or 'a loop'}")
    parent_of = {joint.child: joint.parent for joint in joints.values()}
    for link in links:
        seen = {link}
        while link in parent_of:
            link = parent_of[link]
            if link in seen:
                raise InvalidUrdfError(f"the joints above link '{link}' form a loop")
            seen.add(link)
    return roots[0]


def _joint(element: ElementTree.Element, links: Tuple[str, ...]) -> Joint:
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
    xyz = _triple(origin, "xyz", (0.0, 0.0, 0.0), name)
    rpy = _triple(origin, "rpy", (0.0, 0.0, 0.0), name)
    direction = _triple(axis, "xyz", (1.0, 0.0, 0.0), name)  # the URDF's default axis is x
    bounded = kind in ("revolute", "prismatic")
    if bounded and limit is None:
        raise InvalidUrdfError(f"joint '{name}' is {kind} and has no <limit>")
    values: Dict[str, Any] = {
        "kind": _KIND_OF_TYPE[kind],
        "origin": transform(rotation_from_rpy(*rpy), xyz),
        "axis": direction if kind != "fixed" else (0.0, 0.0, 1.0),
        "lower": _number(limit, "lower", 0.0, name) if bounded else -math.inf,
        "upper": _number(limit, "upper", 0.0, name) if bounded else math.inf,
        "velocity": _number(limit, "velocity", math.inf, name),
        "effort": _number(limit, "effort", math.inf, name),
        "parent": ends["parent"],
        "child": ends["child"],
        "mimic": _mimic(element.find("mimic"), name),
    }
    try:
        return Joint(name, **values)
    except InvalidChainError as error:
        raise InvalidUrdfError(str(error)) from None


def _mimic(element: Optional[ElementTree.Element], joint: str) -> Optional[Mimic]:
    if element is None:
        return None
    ratio, offset = _number(element, "multiplier", 1.0, joint), _number(element, "offset", 0.0, joint)
    return Mimic(element.get("joint", ""), ratio, offset)


def _name(element: ElementTree.Element, tag: str) -> str:
    name = element.get("name", "")
    if not name:
        raise InvalidUrdfError(f"a <{tag}> has no name")
    return name


def _number(element: Optional[ElementTree.Element], key: str, default: float, joint: str) -> float:
    text = None if element is None else element.get(key)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidUrdfError(f"{key}='{text}' of joint '{joint}' is no finite number")
    return value


def _triple(
    element: Optional[ElementTree.Element], key: str, default: Tuple[float, float, float], joint: str
) -> Tuple[float, float, float]:
    text = None if element is None else element.get(key)
    if text is None:
        return default
    try:
        values = tuple(float(x) for x in text.split())
    except ValueError:
        values = ()
    if len(values) != 3 or not all(math.isfinite(x) for x in values):
        raise InvalidUrdfError(f"{key}='{text}' of joint '{joint}' must be three finite numbers")
    return values[0], values[1], values[2]
