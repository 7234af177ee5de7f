# SPDX-License-Identifier: MIT
"""The experiment feed_forward: what it measures of joints, and its delay."""

from __future__ import annotations

import numpy as np
import pytest

from shellbot_evaluation.feed_forward_experiment import MOTIONS, Case, conditions, execute, tracking


def test_tripod_stands_on_three_feet_and_sags_only_without():
    without, fed = (execute(Case(7, "tripod stance", fraction, 0.8)) for fraction in (0.0, 1.0))
    assert without["success"] and fed["success"], (without["message"], fed["message"])
    assert without["worst_deg"] > 0.9 and fed["worst_deg"] < 0.05
    assert without["sag_mm"] > 0.9 and fed["sag_mm"] < 0.15
    assert without["torque"] == pytest.approx(fed["torque"], rel=0.1) and without["torque"] > 0.5


@pytest.mark.parametrize("speed", [0.2, 0.3])
def test_walking_follows_its_commands_at_least_twice_as_well_with_feed_forward(speed):
    without, fed = (execute(Case(7, f"walk {speed} m/s", fraction, 0.8)) for fraction in (0.0, 1.0))
    assert without["success"] and fed["success"], (without["message"], fed["message"])
    assert 0.6 < without["error_deg"] < 1.2 and fed["error_deg"] < 0.5 * without["error_deg"]
    assert without["power_w"] < fed["power_w"] < 30.0
    assert fed["course"] == pytest.approx(1.0, abs=0.02) == without["course"]


def test_tracking_finds_the_delay_and_counts_only_what_is_left():
    t = np.arange(200.0)[:, None]
    intended = np.sin(0.1 * t + np.arange(3.0))
    measured = np.sin(0.1 * (t - 1.3) + np.arange(3.0))
    error, delay = tracking(measured, intended)
    assert delay == pytest.approx(1.3) and error < 2e-3
    error, delay = tracking(measured + 0.5 * np.sign(np.sin(3.0 * t)), intended)
    assert error == pytest.approx(0.5, rel=0.02)


def test_a_seed_has_each_motion_with_and_without_on_the_same_floor():
    cases = conditions(3)
    assert len(cases) == 2 * len(MOTIONS) and len({case.label for case in cases}) == len(cases)
    assert len({case.friction for case in cases}) == 1
