# SPDX-License-Identifier: MIT
"""Definitions, tables and files that experiments write."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from robot_evaluation.errors import DefinitionError
from shellbot_chain.chain_config import ChainConfig
from shellbot_evaluation.campaign import Campaign, case_summary, comparison
from shellbot_evaluation.experiment_report import campaign_text
from shellbot_evaluation.experiments import Limit, load_experiments, make_case, plan_runs

CONFIG = Path(__file__).resolve().parents[1] / "config"


def test_shipped_experiments_hold_the_cases_and_limits_asked_for():
    experiments = load_experiments(CONFIG / "experiments.yaml")
    assert set(experiments) == {"walk", "turn", "square", "speed", "sprint"}
    walk = experiments["walk"]
    assert [(case.name, case.values["distance_m"]) for case in walk.cases] == [("forward", 1.0), ("sideways", 1.0)]
    bounds = {limit.column: (limit.bound, limit.is_minimum) for limit in walk.limits}
    assert bounds["distance_error_percent"] == (5.0, False)
    assert bounds["deviation_percent"] == (3.0, False)
    assert bounds["lowest_foot_mm"] == (-2.0, True)
    assert bounds["height_deviation_mm"] == (10.0, False)
    for name, phases in (("walk", 2), ("turn", 2), ("square", 1 + 4 * 2)):
        assert [len(case.phases()) for case in experiments[name].cases] == [phases] * len(experiments[name].cases)


def test_a_chain_takes_no_greater_seed():
    with pytest.raises(DefinitionError, match="whole number from 0 to 2147483647"):
        ChainConfig(seed=2**31)


def test_runs_spread_friction_over_seeds():
    walk = load_experiments(CONFIG / "experiments.yaml")["walk"]
    runs = [run for run in plan_runs(walk, range(4), (0.7, 1.0)) if run.case.name == "forward"]
    assert [(run.seed, run.friction) for run in runs] == [(0, 0.7), (1, 0.8), (2, 0.9), (3, 1.0)]
    assert plan_runs(walk, (7,), (0.7, 1.0))[0].friction == pytest.approx(0.85)
    for friction in ((1.0, 0.7), (0.0, 1.0), (0.7, math.nan)):
        with pytest.raises(DefinitionError):
            plan_runs(walk, range(3), friction)


def test_motions_that_never_end_are_refused_before_the_first_run():
    walk = load_experiments(CONFIG / "experiments.yaml")["walk"]
    assert plan_runs(walk.changed(distance_m=500.0), (7,), (0.7, 1.0))
    for numbers, message in (
        ({"distance_m": 1e9}, "case 'forward' takes 6.67e[+]09 s; at most 3600 s"),
        ({"speed_m_s": 0.0}, "case 'forward': speed_m_s is 0.0; give a number of at least"),
    ):
        with pytest.raises(DefinitionError, match=message):
            plan_runs(walk.changed(**numbers), (7,), (0.7, 1.0))


@pytest.mark.parametrize(
    "values, message",
    [
        ({"kind": "fly"}, "choose from walk, turn, square, speed"),
        ({"kind": "walk", "distance_m": 1.0}, "'mine': speed_m_s is missing; required are distance_m, speed_m_s"),
        ({"kind": "turn", "angle_deg": 90, "rate_deg_s": 30, "spd": 1}, "spd does not exist; is speed_m_s meant"),
        ({"kind": "turn", "angle_deg": math.nan, "rate_deg_s": 30}, "angle_deg is nan"),
        ({"kind": "turn", "angle_deg": "90", "rate_deg_s": 30}, "angle_deg is '90'"),
        (["walk"], "is no mapping; give the keys kind"),
    ],
)
def test_unusable_case_is_refused_by_name(values, message):
    with pytest.raises(DefinitionError, match=message):
        make_case("mine", values)


def test_unreadable_yaml_names_the_file_and_the_line(tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("walk:\n  cases: {a: [1, 2\n")
    with pytest.raises(DefinitionError, match=r"(?s)broken.yaml.*line 3"):
        load_experiments(broken)
    with pytest.raises(DefinitionError, match="absent.yaml"):
        load_experiments(tmp_path / "absent.yaml")
    (tmp_path / "bare.yaml").write_text(
        "walk:\n  cases: {a: {kind: speed, speed_m_s: 0.1, duration_s: 5}}\n  limits:\n    # drift_mm: 5\n"
    )
    assert load_experiments(tmp_path / "bare.yaml")["walk"].limits == ()
    (tmp_path / "bare.yaml").write_text(
        "walk:\n  cases: {a: {kind: speed, speed_m_s: 0.1, duration_s: 5}}\n  limits: [5]\n"
    )
    with pytest.raises(DefinitionError, match=r"limits is \[5\]; give a mapping"):
        load_experiments(tmp_path / "bare.yaml")
    (tmp_path / "list.yaml").write_text("- 1\n")
    with pytest.raises(DefinitionError, match="holds a list; expected a mapping"):
        load_experiments(tmp_path / "list.yaml")


def test_limit_knows_its_worst_value_and_nan_does_not_keep_it():
    greatest, smallest = Limit("e", 5.0, False), Limit("f", -2.0, True)
    assert greatest.is_met([1.0, 5.0]) and not greatest.is_met([1.0, 5.1]) and not greatest.is_met([math.nan])
    assert smallest.is_met([-2.0, 0.0]) and not smallest.is_met([-2.1])
    assert (greatest.worst([1.0, 4.0]), smallest.worst([-1.0, 0.0])) == (4.0, -1.0)


def campaign_rows(simulator, offset=0.0):
    rows = []
    for percent in (40, 80, 100):
        head = {"simulator": simulator, "success": True, "duration_s": 20.0}
        walk = {**head, "kind": "walk", "case": f"3 m at {percent} %", "lateral_m": 0.01, "odometry_m": 3.0}
        walk["cost_of_transport"] = 3.25
        rows += [{**walk, "walked_m": walked + offset, "odometry_lateral_m": 0.0} for walked in (2.98, 3.02)]
        turn = {"kind": "turn", "case": f"360 deg at {percent} %", "turned_deg": 359.0, "odometry_deg": 360.5}
        rows.append({**head, **turn, "drift_m": 0.0})
    return rows


def test_campaign_compares_means_of_each_simulator_with_the_published_ones():
    campaign = Campaign.load(CONFIG / "nao_campaign.yaml")
    assert len(campaign.experiment().cases) == 3 * (3 + 4)
    rows = campaign_rows("mujoco") + campaign_rows("bullet", 0.1)
    table = comparison(campaign, rows)
    assert [row["source"] for row in table][0] == "real NAO" and table[0]["x_80"] == 3.037
    assert [row["source"] for row in table[-4:]] == [
        f"Shellbot, {engine}, {by}" for engine in ("mujoco", "bullet") for by in ("ground truth", "odometry")
    ]
    assert (table[-4]["x_40"], table[-4]["turn_100"], table[-2]["x_40"]) == pytest.approx((3.0, 359.0, 3.1))
    assert table[-1]["turn_80"] == pytest.approx(360.5)
    summary = {(line["simulator"], line["case"]): line for line in case_summary(rows)}
    assert summary["bullet", "3 m at 80 %"]["walked_m_std"] == pytest.approx(0.02828427)
    with pytest.raises(DefinitionError, match="no values"):
        comparison(campaign, rows[:-1])


def test_runs_that_failed_are_counted_and_their_cases_have_the_means_of_the_others():
    campaign, rows = Campaign.load(CONFIG / "nao_campaign.yaml"), campaign_rows("bullet")
    fallen = {"simulator": "bullet", "success": False, "message": "it fell"}
    rows[1], rows[2] = {**fallen, "kind": "walk", "case": "3 m at 40 %"}, {**fallen, **rows[2], "success": False}
    lines = campaign_text(campaign, rows, "command").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    assert ["bullet", "3 m at 40 %", "2", "1", "20.0 ± 0.0"] in [row[:5] for row in cells]
    assert ["bullet", "3 m at 80 %", "3.25 ± 0.00", "–"] in [row[:2] + row[-2:] for row in cells], "no electrical cost"
    assert ["bullet", "360 deg at 40 %", "1", "1", "–"] in [row[:5] for row in cells]
    assert ["Shellbot, bullet, ground truth", "2.980", "0.010", "–"] in [row[:4] for row in cells]


def test_campaign_file_with_a_short_row_is_refused(tmp_path):
    text = (CONFIG / "nao_campaign.yaml").read_text().replace("[405.6, 410.0, 412.6]", "[405.6]")
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(DefinitionError, match="'real NAO' needs 3 values of turned_deg"):
        Campaign.load(tmp_path / "c.yaml")
