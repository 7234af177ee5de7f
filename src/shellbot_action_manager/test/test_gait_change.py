# SPDX-License-Identifier: MIT
"""A gait changes while the robot walks: without a stop, without a jump, with three feet on the ground at least."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.config import load_config
from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.gait.gait_page import feed_forward_from_page, gait_page, gaits_from_page, page_from_gaits
from shellbot_action_manager.gait.gait_table import load_gaits
from shellbot_action_manager.gait.walk_engine import WalkEngine

DT = 0.01
REST = np.zeros(6)
CONFIG, GEOMETRY = load_config(), load_geometry()
PAIRS = list(itertools.permutations(sorted(load_gaits()), 2))


def engine(gait, config=CONFIG):
    return WalkEngine(dataclasses.replace(config, gait=gait), GEOMETRY.legs)


def half_speed(before, after, direction):
    """Half of what both gaits can, in a direction."""
    top = np.minimum(engine(before).limits.max_velocity, engine(after).limits.max_velocity)
    return 0.5 * np.asarray(direction) / np.linalg.norm(np.asarray(direction) / top)


def feet_of(walker, twist, ticks):
    """Positions (n, 6, 3) and standing (n, 6) of the feet while walking."""
    p, standing = [], []
    for _ in range(ticks):
        walker.step(DT, twist, REST, None)
        p.append(walker.p_walk.copy())
        standing.append(walker.standing.copy())
    return np.array(p), np.array(standing)


def jumps(p):
    """Changes (n - 2, 6) of the feet's velocities from tick to tick, m/s."""
    return np.linalg.norm(np.diff(p, n=2, axis=0) / DT, axis=2)


@pytest.mark.parametrize(("direction", "ticks"), [((-0.3, 0.5, 0.0), 230), ((0.6, 0.2, -1.0), 253)])  # other phases
@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_three_feet_stand_no_velocity_jumps_and_the_body_keeps_its_speed(before, after, direction, ticks):
    twist = half_speed(before, after, direction)
    walker = engine(before)
    feet_of(walker, twist, ticks)
    steady, _ = feet_of(walker, twist, 120)
    walker.set_gait(after)
    p, standing = feet_of(walker, twist, 300)
    assert walker.gait.name == walker.limits.gait == after
    assert (standing.sum(axis=1) >= 3).all()
    later, _ = feet_of(walker, twist, 120)
    # longer steps than usual take a foot from where one gait left it to where the next one wants it
    assert jumps(p).max() < 1.7 * max(jumps(steady).max(), jumps(later).max())
    both = standing[1:] & standing[:-1]
    v = -(np.diff(p, axis=0) / DT)[..., :2]
    slower = twist * np.minimum(*(CONFIG.gaits[name].slip_scale.array for name in (before, after)))
    commanded = np.stack((slower[0] - slower[2] * p[:-1, :, 1], slower[1] + slower[2] * p[:-1, :, 0]), axis=2)
    speed = (v * commanded).sum(axis=2)[both] / (commanded**2).sum(axis=2)[both]
    assert speed.min() > 0.95


def test_a_slower_gait_is_slowed_down_to_first():
    walker = engine("tripod")
    twist = np.array([0.4, 0.0, 0.0])
    feet_of(walker, twist, 300)
    assert walker.twist[0] == pytest.approx(0.4)
    walker.set_gait("wave")
    for _ in range(400):
        before = walker.gait.name
        walker.step(DT, twist, REST, None)
        if walker.gait.name != before:
            break
    assert walker.gait.name == "wave"
    assert 0.0 < walker.twist[0] <= walker.limits.max_velocity[0] + 1e-9
    p, standing = feet_of(walker, twist, 300)
    assert (standing.sum(axis=1) >= 5).all()


def test_a_gait_that_is_taken_back_before_its_turn_changes_nothing():
    walker, other = engine("ripple"), engine("ripple")
    twist = np.array([0.05, 0.0, 0.0])
    for w in (walker, other):
        feet_of(w, twist, 200)
    walker.set_gait("wave")
    walker.set_gait("ripple")
    assert feet_of(walker, twist, 200)[0] == pytest.approx(feet_of(other, twist, 200)[0])


def test_a_gait_of_another_height_radius_and_slip_is_approached():
    gaits = dict(CONFIG.gaits)
    slip = dataclasses.replace(gaits["tripod"].slip_scale, forward=1.2)
    gaits["low"] = dataclasses.replace(
        gaits["ripple"], name="low", stance_height=0.15, rest_radius=0.28, stance_radius=0.29, slip_scale=slip
    )
    walker = engine("tripod", dataclasses.replace(CONFIG, gaits=gaits))
    twist, q = np.array([0.06, 0.0, 0.0]), []
    feet_of(walker, twist, 200)
    p, _ = feet_of(walker, twist, 50)
    walker.set_gait("low")
    for _ in range(400):
        q.append(walker.step(DT, twist, REST, None).q)
    assert walker.gait.name == "low"
    assert walker.pose == pytest.approx(REST, abs=1e-9)
    assert np.abs(np.diff(q, axis=0)).max() < 0.065
    feet_of(walker, np.zeros(3), 300)
    assert np.hypot(*walker.p_walk[:, :2].T) == pytest.approx(0.28, abs=2e-3)


def test_numbers_of_the_gait_in_use_change_while_it_walks():
    walker, twist = engine("tripod"), np.array([0.15, 0.0, 0.0])
    feet_of(walker, twist, 230)
    page = {
        **page_from_gaits(CONFIG.gaits, CONFIG.feed_forward),
        "tripod_lift_height": 0.05,
        "tripod_lift_height_fast": 0.05,
        "tripod_stance_height": 0.15,
    }
    walker.gaits = gaits_from_page(page, CONFIG.gaits)
    assert walker.gaits["wave"] == CONFIG.gaits["wave"]
    assert not walker.set_gait("tripod")
    assert walker.gait.lift_height == 0.025, "at once only at rest"
    p, standing = feet_of(walker, twist, 200)
    assert walker.set_gait("tripod")
    assert p[100:, :, 2].max() == pytest.approx(0.05, abs=2e-3)
    assert (standing.sum(axis=1) >= 3).all()
    assert walker.pose == pytest.approx(REST, abs=1e-9)


def test_the_page_of_gaits_holds_every_gait_and_refuses_what_the_table_refuses():
    gaits = CONFIG.gaits
    page = gait_page(gaits, CONFIG.feed_forward)
    assert page.defaults == page_from_gaits(gaits, CONFIG.feed_forward)
    assert gaits_from_page(page.defaults, gaits) == gaits
    assert all(page.min[name] <= value <= page.max[name] for name, value in page.defaults.items())
    assert feed_forward_from_page({"feed_forward_gravity": 0.25}, CONFIG.feed_forward).gravity == 0.25
    with pytest.raises(ConfigError, match="gravity is 2"):
        feed_forward_from_page({"feed_forward_gravity": 2.0}, CONFIG.feed_forward)
    with pytest.raises(ConfigError, match="gait 'wave': lift_height is 0.5"):
        gaits_from_page({"wave_lift_height": 0.5}, gaits)
    with pytest.raises(ConfigError, match="gait 'ripple': period_slow 2 s is more than twice"):
        gaits_from_page({"ripple_period_slow": 2.0}, gaits)


def test_a_stop_while_the_gait_changes_brings_the_feet_home():
    for before, after in PAIRS:
        walker = engine(before)
        feet_of(walker, half_speed(before, after, (1.0, 0.0, 0.0)), 210)
        walker.set_gait(after)
        p, standing = feet_of(walker, np.zeros(3), 600)
        assert walker.at_rest
        assert walker.gait.name == after
        assert (standing.sum(axis=1) >= 3).all()
