# SPDX-License-Identifier: MIT
"""The search for numbers of the rolling law: what it changes, what it prefers, what it reports and refuses."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from shellbot_action_manager.body.rolling import load_rolling
from shellbot_action_manager.errors import ConfigError
from shellbot_evaluation import optimise_roll_cli
from shellbot_evaluation.experiment_cli import main as experiment
from shellbot_evaluation.optimise_roll_experiment import (
    KNOBS,
    WORST,
    RollTrial,
    changed,
    execute,
    numbers_of,
    ratios,
    score,
)

LAW = load_rolling()
ROW = {"speed_m_s": 0.8, "heading_error_deg": 0.0, "turn_s": 0.0, "slow_m_s": 0.2, "point_s": 3.0}
ROW.update(point_error_m=0.05, upright_s=2.0, label="shipped", friction=0.8, success=True, message="")


def test_the_numbers_of_the_law_change_in_their_pairs():
    assert changed(LAW, ()) == LAW
    assert changed(LAW, tuple(numbers_of(LAW).items())) == LAW
    assert all(low < numbers_of(LAW)[name] < high for name, (low, high) in KNOBS.items())
    other = changed(LAW, (("pushers.window.1", 1.4), ("gain", 2.5)))
    assert other.pushers.window == (LAW.pushers.window[0], 1.4)
    assert other == LAW.replace(gain=2.5, pushers=other.pushers)
    with pytest.raises(ConfigError, match="pushers.lead is 9"):
        changed(LAW, (("pushers.lead", 9.0),))
    for name, ends in KNOBS.items():
        assert all(changed(LAW, ((name, end),)) for end in ends), f"every {name} of its range is taken"


def test_each_figure_counts_by_what_is_required_and_failures_count_most():
    assert ratios(ROW)["speed_m_s"] == 1.0
    assert score([ROW]) == pytest.approx(1.0 + 0.5**2 + 0.5**2 + 0.1**2)
    worse = {"speed_m_s": 0.5, "heading_error_deg": 20.0, "turn_s": 3.0, "point_s": 14.0, "point_error_m": 0.2}
    worse.update(slow_m_s=0.1, upright_s=22.0)
    for key, value in worse.items():
        missed, failed = ({**ROW, key: x} for x in (value, math.nan))
        assert score([ROW]) + 0.9 < score([missed]) <= score([failed]), key
        assert ratios(failed)[key] == WORST == 3.0
    assert score([{**ROW, "slow_m_s": 0.24}]) == pytest.approx(score([{**ROW, "slow_m_s": 0.16}]))
    assert score([ROW, {**ROW, "upright_s": math.nan}]) == pytest.approx(score([ROW]) + 4.5, abs=0.01)


def test_a_candidate_that_cannot_be_is_a_row_not_the_end():
    row = execute(RollTrial(2000, (("pushers.lead", 9.0),)))
    assert not row["success"] and "pushers.lead is 9" in row["message"]
    assert score([row]) == 7 * WORST**2


def test_a_ball_rolls_stops_and_rises_with_other_numbers():
    row = execute(RollTrial(2003, (("gain", 2.5), ("pushers.window.1", 1.3))))
    assert (row["label"], row["message"]) == ("found", "")
    assert row["speed_m_s"] > 0.4 and row["upright_s"] < 30.0 and row["point_error_m"] < 3.0
    assert row != {**execute(RollTrial(2003, ())), "label": "found"}


def test_shipped_and_found_are_compared_on_other_seeds_and_written(tmp_path, monkeypatch):
    pytest.importorskip("cma", reason="cma is not installed: .venv/bin/pip install cma")

    def faster(trial):
        gain = dict(trial.numbers).get("gain", LAW.gain)
        late = {"point_s": math.nan} if trial.seed == 7001 else {}
        return {**ROW, "label": trial.label, "seed": trial.seed, "speed_m_s": 0.5 + 0.1 * gain, **late}

    monkeypatch.setattr(optimise_roll_cli, "ROLL", dataclasses.replace(optimise_roll_cli.ROLL, execute=faster))
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: optimise_roll -->\n<!-- end: optimise_roll -->\n")
    given = ["optimise_roll", "--seeds", "2000:2004", "--report-seeds", "7000:7002", "--out", str(tmp_path / "out")]
    assert experiment([*given, "--write", str(page)]) == 0, "what was found is better"
    text = page.read_text()
    assert "Other seeds, 7000 to 7001" in text and "| 1 of 2 " in text and "| gain " in text
    found = json.loads((tmp_path / "out" / "optimise_roll.json").read_text())["found"]
    assert found["gain"] > 3.5
    assert "0.80 (0.80)" in text and f"{0.5 + 0.1 * found['gain']:.2f}" in text


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--report-seeds", "2023:2025"], "--seeds 2000:2024 and --report-seeds 2023:2025 overlap; keep them apart"),
        (["--runs", "25"], "--runs is 25; give 1 to the number of --seeds, 24"),
        (["--population", "3"], "--generations is 14, --population 3; give 1 and 4 or more"),
    ],
)
def test_what_cannot_be_searched_is_a_sentence(given, message, tmp_path, capsys):
    assert experiment(["optimise_roll", "--out", str(tmp_path), *given]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
