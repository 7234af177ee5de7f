# SPDX-License-Identifier: MIT
"""Shapes of a robot for a renderer elsewhere, against the files that its description names."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from tiny_robot import URDF, profile

import shellbot_description
from shellbot_common.rotations import rotation_from_quaternion, rotation_from_rpy
from shellbot_simulator.core.paths import resolve_uri
from shellbot_simulator.core.robot_shapes import RobotShapes

stl = pytest.importorskip("stl", reason="numpy-stl is not installed (scripts/setup --dev)")
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def box(points):
    """Corners of the box round points, to 0.01 mm, as something that can be counted."""
    return tuple(np.round(np.concatenate((points.min(axis=0), points.max(axis=0))), 5) + 0.0)


def in_files(urdf_text):
    """Box (in the link's frame) of every visual mesh that a description names."""
    for visual in ElementTree.fromstring(urdf_text).findall("link/visual"):
        mesh, origin = visual.find("geometry/mesh"), visual.find("origin")
        points = stl.mesh.Mesh.from_file(str(resolve_uri(mesh.get("filename")))).vectors.reshape(-1, 3)
        points = points * np.array([float(factor) for factor in mesh.get("scale", "1 1 1").split()])
        if origin is not None:
            rpy, xyz = ([float(x) for x in origin.get(key, "0 0 0").split()] for key in ("rpy", "xyz"))
            points = points @ rotation_from_rpy(*rpy).T + xyz
        yield box(points)


def test_the_shapes_are_those_of_the_files():
    urdf_text = shellbot_description.expand("simulation")
    robot = RobotShapes(urdf_text, shellbot_description.robot_profile("simulation"))
    found = Counter()
    for shape in robot.shapes:
        mesh = robot.meshes[shape.mesh]
        assert shape.kind == "mesh" and mesh.faces.max() < len(mesh.vertices)
        rotation = rotation_from_quaternion(np.array(shape.quaternion))
        found[box(mesh.vertices @ rotation.T + np.array(shape.position))] += 1
    named = Counter(in_files(urdf_text))
    assert len(robot.shapes) > 50 and sum(named.values()) == len(robot.shapes)
    distances = [min(np.abs(np.subtract(a, b)).max() for b in named) for a in found]
    assert max(distances) < 2e-5, "a shape that is in no file, m"


def test_a_joint_moves_what_hangs_on_it():
    robot = RobotShapes(shellbot_description.expand(), shellbot_description.robot_profile())
    before = robot.poses({}, None)
    after = robot.poses({"lower_1_coxa": 0.3}, None)
    moved = np.abs(after - before).max(axis=1) > 1e-3
    assert 1 <= moved.sum() < len(before) / 4 and not moved[0]


def test_the_base_goes_where_it_was_measured_and_what_is_no_number_leaves_it():
    robot = RobotShapes(URDF, profile())
    (shape,) = robot.shapes
    assert (shape.kind, shape.body, shape.mesh) == ("box", 0, -1)
    assert shape.size == (0.15, 0.15, 0.05) and shape.colour[:3] == pytest.approx((0.9, 0.1, 0.1))
    turned = np.array([0.0, 0.0, 1.0, 1.0]) / np.sqrt(2.0)
    poses = robot.poses({}, (np.array([0.3, -0.2, 0.1]), turned))
    assert poses.dtype == np.float32 and poses == pytest.approx(np.array([[0.3, -0.2, 0.1, *turned]]))
    assert (robot.poses({"left": np.nan, "tail": 1.0}, (np.array([np.nan, 0.0, 0.0]), LEVEL)) == poses).all()
