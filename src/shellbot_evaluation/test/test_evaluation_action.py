# SPDX-License-Identifier: MIT
"""scripts/action: what can be performed is green in the simulator, what cannot is red and says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shellbot_action_manager.body.geometry import RobotGeometry
from shellbot_chain.chain import Chain
from shellbot_chain.errors import MissionFailed
from shellbot_evaluation import action_check
from shellbot_evaluation.action_check import check_action
from shellbot_evaluation.action_cli import main

DOCS = Path(__file__).parents[3] / "docs/actions.md"
CRASH = "{move: upper, legs: all, to: {height: 0.0, opening_deg: -10}}"


@pytest.fixture
def folder(tmp_path):
    """The example of the documentation, and one that shuts the upper gores onto each other."""
    example = re.search(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL).group(1)
    (tmp_path / "mine.yaml").write_text(f"{example}crash:\n  text: crash\n  steps: [{{do: [{CRASH}]}}]\n")
    return str(tmp_path)


def test_the_example_of_the_documentation_is_green(folder):
    found = check_action("nod_to", {"leg": 4, "times": 1}, [folder])
    assert (found.verdict, found.error_deg < 3.0, found.drift_mm < 2.0) == ("green", True, True)
    assert 0.1 < found.effort < 0.6 and found.joint.startswith(("lower", "upper"))


def test_parts_that_touch_and_what_is_refused_are_red(folder, capsys, monkeypatch):
    assert "gore_link would overlap by" in check_action("crash", {}, [folder]).verdict
    with monkeypatch.context() as unchecked:  # joints that are behind may touch where the plan does not
        unchecked.setattr(RobotGeometry, "overlap", lambda self, q: (0.0, ""))
        found = check_action("crash", {}, [folder])
    assert re.match(r"RED: upper_\d_gore_link and upper_\d_gore_link touch", found.verdict)
    assert main(["check", "--folder", folder, "crash"]) == 1
    assert "RED" in capsys.readouterr().out
    assert "this robot has no upper legs" in check_action("greet", {}, variant="walker").verdict


def test_the_second_example_of_the_documentation_walks(tmp_path):
    example = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL)[1]
    (tmp_path / "mine.yaml").write_text(example)
    found = check_action("lap", {"distance": 0.1}, [str(tmp_path)])
    assert found.verdict == "green" and found.drift_mm < 5.0 and found.margin_mm > 50.0


@pytest.mark.parametrize(("name", "parameters"), [("stroll", {}), ("visit", {"distance": 0.15})])
def test_shipped_actions_that_walk_are_green(name, parameters):
    """Those on the spot are cheap in every figure; walking is where the torque goes, within the first steps."""
    assert check_action(name, parameters).verdict == "green"


def test_the_centre_of_mass_too_near_to_the_edge_is_red(monkeypatch):
    monkeypatch.setattr(action_check, "MARGIN_MM", 200.0)
    found = check_action("wave", {"times": 1})
    assert 100.0 < found.margin_mm < 200.0 and "the centre of mass comes within" in found.verdict


def test_list_names_parameters_and_ranges(folder, capsys):
    assert main(["list", "--folder", folder]) == 0
    out = capsys.readouterr().out
    assert "wave: lifts a leg and waves with it\n    leg=1  (1 to 6)\n    height=0.06  (0.02 to 0.08 m)" in out
    assert "nod_to: leans towards a leg" in out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["check", "wavve"], "there is no action 'wavve'; is wave meant"),
        (["check", "wave", "leg"], "'leg' is no NAME=NUMBER with a finite number; write for example leg=3"),
        (["check", "wave", "leg=9"], "leg of wave is 9; give a whole number from 1 to 6"),
        (["list", "--folder", "nowhere"], "the folder of actions nowhere does not exist"),
    ],
)
def test_mistakes_get_a_sentence(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_the_chain_performs_and_says_why_it_does_not():
    chain = Chain(seed=1)
    chain.stand_up()
    began = chain.time
    chain.perform("bow", speed=0.5)
    assert chain.time - began > 2.5 and chain.mode == "hexapod"
    with pytest.raises(MissionFailed, match="bow refused: depth of bow is 50 deg"):
        chain.perform("bow", depth=50)
    with pytest.raises(MissionFailed, match="wave did not end: .*stop"):
        chain.perform("wave", each_tick=lambda c: c.manager.emergency_stop() if c.step == "perform" else None)
