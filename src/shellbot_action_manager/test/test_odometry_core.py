# SPDX-License-Identifier: MIT
"""Odometry: a few parts in ten thousand without slip, bounded with noise and slip, harmless without contacts."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from action_echo import yaw_quaternion
from scipy.spatial.transform import Rotation

from shellbot_action_manager.body.body_pose import feet_in_base
from shellbot_action_manager.config import load_config
from shellbot_action_manager.errors import UnknownModelError
from shellbot_action_manager.estimation.attitude import ImuReading
from shellbot_action_manager.estimation.contact_models import CONTACT_MODELS
from shellbot_action_manager.estimation.motion_models import MOTION_MODELS, fit_turn
from shellbot_action_manager.estimation.odometry import OdometryCore
from shellbot_action_manager.gait.gait_table import load_gaits
from shellbot_action_manager.gait.planar_motion import exp_twist
from shellbot_action_manager.gait.walking import advance, neutral_feet, standing_at
from shellbot_action_manager.interface import ContactEstimate
from shellbot_common.rotations import rotation_2d

DT = 0.01
NAMES = tuple(f"lower_{k}_foot" for k in range(1, 7))
TWISTS = [(0.2, 0.0, 0.0), (0.0, 0.15, 0.0), (0.0, 0.0, 0.7), (0.1, -0.05, 0.4)]


BLIND = ImuReading()


def core():
    return OdometryCore(load_config())


def imu_of(orientation):
    return ImuReading(np.asarray(orientation))


def standing(feet, contact=None, model="feet"):
    down = np.ones(6, dtype=bool) if contact is None else contact
    nothing = np.full(6, np.nan)
    return ContactEstimate(model, NAMES, down, nothing, nothing, feet, feet, feet)


def drive(odometry, twist, seconds, imu=True, tilt=(0.0, 0.0), noise=0.0, slip_foot=None, rng=None):
    """Walk without slip; return the estimate and the true pose of the body."""
    gait = load_gaits()["tripod"]
    state, pose = standing_at(neutral_feet(gait.stance_radius)), np.zeros(3)
    estimate, slipped = None, 0.0
    for i in range(int(seconds / DT)):
        if i:
            state = advance(state, gait, DT, np.asarray(twist), 0.5, commanded=True)
            x, y, a = exp_twist(np.asarray(twist), DT)
            c, s = math.cos(pose[2]), math.sin(pose[2])
            pose = pose + [c * x - s * y, s * x + c * y, a]
        feet = feet_in_base(state.p_feet, np.array([0, 0, 0, *tilt, 0.0]), 0.16)
        if slip_foot is not None and not state.swinging[slip_foot]:
            slipped += 0.003
            feet[slip_foot, 0] += slipped
        else:
            slipped = 0.0
        if noise:
            feet = feet + rng.normal(scale=noise, size=(6, 3))
        reading = imu_of(Rotation.from_euler("xyz", [*tilt, pose[2]]).as_quat()) if imu else BLIND
        estimate = odometry.step(0.5 + i * DT, standing(feet, ~state.swinging), reading)
    return estimate, pose


def leaning(estimate):
    roll, pitch, yaw = Rotation.from_quat(estimate.quat_footprint_base).as_euler("xyz")
    assert yaw == pytest.approx(0.0, abs=1e-9)
    return roll, pitch


def error(estimate, pose):
    return math.hypot(estimate.x - pose[0], estimate.y - pose[1])


@pytest.mark.parametrize("imu", [True, False])
@pytest.mark.parametrize("twist", TWISTS)
def test_follows_feet_that_do_not_slip(twist, imu):
    estimate, pose = drive(core(), twist, 5.0, imu=imu)
    assert error(estimate, pose) < 5e-4  # of 1 m, from the first tick, at which the speed is not known
    assert math.remainder(estimate.yaw - pose[2], 2 * math.pi) == pytest.approx(0.0, abs=1e-9)
    assert estimate.twist == pytest.approx(twist, abs=3e-4)
    assert estimate.height == pytest.approx(0.16)


def test_follows_with_a_tilted_body():
    estimate, pose = drive(core(), (0.2, 0.0, 0.3), 4.0, tilt=(0.1, -0.15))
    assert error(estimate, pose) < 5e-4
    assert leaning(estimate) == pytest.approx((0.1, -0.15))


def test_without_imu_the_tilt_comes_from_the_feet():
    estimate, _ = drive(core(), (0.2, 0.0, 0.0), 1.0, imu=False, tilt=(0.1, -0.15))
    assert leaning(estimate) == pytest.approx((0.1, -0.15), abs=1e-9)


def test_bounded_with_noise_and_with_one_slipping_foot():
    rng = np.random.default_rng(0)
    estimate, pose = drive(core(), (0.2, 0.0, 0.0), 5.0, noise=0.0005, rng=rng)
    assert error(estimate, pose) < 0.02
    estimate, pose = drive(core(), (0.2, 0.0, 0.0), 5.0, slip_foot=2)
    assert error(estimate, pose) < 0.02  # the plain mean of the feet would be 0.2 m wrong


def test_starts_at_its_origin_whatever_the_imu_says():
    feet = np.hstack((neutral_feet(0.27), np.full((6, 1), -0.16)))
    estimate = core().step(0.0, standing(feet), imu_of(yaw_quaternion(2.0)))
    assert (estimate.x, estimate.y, estimate.yaw) == (0.0, 0.0, 0.0)


def test_without_contacts_the_position_is_held_and_the_heading_followed():
    odometry = core()
    feet = np.hstack((neutral_feet(0.27), np.full((6, 1), -0.16)))
    no_foot = np.zeros(6, dtype=bool)
    for i in range(50):
        estimate = odometry.step(i * DT, standing(feet + 0.01 * i, no_foot), imu_of(yaw_quaternion(0.01 * i)))
    assert (estimate.x, estimate.y) == (0.0, 0.0)
    assert estimate.yaw == pytest.approx(0.49)


def test_a_gap_and_bad_numbers_move_nothing_and_a_clock_that_goes_back_resets():
    odometry = core()
    feet = np.hstack((neutral_feet(0.27), np.full((6, 1), -0.16)))
    odometry.step(1.0, standing(feet), BLIND)
    moved = odometry.step(1.01, standing(feet - [0.001, 0.0, 0.0]), BLIND)
    assert moved.x == pytest.approx(0.001, rel=0.25)  # the first tick may be wrong as well as the speed
    assert odometry.step(1.02, standing(feet * np.nan), BLIND).x == moved.x
    assert odometry.step(9.0, standing(feet + [0.05, 0.0, 0.0]), BLIND).x == pytest.approx(moved.x)
    assert odometry.step(0.5, standing(feet), BLIND).x == 0.0


@pytest.mark.parametrize("late", [0.01, 0.05])
def test_a_late_stamp_changes_nothing(late):
    odometry = core()
    feet = np.hstack((neutral_feet(0.27), np.full((6, 1), -0.16)))
    for tick in range(100):
        estimate = odometry.step(1.0 + tick * DT, standing(feet - [0.001 * tick, 0.0, 0.0]), BLIND)
    assert odometry.step(estimate.t - late, standing(feet + 0.1), BLIND) is estimate
    onwards = odometry.step(estimate.t + DT, standing(feet - [0.100, 0.0, 0.0]), BLIND)
    assert onwards.x == pytest.approx(estimate.x + 0.001, rel=1e-4)
    assert odometry.step(onwards.t - 0.06, standing(feet), BLIND).x == 0.0, "60 ms back is a reset"


def test_variance_counts_an_error_that_all_steps_share():
    """It grows with the distance from where walking began, and is undone on the way back."""
    scale = load_config().odometry.scale_error
    config = load_config()
    ideal = OdometryCore(dataclasses.replace(config, odometry=dataclasses.replace(config.odometry, scale_error=0.0)))
    straight, pose = drive(core(), (0.2, 0.0, 0.0), 5.0)
    chance, _ = drive(ideal, (0.2, 0.0, 0.0), 5.0)
    assert straight.position_variance - chance.position_variance == pytest.approx((scale * pose[0]) ** 2, rel=0.01)
    circle, _ = drive(core(), (0.2, 0.0, 2.0 * math.pi / 5.0), 5.0)
    assert circle.position_variance == pytest.approx(chance.position_variance, rel=0.05)


def test_variance_grows_while_feet_slide_unseen_and_not_at_rest():
    odometry = core()
    feet = np.hstack((neutral_feet(0.27), np.full((6, 1), -0.16)))
    no_foot = np.zeros(6, dtype=bool)
    for tick in range(101):  # 0.5 m each, as much outwards as inwards
        estimate = odometry.step(tick * DT, standing(feet + [0.005 * (tick % 2), 0.0, 0.0], no_foot, "none"), BLIND)
    assert (estimate.x, estimate.y) == (0.0, 0.0)
    rate = load_config().odometry.sliding_variance_rate
    assert estimate.position_variance == pytest.approx(0.5 * rate)
    later = odometry.step(101 * DT, standing(feet, no_foot, "none"), BLIND)
    assert later.position_variance == estimate.position_variance


def test_turn_without_imu_is_that_of_the_rigid_fit():
    after = np.random.default_rng(1).uniform(-0.3, 0.3, (3, 2))
    before = after @ rotation_2d(0.03).T + [0.004, -0.002]
    assert fit_turn(before, after) == pytest.approx(0.03)


def test_every_contact_model_has_its_motion_model():
    assert sorted(CONTACT_MODELS) == sorted(MOTION_MODELS)


def test_odom_is_one_over_a_change_of_model():
    """Limp between two walks: the place is kept, the heading followed, and nothing jumps when the feet count again."""
    odometry = core()
    before, _ = drive(odometry, (0.2, 0.0, 0.3), 1.0)
    feet, yaw = np.hstack((neutral_feet(0.27), np.full((6, 1), -0.16))), before.yaw
    for i in range(50):
        yaw += 0.01
        limp = standing(feet + 0.002 * i, model="none")
        after = odometry.step(before.t + (i + 1) * DT, limp, imu_of(yaw_quaternion(yaw)))
        assert (after.x, after.y) == (before.x, before.y)
    assert after.yaw == pytest.approx(yaw)
    again = odometry.step(after.t + DT, standing(feet), imu_of(yaw_quaternion(yaw)))
    assert (again.x, again.y) == (before.x, before.y)
    moved = odometry.step(again.t + DT, standing(feet - [0.002, 0.0, 0.0]), imu_of(yaw_quaternion(yaw)))
    assert (moved.x - again.x, moved.y - again.y) == pytest.approx(
        (0.002 * math.cos(yaw), 0.002 * math.sin(yaw)), rel=0.2
    )


def test_a_model_that_does_not_exist_holds_the_estimate():
    odometry = core()
    before, _ = drive(odometry, (0.2, 0.0, 0.0), 0.5)
    feet = np.hstack((neutral_feet(0.27), np.full((6, 1), -0.16)))
    with pytest.raises(UnknownModelError, match="no odometry model 'wheels'; there are feet, none"):
        odometry.step(before.t + DT, standing(feet, model="wheels"), BLIND)
    assert odometry.step(before.t, standing(feet), BLIND) is before


def test_other_contacts_are_not_compared_with_those_of_the_previous_tick():
    odometry = core()
    feet = np.hstack((neutral_feet(0.27), np.full((6, 1), -0.16)))
    odometry.step(0.0, standing(feet), BLIND)

    def four(x):
        other = standing(feet[:4] + [x, 0.1, 0.1], np.ones(4, dtype=bool))
        return dataclasses.replace(other, names=("a", "b", "c", "d"), load_share=np.full(4, np.nan))

    assert odometry.step(DT, four(0.1), BLIND).x == 0.0
    assert odometry.step(2 * DT, four(0.099), BLIND).x > 0.0007


def test_a_foot_that_rolls_carries_the_body_along():
    """Its point of contact goes 1 mm forward under the body, of which 0.4 mm are the foot's own rolling."""
    odometry = core()
    feet = np.hstack((neutral_feet(0.27), np.full((6, 1), -0.16)))
    odometry.step(0.0, standing(feet), BLIND)
    for i in range(1, 51):
        p_feet = feet - [0.001 * i, 0.0, 0.0]
        rolling = dataclasses.replace(standing(p_feet), previous_centre=p_feet - [0.0004, 0.0, 0.0])
        state = odometry.step(i * DT, rolling, BLIND)
    assert state.x == pytest.approx(50 * 0.0014, rel=0.05)


@pytest.mark.parametrize("gyro", [None, 0.0, 0.02], ids=["no gyroscope", "gyroscope", "biased gyroscope"])
def test_a_noisy_heading_is_smoothed_by_the_gyroscope(gyro):
    odometry, rng, rate, noise = core(), np.random.default_rng(3), 0.5, np.deg2rad(0.3)
    feet = np.column_stack((neutral_feet(0.3), np.full(6, -0.16)))
    errors, turned = [], 0.0
    for i in range(1000):
        if 300 <= i < 700:
            turned += rate * DT
        turning = rate if 300 <= i < 700 else 0.0
        reading = ImuReading(
            yaw_quaternion(turned + noise * rng.normal()),
            None if gyro is None else np.array([0.0, 0.0, turning + gyro]),
        )
        estimate = odometry.step(i * DT, standing(feet), reading)
        errors.append(math.remainder(estimate.yaw - turned, 2.0 * math.pi))
    settled = np.array(errors[250:])  # a bias leads ahead by bias / gain, always by the same
    assert settled.std() == pytest.approx(noise, rel=0.1) if gyro is None else settled.std() < 0.2 * noise
    assert abs(settled[-200:].mean() - settled[:200].mean()) < 0.3 * noise


@pytest.mark.parametrize(("silent", "known"), [(0.5, 1.5), (1.5, 0.0)])
def test_what_the_robot_turned_during_a_short_gap_of_the_imu_is_known_in_the_end(silent, known):
    odometry, turned = core(), 0.0
    feet = np.column_stack((neutral_feet(0.3), np.full(6, -0.16)))  # slide along and see no turn
    for i in range(400):
        gap = 100 <= i < 100 + int(100 * silent)
        turned += 3.0 * DT if 100 <= i < 150 else 0.0
        reading = BLIND if gap else ImuReading(yaw_quaternion(turned), np.array([0.0, 0.0, 0.0]))
        estimate = odometry.step(i * DT, standing(feet), reading)
    assert estimate.yaw == pytest.approx(known, abs=1e-6)


def test_a_core_goes_on_from_what_another_one_knew():
    first, second = core(), core()
    feet = np.column_stack((neutral_feet(0.3), np.full(6, -0.16)))
    for i in range(101):
        known = first.step(i * DT, standing(feet - [0.002 * i, 0.0, 0.0]), imu_of(yaw_quaternion(0.3)))
    memory = first.memory
    assert {type(number) for number in memory} == {float}  # a ROS parameter takes no others
    assert memory[:3] == [known.t, known.x, known.y] and known.x > 0.1
    assert core().resume(memory, 31.0), "half a minute until a busy machine has started the next one"
    assert second.resume(memory, 3.0)
    estimate = second.step(3.0, standing(feet), imu_of(yaw_quaternion(0.8)))
    assert (estimate.x, estimate.y) == (known.x, known.y)
    assert estimate.yaw == pytest.approx(known.yaw + 0.5)  # the IMU has seen it
    speed = math.hypot(*known.twist[:2])
    assert estimate.position_variance == pytest.approx(known.position_variance + (speed * 2.0) ** 2)
    assert second.step(3.01, standing(feet), imu_of(yaw_quaternion(0.8))).x == pytest.approx(known.x)


@pytest.mark.parametrize(
    ("memory", "t"),
    [
        ([1.0, 2.0, 3.0, 0.0, 0.0, 0.0], 0.5),  # of a time ahead: the simulation was started anew
        ([1.0, 2.0, 3.0, 0.0, 0.0, 0.0], 61.5),
        ([1.0, math.nan, 3.0, 0.0, 0.0, 0.0], 2.0),
        ([1.0, 2.0], 2.0),
        ([], 2.0),
    ],
)
def test_what_is_of_another_time_or_broken_is_not_gone_on_from(memory, t):
    odometry = core()
    assert not odometry.resume(memory, t)
    feet = np.column_stack((neutral_feet(0.3), np.full(6, -0.16)))
    assert odometry.step(t, standing(feet), BLIND).x == 0.0
