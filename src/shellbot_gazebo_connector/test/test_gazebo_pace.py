# SPDX-License-Identifier: MIT
"""Gazebo waits for answers, not for ever, and never because of what somebody else paused."""

from __future__ import annotations

from shellbot_gazebo_connector.pace import PATIENCE, Pace

TICK = 0.01


def following():
    """A pace whose chain answered tick 0."""
    pace = Pace()
    assert pace.on_states(0.0, 0.0) is None
    assert pace.on_targets(0.0, 0.003) is None
    return pace


def test_a_chain_that_keeps_up_never_waits():
    pace = following()
    for k in range(1, 300):
        assert pace.on_states(k * TICK, k * TICK) is None
        assert pace.on_targets(k * TICK, k * TICK + 0.009) is None
    assert not pace.paused and pace.paused_for == 0.0


def test_it_waits_from_the_second_tick_without_an_answer_until_the_newest_is_answered():
    pace = following()
    assert pace.on_states(TICK, 1.00) is None
    assert pace.on_states(2 * TICK, 1.01) is True
    assert pace.on_states(3 * TICK, 1.02) is None, "the pause comes a little late; it is asked for once"
    assert pace.on_targets(TICK, 1.03) is None and pace.on_targets(2 * TICK, 1.04) is None
    assert pace.on_targets(3 * TICK, 1.06) is False
    assert abs(pace.paused_for - 0.05) < 1e-9 and not pace.paused


def test_who_is_silent_is_not_waited_for_until_it_answers_again():
    pace = following()
    pace.on_states(TICK, 1.00)
    assert pace.on_states(2 * TICK, 1.01) is True
    assert pace.check(1.01 + 0.9 * PATIENCE) is None
    assert pace.check(1.02 + PATIENCE) is False
    for k in range(3, 100):
        assert pace.on_states(k * TICK, 2.0 + k * TICK) is None
    assert pace.on_targets(99 * TICK, 3.0) is None
    pace.on_states(100 * TICK, 3.01)
    assert pace.on_states(101 * TICK, 3.02) is True


def test_a_reset_of_the_simulation_begins_anew():
    pace = following()
    for k in range(1, 50):
        pace.on_states(k * TICK, k * TICK)
        pace.on_targets(k * TICK, k * TICK)
    assert pace.on_states(0.0, 1.0) is None, "the answers are those of the time before"
    assert pace.on_states(5 * TICK, 1.1) is None
    assert pace.on_targets(5 * TICK, 1.1) is None and not pace.paused
