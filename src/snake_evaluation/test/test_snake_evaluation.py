# SPDX-License-Identifier: MIT
"""Experiments in the simulator: gaits against their golden steps, a change with righting, identification, seeds."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from robot_evaluation.errors import EvaluationError
from shellbot_common import package_file
from snake_evaluation import experiment_cli, slips, snake_cli
from snake_evaluation import identify as identify_module
from snake_evaluation.changes import _change
from snake_evaluation.commanded import driven_steps, run_commands
from snake_evaluation.cycles import CycleResult, run_cycles
from snake_evaluation.experiment_cli import main
from snake_evaluation.identify import identify
from snake_evaluation.snake_run import Setup, SnakeRun
from snake_evaluation.speed import speed_table
from snake_evaluation.waypoint_experiment import GOALS, Mission, _mission
from snake_motion.velocity_map import VelocityMap


def test_every_option_says_what_it_is():
    commands = snake_cli.parser()._subparsers._group_actions[0].choices
    assert {"identify", "film", "speed"} <= set(commands)
    for parser in (experiment_cli.parser(), *commands.values()):
        silent = [action.dest for action in parser._actions if not action.help]
        assert not silent, (parser.prog, silent)


SETUP = Setup(friction=0.6, seed=5)


@pytest.mark.parametrize(
    ("gait", "direction", "figure", "expected"),
    [
        ("straight", 1, "forward_mm", 68.0),
        ("straight", -1, "forward_mm", -63.0),
        ("turning", 1, "yaw_deg", -9.7),
        ("side_winding", 1, "left_mm", 280.0),
        ("inclined", -1, "left_mm", -460.0),
        ("s_rotation", 1, "yaw_deg", 64.0),
        ("roll", 1, "left_mm", 203.0),
        ("side_fast", -1, "left_mm", -578.0),
        ("inclined_fast", -1, "left_mm", -490.0),
        ("turn", 1, "yaw_deg", 69.0),
    ],
)
def test_gaits_step_as_they_did(gait, direction, figure, expected):
    result = run_cycles(SETUP, gait, direction, 3)
    assert getattr(result, figure) == pytest.approx(expected, rel=0.1)
    assert not result.tipped
    if gait == "straight":
        assert abs(result.left_mm) < 1.0
    if gait in ("straight", "inclined", "inclined_fast", "side_fast"):
        assert result.odometry_error_percent < 6.0 and result.odometry_yaw_deg_per_m < 2.0


@pytest.mark.parametrize(
    ("gait", "figure", "expected"),
    [("straight", "forward_mm", 67.4), ("inclined", "left_mm", 446.0), ("side_fast", "left_mm", 573.0)],
)
def test_a_step_of_5_ms_moves_as_one_of_2_does(gait, figure, expected):
    result = run_cycles(Setup(friction=0.6, seed=5, timestep=0.005), gait, 1, 3)
    assert getattr(result, figure) == pytest.approx(expected, rel=0.03) and not result.tipped


def test_the_servos_and_the_ground_of_the_source_flap():
    result = run_cycles(Setup(servo="source", friction=0.2, seed=5), "flapping", 1, 1)
    assert abs(result.left_mm) > 15.0


def test_after_inclined_side_winding_it_is_right_side_up_again():
    change = _change(SETUP, "inclined", "straight")
    assert change.up > 0.9 and change.up_after > 0.9 and not change.tipped
    assert change.greatest_reference < 5.5


def test_equal_seeds_give_equal_results_and_others_do_not():
    first, again, other = (run_cycles(Setup(seed=seed), "side_winding", 1, 1) for seed in (3, 3, 4))
    assert first == again and first.left_mm != other.left_mm


@pytest.mark.parametrize(("goal", "millimetres"), [("ahead", 30.0), ("left", 60.0), ("turn", 30.0)])
def test_a_waypoint_is_reached_on_the_own_odometry(goal, millimetres):
    mission = _mission(SETUP, goal)
    assert mission.reached and mission.cycles < 12.0
    assert mission.position_error_mm < millimetres and mission.heading_error_deg < 4.0


@pytest.mark.parametrize("goal", ["diagonal", "mostly_ahead"])
def test_a_diagonal_waypoint_takes_few_cycles(goal):
    """Legs along the axes of a swinging body alternated: 15 to 33 cycles a metre."""
    mission = _mission(Setup(friction=0.8, seed=3), goal)
    assert mission.reached and mission.cycles < 12.0 * math.hypot(*GOALS[goal][:2])
    assert mission.position_error_mm < 50.0 and mission.heading_error_deg < 5.0


@pytest.mark.parametrize("twist", [(0.06, 0.0, 0.03), (0.0, -0.12, 0.0), (0.0, 0.0, 0.5)])
def test_eight_modules_do_what_cmd_vel_says(twist):
    run = SnakeRun(Setup(8, friction=0.6, seed=5))
    step = driven_steps(run, np.array(twist), 2).mean(axis=0)
    main = int(np.argmax(np.abs(twist)))
    assert step[main] == pytest.approx(twist[main], rel=0.1) and step[2] == pytest.approx(twist[2], abs=0.06)
    assert run.truth.up > 0.9


def test_velocities_of_a_slow_servo_are_those_of_its_slow_cycles(monkeypatch):
    monkeypatch.setattr("snake_evaluation.commanded.COMMANDS", 1)
    (found,) = run_commands((Setup(servo="source", friction=0.5), "rotation"))
    assert abs(found.speed_mm) > 15.0 and abs(found.speed_error_mm) < 4.0  # deg a cycle


def test_rolling_by_cmd_vel_ends_right_side_up_at_the_next_gait():
    run = SnakeRun(Setup(8, friction=0.6, seed=5, sideways_by="rolling"))
    step = driven_steps(run, np.array([0.0, 0.15, 0.0]), 4).mean(axis=0)
    assert step[1] == pytest.approx(0.15, rel=0.1)
    run.run(0.3)  # some way round
    driven_steps(run, np.array([0.06, 0.0, 0.0]), 6)
    assert run.truth.up > 0.9 and run.core.engine.active.name == "forward"


def test_identify_measures_what_the_map_says():
    found = identify("rotation", Setup(), (1,), (0.8,), levels=4)
    forward, left, yaw = found.steps([[1.0, -90.0]])[0]
    assert yaw > 0.7 and abs(forward) < 0.02 and abs(left) < 0.02  # rad, m
    assert found.residual[2] < 0.1
    with pytest.raises(EvaluationError, match="levels is 3"):
        identify("rotation", Setup(), (1,), (0.8,), levels=3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["identify", "--modules", "0"], "modules is 0; give a whole number from 1 to 128"),
        (["identify", "--modules", "16", "--friction", "nan"], "friction is nan; give a number from 0.01 to 5"),
        (["identify", "--modules", "16", "--workers", "0"], "--workers is 0"),
        (
            ["identify", "--modules", "8"],
            "above the servos' 5.50; narrow what is measured: --family forward, --amplitude",
        ),
        (["identify", "--amplitude", "0.4", "0.8"], "name it with --family"),
        (
            ["identify", "--family", "forward", "--amplitude", "0.3", "0.8"],
            "is 0.3 0.8; give two numbers from 0.35",
        ),
        (["slips", "--friction", "0"], "friction is 0.0"),
        (["slips", "--modules", "8", "--gait", "side_winding"], "gait side_winding turns a joint at"),
        (["film", "--modules", "1000"], "modules is 1000"),
        (["shapes", "none.json"], "none.json cannot be read: No such file"),
        (["bus", "--modules", "0"], "modules is 0"),
        (["bus", "--modules", "2", "--gait", "straight", "--cycles", "0"], "cycles is 0; give at least 1"),
        (
            ["bus", "--modules", "2", "--gait", "nope"],
            "choose from still, straight, inclined, flapping, s_rotation, straight_long\n",
        ),
        (["speed", "--modules", "2", "--timestep", "0.01"], "timestep is 0.01; give a number from 0.0005 to 0.005"),
        (["speed", "--modules", "2", "--seconds", "0"], "seconds is 0.0; give a number from 0.01 to 1000 s"),
    ],
)
def test_a_wrong_number_is_refused_in_words(tmp_path, capsys, arguments, words):
    files = {
        "identify": tmp_path,
        "slips": tmp_path / "slips.yaml",
        "film": tmp_path,
        "shapes": tmp_path / "shapes.png",
    }
    out = files.get(arguments[0])
    assert snake_cli.main([*arguments, *(["--out", str(out)] if out else [])]) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def in_place_of(module, name, function):
    """Return a function that a journal takes for another one."""
    function.__module__, function.__qualname__ = module.__name__, name
    return function


@pytest.mark.parametrize(
    ("module", "name", "arguments", "result"),
    [
        (
            identify_module,
            "_run",
            ["identify", "--family", "rotation", "--modules", "9", "--amplitude", "0.1", "0.5", "--out", "."],
            CycleResult("rotation", 1, 9, 0.8, 100, 1.0, 2.0, 3.0, float("nan"), 0.0, 0.0, 0.0, 0.0, 0.0, False),
        ),
        (
            slips,
            "_steps",
            ["slips", "--gait", "roll", "--friction", "0.5", "0.8", "--out", "slips.yaml"],
            (np.array([0.1 + 0.2j, 0.1j]), np.array([0.2 + 0.4j, 0.2j])),
        ),
    ],
)
def test_a_measurement_goes_on_where_it_was_interrupted(tmp_path, monkeypatch, module, name, arguments, result):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slips.yaml").write_text('turn: {"1": [1.0, 0.0]}\n')
    calls = []

    def run(case):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(case)
        return result

    monkeypatch.setattr(module, name, in_place_of(module, name, run))
    assert snake_cli.main(arguments) == 130
    assert list(tmp_path.glob("*.unfinished.jsonl")) and not (tmp_path / "rotation_9.yaml").exists()
    seen, calls = list(calls), ["of the second attempt"] * 4
    assert snake_cli.main(arguments) == 0
    assert not [case for case in calls[4:] if case in seen] and not list(tmp_path.glob("*.unfinished.jsonl"))
    if module is slips:
        found = (tmp_path / "slips.yaml").read_text()
        assert 'roll: {"1": [2.0, 0.0], "-1": [2.0, 0.0]}' in found and "turn:" in found
    else:
        found = VelocityMap.load(tmp_path / "rotation_9.yaml")
        assert found.kind.ranges == ((0.1, 0.5), (-100.0, -80.0)) and found.steps([[0.5, -90.0]])[0][2] > 0.0


def test_a_sweep_scales_both_waves_leaves_out_what_cannot_be_and_is_drawn(tmp_path, monkeypatch, capsys):
    seen = []

    def cycles(arguments):
        setup, name, direction, _ = arguments
        shape, row = setup.gaits.shape(name), setup.gaits.rows[name]
        seen.append((name, setup.friction, shape.pitch, shape.yaw))
        case = (name, direction, setup.modules, setup.friction, setup.seed)
        return [CycleResult(*case, 1.0, 90.0, 3.0, 1.0, *[0.0] * 5, False, *row.winding(setup.modules))]

    monkeypatch.setattr(experiment_cli, "_cycles", in_place_of(experiment_cli, "_cycles", cycles))
    file, page, picture = tmp_path / "sweep.json", tmp_path / "sweep.md", tmp_path / "sweep.png"
    scales = ["--alpha-scale", "0.5", "0.75", "1", "9", "--k-scale", "1", "0.5", "--friction", "0.3", "0.9"]
    gaits = ["--gait", "side_winding", "rolling", "straight_long"]
    assert main([*gaits, *scales, "--seeds", "2", "--workers", "1", "--json", str(file), "--out", str(tmp_path)]) == 0
    words = capsys.readouterr()
    assert "alpha x 9, k x 1: gait side_winding bends a joint to" in words.err
    assert "alpha x 9, k x 1: gait rolling: alpha_deg is 1620" in words.err
    assert "alpha x 0.5, k x 0.5: gait rolling has no undulations" in words.err
    assert "gait straight_long has no alpha_deg" in words.err and "| alpha deg " in words.out
    waves = [case[2:] for case in seen if case[0] == "side_winding" and case[1] == 0.3]
    assert len(seen) == 2 * 2 * (6 + 3 + 1) and len(waves) == 2 * 6
    assert [yaw.step / pitch.step for pitch, yaw in waves] == pytest.approx([1.0] * 12)
    assert waves[2][1].step == pytest.approx(0.5 * waves[0][1].step), "k 0.5"
    assert waves[4][1].amplitude == pytest.approx(1.5 * waves[0][1].amplitude), "0.75 and 0.5 of alpha"
    report = (tmp_path / "snake_gait.md").read_text()
    assert "side_winding +1, 16 modules, friction 0.3, alpha 30 deg, k 0.5" in report and "alpha_deg" not in report
    assert snake_cli.main(["results", str(file), "--write", str(page)]) == 0
    lines = [line.split("|") for line in page.read_text().splitlines() if line.startswith("| side_winding")]
    cases = [tuple(float(cell) for cell in line[2:4]) for line in lines]
    assert cases == [(20.0, 1.0), (20.0, 0.5), (30.0, 1.0), (30.0, 0.5), (40.0, 1.0), (40.0, 0.5)]
    assert "    scripts/experiment snake --gait side_winding" in page.read_text()
    assert snake_cli.main(["results", str(file), "--odometry", str(file), "--write", str(page)]) == 2
    assert snake_cli.main(["shapes", str(file)]) == 0 and picture.read_bytes().startswith(b"\x89PNG")
    assert snake_cli.main(["shapes", str(file), "--out", str(tmp_path / "sweep.foo")]) == 2
    assert "cannot draw" in capsys.readouterr().err


def test_an_old_file_without_winding_angles_is_no_sweep(tmp_path, capsys):
    file, page = tmp_path / "old.json", tmp_path / "old.md"
    run = asdict(CycleResult("straight", 1, 16, 0.8, 1, 68.0, 0.0, 0.0, 11.0, *[0.0] * 5, False))
    del run["alpha_deg"], run["k"]
    file.write_text(json.dumps({"experiment": "gait", "runs": [run]}))
    assert snake_cli.main(["results", str(file), "--write", str(page)]) == 0 and "| straight" in page.read_text()
    assert snake_cli.main(["shapes", str(file)]) == 2
    assert "no run has a winding angle" in capsys.readouterr().err


def test_speed_tells_physics_from_the_rest():
    table = speed_table((4,), ("straight",), Setup(friction=0.8, seed=1000, timestep=0.005), 0.2).splitlines()
    everything, physics, tick = (float(cell) for cell in table[2].split("|")[4:7])
    assert 0.0 < everything < physics and 0.0 < tick < 10.0
    with pytest.raises(EvaluationError, match="moonwalk"):
        speed_table((4,), ("moonwalk",), Setup(friction=0.8, seed=1000), 0.2)


def test_the_command_writes_runs_and_summary(tmp_path, capsys):
    file = tmp_path / "roll.json"
    arguments = ["--gait", "roll", "--direction", "1", "--friction", "0.8", "--seeds", "7:9", "--cycles", "1"]
    assert main([*arguments, "--json", str(file), "--out", str(tmp_path / "report")]) == 0
    assert {path.suffix for path in (tmp_path / "report").iterdir()} == {".csv", ".json", ".md", ".html", ".png"}
    assert "### roll +1, 16 modules, friction 0.8" in (tmp_path / "report" / "snake_gait.md").read_text(
        encoding="utf-8"
    )
    content = json.loads(file.read_text(encoding="utf-8"))
    assert [run["seed"] for run in content["runs"]] == [7, 8]
    assert {"forward_mm", "left_mm", "yaw_deg", "cost_of_transport", "tipped"} <= set(content["summary"])
    assert content["summary"]["cost_of_transport"] < 2.0
    assert main(["--gait", "moonwalk"]) == 2
    assert main(["--modules", "1000"]) == 2
    assert "modules is 1000; give a whole number from 1 to 128" in capsys.readouterr().err
    assert main(["--gait", "rolling", "--modules", "2"]) == 2
    assert "use more modules" in capsys.readouterr().err


def test_own_gaits_and_bodies_over_several_numbers_of_modules(tmp_path, capsys):
    gaits, page, variables = tmp_path / "gaits.yaml", tmp_path / "page.md", tmp_path / "long.yaml"
    gaits.write_text("slow: {pitch: {alpha_deg: 15, k: 1}, period: 0.6}\narc: {pitch: {alpha_deg: 120, k: 0}}\n")
    page.write_text("<!-- begin: snake-modules -->\n<!-- end: snake-modules -->\n")
    text = package_file("snake_description", "config/snake.yaml").read_text()
    variables.write_text(text.replace("length: 0.072", "length: 0.144"))
    given = ["--gaits", str(gaits), "--seeds", "1", "--cycles", "1", "--modules", "2", "6"]
    assert main([*given, "--gait", "slow", "arc", "--json", str(tmp_path / "a.json"), "--write", str(page)]) == 0
    assert "left out with 2 modules: gait arc bends a joint" in capsys.readouterr().err
    runs = json.loads((tmp_path / "a.json").read_text())["runs"]
    assert [(run["gait"], run["modules"]) for run in runs] == [("slow", 2), ("slow", 6), ("arc", 6)]
    assert "| slow" in page.read_text() and "odometry" not in page.read_text()
    more = ["--gait", "slow", "--variables", str(variables), "--json", str(tmp_path / "b.json")]
    assert main([*given, *more]) == 0
    long = json.loads((tmp_path / "b.json").read_text())["runs"]
    assert long[1]["forward_mm"] != runs[1]["forward_mm"]
    assert main([*given, "--gait", "all"]) == 2 and main(["changes", "--modules", "8", "16"]) == 2
    assert main(["changes", "--gaits", str(given[given.index("--gaits") + 1])]) == 2
    assert main(["commands", "--gait", "straight"]) == 2
    message = capsys.readouterr().err
    assert "choose from slow, arc" in message and "are for gaits only" in message


def test_runs_with_a_changed_table_of_gaits_are_not_taken_from_a_journal(tmp_path):
    table = tmp_path / "gaits.yaml"
    table.write_text("slow: {pitch: {alpha_deg: 15, k: 1}}\n")
    before = Setup(gaits_file=table).digest
    table.write_text("slow: {pitch: {alpha_deg: 16, k: 1}}\n")
    assert before and Setup(gaits_file=table).digest != before and not Setup().digest


def test_a_gait_steps_in_bullet_as_in_mujoco(tmp_path):
    pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    file = tmp_path / "found.json"
    given = ["gait", "--gait", "straight", "--seeds", "1", "--friction", "0.6", "--cycles", "2", "--json", str(file)]
    assert main([*given, "--simulator", "bullet"]) == 0
    (run,) = json.loads(file.read_text())["runs"]
    assert run["forward_mm"] == pytest.approx(68.0, rel=0.1)
    other = run_cycles(Setup(friction=0.6, seed=0), "straight", 1, 2)
    assert run["forward_mm"] != other.forward_mm, "it is another engine"


def test_more_than_16_modules_are_rooted_in_the_middle():
    """16 are not: all figures, maps and corrections are theirs. The two settings files differ in nothing else."""
    short, long = Setup(16).simulator, Setup(17).simulator
    assert (short.root, long.root) == ("base", "middle")
    assert long.replace(root="base") == short


def test_a_waypoint_that_is_not_reached_is_a_status_and_the_report_names_its_command(tmp_path, monkeypatch, capsys):
    def missions(argument):
        setup, _ = argument
        given = {"friction": setup.friction, "seed": setup.seed, "cycles": 9.0, "position_error_mm": 5.0}
        errors = {"heading_error_deg": 0.5, "estimate_error_mm": 2.0}
        return [Mission(goal, **given, **errors, reached=goal != missions.missed) for goal in GOALS]

    monkeypatch.setattr(experiment_cli, "run_waypoints", missions)
    words = ["waypoints", "--seeds", "2", "--modules", "8", "--out", str(tmp_path)]
    for missed, status in (("", 0), (list(GOALS)[-1], 1)):
        missions.missed = missed
        assert main(words) == status
    command = " ".join(["scripts/experiment snake", *words])
    assert f"Made by `{command}`" in capsys.readouterr().out
    written = json.loads((tmp_path / "snake_waypoints.json").read_text())
    assert written["command"] == command
    table = (tmp_path / "snake_waypoints.html").read_text()
    assert all(goal in table for goal in GOALS)


@pytest.mark.parametrize("joint", [6, 7])
@pytest.mark.parametrize("gait", ["side_winding", "inclined", "rolling", "turning"])
def test_a_module_that_loses_its_torque_is_named_and_the_robot_stops_flat(gait, joint):
    run = SnakeRun(Setup(16, "ax", 0.8, 1))
    run.run(0.1)
    assert run.core.engine.request_gait(gait)[0]
    run.run(4.0)
    assert run.core.engine.mode == "go", run.output.motion.text
    kind = "yaw" if joint % 2 else "pitch"
    run.simulator.set_gains(f"module_{joint + 1:02d}_{kind}", 0, 0, 0, 0, 0, False)
    assert run.run(12.0, lambda: run.core.engine.mode == "straighten")
    assert f"module {joint + 1} ({kind}) has no torque" in run.output.motion.text
    run.run(2.0)
    assert np.abs(run.output.motion.position).max() < 1e-6
