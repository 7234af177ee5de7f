# SPDX-License-Identifier: MIT
"""A push during every step of closing and of opening, and whether the robot then stands up on request."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List

from robot_evaluation.errors import EvaluationError
from shellbot_action_manager.body.transform_path import load_transform
from shellbot_chain.chain import Chain
from shellbot_chain.errors import ChainError
from shellbot_common import TICK
from shellbot_common.rotations import tilt_from_quaternion
from shellbot_common.seed_streams import Stream, seeded

from . import transform_experiment
from .bus_runs import bus_figures
from .grouped_runs import GroupedRuns
from .perturbations import PUSH_S, rest_for_imu
from .seeded_runs import at_most
from .transform_experiment import Conditions, Watch, chain_of

LIMIT_S = 120.0  # to stand after the push
HELD_S = 1.0  # before the operator requests again
UPRIGHT_DEG = 6.0  # with its slope of 3 deg at most


@dataclass(frozen=True)
class Case(Conditions):
    """One run."""

    motion: str = "closing"  #: Or opening
    index: int = 0  #: Of the step, in the order of the motion
    push_n: float = 40.0  #: On the body, from a side by the seed

    @property
    def label(self) -> str:
        """Name of the line of the table."""
        steps = load_transform().steps
        return f"{self.motion}, {(steps if self.motion == 'closing' else steps[::-1])[self.index].name}"


def conditions(seed: int, push_n: float = 40.0) -> List[Case]:
    """Return the cases of a seed: as those of `transform`, once for every step of closing and of opening."""
    drawn, count = vars(transform_experiment.conditions(seed)), len(load_transform().steps)
    return [
        Case(**drawn, motion=motion, index=i, push_n=push_n) for motion in ("closing", "opening") for i in range(count)
    ]


def execute(case: Case) -> Dict[str, Any]:
    """Push the body in the middle of a step; then request to stand, or to recover, until the robot stands."""
    row: Dict[str, Any] = {**vars(case), "label": case.label, "success": False, "events": "", "message": ""}
    row.update(stands_s=math.nan, tilt_deg=math.nan)
    try:
        chain = chain_of(case)
        chain.stand_up()
        rest_for_imu(chain)
        if case.motion == "opening":
            _request(chain, "shell")
            _come_to_rest(chain, Watch(chain), "shell", [], chain.time + transform_experiment.LIMIT_S)
        goal = "shell" if case.motion == "closing" else "stand"
        _request(chain, goal)
        _reach_middle(chain, case)
        angle = seeded(case.seed, Stream.PUSH, case.motion == "opening", case.index).uniform(-math.pi, math.pi)
        chain.simulator.push((case.push_n * math.cos(angle), case.push_n * math.sin(angle), 0.0), PUSH_S)
        events: List[str] = []
        watch, pushed = Watch(chain), chain.time
        while chain.time < pushed + LIMIT_S:
            _come_to_rest(chain, watch, goal, events, pushed + LIMIT_S)
            if chain.mode == "stand":
                break
            for _ in range(round(HELD_S / TICK)):
                watch.tick()
            goal = "stand"
            _request(chain, "recover" if "request recover" in _text(chain) else goal)
        row.update(tilt_deg=watch.tilt_deg, events=", ".join(events) or "went on", message=_text(chain))
        row.update(bus_figures(chain))
        if chain.mode == "stand" and math.degrees(tilt_from_quaternion(chain.state.quat_world_base)) < UPRIGHT_DEG:
            row.update(success=True, stands_s=chain.time - pushed, message="")
    except EvaluationError as error:
        row["message"] = str(error)
    return row


def _text(chain: Chain) -> str:
    return chain.output.mode.text if chain.output is not None else ""


def _request(chain: Chain, mode: str) -> None:
    accepted, text = chain.request_mode(mode)
    if not accepted:
        raise ChainError(f"{mode} refused: {text}")


def _reach_middle(chain: Chain, case: Case) -> None:
    """Tick until half of the time that the path gives a step has passed in it."""
    config = load_transform()
    step = (config.steps if case.motion == "closing" else config.steps[::-1])[case.index]
    end = chain.time + transform_experiment.LIMIT_S
    while not _text(chain).startswith(f"{case.motion}, step {case.index + 1} of"):
        chain.tick()
        if chain.time > end:
            raise ChainError(f"{case.label} not reached: {_text(chain)}")
    chain.run(0.5 * sum(key[0] for key in step.keys) / config.speed)


def _come_to_rest(chain: Chain, watch: Watch, goal: str, events: List[str], end: float) -> None:
    """Tick until the robot rests in a mode; append once each what it does before its goal."""
    while chain.time < end:
        watch.tick()
        assert chain.output is not None
        for event, happens in (
            ("held", chain.mode == "halfway"),
            ("shut as it lay", "shuts as it lies" in chain.output.notice or chain.target == "shell" != goal),
            ("rolled upright", _text(chain).startswith("rolling upright")),
        ):
            if happens and event not in events:
                events.append(event)
        if chain.mode == chain.target and chain.step in ("", "rolling", "braking"):
            return


PUSHED = GroupedRuns(
    name="transform_pushed",
    what="a push in every step of closing and opening",
    description="",  # options and help are those of `transform`
    columns={
        "label": "pushed in",
        "events": "what the robot did",
        "success": "stands",
        "stands_s": "after / s",
        "tilt_deg": "greatest tilt / deg",
        "message": "last message",
    },
    goals={"stands_s": at_most(60.0)},
    conditions=conditions,
    execute=execute,
    duration=lambda row: row["stands_s"],
    done="Standing in the end",
    worst=("stands_s", "tilt_deg"),
    not_running="with --push-n pushes the body in the simulator; leave one of --running and --push-n out",
    is_varied=True,
)
