# SPDX-License-Identifier: MIT
"""Torques become angles by the stiffness of the servos: exactly, within limits, and never with a jump."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shellbot_common import TICK
from shellbot_control import CommandFilter, ConfigurationError, EffortOffset, JointLimits

NAMES = ("a", "b", "c")
LIMITS = JointLimits(NAMES, [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0], [6.0, 6.0, 6.0], [1.5, 1.5, 1.5])
P = np.array([10.0, 20.0, 0.0])
TAU = np.array([0.5, -1.0, 1.0])


def made(stiffness=P, dead_band=0.0):
    offset = EffortOffset(LIMITS)
    offset.set_stiffness(stiffness, dead_band)
    return offset


def settled(offset, effort=TAU, names=NAMES, ticks=30):
    for _ in range(ticks):
        found, notices = offset.step(TICK, names, effort)
    return found, notices


def test_offset_is_torque_over_stiffness_in_any_order_and_a_limp_servo_has_none():
    expected = [0.05, -0.05, 0.0]
    np.testing.assert_allclose(settled(made())[0], expected)
    np.testing.assert_allclose(settled(made(), TAU[::-1], NAMES[::-1])[0], expected)


def test_without_torques_there_is_nothing_to_add():
    assert made().step(TICK, NAMES, ()) == (None, ())


def test_it_comes_and_goes_smoothly():
    offset = made()
    way = [offset.step(TICK, NAMES, TAU)[0] for _ in range(30)]
    way += [offset.step(TICK, NAMES, ())[0] for _ in range(15)]
    last = [offset.step(TICK, NAMES, ())[0] for _ in range(10)]
    assert np.abs(np.diff(way, axis=0)).max() <= 0.05 * TICK / 0.2 + 1e-12
    assert last[-1] is None, "it ends"


@pytest.mark.parametrize("effort, word", [([0.5, math.nan, 0.0], "b: not a finite"), ([0.5, 1.0], "3 names but 2")])
def test_torques_that_are_no_use_fade_out_in_words(effort, word):
    offset = made()
    settled(offset)
    found, notices = offset.step(TICK, NAMES, effort)
    np.testing.assert_allclose(found, 0.95 * TAU * [0.1, 0.05, 0.0])
    assert word in notices[0].text
    assert settled(offset, effort)[0] is None


def test_torques_count_within_the_effort_and_offsets_within_a_range():
    np.testing.assert_allclose(settled(made(), [90.0, 0.0, 0.0])[0], [0.15, 0.0, 0.0])
    np.testing.assert_allclose(settled(made([1.0, 20.0, 20.0]))[0][0], 0.15)


def test_a_dead_band_is_crossed_and_no_torque_needs_none():
    np.testing.assert_allclose(settled(made(dead_band=0.005), [0.5, -1.0, 0.0])[0], [0.055, -0.055, 0.0])
    np.testing.assert_allclose(settled(made(dead_band=0.005), [0.0, 0.0, 0.0])[0], 0.0)


def test_a_stiffness_that_is_not_known_leaves_the_command_alone():
    offset = EffortOffset(LIMITS)
    found, notices = offset.step(TICK, NAMES, TAU)
    assert found is None and "stiffness" in notices[0].text


@pytest.mark.parametrize("stiffness", [[1.0, 2.0], [1.0, -1.0, 2.0], [1.0, math.nan, 2.0]])
def test_wrong_stiffness_is_refused(stiffness):
    with pytest.raises(ConfigurationError, match="3 finite numbers"):
        made(stiffness)


def test_commands_stay_within_limits_and_what_is_requested_stays_itself():
    command_filter = CommandFilter(LIMITS)
    command_filter.efforts.set_stiffness(P)
    target = np.array([0.98, 0.0, 0.0])
    command_filter.observe(target)
    for k in range(40):
        command, notices = command_filter.apply(1.0 + k * TICK, NAMES, target, effort=TAU)
    np.testing.assert_allclose(command.position, [1.0, -0.05, 0.0])
    np.testing.assert_array_equal(command_filter.requested, target)
    assert not notices
    command_filter.stop("test")
    held, _ = command_filter.apply(1.41, NAMES, target, effort=0.0 * TAU)
    np.testing.assert_array_equal(held.position, command.position)
