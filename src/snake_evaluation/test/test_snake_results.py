# SPDX-License-Identifier: MIT
"""The page of results, and the corrections of the odometry, each from real runs."""

from __future__ import annotations

import pytest
import yaml

from robot_evaluation.errors import EvaluationError
from snake_evaluation import snake_cli
from snake_evaluation.experiment_cli import main as experiment
from snake_evaluation.results import write_results
from snake_evaluation.slips import _steps, write_slips
from snake_evaluation.snake_run import Setup
from snake_motion.odometry import load_slips


def test_runs_of_several_files_are_one_case(tmp_path):
    files = [tmp_path / f"{seed}.json" for seed in (7, 8)]
    for file, seed in zip(files, (7, 8)):
        arguments = ["--gait", "roll", "--cycles", "1", "--modules", "8", "--seeds", f"{seed}:{seed + 1}"]
        assert experiment([*arguments, "--json", str(file)]) == 0
    page = tmp_path / "snake.md"
    write_results(files, page)
    text = page.read_text(encoding="utf-8")
    assert "seeds 7 to 8" in text and text.count("| roll ") == 2  # a row of steps, one of odometry
    files[0].write_text("{}", encoding="utf-8")
    with pytest.raises(EvaluationError, match="give a file of scripts/experiment snake --json"):
        write_results(files, page)


def test_estimated_steps_of_straight_are_shorter_than_true_ones():
    own, true = _steps((Setup(seed=5), "straight", 1))
    assert own.shape == true.shape == (4,)
    assert 1.1 < (true / own).real.mean() < 1.4


def test_slips_of_one_gait_leave_the_other_rows(tmp_path):
    file = tmp_path / "odometry.yaml"
    write_slips({"roll": {"1": [0.98, 1.5]}, "sideways": {"1": [1.02, -1.5]}}, file)
    arguments = ["slips", "--gait", "sideways", "--seeds", "7:8", "--friction", "0.8", "--out", str(file)]
    assert snake_cli.main(arguments) == 0
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert found["roll"] == {"1": [0.98, 1.5]} and found["sideways"]["-1"][0] == pytest.approx(1.01, abs=0.03)
    assert found["rotation"]["1"] == [0.0, 0.0], "it turns on the spot"


def test_the_file_of_slips_is_read_back(tmp_path):
    file = tmp_path / "odometry.yaml"
    write_slips({"roll": {"1": [0.98, 1.5], "-1": [1.02, -1.5]}}, file)
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["roll"]["-1"] == [1.02, -1.5]
    assert load_slips(file)["roll", 1][0] == 0.98
