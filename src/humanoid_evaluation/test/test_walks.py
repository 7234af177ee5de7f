# SPDX-License-Identifier: MIT
"""The humanoid walks in the simulator, is scored by the truth, and is told from one that does not."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

import humanoid_description
from humanoid_evaluation import calibrate as calibration
from humanoid_evaluation import experiment_cli
from humanoid_evaluation.bench_cli import SITUATIONS, fast_enough
from humanoid_evaluation.bench_cli import main as bench
from humanoid_evaluation.calibrate import calibrate
from humanoid_evaluation.campaign import campaign_table, campaign_trials, run_campaign, thesis
from humanoid_evaluation.experiment_cli import main
from humanoid_evaluation.matrix import matrix_trials
from humanoid_evaluation.robot import Robot, parameters
from humanoid_evaluation.summary import summarise
from humanoid_evaluation.trial import Trial, run_trial, world_of
from humanoid_motion.interface import Feedback
from humanoid_motion.parameters import WalkError
from humanoid_motion.robot_core import HumanoidCore
from robot_evaluation.errors import EvaluationError
from robot_evaluation.journal import Journal
from shellbot_common import SettingsError
from shellbot_simulator.core.config import load_config
from shellbot_simulator.core.errors import CommandError
from shellbot_simulator.core.simulator import Simulator

RAN = {"x_m": 0.5, "y_m": 0.0, "turn_deg": 0.0, "odometry_x_m": 0.5, "odometry_error_m": 0.0, "height_range_m": 0.004}
RAN["path"] = {"period_s": 0.1, "true": {"x_m": [0.0, 0.5]}}
RAN.update(seconds=5.0, cost=0.8, fell=False, arrived=True, stands=True, tries=1, shock_m_s2=90.0, side="back")


def test_it_walks_half_a_metre_and_stops_there(tmp_path, capsys):
    file = tmp_path / "walk.json"
    assert main(["--distance", "0.5", "--speed", "0.2", "--seeds", "300:301", "--json", str(file)]) == 0
    written = json.loads(file.read_text())
    found, (run,) = written["summary"], written["runs"]
    assert found["runs"] == 1 and found["falls"] == 0
    true, own = run["path"]["true"], run["path"]["odometry"]
    assert len(true["x_m"]) == pytest.approx(10.0 * (run["seconds"] + 1.0), abs=2.0) and len(own["y_m"]) == len(
        true["y_m"]
    )
    assert true["x_m"][0] == own["x_m"][0] == 0.0 and max(np.abs(np.diff(true["x_m"]))) < 0.06
    assert (true["x_m"][-1], true["y_m"][-1]) == pytest.approx((run["x_m"], run["y_m"]), abs=2e-3)
    assert own["x_m"][-1] == pytest.approx(run["odometry_x_m"], abs=2e-3)
    assert found["worst_distance_error_m"] < 0.02
    assert found["worst_lateral_m"] < 0.015
    assert found["worst_height_range_m"] < 0.008
    assert "worst_angle_error_deg" in capsys.readouterr().out


def test_odometry_knows_a_fast_walk_whose_feet_slide_as_they_land():
    """By the loaded soles alone, 1 m at 0.25 m/s ends 25 mm further than odometry says."""
    run = run_trial(Trial(1.0, 0.0, 0.25, 310))
    assert run["arrived"] and run["odometry_error_m"] < 0.007, run
    assert run["x_m"] == pytest.approx(1.0, abs=0.010)


def test_it_walks_aside():
    run = run_trial(Trial(0.0, 0.0, 0.10, 312, aside=-0.3))
    assert run["arrived"] and run["y_m"] == pytest.approx(-0.3, abs=0.010) and abs(run["x_m"]) < 0.012, run
    assert summarise([run])["worst_lateral_m"] == pytest.approx(abs(run["y_m"] + 0.3)) and run["seconds"] < 6.5


@pytest.mark.parametrize("twist", [(0.25, 0.0, 1.05), (0.25, -0.1, 1.05), (0.25, 0.0, 0.75), (0.25, 0.1, 0.0)])
def test_a_command_at_a_corner_of_the_limits_is_walked_without_a_fall(twist):
    robot = Robot(world_of(Trial(1.0, 0.0, 0.1, 1001)), 1001)
    while robot.time < 7.0:
        robot.core.command_twist(twist if robot.time > 1.0 else (0.0, 0.0, 0.0))
        robot.tick()
        assert not robot.core.has_fallen, robot.time
    assert robot.core.status().mode == "walk"


def test_calibration_returns_a_factor_near_the_delivered_one():
    rows, scale = calibrate([311, 312], 1, speeds=(0.2,), distance=0.5)
    assert [row["runs"] for row in rows] == [2] and rows[0]["least error %"] <= rows[0]["greatest error %"]
    assert scale == pytest.approx(parameters().odometry_scale, abs=0.015)


def test_it_steps_in_bullet_as_in_mujoco(tmp_path, capsys):
    pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    file = tmp_path / "walk.json"
    given = ["--distance", "0.1", "--speed", "0.1", "--seeds", "300:301", "--json", str(file)]
    assert main([*given, "--simulator", "bullet"]) == 0
    (run,) = json.loads(file.read_text())["runs"]
    assert run["engine"] == "bullet" and run["x_m"] == pytest.approx(0.1, abs=0.015) and abs(run["turn_deg"]) < 1.5
    assert main([*given, "--simulator", "bullet", "--get-up"]) == 2
    assert "leave --simulator out" in capsys.readouterr().err


def test_a_campaign_does_not_go_on_in_another_engine(tmp_path):
    file = tmp_path / "campaign.json"
    with pytest.raises(KeyboardInterrupt), Journal.beside(file, "humanoid campaign in bullet") as journal:
        journal.add(run_trial, Trial(1.0, 0.0, 0.1, 0), {"seed": 0})
        raise KeyboardInterrupt
    with pytest.raises(EvaluationError, match="holds 1 runs of 'humanoid campaign in bullet'"):
        run_campaign([0], 1, file)
    assert {trial.engine for _, trial in campaign_trials([0], ["mujoco", "bullet"])} == {"mujoco", "bullet"}


def test_it_turns_in_place_by_more_than_the_shortest_way():
    run = run_trial(Trial(0.0, -200.0, 1.0, 301))
    assert not run["fell"] and run["arrived"]
    assert run["turn_deg"] == pytest.approx(-200.0, abs=0.5), "where the feet land astray it steps once more"
    assert math.hypot(run["x_m"], run["y_m"]) < 0.02


def test_it_turns_without_a_yaw_axis_though_its_soles_slide_as_they_land():
    run = run_trial(Trial(0.0, 180.0, math.radians(60.0), 204, heading="feet"))
    assert run["turn_deg"] == pytest.approx(180.0, abs=3.0)  # 186.5 if a sole counts by its load at the end of a tick


def test_the_description_for_gazebo_walks_without_what_gazebo_lacks(monkeypatch):
    """No rotors but those in the links, and no gear between the hip yaw-pitch joints: in the embedded simulator."""
    text, profile = humanoid_description.urdf_text(simulator="gazebo"), humanoid_description.profile()
    classes = {name: replace(one, armature=0.0) for name, one in profile.classes.items()}
    monkeypatch.setattr(humanoid_description, "urdf_text", lambda motors: text)
    monkeypatch.setattr(humanoid_description, "profile", lambda: replace(profile, classes=classes, couplings=()))
    left, right = (list(profile.joints).index(f"{side}HipYawPitch") for side in "LR")
    apart, tick = [], Robot.tick
    monkeypatch.setattr(Robot, "tick", lambda robot: (tick(robot), apart.append(np.ptp(robot.state.q[[left, right]]))))
    run = run_trial(Trial(0.6, 0.0, 0.1, 200))
    assert run["arrived"] and not run["fell"]
    assert math.radians(0.5) < max(apart) < math.radians(4.0)
    assert run["x_m"] == pytest.approx(0.6, abs=0.05) and abs(run["y_m"]) < 0.05
    assert run["height_range_m"] < 0.01


def test_a_fall_is_seen_and_counted():
    run = run_trial(Trial(1.0, 0.0, 0.1, 302, push=150.0))
    assert run["fell"] and not run["arrived"]
    assert summarise([run])["falls"] == 1
    assert math.isnan(summarise([run])["worst_distance_error_m"])


def test_it_walks_on_a_slope_over_plates_without_a_yaw_axis_and_by_its_force_sensors():
    for trial in (
        Trial(0.6, 0.0, 0.1, 306, slope_deg=3.0),
        Trial(0.6, 0.0, 0.1, 307, slope_deg=3.0),
        Trial(0.6, 0.0, 0.1, 308, plates=0.005),
        Trial(0.0, 180.0, 0.8, 309, heading="feet"),
        Trial(0.6, 0.0, 0.1, 310, contacts="cells"),
    ):
        run = run_trial(trial)
        assert not run["fell"] and run["arrived"], trial
        assert abs(run["x_m"] - trial.distance) < 0.04 and abs(run["y_m"]) < 0.04, run
        assert run["turn_deg"] == pytest.approx(trial.angle_deg, abs=4.0), run


def test_it_slows_down_over_plates_and_not_on_a_flat_floor():
    over, flat = (run_trial(Trial(0.8, 0.0, 0.20, 1003, plates=plates)) for plates in (0.005, 0.0))
    assert over["arrived"] and not over["fell"], "at 0.20 m/s it falls after 0.5 m"
    assert over["seconds"] > flat["seconds"] + 1.0


def test_a_toe_that_meets_a_kerb_presses_its_bumper_and_the_floor_does_not():
    robot, pressed = Robot(load_config().replace(boxes=[(0.30, 0.10, 0.10, 0.18, 0.04)])), []
    while robot.time < 4.0 and not (pressed and robot.core.has_fallen):
        robot.core.command_twist([0.1, 0.0, 0.0] if robot.time > 1.0 else [0.0, 0.0, 0.0])
        robot.tick()
        found = [robot.simulator.bumper(f"{side}_bumper") for side in "lr"]
        if any(found):
            pressed.append((robot.time, *found))
    assert pressed and pressed[0][0] > 1.5, "while it walks up to it the floor presses none"
    assert all(left and not right for _, left, right in pressed)


def test_it_stands_a_push_of_20_newton_while_walking():
    run = run_trial(Trial(0.5, 0.0, 0.1, 303, push=20.0))
    assert not run["fell"] and run["arrived"]


def test_the_same_seed_is_the_same_walk_and_another_is_not():
    one, same, other = (run_trial(Trial(0.2, 0.0, 0.2, seed)) for seed in (304, 304, 305))
    assert one == same
    assert one["x_m"] != other["x_m"]
    assert world_of(Trial(0.2, 0.0, 0.2, 304)) != world_of(Trial(0.2, 0.0, 0.2, 305))


def test_bad_measurements_are_refused_in_words_and_the_next_good_one_goes_on():
    urdf, profile = humanoid_description.urdf_text(), humanoid_description.profile()
    simulator, core = Simulator(urdf, profile), HumanoidCore(urdf, profile, parameters())
    state = simulator.reset()

    def feedback(**changes):
        values = {"q": state.q, "attitude": state.imu.orientation, "rates": state.imu.angular_velocity}
        return Feedback(**{**values, "wrenches": state.contacts.foot_wrench, **changes})

    first = core.step(feedback())
    with pytest.raises(WalkError, match="joint angles"):
        core.step(feedback(q=np.full(26, np.nan)))
    with pytest.raises(WalkError, match="foot wrenches"):
        core.step(feedback(wrenches=np.zeros(3)))
    with pytest.raises(WalkError, match="goal"):
        core.walk_to(math.nan, 0.0, 0.0)
    core.command_twist([math.inf, 0.0, 0.0])
    assert core.status().mode == "stand"
    assert np.abs(core.step(feedback()) - first).max() < 0.05


def test_the_thesis_has_21_cases_and_its_table_stands_beside_ours():
    trials = campaign_trials(range(7))
    assert len(trials) == 21 * 7
    rows = thesis()
    run = {
        "case": "C",
        "engine": "mujoco",
        "seed": 0,
        "x_m": 3.01,
        "y_m": 0.004,
        "turn_deg": 0.0,
        "seconds": 90.0,
        "cost": 1.234,
        "fell": False,
    }
    table = campaign_table([run, {**run, "engine": "bullet", "x_m": 2.99}])
    assert re.search(r"\| mujoco +\| 3\.010 .*\n.*\| bullet +\| 2\.990 ", table)
    assert "1.23 ±" in table and f"{rows['distances']['C']['bullet'][0]:.2f}" in table
    assert math.isnan(
        summarise([{**RAN, **vars(Trial(0.0, 90.0, 0.5, 0)), "cost": math.nan}])["mean_cost_of_transport"]
    )
    with pytest.raises(SettingsError, match="either a distance, ahead or aside, or an angle"):
        Trial(1.0, 90.0, 0.1, 0)
    assert main(["--distance", "1"]) == 2


def test_each_row_of_the_matrix_is_compared_with_what_is_required_of_it(tmp_path, monkeypatch, capsys):
    trials = matrix_trials(range(1000, 1040))
    speeds = {name: trial.speed for name, trial in trials}
    assert len(speeds) == 15 and speeds["360° at 60°/s"] == pytest.approx(math.radians(60.0))
    measured = {"odometry_error_m": 0.021, "height_range_m": 0.008, "seconds": 9.0, "fell": False, "arrived": True}
    measured["cost"] = 0.75
    good = [
        {
            "case": name,
            **vars(trial),
            **measured,
            "x_m": trial.distance,
            "y_m": trial.aside,
            "turn_deg": trial.angle_deg,
        }
        for name, trial in trials
    ]
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: matrix -->\n<!-- end: matrix -->\n")

    def returned(changes):
        runs = [{**run, **changes.get(index, {})} for index, run in enumerate(good)]
        monkeypatch.setattr(experiment_cli, "run_matrix", lambda *given: runs)
        return main(["--matrix", "--write", str(page)])

    pushed = next(index for index, run in enumerate(good) if run["push"])
    assert returned({pushed: {"fell": True}, pushed + 1: {"fell": True}}) == 0, "95 %"
    assert "360° at 60°/s" in page.read_text() and "| 0.75 " in page.read_text()
    assert returned({pushed + k: {"fell": True} for k in range(3)}) == 1 and "| falls 2 " in capsys.readouterr().out
    assert returned({0: {"fell": True}}) == 1
    assert returned({3: {"y_m": -0.016}}) == 1 and "| aside, mm 15 " in page.read_text()
    assert returned({40: {"arrived": False}}) == 1 and "| not arrived 0 " in page.read_text()


def test_the_bench_measures_every_situation_and_refuses_a_time_of_none(tmp_path, capsys):
    file = tmp_path / "bench.json"
    assert bench(["--seconds", "0.3", "--json", str(file)]) in (0, 1)
    found = json.loads(file.read_text())
    assert [row["situation"] for row in found["rows"]] == list(SITUATIONS)
    assert all(0.0 < row["engine_p50_us"] <= row["engine_p99_us"] for row in found["rows"])
    row = {"engine_p50_us": 99.0, "times_real_time": 12.1}
    assert fast_enough([row]) and not fast_enough([row, {**row, "engine_p50_us": 101.0}])
    assert not fast_enough([{**row, "times_real_time": 11.9}])
    for seconds in ("0", "nan"):
        assert bench(["--seconds", seconds]) == 2
    assert "give 0.1 .. 3600 s" in capsys.readouterr().err


def test_the_force_sensors_tell_the_engine_what_its_soles_feel():
    robot, felt = Robot(contacts="cells"), []
    step = robot.core.step
    robot.core.step = lambda feedback: felt.append(feedback.wrenches) or step(feedback)
    for _ in range(100):
        true = robot.state.contacts.foot_wrench
        robot.tick()
    assert felt[-1][:, 2] == pytest.approx(true[:, 2], abs=0.3) and (true[:, 2] > 20.0).all()
    assert felt[-1][:, 4] == pytest.approx(true[:, 4], abs=0.02) and (true[:, 4] < -0.5).all()
    # pressure is some mm further in than the inner sensors, which then carry it all
    assert felt[-1][:, 3] == pytest.approx(true[:, 3], abs=0.06) and (abs(true[:, 3]) > 0.5).all()
    assert (felt[-1][:, [0, 1, 5]] == 0.0).all()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--distance 1 --speed 5", "speed, ahead, is 5.0; give a number from 0.01 to 0.25 m/s"),
        ("--distance -1 --speed 0.2", "speed, back, is 0.2; give a number from 0.01 to 0.15 m/s"),
        ("--aside 1 --speed 0.2", "speed, sideways, is 0.2; give a number from 0.01 to 0.1 m/s"),
        ("--angle 90 --speed 30", "speed, turning, is 30.0; give a number from 0.01 to 1.05 rad/s"),
        ("--distance 1 --speed nan", "speed is nan; give a finite number"),
        ("--distance nan --speed 0.1", "distance is nan; give a number from -100 to 100 m"),
        ("--angle inf --speed 0.1", "angle_deg is inf; give a number from -3600 to 3600 deg"),
        ("--distance 1 --speed 0.1 --push nan", "push is nan; give a number from 0 to 1000 N"),
        ("--distance 1 --speed 0.1 --plates -0.005", "plates is -0.005; give a number from 0 to 0.1 m"),
        ("--distance 1 --speed 0.1 --plates nan", "plates is nan"),
        ("--distance 1 --speed 0.1 --slope 60", "slope_deg is 60.0; give a number from 0 to 45 deg"),
        ("--matrix --push 30", "--matrix does not look at --push; leave --push out, or --matrix"),
        ("--get-up --distance 1", "--get-up does not look at --distance"),
        ("--distance 1 --speed 0.1 --write page.md", "--write is for --campaign and --matrix"),
    ],
)
def test_what_cannot_be_walked_or_would_be_ignored_is_refused(words, sentence, capsys):
    assert main(words.split()) == 2
    assert sentence in capsys.readouterr().err


def test_what_the_simulator_refuses_is_a_sentence(monkeypatch, capsys):
    def refuse(trial):
        raise CommandError("a push of nan N is refused")

    monkeypatch.setattr(experiment_cli, "run_trial", refuse)
    assert main(["--distance", "1", "--speed", "0.1"]) == 2
    assert capsys.readouterr().err.endswith("error: a push of nan N is refused\n")


@pytest.mark.parametrize(
    ("words", "module", "name"),
    [
        ("--distance 0.5 --speed 0.1", experiment_cli, "run_trial"),
        ("--get-up", experiment_cli, "run_get_up"),
        ("--calibrate", calibration, "run_trial"),
    ],
)
def test_after_ctrl_c_the_same_command_goes_on_and_the_report_has_every_run(words, module, name, tmp_path, monkeypatch):
    seeds = []

    def played(case):
        seeds.append(case.seed)
        if len(seeds) == 2:
            raise KeyboardInterrupt
        return {**vars(case), **RAN, "push_N": 0.0, "push_deg": 0.0}

    monkeypatch.setattr(module, name, played)
    given = [*words.split(), "--seeds", "5:7", "--out", str(tmp_path)]
    assert main(given) == 130
    assert len(list(tmp_path.glob("*.jsonl"))) == 1
    assert main(given) == 0
    assert seeds[:3] == [5, 6, 6], "seed 5 is not repeated"
    (file,) = tmp_path.glob("*.json")
    found = json.loads(file.read_text())
    assert not list(tmp_path.glob("*.jsonl"))
    if "--calibrate" in words:
        assert found["odometry_scale"] == pytest.approx(parameters().odometry_scale)
        return
    assert all(run["path"] == RAN["path"] for run in found["runs"])
    assert "path" not in next(tmp_path.glob("*.csv")).read_text()
    assert [run["seed"] for run in found["runs"]] == [5, 6] and found["summary"]["runs"] == 2
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".json", ".md", ".html", ".png"}
    assert "| mean " in next(tmp_path.glob("*.md")).read_text()
