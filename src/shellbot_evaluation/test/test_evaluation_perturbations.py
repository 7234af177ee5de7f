# SPDX-License-Identifier: MIT
"""What runs draw by their seed, and the course, whose plan is a mission with a turn."""

from __future__ import annotations

import numpy as np
import pytest

from robot_evaluation.errors import DefinitionError
from shellbot_chain.chain_config import ChainConfig
from shellbot_common import package_file
from shellbot_common.yaml_file import read_yaml
from shellbot_evaluation.engines_experiment import SERVOS
from shellbot_evaluation.experiment_cli import main as experiment
from shellbot_evaluation.experiments import Experiment, Run, make_case, plan_runs
from shellbot_evaluation.mission_cli import COURSE
from shellbot_evaluation.perturbations import Perturbations, chain_changes
from shellbot_evaluation.plans import CoursePlan
from shellbot_evaluation.runner import execute

STEP = make_case("step", {"kind": "walk", "distance_m": 0.2, "speed_m_s": 0.15})


def test_a_seed_draws_from_the_whole_range_and_always_the_same():
    drawn = Perturbations.parse(["mass_scale=0.9:1.1", "command_latency=0:3", "push_n=30"])
    values = [drawn.draw(seed) for seed in range(100)]
    assert min(v["mass_scale"] for v in values) < 0.91 and max(v["mass_scale"] for v in values) > 1.09
    assert {v["command_latency"] for v in values} == {0.0, 1.0, 2.0, 3.0}, "whole ticks"
    ticks = [drawn.draw(seed)["command_latency"] for seed in range(800)]
    assert min(ticks.count(tick) for tick in range(4)) > 160, "each as often as the others: 200 times"
    assert {v["push_n"] for v in values} == {30.0} and drawn.draw(7) == values[7]
    runs = plan_runs(Experiment("e", (STEP,), ()), (7,), (0.7, 1.0), drawn)
    assert [run.drawn for run in runs] == [values[7]]


def test_what_a_key_draws_does_not_depend_on_the_others():
    texts = ["mass_scale=0.9:1.1", "torque_scale=0.8:1.0", "command_latency=0:3"]
    drawn = Perturbations.parse(texts).draw(3)
    assert Perturbations.parse(texts[::-1]).draw(3) == drawn
    assert Perturbations.parse(texts[1:2]).draw(3) == {"torque_scale": drawn["torque_scale"]}
    fractions = [Perturbations.parse(["mass_scale=0.9:1.1", "torque_scale=0.8:1.0"]).draw(s) for s in range(200)]
    both = np.corrcoef([row["mass_scale"] for row in fractions], [row["torque_scale"] for row in fractions])
    assert abs(both[0, 1]) < 0.25, "two keys are no copies of each other"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("weight=2", "there is no 'weight'; choose from mass_scale, "),
        ("mass_scale", "is no number or range; write e.g. mass_scale=0.9:1.1"),
        ("mass_scale=1.1:0.9", "is no number or range"),
        ("torque_scale=0:1", "torque_scale is 0.0; give a number from 0.1 to 2"),
        ("mass_scale=-1", "mass_scale"),
        ("push_n=-5", "is no number or range"),
        ("servo_backlash_deg=0:9", "servo_backlash_deg is 9.0; give a number from 0 to 5 deg"),
        ("supply_voltage=-12", "supply_voltage is -12.0; give a number from 1 to 60 V"),
        ("imu_latency=0.2:3", "give whole ticks of 10 ms, such as imu_latency=0:3"),
    ],
)
def test_a_perturbation_that_cannot_be_is_refused_before_the_first_run(text, message):
    with pytest.raises(DefinitionError, match=message):
        Perturbations.parse([text])


def test_servos_supply_and_noise_reach_the_simulator():
    drawn = Perturbations.parse(
        ["servo_backlash_deg=0.3", "supply_voltage=10.5", "gyroscope_std=0.01", "mass_scale=1.1"]
    )
    physics = ChainConfig().replace(**chain_changes(drawn.draw(1))).physics()
    assert (physics.servo_backlash_deg, physics.supply_voltage) == (0.3, 10.5)
    assert (physics.gyroscope_std, physics.mass_scale) == (0.01, 1.1)


def test_the_shipped_servos_are_those_of_the_table():
    """A file that users copy, and the row "all of them" of docs/simulators.md."""
    file = package_file("shellbot_simulator", "config/servos_ax12a.yaml")
    assert read_yaml(file) == SERVOS["all of them"]


def test_what_would_not_act_is_refused(tmp_path, capsys):
    with pytest.raises(DefinitionError, match="--perturb has mass_scale twice; leave one"):
        Perturbations.parse(["mass_scale=1", "mass_scale=1.1"])
    command = ["walk", "--terrain", "slope", "--out", str(tmp_path), "--perturb"]
    for key in ("slope_deg", "slope_azimuth_deg"):
        assert experiment([*command, f"{key}=5"]) == 2
        assert f"--terrain slope has a slope of its own; leave out {key}, or the terrain" in capsys.readouterr().err


def test_a_run_by_time_is_not_pushed():
    dash = make_case("dash", {"kind": "speed", "speed_m_s": 0.2, "duration_s": 4.0})
    with pytest.raises(DefinitionError, match="'e' runs by time, without pushes; leave out push_n"):
        plan_runs(Experiment("e", (dash,), ()), (1,), (0.7, 1.0), Perturbations.parse(["push_n=5"]))


def test_a_push_and_a_slope_reach_the_robot_and_stand_in_its_row():
    calm = execute(Run("e", STEP, 0, 0.8)).row
    pushed = execute(Run("e", STEP, 0, 0.8, {"push_n": 60.0})).row
    uphill = execute(Run("e", STEP, 0, 0.8, {"slope_deg": 8.0})).row
    on_ice = execute(Run("e", STEP, 0, 0.8), ChainConfig(terrain="ice")).row
    assert (calm["friction"], on_ice["friction"]) == (0.8, 0.15)
    assert pushed["push_n"] == 60.0 and "push_n" not in calm
    assert pushed["max_tilt_deg"] > 2.0 * calm["max_tilt_deg"], "pushed"
    assert uphill["electrical_cost"] > 1.02 * calm["electrical_cost"] > calm["cost_of_transport"] > 0.5
    fallen = execute(Run("e", STEP, 0, 0.8, {"push_n": 400.0}))
    assert not fallen.row["success"] and "the robot left mode hexapod" in fallen.row["message"]
    assert "walked_m" not in fallen.row and calm["success"]
    assert fallen.trace.t[-1] - fallen.trace.t[0] > 0.5, "from the start of the motion to its end"


def test_the_course_turns_between_walk_and_ball():
    plan = CoursePlan(roll_deg=30.0)
    assert [phase.name for phase in plan.phases()][1:] == ["walk out", "turn", "close", "roll", "open", "walk on"]
    assert (plan.walk_m, plan.roll_m, plan.roll_deg) == (1.0, 2.0, 30.0)
    assert list(COURSE.columns)[3:6] == ["walk out", "turn", "close"]
