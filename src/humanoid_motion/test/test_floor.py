# SPDX-License-Identifier: MIT
"""The floor's slope, the height of a foot and the heading, as the estimator finds them from soles and IMU."""

from __future__ import annotations

import math

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.base_estimator import BaseEstimator
from humanoid_motion.body_model import BodyModel
from humanoid_motion.interface import Feedback
from humanoid_motion.planar import LEFT, RIGHT
from shellbot_common.rotations import quaternion_from_rpy

LOADED = np.array([[0.0, 0.0, 25.0, 0.0, 0.0, 0.0]] * 2)
PROFILE = humanoid_description.profile()
MODEL = BodyModel(humanoid_description.urdf_text(), PROFILE.joint_names, tuple(PROFILE.contacts))
STAND = np.array(list(PROFILE.pose("stand").values()))


def posture(**angles):
    q = STAND.copy()
    for name, change in angles.items():
        q[PROFILE.joint_names.index(name)] += change
    return MODEL.posture(q)


def update(estimator, posture, attitude, wrenches, **given):
    estimator.update(posture, Feedback(np.zeros(26), attitude, given.pop("rates", np.zeros(3)), wrenches, **given))


def test_soles_that_lean_against_gravity_are_a_slope_and_the_base_on_it_is_upright():
    for roll, pitch, yaw in ((0.0, -0.05, 0.0), (0.04, 0.03, 0.0), (0.0, -0.05, 2.0)):
        estimator = BaseEstimator()
        update(estimator, posture(), quaternion_from_rpy(roll, pitch, yaw), LOADED)
        assert [estimator.roll, estimator.pitch] == pytest.approx([0.0, 0.0], abs=1e-2)
        down = estimator.rotation.T @ estimator.gravity  # seen from the base it is where the IMU says
        expected = -9.81 * np.array(
            [-math.sin(pitch), math.cos(pitch) * math.sin(roll), math.cos(pitch) * math.cos(roll)]
        )
        assert down == pytest.approx(expected, abs=1e-6)
    assert BaseEstimator().gravity == pytest.approx([0.0, 0.0, -9.81])


def test_a_short_tilt_of_the_soles_changes_the_slope_little_and_no_slope_is_steeper_than_ten_degrees():
    estimator = BaseEstimator()
    update(estimator, posture(), quaternion_from_rpy(0.0, 0.0, 0.0), LOADED)
    for _ in range(10):
        update(estimator, posture(), quaternion_from_rpy(0.0, 0.1, 0.0), LOADED)
    assert 0.0 < math.asin(estimator.gravity[0] / 9.81) < 0.02
    for _ in range(1000):
        update(estimator, posture(), quaternion_from_rpy(0.0, 0.5, 0.0), LOADED)
    assert estimator.gravity[0] / 9.81 == pytest.approx(0.17)


def test_a_foot_that_lands_higher_stands_higher_and_a_millimetre_is_none():
    estimator = BaseEstimator()
    level = quaternion_from_rpy(0.0, 0.0, 0.0)
    update(estimator, posture(), level, LOADED)
    estimator.measure_height(posture(), LEFT)
    assert estimator.heights == pytest.approx([0.0, 0.0])
    bent = posture(LHipPitch=-0.06, LKneePitch=0.12, LAnklePitch=-0.06)  # a shorter leg with a level sole
    rise = bent.sole_place[LEFT, 2] - bent.sole_place[RIGHT, 2]
    assert rise > 0.003
    update(estimator, bent, level, np.array([LOADED[0] * 0.0, LOADED[0]]))
    estimator.measure_height(bent, LEFT)
    assert estimator.heights[LEFT] == pytest.approx(rise - 0.001, abs=2e-4)
    update(estimator, bent, level, LOADED)
    soles = [(estimator.place + estimator.rotation @ place)[2] for place in bent.sole_place]
    assert np.mean(soles) == pytest.approx(np.mean(estimator.heights), abs=1e-3)
    lifted = posture(LHipPitch=-0.5, LKneePitch=1.0, LAnklePitch=-0.5)
    assert lifted.sole_place[LEFT, 2] - lifted.sole_place[RIGHT, 2] > 0.025
    estimator.measure_height(lifted, LEFT)
    assert estimator.heights[LEFT] - estimator.heights[RIGHT] == pytest.approx(0.015), "more is an error of the legs"


def test_a_robot_that_was_lifted_finds_the_slope_of_its_new_floor_at_once():
    estimator = BaseEstimator()
    for _ in range(10):
        update(estimator, posture(), quaternion_from_rpy(0.0, 0.0, 0.0), LOADED)
    estimator.lift()
    update(estimator, posture(), quaternion_from_rpy(0.0, -0.08, 0.0), LOADED)
    assert math.asin(estimator.gravity[0] / 9.81) == pytest.approx(-0.08, abs=1e-2)


def test_the_base_goes_on_while_no_foot_is_loaded():
    estimator = BaseEstimator()
    level, places = quaternion_from_rpy(0.0, 0.0, 0.0), []
    for tick in range(80):
        lean = min(tick, 60) * 0.001  # the legs lean, the base moves ahead over the soles; then both hang still
        legs = {f"{side}{joint}": sign * lean for side in "LR" for joint, sign in (("HipPitch", 1), ("AnklePitch", -1))}
        even = np.array([0.0, 0.0, 9.81])  # specific force of even motion
        update(estimator, posture(**legs), level, LOADED if tick <= 60 else LOADED * 0.0, specific_force=even)
        places.append(estimator.place[0])
    pace = abs(places[60] - places[50]) / 10
    assert pace > 1e-4 and abs(places[79] - places[60]) == pytest.approx(19 * pace, rel=0.2)


def test_a_centre_of_pressure_is_within_the_sole_and_of_a_sole_that_is_loaded():
    estimator = BaseEstimator()
    for force, x in ((3.0, 0.0), (10.0, 0.11), (20.0, -0.06)):
        wrenches = LOADED.copy()
        wrenches[LEFT] = [0.0, 0.0, force, 0.0, 30.0 if force == 20.0 else -30.0, 0.0]
        update(estimator, posture(), quaternion_from_rpy(0.0, 0.0, 0.0), wrenches)
        assert estimator.sole_points[LEFT][0] == pytest.approx(x), force


def test_a_heading_begins_with_the_mean_of_noise_and_follows_the_gyroscope():
    rng, estimator = np.random.default_rng(1), BaseEstimator()
    for tick in range(400):
        turned = 0.5 * max(0.0, tick - 150) * 0.01  # rad, after a second and a half of standing
        rates = np.array([0.0, 0.0, 0.5 if tick > 150 else 0.0])
        noisy = quaternion_from_rpy(0.0, 0.0, 1.0 + turned + 0.01 * rng.standard_normal())
        update(estimator, posture(), noisy, LOADED, rates=rates)
    assert estimator.yaw == pytest.approx(turned, abs=0.004)  # one sample alone: 0.01 at the start and at the end


def test_a_heading_from_the_feet_does_not_hear_the_imus_and_goes_on_after_a_fall():
    estimator = BaseEstimator(heading="feet")
    for tick in range(20):
        update(estimator, posture(), quaternion_from_rpy(0.0, 0.0, 0.1 * tick), LOADED)
    assert estimator.yaw == pytest.approx(0.0)
    estimator.lift()
    update(estimator, posture(), quaternion_from_rpy(0.0, 0.0, 3.0), LOADED)
    assert estimator.yaw == pytest.approx(0.0)
