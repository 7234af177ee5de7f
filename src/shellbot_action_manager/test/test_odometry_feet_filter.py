# SPDX-License-Identifier: MIT
"""The filter of the feet: consistent on data of its own model, and better off with what its parts are for."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from shellbot_action_manager.config import load_config
from shellbot_action_manager.estimation.feet_filter import FeetFilter
from shellbot_action_manager.gait.walking import neutral_feet

DT = 0.01
CONFIG = load_config().odometry.feet
FEET = neutral_feet(0.27)
TRIPOD = np.array([True, False] * 3)


def body(ticks, rng=None, speed=0.2):
    """Return acceleration and position (ticks, 2) of a body that starts at rest and sways as it walks."""
    t = np.arange(ticks) * DT
    phase = 0.0 if rng is None else rng.uniform(0.0, 6.0)
    acceleration = np.stack((speed * np.exp(-t / 0.3) / 0.3, np.cos(6.0 * t + phase) - np.cos(phase)), axis=1)
    mean = 0.5 * (acceleration + np.vstack((acceleration[:1], acceleration[:-1])))
    velocity = np.cumsum(mean * DT, axis=0) - mean[0] * DT
    before = np.vstack((velocity[:1], velocity[:-1]))
    return acceleration, np.cumsum((before + 0.5 * mean * DT) * DT, axis=0)


def walk(config, ticks=300, rng=None, noise=0.0, creep=0.0, blind=False, wrong=lambda *_: 0.0, sway=0.0, speed=0.2):
    """Step the filter over an alternating tripod; return its error (2,) and the filter."""
    acceleration, position = body(ticks, rng, speed)
    feet_filter, anchors = FeetFilter(config, 6), FEET + position[0]
    stands, since = TRIPOD.copy(), 0
    for tick in range(ticks):
        if tick and tick % 30 == 0:
            stands, since = ~stands, 0
            anchors = np.where(stands[:, None], FEET + position[tick], anchors)
        since += 1
        if rng is not None:
            anchors = anchors + rng.normal(scale=creep * DT, size=(6, 2))
        p_feet = anchors - position[tick] + wrong(since, stands)
        measured = acceleration[tick] + sway
        if rng is not None:
            p_feet = p_feet + rng.normal(scale=noise, size=(6, 2))
            measured = measured + rng.normal(scale=config.acceleration, size=2)
        feet_filter.step(DT, p_feet, stands, None if blind else measured)
    return feet_filter.position - (position[-1] - position[0]), feet_filter


def test_variance_is_that_of_the_error():
    """Mean normalised error squared over 100 walks with the noise that the filter expects: 95 % bounds."""
    config = dataclasses.replace(CONFIG, slip_gain=0.0, velocity=0.001)
    squared = []
    for seed in range(100):
        error, done = walk(config, rng=np.random.default_rng(seed), noise=config.foot, creep=config.creep)
        squared.append(error @ error / done.variance)
    assert 1.63 < np.mean(squared) < 2.41  # of 200 degrees of freedom, two to a walk


def test_variance_grows_with_every_step_and_hardly_at_rest():
    def variance(ticks, stands=TRIPOD):
        feet_filter = FeetFilter(CONFIG, 6)
        for tick in range(ticks):
            feet_filter.step(DT, FEET, stands if (tick // 30) % 2 else ~stands, np.zeros(2))
        return feet_filter.variance

    assert variance(3000) == pytest.approx(10.0 * variance(300), rel=0.3)
    everything = np.ones(6, dtype=bool)
    standing = FeetFilter(CONFIG, 6)
    for _ in range(6000):
        standing.step(DT, FEET, everything, np.zeros(2))
    assert standing.variance < 0.004**2  # after a minute


def test_accelerometer_tells_a_drag_of_all_feet_from_a_motion():
    """Every foot that lands drags for 50 ms as the robot's servos give way, the same for the whole tripod."""

    def drag(since, stands):
        return np.where(stands[:, None], [0.004 * min(since, 5) / 5.0, 0.0], 0.0)

    blind = np.abs(walk(CONFIG, blind=True, wrong=drag)[0][0])
    seeing = np.abs(walk(CONFIG, wrong=drag)[0][0])
    assert seeing < 0.6 * blind, (seeing, blind)


@pytest.mark.parametrize("slip", [0.05, 0.1, 0.3])
def test_foot_that_slips_moves_the_body_little(slip):
    """One of three slips through its whole stance, in m/s: the mean would err by a third of 3 s of it."""

    def slips(since, stands):
        return np.where((stands & (np.arange(6) == 2))[:, None], [slip * since * DT, 0.0], 0.0)

    error = walk(CONFIG, wrong=slips)[0]
    assert np.linalg.norm(error) < 0.006
    unaware = walk(dataclasses.replace(CONFIG, slip_gain=0.0), wrong=slips)[0]
    assert np.linalg.norm(unaware) > 4.0 * np.linalg.norm(error)


def test_follows_a_body_that_is_pushed():
    """At 10 m/s^2 at first, to 3 m/s: the accelerometer tells it at once."""
    assert np.linalg.norm(walk(CONFIG, ticks=100, speed=3.0)[0]) < 1e-3


def test_biased_accelerometer_is_corrected_by_the_feet():
    assert np.linalg.norm(walk(CONFIG, sway=0.2)[0]) < 0.006  # by 1.2 degrees of tilt; alone it were 0.9 m off


def test_without_feet_nothing_is_integrated():
    feet_filter = FeetFilter(CONFIG, 6)
    for _ in range(100):
        feet_filter.step(DT, FEET, np.zeros(6, dtype=bool), np.array([1.0, 0.0]))
    assert (feet_filter.position == 0.0).all()
