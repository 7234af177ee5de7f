# SPDX-License-Identifier: MIT
"""Helps of the command line tools: complete, and without what is refused."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from humanoid_evaluation import action_cli as humanoid_action_cli
from robot_evaluation.tuning import cli as tuning_cli
from shellbot_benchmarks import bench_cli
from shellbot_control import gains_tool_node
from shellbot_evaluation import (
    action_cli,
    experiment_cli,
    mission_cli,
    plot_parser,
    rolling_cli,
    sweep_cli,
    transform_cli,
)
from shellbot_simulator.core.terrain import terrains
from snake_evaluation import snake_cli

ROOT = Path(__file__).resolve().parents[1]
TOOLS = (action_cli, bench_cli, gains_tool_node, humanoid_action_cli, plot_parser, snake_cli)


def commands_of(parser):
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return commands.choices


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_the_help_of_a_command_says_what_it_does(tool):
    silent = [name for name, command in commands_of(tool.parser()).items() if not command.description]
    assert not silent


@pytest.mark.parametrize("script, tool, module", [("bench", bench_cli, "bench_cli"), ("plot", plot_parser, "plot_cli")])
def test_the_help_names_the_other_robots_that_the_script_starts(script, tool, module):
    robots = {
        file.parent.name[: -len("_evaluation")]
        for file in ROOT.glob(f"src/*_evaluation/src/*_evaluation/{module}.py")
    } - {"shellbot"}  # fmt: skip
    assert robots and robots <= set(commands_of(tool.parser())), f"scripts/{script} --help"


def test_pushes_and_campaigns_are_offered_by_the_experiments_that_take_them():
    assert re.search(r"push_n \(walk,\s+turn,\s+square only\)", experiment_cli.parser().format_help())
    assert "campaign" in experiment_cli.parser().format_help()
    for experiment in (rolling_cli.ROLL, transform_cli.RUNS):
        text = experiment.parser().format_help()
        assert "mass_scale" in text and "push_n" not in text and "campaign" not in text


def test_headers_of_scripts_agree_with_the_options():
    text = (ROOT / "scripts/experiment").read_text(encoding="utf-8")
    (option,) = (action for action in experiment_cli.parser()._actions if "--perturb" in action.option_strings)
    assert set(re.findall(r"--perturb (\S+)", text)) == {option.metavar}
    named = re.search(r"on another ground: (.*)", (ROOT / "scripts/sim").read_text(encoding="utf-8")).group(1)
    assert set(named.split(", ")) == set(terrains()) - {"flat"}


@pytest.mark.parametrize(
    "main, option",
    [
        (mission_cli.main, "--film"),
        (rolling_cli.ROLL.main, "--json"),
        (sweep_cli.main, "--picture"),
        (transform_cli.main, "--pictures"),
        (tuning_cli.main, "--save"),
    ],
)
def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_runs(main, option, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([option, str(tmp_path)])
    assert f"argument {option}: {tmp_path} is a folder; give the path of a file" in capsys.readouterr().err
