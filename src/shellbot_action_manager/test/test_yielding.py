# SPDX-License-Identifier: MIT
"""Joints of a ball that the ground holds up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shellbot_action_manager.body.limbs import LimbCommand, LimbGroup
from shellbot_action_manager.body.rolling import load_rolling
from shellbot_action_manager.body.unhook import GORE_RATE
from shellbot_action_manager.body.yielding import Yielding
from shellbot_action_manager.errors import ConfigError
from shellbot_common import TICK

CONFIG = load_rolling().yielding
GROUPS = {"legs": LimbGroup(("a", "b"), np.arange(4).reshape(2, 2, 1)), "arms": LimbGroup(("c",), np.array([[[4]]]))}
AHEAD = 0.4  # rad


def commanded(yielding, q, ahead=AHEAD):
    """One tick: joint 1 is commanded ahead of where it is, the others are where they are commanded."""
    requested = q.copy()
    requested[1] += ahead
    limbs = {"legs": LimbCommand(requested[:4].reshape(2, 2)), "arms": LimbCommand(requested[4:].reshape(1, 1))}
    done = yielding.step(TICK, limbs, q)
    return np.concatenate([done["legs"].q.ravel(), done["arms"].q.ravel()])


def run(yielding, q, seconds, **command):
    return np.array([commanded(yielding, q, **command) for _ in range(round(seconds / TICK))])


@pytest.fixture
def yielding():
    return Yielding(CONFIG, GROUPS)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_joint_that_is_held_up_is_pressed_for_a_moment_and_then_less_without_a_jump(yielding, way):
    q = np.linspace(-1.0, 1.0, 5)
    track = run(yielding, q, CONFIG.after + 0.5, ahead=way * AHEAD)
    ahead = way * (track[:, 1] - q[1])
    pressed = ahead >= AHEAD - 1e-9
    assert TICK * pressed.sum() == pytest.approx(CONFIG.after + 0.1, abs=0.03), "the reach shrinks from beyond any lead"
    assert ahead[-1] == pytest.approx(CONFIG.lead)
    assert np.abs(np.diff(ahead)).max() <= GORE_RATE * TICK + 1e-9
    assert (np.delete(track, 1, axis=1) == np.delete(q, 1)).all(), "the others do as they are commanded"
    ahead = way * (run(yielding, q, 0.5 + 0.2, ahead=way * AHEAD)[:, 1] - q[1])
    assert ahead[-1] == pytest.approx(AHEAD), "what has hooked may come free"
    assert np.abs(np.diff(ahead)).max() <= GORE_RATE * TICK + 1e-9


def test_it_is_pressed_in_full_again_once_it_moves_or_the_command_comes_back(yielding):
    q = np.zeros(5)
    run(yielding, q, CONFIG.after + 0.5)
    q[1] = 0.06
    track = run(yielding, q, CONFIG.after)
    assert track[-1, 1] == pytest.approx(q[1] + AHEAD)
    assert np.abs(np.diff(track[:, 1])).max() <= GORE_RATE * TICK + 1e-9
    run(yielding, q, 0.5)
    run(yielding, q, 0.2, ahead=0.5 * CONFIG.behind)
    assert run(yielding, q, CONFIG.after)[-1, 1] == pytest.approx(q[1] + AHEAD)


def test_a_joint_on_its_way_is_never_held_up(yielding):
    q = np.zeros(5)
    for _ in range(300):
        q[1] += 0.2 * TICK  # slowly, as one that gives all its torque
        assert commanded(yielding, q)[1] == pytest.approx(q[1] + AHEAD)


def test_a_new_beginning_forgets_what_was_held_up(yielding):
    q = np.zeros(5)
    run(yielding, q, CONFIG.after + 0.5)
    yielding.reset()
    assert commanded(yielding, q)[1] == AHEAD


def test_a_lead_greater_than_what_counts_as_behind_is_refused():
    with pytest.raises(ConfigError, match=r"lead is 0\.2; give at most behind, 0\.07"):
        replace(CONFIG, lead=0.2)
