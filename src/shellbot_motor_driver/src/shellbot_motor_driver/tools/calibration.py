# SPDX-License-Identifier: MIT
"""What a calibration needs next, and what an answer means: joint after joint its zero pose, then both ends.

Pure: positions are passed in, results come out; `calibrate` is the terminal around it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

from ax_bus.registers import POSITION_MAX, RAD_PER_STEP
from ax_tools.errors import ToolError
from shellbot_motor_driver.errors import ServoMapError
from shellbot_motor_driver.map.servo_entry import ServoEntry

Limits = Mapping[str, Tuple[float, float]]  # of each joint, rad

_LEAST_TRAVEL = 40  # steps between the ends: less than 12 degrees is no deliberate motion
_SPREAD = 4  # steps between readings of a joint that is held still
_ZERO_SLACK = 10  # steps by which zero may lie outside the ends: a fan's zero is near its stop
_MARGIN = 1.0  # degrees that are kept from an end, so that no servo pushes against it
_SHORT = 3.0  # degrees by which an end may miss the joint's limit without a remark

# by class of joint: the zero pose, and the directions of the lower and of the upper end
POSES: Mapping[str, Tuple[str, str, str]] = {
    "fan": ("the arms in their walking position", "clockwise seen from above, closing", "counter-clockwise, opening"),
    "coxa": ("the leg straight out from its arm", "clockwise seen from above", "counter-clockwise seen from above"),
    "femur": ("the femur level", "foot up", "foot down"),
    "tibia": ("the tibia in line with the femur", "foot up", "foot down"),
    "shoulder": ("the link level, straight out", "link down", "link up"),
    "shell": ("the shell's link in line with the shoulder's", "link down", "link up"),
}


class Result(NamedTuple):
    """What was found out about a joint."""

    joint: str  #: Its name
    row: Dict[str, object]  #: Its row of servos.yaml: id, zero, sign, range_deg
    text: str  #: The same in words
    remark: str  #: What a person should look at before it is kept; empty if nothing


def angle_deg(entry: ServoEntry, steps: float) -> float:
    """Return the joint angle of a position, degrees, with the map as it is."""
    return math.degrees((steps - entry.zero) * RAD_PER_STEP / (entry.sign * entry.gear))


def evaluate(entry: ServoEntry, limits: Tuple[float, float], zero: int, lower: int, upper: int) -> Result:
    """Return zero, sign and range of a joint from three positions.

    Parameters
    ----------
    entry : ServoEntry
        The joint as the map has it.
    limits : tuple of float
        Limits of the joint by the description, rad.
    zero, lower, upper : int
        Steps in the zero pose, at the lower and at the upper end.

    Raises
    ------
    ToolError
        If the positions cannot be those of this joint; the message says why.
    """
    if abs(upper - lower) < _LEAST_TRAVEL:
        raise ToolError(f"only {abs(upper - lower)} steps from end to end: was it servo {entry.servo_id} that moved?")
    sign = 1 if upper > lower else -1
    if not min(lower, upper) - _ZERO_SLACK <= zero <= max(lower, upper) + _ZERO_SLACK:
        raise ToolError(
            f"the zero pose ({zero}) is not between the ends ({lower}, {upper}): measure again. If the servo "
            f"turned past 0 or {POSITION_MAX} steps its horn has to be mounted differently"
        )
    ends = [math.degrees((steps - zero) * RAD_PER_STEP / (sign * entry.gear)) for steps in (lower, upper)]
    low, high = round(min(0.0, ends[0] + _MARGIN), 1), round(max(0.0, ends[1] - _MARGIN), 1)
    try:  # the servo map's own check: is there room for the range?
        replace(
            entry,
            zero=zero,
            sign=sign,
            lower=max(limits[0], math.radians(low)),
            upper=min(limits[1], math.radians(high)),
        )
    except ServoMapError as error:
        raise ToolError(str(error)) from error
    described = [math.degrees(limit) for limit in limits]
    remark = ""
    if ends[0] > described[0] + _SHORT or ends[1] < described[1] - _SHORT:
        remark = (
            f"it reaches {ends[0]:.0f} to {ends[1]:.0f} degrees, the description has {described[0]:.0f} to "
            f"{described[1]:.0f}: the driver will use only what it reaches. A horn that is a tooth off looks like this"
        )
    return Result(
        entry.joint,
        {"id": entry.servo_id, "zero": zero, "sign": sign, "range_deg": [low, high]},
        f"{entry.joint}: zero {zero}, sign {sign:+d}, {low} to {high} degrees",
        remark,
    )


@dataclass(frozen=True)
class Calibration:
    """Where a calibration is."""

    entries: Tuple[ServoEntry, ...]  #: The joints to measure, in order
    limits: Limits  #: Limits of each by the description, rad
    index: int = 0  #: The joint in turn
    steps: Tuple[int, ...] = ()  #: Its positions so far: zero, lower, upper
    pending: Optional[Result] = None  #: Its result, if it waits to be looked at
    message: str = ""  #: What became of the last answer
    results: Tuple[Result, ...] = ()  #: What is to be kept, the newest last

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to measure."""
        return self.index >= len(self.entries)

    @property
    def entry(self) -> ServoEntry:
        """The joint in turn."""
        return self.entries[self.index]

    @property
    def question(self) -> str:
        """What the person should do now."""
        zero, lower, upper = POSES[self.entry.kind]
        if self.pending is not None:
            return f"{self.pending.text}\n  LOOK: {self.pending.remark}"
        return (
            f"ZERO POSE: {zero}",
            f"LOWER END: as far as it goes, {lower}",
            f"UPPER END: as far as it goes, {upper}",
        )[len(self.steps)]

    def record(self, position: int) -> Calibration:
        """Take ``position`` (steps) for the present question; or keep the pending result."""
        if self.pending is not None:
            return self._keep(self.pending)
        steps = (*self.steps, position)
        if len(steps) < 3:
            return replace(self, steps=steps, message="")
        try:
            result = evaluate(self.entry, self.limits[self.entry.joint], *steps)
        except ToolError as error:
            return replace(self, steps=(), message=f"{error}. Once more from the zero pose")
        if result.remark:
            return replace(self, steps=steps, pending=result, message="")
        return self._keep(result)

    def skip(self) -> Calibration:
        """Leave the joint as the map has it."""
        text = f"{self.entry.joint} is left as it is"
        return replace(self, index=self.index + 1, steps=(), pending=None, message=text)

    def back(self) -> Calibration:
        """Measure the last position again; at the first, the joint before."""
        if self.steps:
            return replace(self, steps=self.steps[:-1], pending=None, message="")
        return replace(self, index=max(0, self.index - 1), message="")

    def _keep(self, result: Result) -> Calibration:
        return Calibration(
            self.entries, self.limits, self.index + 1, message=result.text, results=(*self.results, result)
        )


def steady(positions: Sequence[int]) -> int:
    """Return the middle of positions that were read one after the other, steps.

    Raises
    ------
    ToolError
        If they spread: the joint is still moving.
    """
    ordered = sorted(positions)
    if ordered[-1] - ordered[0] > _SPREAD:
        raise ToolError(f"it still moves ({ordered[0]} to {ordered[-1]} steps); hold it still, then Enter")
    return ordered[len(ordered) // 2]
