# SPDX-License-Identifier: MIT
"""What the scripts say in a clone that is not set up, or not to the end, or that lies where it cannot be."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ("bench", "dynamics", "experiment", "onboard", "plot", "servo", "setup", "sim", "teleop")


@pytest.fixture
def clone(tmp_path):
    """A clone that nobody has set up; returns a function that runs one of its scripts."""
    return _clone(tmp_path / "shellbot")


def _clone(folder):
    shutil.copytree(ROOT / "scripts", folder / "scripts")

    def run(name, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("ROS", "SHELLBOT"))}
        return subprocess.run(
            [str(folder / "scripts" / name), *arguments], env=environment, capture_output=True, text=True, timeout=30
        )

    run.folder = folder
    return run


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_installs_nothing(clone, name, option):
    done = clone(name, option)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: scripts/{name}")
    assert done.stderr == ""
    assert sorted(path.name for path in clone.folder.iterdir()) == ["scripts"]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--port", "8091"], "--port is for scripts/teleop --web, and this is --terminal; add --web"),
        (["--window", "--device=/dev/input/js0"], "--device is for scripts/teleop --joystick, and this is --window"),
        (["--web", "--theme", "light"], "--theme is for scripts/teleop --window, and this is --web"),
        (["--web", "--gains-servers=gains"], "--gains-servers is for scripts/teleop --window, and this is --web"),
        (["--port"], "--port needs a value"),
    ],
)
def test_an_option_of_another_program_is_refused_in_words(clone, monkeypatch, arguments, sentence):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    answer = clone("teleop", *arguments)
    assert answer.returncode == 1 and sentence in answer.stderr
    assert sorted(path.name for path in clone.folder.iterdir()) == ["scripts"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_interrupted_build_counts_as_none(clone, name):
    """catkin writes devel/setup.sh first; scripts/setup leaves its stamp when all is built."""
    (clone.folder / "devel").mkdir()
    (clone.folder / "devel" / "setup.sh").write_text("echo half a workspace\n")
    done = clone(name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: scripts/{name}")
    assert "half a workspace" not in done.stdout


@pytest.mark.parametrize("name", ["my robots", "a:b", "a;b", "a$b", "a&b", "a(1)", "a#b", "a'b", "a\\b", "a[1]"])
def test_a_path_that_catkin_cannot_take_is_refused_before_anything_is_made(tmp_path, name):
    run = _clone(tmp_path / name / "shellbot")
    done = run("setup", "--no-apt")
    assert done.returncode == 1
    character = next(c for c in name if not c.isalnum())
    assert f"{name}/shellbot has a '{character}' in its name" in done.stderr
    assert "move the clone" in done.stderr
    assert sorted(path.name for path in run.folder.iterdir()) == ["scripts"]


@pytest.mark.parametrize("name", ["jürgen", "a+b@c,d=e%f~", "a.b-c_d"])
def test_other_signs_are_taken(tmp_path, name):
    run = _clone(tmp_path / name)
    assert "in its name" not in run("setup", "--check").stderr


def test_an_environment_behind_a_link_is_not_emptied(clone, tmp_path):
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "theirs").touch()
    (clone.folder / ".venv").symlink_to(tmp_path / "others")
    answer = clone("setup", "--no-apt")
    assert answer.returncode == 1 and ".venv is a link" in answer.stderr, answer.stderr
    assert (tmp_path / "others" / "theirs").exists()
