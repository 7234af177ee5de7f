# SPDX-License-Identifier: MIT
"""The kinematics benchmark: its statistics, its judge, and one short run of our own library."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest

import shellbot_benchmarks.bench_kinematics.cli as cli
from shellbot_benchmarks.bench_kinematics import figures
from shellbot_benchmarks.bench_kinematics.clients import Worker
from shellbot_benchmarks.bench_kinematics.environments import WORKERS, Environment, cpp_figures, interpreter
from shellbot_benchmarks.bench_kinematics.page import page_text

RATIOS = (
    "closed_form_vs_eaik", "closed_form_vs_rtb", "lm_vs_rtb", "lm_6dof_vs_best_peer", "lm_inside_vs_pinocchio_cpp",
    "clik_tick_vs_placo", "clik_tick_vs_pinocchio_cpp", "fk_vs_best_peer", "batch_roofline_fraction",
    "batch_2_core_speedup",
)  # fmt: skip


@pytest.fixture(scope="module")
def workers_modules():
    sys.path.insert(0, str(WORKERS))
    yield
    sys.path.remove(str(WORKERS))


def test_median_and_best_ignore_failed_rounds():
    assert figures.median_best([3.0, None, 1.0, 2.0]) == (2.0, 1.0)
    assert all(math.isnan(value) for value in figures.median_best([None]))


def test_ratios_are_taken_within_a_round():
    # the machine is twice as slow in the second round: the ratio does not notice, that of the medians would
    rounds = {"pin/closed_w": [10.0, 20.0, 10.0], "ours/closed_w": [1.0, 2.0, None]}
    assert figures.in_round_ratio(rounds, "pin/closed_w", "ours/closed_w") == 10.0
    assert math.isnan(figures.in_round_ratio(rounds, "rtb/lm_w", "ours/closed_w"))
    assert figures.best_peer({"a": [2.0], "b": [1.0, 9.0, 1.0], "c": [None]}, ["a", "b", "c", "d"]) == "b"
    assert figures.best_peer({}, ["a"]) is None


def test_the_roofline_is_the_slowest_of_its_bounds():
    rounds = {"ours/peak_flop": [1e-5], "ours/divide": [1e-4], "ours/root": [2e-4], "ours/byte_copied": [1e-5]}
    assert figures.roofline_us(rounds) == pytest.approx(143e-5)
    rounds["ours/divide"] = [1.0]
    assert figures.roofline_us(rounds) == pytest.approx(3.0 + 4e-4)
    rounds = {
        **rounds, "ours/divide": [1e-4], "ours/peak_flop_1_wall": [2.0, 4.0], "ours/peak_flop_2": [1.0, 2.0],
        "ours/byte_copied_1_wall": [3.0], "ours/byte_copied_2": [2.0],
    }  # fmt: skip
    note = figures.roofline_note(rounds)
    assert "1.43 ns" in note and "0.70 ns" in note and "0.48 ns" in note and "2.00×" in note and "1.50×" in note


def test_goals_say_kept_missed_and_not_measured():
    rounds = {"ours/closed_w": [0.3, 0.5], "pin/closed_w": [1.2, 2.0]}
    goals = {
        goal.name: goal for goal in figures.goals_of(rounds, {"ours/closed_w": {"success": 9_999}}, {}, {"warm_s": 0.5})
    }
    assert goals["one foot, closed form"].met is True
    assert goals["one foot, closed form, beside EAIK"].met is False
    assert goals["targets met of 10,000: closed form, set W"].met is False
    assert goals["fresh process to the first solution, warm cache"].met is True
    assert goals["general LM, one call"].met is None
    text = page_text(rounds, {}, {}, list(goals.values()), ["a note"], {"ours": {"numba": "0"}})
    assert "**no**" in text and "not measured" in text and "a note" in text and "0.40 [0.30]" in text


def test_every_ratio_that_is_asked_for_is_there():
    ratios = figures.ratios_of({}, {})
    assert tuple(ratios) == RATIOS and all(math.isnan(value) for value in ratios.values())
    cpp = figures.ratios_of({"ours/lm_inside": [0.25, 0.2]}, {"lm": 1000.0})
    assert cpp["lm_inside_vs_pinocchio_cpp"] == pytest.approx(5.0)  # ns against us, best against best


def test_the_judge_knows_the_robot(workers_modules):
    import problem

    home = problem.forward(problem.LEG_BASE, problem.LEG, problem.HOME)[0]
    assert home[2, 3] == pytest.approx(-0.139, abs=5e-4)  # the study's home: the foot 0.139 m below
    q = np.array([[0.1, -0.2, -0.4, 1.5]])
    J, step = problem.jacobian(problem.LEG_BASE, problem.LEG, q[0]), 1e-6
    for j in range(4):
        moved = q + step * np.eye(4)[j]
        difference = problem.forward(problem.LEG_BASE, problem.LEG, moved) - problem.forward(
            problem.LEG_BASE, problem.LEG, q
        )
        np.testing.assert_allclose(difference[0, :3, 3] / step, J[:3, j], atol=1e-6)
    target = problem.forward(problem.LEG_BASE, problem.LEG, q)
    assert problem.reached(problem.LEG_BASE, problem.LEG, q, target[:, :3, 3]).all()
    assert not problem.reached(problem.LEG_BASE, problem.LEG, q + 1e-4, target[:, :3, 3]).any()
    assert not problem.reached(problem.LEG_BASE, problem.LEG, q + [0, 0, 0, 1e-4], target).any()
    assert not problem.reached(problem.LEG_BASE, problem.LEG, q * math.nan, target).any()
    feet, rates, _ = problem.gait()
    assert np.linalg.norm(np.diff(feet, axis=0), axis=2).max() < 2.7e-3
    np.testing.assert_allclose(np.diff(feet, axis=0) / 0.01, 0.5 * (rates[1:] + rates[:-1]), atol=1e-3)


def test_the_judges_robot_is_the_one_of_the_description(workers_modules):
    import problem

    from robot_mechanics import SerialChain
    from shellbot_description import expand
    from shellbot_kinematics import Frame, ShellbotModel

    chain = ShellbotModel(expand("walker")).chain("lower_1", Frame.FOOT)
    leg = SerialChain.from_urdf(
        problem.urdf("leg", problem.LEG_BASE, problem.LEG, problem.LEG_LIMITS), "world", "tip_1"
    )
    for q in np.random.default_rng(3).uniform(-1, 1, (5, 4)):
        expected = problem.forward(problem.LEG_BASE, problem.LEG, q)[0]
        np.testing.assert_allclose(chain.fk(q)[:3, 3], expected[:3, 3], atol=1e-9)
        np.testing.assert_allclose(leg.fk(q), expected, atol=1e-12)
    np.testing.assert_allclose(np.column_stack([chain.lower, chain.upper]), problem.LEG_LIMITS)


def test_numpy_loop_finds_the_target(workers_modules):
    import problem
    from numpy_loops import levenberg_marquardt

    def evaluate(q):
        return problem.forward(problem.LEG_BASE, problem.LEG, q)[0, :3, 3], problem.jacobian(
            problem.LEG_BASE, problem.LEG, q
        )[:3]

    solve = levenberg_marquardt(evaluate, problem.HOME, 1e-6)
    targets = problem.leg_targets("W", 10)
    answers = np.array([solve(target) for target in targets])
    assert problem.reached(problem.LEG_BASE, problem.LEG, answers, targets).all()


def test_closed_forms_start_from_where_they_began_in_every_pass(workers_modules):
    import peer_ours

    seen = []

    def solve(first, block):
        seen.append(block.copy())
        block[:] = first

    peer_ours._from_start(solve, 9.0, np.zeros((3, 2)))(7)
    assert len(seen) == 7 and not np.any(seen)


def test_a_worker_that_fails_says_so_and_leaves_nothing_behind(tmp_path):
    environment = Environment("nothing", "nothing")
    with Worker(environment, sys.executable, [], tmp_path / "log") as worker:
        assert "peer_nothing" in worker.ask(do="prepare", options={}, seconds=0.01)["error"]
        assert "KeyError" in worker.ask(do="round", case="x")["error"]
        worker._process.kill()
        worker._process.wait()
        assert "has ended" in worker.ask(do="round", case="x")["error"]
    assert worker._process.poll() is not None


def test_an_environment_that_cannot_be_made_says_why(tmp_path):
    notes = []
    python, reason = interpreter(Environment("x", "x", ("--no-index", "no-such-package")), tmp_path, notes.append)
    assert python is None and "--no-peers" in reason and notes
    assert cpp_figures(tmp_path, tmp_path, "bench", [], notes.append)[1].startswith("no C++ figures")


def test_help_and_bad_arguments(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0 and "--no-peers" in capsys.readouterr().out
    assert cli.main(["--rounds", "0"]) == 2
    assert "--rounds is 0" in capsys.readouterr().err


def test_a_short_run_of_our_own_library(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(
        "a\n<!-- begin: bench-kinematics -->\nformer table\n<!-- end: bench-kinematics -->\nb\n", encoding="utf-8"
    )
    given = [
        "--no-peers",
        "--quick",
        "--rounds",
        "1",
        "--peers-env",
        str(tmp_path / "env"),
        "--json",
        str(tmp_path / "x.json"),
    ]
    assert cli.main([*given, "--write", str(page)]) == 0
    content = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert tuple(content["ratios"]) == RATIOS
    assert content["ratios"]["closed_form_vs_eaik"] is None
    assert 0.0 < content["ratios"]["batch_roofline_fraction"] < 1.0
    assert content["facts"]["ours/closed_f"]["success"] == 10_000 and content["facts"]["ours/lm_f"]["success"] == 10_000
    assert len(content["us"]["ours/leg_fk"]) == 1 and content["us"]["ours/leg_fk"][0] > 0.0
    assert {"name", "required", "measured", "met", "unit"} == set(content["goals"][0])
    text = page.read_text(encoding="utf-8")
    assert (
        "former table" not in text
        and "general LM, one call" in text
        and text.startswith("a\n")
        and text.endswith("b\n")
    )
    assert "figures met" in capsys.readouterr().out
