# SPDX-License-Identifier: MIT
"""Walking on rough ground: touchdown from the joints, heights of the feet, and what stays as it was on the flat."""

from __future__ import annotations

import numpy as np
import pytest

from shellbot_action_manager.config import load_config
from shellbot_action_manager.gait.terrain import Terrain

DT = 0.01
CONFIG = load_config().terrain
LIFT, DEPTH = 0.04, 0.025
LEG_0 = np.arange(6) == 0
FAR = np.full(6, 0.2)


class Feet:
    """Leg 0 swings over ground of a given height; its servos lag as the model of them says, and a bit differently."""

    def __init__(self, ground, frequency=120.0, damping=0.6):
        self.terrain, self.ground, self.frequency, self.damping = Terrain(CONFIG), ground, frequency, damping
        self.foot, self.rate, self.late = 0.0, 0.0, [0.0, 0.0]
        self.heights, self.touched_at = [], None

    def swing(self, seconds=1.5, known=True, moves=True):
        for i in range(int(round(seconds / DT))):
            z = np.append(self.foot if moves else 0.0, np.zeros(5))
            touched = self.terrain.sense(z if known else None)
            if touched.any() and self.touched_at is None:
                self.touched_at = i
            lowers = LEG_0 & (i > 25)
            self.terrain.step(DT, LIFT, DEPTH, LEG_0 & (i < 60), lowers, known, -FAR, FAR)
            self.heights.append(self.terrain.z[0])
            self.follow(self.terrain.z[0])
        return np.array(self.heights)

    def follow(self, command):
        self.late = [*self.late[1:], command]
        for _ in range(10):
            pull = self.frequency**2 * (self.late[0] - self.foot) - 2.0 * self.damping * self.frequency * self.rate
            self.rate += 0.1 * DT * pull
            self.foot += 0.1 * DT * self.rate
            if self.foot < self.ground and self.rate < 0.0:  # it yields by a quarter of the way, as a light body does
                self.foot, self.rate = self.foot - 0.75 * 0.1 * DT * self.rate, 0.25 * self.rate


@pytest.mark.parametrize("ground", [0.03, 0.0, -0.015])
def test_a_foot_stands_where_it_meets_the_ground(ground):
    feet = Feet(ground)
    heights = feet.swing()
    assert feet.touched_at is not None and feet.terrain.down.all()
    assert ground - 0.009 < heights[-1] <= ground + 0.001, "a light body yields until the touchdown is noticed"


def test_a_foot_in_the_air_does_not_touch_down_and_searches_as_deep_as_it_may():
    feet = Feet(-1.0)
    heights = feet.swing()
    assert feet.touched_at is None, "nothing was there"
    assert heights[-1] == pytest.approx(-DEPTH) and feet.terrain.down.all()


def test_heights_keep_their_speed_and_acceleration_also_at_a_touchdown():
    heights = Feet(0.03).swing()
    rate = np.diff(heights) / DT
    assert rate.max() <= CONFIG.lift_rate + 1e-9 and rate.min() >= -CONFIG.descent_rate - 1e-9
    assert np.abs(np.diff(rate)).max() / DT <= CONFIG.acceleration * (1.0 + 1e-6) + 2 * CONFIG.acceleration * 0.05


def test_feet_rise_over_the_highest_touchdown():
    feet = Feet(0.03)
    feet.swing()
    over = feet.swing()[150:].max()
    assert 0.03 + LIFT - 0.009 < over <= 0.03 + LIFT + 0.001


@pytest.mark.parametrize("fault", [{"known": False}, {"moves": False}])
def test_without_feedback_or_with_joints_that_read_the_same_forever_a_foot_goes_to_the_plane(fault):
    feet = Feet(-1.0)
    heights = feet.swing(**fault)
    assert heights[-1] == pytest.approx(0.0, abs=1e-4) and feet.touched_at is None


def test_the_body_is_levelled_and_its_height_follows_the_mean_of_the_feet():
    terrain, tilt = Terrain(CONFIG), np.array([0.03, -0.02])  # little enough to be level on
    p_feet = 0.3 * np.column_stack((np.cos(np.arange(6) * np.pi / 3), np.sin(np.arange(6) * np.pi / 3)))
    for _ in range(600):
        before = terrain.z.copy()
        terrain.level(DT, p_feet, tilt)
        step = (terrain.z - before) @ p_feet / (p_feet**2).sum(axis=0)  # slope along x and y
        tilt = tilt - np.array([step[1], -step[0]])  # the feet stand, the body turns
    assert np.abs(tilt).max() < 1e-3
    assert abs(terrain.z.mean()) < 1e-4


def test_a_gait_that_does_not_search_goes_back_to_flat_ground():
    terrain = Feet(0.03).terrain
    terrain.z = np.array([0.03, 0.0, -0.02, 0.0, 0.0, 0.0])
    steps = [
        np.abs(np.diff([terrain.z.copy(), (terrain.fade(DT), terrain.z.copy())[1]], axis=0)).max() for _ in range(200)
    ]
    assert max(steps) <= CONFIG.height_rate * DT + 1e-12 and terrain.flat
