# SPDX-License-Identifier: MIT
"""Move servos slowly, with little torque and without a jump: to the middle for mounting horns, or anywhere."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Dict, Iterable, Iterator, Mapping, Optional, Sequence

from ax_bus.bus import Bus
from ax_bus.registers import Model, Register
from ax_tools import torque
from ax_tools.console import note
from ax_tools.each import each
from ax_tools.errors import ToolError
from ax_tools.units import degrees, model_at, number_of

_ARRIVED = 6  # steps: friction and little torque leave a servo this far off
_POLL = 0.05  # s
_SLACK, _PATIENCE = 1.5, 3.0  # the time that the way takes at its speed, times this, and s more


@dataclass(frozen=True)
class Motion:
    """How to move."""

    speed_rpm: float = 10.0  #: How fast
    torque: float = 0.3  #: Fraction of the stall torque, 0 to 1
    #: s after which a servo that has not arrived is reported; by default what the way takes, and some more
    time_limit: Optional[float] = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, low, high in (("speed_rpm", 0.2, 60.0), ("torque", 0.05, 1.0)):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ToolError(f"{name} is {value}; give {low} to {high}")


def targets(bus: Bus, servo_ids: Sequence[int], text: str) -> Dict[int, int]:
    """Return the goal of each servo, steps, from typed text: ``614``, ``30deg`` (from the middle).

    Raises
    ------
    ToolError
        If it is no position, or beyond the angle limits of a servo, or a servo is in wheel mode.
    """
    goals = {}
    for servo_id in servo_ids:
        model = model_at(bus, servo_id)
        goal = number_of(model, model.register("goal_position"), text)
        low, high = (bus.read_register(servo_id, model.register(f"{side}_angle_limit"), 3) for side in ("cw", "ccw"))
        if not low and not high:
            raise ToolError(f"servo {servo_id} is in wheel mode and turns without end; set its angle limits first")
        if not low <= goal <= high:
            raise ToolError(
                f"servo {servo_id} takes {low} to {high} steps (its angle limits), not {goal}; nothing has moved"
            )
        goals[servo_id] = goal
    return goals


def plan(bus: Bus, goals: Mapping[int, int], how: Motion) -> str:
    """Return in words what `start` would do; moves nothing."""
    lines = []
    for servo_id, goal in goals.items():
        model = model_at(bus, servo_id)
        steps = bus.read_register(servo_id, model.register("present_position"), 3)
        travel = degrees(model, goal) - degrees(model, steps)
        lines.append(f"servo {servo_id}: from {steps} to {goal} steps ({travel:+.0f} degrees)")
    lines.append(f"at {how.speed_rpm:g} rpm and {how.torque:.0%} torque; nothing has moved, add --go to do it")
    return "\n".join(lines)


def start(bus: Bus, goals: Mapping[int, int], how: Motion) -> None:
    """Let servos hold where they are with little torque, and once all do, send them on their way.

    Parameters
    ----------
    goals : mapping of int to int
        Where each servo goes, steps.
    how : Motion
        How fast and how strong.

    Raises
    ------
    ToolError
        If a servo cannot be made ready: then nothing has moved.
    """
    failures = each(goals, lambda servo_id: torque.hold(bus, servo_id, _settings(model_at(bus, servo_id), how)))
    if failures:
        raise ToolError(f"nothing has moved, and servos that can hold do so: {'; '.join(failures.values())}")
    failures = each(goals, lambda servo_id: _send(bus, servo_id, goals[servo_id]))
    if failures:
        raise ToolError(f"not all servos move: {'; '.join(failures.values())}")


def wait(bus: Bus, goals: Mapping[int, int], how: Motion) -> Dict[int, int]:
    """Wait until servos are where they were sent, or their time is over.

    Returns
    -------
    dict of int to int
        Where each servo is in the end, steps; one that does not answer is missing.
    """
    positions: Dict[int, int] = {}
    rows: Dict[int, Register] = {}

    def look(servo_id: int) -> None:
        positions.pop(servo_id, None)  # one that falls silent must not seem to be where it last was
        if servo_id not in rows:
            rows[servo_id] = model_at(bus, servo_id).register("present_position")
        positions[servo_id] = bus.read_register(servo_id, rows[servo_id])

    each(goals, look)
    distance = max((abs(goals[i] - steps) * rows[i].scale for i, steps in positions.items()), default=0.0)
    allowed = how.time_limit
    if allowed is None:
        allowed = _SLACK * distance / (how.speed_rpm * math.pi / 30.0) + _PATIENCE
    deadline = bus.port.now() + allowed
    while _away(positions, goals) and bus.port.now() < deadline:
        bus.port.sleep(_POLL)
        each(goals, look)
    return positions


@contextlib.contextmanager
def stoppable(bus: Bus, servo_ids: Iterable[int]) -> Iterator[None]:
    """Within it Ctrl-C stops servos where they are before it ends the program.

    Raises
    ------
    ToolError
        If a servo could not be stopped.
    """

    def stop(servo_id: int) -> None:
        row = model_at(bus, servo_id).register("present_position")
        _send(bus, servo_id, bus.read_register(servo_id, row, 3))

    try:
        yield
    except KeyboardInterrupt:
        ids = tuple(servo_ids)
        failures = each(ids, stop)
        if failures:
            raise ToolError(f"not all were stopped, switch their power off: {'; '.join(failures.values())}") from None
        note(f"{len(ids)} servo(s) stopped where they are; torque off releases them")
        raise


def arrival(positions: Mapping[int, int], goals: Mapping[int, int]) -> str:
    """Return a sentence: which servos arrived.

    Raises
    ------
    ToolError
        If a servo did not.
    """
    away = _away(positions, goals)
    if away:
        who = ", ".join(
            f"{i} is at {positions[i]}, not {goals[i]}" if i in positions else f"{i} does not answer" for i in away
        )
        raise ToolError(f"not arrived: {who}; something blocks it, or it needs more --torque")
    where = ", ".join(str(goal) for goal in sorted(set(goals.values())))
    return f"{len(goals)} servo(s) at {where}; they hold, torque off releases them"


def _away(positions: Mapping[int, int], goals: Mapping[int, int]) -> Sequence[int]:
    return [i for i, goal in goals.items() if i not in positions or abs(positions[i] - goal) > _ARRIVED]


def _settings(model: Model, how: Motion) -> Dict[str, int]:
    return {
        "torque_limit": model.register("torque_limit").from_si(how.torque),
        "moving_speed": max(1, model.register("moving_speed").from_si(how.speed_rpm * math.pi / 30.0)),
    }


def _send(bus: Bus, servo_id: int, goal: int) -> None:
    bus.write_register(servo_id, model_at(bus, servo_id).register("goal_position"), goal)
