# SPDX-License-Identifier: MIT
"""The demo's parameters, summary, pictures; processes and latencies: everything around the nodes that is pure."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from robot_evaluation.errors import DefinitionError
from robot_evaluation.planar import PlanarPath
from robot_evaluation.reports import write_json
from shellbot_client.mission import PhaseRecord
from shellbot_evaluation.demo_params import DemoParams, launch_start_time
from shellbot_evaluation.plans import DemoPlan
from shellbot_evaluation.summary import make_summary, score_phases, score_tilt, summary_table


def tour():
    """Records and paths of a demo in which the robot goes 2 % too far and 1 % to the left, and turns 88 degrees."""
    phases = DemoPlan().phases()
    records = [PhaseRecord(phase, 10.0 * i, 10.0 * i + 8.0, 10.0 * i + 10.0) for i, phase in enumerate(phases)]
    t = np.array([0.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0])
    xy = np.array([[0, 0], [0, 0], [0.5, 0.06], [1.02, 0.01], [1.01, 0.52], [1.01, 0.52], [1.01, 0.52]])
    yaw = np.radians([0, 0, 0, 0, 0, 88, 88])
    return records, PlanarPath(t, xy, yaw), PlanarPath(t, 0.98 * xy, yaw * 90 / 88)


def test_summary_has_the_keys_and_figures_asked_for(tmp_path):
    records, truth, own = tour()
    scores = score_phases(records, truth, own)
    scores["tilt"] = score_tilt(records[4], np.array([0.0, 60.0]), np.radians([7.5, 7.5]))
    write_json(tmp_path / "summary.json", make_summary(scores, 0.99, 8.5, True, "fine", ["a.png"], []))
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert set(summary) == {
        "forward",
        "sideways",
        "turn",
        "tilt",
        "real_time_factor",
        "start_s",
        "success",
        "message",
        "pictures",
        "warnings",
    }
    assert summary["forward"]["commanded_m"] == 1.0
    assert summary["forward"]["walked_m"] == pytest.approx(1.02)
    assert summary["forward"]["lateral_m"] == pytest.approx(0.01)
    assert (summary["sideways"]["commanded_m"], summary["sideways"]["walked_m"]) == pytest.approx((0.5, 0.51))
    assert summary["sideways"]["lateral_m"] == pytest.approx(0.01)  # backward is left of the way to the left
    assert (summary["turn"]["commanded_deg"], summary["turn"]["turned_deg"]) == pytest.approx((90.0, 88.0))
    assert (summary["tilt"]["commanded_deg"], summary["tilt"]["tilted_deg"]) == pytest.approx((8.0, 7.5))
    assert (summary["real_time_factor"], summary["start_s"]) == (0.99, 8.5)


def test_table_shows_motion_warnings_and_how_it_ended():
    records, truth, own = tour()
    summary = make_summary(score_phases(records, truth, own), 1.0, 8.0, True, "all done", [], ["no camera"])
    text = summary_table(summary)
    assert "| forward | 1.000 m | 1.000 m | 1.020 m | +10 mm" in " ".join(text.split())
    summary["forward"]["lateral_m"] = -0.0003
    assert "1.020 m | +0 mm" in " ".join(summary_table(summary).split())
    assert "88.0 deg" in text and "warning: no camera" in text and "done: all done" in text


def test_summary_of_a_demo_that_failed_early_has_empty_phases():
    summary = make_summary({}, math.nan, math.nan, False, "not standing", [], [])
    assert summary["forward"] is None and summary["turn"] is None
    assert "FAILED: not standing" in summary_table(summary)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"forward_m": math.nan}, "~forward_m is nan; give a number from 0.05 to 10"),
        ({"tilt_deg": 45.0}, "~tilt_deg is 45"),
        ({"turn_deg": 0.0}, "~turn_deg is 0"),
        ({"speed_m_s": "fast"}, "~speed_m_s is 'fast'"),
    ],
)
def test_unusable_demo_parameters_are_refused(changes, message):
    with pytest.raises(DefinitionError, match=message):
        DemoParams.from_mapping(changes, "~")


def test_parameters_are_read_by_name_with_their_defaults(tmp_path):
    given = {"~forward_m": 2.0, "~results": str(tmp_path / "a" / "b")}
    params = DemoParams.read(lambda name, default: given.get(name, default))
    assert (params.forward_m, params.turn_deg) == (2.0, 90.0)
    assert params.phases()[1].amount == 2.0
    assert params.results_folder() == tmp_path / "a" / "b" and (tmp_path / "a" / "b").is_dir()
    assert DemoParams().results_folder() is None
    assert DemoParams(plan="mission", results="x").films()
    assert not DemoParams(plan="mission").films() and not DemoParams(results="x").films()
    (tmp_path / "file").write_text("")
    with pytest.raises(DefinitionError, match="cannot make the results folder"):
        DemoParams(results=str(tmp_path / "file" / "x")).results_folder()


def test_relative_results_folder_counts_from_the_users_shell(tmp_path, monkeypatch):
    monkeypatch.setenv("PWD", str(tmp_path))
    assert DemoParams(results="out").results_folder() == tmp_path / "out"


LAUNCHED = """
import psutil, subprocess, sys
own = "from shellbot_evaluation.demo_params import launch_start_time; print(launch_start_time())"
print(psutil.Process().create_time(), flush=True)
subprocess.run([sys.executable, "-c", own], check=True)
"""


def test_start_of_the_launch_prefers_what_the_script_has_set(monkeypatch):
    monkeypatch.setenv("SHELLBOT_START", "123.5")
    assert launch_start_time() == 123.5
    monkeypatch.delenv("SHELLBOT_START")
    assert launch_start_time() == psutil.Process().create_time()
    command = [sys.executable, "-c", LAUNCHED, "roslaunch"]
    parent, child = map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert child == parent, "below roslaunch, the launch's start counts"


def test_a_demo_whose_ground_truth_came_too_late_is_reported_as_failed(tmp_path):
    pytest.importorskip("rospy")
    pytest.importorskip("shellbot_msgs")
    from shellbot_evaluation import demo_node

    node = demo_node.DemoNode.__new__(demo_node.DemoNode)
    records, truth, own = tour()
    node._params = DemoParams(results=str(tmp_path), start_time=1.0)
    node._mission = SimpleNamespace(records=records, message="all done")
    node._names, node._camera, node._reel, node._standing, node._now = demo_node.TOUR, None, None, (2.0, 1.0), 60.0
    node._own_rows = [(t, x, y, yaw) for t, (x, y), yaw in zip(own.t, own.xy, own.yaw)]
    node._true_rows = [(t, x, y, 0.16, 0.0, 0.0, 0.0, 1.0) for t, (x, y) in zip(truth.t, truth.xy) if t > 20.0]
    summary = node._summary(True, 61.0)
    assert json.loads((tmp_path / "summary.json").read_text())["success"] is False
    assert summary["pictures"] == []
    assert "cannot be scored: the recorded path covers 30.00..60.00 s" in summary["message"]
    assert "no path.png" in summary["warnings"][0]
