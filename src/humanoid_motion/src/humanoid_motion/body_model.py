# SPDX-License-Identifier: MIT
"""What the engine must know of the robot's dynamics: frames, centre of mass, and the torques of a quasi-static load."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Dict, Sequence, Tuple

import numpy as np

from robot_mechanics.errors import InvalidUrdfError
from robot_mechanics.models.inertia import inertias_of_urdf
from robot_mechanics.models.joint import Joint
from robot_mechanics.models.urdf import load_urdf
from robot_mechanics.native.jit import kernel

G = 9.81


@kernel
def _frames(q, parent, origin_rotation, origin, axis):  # type: ignore[no-untyped-def]
    """Return rotation (n, 3, 3) and place (n, 3) of the frame behind each joint, and its axis (n, 3), in the root."""
    n = q.shape[0]
    rotation, place, direction = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    turn, before = np.empty((3, 3)), np.empty((3, 3))
    for j in range(n):
        p = parent[j]
        for row in range(3):
            place[j, row] = origin[j, row] if p < 0 else place[p, row]
            if p >= 0:
                for k in range(3):
                    place[j, row] += rotation[p, row, k] * origin[j, k]
            for column in range(3):
                if p < 0:
                    before[row, column] = origin_rotation[j, row, column]
                else:
                    before[row, column] = 0.0
                    for k in range(3):
                        before[row, column] += rotation[p, row, k] * origin_rotation[j, k, column]
        c, s = np.cos(q[j]), np.sin(q[j])
        x, y, z = axis[j, 0], axis[j, 1], axis[j, 2]
        turn[0, 0], turn[0, 1], turn[0, 2] = c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s
        turn[1, 0], turn[1, 1], turn[1, 2] = y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s
        turn[2, 0], turn[2, 1], turn[2, 2] = z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)
        for row in range(3):
            direction[j, row] = 0.0
            for k in range(3):
                direction[j, row] += before[row, k] * axis[j, k]
            for column in range(3):
                total = 0.0
                for k in range(3):
                    total += before[row, k] * turn[k, column]
                rotation[j, row, column] = total
    return rotation, place, direction


@dataclass(frozen=True)
class Posture:
    """The robot at one set of joint angles, in the frame of its root link, m."""

    rotation: np.ndarray  #: (n, 3, 3) Of the link behind each joint
    place: np.ndarray  #: (n, 3) Of each joint
    axis: np.ndarray  #: (n, 3) Of each joint, unit
    com_of_link: np.ndarray  #: (n, 3) Centre of mass of the link behind each joint
    com: np.ndarray  #: (3,) Of the whole robot
    soles: Tuple[Tuple[np.ndarray, np.ndarray], ...]  #: Rotation (3, 3) and place (3,) of each sole frame


class BodyModel:
    """Masses and axes of a robot whose joints are all revolute.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    joint_names : sequence of str
        Driven joints in the order of every array of joints here, (n,).
    soles : sequence of str
        Links without mass, fixed to the feet, that stand flat on the ground.

    Raises
    ------
    InvalidUrdfError
        If the text is no usable URDF.
    KeyError
        If a joint or sole does not exist.
    """

    def __init__(self, urdf_text: str, joint_names: Sequence[str], soles: Sequence[str]) -> None:
        tree = load_urdf(urdf_text)
        inertias = inertias_of_urdf(urdf_text)
        joints = {joint.name: joint for joint in tree.joints.values()}
        by_child = {joint.child: joint for joint in joints.values()}
        names = list(joint_names)
        ordered = [name for name in tree.joint_names if name in names]  # parents before children
        ordered += [name for name in names if name not in ordered]  # of mimics, which the tree does not count
        ordered.sort(key=lambda name: _depth(joints[name].parent, by_child))
        self._order = np.array([names.index(name) for name in ordered])
        self._place = np.argsort(self._order)
        #: Joint to its joint object
        self.joints = joints
        at: Dict[str, int] = {joints[name].child: row for row, name in enumerate(ordered)}
        self._parent = np.array([at.get(joints[name].parent, -1) for name in ordered])
        origins = np.array([joints[name].origin for name in ordered])
        self._origin_rotation, self._origin = origins[:, :3, :3].copy(), origins[:, :3, 3].copy()
        self._axis = np.array([joints[name].axis for name in ordered])
        bodies = [inertias[joints[name].child] for name in ordered]
        self._mass, self._com = np.array([b.mass for b in bodies]), np.array([b.com for b in bodies])
        root = inertias[tree.root]
        self._root_moment, self.mass = root.mass * root.com, float(self._mass.sum() + root.mass)
        # (n, n): which links hang on a joint
        self._carries = np.eye(len(ordered))
        for row in reversed(range(len(ordered))):
            if self._parent[row] >= 0:
                self._carries[self._parent[row]] += self._carries[row]
        self._subtree_mass = self._carries @ self._mass
        fixed = [by_child[sole] for sole in soles]
        self._sole_links = [at[joint.parent] for joint in fixed]
        self._sole_origins = [joint.origin for joint in fixed]
        self._above = np.array([self._carries[:, link] for link in self._sole_links])  # (s, n)

        #: x0, x1, y0, y1 of the first sole in its frame, m: the floor plan of the foot's collision box
        self.sole_rectangle = _sole_rectangle(urdf_text, fixed[0].parent)

    def posture(self, q: np.ndarray) -> Posture:
        """Return frames and centres of mass at joint angles (n,), rad."""
        rotation, place, axis = _frames(q[self._order], self._parent, self._origin_rotation, self._origin, self._axis)
        com_of_link = place + np.einsum("nij,nj->ni", rotation, self._com)
        com = (self._root_moment + self._mass @ com_of_link) / self.mass
        soles = tuple(
            (rotation[link] @ origin[:3, :3], place[link] + rotation[link] @ origin[:3, 3])
            for link, origin in zip(self._sole_links, self._sole_origins)
        )
        return Posture(rotation, place, axis, com_of_link, com, soles)

    def load_torque(self, posture: Posture, gravity: np.ndarray, forces: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the joint torques that carry the links and the ground's forces on the soles, (n,), N m.

        Parameters
        ----------
        posture : Posture
            Of `posture`.
        gravity : (3,) array
            Gravity less the acceleration of the robot as a whole, root frame, m/s^2.
        forces, points : (s, 3) arrays
            Force of the ground on each sole, and where it acts, root frame, N and m.
        """
        moment = (
            self._carries @ (self._mass[:, None] * posture.com_of_link) - self._subtree_mass[:, None] * posture.place
        )
        load = np.cross(moment, gravity)
        for above, force, point in zip(self._above, forces, points):
            load += above[:, None] * np.cross(point - posture.place, force)
        torque = -np.einsum("ni,ni->n", posture.axis, load)
        return np.asarray(torque[self._place])


def _depth(link: str, by_child: Dict[str, Joint]) -> int:
    depth = 0
    while link in by_child:
        link, depth = by_child[link].parent, depth + 1
    return depth


def _sole_rectangle(urdf_text: str, link: str) -> Tuple[float, float, float, float]:
    for collision in ElementTree.fromstring(urdf_text).findall(f"link[@name='{link}']/collision"):
        box, origin = collision.find("geometry/box"), collision.find("origin")
        if box is not None and origin is not None:
            length, width = (float(word) for word in str(box.get("size")).split()[:2])
            x, y = (float(word) for word in str(origin.get("xyz")).split()[:2])
            return x - 0.5 * length, x + 0.5 * length, y - 0.5 * width, y + 0.5 * width
    raise InvalidUrdfError(f"link '{link}' has no collision box; the walking engine needs feet with a flat sole")
