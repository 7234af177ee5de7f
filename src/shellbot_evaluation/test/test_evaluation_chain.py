# SPDX-License-Identifier: MIT
"""The chain in one process: repeatable, with the wire's latency, and walking as well as was asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shellbot_chain.chain import Chain
from shellbot_chain.errors import ChainError, DefinitionError, MissionFailed
from shellbot_chain.trace import Trace
from shellbot_evaluation.experiment_cli import main
from shellbot_evaluation.experiments import Run, make_case
from shellbot_evaluation.mission import Mission, MissionState
from shellbot_evaluation.phases import DemoPlan
from shellbot_evaluation.runner import execute, execute_all, run_mission


def short_walk(chain: Chain) -> Trace:
    chain.stand_up()
    chain.walk((0.15, 0.0, 0.1), seconds=1.0)
    return chain.trace()


@pytest.fixture(scope="module")
def reference() -> Trace:
    return short_walk(Chain(seed=3, friction=0.8))


def test_same_seed_gives_identical_numbers(reference):
    again = short_walk(Chain(seed=3, friction=0.8))
    for name in ("t", "p_world_base", "joint_position", "joint_target", "odom", "contact_truth"):
        np.testing.assert_array_equal(getattr(again, name), getattr(reference, name))


def test_reset_gives_the_numbers_of_a_new_chain(reference):
    chain = Chain(seed=7, friction=0.8)
    short_walk(chain)
    chain.reset(seed=3)
    np.testing.assert_array_equal(short_walk(chain).p_world_base, reference.p_world_base)


@pytest.mark.parametrize("change", [{"seed": 4, "friction": 0.8}, {"seed": 3, "friction": 0.6}])
def test_another_seed_or_friction_gives_another_run(reference, change):
    other = short_walk(Chain(**change))
    assert not np.array_equal(other.p_world_base[-1], reference.p_world_base[-1])


def test_command_of_a_tick_acts_one_tick_later():
    chain, sent = Chain(seed=0), []
    for _ in range(120):
        chain.tick()
        sent.append(None if chain.filter.applied is None else chain.filter.applied.copy())
    assert sent[0] is not None and np.abs(sent[60] - sent[59]).max() > 1e-6, "the robot should be standing up"
    applied = chain.trace().joint_target
    for k in range(60, 119):
        np.testing.assert_array_equal(applied[k + 1], sent[k])


def test_robot_keeps_standing_when_the_operator_falls_silent():
    chain = Chain(seed=0)
    chain.stand_up()
    chain.command_twist((0.15, 0.0, 0.0))
    chain.run(3.0)
    mark = chain.state.p_world_base[:2].copy()
    chain.run(1.0)
    assert 0.02 < np.linalg.norm(mark) < 0.2, "walked on until the command was half a second old"
    assert np.linalg.norm(chain.state.p_world_base[:2] - mark) < 1e-3


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


def test_demo_runs_in_the_chain_as_it_does_on_the_wire():
    chain, mission = Chain(seed=5), Mission(DemoPlan(forward_m=0.2, sideways_m=0.1, turn_deg=20.0).phases())
    run_mission(chain, mission)
    assert mission.state is MissionState.SUCCEEDED
    assert [record.phase.name for record in mission.records][-2:] == ["tilt", "level"]


def test_robot_that_is_stopped_does_not_stand_up_and_it_is_said_why():
    chain = Chain(seed=0)
    chain.run(0.1)
    chain.manager.emergency_stop(chain.time)
    with pytest.raises(MissionFailed, match="not standing after 2 s: mode stopped.*call the service rearm"):
        chain.stand_up(limit_s=2.0)


def test_unusable_arguments_are_refused():
    with pytest.raises(DefinitionError, match="friction is nan"):
        Chain(friction=math.nan)
    with pytest.raises(DefinitionError, match="gallop"):
        Chain(gait="gallop")
    with pytest.raises(DefinitionError, match="variant.*biped|biped.*variant"):
        Chain(variant="biped")
    with pytest.raises(DefinitionError, match="seed is -1"):
        Chain(seed=-1)
    with pytest.raises(DefinitionError, match="give seconds or until"):
        Chain(seed=0).walk((0.1, 0.0, 0.0))
    with pytest.raises(ChainError, match="does not record"):
        Chain(record=False).trace()


def test_results_do_not_depend_on_the_number_of_processes():
    case = make_case("short", {"kind": "walk", "distance_m": 0.1, "speed_m_s": 0.15})
    runs = [Run("test", case, seed, 0.8) for seed in (0, 1)]
    alone = {result.run.seed: result.row for result in execute_all(runs, 1)}
    pair = {result.run.seed: result.row for result in execute_all(runs, 2)}
    assert alone == pair and alone[0]["walked_m"] != alone[1]["walked_m"]


DEFINITIONS = """
tiny:
  cases:
    step: {kind: walk, distance_m: 0.1, speed_m_s: 0.15}
    dash: {kind: speed, speed_m_s: 0.2, duration_s: 4.0}
  limits: {height_deviation_mm: LIMIT}
"""


def test_command_line_writes_its_files_and_its_status_tells_whether_limits_were_kept(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: tiny -->\n<!-- end: tiny -->\n")
    for limit, status in (("50.0", 0), ("0.0001", 1)):
        (tmp_path / "tiny.yaml").write_text(DEFINITIONS.replace("LIMIT", limit))
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
    assert "| step | height_deviation_mm | at most 0.0001 |" in page.read_text()
    assert Trace.load(tmp_path / "out" / "tiny_step_seed0.npz").t.size > 100
    assert main(["absent"]) == 2
    assert "there is no experiment 'absent'; choose from walk, turn, speed or all" in capsys.readouterr().err
