# SPDX-License-Identifier: MIT
"""Runs of experiments: they walk as commanded, whatever the number of processes; the command line and its files."""

from __future__ import annotations

import csv
import json
import re
import signal
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from robot_evaluation.parallel import map_jobs
from robot_evaluation.trace import Trace
from shellbot_chain.chain import Chain
from shellbot_chain.errors import MissionFailed
from shellbot_client.chain_link import ChainLink
from shellbot_client.link import run_mission
from shellbot_client.mission import Mission, MissionState
from shellbot_evaluation import experiment_cli, experiment_report, mission_cli, rolling_cli, runner, transform_cli
from shellbot_evaluation.experiment_cli import main
from shellbot_evaluation.experiments import Experiment, Run, make_case
from shellbot_evaluation.plans import DemoPlan
from shellbot_evaluation.runner import RunResult, execute


def walk_run(values, seed=0, friction=0.7):
    return execute(Run("test", make_case("run", values), seed, friction)).row


def assert_body_was_fine(row):
    assert row["height_deviation_mm"] <= 10.0
    assert row["lowest_foot_mm"] >= -2.0
    assert row["joint_limit_excess_deg"] == 0.0


@pytest.mark.parametrize("heading_deg, friction", [(0, 0.7), (90, 1.0)])
def test_walk_of_a_metre_ends_where_it_was_commanded(heading_deg, friction):
    row = walk_run({"kind": "walk", "distance_m": 1.0, "heading_deg": heading_deg, "speed_m_s": 0.15}, 1, friction)
    assert row["distance_error_percent"] < 5.0
    assert row["deviation_percent"] < 3.0
    assert_body_was_fine(row)


def test_turn_of_360_degrees_ends_where_it_was_commanded():
    row = walk_run({"kind": "turn", "angle_deg": 360, "rate_deg_s": 40}, 2, 0.8)
    assert row["angle_error_percent"] < 5.0
    assert row["odometry_deg"] == pytest.approx(360.0, abs=4.0), "the odometry ends the run"
    assert_body_was_fine(row)


def test_a_square_ends_where_it_began_and_its_json_holds_the_summary(tmp_path, capsys):
    definitions = "square: {cases: {square: {kind: square, side_m: 9.0, speed_m_s: 0.1, rate_deg_s: 30}}}"
    (tmp_path / "e.yaml").write_text(definitions)
    arguments = ["square", "--definitions", str(tmp_path / "e.yaml"), "--seeds", "3:4", "--out", str(tmp_path / "out")]
    given = ["--distance", "0.15", "--speed", "0.2", "--gait", "ripple", "--json", str(tmp_path / "deep" / "s.json")]
    assert main([*arguments, *given]) == 0
    written = json.loads((tmp_path / "deep" / "s.json").read_text())
    row, summary = written["runs"][0], written["summary"]
    assert row["path_m"] == pytest.approx(0.6)
    assert summary["runs"] == 1
    assert summary["max_drift_m"] == row["drift_m"] < 0.03
    assert summary["mean_turn_deg"] == row["turned_deg"] == pytest.approx(360.0, abs=3.0)
    assert summary["max_odometry_error_percent"] == row["odometry_error_percent"] < 4.0
    assert_body_was_fine(row)
    assert main([*arguments, "--distance", "-1"]) == 2
    assert main(["turn", "--distance", "1"]) == 2
    assert main(["walk", "turn", "--json", "x.json"]) == 2
    said = capsys.readouterr().err
    assert "distance_m is -1" in said
    assert "'turn' has no distance_m to set; its cases have angle_deg, rate_deg_s" in said
    assert "--json is for one experiment; of walk, turn name one" in said


def test_demo_runs_in_the_chain_as_it_does_on_the_wire():
    chain, mission = Chain(seed=5), Mission(DemoPlan(forward_m=0.2, sideways_m=0.1, turn_deg=20.0).phases())
    run_mission(ChainLink(chain), mission)
    assert mission.state is MissionState.SUCCEEDED
    assert [record.phase.name for record in mission.records][-2:] == ["tilt", "level"]


def test_results_do_not_depend_on_the_number_of_processes():
    case = make_case("short", {"kind": "walk", "distance_m": 0.1, "speed_m_s": 0.15})
    runs = [Run("test", case, seed, 0.8) for seed in (0, 1)]
    alone, pair = ([r.row for r in map_jobs(execute, [("run", run) for run in runs], jobs)] for jobs in (1, 2))
    assert alone == pair and alone[0]["walked_m"] != alone[1]["walked_m"]


DEFINITIONS = """
tiny:
  cases:
    step: {kind: walk, distance_m: 0.1, speed_m_s: 0.15}
    dash: {kind: speed, speed_m_s: 0.2, duration_s: 4.0}
  limits: {height_deviation_mm: LIMIT}
"""


def test_command_line_writes_its_files_and_its_status_tells_whether_limits_were_met(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: tiny -->\n<!-- end: tiny -->\n")
    for limit, status, name in (("50.0", 0, "step"), ("0.0001", 1, "")):
        lines = [line for line in DEFINITIONS.splitlines(keepends=True) if "{kind" not in line or name in line]
        (tmp_path / "tiny.yaml").write_text("".join(lines).replace("LIMIT", limit))
        arguments = ["tiny", "--definitions", str(tmp_path / "tiny.yaml"), "--seeds", "1", "--traces"]
        assert main([*arguments, "--out", str(tmp_path / "out"), "--write", str(page)]) == status
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {
        "tiny.csv",
        "tiny.json",
        "tiny.md",
        "tiny_step_path.png",
        "tiny_dash_run.png",
        "tiny_step_seed0.npz",
        "tiny_friction.png",
    } <= written
    assert "| step | height_deviation_mm | at most 0.0001 |" in " ".join(page.read_text().split())
    misspelt = DEFINITIONS.replace("height_deviation_mm: LIMIT", "height_devation_mm: 50.0").replace(
        "    dash", "    # dash"
    )
    (tmp_path / "tiny.yaml").write_text(misspelt)
    arguments = [
        "tiny",
        "--definitions",
        str(tmp_path / "tiny.yaml"),
        "--seeds",
        "1",
        "--out",
        str(tmp_path / "misspelt"),
    ]
    capsys.readouterr()
    assert main(arguments) == 1
    assert re.search(r"height_devation_mm .* no run has this figure .* no ", capsys.readouterr().out)
    assert main(["--campaign", "nao", "--json", "nao.json"]) == 2
    assert "--campaign has cases of its own, and its files in --out; leave out json" in capsys.readouterr().err
    assert Trace.load(tmp_path / "out" / "tiny_step_seed0.npz").t.size > 100
    assert main(["absent"]) == 2
    sentence = capsys.readouterr().err
    assert "there is no experiment 'absent'; choose from walk, turn, square, speed, sprint, transform, roll" in sentence
    for name in experiment_cli.PROGRAMS:
        assert f" {name}," in sentence and f" {name} (" in experiment_cli.parser().format_help().replace("\n", " ")


def interrupt(*_):
    signal.raise_signal(signal.SIGINT)


def test_an_interrupted_command_goes_on_and_another_one_does_not_mix_its_runs_with_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "tiny.yaml").write_text("tiny: {cases: {step: {kind: walk, distance_m: 0.1, speed_m_s: 0.15}}}")
    arguments = ["tiny", "--definitions", str(tmp_path / "tiny.yaml"), "--seeds", "1", "--out", str(tmp_path)]
    with monkeypatch.context() as patched:
        patched.setattr(experiment_cli, "write_report", interrupt)
        assert main(arguments) == 130
        (tmp_path / "tiny_step_seed0.npz").unlink()
        assert main(arguments) == 130, "a run without its trace is repeated"
    assert main([*arguments, "--gait", "ripple"]) == 2
    assert re.search("holds 1 runs of 'tiny .* by other code or settings", capsys.readouterr().err)
    monkeypatch.setattr("shellbot_evaluation.runner.Chain", None)  # what is done is not repeated
    assert main([*arguments, "--workers", "2"]) == 0


def test_a_run_that_fails_is_a_row_of_its_own_and_the_others_go_on(tmp_path, monkeypatch, capsys):
    (tmp_path / "tiny.yaml").write_text(DEFINITIONS.replace("LIMIT", "50.0"))
    arguments = ["tiny", "--definitions", str(tmp_path / "tiny.yaml"), "--out", str(tmp_path), "--seeds"]
    really_run = run_mission

    def run(link, mission, each_tick):
        if link.chain.config.seed == 1:
            raise MissionFailed("it does not stand up")
        really_run(link, mission, each_tick)
        if link.chain.config.seed == 2:
            raise MissionFailed("it fell")

    monkeypatch.setattr(runner, "run_mission", run)
    with monkeypatch.context() as patched:
        patched.setattr(experiment_cli, "write_report", interrupt)
        assert main([*arguments, "3"]) == 130
        patched.setattr(runner, "Chain", None)  # what failed is done, too
        assert main([*arguments, "3"]) == 130
    assert main([*arguments, "3"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "| step | success | every run | 2 failed | 3 | no |" in out
    assert "| step | height_deviation_mm | at most 50 |" in out and "| dash | success |" not in out
    written = json.loads((tmp_path / "tiny.json").read_text())
    assert [(r["success"], r.get("message")) for r in written["runs"][:3]] == [
        (True, None),
        (False, "it does not stand up"),
        (False, "it fell"),
    ]
    assert (written["summary"]["runs"], written["summary"]["failed"]) == (6, 2)
    with (tmp_path / "tiny.csv").open() as stream:
        assert [row["message"] for row in csv.DictReader(stream)][:3] == ["", "it does not stand up", "it fell"]
    for file in ("tiny.md", "tiny.html"):
        assert "it does not stand up" in (tmp_path / file).read_text()
    assert not list(tmp_path.glob("*.npz")) and (tmp_path / "tiny_step_path.png").exists()

    definitions = DEFINITIONS.replace("LIMIT", "50.0").replace("    dash:", "    #")
    (tmp_path / "tiny.yaml").write_text(definitions)
    arguments[4] = str(tmp_path / "nothing")
    assert main([*arguments, "1:2"]) == 1, "no run moved"
    assert "it does not stand up" in (tmp_path / "nothing" / "tiny.html").read_text()
    assert not list((tmp_path / "nothing").glob("*.png"))


def test_a_campaign_stands_in_one_table_for_all_simulators_and_its_status_counts_what_failed(
    tmp_path, monkeypatch, capsys
):
    pytest.importorskip("pybullet")
    trace = execute(Run("e", make_case("run", {"kind": "walk", "distance_m": 0.1, "speed_m_s": 0.15}), 0, 0.8)).trace

    def played(run, base):
        head = {"case": run.case.name, "kind": run.case.kind, "simulator": base.engine, "seed": run.seed}
        if (base.engine, run.seed, run.case.name) == ("bullet", 1, "3 m at 40 %"):
            return RunResult({**head, "friction": 0.8, "success": False, "message": "it fell"}, None)
        keys = ("lateral_m", "odometry_m", "odometry_lateral_m", "odometry_deg", "drift_m", "duration_s")
        figures = {**dict.fromkeys(keys, 0.0), "walked_m": 3.0 + run.seed, "turned_deg": 360.0, "friction": 0.8}
        return RunResult({**head, **figures, "success": True}, trace)

    monkeypatch.setattr(experiment_cli, "execute", played)
    for plot in ("plot_paths", "plot_run"):  # 126 pictures of one trace
        monkeypatch.setattr(experiment_report, plot, lambda file, *_: file.write_bytes(b"picture"))
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: nao -->\n<!-- end: nao -->\n")
    given = ["--campaign", "nao", "--seeds", "2", "--out", str(tmp_path), "--write", str(page), "--simulator"]
    assert main([*given, "mujoco"]) == 0
    assert main([*given, "mujoco", "bullet"]) == 1
    text = " ".join(page.read_text().split())
    assert "| Shellbot, mujoco, ground truth | 3.500 |" in text and "| Shellbot, bullet, ground truth | 3.000 |" in text
    assert "| bullet | 3 m at 40 % | 2 | 1 |" in text
    assert {path.name for path in tmp_path.glob("*.csv")} == {"nao.csv", "nao_mujoco.csv", "nao_bullet.csv"}
    assert "it fell" in (tmp_path / "nao_bullet.html").read_text()

    def running(run, gait):
        assert gait == "ripple"
        return played(run, SimpleNamespace(engine="over ROS"))

    robot = SimpleNamespace(RunningShellbot=lambda: SimpleNamespace(run=running))
    monkeypatch.setitem(sys.modules, "shellbot_evaluation.running_node", robot)
    earlier = [str(tmp_path / f"nao_{engine}.json") for engine in ("mujoco", "bullet")]
    given = [*given[:-1], "--running", "--gait", "ripple", "--merge", *earlier]
    assert main(given) == 0, "what failed then does not count"
    text = " ".join(page.read_text().split())
    for line in ("mujoco | 3 m at 40 % | 2 | 0", "bullet | 3 m at 40 % | 2 | 1", "over ROS | 3 m at 40 % | 2 | 0"):
        assert f"| {line} |" in text
    assert (tmp_path / "nao_running.html").exists()
    (tmp_path / "walk.json").write_text('{"runs": [{"simulator": "mujoco", "case": "forward"}]}')
    for command, sentence in {
        (*given, earlier[0]): "nao_mujoco.json has runs of mujoco, which the table has already; leave it out",
        (*given, str(tmp_path / "nao_running.json")): "has runs of over ROS, which",
        (*given, str(tmp_path / "walk.json")): "walk.json lacks runs of the campaign's 21 cases",
        (*given, str(page)): "page.md lacks runs",
        (*given, "--friction", "0.5", "0.6"): "leave --friction out",
        ("walk", "--merge", earlier[0]): "--merge is of a campaign",
    }.items():
        assert main(command) == 2
        assert sentence in capsys.readouterr().err


def test_all_are_those_of_the_file_then_transform_roll_and_course(tmp_path, monkeypatch):
    case = make_case("step", {"kind": "walk", "distance_m": 0.1, "speed_m_s": 0.15})
    monkeypatch.setattr(experiment_cli, "load_experiments", lambda _: {"tiny": Experiment("tiny", (case,), ())})
    seeds = []
    for module, name in ((transform_cli, "RUNS"), (rolling_cli, "ROLL"), (mission_cli, "COURSE")):
        runs = getattr(module, name)

        def row(case, runs=runs):
            seeds.append((runs.name, case.seed))
            return {**vars(case), **dict.fromkeys(runs.goals, 1.0), "success": True, "message": ""}

        monkeypatch.setattr(module, name, replace(runs, execute=row, duration=lambda _: 1.0))
    status = main(["all", "--seeds", "4:6", "--out", str(tmp_path)])
    assert status == 1, "1.0 is no good speed of the roll"
    assert seeds == [(name, seed) for name in ("transform", "roll", "course") for seed in (4, 5)]
    assert {path.name for path in tmp_path.glob("*.html")} == {
        f"{n}.html" for n in ("tiny", "transform", "roll", "course")
    }
    assert not list(tmp_path.glob("*.jsonl")) and not list(tmp_path.glob("*.npz"))
    monkeypatch.setattr(transform_cli, "RUNS", replace(transform_cli.RUNS, execute=interrupt))
    seeds.clear()
    assert main(["all", "--seeds", "4:5", "--out", str(tmp_path)]) == 130
    assert seeds == [], "Ctrl-C ends all of them"


def test_all_gives_its_options_to_every_experiment_or_refuses_them_before_the_first_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pybullet")
    bases, cases = [], {}
    monkeypatch.setattr(experiment_cli, "_one", lambda *given: bases.append(given[3]) or True)
    for module, name in ((transform_cli, "RUNS"), (rolling_cli, "ROLL"), (mission_cli, "COURSE")):
        runs = getattr(module, name)

        def row(case, runs=runs):
            cases[runs.name] = case
            return {"seed": case.seed, **dict.fromkeys(runs.goals, 1.0), "success": True, "message": ""}

        monkeypatch.setattr(module, name, replace(runs, execute=row, duration=lambda _: 1.0))
    given = ["all", "--seeds", "4:5", "--out", str(tmp_path)]
    main([*given, "--simulator", "bullet", "--gait", "ripple", "--perturb", "mass_scale=1.1"])
    assert {(base.engine, base.gait) for base in bases} == {("bullet", "ripple")}
    drawn = {"engine": "bullet", "mass_scale": 1.1}
    assert cases["transform"].changes == cases["roll"].changes == drawn
    assert cases["course"].changes == {**drawn, "gait": "ripple"}
    (found,) = json.loads((tmp_path / "roll.json").read_text())["runs"]
    assert (found["simulator"], found["mass_scale"]) == ("bullet", 1.1)
    cases.clear(), bases.clear(), capsys.readouterr()
    for words, sentence in {
        "--friction 0.5 0.6": "--friction is none of transform, roll, course, which `all` runs, too",
        "--terrain ice": "leave it out, or name the experiments: walk turn square speed sprint",
        "--speed 0.2": "'turn' has no speed_m_s to set",
        "--perturb push_n=10": "'speed' runs by time, without pushes; leave out push_n",
        "--simulator mujoco bullet": "name one of them",
    }.items():
        assert main([*given, *words.split()]) == 2
        assert sentence in capsys.readouterr().err
    assert not cases and not bases
    assert main(["roll", "--perturb", "push_n=10"]) == 2 and "'roll' has no pushes" in capsys.readouterr().err
    assert (
        main(["course", "--speed", "5"]) == 2
        and "speed_m_s is 5.0; give a number from 0.01 to 0.6 m/s" in capsys.readouterr().err
    )


def test_a_speed_that_no_walk_reaches_is_refused_and_what_one_falls_short_of_is_noted(capsys, monkeypatch):
    monkeypatch.setattr(experiment_cli, "_one", lambda *_: True)
    for words, sentence in {
        "walk --speed 100": "case 'forward' walks at 100 m/s, and gait 'tripod' at 0.4 m/s at most; give --speed",
        "square --speed 0.12 --gait rough": "case 'square' walks at 0.12 m/s, and gait 'rough' at 0.111 m/s at most",
    }.items():
        assert main(words.split()) == 2
        assert sentence in capsys.readouterr().err
    assert main(["walk", "--speed", "0.3"]) == 0 and main(["speed"]) == 0 and not capsys.readouterr().out
    assert main(["walk", "--speed", "0.4"]) == 0
    notes = capsys.readouterr().out
    assert "note: case 'sideways' walks at 0.4 m/s, and gait 'tripod' at 0.3" in notes and "forward" not in notes
    assert main(["walk", "--gait", "wave"]) == 0
    assert "note: case 'forward' walks at 0.15 m/s, and gait 'wave' at 0.0893 m/s at most" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["walk"], ["--campaign", "nao"]])
def test_a_page_without_its_markers_is_refused_before_the_first_run(tmp_path, monkeypatch, capsys, command):
    def begin(*_arguments):
        raise AssertionError("a run began")

    monkeypatch.setattr(experiment_cli, "map_jobs", begin)
    page = tmp_path / "page.md"
    page.write_text("# Page\n")
    assert main([*command, "--seeds", "1", "--out", str(tmp_path), "--write", str(page)]) == 2
    assert f"lacks the lines '<!-- begin: {command[-1]} -->'" in capsys.readouterr().err
