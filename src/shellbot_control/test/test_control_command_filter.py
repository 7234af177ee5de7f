# SPDX-License-Identifier: MIT
"""From targets of any quality to safe commands."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shellbot_common import GAP
from shellbot_control import CommandFilter, CommandFilterParameters, ConfigurationError, JointLimits

NAMES = ("lower_1_fan", "lower_1_coxa", "lower_1_femur")
LIMITS = JointLimits(NAMES, [-2.15, -1.9, -2.6], [0.05, 1.9, 2.6], [3.09, 6.18, 10.2], [0.5, 1.5, 1.8])
PARAMETERS = CommandFilterParameters()
REST = np.array([-0.5, 0.0, 0.5])


def started(position=REST, t=1.0):
    """Return a filter that follows targets at ``position`` since ``t``."""
    command_filter = CommandFilter(LIMITS, PARAMETERS)
    command_filter.observe(position)
    command, _ = command_filter.apply(t, NAMES, position)
    assert not command.holding
    return command_filter


def keys(notices):
    return [notice.key for notice in notices]


def test_nothing_is_commanded_before_the_joints_are_measured():
    command, notices = CommandFilter(LIMITS).apply(1.0, NAMES, REST)
    assert command is None
    assert keys(notices) == ["unmeasured"]


def test_targets_are_reordered_and_followed_exactly_within_the_speed():
    command_filter = started()
    target = REST + [0.01, 0.02, -0.05]
    command, notices = command_filter.apply(1.01, NAMES[::-1], target[::-1])
    np.testing.assert_array_equal(command.position, target)
    assert command.stamp == 1.01 and not command.holding and not notices


def test_a_loaded_joint_keeps_its_target_at_the_start():
    # 0.05 rad of sag: starting from the measured joint would take the load off it.
    command_filter = CommandFilter(LIMITS)
    command_filter.observe(REST - 0.05)
    command, _ = command_filter.apply(1.0, NAMES, REST)
    np.testing.assert_array_equal(command.position, REST)


def test_the_start_is_at_the_measured_joints_and_slow():
    command_filter = CommandFilter(LIMITS)
    command_filter.observe(REST)
    command, notices = command_filter.apply(1.0, NAMES, REST + [0.0, 1.0, 0.0])
    assert "catch_up" in keys(notices)
    np.testing.assert_allclose(command.position - REST, [0.0, PARAMETERS.catch_up_velocity * 0.01, 0.0])


def test_out_of_range_targets_are_clamped_and_named():
    command_filter = started(np.array([0.04, 1.89, 2.59]))
    command, notices = command_filter.apply(1.01, NAMES, [0.07, 1.95, 2.0e3])
    assert keys(notices) == ["clamped"]
    assert "lower_1_femur: 2000.000 rad, allowed -2.600 to 2.600" in notices[0].text
    np.testing.assert_allclose(command.position, LIMITS.upper)


@pytest.mark.parametrize(
    ("names", "position", "word"),
    [
        (NAMES, [0.0, math.nan, 0.0], "lower_1_coxa"),
        (NAMES[:2], [0.0, 0.0], "no value for lower_1_femur"),
        (("a", "b", "c"), [0.0] * 3, "unknown joints a, b, c"),
        (NAMES, [0.0, 0.0], "3 names but 2 positions"),
        ((), (), "no joint names"),
    ],
)
def test_invalid_targets_hold_the_last_command_and_say_why(names, position, word):
    command_filter = started()
    command, notices = command_filter.apply(1.01, names, position)
    np.testing.assert_array_equal(command.position, REST)
    assert command.holding and command_filter.holding and command.stamp == 1.01
    assert keys(notices) == ["invalid"]
    assert word in notices[0].text and notices[0].text == command_filter.text
    command, notices = command_filter.apply(1.02, NAMES, REST + 0.03)
    np.testing.assert_array_equal(command.position, REST + [0.03, 0.03, 0.03])
    assert keys(notices) == ["resumed"] and not command_filter.holding and command_filter.text == ""


def test_invalid_targets_first_hold_the_measured_joints_within_the_limits():
    command_filter = CommandFilter(LIMITS)
    command_filter.observe(np.array([0.2, 0.0, 0.5]))  # the fan was pushed beyond its range
    command, _ = command_filter.apply(1.0, NAMES, [math.nan] * 3)
    np.testing.assert_array_equal(command.position, [0.05, 0.0, 0.5])


def test_watchdog_speaks_once_and_holds_and_the_way_back_is_slow():
    command_filter = started()
    assert command_filter.check(1.5) == ()
    assert keys(command_filter.check(1.51)) == ["watchdog"]
    assert command_filter.check(1.6) == () and command_filter.holding
    assert command_filter.target_age(1.6) == pytest.approx(0.6)
    target = REST + [0.0, 0.8, 0.0]
    command, notices = command_filter.apply(2.0, NAMES, target)
    assert set(keys(notices)) == {"resumed", "catch_up"}
    assert abs(command.position[1] - REST[1]) <= PARAMETERS.catch_up_velocity * GAP + 1e-12
    previous, t, ticks = command.position, 2.0, 0
    while not np.array_equal(command.position, target):
        t, ticks = t + 0.01, ticks + 1
        command, _ = command_filter.apply(t, NAMES, target)
        assert abs(command.position - previous).max() <= LIMITS.velocity[1] * 0.01 + 1e-12
        previous = command.position
        assert ticks < 100
    # slower than the joint's own limit, quicker than the speed at which it begins
    assert 0.8 / (LIMITS.velocity[1] * 0.01) < ticks < 0.5 * 0.8 / (PARAMETERS.catch_up_velocity * 0.01)
    assert command_filter.check(2.6 + t)[0].key == "watchdog"  # and armed again


def test_targets_moving_fast_are_caught_after_a_hold():
    command_filter = started()
    position = lambda t: REST + np.array([0.0, 0.5 * math.sin(10.0 * t), 0.0])  # noqa: E731  peak 5 rad/s
    command, t = None, 3.0
    for _ in range(120):
        t += 0.01
        command, _ = command_filter.apply(t, NAMES, position(t))
    np.testing.assert_array_equal(command.position, position(t))


def test_targets_faster_than_the_joints_are_reported():
    command_filter, said = started(), []
    for k in range(1, 30):
        said += keys(command_filter.apply(1.0 + 0.01 * k, NAMES, REST + [0.0, 0.09 * k, 0.0])[1])  # 9 rad/s of 6.18
    assert set(said) == {"too fast", "clamped"}


def test_targets_old_on_arrival_are_not_followed():
    command_filter = started()
    command, notices = command_filter.apply(1.01, NAMES, REST + 0.01, now=1.8)
    assert keys(notices) == ["stale"] and command.holding
    np.testing.assert_array_equal(command.position, REST)


def test_emergency_stop_holds_whatever_comes_until_rearm():
    command_filter = started()
    assert command_filter.stop("test") and not command_filter.stop("again")
    for t, target in ((1.01, REST + 0.02), (1.02, REST + 0.5), (1.03, [math.nan] * 3)):
        command, _ = command_filter.apply(t, NAMES, target)
        np.testing.assert_array_equal(command.position, REST)
        assert command.holding and command.stamp == t
    assert command_filter.text == "emergency stop (test): holding the last command until rearm is called"
    command_filter.reset()
    assert command_filter.stopped
    command_filter.observe(REST)
    assert command_filter.rearm() and not command_filter.rearm()
    command, _ = command_filter.apply(0.01, NAMES, REST + [0.0, 0.5, 0.0])
    assert 0.0 < command.position[1] - REST[1] <= PARAMETERS.catch_up_velocity * 0.01 + 1e-12


def test_reset_starts_again_from_the_measured_joints():
    command_filter = started(t=50.0)
    command_filter.reset()
    assert command_filter.apply(0.01, NAMES, REST)[0] is None
    command_filter.observe(REST + [0.0, 1.0, 0.0])
    command, _ = command_filter.apply(0.02, NAMES, REST)
    assert command.position[1] == pytest.approx(1.0 - 0.01)


def test_a_gap_earns_no_long_step():
    command_filter = started()
    command, _ = command_filter.apply(1.4, NAMES, REST + [0.0, 1.5, 0.0])
    assert command.position[1] <= PARAMETERS.catch_up_velocity * GAP + 1e-12


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 0.7), st.lists(st.floats(-5, 5) | st.just(math.nan), min_size=3, max_size=3))))
def test_commands_are_always_within_limits_and_speed(messages):
    """Whatever comes: one finite command per message, in range, and no faster than the joints."""
    command_filter = started()
    t, previous = 1.0, REST
    for dt, position in messages:
        t += dt
        command_filter.check(t)
        command, _ = command_filter.apply(t, NAMES, position)
        assert np.all(command.position >= LIMITS.lower) and np.all(command.position <= LIMITS.upper)
        assert np.all(np.abs(command.position - previous) <= LIMITS.velocity * min(dt, GAP) + 1e-9)
        if any(math.isnan(value) for value in position):
            assert command.holding
            np.testing.assert_array_equal(command.position, previous)
        previous = command.position


@pytest.mark.parametrize("name", ["target_timeout", "catch_up_velocity", "catch_up_time"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "fast"])
def test_parameters_are_checked(name, value):
    with pytest.raises(ConfigurationError, match=name):
        CommandFilterParameters(**{name: value})
