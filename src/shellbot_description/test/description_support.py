# SPDX-License-Identifier: MIT
"""What several tests of the description need: URDF trees, forward kinematics by plain numpy, collision vertices."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from functools import lru_cache
from typing import Dict, List, Mapping

import numpy as np
from stl import mesh as stl_mesh

from shellbot_description import expand, package_path

URI = "package://shellbot_description/"


@lru_cache(maxsize=None)
def urdf(variant: str = "simulation", simulator: str = "none") -> ElementTree.Element:
    """Return the expanded URDF as a tree."""
    return ElementTree.fromstring(expand(variant, simulator))


def numbers(text: str) -> np.ndarray:
    """Return the numbers of an attribute."""
    return np.array([float(word) for word in text.split()])


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return Rz(yaw) Ry(pitch) Rx(roll), written out as three products on purpose (independent of the package)."""
    x = np.array([[1, 0, 0], [0, math.cos(roll), -math.sin(roll)], [0, math.sin(roll), math.cos(roll)]])
    y = np.array([[math.cos(pitch), 0, math.sin(pitch)], [0, 1, 0], [-math.sin(pitch), 0, math.cos(pitch)]])
    z = np.array([[math.cos(yaw), -math.sin(yaw), 0], [math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]])
    return z @ y @ x


def origin(element: ElementTree.Element) -> np.ndarray:
    """Return the (4, 4) transform of the element's origin."""
    result = np.eye(4)
    found = element.find("origin")
    if found is not None:
        result[:3, :3] = rotation(*numbers(found.get("rpy", "0 0 0")))
        result[:3, 3] = numbers(found.get("xyz", "0 0 0"))
    return result


def link_frames(robot: ElementTree.Element, q: Mapping[str, float]) -> Dict[str, np.ndarray]:
    """Return T_base_link of each link (4, 4) with the joints at `q` (rad; missing ones at 0)."""
    frames = {"base_link": np.eye(4)}
    for joint in robot.findall("joint"):  # the file lists parents first
        step = origin(joint)
        if joint.get("type") == "revolute":
            assert joint.find("axis").get("xyz") == "0 0 1"
            turn = np.eye(4)
            turn[:3, :3] = rotation(0, 0, q.get(joint.get("name"), 0.0))
            step = step @ turn
        frames[joint.find("child").get("link")] = frames[joint.find("parent").get("link")] @ step
    return frames


def read_stl(path) -> np.ndarray:
    """Return the triangles (n, 3, 3) of a binary STL, m."""
    return np.asarray(stl_mesh.Mesh.from_file(str(path)).vectors, dtype=float)


@lru_cache(maxsize=None)
def mesh_vertices(filename: str) -> np.ndarray:
    """Return the vertices (n, 3) of a mesh of the URDF."""
    return np.unique(read_stl(package_path() / filename[len(URI) :]).reshape(-1, 3), axis=0)


def _box(size: np.ndarray) -> np.ndarray:
    return np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size


def _cylinder(radius: float, length: float) -> np.ndarray:
    angles = np.linspace(0, 2 * math.pi, 49)
    ring = [[radius * math.cos(a), radius * math.sin(a)] for a in angles]
    return np.array([[x, y, z] for x, y in ring for z in (-length / 2, length / 2)])


def lowest_points(robot: ElementTree.Element, frames: Mapping[str, np.ndarray]) -> Dict[str, float]:
    """Return the lowest height of each collision element, in base_link."""
    heights = {}
    for link in robot.findall("link"):
        for collision in link.findall("collision"):
            pose = frames[link.get("name")] @ origin(collision)
            shape = collision.find("geometry")[0]
            if shape.tag == "sphere":
                heights[collision.get("name")] = pose[2, 3] - float(shape.get("radius"))
                continue
            if shape.tag == "mesh":
                points = mesh_vertices(shape.get("filename"))
            elif shape.tag == "box":
                points = _box(numbers(shape.get("size")))
            else:
                points = _cylinder(float(shape.get("radius")), float(shape.get("length")))
            heights[collision.get("name")] = float((points @ pose[2, :3] + pose[2, 3]).min())
    return heights


def inertia_of(link: ElementTree.Element) -> np.ndarray:
    """Return the inertia (3, 3) of a link."""
    i = {key: float(value) for key, value in link.find("inertial").find("inertia").items()}
    return np.array([[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]])


def masses(robot: ElementTree.Element) -> Dict[str, float]:
    """Return the mass of each link that has one."""
    found: List = [link for link in robot.findall("link") if link.find("inertial") is not None]
    return {link.get("name"): float(link.find("inertial").find("mass").get("value")) for link in found}


def centre_of_mass(robot: ElementTree.Element, frames: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the centre of mass (3,) in base_link."""
    total, moment = 0.0, np.zeros(3)
    for link in robot.findall("link"):
        inertial = link.find("inertial")
        if inertial is not None:
            mass = float(inertial.find("mass").get("value"))
            moment += mass * (frames[link.get("name")] @ origin(inertial))[:3, 3]
            total += mass
    return moment / total
