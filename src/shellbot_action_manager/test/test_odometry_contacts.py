# SPDX-License-Identifier: MIT
"""Which feet stand, where they touch the ground, and how they roll on it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.config import load_config
from shellbot_action_manager.estimation.contact_models import build_contact_models
from shellbot_description import load_variables

DT = 0.01
CONFIG, GEOMETRY = load_config(), load_geometry("walker")
ALL = np.ones(6, dtype=bool)


def contacts(model, q_lower, planted=ALL, ground=None):
    motion = SimpleNamespace(planted=planted, phase=None, ground=ground, heading=None)
    return model.step(DT, SimpleNamespace(q=q_lower.ravel(), orientation=None, up=None), motion)


@pytest.fixture
def model():
    return build_contact_models(CONFIG, GEOMETRY)["feet"]


def test_a_foot_lands_and_lifts_as_late_as_the_joints_are_behind(model):
    q, ticks = GEOMETRY.stand_lower, round(CONFIG.contact.lag / DT)
    assert contacts(model, q).in_contact.all(), "whoever begins on its feet stands"
    without = ALL.copy()
    without[2] = False
    lifted = [contacts(model, q, without).in_contact[2] for _ in range(10)]
    assert lifted == [True] * ticks + [False] * (10 - ticks)
    landed = [contacts(model, q).in_contact for _ in range(10)]
    assert [stands[2] for stands in landed] == [False] * ticks + [True] * (10 - ticks)
    assert all(np.delete(stands, 2).all() for stands in landed)


def test_a_foot_that_felt_the_ground_stands_at_once(model):
    q, without = GEOMETRY.stand_lower, np.arange(6) != 2
    for _ in range(10):
        contacts(model, q, without, ground=without)
    assert contacts(model, q, ALL, ground=ALL).in_contact.all()


def test_a_foot_touches_the_ground_below_the_centre_of_its_ball(model):
    foot = load_variables().foot
    found = contacts(model, GEOMETRY.stand_lower)
    T_base_foot = GEOMETRY.feet.poses(GEOMETRY.stand_lower)
    assert T_base_foot[:, :3, 3] == pytest.approx(found.position)
    centre = found.position - foot.back * T_base_foot[:, :3, 0]
    assert found.centre_of_pressure - centre == pytest.approx(np.tile([0.0, 0.0, -foot.radius], (6, 1)))


@pytest.mark.parametrize("joint", [1, 3])
def test_a_foot_rolls_by_its_radius_times_the_angle(model, joint):
    q, angle = GEOMETRY.stand_lower.copy(), 0.002
    contacts(model, q)
    R_before = GEOMETRY.feet.poses(q)[:, :3, :3]
    q[:, joint] += angle
    found = contacts(model, q)
    R_turned = GEOMETRY.feet.poses(q)[:, :3, :3] @ np.swapaxes(R_before, 1, 2)
    turn = np.stack([R_turned[:, 2, 1], R_turned[:, 0, 2], R_turned[:, 1, 0]], axis=1)  # of a small angle
    assert np.linalg.norm(turn, axis=1) == pytest.approx(np.full(6, angle), rel=1e-3)
    rolled = np.cross(turn, [0.0, 0.0, load_variables().foot.radius])
    moved = found.centre_of_pressure - found.previous_centre
    assert moved[:, :2] == pytest.approx(rolled[:, :2], abs=1e-7)
    assert (np.linalg.norm(moved, axis=1) > 1e-5).all() == (joint == 3), "a leg that turns about the vertical spins"
