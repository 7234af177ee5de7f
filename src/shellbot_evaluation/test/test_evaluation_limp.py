# SPDX-License-Identifier: MIT
"""The experiment limp: five legs carry the robot on, with a sixth that is stuck or hangs."""

from __future__ import annotations

import pytest

from shellbot_evaluation.limp_experiment import KINDS, LIMP, Case, conditions, execute


@pytest.mark.parametrize("kind", KINDS)
def test_it_walks_on_without_a_leg(kind):
    row = execute(Case(seed=7, leg=2, kind=kind, friction=0.8))
    assert row["success"] and row["message"] == ""
    assert row["fraction"] >= 0.36 and row["yaw_deg"] < 10.0 and row["course_deg"] < 10.0 and row["tilt_deg"] < 8.0
    assert "lower_2" in LIMP.report([row], LIMP.summary([row]), "it")


def test_a_seed_tries_every_leg_both_ways():
    assert len({case.label for case in conditions(3)}) == 12
