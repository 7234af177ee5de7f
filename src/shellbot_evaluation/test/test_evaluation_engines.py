# SPDX-License-Identifier: MIT
"""The engines beside the analytic results, and beside each other."""

from __future__ import annotations

import json

import pytest

from shellbot_evaluation.engines_cli import main
from shellbot_evaluation.engines_experiment import CASES, SERVOS, rows, walk, walk_rows
from shellbot_evaluation.experiment_cli import base_of, parser
from shellbot_evaluation.experiment_cli import main as experiment
from shellbot_simulator.core.config import ENGINES

TOLERANCE = (4e-3, 1.0, 0.015, 1e-3, 1e-3, 0.01, 1.5)  # of each case with an exact result, in its unit


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "bullet":
        pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    return request.param


@pytest.fixture(scope="module")
def plain():
    """A short walk with a turn, in MuJoCo, by servos as they are delivered."""
    return walk("mujoco", None, 0.15, 5.0)


def test_an_engine_agrees_with_the_analytic_results(engine):
    found = rows([engine])
    assert len(found) == len(CASES) == len(TOLERANCE) + 2
    assert found[-2][engine] == pytest.approx(0.66, abs=0.03), found[-2]["test"]
    assert found[-1][engine] == pytest.approx(0.45, abs=0.04), found[-1]["test"]  # 0.48 with MuJoCo 3.2 of Python 3.8
    for row, tolerance in zip(found, TOLERANCE):
        assert row[engine] == pytest.approx(row["exact"], abs=tolerance), row["test"]


def test_a_walk_is_the_same_in_bullet(plain):
    pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    first, second = walk_rows({"mujoco": plain, "bullet": walk("bullet", None, 0.15, 5.0)})
    assert first["joints_deg"] == 0.0 < second["joints_deg"] < 0.5
    assert second["ahead_m"] == pytest.approx(first["ahead_m"], abs=0.01) and first["ahead_m"] > 0.1
    assert 0.0 < second["path_mm"] < 15.0
    assert second["turned_deg"] == pytest.approx(first["turned_deg"], abs=1.0) and first["turned_deg"] > 3.0


def test_servos_with_all_that_real_ones_add_walk_a_little_differently(plain):
    first, real = walk_rows({"plain": plain, "real": walk("mujoco", None, 0.15, 5.0, SERVOS["all of them"])})
    assert 0.1 < real["joints_deg"] < 1.0 and 0.5 < real["path_mm"] < 20.0
    assert real["ahead_m"] == pytest.approx(first["ahead_m"], abs=0.02)


def test_experiments_take_engine_and_ground_from_the_command_line(capsys):
    pytest.importorskip("pybullet")
    arguments = parser().parse_args(["walk", "--simulator", "bullet", "--terrain", "steps"])
    base = base_of(arguments, *arguments.simulator)
    assert (base.engine, base.terrain) == ("bullet", "steps")
    assert experiment(["walk", "--simulator", "mujoco", "bullet"]) == 2
    assert "--simulator mujoco bullet is for --campaign; name one of them" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parser().parse_args(["walk", "--terrain", "mud"])
    assert "trench" in capsys.readouterr().err


def test_a_page_without_a_place_for_the_tables_is_refused_before_the_work(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: engines -->\n<!-- end: engines -->\n", encoding="utf-8")
    assert main(["--servos", "--write", str(page)]) == 2
    out, complaint = capsys.readouterr()
    assert (out, "lacks the lines '<!-- begin: servos -->'" in complaint) == ("", True)


def test_the_tool_writes_its_tables(tmp_path, capsys):
    page, file = tmp_path / "page.md", tmp_path / "found.json"
    page.write_text("<!-- begin: engines -->\n<!-- end: engines -->\n", encoding="utf-8")
    assert main(["--simulator", "mujoco", "--write", str(page), "--json", str(file)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "swing: period at 1 rad / s" in text and "MuJoCo" in text and "Bullet" not in text
    (walked,) = json.loads(file.read_text(encoding="utf-8"))["walks"]
    assert walked["ahead_m"] == pytest.approx(1.0, abs=0.04) and walked["turned_deg"] == pytest.approx(90.7, abs=1.5)
    assert "ahead / m" in capsys.readouterr().out
