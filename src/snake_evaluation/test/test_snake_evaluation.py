# SPDX-License-Identifier: MIT
"""Experiments in the simulator: gaits against their golden steps, a change with righting, identification, seeds."""

from __future__ import annotations

import json

import pytest
from snake_evaluation.changes import _change
from snake_evaluation.cycles import run_cycles
from snake_evaluation.experiment_cli import main
from snake_evaluation.identify import identify
from snake_evaluation.snake_run import Setup
from snake_evaluation.speed import speed_table
from snake_evaluation.waypoint_experiment import _mission

from shellbot_evaluation.errors import EvaluationError
from snake_evaluation import experiment_cli, snake_cli


def test_every_option_says_what_it_is():
    commands = snake_cli.parser()._subparsers._group_actions[0].choices
    assert {"identify", "film", "speed"} <= set(commands)
    for parser in (experiment_cli.parser(), *commands.values()):
        silent = [action.dest for action in parser._actions if not action.help]
        assert not silent, (parser.prog, silent)


SETUP = Setup(friction=0.6, seed=5)


@pytest.mark.parametrize(
    ("gait", "direction", "figure", "expected"),
    [
        ("straight", 1, "forward_mm", 68.0),
        ("straight", -1, "forward_mm", -63.0),
        ("turning", 1, "yaw_deg", -9.7),
        ("side_winding", 1, "left_mm", 280.0),
        ("inclined", -1, "left_mm", -460.0),
        ("s_rotation", 1, "yaw_deg", 64.0),
        ("roll", 1, "left_mm", 203.0),
        ("side_fast", -1, "left_mm", -578.0),
        ("inclined_fast", -1, "left_mm", -490.0),
        ("turn", 1, "yaw_deg", 69.0),
    ],
)
def test_gaits_step_as_they_did(gait, direction, figure, expected):
    result = run_cycles(SETUP, gait, direction, 3)
    assert getattr(result, figure) == pytest.approx(expected, rel=0.1)
    assert not result.tipped
    if gait == "straight":
        assert abs(result.left_mm) < 1.0
    if gait in ("straight", "inclined", "inclined_fast", "side_fast"):
        assert result.odometry_error_percent < 6.0 and result.odometry_yaw_deg_per_m < 2.0


def test_the_servos_and_the_ground_of_the_source_flap():
    result = run_cycles(Setup(servo="source", friction=0.2, seed=5), "flapping", 1, 1)
    assert abs(result.left_mm) > 15.0


def test_after_inclined_side_winding_it_is_right_side_up_again():
    change = _change(SETUP, "inclined", "straight")
    assert change.up > 0.9 and change.up_after > 0.9 and not change.tipped
    assert change.greatest_reference < 5.5


def test_equal_seeds_give_equal_results_and_others_do_not():
    first, again, other = (run_cycles(Setup(seed=seed), "side_winding", 1, 1) for seed in (3, 3, 4))
    assert first == again and first.left_mm != other.left_mm


@pytest.mark.parametrize(("goal", "millimetres"), [("ahead", 30.0), ("left", 60.0), ("turn", 30.0)])
def test_a_waypoint_is_reached_on_the_own_odometry(goal, millimetres):
    mission = _mission(SETUP, goal)
    assert mission.reached and mission.cycles < 12.0
    assert mission.position_error_mm < millimetres and mission.heading_error_deg < 4.0


def test_identify_measures_what_the_map_says():
    found = identify("rotation", Setup(), (1,), (0.8,), levels=4)
    forward, left, yaw = found.steps([[1.0, -90.0]])[0]
    assert yaw > 0.7 and abs(forward) < 0.02 and abs(left) < 0.02  # rad, m
    assert found.residual[2] < 0.1
    with pytest.raises(EvaluationError, match="levels is 3"):
        identify("rotation", Setup(), (1,), (0.8,), levels=3)


def test_speed_tells_physics_from_the_rest():
    table = speed_table((4,), ("straight",), 0.8, 0.2).splitlines()
    everything, physics, tick = (float(cell) for cell in table[2].split("|")[4:7])
    assert 0.0 < everything < physics and 0.0 < tick < 10.0
    with pytest.raises(EvaluationError, match="moonwalk"):
        speed_table((4,), ("moonwalk",), 0.8, 0.2)


def test_the_command_writes_runs_and_summary(tmp_path, capsys):
    file = tmp_path / "roll.json"
    arguments = ["--gait", "roll", "--direction", "1", "--friction", "0.8", "--seeds", "7:9", "--cycles", "1"]
    assert main([*arguments, "--json", str(file), "--out", str(tmp_path / "report")]) == 0
    assert {path.suffix for path in (tmp_path / "report").iterdir()} == {".csv", ".json", ".md", ".html", ".png"}
    assert "### roll +1, friction 0.8" in (tmp_path / "report" / "snake_gait.md").read_text(encoding="utf-8")
    content = json.loads(file.read_text(encoding="utf-8"))
    assert [run["seed"] for run in content["runs"]] == [7, 8]
    assert {"forward_mm", "left_mm", "yaw_deg", "cost_of_transport", "tipped"} <= set(content["summary"])
    assert content["summary"]["cost_of_transport"] < 2.0
    assert main(["--gait", "moonwalk"]) == 2
    assert main(["--modules", "1000"]) == 2
    assert "modules is 1000; give a whole number from 1 to 128" in capsys.readouterr().err
    assert main(["--gait", "rolling", "--modules", "2"]) == 2
    assert "use more modules" in capsys.readouterr().err


def test_a_gait_steps_in_bullet_as_in_mujoco(tmp_path):
    pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    file = tmp_path / "found.json"
    given = ["gait", "--gait", "straight", "--seeds", "1", "--friction", "0.6", "--cycles", "2", "--json", str(file)]
    assert main([*given, "--simulator", "bullet"]) == 0
    (run,) = json.loads(file.read_text())["runs"]
    assert run["forward_mm"] == pytest.approx(68.0, rel=0.1)
    other = run_cycles(Setup(friction=0.6, seed=0), "straight", 1, 2)
    assert run["forward_mm"] != other.forward_mm, "it is another engine"


def test_more_than_16_modules_are_rooted_in_the_middle():
    """16 are not: all figures, maps and corrections are theirs. The two settings files differ in nothing else."""
    short, long = Setup(16).simulator, Setup(17).simulator
    assert (short.root, long.root) == ("base", "middle")
    assert long.replace(root="base") == short
