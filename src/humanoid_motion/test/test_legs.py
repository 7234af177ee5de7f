# SPDX-License-Identifier: MIT
"""Legs in closed form and the body model, against the general kinematics library and the simulator."""

from __future__ import annotations

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.body_model import BodyModel
from humanoid_motion.legs import LEG_JOINTS, Leg, ankle_of, leg_angles, pair_angles
from robot_mechanics import load_urdf

URDF = humanoid_description.urdf_text()
PROFILE = humanoid_description.profile()
NAMES = PROFILE.joint_names
MODEL = BodyModel(URDF, NAMES, ("l_sole", "r_sole"))
LEGS = Leg.of_model(MODEL, "L"), Leg.of_model(MODEL, "R")


def indices(side):
    return [NAMES.index(side + name) for name in LEG_JOINTS]


def soles_of(posture):
    return list(zip(posture.sole_rotation, posture.sole_place))


def random_legs(rng):
    """Return joint angles with both hips' shared joint at one angle, away from straight knees."""
    q = np.array(list(PROFILE.pose("stand").values()))
    for side, leg in zip("LR", LEGS):
        q[indices(side)] = rng.uniform(0.9 * leg.lower, 0.9 * leg.upper)
        q[indices(side)[3]] = rng.uniform(0.2, 2.0)
    q[indices("R")[0]] = q[indices("L")[0]]
    return q


def test_frames_and_centre_agree_with_the_general_library_and_masses_with_the_description():
    tree, rng = load_urdf(URDF), np.random.default_rng(1)
    q = random_legs(rng)
    posture = MODEL.posture(q)
    in_tree = np.array([q[NAMES.index(name)] for name in tree.joint_names])
    for link, (rotation, place) in zip(("l_sole", "r_sole"), soles_of(posture)):
        frame = tree.frame(link, in_tree)
        assert np.allclose(frame[:3, :3], rotation, atol=1e-12)
        assert np.allclose(frame[:3, 3], place, atol=1e-12)
    assert pytest.approx(5.19535, abs=1e-4) == MODEL.mass


def test_closed_form_meets_thousands_of_poses_exactly():
    rng, worst, count = np.random.default_rng(2), 0.0, 0
    for _ in range(1500):
        q = random_legs(rng)
        posture = MODEL.posture(q)
        rotations = posture.sole_rotation
        ankles = np.array([ankle_of(leg, r, p) for leg, (r, p) in zip(LEGS, soles_of(posture))])
        if any((r.T @ (leg.hip - p))[2] < 0.01 for leg, r, p in zip(LEGS, rotations, ankles)):
            continue  # the hip below the plane of the foot: no posture to stand in, and the closed form's other branch
        count += 1
        for weight in (0.0, 0.7):  # both legs want the same shared angle
            found = pair_angles(LEGS, rotations, ankles, weight)
            worst = max(worst, *(np.abs(a - q[indices(s)]).max() for s, a in zip("LR", found)))
    assert count > 1000
    assert worst < 1e-9


def test_out_of_reach_the_leg_points_there_and_yaw_gives_way_to_the_shared_joint():
    rotation = np.eye(3)
    far = LEGS[0].hip + np.array([0.02, 0.0, -0.5])
    angles = leg_angles(LEGS[0], 0.0, rotation, far)
    assert np.isfinite(angles).all()
    assert abs(angles[3]) < 0.2
    turned = np.array([[0.9, -0.4359, 0.0], [0.4359, 0.9, 0.0], [0.0, 0.0, 1.0]])
    ankles = np.array([leg.hip + [0.0, 0.0, -0.18] for leg in LEGS])
    left, right = pair_angles(LEGS, np.array([turned, rotation]), ankles, 0.7)
    assert left[0] == right[0] != 0.0
    q = np.array(list(PROFILE.pose("stand").values()))
    q[indices("L")], q[indices("R")] = left, right
    for leg, (r, p), ankle in zip(LEGS, soles_of(MODEL.posture(q)), ankles):
        assert np.allclose(ankle_of(leg, r, p), ankle, atol=1e-9)
        assert r[2, 2] == pytest.approx(1.0, abs=1e-9)


def test_load_torques_are_the_gradient_of_the_potential():
    """Virtual work: torque times a small turn is the change of the links' height less the ground's work."""
    rng = np.random.default_rng(5)
    q, gravity = random_legs(rng), np.array([0.4, -0.2, -9.8])
    forces = rng.normal(size=(2, 3)) * 20.0

    def potential(angles):
        posture = MODEL.posture(angles)
        return -MODEL.mass * gravity @ posture.com - float(np.sum(forces * posture.sole_place))

    posture = MODEL.posture(q)
    torque = MODEL.load_torque(posture, gravity, forces, posture.sole_place)
    for joint in range(len(NAMES)):
        step = np.zeros(len(NAMES))
        step[joint] = 1e-6
        slope = (potential(q + step) - potential(q - step)) / 2e-6
        assert torque[joint] == pytest.approx(slope, abs=1e-6), NAMES[joint]
