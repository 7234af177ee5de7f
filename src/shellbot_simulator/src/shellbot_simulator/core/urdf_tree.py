# SPDX-License-Identifier: MIT
"""A URDF as a tree of MJCF bodies. Numbers are passed on as text, so that nothing is rounded.

MuJoCo reads URDF itself, but what can be added to the result differs between its versions from 3.2 (the last for
Python 3.8) to 4.0, whereas MJCF text does not. A test compares both ways.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from typing import Dict, Iterable, List, Mapping, Optional, Tuple

import mujoco
import numpy as np

from shellbot_common.robot_profile import Base
from shellbot_common.rotations import rotation_from_rpy

from .errors import ModelError
from .paths import resolve_uri

VISUAL_GROUP, COLLISION_GROUP = 2, 3
"""Geom groups by MuJoCo's custom: the viewer shows group 2 and hides group 3."""

Element = ElementTree.Element


def parse_urdf(urdf_text: str) -> Element:
    """Return the `robot` element of a URDF.

    Raises
    ------
    ModelError
        If the text is not XML or holds no robot.
    """
    try:
        robot = ElementTree.fromstring(urdf_text)
    except ElementTree.ParseError as error:
        raise ModelError(
            f"the robot description is not XML ({error}); is xacro's output in robot_description?"
        ) from error
    if robot.tag != "robot":
        raise ModelError(f"the robot description begins with <{robot.tag}>, not with <robot>")
    return robot


def text_of(numbers: Iterable[float]) -> str:
    """Return numbers as an attribute of MJCF, to the last digit."""
    return " ".join(repr(float(number)) for number in numbers)


def movable_joints(robot: Element) -> Dict[str, Element]:
    """Return the joints that are not fixed, by name, in document order."""
    return {str(j.get("name")): j for j in robot.findall("joint") if j.get("type") != "fixed"}


def link_bodies(model: mujoco.MjModel) -> np.ndarray:
    """Return the body of the link of each geom.

    Collision shapes are in bodies of their own, fixed to that of their link, where its visual shapes stay: MuJoCo
    bounds a body by all its geoms, visual ones too. Each mesh has a body, as bodies of one shape are compared faster
    than trees of boxes round a hollow; the primitives of a link share one.
    """
    own = model.geom_group == COLLISION_GROUP
    return np.where(own, model.body_parentid[model.geom_bodyid], model.geom_bodyid)


class BodyTree:
    """Builds the bodies, and the meshes they need.

    Parameters
    ----------
    contact : dict
        Attributes of every colliding shape.
    bits : mapping of str to (int, int)
        contype and conaffinity of the shapes of each link.
    armature : dict
        Rotor inertia by joint, kg m^2.
    base : Base
        How the root link is held.
    root : str
        Of the bodies: `base`, or `middle` for the link in the middle of the longest chain, if the base is free.

    Attributes
    ----------
    meshes : list of Element
        MJCF `mesh` elements, filled by `build`.
    """

    def __init__(
        self,
        robot: Element,
        contact: Dict[str, str],
        bits: Mapping[str, Tuple[int, int]],
        armature: Dict[str, float],
        base: Base,
        root: str = "base",
    ) -> None:
        self._links = {str(link.get("name")): link for link in robot.findall("link")}
        self._joints: Dict[str, List[Tuple[Element, str]]] = {}  # of each link, and what is on their other side
        for joint in robot.findall("joint"):
            parent, child = _name(joint, "parent"), _name(joint, "child")
            self._joints.setdefault(parent, []).append((joint, child))
            self._joints.setdefault(child, []).append((joint, parent))
        self._colours = {m.get("name"): c.get("rgba") for m in robot.findall("material") for c in m.findall("color")}
        self._contact = contact
        self._bits = bits
        self._armature = armature
        self._base = base
        self._mesh_names: Dict[Tuple[str, str], str] = {}
        self.meshes: List[Element] = []
        children = {_name(joint, "child") for joint in robot.findall("joint")}
        roots = [name for name in self._links if name not in children]
        if len(roots) != 1:
            raise ModelError(f"the robot description has {len(roots)} root links ({roots}); exactly one is needed")
        if roots[0] != base.link:
            raise ModelError(f"the root link of the robot description is {roots[0]!r}, of the profile {base.link!r}")
        self._root = base.link
        if root == "middle" and base.kind == "free":
            longest = self._chain(self._chain(base.link)[-1])
            self._root = longest[len(longest) // 2]

    def _chain(self, start: str) -> List[str]:
        """Return the links from one to that which is farthest from it."""
        chains = [[start]]
        for chain in chains:  # grows meanwhile: breadth first, so that the last is the longest
            chains += [[*chain, link] for _, link in self._joints.get(chain[-1], []) if link not in chain[-2:]]
        return chains[-1]

    def build(self) -> Element:
        """Return the body of the root with all others inside it, in the pose of the base, free unless it is fixed."""
        pose = {"pos": text_of(self._base.position), "euler": text_of(map(math.radians, self._base.rpy_deg))}
        body = self._body(self._root, pose)
        if self._base.kind == "free":
            body.insert(0, ElementTree.Element("freejoint", name="base_free"))
        return body

    def _body(self, link_name: str, pose: Dict[str, str], before: Optional[str] = None) -> Element:
        body = ElementTree.Element("body", {"name": link_name, **pose})
        link = self._links.get(link_name)
        if link is None:
            raise ModelError(f"the robot description has joints to {link_name!r} but no such link")
        inertial = link.find("inertial")
        if inertial is not None:
            body.append(_inertial(inertial, link_name))
        body.extend([self._shape(shape, link_name) for shape in link.findall("visual")])
        body.extend(self._collision_bodies(link, link_name))
        for joint, other in self._joints.get(link_name, []):
            if other == before:
                continue
            is_reversed = _name(joint, "child") == link_name
            child = self._body(other, _reversed_pose(joint) if is_reversed else _pose(joint), link_name)
            if joint.get("type") != "fixed":
                child.insert(0, self._hinge(joint, is_reversed))
            body.append(child)
        return body

    def _collision_bodies(self, link: Element, link_name: str) -> List[Element]:
        bodies: Dict[str, Element] = {}
        for index, shape in enumerate(self._shape(shape, link_name) for shape in link.findall("collision")):
            name = f"{link_name}/{index + 1}" if shape.get("type") == "mesh" else f"{link_name}/primitives"
            if name not in bodies:
                bodies[name] = ElementTree.Element("body", name=name)
                # massless, but with the link's centre of mass: the softness of contacts is scaled by the inertia there
                centre = link.find("inertial/origin")
                place = centre.get("xyz", "0 0 0") if centre is not None else "0 0 0"
                ElementTree.SubElement(bodies[name], "inertial", pos=place, mass="0", diaginertia="0 0 0")
            bodies[name].append(shape)
        return list(bodies.values())

    def _hinge(self, joint: Element, is_reversed: bool) -> Element:
        name = str(joint.get("name"))
        axis, limit, dynamics = joint.find("axis"), joint.find("limit"), joint.find("dynamics")
        kind = joint.get("type")
        if kind not in ("revolute", "continuous") or limit is None:
            raise ModelError(
                f"joint {name} is {kind!r}; the simulator drives revolute and continuous joints with a <limit>"
            )
        place = {"axis": axis.get("xyz", "1 0 0") if axis is not None else "1 0 0"}
        if is_reversed:  # the parent turns in the child, about the same line by the opposite angle
            position, rotation = _origin(joint)
            turned = -rotation @ [float(x) for x in place["axis"].split()]
            place = {"pos": text_of(position), "axis": text_of(turned)}
        has_range = {"limited": "true", "range": f"{limit.get('lower', '0')} {limit.get('upper', '0')}"}
        return ElementTree.Element(
            "joint",
            {**place, **(has_range if kind == "revolute" else {"limited": "false"})},
            name=name,
            type="hinge",
            damping=dynamics.get("damping", "0") if dynamics is not None else "0",
            frictionloss=dynamics.get("friction", "0") if dynamics is not None else "0",
            armature=repr(self._armature[name]),
        )

    def _shape(self, shape: Element, link_name: str) -> Element:
        geom = ElementTree.Element("geom", _pose(shape))
        geometry = shape.find("geometry")
        kind = geometry[0] if geometry is not None and len(geometry) else None
        if kind is None or kind.tag not in ("box", "sphere", "cylinder", "mesh"):
            raise ModelError(f"link {link_name}: a shape is no box, sphere, cylinder or mesh")
        geom.set("type", kind.tag)
        if kind.tag == "box":
            geom.set("size", text_of(float(edge) / 2.0 for edge in kind.get("size", "").split()))
        elif kind.tag == "sphere":
            geom.set("size", kind.get("radius", ""))
        elif kind.tag == "cylinder":
            geom.set("size", f"{kind.get('radius')} {float(kind.get('length', 'nan')) / 2.0!r}")
        else:
            geom.set("mesh", self._mesh(kind.get("filename", ""), kind.get("scale", "1 1 1")))
        if shape.tag == "visual":
            geom.attrib.update(contype="0", conaffinity="0", group=str(VISUAL_GROUP), rgba=self._colour(shape))
        else:
            contype, conaffinity = self._bits[link_name]
            geom.attrib.update(self._contact, contype=str(contype), conaffinity=str(conaffinity))
            geom.attrib.update(group=str(COLLISION_GROUP), rgba="0.6 0.6 0.6 1")
        return geom

    def _mesh(self, uri: str, scale: str) -> str:
        key = (uri, scale)
        if key not in self._mesh_names:
            file = resolve_uri(uri)
            self._mesh_names[key] = f"{file.stem}_{len(self._mesh_names)}"
            self.meshes.append(ElementTree.Element("mesh", name=self._mesh_names[key], file=str(file), scale=scale))
        return self._mesh_names[key]

    def _colour(self, visual: Element) -> str:
        material = visual.find("material")
        if material is None:
            return "0.7 0.7 0.7 1"
        own = material.find("color")
        rgba = own.get("rgba") if own is not None else self._colours.get(material.get("name"))
        return rgba or "0.7 0.7 0.7 1"


def _name(joint: Element, end: str) -> str:
    element = joint.find(end)
    if element is None or not element.get("link"):
        raise ModelError(f"joint {joint.get('name')} has no <{end} link=.../>")
    return str(element.get("link"))


def _pose(element: Element) -> Dict[str, str]:
    """Return the origin of a joint or shape; the compiler's eulerseq is that of roll, pitch, yaw about fixed axes."""
    origin = element.find("origin")
    if origin is None:
        return {}
    return {"pos": origin.get("xyz", "0 0 0"), "euler": origin.get("rpy", "0 0 0")}


def _origin(joint: Element) -> Tuple[np.ndarray, np.ndarray]:
    """Return position (3,), m, and rotation (3, 3) of a joint's child in its parent."""
    origin = joint.find("origin")
    xyz, rpy = ("0 0 0", "0 0 0") if origin is None else (origin.get("xyz", "0 0 0"), origin.get("rpy", "0 0 0"))
    return np.array(xyz.split(), dtype=float), rotation_from_rpy(*(float(angle) for angle in rpy.split()))


def _reversed_pose(joint: Element) -> Dict[str, str]:
    """Return the pose of a joint's parent in its child."""
    position, rotation = _origin(joint)
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, rotation.T.ravel())
    return {"pos": text_of(-rotation.T @ position), "quat": text_of(quaternion)}


def _inertial(inertial: Element, link_name: str) -> Element:
    mass, inertia, origin = inertial.find("mass"), inertial.find("inertia"), inertial.find("origin")
    if mass is None or inertia is None:
        raise ModelError(f"link {link_name}: <inertial> needs <mass> and <inertia>")
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    values = [float(inertia.get(name, "0")) for name in names]
    rpy = [float(angle) for angle in origin.get("rpy", "0 0 0").split()] if origin is not None else [0.0, 0.0, 0.0]
    if any(rpy):
        # MJCF takes either the six numbers or an orientation: turn the tensor into the link's axes
        xx, yy, zz, xy, xz, yz = values
        rotation = rotation_from_rpy(*rpy)
        turned = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
        values = [turned[i] for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return ElementTree.Element(
        "inertial",
        pos=origin.get("xyz", "0 0 0") if origin is not None else "0 0 0",
        mass=mass.get("value", "0"),
        fullinertia=text_of(values),
    )
