# SPDX-License-Identifier: MIT
"""Paths of runs: in the axes of their start, ten a second, and drawn from a campaign's file."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from humanoid_evaluation.campaign import thesis
from humanoid_evaluation.path_figures import angles_figure, paths_figure
from humanoid_evaluation.paths import path_of
from humanoid_evaluation.plot_cli import main
from humanoid_evaluation.running import Walk, measured

WALKED = path_of(
    [(1.0, 2.0, 0.0), (1.5, 2.0, 0.0), (2.01, 1.98, 0.0)], [(0.0, 0.0, 0.1), (0.5, 0.1, 0.1), (1.0, 0.1, 0.1)]
)
TURNED = path_of([(0.0, 0.0, 0.0), (0.0, 0.0, 3.0), (0.0, 0.0, -0.3)], [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)] * 2)


def campaign(*engines):
    cases = {**thesis()["distances"], **thesis()["angles"]}
    return [
        {"case": name, "engine": engine, "seed": 0, "path": WALKED if "distance" in row else TURNED}
        for engine in engines
        for name, row in cases.items()
    ]


def test_a_path_is_in_the_axes_of_its_start_and_counts_whole_turns():
    turn = np.linspace(0.0, 4.0 * math.pi, 60)
    poses = np.column_stack((2.0 + np.cos(turn), np.sin(turn), 0.5 * math.pi + turn))
    wrapped = np.column_stack((poses[:, :2], np.arctan2(np.sin(poses[:, 2]), np.cos(poses[:, 2]))))
    found = path_of(wrapped, wrapped + (5.0, 5.0, 0.0))
    assert found["true"] == found["odometry"] and found["period_s"] == 0.1
    assert found["true"]["turn_deg"][-1] == pytest.approx(720.0, abs=0.01)
    assert found["true"]["x_m"][0] == found["true"]["y_m"][0] == 0.0
    middle = found["true"]["x_m"][15], found["true"]["y_m"][15]  # a circle to the left of where it starts
    assert math.hypot(middle[0], middle[1] - 1.0) == pytest.approx(1.0, abs=1e-3) and middle[1] > 0.0


def test_samples_over_ros_become_a_path_of_ten_poses_a_second():
    truth = [(t, 0.1 * t, 0.0, 0.0, 0.31, 0.0) for t in np.arange(3.0, 8.004, 0.01)]
    own = [(t, 0.1 * t + 4.0, 1.0, 0.0, 0.31, 0.0) for t in np.arange(3.02, 8.0, 0.033)]
    path = measured(Walk("A", (0.1, 0.0, 0.0), 0.5), truth, own, work_j=1.0, mass_kg=5.0)["path"]
    assert path["true"]["x_m"] == pytest.approx(np.arange(0.0, 0.505, 0.01)[: len(path["odometry"]["x_m"])], abs=1e-4)
    assert len(path["true"]["x_m"]) in (50, 51)
    assert path["odometry"]["x_m"][10] == pytest.approx(0.1, abs=1e-4)


def test_the_walks_have_equal_axes_and_every_run_ends_where_it_did():
    runs = campaign("mujoco")
    figure = paths_figure([*runs, *runs])
    assert len(figure.axes) == 6 and {axes.get_aspect() for axes in figure.axes} <= {1.0, "equal"}
    first = figure.axes[0]
    assert "m/s" in first.get_title() and first.get_xlim()[1] > 3.0
    ends = [line.get_xydata() for line in figure.axes[1].lines if len(line.get_xydata()) == 1]
    at = [1e3 * (WALKED["true"]["x_m"][-1] - 1.0), 1e3 * WALKED["true"]["y_m"][-1]]
    assert sum(np.allclose(end, [at], atol=0.2) for end in ends) == 2, "of the case of 1 m, one a run"


def test_the_turns_are_drawn_over_time():
    figure = angles_figure(campaign("bullet"))
    drawn = [line.get_xydata() for line in figure.axes[0].lines]
    true = np.column_stack((0.1 * np.arange(3), TURNED["true"]["turn_deg"]))
    assert sum(np.array_equal(line, true) for line in drawn) == 4, "cases L, M, N, O"
    off = np.subtract(TURNED["odometry"]["turn_deg"], TURNED["true"]["turn_deg"])
    assert all(np.array_equal(line.get_ydata(), off) for line in figure.axes[3].lines) and np.abs(off).max() > 50.0


def test_the_command_draws_two_pictures_of_each_simulator(tmp_path, capsys):
    file, other = tmp_path / "campaign.json", tmp_path / "gazebo.json"
    file.write_text(json.dumps({"runs": campaign("mujoco", "bullet")}))
    other.write_text(json.dumps({"runs": campaign("over ROS")[:9]}))
    assert main([str(file), str(other), "--out", str(tmp_path / "deep")]) == 0
    names = {f"{name}_{engine}" for name in ("paths", "angles") for engine in ("mujoco", "bullet")} | {"paths_over_ROS"}
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {f"humanoid_{name}.png" for name in names}
    assert capsys.readouterr().out.count("picture in ") == 5
    picture = np.asarray(Image.open(tmp_path / "deep" / "humanoid_paths_mujoco.png").convert("L"))
    assert picture.shape[1] > 500 and picture.min() < 50 < 200 < picture.max()


def test_the_scripts_help_names_the_pictures_of_the_humanoid():
    script = Path(__file__).resolve().parents[3] / "scripts" / "plot"
    shown = subprocess.run([str(script), "--help"], capture_output=True, text=True, check=True)
    assert "scripts/plot humanoid FILE.json" in shown.stdout and "scripts/plot bag" in shown.stdout


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file or directory; name a file that is there"),
        ("{", "holds no runs of the campaign with their paths"),
        ('{"runs": [{"case": "A", "engine": "mujoco"}]}', "(KeyError: 'path'); make it by scripts/experiment humanoid"),
    ],
)
def test_a_file_without_paths_is_refused_in_words(content, sentence, tmp_path, capsys):
    file = tmp_path / "campaign.json"
    if content is not None:
        file.write_text(content)
    assert main([str(file), "--out", str(tmp_path)]) == 2
    assert sentence in capsys.readouterr().err
