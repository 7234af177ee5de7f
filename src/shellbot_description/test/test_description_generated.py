# SPDX-License-Identifier: MIT
"""What is generated: inertias against formulas and against the meshes, files up to date, convex pieces, ball closed."""

from __future__ import annotations

import itertools
import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import yaml
from description_support import link_frames, mesh_vertices, read_stl, urdf
from scipy.spatial import ConvexHull

from shellbot_control.controllers import controllers_text
from shellbot_description import (
    VARIANTS,
    colliding_links,
    collision_exclusions,
    expand,
    load_variables,
    named_pose,
    package_path,
    robot_profile,
)
from shellbot_description.generation import collisions_text, inertials_text, joint_classes_text, write_meshes
from shellbot_description.gore import convex_pieces, gore_quadrature
from shellbot_description.gore_mesh import gore_mesh
from shellbot_description.inertia import inertial_of_shapes, link_inertials
from shellbot_description.shapes import Shape
from shellbot_description.visual_meshes import visual_meshes

MESH_BYTES = 3e6


@pytest.fixture(scope="module")
def variables():
    """Return the adopted set."""
    return load_variables()


def test_generated_config_is_up_to_date(variables):
    """The committed YAML files are what the generator writes from the variables."""
    config = package_path() / "config"
    remedy = "run src/shellbot_description/scripts/generate.py and commit what changed"
    assert (config / "inertials.yaml").read_text() == inertials_text(variables), remedy
    assert (config / "collisions.yaml").read_text() == collisions_text(variables), remedy
    assert (config / "joint_classes.yaml").read_text() == joint_classes_text(variables), remedy
    for variant in VARIANTS:
        text = controllers_text(robot_profile(variant), expand(variant))
        assert (config / f"controllers_{variant}.yaml").read_text(encoding="utf-8") == text, remedy


def test_small_numbers_of_generated_files_are_numbers():
    """YAML 1.1 takes 5e-05 for a text."""
    small = load_variables({"servos.armature_kgm2": 5e-05})
    for kind, values in yaml.safe_load(joint_classes_text(small))["classes"].items():
        assert values == {"stiffness": small.servo_stiffness(kind), "armature": small.armature(kind)}, kind


def test_committed_meshes_are_up_to_date(variables, tmp_path):
    """A regeneration gives the same files, with the same corners (to 1 micrometre), and they are small."""
    written = {path.relative_to(tmp_path): path for path in write_meshes(tmp_path, variables)}
    folder = package_path() / "meshes"
    committed = {path.relative_to(folder): path for path in folder.rglob("*.stl")}
    assert set(written) == set(committed)
    for name, path in written.items():
        ours, theirs = (np.unique(np.round(read_stl(p).reshape(-1, 3), 6), axis=0) for p in (path, committed[name]))
        np.testing.assert_allclose(ours, theirs, atol=2e-6, err_msg=str(name))
    assert sum(path.stat().st_size for path in committed.values()) < MESH_BYTES


def test_generation_is_deterministic(variables, tmp_path):
    """Two runs write the same bytes."""
    first, second = (write_meshes(tmp_path / run, variables) for run in ("1", "2"))
    for one, two in zip(first, second):
        assert one.read_bytes() == two.read_bytes()


def test_visual_meshes_are_closed(variables):
    """In a closed mesh the directed areas of all triangles sum to zero."""
    for name, triangles in visual_meshes(variables).items():
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        assert np.linalg.norm(normals.sum(axis=0)) < 1e-9 * len(triangles), name
        volume = np.einsum("ni,ni->", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])) / 6
        assert volume > 0.0, f"{name}: the triangles look inwards"


def test_shell_inertia_against_the_formulas():
    """Box, cylinder and sphere: textbook moments; two parts: the parallel-axis theorem."""
    box = inertial_of_shapes([Shape("b", "box", (0.1, 0.2, 0.3), (0, 0, 0), 1.0)], 2.0)
    np.testing.assert_allclose(np.diag(box.inertia), 2.0 / 12 * np.array([0.13, 0.1, 0.05]))
    lying = inertial_of_shapes([Shape("c", "cylinder", (0.1, 0.4), (0, 0, 0), 1.0, (0, math.pi / 2, 0))], 3.0)
    side = 3.0 * (0.1**2 / 4 + 0.4**2 / 12)
    np.testing.assert_allclose(lying.inertia, np.diag([3.0 * 0.1**2 / 2, side, side]), atol=1e-15)
    balls = [Shape("l", "sphere", (0.01,), (-0.1, 0, 0), 0.25), Shape("r", "sphere", (0.01,), (0.3, 0, 0), 0.75)]
    pair = inertial_of_shapes(balls, 4.0)
    np.testing.assert_allclose(pair.com, [0.2, 0, 0], atol=1e-15)
    own, apart = 0.4 * 4.0 * 0.01**2, 1.0 * 0.3**2 + 3.0 * 0.1**2
    np.testing.assert_allclose(pair.inertia, np.diag([own, own + apart, own + apart]), atol=1e-15)


def test_gore_integral(variables):
    """The volume of an upper gore and the height of its centre of mass, in closed form; the slot is missing below."""
    gore = variables.gore
    outer, inner = gore.outer_radius, gore.outer_radius - gore.thickness
    points, volumes = gore_quadrature(variables, lower=False)
    sines = math.sin(gore.latitude_max) - math.sin(gore.latitude_min)
    volume = (outer**3 - inner**3) / 3 * sines * 2 * gore.half_width
    assert math.isclose(volumes.sum(), volume, rel_tol=1e-4)
    squares = math.sin(gore.latitude_max) ** 2 - math.sin(gore.latitude_min) ** 2
    height = (outer**4 - inner**4) / 4 * squares / 2 * 2 * gore.half_width / volume
    assert math.isclose(volumes @ points[:, 2] / volumes.sum(), height, rel_tol=1e-4)
    points, slotted = gore_quadrature(variables, lower=True)
    assert 0.75 * volume < slotted.sum() < 0.9 * volume
    assert points[:, 2].max() < 0


@pytest.mark.parametrize("lower", [True, False])
def test_gore_mesh_has_the_inertia_of_the_integral(variables, lower):
    """Volume and centre of mass of the visual mesh are those of the integral (facets of 3 deg: within 1 %)."""
    triangles = gore_mesh(variables, lower)
    signed = np.einsum("ni,ni->n", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])) / 6
    centre = (signed[:, None] * triangles.sum(axis=1) / 4).sum(axis=0) / signed.sum()
    points, volumes = gore_quadrature(variables, lower)
    assert math.isclose(signed.sum(), volumes.sum(), rel_tol=0.01)
    np.testing.assert_allclose(centre, volumes @ points / volumes.sum(), atol=0.7e-3)


def test_inertials_are_physical(variables):
    """Every generated inertia, also that of the older set."""
    older = load_variables(package_path() / "config" / "shellbot_older.yaml")
    for bodies in (link_inertials(variables), link_inertials(older)):
        assert set(bodies) == set(variables.masses())
        for kind, body in bodies.items():
            moments = np.linalg.eigvalsh(body.inertia)  # ascending; a body's keep the triangle inequality
            assert body.mass > 0 and moments[0] > 0 and moments[0] + moments[1] > moments[2], kind


@pytest.mark.parametrize("lower", [True, False])
def test_pieces_are_convex_fine_and_inside_the_shell(variables, lower):
    """All outer vertices lie on the hull, on the sphere, and no two neighbours are farther apart than 3.5 deg."""
    gore = variables.gore
    for name, points in convex_pieces(variables, lower).items():
        hull = ConvexHull(points)
        radii = np.linalg.norm(points, axis=1)
        outside = np.isclose(radii, gore.outer_radius, atol=1e-9)
        assert np.isclose(radii[~outside], gore.outer_radius - gore.thickness, atol=1e-9).all()
        assert set(np.nonzero(outside)[0]) <= set(hull.vertices), name
        directions = points[outside] / radii[outside][:, None]
        cosines = directions @ directions.T
        nearest = np.sort(np.degrees(np.arccos(np.clip(cosines, -1, 1))), axis=1)[:, 1:3]
        assert nearest.max() <= 3.5 + 1e-9, name
        assert (points[:, 2] < 0).all() if lower else (points[:, 2] > 0).all()
        kind = "lower_gore" if lower else "upper_gore"
        committed = mesh_vertices(f"package://shellbot_description/meshes/collision/{kind}_{name}.stl")
        assert len(committed) == len(hull.vertices)


def test_exclusions():
    """The pairs of the study: own leg, fans among themselves and with coxae, chassis with what is joined to it."""
    pairs = collision_exclusions("simulation")
    yes = [
        ("lower_1_gore_link", "lower_1_femur_link"),
        ("lower_1_fan_link", "lower_2_fan_link"),
        ("lower_1_fan_link", "lower_5_coxa_link"),
        ("chassis", "lower_3_coxa_link"),
        ("chassis", "upper_3_shoulder_link"),
        ("upper_4_gore_link", "upper_4_shoulder_link"),
    ]
    no = [
        ("lower_1_gore_link", "lower_2_gore_link"),
        ("lower_1_gore_link", "upper_1_gore_link"),
        ("lower_1_gore_link", "lower_2_femur_link"),
        ("lower_1_tibia_link", "lower_2_fan_link"),
        ("chassis", "lower_1_tibia_link"),
        ("chassis", "lower_1_gore_link"),
        ("chassis", "upper_1_gore_link"),
    ]
    assert all(frozenset(pair) in pairs for pair in yes)
    assert not any(frozenset(pair) in pairs for pair in no)
    # 6 legs x C(5,2), 6 x C(3,2), C(6,2) fans, 6 x 5 fan-coxa of other legs, chassis with 4 x 6
    assert len(pairs) == 60 + 18 + 15 + 30 + 24
    walker = collision_exclusions("walker")
    assert walker == {pair for pair in pairs if not any(link.startswith("upper") for link in pair)}
    assert set().union(*pairs) <= set(colliding_links())


@pytest.mark.parametrize("variant", ["simulation", "walker"])
def test_gazebo_excludes_the_same_pairs_by_bits(variant):
    """Gazebo has no list of pairs: two links touch if they have a bit in common; the ground has all 16."""
    robot = ElementTree.fromstring(expand(variant, "gazebo"))
    path = "collision/surface/contact/collide_bitmask"
    bits = {e.get("reference"): int(e.findtext(path)) for e in robot.findall("gazebo") if e.find(path) is not None}
    excluded = collision_exclusions(variant)
    links = [link.get("name") for link in robot.findall("link") if link.find("collision") is not None]
    assert len(links) > 25 and all(0 < bits[link] < 2**16 for link in links)
    body = {link: link for link in links}  # of links fixed to each other Gazebo makes one
    for joint in robot.findall("joint[@type='fixed']"):
        body[joint.find("child").get("link")] = joint.find("parent").get("link")
    joined = {frozenset((j.find("parent").get("link"), j.find("child").get("link"))) for j in robot.findall("joint")}
    for one, other in itertools.combinations(links, 2):
        if body[one] == body[other] or frozenset((body[one], body[other])) in joined:
            continue  # never collide, whatever their bits
        apart = frozenset((one, other)) in excluded
        # these two share no bit either, as there are too few; in what the robot does they stay 20 mm apart
        apart |= one.endswith("_fan_link") and other.endswith(("_shoulder_link", "_shell_link"))
        assert bool(bits[one] & bits[other]) != apart, (one, other)


def test_gores_of_the_closed_ball_leave_slits():
    """No vertex of a gore's pieces enters the sector or the half of another; the slits are 3 mm or wider."""
    robot, frames = urdf(), link_frames(urdf(), named_pose("closed"))
    del robot
    for k in range(1, 7):
        for half, sign, middle in (("lower", -1, (k - 1) * 60 - 72), ("upper", 1, (k - 1) * 60 - 12)):
            for i in (1, 2, 3):
                for j in (1, 2):
                    name = f"package://shellbot_description/meshes/collision/{half}_gore_piece_{i}_{j}.stl"
                    frame = frames[f"{half}_{k}_gore_link"]
                    points = mesh_vertices(name) @ frame[:3, :3].T + frame[:3, 3]
                    assert (sign * points[:, 2] > 2.5e-3).all()
                    turn = np.radians(middle)
                    across = -math.sin(turn) * points[:, 0] + math.cos(turn) * points[:, 1]
                    along = math.cos(turn) * points[:, 0] + math.sin(turn) * points[:, 1]
                    # distance from the planes at +-30 deg that part the lunes
                    gap = math.sin(math.radians(30)) * along - math.cos(math.radians(30)) * np.abs(across)
                    assert gap.min() > 0.5e-3
                    assert np.linalg.norm(points, axis=1).max() < 162.02e-3
