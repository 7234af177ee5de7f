# SPDX-License-Identifier: MIT
"""Phase clock and swing curves: ends at rest, and derivatives that belong to their functions."""

from __future__ import annotations

import numpy as np
import pytest

from shellbot_action_manager.gait.phase_clock import PhaseClock
from shellbot_action_manager.gait.swing import lift_profile, smooth_step, travel_profile

EPS = 1e-4


def curve(function, share):
    return np.array([function(float(u))[0] for u in np.atleast_1d(share)])


@pytest.mark.parametrize("peak", [0.3, 0.5, 0.55, 0.6])
def test_lift_starts_and_ends_on_the_ground_at_rest(peak):
    def lift(u):
        return lift_profile(u, peak)

    assert lift(0.0)[0] == 0.0
    assert lift(1.0)[0] == 0.0
    speed = (curve(lift, [EPS, 1.0])[0] - curve(lift, [0.0, 1.0 - EPS])) / EPS
    assert abs(speed[0]) < 1e-5  # leaves the ground like u^3
    assert lift(1.0 - EPS)[0] / EPS < 0.05  # and comes down with vanishing speed
    assert lift(peak)[0] == pytest.approx(1.0)
    samples = curve(lift, np.linspace(0.0, 1.0, 501))
    assert samples.min() >= 0.0
    assert samples.max() <= 1.0 + 1e-12


@pytest.mark.parametrize("dwell", [0.0, 0.05])
@pytest.mark.parametrize("ramp", [0.1, 0.4, 0.5])
def test_travel_goes_from_0_to_1_without_turning_back_at_rest_at_both_ends(dwell, ramp):
    def travel(u):
        return travel_profile(u, dwell, 3.0 * dwell, ramp)

    samples = curve(travel, np.linspace(0.0, 1.0, 1001))
    assert samples[0] == 0.0
    assert samples[-1] == 1.0
    assert (np.diff(samples) >= -1e-12).all()
    assert curve(travel, [EPS])[0] / EPS < 1e-3
    assert (1.0 - curve(travel, [1.0 - EPS])[0]) / EPS < 1e-3
    assert np.diff(samples).max() * 1000.0 == pytest.approx(1.0 / ((1.0 - ramp) * (1.0 - 4.0 * dwell)), rel=2e-3)


@pytest.mark.parametrize("function", [lambda u: lift_profile(u, 0.55), lambda u: travel_profile(u, 0.05, 0.15, 0.4)])
def test_second_derivative_agrees_with_finite_differences(function):
    for u in np.linspace(0.07, 0.93, 37):
        below, here, above = curve(function, [u - EPS, u, u + EPS])
        numeric = (below - 2.0 * here + above) / EPS**2
        assert function(float(u))[1] == pytest.approx(numeric, abs=2e-2)


def test_smooth_step_clips_and_passes_the_middle():
    assert smooth_step(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])) == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0])


def test_clock_runs_legs_ahead_by_their_offsets():
    clock = PhaseClock((0.0, 0.5, 0.0, 0.5, 0.0, 0.5), 0.5)
    clock.restart()
    assert clock.phase == 0.5
    clock.advance(0.2, 0.8)
    assert clock.leg_phase == pytest.approx([0.75, 0.25] * 3)
    assert clock.swing_fraction[0] == pytest.approx(0.5)
    assert np.isnan(clock.swing_fraction[1])
    clock.advance(0.4, 0.8)
    assert np.isnan(clock.swing_fraction[0])
    assert clock.swing_fraction[1] == pytest.approx(0.5)


def test_clock_at_lift_off_says_swing_in_spite_of_rounding():
    clock = PhaseClock((0.1,) * 6, 0.8)
    clock.phase = 0.7  # 0.7 + 0.1 is a little less than 0.8 in floating point
    assert (clock.swing_fraction == 0.0).all()
