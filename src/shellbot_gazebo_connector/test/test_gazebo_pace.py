# SPDX-License-Identifier: MIT
"""Gazebo makes the steps of a tick when the tick before has its command, and not for ever waits for who is gone."""

from __future__ import annotations

from shellbot_gazebo_connector.pace import NUDGE, PATIENCE, Pace

TICK, STEP = 0.01, 0.001


def test_a_tick_is_due_once_for_each_command_of_the_newest_states():
    pace = Pace(STEP)
    for k in range(1, 300):
        pace.on_states(k * TICK, 0.0)
        assert not pace.on_command((k - 1) * TICK, 0.0), "it answers the states before"
        assert pace.on_command(k * TICK, 0.0)
        assert not pace.on_command(k * TICK, 0.0), "answered already"
    assert pace.tick == 10


def test_a_command_that_overtakes_its_states_counts():
    pace = Pace(STEP)
    pace.on_states(TICK, 0.0)
    assert pace.on_command(2 * TICK, 0.0)
    pace.on_states(2 * TICK, 0.0)
    assert not pace.on_command(2 * TICK, 0.0)


def test_ticks_without_a_command_are_counted():
    pace = Pace(STEP)

    def tick(k, command=True):
        pace.on_states(k * TICK, 0.0)
        if command:
            pace.on_command(k * TICK, 0.0)

    for k in range(10):
        tick(k, command=k >= 5)
    assert pace.lost == 0, "ticks before the first command do not count"
    for k in range(10, 13):
        tick(k, command=False)
    assert pace.lost == 0, "no command has come since"
    tick(13)
    assert pace.lost == 3
    for k in (14, 15):  # commands that overtake their states
        pace.on_command(k * TICK, 0.0)
    for k in (14, 15):
        pace.on_states(k * TICK, 0.0)
    assert not pace.on_command(15 * TICK, 0.0) and pace.lost == 3
    tick(17)
    assert pace.lost == 4
    tick(0)  # a reset
    tick(1)
    assert pace.lost == 4


def test_it_begins_with_the_steps_to_the_next_states():
    for late, steps in ((0.0, 10), (0.001, 9), (0.009, 1), (0.010, 10), (0.137, 3)):
        pace = Pace(STEP)
        pace.on_states(5.003, 0.0)
        assert not pace.follows
        assert pace.begin(5.003 + late) == steps and pace.follows


def test_who_is_silent_is_not_waited_for():
    pace = Pace(STEP)
    pace.on_states(TICK, 0.0)
    assert pace.on_command(TICK, 100.0)
    assert not pace.is_silent(100.0 + 0.9 * PATIENCE)
    assert pace.is_silent(100.1 + PATIENCE)


def test_joints_without_an_answer_get_single_steps_that_the_tick_then_lacks():
    pace = Pace(STEP)
    pace.on_states(TICK, 0.0)
    assert not pace.is_stuck(100.0), "Gazebo runs freely"
    pace.on_command(TICK, 0.0)
    assert pace.begin(TICK) == 10
    pace.on_states(2 * TICK, 1.0)
    assert not pace.is_stuck(1.0 + 0.9 * NUDGE)
    assert pace.is_stuck(1.0 + NUDGE) and not pace.is_stuck(1.01 + NUDGE)
    assert pace.is_stuck(1.0 + 2.0 * NUDGE)
    assert pace.on_command(2 * TICK, 2.0) and not pace.is_stuck(100.0)
    assert pace.steps() == 8
    pace.on_states(3 * TICK, 3.0)
    assert sum(pace.is_stuck(3.0 + k * NUDGE) for k in range(1, 50)) == 5, "never a whole tick"
    assert pace.on_command(3 * TICK, 50.0) and pace.steps() == 5
    assert pace.on_command(4 * TICK, 51.0)
    pace.on_states(4 * TICK, 51.0)  # it was overtaken
    assert not pace.is_stuck(100.0) and pace.steps() == 10


def test_a_reset_of_the_simulation_begins_anew():
    pace = Pace(STEP)
    for stamp in (5.0, TICK):
        pace.on_states(stamp, 0.0)
        assert pace.on_command(stamp, 0.0)


def test_after_the_clock_was_set_back_it_knows_until_when_sensors_are_silent():
    pace = Pace(STEP)
    assert pace.silent_until(0.0) is None
    assert pace.silent_until(7.5) is None
    assert pace.silent_until(7.48) is None, "late, no reset"
    assert pace.silent_until(7.6) is None
    assert pace.silent_until(0.2) == 7.6
    assert pace.silent_until(3.0) == 7.6
    assert pace.silent_until(0.1) == 7.6, "set back once more before that"
    assert pace.silent_until(7.59) == 7.6
    assert pace.silent_until(7.61) is None
