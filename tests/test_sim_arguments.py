# SPDX-License-Identifier: MIT
"""scripts/sim refuses in one line what roslaunch would ignore or what a node would die of again and again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

import sim_arguments  # noqa: E402


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["demo:=mission"],
        ["rtf:=0", "seed:=3", "friction:=0.7", "results:=/tmp/a folder", "gait:=wave"],
        ["-p", "11312", "--screen", "variant:=walker", "simulator:=gazebo", "demo:=true", "gui:=false"],
    ],
)
def test_right_arguments(arguments):
    assert sim_arguments.sim_complaint(arguments) == ""
    assert sim_arguments.sim_complaint(["robot:=shellbot", *arguments]) == ""


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("robot:=shelbot", "robot:=shelbot: choose one of shellbot"),
        ("simulatr:=gazebo", "do you mean simulator?"),
        ("wonder:=1", "the arguments are simulator, variant,"),
        ("simulator:=foo", "choose one of mujoco, bullet, gazebo"),
        ("gait:=moonwalk", "tripod"),
        ("start_mode:=run", "choose one of hexapod, stand, sit"),
        ("teleop:=foo", "choose one of window, none"),
        ("gui:=maybe", "choose one of true, false"),
        ("demo:=missoin", "choose one of true, false, mission"),
        ("rtf:=-1", "from 0 to 1000"),
        ("rtf:=nan", "from 0 to 1000"),
        ("friction:=abc", "from 0 to 10"),
        ("seed:=1.5", "whole"),
        ("walker", "NAME:=VALUE"),
    ],
)
def test_wrong_arguments(argument, words):
    assert words in sim_arguments.sim_complaint(["rtf:=1", argument])


@pytest.mark.parametrize("launch", [*map(sim_arguments.sim_launch, sim_arguments.robots()), sim_arguments.ONBOARD])
def test_only_arguments_that_exist_have_rules(launch):
    assert set(sim_arguments.rules(launch)) <= set(sim_arguments.known_names(launch))


@pytest.mark.parametrize("robot", sim_arguments.robots())
def test_what_every_robot_takes(robot):
    arguments = [f"robot:={robot}", "gui:=true", "teleop:=none", "web:=true", "rviz:=true", "rtf:=0"]
    assert sim_arguments.sim_complaint(arguments) == ""


def test_choices_match_the_packages():
    import shellbot_description

    assert sim_arguments.rules(sim_arguments.sim_launch())["variant"] == list(shellbot_description.VARIANTS)


def test_the_last_robot_that_is_named_is_started():
    assert sim_arguments.take_robot(["robot:=arm", "rtf:=0", "robot:=snake"]) == ("snake", ["rtf:=0"])
    assert sim_arguments.take_robot(["rtf:=0"]) == ("shellbot", ["rtf:=0"])
    assert sim_arguments.robots()[0] == "shellbot"


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("variant:=simulation", "choose one of walker, full"),
        ("simulator:=gazebo", "there is no argument"),
        ("direction:=automatic", "choose one of auto, rs485, echo, gpio, rts, write-only"),
        ("baud:=115200.5", "from 7000"),
        ("priority:=100", "from 0 to 99"),
        ("latency_ms:=soon", "from 0 to 1000"),
        ("walker", "see scripts/onboard --help"),
    ],
)
def test_wrong_arguments_on_board(argument, words):
    assert words in sim_arguments.complaint([argument], sim_arguments.ONBOARD)


def test_right_arguments_on_board():
    arguments = ["variant:=full", "direction:=gpio", "gpio:=/dev/gpiochip0:149", "baud:=1000000", "emulated:=true"]
    assert sim_arguments.complaint(arguments, sim_arguments.ONBOARD) == ""


def test_choices_on_board_match_the_driver():
    from ax_bus import DIRECTIONS

    assert sim_arguments.rules(sim_arguments.ONBOARD)["direction"] == list(DIRECTIONS)


def test_the_script_says_so_and_starts_nothing():
    done = subprocess.run(
        [str(ROOT / "scripts" / "sim"), "rft:=0"], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 1
    assert "do you mean rtf?" in done.stderr
    assert "SUMMARY" not in done.stdout


def test_folders_of_actions_are_those_of_the_caller(tmp_path):
    """Relative ones, those below ~ and several; one that does not exist ends the script before anything starts."""
    for name in ("mine", "home"):
        (tmp_path / name).mkdir()
    common = ROOT / "scripts" / "lib" / "common.sh"
    script = f'. {common}; args=(); for arg in "$@"; do args+=("$(absolute_folders "$arg")"); done; echo "${{args[@]}}"'

    def resolved(value):
        command = ["bash", "-c", script, "sim", f"action_folders:={value}"]
        environment = dict(os.environ, HOME=str(tmp_path))
        return subprocess.run(command, cwd=str(tmp_path), env=environment, capture_output=True, text=True, check=False)

    assert resolved("mine:~/home").stdout.strip() == f"action_folders:={tmp_path}/mine:{tmp_path}/home"
    assert resolved("").stdout.strip() == "action_folders:="
    wrong = resolved("mine:nowhere")
    assert wrong.returncode == 1 and f"{tmp_path}/nowhere does not exist" in wrong.stderr
