# SPDX-License-Identifier: MIT
"""The search for numbers, and that for a gait that costs less: what it changes, what it prefers, what it refuses."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from robot_evaluation.errors import EvaluationError
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.gait.gait_table import load_gaits
from shellbot_evaluation.experiment_cli import main as experiment
from shellbot_evaluation.optimise_experiment import FAILED, KNOBS, Trial, changed, execute, numbers_of, refusal, score
from shellbot_evaluation.search import Search

GAIT = load_gaits()["sprint"]
ROW = {"success": True, "electrical_cost": 6.0, "cost": 4.0, "speed_m_s": 0.58, "electrical_w": 110.0}
ROW.update(torque_nm=4.8, peak=1.0, tilt_deg=1.3, height_mm=9.0, foot_mm=-1.9)
BEST = {name: 0.3 * low + 0.7 * high for name, (low, high) in KNOBS.items()}


def test_the_numbers_of_a_gait_change_and_its_slow_period_follows():
    assert changed(GAIT, ()) is GAIT
    assert changed(GAIT, tuple(numbers_of(GAIT).items())) == GAIT
    other = changed(GAIT, (("period_fast", 1.1 * GAIT.period_fast), ("slip_scale", 0.9)))
    assert other.period_slow == pytest.approx(1.1 * GAIT.period_slow)
    assert (other.slip_scale.forward, other.slip_scale.turn) == (0.9, GAIT.slip_scale.turn)
    tripod = load_gaits()["tripod"]
    lifted = changed(tripod, (("lift_height", 1.2 * tripod.lift_height),))
    assert lifted.lift_height_fast == pytest.approx(1.2 * tripod.lift_height_fast) and tripod.lift_height_fast > 0.0
    with pytest.raises(ActionManagerError, match="lift_height"):
        changed(GAIT, (("lift_height", 0.5),))
    row = execute(Trial(900, "sprint", (("lift_height", 0.5),), 0.5, 1.0))
    assert not row["success"] and "lift_height" in row["message"], "a candidate that cannot be is a row, not the end"


def test_a_candidate_is_to_be_cheap_as_fast_as_the_shipped_gait_and_within_its_limits():
    def worth(**changes):
        return score([ROW, {**ROW, **changes}], [ROW])

    assert worth() == 6.0
    assert worth(electrical_cost=5.0) == 5.5
    assert worth(speed_m_s=0.60) == 6.0, "faster is no fault"
    for fault in ({"speed_m_s": 0.50}, {"tilt_deg": 6.0}, {"height_mm": 20.0}, {"foot_mm": -4.0}):
        assert worth(**fault) > 6.5, fault
    for failure in ({"success": False}, {"electrical_cost": math.nan}):
        assert worth(**failure) == FAILED


def searching(seeds, generations, **options):
    return Search(
        KNOBS,
        numbers_of(GAIT),
        lambda seed, numbers: Trial(seed, "sprint", numbers, 0.55, 0.8),
        score,
        seeds,
        generations,
        refusal=refusal,
        **options,
    )


def cost(trial):
    """Return the row of a trial that costs less the nearer its numbers are to BEST."""
    numbers = dict(trial.numbers) or numbers_of(GAIT)
    away = sum(((numbers[name] - BEST[name]) / (high - low)) ** 2 for name, (low, high) in KNOBS.items())
    return {**ROW, "electrical_cost": 4.0 + away + 0.001 * (trial.seed - 900), "message": ""}


def test_the_search_finds_the_least_and_repeats_itself():
    pytest.importorskip("cma", reason="cma is not installed: .venv/bin/pip install cma")

    def carry_out(trials):
        trials_of.extend(trial for _, trial in trials)
        return [cost(trial) for _, trial in trials]

    trials_of = []
    search = searching((900, 901), generations=40)
    found = search.best(carry_out)
    assert cost(Trial(900, "sprint", found, 0.55, 0.8))["electrical_cost"] < 4.05
    assert search.best(carry_out) == found
    assert all(low <= dict(found)[name] <= high for name, (low, high) in KNOBS.items())
    assert {trial.seed for trial in trials_of} == {900, 901}
    assert searching((900,), 1).best(lambda trials: [ROW] * len(trials)) == ()
    fell = [{**ROW, "seed": 900, "message": ""}, {**ROW, "seed": 901, "message": "", "success": False}]
    with pytest.raises(EvaluationError, match=r"with seed 901 \(it fell .*\); give another --speed"):
        search.best(lambda trials: fell)


def test_a_search_among_noisy_runs_changes_its_seeds_and_trusts_the_mean_of_its_candidates():
    pytest.importorskip("cma", reason="cma is not installed: .venv/bin/pip install cma")
    noise = np.random.default_rng(3)
    batches = []

    def carry_out(trials):
        batches.append(trials)
        rows = [cost(trial) for _, trial in trials]
        return [{**row, "electrical_cost": row["electrical_cost"] + abs(noise.normal(0.0, 0.3))} for row in rows]

    found = searching(range(900, 906), generations=40, population=12, runs=2).best(carry_out)
    assert cost(Trial(900, "sprint", found, 0.55, 0.8))["electrical_cost"] < 4.1, "shipped: 4.5"
    seeds = [sorted({trial.seed for _, trial in trials}) for trials in batches]
    assert seeds[0] == list(range(900, 906)), "the shipped numbers"
    assert seeds[1:5] == [[900, 901], [902, 903], [904, 905], [900, 901]]
    assert found not in {trial.numbers for trials in batches for _, trial in trials}, "the luckiest candidate"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--report-seeds", "901:905"], "--seeds 900:902 and --report-seeds 901:905 overlap; keep them apart"),
        (["--generations", "0"], "--generations is 0, --population 8; give 1 and 4 or more"),
        (["--speed", "0"], "--speed is 0; give more than 0"),
        (["--torque-limit", "3"], "--torque-limit is 3; give 0.1 to 1"),
        (["--gait", "trot"], "there is no gait 'trot'"),
        (["--gait", "sprint"], "the search needs the package cma, which is not installed"),
    ],
)
def test_what_cannot_be_searched_is_a_sentence(given, message, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cma", None)
    assert experiment(["optimise", "--out", str(tmp_path), *given]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
