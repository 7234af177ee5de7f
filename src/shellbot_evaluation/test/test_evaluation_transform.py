# SPDX-License-Identifier: MIT
"""The offline gate names what collides; the experiment draws its conditions and sums up."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import yaml

from robot_evaluation.trace import TopicRecorder
from shellbot_client.mission import Mission, PhaseRecord
from shellbot_common import package_file
from shellbot_description import driven_joint_names, named_pose_array
from shellbot_evaluation import transform_cli, transform_gate, transform_pushes
from shellbot_evaluation.experiment_cli import main as experiment
from shellbot_evaluation.transform_experiment import GOALS, conditions, phases, scored
from shellbot_evaluation.transform_gate import main as gate


def row(seed, good=True):
    figures = {"to_shell_s": 10.0 + seed, "to_hexapod_s": 10.5, "tilt_deg": 2.0, "ball_joint_error_deg": 0.8}
    figures.update(penetration_mm=0.3, clamped_s=0.1)
    if not good:
        figures = dict.fromkeys(figures, float("nan"))
    return {"seed": seed, "friction": 0.5, "mass": 1.0, "slope_deg": 1.0, **figures, "success": good, "said": ""}


def test_the_path_is_green(capsys):
    assert gate(["check", "transform", "--every", "0.1"]) == 0
    said = capsys.readouterr().out
    assert "GREEN" in said
    assert "within 0.004 mm of the body's centre" in said
    assert said.count("| green") == 22  # 16 steps, six of them levelled
    assert "inf" not in said and "> 10 " in said


def test_a_femur_that_does_not_open_before_the_fan_closes_is_red_with_pair_step_and_margin(tmp_path, capsys):
    data = yaml.safe_load(package_file("shellbot_action_manager", "config/transform.yaml").read_text())
    for step in data["steps"]:
        if step["name"] in ("shells_down", "fan_in_1", "fan_in_2", "fan_in_3", "fan_in_4"):
            for key in step["keys"]:
                key[3], key[4] = key[6], key[7] = 2.2689, 1.9199  # as in the closed ball
    path = tmp_path / "transform.yaml"
    path.write_text(yaml.safe_dump(data))
    assert gate(["check", "transform", "--every", "0.1", "--fraction", "0.1", "--file", str(path)]) == 1
    said = capsys.readouterr().out
    assert "RED: " in said
    assert "fan_in_" in said.split("RED: ")[1]
    assert "_link and " in said.split("RED: ")[1]
    assert "margin -" in said.split("RED: ")[1]


def test_a_coxa_that_is_wrong_while_the_gores_shut_is_red_with_levelling_too(tmp_path, capsys):
    data = yaml.safe_load(package_file("shellbot_action_manager", "config/transform.yaml").read_text())
    (shut,) = [step for step in data["steps"] if step["name"] == "shut"]
    for key in shut["keys"][:-1]:
        key[2] += 0.3
        key[5] += 0.3
    path = tmp_path / "transform.yaml"
    path.write_text(yaml.safe_dump(data))
    assert gate(["check", "transform", "--every", "0.1", "--file", str(path)]) == 1
    red = [line.split("|") for line in capsys.readouterr().out.splitlines() if line.startswith("|") and "RED" in line]
    assert {(row[1].strip(), row[2].strip()) for row in red} >= {("shut", "none"), ("shut", "50%")}
    assert all("_link" in row[5] and float(row[3]) < float(row[4]) for row in red)


def test_the_gate_plays_another_design(capsys):
    assert gate(["check", "transform", "--every", "0.2", "--design", "geometry.lower.sphere_x_mm=13.08"]) == 1
    assert "within 9.998 mm" in capsys.readouterr().out
    assert gate(["check", "transform", "--design", "geometry.lower.sphere_y=1"]) == 2
    assert "sphere_y" in capsys.readouterr().err


def test_only_parts_that_are_stops_may_overlap_where_levelling_presses_them():
    for pair, limit in (
        ("lower_1_gore_link and lower_2_gore_link", -10.0),
        ("chassis and lower_3_gore_link", -1.2),
        ("lower_1_fan_link and lower_2_tibia_link", -1.4),
        ("chassis and lower_3_tibia_link", -0.5),
        ("lower_1_fan_link and lower_2_gore_link", -0.5),
    ):
        assert transform_gate.limit_mm(pair, True, "50%") == limit
        assert transform_gate.limit_mm(pair, False, "50%") == 0.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "dance"], "'check dance' is not known"),
        (["check", "transform", "--every", "0"], "give --every 0.001 to 1 s"),
        (["check", "transform", "--file", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_what_the_gate_cannot_do_is_said(words, message, capsys):
    assert gate(words) == 2
    assert message in capsys.readouterr().err


def test_conditions_repeat_with_their_seed_and_fill_their_ranges():
    drawn = [conditions(seed) for seed in range(100, 140)]
    assert drawn[3] == conditions(103)
    assert min(c.friction for c in drawn) < 0.4
    assert max(c.friction for c in drawn) > 0.9
    assert min(c.mass for c in drawn) < 0.88
    assert max(c.slope_deg for c in drawn) > 2.7
    assert all(0.3 <= c.friction <= 1.0 and 0.85 <= c.mass <= 1.15 and 0.0 <= c.slope_deg <= 3.0 for c in drawn)


def test_the_summary_counts_failures_and_takes_the_worst():
    found = transform_cli.RUNS.summary([row(0), row(1), row(2, good=False)])
    assert (found["success"], found["runs"]) == (2, 3)
    assert (found["median_s"], found["worst_s"]) == (21.0, 21.5)
    assert found["to_shell_s"] == {"median": 10.5, "worst": 11.0, "goal": 12.0, "within": 2}
    assert set(GOALS) < set(found)


def test_the_worst_of_a_range_is_the_run_farthest_outside():
    runs = dataclasses.replace(transform_cli.RUNS, goals={"tilt_deg": (1.0, 2.0)})
    for values, worst in (((1.5, 0.2, 2.3), 0.2), ((1.5, 0.9, 2.3), 2.3), ((1.5, 1.4), 1.4)):
        rows = [{**row(seed), "tilt_deg": value} for seed, value in enumerate(values)]
        assert runs.summary(rows)["tilt_deg"]["worst"] == worst


def test_a_page_without_its_markers_is_refused_before_the_first_run(tmp_path, monkeypatch, capsys):
    def execute(case):
        raise AssertionError("a run began")

    monkeypatch.setattr(transform_cli, "RUNS", dataclasses.replace(transform_cli.RUNS, execute=execute))
    (tmp_path / "page.md").write_text("# Page\n")
    for page in ("page.md", "none.md"):
        words = ["--seeds", "1", "--out", str(tmp_path), "--write", str(tmp_path / page)]
        assert transform_cli.main(words) == 2
    written = capsys.readouterr().err
    assert "page.md lacks the lines '<!-- begin: transform -->'" in written and "none.md" in written


def test_the_command_line_writes_runs_and_summary(tmp_path, monkeypatch, capsys):
    runs = dataclasses.replace(transform_cli.RUNS, execute=lambda case: row(case.seed - 100))
    monkeypatch.setattr(transform_cli, "RUNS", runs)
    path, out = tmp_path / "out" / "transform.json", ["--out", str(tmp_path)]
    assert experiment(["transform", "--seeds", "100:102", "--json", str(path), *out]) == 0
    data = json.loads(path.read_text())
    assert [run["seed"] for run in data["runs"]] == [0, 1]
    assert data["summary"]["success"] == 2
    assert experiment(["transform", "--seeds", "100:104", "--json", str(path), *out]) == 1  # 13 s is too slow
    assert experiment(["transform", "--seeds", "5:5", "--out", str(tmp_path)]) == 2
    assert "or A:B with 0 <= A < B" in capsys.readouterr().err


def test_the_design_of_the_command_line_reaches_every_run(tmp_path, monkeypatch, capsys):
    cases = []
    runs = dataclasses.replace(transform_cli.RUNS, execute=lambda case: cases.append(case) or row(case.seed - 100))
    monkeypatch.setattr(transform_cli, "RUNS", runs)
    design = ["--design", "fan_drive.reduction=1", "foot.radius_mm=9"]
    experiment(["transform", "--seeds", "100:102", "--out", str(tmp_path), *design])
    assert [case.design for case in cases] == 2 * [{"fan_drive.reduction": 1.0, "foot.radius_mm": 9.0}]
    assert cases[0] == dataclasses.replace(conditions(100), design=cases[0].design, changes={"engine": "mujoco"})
    assert experiment(["transform", "--design", "fan_drive.reduction"]) == 2
    assert "'fan_drive.reduction' is no NAME=NUMBER" in capsys.readouterr().err


def test_the_gate_looks_at_every_pair_that_moves():
    margins = transform_gate.Gate().margins(every=0.2, fraction=0.0)
    assert {m.step for m in margins if m.pair} >= {"shells_down", "fan_in_4", "shut"}


def test_a_transformation_over_ros_is_scored_by_what_topics_say():
    names, limit = driven_joint_names(), np.full(36, 2.0)
    closed, topics, mission = named_pose_array("closed"), TopicRecorder(names), Mission(phases())
    times = ((0.0, 0.9, 1.0), (1.0, 5.0, 6.0), (6.0, 9.0, 10.0))
    mission.records = [PhaseRecord(phase, *t) for phase, t in zip(phases(), times)]
    for k in range(1001):
        t = 0.01 * k
        effort = np.zeros(36)
        effort[3] = 2.0 if 2.0 < t < 2.6 or t > 9.8 else 1.9
        error = np.where(np.arange(36) == 5, np.radians(0.7), 0.0)
        topics.joints(t, names, closed + error, np.zeros(36), effort)
        topics.truth(t, (0.0, 0.0, 0.2), (0.0, np.sin(0.02), 0.0, np.cos(0.02)) if k == 700 else (0.0, 0.0, 0.0, 1.0))
        topics.odometry(t, (0.0, 0.0, 0.0))
    found = scored(mission, topics.trace(), limit)
    assert found["to_shell_s"] == pytest.approx(4.0) and found["to_hexapod_s"] == pytest.approx(3.0)
    assert found["tilt_deg"] == pytest.approx(np.degrees(0.04))
    assert found["ball_joint_error_deg"] == pytest.approx(0.7)
    assert found["clamped_s"] == pytest.approx(0.59, abs=0.011)
    mission.records = mission.records[:2]  # closed, not opened
    assert np.isnan(scored(mission, topics.trace(), limit)["to_hexapod_s"])


def test_pushes_fall_into_every_step_of_both_ways(tmp_path, monkeypatch, capsys):
    cases = []

    def stands(case):
        cases.append(case)
        figures = {"events": "went on", "stands_s": 20.0, "tilt_deg": 1.0, "message": "", "success": True}
        return {"label": case.label, **figures}

    monkeypatch.setattr(transform_cli, "PUSHED", dataclasses.replace(transform_cli.PUSHED, execute=stands))
    words = ["transform", "--seeds", "3:4", "--out", str(tmp_path), "--push-n"]
    assert experiment([*words, "30", "--design", "foot.radius_mm=9", "--raw-imu"]) == 0
    assert len({case.label for case in cases}) == len(cases) == 32
    assert cases[0].label == "closing, raise_body" and cases[-1].label == "opening, raise_body"
    assert {case.push_n for case in cases} == {30.0} and all(case.changes["raw_imu"] for case in cases)
    drawn = conditions(3)
    assert all((case.friction, case.slope_deg) == (drawn.friction, drawn.slope_deg) for case in cases)
    assert all(case.design == {"foot.radius_mm": 9.0} for case in cases)
    assert "| opening, settle " in capsys.readouterr().out
    assert experiment([*words, "0"]) == 2 and experiment([*words, "30", "--running"]) == 2
    said = capsys.readouterr().err
    assert "--push-n 0 is no push; give a force above 0 N" in said and "leave one of --running and --push-n out" in said


def test_a_robot_that_is_pushed_over_in_a_step_is_brought_to_stand():
    row = transform_pushes.execute(dataclasses.replace(transform_pushes.conditions(3)[0], push_n=400.0))
    assert row["label"] == "closing, raise_body"
    assert row["success"], row["message"]
    assert "held" in row["events"] and row["tilt_deg"] > 34.0


@pytest.mark.parametrize(
    "given",
    [
        ["walk", "--running", "--friction", "0.3", "0.4"],
        ["walk", "--running", "--terrain", "rubble"],
        ["course", "--running", "--perturb", "mass_scale=1:1"],
        ["transform", "--running", "--simulator", "bullet"],
        ["transform", "--running", "--design", "fan_drive.reduction=1"],
        ["mission", "--running", "--raw-imu"],
        ["mission", "--running", "--bus"],
    ],
)
def test_a_running_robot_is_as_it_was_started(given, tmp_path, capsys):
    assert experiment([*given, "--out", str(tmp_path)]) == 2
    assert f"leave {given[2]} out" in capsys.readouterr().err
