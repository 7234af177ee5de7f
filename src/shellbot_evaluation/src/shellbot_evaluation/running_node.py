# SPDX-License-Identifier: MIT
"""The robot that runs over ROS as the robot of an experiment: ``scripts/experiment NAME --running``."""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Dict, Iterable, Tuple, Type

from robot_evaluation.errors import EvaluationError
from robot_evaluation.running_robot_node import begin_node, loaded_robot
from robot_evaluation.running_trace_node import RunningTrace
from robot_evaluation.trace import Trace
from shellbot_chain.errors import MissionFailed
from shellbot_client.link import run_mission
from shellbot_client.mission import REST_POSE, ZERO_TWIST, Mission
from shellbot_client.phases import stand_up
from shellbot_client.ros_link_node import RosLink
from shellbot_control import JointLimits

from . import mission_experiment, transform_experiment
from .experiments import Run
from .plans import MissionPlan
from .runner import Body, RunResult, mission_result, speed_result
from .seeded_runs import OVER_ROS

_START = "start the robot, such as scripts/sim"
_GAIT_S = 5.0  # of simulated time, for a gait to be in use
_AFTER_S = 0.1  # until every topic has brought the end of a run


class RunningShellbot:
    """Does one run after the other, each from where the one before has ended.

    Raises
    ------
    SettingsError, EvaluationError
        If there is no ROS master, no Shellbot, or nothing comes of it.
    """

    def __init__(self) -> None:
        begin_node(_START)
        urdf, profile, mass = loaded_robot(_START)
        self._body = Body(JointLimits.from_urdf(urdf, profile.joint_names), mass)
        self._link, self._topics = RosLink(), RunningTrace(profile.joint_names)

    def run(self, run: Run, gait: str) -> RunResult:
        """Return the result of a case, as `runner.execute`; its seed only counts repetitions."""
        case = run.case
        head: Dict[str, object] = {
            "experiment": run.experiment, "case": case.name, "kind": case.kind, "simulator": OVER_ROS,
            "seed": run.seed, "success": True,
        }  # fmt: skip
        try:
            self._begin(case.gait or gait)
            if case.kind != "speed":
                mission = Mission(case.phases())
                run_mission(self._link, mission)
                return mission_result(head, mission, self._trace(), self._body)
            run_mission(self._link, Mission((stand_up(),)))
            speed, (forward, left) = case.values["speed_m_s"], case.direction()
            begin = self._link.observe().t
            self._hold((speed * forward, speed * left, 0.0), case.values["duration_s"])
            end = self._link.observe().t
            return speed_result(head, speed, self._trace().window(begin, end), self._body)
        except EvaluationError as error:
            return RunResult({**head, "success": False, "message": str(error)}, None)
        finally:
            self._link.command(ZERO_TWIST, REST_POSE)

    def plan(self, case: mission_experiment.Conditions, plan: Type[MissionPlan]) -> Dict[str, Any]:
        """Return the row of a mission or a course, as `mission_experiment.execute`; of the case the bearing counts."""
        mission = mission_experiment.planned(case, plan)
        head = {"seed": case.seed, "bearing_deg": case.bearing_deg, "speed_m_s": case.speed_m_s}
        gait, goals = str(case.changes["gait"]), mission_experiment.GOALS
        return {**head, **self._row(mission, goals, mission_experiment.scored, gait)}

    def transform(self, case: transform_experiment.Conditions) -> Dict[str, Any]:
        """Return the row of a closing and an opening, as `transform_experiment.execute`, without what no topic has."""
        mission = Mission(transform_experiment.phases())
        scored = functools.partial(transform_experiment.scored, effort_limit=self._body.limits.effort)
        return {"seed": case.seed, **self._row(mission, transform_experiment.GOALS, scored)}

    def _row(
        self, mission: Mission, goals: Iterable[str], scored: Callable[[Mission, Trace], Dict[str, Any]], gait: str = ""
    ) -> Dict[str, Any]:
        """Return what a mission gave; a run that did not begin, or whose topics ended, has failed without figures."""
        row: Dict[str, Any] = {"tries": 0, "message": ""}
        try:
            self._begin(gait)
            row = mission_experiment.drive(self._link, mission)
            return {**row, **scored(mission, self._trace())}
        except EvaluationError as error:
            figures = dict.fromkeys(goals, math.nan)
            return {**figures, **row, "success": False, "message": row["message"] or str(error)}
        finally:
            self._link.command(ZERO_TWIST, REST_POSE)

    def _begin(self, gait: str) -> None:
        self._topics.forget()
        if gait and self._link.gait != gait:
            self._link.set_gait(gait)
            self._hold(ZERO_TWIST, _GAIT_S, gait)
            if self._link.gait != gait:
                raise MissionFailed(f"gait '{gait}' is not in use after {_GAIT_S:g} s; the mode: {self._link.text}")

    def _hold(self, twist: Tuple[float, float, float], seconds: float, gait: str = "") -> None:
        """Command a velocity for a time, or until a gait is in use."""
        end = self._link.observe().t + seconds
        while self._link.observe().t < end and (not gait or self._link.gait != gait):
            self._link.command(twist, REST_POSE)
            self._link.tick()

    def _trace(self) -> Trace:
        self._hold(ZERO_TWIST, _AFTER_S)
        return self._topics.trace()
