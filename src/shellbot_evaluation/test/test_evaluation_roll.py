# SPDX-License-Identifier: MIT
"""The mission with the ball: the phase that rolls, the scores of the parts, the film's file, the command line."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from PIL import Image

from robot_evaluation.errors import DefinitionError
from robot_evaluation.planar import PlanarPath
from shellbot_chain.errors import MissionFailed
from shellbot_client.mission import Mission, MissionState, Observation, PhaseRecord
from shellbot_client.phases import GoTo, Roll, roll, stand_up
from shellbot_evaluation import mission_cli
from shellbot_evaluation.demo_params import DemoParams
from shellbot_evaluation.experiment_cli import main as experiment
from shellbot_evaluation.mission_experiment import conditions
from shellbot_evaluation.mission_film import SIZE, Reel
from shellbot_evaluation.parts import score_parts
from shellbot_evaluation.plans import MissionPlan
from shellbot_evaluation.seeded_runs import SeededRuns
from shellbot_evaluation.summary import make_summary, mission_table

DT = 0.01


class Ball:
    """Is in a mode a second after its request, and moves as commanded with a lag of 0.1 s."""

    def __init__(self):
        self.t, self.mode, self.target, self.ready_at = 0.0, "sit", "sit", 0.0
        self.pose, self.velocity = np.array([0.3, -0.2, 2.0]), np.zeros(2)
        self.modes = []

    def observe(self):
        vx, vy = self.velocity.tolist()
        return Observation(self.t, *self.pose.tolist(), self.mode, self.target, "", False, (vx, vy))

    def obey(self, command):
        if command.request_mode is not None:
            self.target, self.ready_at = command.request_mode, self.t + 1.0
        self.t += DT
        if self.mode != self.target and self.t >= self.ready_at:
            self.mode = self.target
            self.modes.append(self.mode)
        self.velocity += (np.array(command.twist[:2]) - self.velocity) * DT / 0.1
        c, s = math.cos(self.pose[2]), math.sin(self.pose[2])
        self.pose[:2] += DT * np.array([[c, -s], [s, c]]) @ self.velocity


def run(mission, ball, limit_s=200.0):
    events = []
    while mission.state is MissionState.RUNNING:
        assert ball.t < limit_s
        command = mission.step(ball.observe())
        events += [command.event] if command.event else []
        ball.obey(command)
    return events


def test_the_mission_walks_closes_rolls_to_the_point_opens_and_walks():
    ball, mission = Ball(), Mission(MissionPlan(roll_deg=-90.0).phases())
    events = run(mission, ball)
    assert [record.phase.name for record in mission.records] == [
        "stand",
        "walk out",
        "close",
        "roll",
        "open",
        "walk on",
    ]
    assert ball.modes == ["hexapod", "shell", "hexapod"]
    ahead, aside = np.array([math.cos(2.0), math.sin(2.0)]), np.array([math.sin(2.0), -math.cos(2.0)])
    assert ball.pose[:2] == pytest.approx(np.array([0.3, -0.2]) + 1.0 * ahead + 3.0 * aside, abs=0.1)
    for moment in ("walk out:half", "close:settled", "roll:half", "roll:settled", "open:settled", "walk on:half"):
        assert moment in events


def test_a_ball_that_leaves_its_mode_or_does_not_arrive_ends_the_mission_in_words():
    def rolling():
        ball, mission = Ball(), Mission((stand_up(), GoTo("close", 20.0, "shell"), roll("roll", 3.0, 0.5)))
        while not ball.velocity.any():
            ball.obey(mission.step(ball.observe()))
        return ball, mission

    ball, mission = rolling()
    ball.mode = ball.target = "hexapod"
    with pytest.raises(MissionFailed, match="left mode shell for 'hexapod' in phase 'roll'"):
        mission.step(ball.observe())
    ball, mission = rolling()
    with pytest.raises(MissionFailed, match=r"'roll' was not done within 55 s.*0\.\d\d of 3\.00 m by its odometry"):
        while True:
            mission.step(ball.observe())
            ball.t += DT


@pytest.mark.parametrize("changes", [{"distance_m": 0.0}, {"bearing_rad": 4.0}])
def test_unusable_rolls_are_refused(changes):
    with pytest.raises(DefinitionError):
        Roll("roll", 10.0, **changes)


def test_parts_are_scored_from_their_own_start_in_the_axes_of_odom():
    phases = MissionPlan().phases()
    records = [PhaseRecord(phase, 10.0 * i, 10.0 * i + 9.0, 10.0 * i + 10.0) for i, phase in enumerate(phases)]
    t = np.arange(0.0, 61.0, 10.0)
    own = np.array([[0, 0], [0, 0], [0.5, 0], [0.5, 0], [3.4, 0], [3.4, 0], [3.9, 0]])
    true = own + np.array([[0, 0], [0, 0], [0, 0], [0.02, 0], [0.02, 0.3], [0.02, 0.3], [0.02, 0.3]])
    R = np.array([[0.0, -1.0], [1.0, 0.0]])  # odom began at a yaw of 90 degrees, at another place; a ball has any yaw
    truth = PlanarPath(t, true @ R.T + (5.0, 6.0), np.array([1.0, 1.0, 1.0, 1.0, 7.0, -3.0, 1.0]) * math.pi / 2)
    parts = {part.name: part for part in score_parts(records, truth, PlanarPath(t, own, np.zeros(7)))}
    assert parts["close"].true_error_m == pytest.approx(0.02)
    rolled = parts["roll"]
    assert (rolled.start_s, rolled.duration_s) == (30.0, 10.0)
    assert rolled.own_error_m == pytest.approx(0.1)
    assert rolled.true_error_m == pytest.approx(math.hypot(0.1, 0.3))
    assert rolled.odometry_error_m == pytest.approx(0.3)
    assert parts["walk on"].true_error_m == pytest.approx(0.0)
    assert score_parts(records[:1], truth, truth) == []


def test_the_table_of_the_live_mission_has_a_line_for_each_part():
    names = [phase.name for phase in DemoParams(plan="mission").phases()[1:]]
    part = {"name": "walk out", "start_s": 3.0, "duration_s": 4.6, "own_error_m": 0.01, "true_error_m": 0.02}
    summary = make_summary({"walk out": part}, 1.0, 8.0, False, "it fell", [], [], names)
    text = " ".join(mission_table(summary, names).split())
    assert "| walk out | 3.0 | 4.6 | 0.010 | 0.020 |" in text
    assert "| walk on | – | – | – | – |" in text and "FAILED: it fell" in text
    with pytest.raises(DefinitionError, match="~plan is 'dance'; give tour or mission|plan is 'dance'"):
        DemoParams.from_mapping({"plan": "dance"}, "~")


def test_seeds_draw_from_the_whole_ranges():
    drawn = [conditions(seed) for seed in range(200)]
    assert all(0.5 <= case.friction <= 1.0 and abs(case.bearing_deg) <= 180.0 for case in drawn)
    assert max(abs(case.bearing_deg) for case in drawn) > 170.0
    assert min(case.friction for case in drawn) < 0.52
    assert conditions(3) == conditions(3)


def test_the_command_line_writes_runs_and_summary_and_judges(tmp_path, monkeypatch):
    def row(case):
        return {**vars(case), "success": True, "total_s": float(case.seed), "point_error_m": 0.05,
                "odometry_error_pct": 1.0, "message": ""}  # fmt: skip

    stub = SeededRuns(**{**vars(mission_cli.RUNS), "execute": row})
    monkeypatch.setattr(mission_cli, "RUNS", stub)
    path = tmp_path / "mission.json"
    assert experiment(["mission", "--seeds", "40:42", "--json", str(path), "--out", str(tmp_path)]) == 0
    summary = json.loads(path.read_text())["summary"]
    assert (summary["success"], summary["runs"], summary["median_s"], summary["worst_s"]) == (2, 2, 40.5, 41.0)
    assert (
        experiment(["mission", "--seeds", "60:62", "--json", str(path), "--out", str(tmp_path)]) == 1
    )  # 61 s is too slow


@pytest.mark.parametrize("size", [SIZE, (640, 480)])
def test_a_film_of_the_mission_shows_rolling_more_slowly_and_the_middle_of_any_camera(tmp_path, size):
    walk_out, _, rolls = MissionPlan().phases()[1:4]
    reel, picture = Reel(), np.zeros((size[1], size[0], 3), np.uint8)
    picture[:, size[0] // 2 - 20 : size[0] // 2 + 20] = 255
    taken = []
    for tick in range(200):
        t, phase = 5.0 + 0.01 * tick, walk_out if tick < 100 else rolls
        if reel.due(t):
            taken.append(tick)
            reel.add(t, 5.0, phase, "", picture)
    assert taken == [0, 40, 80, 120, 140, 160, 180]
    reel.save(tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == reel.count == len(taken)
        assert film.size[0] == 360 and film.size[1] in (299, 300)
        shown = np.asarray(film.convert("L"))[:281]
    assert shown[:, 170:190].min() > 200
    assert shown[:, :145].max() < 50 and shown[:, 215:].max() < 50
