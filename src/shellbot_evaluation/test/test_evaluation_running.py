# SPDX-License-Identifier: MIT
"""Runs with the robot over ROS that fail are rows of the table, and the others go on."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from robot_evaluation.trace import TopicRecorder
from shellbot_chain.errors import MissionFailed
from shellbot_client.mission import Observation
from shellbot_evaluation.mission_experiment import conditions
from shellbot_evaluation.plans import CoursePlan, MissionPlan
from shellbot_evaluation.running_node import RunningShellbot
from shellbot_evaluation.transform_experiment import conditions as closing


class Silent:
    """A robot that obeys no gait, and whose topics end after a time."""

    def __init__(self, ends: float) -> None:
        self.t, self._ends, self.gait, self.text, self.twist = 0.0, ends, "tripod", "it sits", None

    def observe(self) -> Observation:
        return Observation(self.t, 0.0, 0.0, 0.0, "sit", "sit")

    def tick(self) -> None:
        if self.t > self._ends:
            raise MissionFailed("no joint_states for 10 s")
        self.t += 0.1

    def set_gait(self, name: str) -> None:
        pass

    def request_mode(self, name: str):
        return False, "it is a picture"

    def command(self, twist, body_pose) -> None:
        self.twist = twist


def robot(ends: float) -> RunningShellbot:
    found = object.__new__(RunningShellbot)
    found._link, found._topics = Silent(ends), TopicRecorder(())
    found._body = SimpleNamespace(limits=SimpleNamespace(effort=()))
    return found


@pytest.mark.parametrize("plan", [MissionPlan, CoursePlan])
def test_a_gait_that_does_not_come_into_use_is_a_failed_row(plan):
    case = conditions(3)
    case.changes["gait"] = "wave"
    row = robot(math.inf).plan(case, plan)
    assert (row["seed"], row["success"], row["tries"]) == (3, False, 0) and math.isnan(row["total_s"])
    assert row["message"] == "gait 'wave' is not in use after 5 s; the mode: it sits"


def test_topics_that_end_are_a_failed_row():
    silent = robot(2.0)
    row = silent.transform(closing(3))
    assert (row["seed"], row["success"]) == (3, False) and math.isnan(row["to_shell_s"])
    assert row["message"] == "no joint_states for 10 s; the mode was: it sits"
    assert silent._link.twist == (0.0, 0.0, 0.0)
