# SPDX-License-Identifier: MIT
"""Sweep over the design and cost of transport: cases, figures of a run, table, picture, command line."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from PIL import Image

from robot_evaluation.metrics import cost_of_transport, mechanical_power
from shellbot_chain.chain import Chain
from shellbot_evaluation import sweep_cli, transport_experiment
from shellbot_evaluation.experiment_cli import main as experiment
from shellbot_evaluation.sweep_experiment import NAN, PARAMETERS, Case, conditions
from shellbot_evaluation.transform_experiment import Watch


def row(case):
    good = case.parameter != "stall torque"
    return {
        **vars(case),
        "label": case.label,
        **dict.fromkeys(("closes", "transforms", "rights", "success"), good),
        "both_s": 21.0 if good else NAN,
        "upright_s": 2.0 + case.seed if good else NAN,
        "roll_m_s": 0.5,
        "tilt_deg": 1.0,
        "clamped_s": 0.1,
    }


def test_a_seed_changes_one_value_at_a_time():
    cases = conditions(3)
    assert len(cases) == 1 + sum(len(parameter.values) - 1 for parameter in PARAMETERS.values())
    assert len({case.label for case in cases}) == len(cases)
    changes = [PARAMETERS[case.parameter].changes(case.value) for case in cases[1:]]
    assert all(len(change) == 1 for change in changes)
    assert {"design": {"fan_drive.reduction": 24 / 42}} in changes
    assert {"torque_scale": 0.6} in changes
    assert {"command_latency": 6} in changes
    assert cases[0].label == "as adopted"
    assert all(parameter.changes(parameter.adopted) == {} for parameter in PARAMETERS.values())


def test_every_changed_robot_can_be_built():
    for case in conditions(0)[1:]:
        Chain(seed=None, record=False, **PARAMETERS[case.parameter].changes(case.value))


def test_the_table_has_a_line_a_value_and_the_picture_is_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sweep_cli, "SWEEP", dataclasses.replace(sweep_cli.SWEEP, execute=row))
    picture, file = tmp_path / "deep" / "sweep.png", tmp_path / "sweep.json"
    assert (
        experiment(["sweep", "--seeds", "2", "--json", str(file), "--picture", str(picture), "--out", str(tmp_path)])
        == 1
    )  # not all reached
    said = capsys.readouterr().out
    lines = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")] for line in said.splitlines()[2:22]}
    assert lines["as adopted"][2:5] == ["2 of 2", "2 of 2", "21.0"]
    assert lines["as adopted"][-2] == "2.5"  # the median over the seeds
    assert lines["stall torque 60 %"][2:5] == ["0 of 2", "0 of 2", "–"]
    assert "Closed, opened and righted itself: 36 of 40 runs." in said
    assert len(json.loads(file.read_text())["runs"]) == 40
    with Image.open(picture) as image:
        assert image.size[0] > 1000


def test_some_parameters_can_be_swept_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sweep_cli, "SWEEP", dataclasses.replace(sweep_cli.SWEEP, execute=row))
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: sweep_only -->\n<!-- end: sweep_only -->\n", encoding="utf-8")
    given = ["sweep", "--seeds", "2", "--only", "slope", "foot frame", "--out", str(tmp_path), "--write", str(page)]
    assert experiment(given) == 0
    capsys.readouterr()
    table = page.read_text(encoding="utf-8")
    assert [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("|")][2:] == [
        "slope 8 steps",
        "slope 32 steps",
        "foot frame 2.082 mm",
        "foot frame 4.082 mm",
    ]
    assert "--only slope 'foot frame'" in table
    with pytest.raises(SystemExit):
        experiment(["sweep", "--only", "torque"])
    assert "choose from" in capsys.readouterr().err


def test_a_weak_servo_counts_as_clamped_at_its_own_limit():
    chain = Chain(seed=None, torque_scale=0.6, record=False)
    chain.run(0.1)
    femur = chain.joint_names.index("lower_2_femur")
    goal = chain.simulator.applied_command
    goal[femur] += 0.5
    watch = Watch(chain)
    for _ in range(3):
        chain.robot.apply = lambda _: chain.simulator.command(goal)
        watch.tick()
    assert watch.clamped_s >= 0.02
    assert watch.clamped_joint == "lower_2_femur"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_electrical_power_is_the_bridges_fraction_times_the_motors_current(sign):
    chain = Chain(seed=None)
    chain.run(0.05)
    trace = chain.trace()
    names = list(trace.joint_names)
    effort, velocity = np.zeros((2, trace.t.size, len(names)))
    femur, fans = names.index("lower_1_femur"), [i for i, name in enumerate(names) if name.endswith("_fan")]
    effort[:, femur], velocity[:, femur] = sign * 0.5 * chain.limits.effort[femur], sign * 0.25 * 10.158
    effort[:, fans] = chain.limits.effort[fans]
    trace = dataclasses.replace(trace, step_effort=effort[:, None], step_velocity=velocity[:, None])
    power = transport_experiment.electrical_power(trace, chain)
    idle, stalled_fan, femur_a = 31 * 0.05, 1.5, 0.5 * (0.5 - 0.25) * 2.2  # one motor stalls behind six fans
    assert power == pytest.approx(12.0 * (idle + stalled_fan + femur_a), rel=1e-3)
    assert mechanical_power(trace) == pytest.approx(abs(effort[0, femur] * velocity[0, femur]))
    assert math.isnan(cost_of_transport(trace, 3.8, power))  # it stood


def test_rolling_a_metre_costs_less_than_walking_it():
    def run(seed, motion, speed):
        cases = transport_experiment.conditions(seed)
        return transport_experiment.execute(
            next(c for c in cases if (c.motion, c.commanded_m_s) == (motion, speed)),
        )

    walks, rolls = run(0, "walks", 0.2), [run(seed, "rolls", 0.8) for seed in range(3)]
    assert walks["success"] and all(each["success"] for each in rolls)
    # the middle one of three: a ball that has to be kicked loose first is late
    assert sorted(each["speed_m_s"] for each in rolls)[1] > 3.0 * walks["speed_m_s"]
    assert 0.0 < sorted(each["cost"] for each in rolls)[1] < 0.6 * walks["cost"]


def test_labels_carry_their_unit():
    assert Case(0, "latency", 20.0).label == "latency 20 ms"
    assert Case(0, "fan gear", 24 / 42).label == "fan gear 0.5714"
