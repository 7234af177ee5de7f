# SPDX-License-Identifier: MIT
"""The history of the joints and its file."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from shellbot_teleop.joint_history import COMMANDED, MEASURED, JointHistory, write_csv

NAMES = ("hip", "knee")


@pytest.fixture
def history():
    history = JointHistory(seconds=1.0, rate=10.0)
    for tick in range(25):
        history.add(MEASURED, NAMES, 0.1 * tick, (0.01 * tick, -1.0))
        history.add(COMMANDED, NAMES, 0.1 * tick, (0.01 * tick + 0.1, -1.0))
    return history


def test_it_keeps_the_newest_in_order(history):
    samples = history.since(MEASURED, -math.inf)
    assert samples.times == pytest.approx(0.1 * np.arange(15, 25)) and history.newest == pytest.approx(2.4)
    assert samples.of("hip") == pytest.approx(0.01 * np.arange(15, 25))
    assert np.isnan(samples.of("tail")).all() and len(samples.of("tail")) == 10
    assert history.since(MEASURED, 2.15).times == pytest.approx([2.2, 2.3, 2.4])
    assert history.names == NAMES


def test_late_and_wrong_samples_change_nothing(history):
    for stamp, position in ((2.37, (9.0, 9.0)), (2.4, (9.0, 9.0)), (2.5, (9.0,)), (math.nan, (9.0, 9.0))):
        history.add(MEASURED, NAMES, stamp, position)
    assert history.newest == pytest.approx(2.4) and history.since(MEASURED, 2.35).of("hip") == pytest.approx([0.24])


def test_a_reset_begins_anew_with_both_kinds(history):
    history.add(MEASURED, NAMES, 0.0, (0.5, 0.5))
    assert history.since(MEASURED, -math.inf).times.tolist() == [0.0]
    assert not len(history.since(COMMANDED, -math.inf).times)


def test_another_robots_joints_begin_anew(history):
    history.add(MEASURED, ("wheel",), 2.5, (1.0,))
    assert history.since(MEASURED, -math.inf).names == ("wheel",) and history.names == ("wheel", *NAMES)


def test_without_samples_there_is_nothing():
    empty = JointHistory()
    assert empty.names == () and empty.newest == -math.inf and not len(empty.since(MEASURED, 0.0).times)


def test_the_file_has_a_row_a_stamp_and_blanks_where_nothing_is_known(history, tmp_path):
    history.add(MEASURED, NAMES, 2.5, (math.nan, 0.5))
    samples = {kind: history.since(kind, 2.25) for kind in (COMMANDED, MEASURED)}
    assert write_csv(tmp_path / "joints.csv", samples, ["knee", "hip"]) == 3
    with (tmp_path / "joints.csv").open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    columns = ["knee.commanded_rad", "knee.measured_rad", "hip.commanded_rad", "hip.measured_rad"]
    assert rows[0] == ["time_s", *columns]
    assert rows[1][0] == "2.300000" and [float(cell) for cell in rows[1][1:]] == pytest.approx([-1, -1, 0.33, 0.23])
    assert rows[3] == ["2.500000", "", "0.5", "", ""]
