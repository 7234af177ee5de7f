# SPDX-License-Identifier: MIT
"""The URDF agrees with the Denavit-Hartenberg tables, and both with the figures of the specification."""

from __future__ import annotations

import math

import numpy as np
import pytest
from description_support import centre_of_mass, link_frames, lowest_points, urdf

from shellbot_description import (
    POSES,
    VARIANTS,
    DescriptionError,
    complete_profile,
    dh_table_lower,
    dh_table_upper,
    driven_joint_names,
    expand,
    foot_to_lower_sphere_centre,
    joint_class,
    load_variables,
    named_pose,
    named_pose_array,
    package_path,
    pose,
    shell_to_upper_sphere_centre,
    sphere_centre_in_foot,
)
from shellbot_description.poses import checked_poses
from shellbot_description.profile import robot_profile

LEGS = range(1, 7)


def dh(row, q=0.0):
    """Return Rot(z) Trans(z) Trans(x) Rot(x) as a product of four plain matrices."""
    turn_z, shift, turn_x = np.eye(4), np.eye(4), np.eye(4)
    c, s = math.cos(row.theta + q), math.sin(row.theta + q)
    turn_z[:2, :2] = [[c, -s], [s, c]]
    shift[0, 3], shift[2, 3] = row.a, row.d
    c, s = math.cos(row.alpha), math.sin(row.alpha)
    turn_x[1:3, 1:3] = [[c, -s], [s, c]]
    return turn_z @ shift @ turn_x


def chain(table, q):
    """Return the product of the rows, the first one fixed."""
    result = dh(table[0])
    for row, angle in zip(table[1:], q):
        result = result @ dh(row, angle)
    return result


@pytest.fixture(scope="module", params=["adopted", "older"])
def geometry(request):
    """Return variables and URDF of both sets."""
    if request.param == "adopted":
        return load_variables(), urdf("simulation")
    path = package_path() / "config" / "shellbot_older.yaml"
    from xml.etree import ElementTree

    return load_variables(path), ElementTree.fromstring(expand("simulation", "none", variables=path))


def test_dh_and_urdf_agree(geometry):
    """Foot and sphere centre of all twelve limbs, 20 random poses, to 1e-12."""
    variables, robot = geometry
    rng = np.random.default_rng(1)
    for _ in range(20):
        q = {joint: rng.uniform(-2.6, 2.6) for joint in driven_joint_names()}
        frames = link_frames(robot, q)
        for k in LEGS:
            angles = [q[f"lower_{k}_{name}"] for name in ("fan", "coxa", "femur", "tibia")]
            foot = chain(dh_table_lower(variables, k), angles)
            np.testing.assert_allclose(frames[f"lower_{k}_foot"], foot, rtol=0, atol=1e-12)
            centre = foot @ foot_to_lower_sphere_centre(variables)
            np.testing.assert_allclose(frames[f"lower_{k}_sphere_centre"], centre, rtol=0, atol=1e-12)
            shell = chain(dh_table_upper(variables, k), [q[f"upper_{k}_shoulder"], q[f"upper_{k}_shell"]])
            np.testing.assert_allclose(frames[f"upper_{k}_shell_link"], shell, rtol=0, atol=1e-12)
            centre = shell @ shell_to_upper_sphere_centre(variables)
            np.testing.assert_allclose(frames[f"upper_{k}_sphere_centre"], centre, rtol=0, atol=1e-12)


def test_rows_name_their_joints():
    """The first row is fixed, the others carry the joints of the URDF."""
    variables = load_variables()
    rows = (*dh_table_lower(variables, 3)[1:], *dh_table_upper(variables, 3)[1:])
    names = [row.name for row in rows]
    assert names == [name for name in driven_joint_names() if "_3_" in name]
    assert dh_table_lower(variables, 3)[0].kind == dh_table_upper(variables, 3)[0].kind == "fixed"
    for k in (0, 7, "1", True):
        with pytest.raises(DescriptionError, match="numbered 1 to 6"):
            dh_table_lower(variables, k)


def test_sphere_centre_in_the_foot_frame():
    """alpha, beta, r1, xinf, yinf give the adopted centre (17.2, -33.5) mm; joint 4 is 143 mm away from it."""
    x, y = sphere_centre_in_foot(load_variables())
    np.testing.assert_allclose([x, y], [17.2e-3, -33.5e-3], atol=0.05e-3)
    assert math.isclose(math.hypot(x + 0.122, y), 0.143, abs_tol=0.5e-3)


def test_ball_closes():
    """In the closed pose all twelve sphere frames stand in the body centre, upright, over the same six azimuths."""
    frames = link_frames(urdf(), named_pose("closed"))
    for k in LEGS:
        for half, azimuth in (("lower", (k - 1) * 60 - 72), ("upper", (k - 1) * 60 - 12)):
            frame = frames[f"{half}_{k}_sphere_centre"]
            assert np.linalg.norm(frame[:3, 3]) < 0.01e-3
            np.testing.assert_allclose(frame[:3, 2], [0, 0, 1], atol=1e-5)
            expected = [math.cos(math.radians(azimuth)), math.sin(math.radians(azimuth)), 0]
            np.testing.assert_allclose(frame[:3, 0], expected, atol=1e-5)
        foot = frames[f"lower_{k}_foot"][:3, 3]
        assert math.isclose(math.hypot(*foot[:2]), 37.6e-3, abs_tol=0.1e-3)
        assert math.isclose(foot[2], 2e-3, abs_tol=0.3e-3)


def test_closed_ball_is_neutral():
    """Centre of mass within 3 mm below the sphere centre (the study: 1.2 mm)."""
    com = centre_of_mass(urdf(), link_frames(urdf(), named_pose("closed")))
    assert np.hypot(*com[:2]) < 1e-9
    assert -3e-3 < com[2] < 0.0


def test_high_elbow_height():
    """With h1 = 66.35 the report's 1.748 and 78.21 mm come out within 0.06 mm; with 64.55 the ball closes."""
    variables = load_variables()
    for angles, expected in (((-26.6892, 131.6892), 1.748e-3), ((26.6892, 78.3108), 78.21e-3)):
        shell = chain(dh_table_upper(variables, 1), np.radians(angles))
        height = (shell @ shell_to_upper_sphere_centre(variables))[2, 3] + (66.35e-3 - 64.55e-3)
        assert math.isclose(height, expected, abs_tol=0.06e-3)


@pytest.mark.parametrize("name", ["stand", "sit", "spawn"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_standing_poses(name, variant):
    """Feet on the circle at the stated height; nothing else comes within 2 mm of the ground."""
    robot, known = urdf(variant), robot_profile(variant).poses[name]
    frames = link_frames(robot, named_pose(name, variant))
    for k in LEGS:
        foot = frames[f"lower_{k}_foot"][:3, 3]
        assert math.isclose(math.hypot(foot[0], foot[1]), known["foot_radius_m"], abs_tol=0.05e-3)
        assert math.isclose(math.degrees(math.atan2(foot[1], foot[0])) % 360, (k - 1) * 60, abs_tol=0.05) or k == 1
        assert math.isclose(foot[2], -known["body_height_m"], abs_tol=0.05e-3)
    heights = lowest_points(robot, frames)
    feet = {f"lower_{k}_tibia_link_foot" for k in LEGS}
    assert feet < set(heights)
    for element, height in heights.items():
        clearance = height + known["body_height_m"]
        if element in feet:
            assert abs(clearance) < 0.5e-3, element
        else:
            assert clearance > 2e-3, element


def test_stand_is_the_specified_pose():
    """q2 = -16.8, q3 = -9.4, q4 = 110.2 deg at radius 270, height 162.3 mm; upper shells up."""
    angles = [math.degrees(named_pose("stand")[f"lower_1_{name}"]) for name in ("fan", "coxa", "femur", "tibia")]
    np.testing.assert_allclose(angles, [0.0, -16.8, -9.4, 110.2], atol=0.06)
    assert robot_profile("simulation").poses["stand"]["foot_radius_m"] == 0.27 and pose("stand").body_height == 0.1623
    for name in ("stand", "sit", "spawn"):
        upper = [math.degrees(named_pose(name)[f"upper_1_{joint}"]) for joint in ("shoulder", "shell")]
        np.testing.assert_allclose(upper, [26.69, 78.31], atol=0.005)
    assert named_pose("spawn") == named_pose("sit")
    assert pose("sit").body_height < pose("stand").body_height


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", POSES)
def test_poses_respect_the_limits_of_the_urdf(name, variant):
    """Every joint of every pose lies within its limits, in the order of the joint arrays."""
    limits = {joint.get("name"): joint.find("limit") for joint in urdf(variant).findall("joint")}
    array = named_pose_array(name, variant)
    for joint, angle in zip(driven_joint_names(variant), array):
        assert float(limits[joint].get("lower")) <= angle <= float(limits[joint].get("upper")), joint
    assert array.shape == (len(driven_joint_names(variant)),)


def test_wrong_poses_are_refused():
    """Unknown name, angle beyond the range, no height; the profile's own checks are in shellbot_common."""
    with pytest.raises(DescriptionError, match="'jump' does not exist; choose one of closed, sit, spawn, stand"):
        named_pose("jump")
    poses = complete_profile().poses
    high = {**poses, "stand": {**poses["stand"], "femur_deg": 150.0}}
    with pytest.raises(DescriptionError, match="poses.stand: femur_deg = 150 is beyond the joint's range -149.0"):
        checked_poses(complete_profile().replace(poses=high))
    floating = {**poses, "stand": {k: v for k, v in poses["stand"].items() if k != "body_height_m"}}
    with pytest.raises(DescriptionError, match="poses.stand lacks body_height_m"):
        checked_poses(complete_profile().replace(poses=floating))


def test_joint_classes_of_a_pose_are_alike():
    """All six legs have the same angles."""
    for name in POSES:
        by_class = {}
        for joint, angle in named_pose(name).items():
            assert by_class.setdefault(joint_class(joint), angle) == angle
