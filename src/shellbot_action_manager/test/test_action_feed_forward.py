# SPDX-License-Identifier: MIT
"""The torques that are fed forward: of what they are, and how they come and go."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from robot_mechanics.dynamics.contacts import Contact, support
from shellbot_action_manager.behaviours.protocol import Motion, State
from shellbot_action_manager.body.feed_forward import FeedForward
from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.body.legs import LowerCommand, limb_commands
from shellbot_action_manager.config import load_config
from shellbot_common import TICK

GEOMETRY = load_geometry()
CONFIG = load_config().feed_forward.replace(gravity=1.0)
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
ALL = np.ones(6, dtype=bool)
TRIPOD = np.array([True, False] * 3)
CONTACTS = SimpleNamespace(model="feet", in_contact=ALL)


def made(**changes) -> FeedForward:
    return FeedForward(CONFIG.replace(**changes), GEOMETRY.body, GEOMETRY.limbs)


def motion(planted=ALL, lower=GEOMETRY.stand_lower, ahead=None) -> Motion:
    return Motion(limb_commands(LowerCommand(lower, None, ahead), GEOMETRY.up_upper, planted), planted)


def state(orientation=LEVEL) -> State:
    q = np.concatenate((GEOMETRY.stand_lower.ravel(), GEOMETRY.up_upper.ravel()))
    return State(q, orientation, None, None, motion())


def joints(efforts) -> np.ndarray:
    """Fan (the sum of six), legs, upper legs, N m."""
    return np.concatenate([efforts[name].ravel() for name in ("fan", "lower", "upper")])


def run(feed, ticks, *, planted=ALL, orientation=LEVEL, contacts=CONTACTS, lower=GEOMETRY.stand_lower, ahead=None):
    return np.array(
        [joints(feed.step(TICK, motion(planted, lower, ahead), state(orientation), contacts)) for _ in range(ticks)]
    )


@pytest.mark.parametrize("planted", [ALL, TRIPOD])
def test_standing_torques_are_those_of_the_general_solution(planted):
    found = run(made(), 60, planted=planted)[-1]
    q = state().q
    model, body = GEOMETRY.body.standing.model, GEOMETRY.body.standing.contacts
    feet = GEOMETRY.feet
    points = feet.lowest_points(feet.poses(GEOMETRY.q_lower(q)), np.array([0.0, 0.0, -1.0]))
    contacts = []
    for k in np.flatnonzero(planted):
        T = feet.poses(GEOMETRY.q_lower(q))[k]
        contacts.append(Contact(body[k].link, tuple(T[:3, :3].T @ (points[k] - T[:3, 3]))))
    tau = support(model, np.concatenate((np.zeros(3), LEVEL, q)), contacts).tau
    expected = np.concatenate([tau[group.columns].sum(axis=2).ravel() for group in GEOMETRY.limbs.values()])
    np.testing.assert_allclose(found, expected, atol=2e-3)
    assert np.abs(found[1:19]).max() > 0.2


def test_a_slope_is_felt():
    tilted = np.array([0.0, np.sin(0.1), 0.0, np.cos(0.1)])
    level, slope = run(made(), 60)[-1], run(made(), 60, orientation=tilted)[-1]
    assert np.abs(slope - level).max() > 0.05


@pytest.mark.parametrize(
    "lost",
    [
        {"orientation": None},
        {"planted": None},
        {"planted": np.zeros(6, dtype=bool)},
        {"contacts": SimpleNamespace(model="none", in_contact=np.zeros(6, dtype=bool))},
        {"orientation": np.full(4, np.nan)},
    ],
    ids=["no IMU", "not planned", "in the air", "contacts not known", "not a number"],
)
def test_what_is_not_known_fades_everything_out_and_back_in_without_a_jump(lost):
    feed = made()
    way = np.concatenate((run(feed, 60), run(feed, 60, **lost), run(feed, 60)))
    assert np.isfinite(way).all()
    np.testing.assert_array_equal(way[119], 0.0)
    np.testing.assert_allclose(way[-1], way[59])
    assert np.abs(np.diff(way, axis=0)).max() < 0.05, "N m in a tick"


def test_load_is_handed_over_without_a_jump():
    feed = made()
    way = np.concatenate((run(feed, 60), run(feed, 20, planted=TRIPOD), run(feed, 20, planted=~TRIPOD)))
    assert np.abs(np.diff(way, axis=0)).max() < 0.35, "N m in a tick, of 0.6"
    np.testing.assert_allclose(way[79, 1:], run(made(), 60, planted=TRIPOD)[-1, 1:], atol=1e-9)


def test_motion_needs_inertia_and_friction_and_a_jump_is_no_motion():
    still = run(made(), 60)[-1]
    q = GEOMETRY.stand_lower + np.array([0.0, 0.0, 0.02, 0.0])
    for fraction in (0.0, 0.5, 1.0):
        feed = made(motion=fraction)
        run(feed, 60)
        ahead = (q + np.array([0.0, 0.0, 0.02, 0.0]))[:, 1:]
        moving = run(feed, 1, lower=q, ahead=ahead)[-1]
        friction = moving[2] - run(made(motion=0.0), 60, lower=q)[-1][2]
        assert friction == pytest.approx(fraction * 0.177 * 2.0, rel=0.1), "N m, at 2 rad/s"
    feed = made()
    run(feed, 60)
    jump = run(feed, 1, lower=GEOMETRY.stand_lower + 0.5)[-1]
    assert np.abs(jump).max() < 2.0 and np.abs(jump - still).max() < 1.0


def test_what_was_ahead_is_forgotten_with_its_tick():
    feed, still = made(), run(made(), 60)[-1]
    run(feed, 60)
    run(feed, 1, ahead=(GEOMETRY.stand_lower + 0.02)[:, 1:])
    np.testing.assert_allclose(run(feed, 1)[-1], still, atol=1e-9)


def test_off_it_sends_nothing():
    assert made(gravity=0.0).step(TICK, motion(), state(), CONTACTS) == {}


def test_walker_has_no_upper_legs_and_its_own_weight():
    walker = load_geometry("walker")
    feed = FeedForward(CONFIG, walker.body, walker.limbs)
    commanded = Motion(limb_commands(LowerCommand(walker.stand_lower, None), walker.up_upper, ALL), ALL)
    measured = State(walker.stand_lower.ravel(), LEVEL, None, None, commanded)
    for _ in range(60):
        efforts = feed.step(TICK, commanded, measured, CONTACTS)
    assert set(efforts) == {"fan", "lower"}
    assert feed.loads.sum() == pytest.approx(walker.body.standing.model.mass * 9.81)
