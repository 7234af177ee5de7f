# SPDX-License-Identifier: MIT
"""One servo of the map, and the rows of the file that it is read from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from ax_bus.errors import RegisterError
from ax_bus.registers import POSITION_MAX, RAD_PER_STEP, Model, model_of
from shellbot_common import Settings, number
from shellbot_description import Variables, joint_class, motor_joint_names
from shellbot_motor_driver.errors import ServoMapError


@dataclass(frozen=True)
class ServoRow(Settings, error=ServoMapError):
    """One row of the file."""

    id: int = number(0, 252)
    zero: float = number(0, POSITION_MAX, "steps")
    sign: int = number(-1, 1)
    #: What was measured on this robot, from the zero: joint limits beyond it are taken back to it
    range_deg: Optional[Tuple[float, float]] = number(-360.0, 360.0, "degrees", default=None)

    def conflict(self) -> str:
        """Return what is wrong with sign or range."""
        if self.sign == 0:
            return "sign is 0; give 1 or -1"
        low, high = self.range_deg or (-1.0, 1.0)
        if low <= 0.0 <= high and low < high:
            return ""
        return f"range_deg is {self.range_deg}; give two angles in degrees, the lower one up to 0, the upper one from 0"


@dataclass(frozen=True)
class ServoEntry:
    """One servo."""

    joint: str  #: The joint it turns; the fan's servo stands under ``lower_1_fan``
    servo_id: int  #: 0 to 252
    model: Model  #: What must answer
    zero: float  #: Steps at joint angle 0
    sign: int  #: 1 if the servo's counter-clockwise is the joint's positive direction, else -1
    gear: float  #: Servo angle per joint angle
    #: lower, upper: Limits of the joint, rad: the description's, and within what the map says was measured
    lower: float
    upper: float

    def __post_init__(self) -> None:
        """Check that the joint's range fits the servo's."""
        low, high = sorted(self.zero + self.sign * self.gear * q / RAD_PER_STEP for q in (self.lower, self.upper))
        if low < -0.5 or high > POSITION_MAX + 0.5:
            raise ServoMapError(
                f"servo map, {self.joint}: its range {self.lower:.3f} to {self.upper:.3f} rad needs steps {low:.0f} to "
                f"{high:.0f} at zero {self.zero:g}, the servo has 0 to {POSITION_MAX}; move the horn and zero, or "
                "narrow the range"
            )


def read_entries(rows: Mapping[str, Any], motors: Sequence[str], variables: Variables) -> Tuple[ServoEntry, ...]:
    """Return the servos of the joints `motors` from rows ``joint: {id, zero, sign, range_deg}``.

    Raises
    ------
    ServoMapError
        If a row is missing, unknown or wrong; the sentence names its joint.
    """
    unknown = sorted(set(rows) - set(motor_joint_names("full")))
    if unknown:
        raise ServoMapError(f"servo map: {unknown} has no servo; choose from {', '.join(motor_joint_names('full'))}")
    entries: List[ServoEntry] = []
    for joint in motors:
        row = ServoRow.from_mapping(rows.get(joint, {}), f"servo map, {joint}: ")
        kind = joint_class(joint)
        limits = variables.limits(kind)
        gear = variables.fan_drive.reduction if kind == "fan" else 1.0
        low, high = row.range_deg or (-360.0, 360.0)
        lower, upper = max(limits.lower, math.radians(low)), min(limits.upper, math.radians(high))
        entries.append(ServoEntry(joint, row.id, _model(joint, limits.servo), row.zero, row.sign, gear, lower, upper))
    return tuple(entries)


def _model(joint: str, name: str) -> Model:
    try:
        model = model_of(name)
    except RegisterError as error:
        raise ServoMapError(f"servo map, {joint}: {error}") from error
    if model.register("goal_position").maximum != POSITION_MAX:
        raise ServoMapError(
            f"servo map, {joint}: the driver counts in steps of the AX family (0 to {POSITION_MAX}), which "
            f"{model.name} does not have; choose AX-12A or AX-18A for class {joint_class(joint)} in the description"
        )
    return model
