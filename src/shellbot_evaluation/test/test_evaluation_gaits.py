# SPDX-License-Identifier: MIT
"""The experiment gaits: 3 m by every gait, judged by distance and by the line."""

from __future__ import annotations

import pytest

from shellbot_evaluation.gaits_experiment import GAITS, GaitCase, conditions, execute


def test_three_metres_at_speed_end_within_the_limits():
    row = execute(GaitCase(seed=7, gait="tripod", speed_m_s=0.38, heading="ahead", friction=0.8))
    assert row["message"] == ""
    assert row["success"] == (max(row["error_mm"], row["deviation_mm"]) <= 30.0)
    assert row["error_mm"] == abs(row["beyond_mm"]) < 100.0 and row["odometry_mm"] < 100.0
    assert row["mean_speed_m_s"] > 0.25


def test_a_line_has_the_median_of_the_distance_and_the_worst_of_the_errors():
    rows = [
        {
            "label": "tripod",
            "mean_speed_m_s": 0.1,
            "beyond_mm": b,
            "error_mm": abs(b),
            "deviation_mm": d,
            "odometry_mm": d,
            "electrical_cost": d,
        }
        for b, d in ((-9.0, 1.0), (2.0, 7.0), (4.0, 3.0))
    ]
    (line,) = GAITS.lines([{**row, "success": row["error_mm"] < 5.0} for row in rows])
    assert [line[key] for key in ("beyond_mm", "error_mm", "deviation_mm")] == pytest.approx([2.0, 9.0, 7.0])
    assert line["electrical_cost"] == 3.0
    assert line["success"] == "2 of 3"


def test_a_seed_walks_by_every_gait_slow_and_fast_ahead_and_sideways():
    assert len({case.label for case in conditions(3)}) == 18
