# SPDX-License-Identifier: MIT
"""Every registered behaviour keeps the contract; one that breaks a promise is caught."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from behaviour_contract import (
    CHECKS,
    check_aborts_safely,
    check_enters,
    check_keeps_limits,
    check_survives_bad_feedback,
    check_transitions,
)

from shellbot_action_manager.behaviours import registry
from shellbot_action_manager.body.limbs import LimbCommand
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.modes.mode_table import load_mode_table
from shellbot_common import package_file

NAMES = registry.behaviour_names()
REQUESTED = [name for name in NAMES if name != "halfway"]  # no request leads there, see test_action_ball.py
TABLE = load_mode_table()
STARTS = sorted({mode for mode, _ in TABLE.transitions}, key=lambda mode: mode.label)


def test_the_table_names_every_behaviour():
    assert TABLE.behaviours == set(NAMES)
    led_to = {name for t in TABLE.transitions.values() for name in (*t.steps, TABLE.modes[t.goal].behaviour)}
    assert led_to == set(REQUESTED)


@pytest.mark.parametrize("mode", STARTS, ids=lambda mode: mode.label)
def test_every_transition_keeps_the_contract(mode):
    check_transitions(mode, [request for start, request in TABLE.transitions if start == mode])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", REQUESTED)
def test_keeps_the_contract(name, check):
    check(name)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", REQUESTED)
def test_keeps_limits_over_random_commands(name, seed):
    check_keeps_limits(name, seed)


@pytest.fixture
def nod(monkeypatch, tmp_path):
    """A behaviour added by one file and one row; returns its class and the table that names it."""
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))
    added = runpy.run_path(str(Path(__file__).with_name("behaviour_nod.py")))["Nod"]
    table = yaml.safe_load(package_file("shellbot_action_manager", "config/modes.yaml").read_text())
    row = next(r for r in table["transitions"] if (r["from"], r["request"]) == (["hexapod"], "stand"))
    row["steps"] = ["stop_walking", "nod"]
    path = tmp_path / "modes.yaml"
    path.write_text(yaml.safe_dump(table))
    return added, str(path)


def test_a_behaviour_is_added_with_one_file_and_one_row(nod):
    for check in (check_enters, *CHECKS):
        check("nod", modes_path=nod[1])
    check_keeps_limits("nod", 0, modes_path=nod[1])


def break_nod(monkeypatch, nod, **methods):
    base, path = nod
    broken = type("Broken", (base,), methods)
    monkeypatch.setitem(registry._FACTORIES, "nod", broken)
    return path


def shifted(motion, tibia):
    lower = LimbCommand(motion.limbs["lower"].q + np.array([0.0, 0.0, tibia]))
    return replace(motion, limbs={**motion.limbs, "lower": lower})


def test_a_jump_at_the_beginning_is_caught(monkeypatch, nod):
    def step(self, dt, commands, state):
        return shifted(super(type(self), self).step(dt, commands, state), 0.1)

    with pytest.raises(AssertionError, match="velocity jumps by"):
        check_enters("nod", modes_path=break_nod(monkeypatch, nod, step=step))


def test_leaving_the_joint_limits_is_caught(monkeypatch, nod):
    def step(self, dt, commands, state):
        motion = super(type(self), self).step(dt, commands, state)
        return replace(shifted(motion, -5.0 * self._time**2), done=False)

    with pytest.raises(AssertionError, match="joint limit"):
        check_keeps_limits("nod", 0, modes_path=break_nod(monkeypatch, nod, step=step))


def test_a_safe_mode_that_is_not_safe_is_caught(monkeypatch, nod):
    with pytest.raises(AssertionError):
        check_aborts_safely("nod", modes_path=break_nod(monkeypatch, nod, safe_modes=("hexapod",)))


def test_needing_an_attitude_is_caught(monkeypatch, nod):
    def step(self, dt, commands, state):
        assert state.rpy[0] < 1.0
        return super(type(self), self).step(dt, commands, state)

    path = break_nod(monkeypatch, nod, step=step)
    with pytest.raises(TypeError):
        check_survives_bad_feedback("nod", modes_path=path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contact_model": "wheels"}, "behaviour 'nod' needs the contact model 'wheels'; there are only feet, none"),
        ({"safe_modes": ("bed",)}, "behaviour 'nod' needs the mode 'bed'; there are only"),
    ],
)
def test_what_a_behaviour_needs_is_checked_at_load(monkeypatch, nod, change, message):
    with pytest.raises(ConfigError, match=message):
        ActionManagerCore.from_description(modes_path=break_nod(monkeypatch, nod, **change))


def test_a_name_is_registered_once(nod):
    with pytest.raises(ConfigError, match="behaviour 'nod' is registered twice"):
        registry.register("nod")(nod[0])
