# SPDX-License-Identifier: MIT
"""Boxes, cylinders and spheres that are put beside the robot while the simulation runs, fixed or free."""

from __future__ import annotations

import copy
import dataclasses
import math
import re
import xml.etree.ElementTree as ElementTree
from typing import Dict, Iterable, List, Mapping, Optional, Tuple

import mujoco
import numpy as np

from shellbot_common import SettingsError, check_number
from shellbot_common.rotations import rpy_from_quaternion

from .collision_bits import ALL_BITS
from .errors import ObstacleError
from .urdf_tree import text_of

#: What the numbers of `size` are, m
SHAPES: Mapping[str, Tuple[str, ...]] = {
    "box": ("length", "width", "height"),
    "cylinder": ("radius", "height"),
    "sphere": ("radius",),
}
MOST = 100
BODY = "obstacle:"  # before its name, the name of its body
FREE_V = 6  # velocities of a free body
_OVERLAP_M = 1e-4  # deeper than this, a new one is refused
_FIXED_COLOUR, _FREE_COLOUR = (0.62, 0.55, 0.46, 1.0), (0.80, 0.50, 0.25, 1.0)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclasses.dataclass(frozen=True)
class Obstacle:
    """One of them.

    Raises
    ------
    ObstacleError
        For a value out of its range; the text names it.
    """

    name: str  #: Up to 64 letters, digits, '_', '.' and '-'
    shape: str  #: box, cylinder (about its z axis) or sphere
    size: Tuple[float, ...]  #: As SHAPES says, m
    position: Tuple[float, float, float]  #: Of its middle in the world, m
    quaternion: Tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)  #: x, y, z, w; all zero: not turned
    mass: float = 0.0  #: kg; 0: fixed
    friction: float = 0.0  #: Against everything; 0: as everything else

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ObstacleError(
                f"name {self.name!r}: use 1 to 64 letters, digits, '_', '.' or '-', the first a letter or digit"
            )
        if self.shape not in SHAPES:
            raise ObstacleError(f"{self.name}: there is no shape {self.shape!r}; choose one of {', '.join(SHAPES)}")
        names = SHAPES[self.shape]
        if len(self.size) != len(names):
            raise ObstacleError(
                f"{self.name}: a {self.shape} has {len(names)} sizes ({', '.join(names)}), not {len(self.size)}"
            )
        try:
            for key, value in zip(names, self.size):
                check_number(f"{self.name}: {key}", value, 0.001, 100.0, "m")
            for key, value in zip("xyz", self.position):
                check_number(f"{self.name}: position {key}", value, -1000.0, 1000.0, "m")
            for key, value in zip("xyzw", self.quaternion):
                check_number(f"{self.name}: orientation {key}", value, -1.0001, 1.0001)
            if self.mass:
                check_number(f"{self.name}: mass", self.mass, 0.001, 1000.0, "kg", "0 is fixed")
            check_number(f"{self.name}: friction", self.friction, 0.0, 5.0, hint="0 takes that of everything else")
        except SettingsError as error:
            raise ObstacleError(str(error)) from None
        length = math.sqrt(sum(value * value for value in self.quaternion))
        if not length:
            object.__setattr__(self, "quaternion", (0.0, 0.0, 0.0, 1.0))
        elif abs(length - 1.0) > 0.01:
            raise ObstacleError(f"{self.name}: the orientation's quaternion has length {length:.3g}; it must be 1")

    @property
    def extent(self) -> Tuple[float, float, float]:
        """Lengths along its own axes, m."""
        if self.shape == "box":
            length, width, height = self.size
            return length, width, height
        diameter = 2.0 * self.size[0]
        return diameter, diameter, self.size[1] if self.shape == "cylinder" else diameter

    @property
    def colour(self) -> Tuple[float, float, float, float]:
        """Red, green, blue, alpha in all pictures: what is free differs from what is fixed."""
        return _FREE_COLOUR if self.mass else _FIXED_COLOUR

    @property
    def inertia(self) -> Tuple[float, float, float]:
        """Main moments of a homogeneous body, kg m^2."""
        x, y, z = (edge * edge for edge in self.extent)
        if self.shape == "box":
            moments = ((y + z) / 12.0, (x + z) / 12.0, (x + y) / 12.0)
        elif self.shape == "cylinder":
            moments = (x / 16.0 + z / 12.0, x / 16.0 + z / 12.0, x / 8.0)
        else:
            moments = (x / 10.0, x / 10.0, x / 10.0)
        ixx, iyy, izz = (self.mass * moment for moment in moments)
        return ixx, iyy, izz

    def sdf(self, friction: float) -> str:
        """Return it as an SDF model for Gazebo; `friction` where it has none of its own."""
        tags = {
            "box": "<box><size>{0!r} {1!r} {2!r}</size></box>",
            "cylinder": "<cylinder><radius>{0!r}</radius><length>{1!r}</length></cylinder>",
            "sphere": "<sphere><radius>{0!r}</radius></sphere>",
        }
        geometry = f"<geometry>{tags[self.shape].format(*map(float, self.size))}</geometry>"
        mu = float(self.friction or friction)
        surface = f"<surface><friction><ode><mu>{mu!r}</mu><mu2>{mu!r}</mu2></ode></friction></surface>"
        rpy = rpy_from_quaternion(*self.quaternion)
        pose = " ".join(repr(float(value)) for value in (*self.position, *rpy))
        ixx, iyy, izz = self.inertia
        inertia = f"<ixx>{ixx!r}</ixx><iyy>{iyy!r}</iyy><izz>{izz!r}</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz>"
        inertial = f"<inertial><mass>{self.mass!r}</mass><inertia>{inertia}</inertia></inertial>" if self.mass else ""
        return (
            f'<sdf version="1.6"><model name="{self.name}"><static>{"false" if self.mass else "true"}</static>'
            f'<pose>{pose}</pose><link name="body">{inertial}<collision name="c">{geometry}{surface}</collision>'
            f'<visual name="v">{geometry}</visual></link></model></sdf>'
        )


def add_obstacles(world: ElementTree.Element, obstacles: Iterable[Obstacle], contact: Dict[str, str]) -> None:
    """Add bodies to a model's world behind the robot, whose joints, bodies and shapes keep their numbers.

    Parameters
    ----------
    world : Element
        The worldbody of an MJCF model.
    obstacles : iterable of Obstacle
        In this order.
    contact : dict
        Contact attributes of the robot and the floor.
    """
    for obstacle in obstacles:
        x, y, z, w = obstacle.quaternion
        body = ElementTree.SubElement(
            world, "body", name=BODY + obstacle.name, pos=text_of(obstacle.position), quat=text_of((w, x, y, z))
        )
        # what is fixed is like the floor, which touches what has a contype; what is free lies on it, too
        bits = {"contype": str(ALL_BITS if obstacle.mass else 0), "conaffinity": str(ALL_BITS)}
        if obstacle.mass:
            ElementTree.SubElement(body, "freejoint", name=BODY + obstacle.name)
            ElementTree.SubElement(
                body, "inertial", pos="0 0 0", mass=repr(float(obstacle.mass)), diaginertia=text_of(obstacle.inertia)
            )
        size = [0.5 * edge for edge in obstacle.extent]
        if obstacle.shape == "cylinder":
            size = size[1:]
        geom = ElementTree.SubElement(
            body, "geom", {**contact, **bits}, type=obstacle.shape, size=text_of(size), rgba=text_of(obstacle.colour),
            group="0", name=BODY + obstacle.name,
        )  # fmt: skip
        if obstacle.friction:  # of two shapes that of the higher priority counts, else the greater
            rest = contact["friction"].split()[1:]
            geom.attrib.update(priority="1", friction=" ".join([repr(float(obstacle.friction)), *rest]))


def first_body(model: mujoco.MjModel) -> int:
    """Return the number of the first obstacle's body; all before it are the world's and the robot's."""
    names = (model.body(body).name for body in range(model.nbody))
    return next((body for body, name in enumerate(names) if name.startswith(BODY)), int(model.nbody))


def pose_of(model: mujoco.MjModel, data: mujoco.MjData, obstacle: Obstacle) -> Obstacle:
    """Return an obstacle where it is now."""
    if not obstacle.mass:
        return obstacle
    body = model.body(BODY + obstacle.name).id
    qw, *xyz = data.xquat[body].tolist()
    moved = copy.copy(obstacle)  # not checked: it may be farther away than where one may be put
    object.__setattr__(moved, "position", tuple(data.xpos[body].tolist()))
    object.__setattr__(moved, "quaternion", (*xyz, qw))
    return moved


def overlap(model: mujoco.MjModel, data: mujoco.MjData, name: str, owners: np.ndarray) -> str:
    """Return what an obstacle must not overlap but does, or nothing: the robot, or, if it is free, anything.

    Parameters
    ----------
    model, data : MjModel, MjData
        With the contacts of the present position.
    name : str
        Of the obstacle.
    owners : (ngeom,) array
        Body of the link of each shape.
    """
    body = model.body(BODY + name).id
    first = first_body(model)
    found: List[Tuple[float, str]] = []
    for contact in data.contact:
        bodies = [int(owners[geom]) for geom in (contact.geom1, contact.geom2)]
        if body not in bodies or contact.dist > -_OVERLAP_M:
            continue
        other = bodies[0] if bodies[1] == body else bodies[1]
        if 0 < other < first or model.body_weldid[body]:
            label = "the floor" if other == 0 else str(model.body(other).name).replace(BODY, "obstacle ")
            found.append((-float(contact.dist), label))
    if not found:
        return ""
    depth, label = max(found)
    return f"{name} overlaps {label} by {1e3 * depth:.1f} mm"


def checked_new(obstacle: Obstacle, present: Mapping[str, Obstacle]) -> None:
    """Refuse a name that is taken, and one too many."""
    if obstacle.name in present:
        raise ObstacleError(f"there is an obstacle {obstacle.name} already; delete it first, or choose another name")
    if len(present) >= MOST:
        raise ObstacleError(f"there are {MOST} obstacles, the most that there can be; delete one first")


def known(name: str, present: Mapping[str, Obstacle]) -> Obstacle:
    """Return an obstacle by name, or refuse; the text lists those that there are."""
    found: Optional[Obstacle] = present.get(name)
    if found is None:
        raise ObstacleError(f"there is no obstacle {name!r}; there are: {', '.join(present) or 'none'}")
    return found
