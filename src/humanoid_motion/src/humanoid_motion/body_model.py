# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False
"""What the engine must know of the robot's dynamics: frames, centre of mass, and the torques of a quasi-static load."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Dict, NamedTuple, Sequence, Tuple

import numpy as np

from humanoid_motion.planar import applied
from robot_mechanics.errors import InvalidUrdfError
from robot_mechanics.models.inertia import inertias_of_urdf
from robot_mechanics.models.joint import Joint
from robot_mechanics.models.urdf import load_urdf
from robot_mechanics.native.jit import kernel

G = 9.81


@kernel
def _frames(q, parent, origin_rotation, origin, axis):
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


@kernel
def _posture(
    q, order, parent, origin_rotation, origin, axis, mass, com, root_moment, total, sole_link, sole_rotation, sole_place
):
    """Return what `Posture` holds, in its order."""
    rotation, place, direction = _frames(q[order], parent, origin_rotation, origin, axis)
    n, s = len(order), len(sole_link)
    com_of_link, whole = np.empty((n, 3)), root_moment.copy()
    for j in range(n):
        com_of_link[j] = applied(rotation[j], com[j, 0], com[j, 1], com[j, 2])
        for k in range(3):
            com_of_link[j, k] += place[j, k]
            whole[k] += mass[j] * com_of_link[j, k]
    whole /= total
    rotations, places = np.empty((s, 3, 3)), np.empty((s, 3))
    for k in range(s):
        link, own, offset = sole_link[k], sole_rotation[k], sole_place[k]
        for column in range(3):
            x, y, z = applied(rotation[link], own[0, column], own[1, column], own[2, column])
            rotations[k, 0, column], rotations[k, 1, column], rotations[k, 2, column] = x, y, z
        x, y, z = applied(rotation[link], offset[0], offset[1], offset[2])
        places[k, 0], places[k, 1], places[k, 2] = place[link, 0] + x, place[link, 1] + y, place[link, 2] + z
    return place, direction, com_of_link, whole, rotations, places


@kernel
def _load_torque(place, axis, com_of_link, order, parent, mass, subtree_mass, sole_link, gravity, forces, points):
    """Return the torque of each joint, (n,), in the order of the joints outside."""
    n = len(order)
    moment, load, torque = np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
    for j in range(n):
        for k in range(3):
            moment[j, k] = mass[j] * com_of_link[j, k]
    for j in range(n - 1, -1, -1):  # children first
        if parent[j] >= 0:
            for k in range(3):
                moment[parent[j], k] += moment[j, k]
        x = moment[j, 0] - subtree_mass[j] * place[j, 0]
        y = moment[j, 1] - subtree_mass[j] * place[j, 1]
        z = moment[j, 2] - subtree_mass[j] * place[j, 2]
        load[j, 0] = y * gravity[2] - z * gravity[1]
        load[j, 1] = z * gravity[0] - x * gravity[2]
        load[j, 2] = x * gravity[1] - y * gravity[0]
    for s in range(len(sole_link)):
        force, j = forces[s], sole_link[s]
        while j >= 0:
            x, y, z = points[s, 0] - place[j, 0], points[s, 1] - place[j, 1], points[s, 2] - place[j, 2]
            load[j, 0] += y * force[2] - z * force[1]
            load[j, 1] += z * force[0] - x * force[2]
            load[j, 2] += x * force[1] - y * force[0]
            j = parent[j]
    for j in range(n):
        torque[order[j]] = -(axis[j, 0] * load[j, 0] + axis[j, 1] * load[j, 1] + axis[j, 2] * load[j, 2])
    return torque


class Posture(NamedTuple):
    """The robot at one set of joint angles, in the frame of its root link, m."""

    place: np.ndarray  #: (n, 3) Of each joint
    axis: np.ndarray  #: (n, 3) Of each joint, unit
    com_of_link: np.ndarray  #: (n, 3) Centre of mass of the link behind each joint
    com: np.ndarray  #: (3,) Of the whole robot
    sole_rotation: np.ndarray  #: (s, 3, 3) Of each sole frame
    sole_place: np.ndarray  #: (s, 3)


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
        If the text is no usable URDF, or lacks a sole.
    KeyError
        If a joint does not exist.
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
        order = np.array([names.index(name) for name in ordered])
        #: Joint to its joint object
        self.joints = joints
        at: Dict[str, int] = {joints[name].child: row for row, name in enumerate(ordered)}
        parent = np.array([at.get(joints[name].parent, -1) for name in ordered])
        origins = np.array([joints[name].origin for name in ordered])
        axis = np.array([joints[name].axis for name in ordered])
        bodies = [inertias[joints[name].child] for name in ordered]
        mass, com = np.array([b.mass for b in bodies]), np.array([b.com for b in bodies])
        root = inertias[tree.root]
        self.mass = float(mass.sum() + root.mass)
        subtree_mass = mass.copy()
        for row in reversed(range(len(ordered))):
            if parent[row] >= 0:
                subtree_mass[parent[row]] += subtree_mass[row]
        self._by_child = by_child
        fixed = [self.link_joint(sole) for sole in soles]
        sole_link = np.array([at[joint.parent] for joint in fixed])
        sole = np.array([joint.origin for joint in fixed])
        frames = order, parent, origins[:, :3, :3].copy(), origins[:, :3, 3].copy(), axis
        self._tree = (
            *frames,
            *(mass, com, root.mass * root.com, self.mass),
            *(sole_link, sole[:, :3, :3].copy(), sole[:, :3, 3].copy()),
        )
        self._carried = order, parent, mass, subtree_mass, sole_link

        #: x0, x1, y0, y1 of the first sole in its frame, m: the floor plan of the foot's collision box
        self.sole_rectangle = _sole_rectangle(urdf_text, fixed[0].parent)

    def link_joint(self, link: str) -> Joint:
        """Return the joint that a link hangs on; raises InvalidUrdfError for a link that is not there."""
        if link not in self._by_child:
            raise InvalidUrdfError(
                f"the robot description has no link '{link}', which the profile has as sole or inertial unit; add it "
                "to the one, or take it out of the other"
            )
        return self._by_child[link]

    def posture(self, q: np.ndarray) -> Posture:
        """Return frames and centres of mass at joint angles (n,), rad."""
        return Posture(*_posture(q, *self._tree))

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
        found = _load_torque(posture.place, posture.axis, posture.com_of_link, *self._carried, gravity, forces, points)
        return np.asarray(found)


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
