# SPDX-License-Identifier: MIT
"""An operator who does anything at any time: no joint jumps, nothing overlaps, no action hangs."""

from __future__ import annotations

import numpy as np
import pytest
from action_echo import EchoRobot

from shellbot_action_manager.actions.performance import Cancel
from shellbot_action_manager.core import ActionManagerCore
from shellbot_common import TICK

JUMP = 0.2  # rad in a tick
STRAIGHT = 0.5  # rad: a knee as straight as this turns faster for the same motion of the foot
HANGS = 15.0  # s without any progress
OVERLAP = 1e-3  # m
MODES = ("hexapod", "hexapod", "stand", "sit")
WHAT = ("twist", "twist", "pose", "shells", "gait", "perform", "perform", "pause", "resume", "cancel", "undo", "lost")
WHAT = (*WHAT, "found", "mode", "foot", "nan")


class RandomOperator:
    """Does something about every half second."""

    def __init__(self, robot, rng):
        self.robot, self.rng = robot, rng
        self.held = {"twist": np.zeros(3), "lost_legs": (), "gait": ""}

    def act(self):
        core, rng = self.robot.core, self.rng
        what = str(rng.choice(WHAT))
        if what == "twist":
            self.held["twist"] = rng.uniform(-1.0, 1.0, 3) * [0.5, 0.4, 1.2] * rng.choice([0.0, 1.0, 3.0])
        elif what == "nan":
            self.held["twist"] = np.full(3, np.nan)
        elif what == "pose":
            self.held["body_pose"] = rng.uniform(-1.0, 1.0, 6) * [0.06, 0.06, 0.05, 0.3, 0.3, 0.4]
        elif what == "shells":
            self.held["upper_shells"] = None if rng.random() < 0.3 else rng.uniform([0.03, -0.2], [0.11, 0.7])
        elif what == "gait":
            self.held["gait"] = str(rng.choice([*core.gaits, "moonwalk"]))
        elif what in ("lost", "found"):
            self.held["lost_legs"] = (int(rng.integers(1, 7)),) if what == "lost" else ()
        elif what == "foot":
            self.held["foot_velocity"] = rng.uniform(-0.2, 0.2, 3)
        elif what == "mode":
            core.request_mode(str(rng.choice(MODES)))
        elif what == "perform":
            self.perform()
        elif what in ("pause", "resume"):
            core.performer.pause(what == "pause")
        else:
            {"cancel": lambda: core.performer.cancel(rng.choice(list(Cancel))), "undo": core.performer.undo}[what]()

    def perform(self):
        rng, actions = self.rng, self.robot.core.config.actions.actions
        name = str(rng.choice(sorted(actions)))
        given = {}
        for key, parameter in actions[name].parameters.items():
            value = rng.uniform(parameter.low, min(parameter.high, parameter.low + 6.0))
            given[key] = float(round(value) if parameter.is_whole else value)
        self.robot.core.perform(name, given, float(rng.uniform(0.3, 1.0)))


@pytest.mark.parametrize("seed", range(8))
def test_nothing_jumps_overlaps_or_hangs(seed):
    core, rng = ActionManagerCore.from_description(), np.random.default_rng(seed)
    robot = EchoRobot(core, "stand")
    robot.pose = np.zeros(3)
    robot.until("hexapod")
    operator, before, progress, since, fastest = RandomOperator(robot, rng), robot.q.copy(), None, 0.0, 0.0
    for i in range(round(40.0 / TICK)):
        if rng.random() < 0.02:
            operator.act()
        times = {"twist_time": robot.t + TICK, "foot_velocity_time": robot.t + TICK}
        out = robot.tick(**operator.held, **times)
        knees = np.minimum(robot.q[3:24:4], before[3:24:4]) < STRAIGHT
        by = np.abs(robot.q - before)[:24].reshape(6, 4)[~knees]
        assert by.max(initial=0.0) < JUMP and np.abs(robot.q - before)[24:].max() < JUMP, f"at {robot.t:.2f} s"
        before, fastest = robot.q.copy(), max(fastest, by.max(initial=0.0))
        if i % 5 == 0 and not operator.held["lost_legs"]:
            depth, text = core.geometry.overlap(robot.q)
            assert depth < OVERLAP, f"{text} at {robot.t:.2f} s, mode {out.mode.name} {out.mode.step}"
        status = core.performer.status
        runs = core.performer.active and status is not None and not status.paused
        now = (status.step, status.phase, status.progress) if runs else None
        if now is None or now != progress:
            progress, since = now, robot.t
        assert robot.t - since < HANGS, status
    assert fastest > 0.02, "it did move"
