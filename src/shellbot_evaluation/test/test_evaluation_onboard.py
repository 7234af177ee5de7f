# SPDX-License-Identifier: MIT
"""The chain through driver, bytes, servos and rigid bodies, and its comparison with direct simulation."""

from __future__ import annotations

import json
import math

import pytest

from ax_emulator import Fault
from robot_evaluation.errors import DefinitionError
from shellbot_chain.onboard_chain import BusOptions
from shellbot_evaluation import onboard_cli
from shellbot_evaluation.onboard_experiment import WalkCase, compare, plan


@pytest.fixture(scope="module")
def comparison():
    return compare(WalkCase("ahead", (0.15, 0.0, 0.0), 2.0, seed=1))


def test_a_walk_through_bytes_is_the_walk_of_the_direct_simulation(comparison):
    row = comparison.row
    assert row["met"]
    assert row["joint_rms_deg"] < 0.5 and row["path_percent"] < 5.0
    assert row["direct_m"] > 0.25 and row["onboard_m"] > 0.25
    assert row["feedback_hz"] > 40.0 and row["timeouts"] == 0
    # not the same thing twice: bytes quantise, servos have a dead band
    assert row["joint_rms_deg"] > 0.05


def test_weaker_servos_show_in_the_comparison(comparison):
    soft = BusOptions(faults=(Fault("voltage", value=10.0),))
    # a servo at 10 V has 83 % of its stiffness: the difference must show
    weak = compare(WalkCase("ahead", (0.15, 0.0, 0.0), 2.0, seed=1, bus=soft)).row
    assert weak["joint_rms_deg"] > 1.2 * comparison.row["joint_rms_deg"]


def test_plans_and_cases_are_checked():
    assert len(plan(range(2), 3.0, "walker")) == 8
    for seconds in (0.5, math.inf, math.nan):
        with pytest.raises(DefinitionError, match=f"seconds is {seconds:g}; walk for 1 to 3600 s"):
            compare(WalkCase("ahead", (0.1, 0.0, 0.0), seconds))


def test_servos_out_of_the_box_are_slower_but_walk_as_well_in_table_plots_and_page(tmp_path, monkeypatch):
    bus = BusOptions(return_delay=250)
    monkeypatch.setattr(onboard_cli, "plan", lambda *_: [WalkCase("ahead 0.15 m/s", (0.15, 0.0, 0.0), 1.0, bus=bus)])
    page = tmp_path / "page.md"
    page.write_text("# Page\n<!-- begin: onboard -->\n<!-- end: onboard -->\n")
    status = onboard_cli.main(["--out", str(tmp_path / "out"), "--write", str(page)])
    assert status == 0
    assert {"onboard.csv", "onboard.json", "onboard.md"} <= {file.name for file in (tmp_path / "out").iterdir()}
    (row,) = json.loads((tmp_path / "out" / "onboard.json").read_text())["rows"]
    assert row["met"] and 10.0 < row["feedback_hz"] < 60.0
    assert (tmp_path / "out" / "joints-ahead-0.15-m-per-s.png").stat().st_size > 10_000
    assert "joint RMS difference" in page.read_text() and "met in 1 runs" in page.read_text()
