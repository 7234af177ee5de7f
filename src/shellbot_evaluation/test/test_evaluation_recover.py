# SPDX-License-Identifier: MIT
"""Falls and getting up: one whole run, what an operator requests next, and the command line."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

from shellbot_common import TICK
from shellbot_evaluation import recover_experiment
from shellbot_evaluation.experiment_cli import main as experiment
from shellbot_evaluation.recover_experiment import conditions, execute, get_up


def test_a_robot_that_is_thrown_lies_and_gets_up():
    row = execute(conditions(2001))
    assert row["success"] and row["requests"] == 1 and not row["message"]
    assert row["tilt_deg"] > 90.0
    assert 10.0 < row["folded_s"] < row["upright_s"] < row["stands_s"] - 8.0 < 37.0
    assert 0.0 < row["penetration_mm"] < 3.0
    assert row["effort_pct"] > 50.0
    assert row["clamped_s"] < 2.0


class Operated:
    """A chain whose robot does at each request the next of a script: accepted, text, mode that it ends in."""

    limits = SimpleNamespace(effort=np.array([2.0]))
    robot = SimpleNamespace(stall_torque=np.array([2.0]))
    joint_names = ("lower_1_tibia",)
    step = ""

    def __init__(self, *script):
        self.script, self.requests, self.time, self.mode = list(script), [], 0.0, "sit"

    def request_mode(self, name):
        self.requests.append(name)
        accepted, self.text, self.goal = self.script.pop(0)
        return accepted, self.text

    def tick(self):
        self.time += TICK
        self.step = "fold_ball" if self.time < 0.3 else ""
        self.mode = self.target = self.mode if self.step else self.goal
        self.output = SimpleNamespace(mode=SimpleNamespace(text=self.text))
        effort = np.array([[2.0]]) if 0.1 < self.time < 0.2 else np.array([[0.8]])
        contacts = SimpleNamespace(max_penetration=5e-4)
        return self._state(step_effort=effort, effort=effort[0], contacts=contacts)

    def _state(self, **state):
        self.state = SimpleNamespace(**state)
        return self.state


BEHIND = "lower_1_tibia is 40 deg behind, free the joint, then request shell or stand"
LIES = "the robot lies tilted by 120 deg, more than 34; request recover, or turn it upright and request stand"


def test_what_does_not_lead_to_standing_is_followed_by_what_the_robot_names():
    chain = Operated((True, BEHIND, "halfway"), (False, LIES, ""), (True, "standing", "stand"))
    row = get_up(chain)
    assert chain.requests == ["recover", "stand", "recover"]
    assert row["success"] and row["requests"] == 3 and row["message"] == ""
    assert row["clamped_s"] == pytest.approx(0.1, abs=0.015) and row["clamped_joint"] == "lower_1_tibia"
    assert row["limited_joints"] == pytest.approx(1 / 3, abs=0.05)
    assert row["effort_pct"] == pytest.approx(100.0) and row["penetration_mm"] == pytest.approx(0.5)
    chain = Operated(*[(False, LIES, "")] * 3)
    row = get_up(chain)
    assert not row["success"] and np.isnan(row["stands_s"]) and row["message"] == LIES
    assert chain.requests == ["recover"] * 3


def test_the_command_draws_falls_and_writes_tables_and_files(tmp_path, monkeypatch, capsys):
    cases = []

    def row(case):
        cases.append(case)
        return {
            **dict.fromkeys(recover_experiment.RECOVER.goals, 0.4),
            "seed": case.seed,
            "success": True,
            "message": "",
        }

    changed = dataclasses.replace(recover_experiment.RECOVER, execute=row)
    monkeypatch.setattr(recover_experiment, "RECOVER", changed)
    page, file = tmp_path / "page.md", tmp_path / "recover.json"
    page.write_text("<!-- begin: recover -->\n<!-- end: recover -->\n")
    given = [
        "recover",
        "--seeds",
        "2000:2040",
        "--json",
        str(file),
        "--write",
        str(page),
        "--out",
        str(tmp_path / "out"),
    ]
    assert experiment([*given, "--perturb", "torque_scale=0.9"]) == 0
    found = json.loads(file.read_text())
    assert len(found["runs"]) == 40 and found["summary"]["success"] == 40 and found["summary"]["worst_s"] == 0.4
    assert "Stood again: 40 of 40" in page.read_text()
    ups = np.array([1.0 - 2.0 * (case.attitude[0] ** 2 + case.attitude[1] ** 2) for case in cases])
    assert ups.max() <= 0.0 and (ups > -0.3).any() and (ups < -0.7).any(), "on its side, on its back"
    assert all(0.85 <= case.mass <= 1.15 and case.changes["torque_scale"] == 0.9 for case in cases)
    assert experiment(["recover", "--running"]) == 2
    assert "'recover' throws the robot into an attitude" in capsys.readouterr().err
