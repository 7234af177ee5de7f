# SPDX-License-Identifier: MIT
"""One servo of the map, and the rows of the file that it is read from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Tuple

from ax_bus.errors import RegisterError
from ax_bus.registers import POSITION_MAX, RAD_PER_STEP, Model, model_of
from shellbot_common import Settings, number
from shellbot_motor_driver.errors import ServoMapError
from shellbot_motor_driver.map.driven_robot import DrivenRobot


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

    joint: str  #: The joint it turns, of several the leader (Shellbot's fan: ``lower_1_fan``)
    servo_id: int  #: 0 to 252
    model: Model  #: What must answer
    zero: float  #: Steps at joint angle 0
    sign: int  #: 1 if the servo's counter-clockwise is the joint's positive direction, else -1
    gear: float  #: Servo angle per joint angle
    #: lower, upper: Limits of the joint, rad: the description's, and within what the map says was measured
    lower: float
    upper: float
    kind: str  #: Class of the joint
    limb: str  #: What it is a part of: what cools down, or is lost, together

    def __post_init__(self) -> None:
        """Check that the joint's range fits the servo's."""
        low, high = sorted(self.zero + self.sign * self.gear * q / RAD_PER_STEP for q in (self.lower, self.upper))
        if low < -0.5 or high > POSITION_MAX + 0.5:
            raise ServoMapError(
                f"servo map, {self.joint}: its range {self.lower:.3f} to {self.upper:.3f} rad needs steps {low:.0f} to "
                f"{high:.0f} at zero {self.zero:g}, the servo has 0 to {POSITION_MAX}; move the horn and zero, or "
                "narrow the range"
            )


def read_entries(rows: Mapping[str, Any], robot: DrivenRobot) -> Tuple[ServoEntry, ...]:
    """Return a robot's servos from rows ``joint: {id, zero, sign, range_deg}``; of rows and robot one may be a variant.

    Raises
    ------
    ServoMapError
        If a row is missing, unknown or wrong; the sentence names its joint.
    """
    profile = robot.profile
    motors, known = profile.motor_joints, tuple(robot.rows)
    unknown = sorted(set(rows) - set(known) - set(motors))
    if unknown:
        raise ServoMapError(f"servo map: {unknown} has no servo; choose from {', '.join(known)}")
    limits = {name: (low, high) for name, low, high in zip(robot.limits.names, robot.limits.lower, robot.limits.upper)}
    entries: List[ServoEntry] = []
    for joint in motors:
        row = ServoRow.from_mapping(rows.get(joint, {}), f"servo map, {joint}: ")
        kind = profile.joint_class(joint)
        servo = robot.servos[kind]
        low, high = (math.radians(end) for end in row.range_deg or (-360.0, 360.0))
        lower, upper = max(float(limits[joint][0]), low), min(float(limits[joint][1]), high)
        model = _model(joint, kind, servo.model)
        entries.append(
            ServoEntry(joint, row.id, model, row.zero, row.sign, servo.gear, lower, upper, kind, robot.limb(joint))
        )
    return tuple(entries)


def _model(joint: str, kind: str, name: str) -> Model:
    try:
        model = model_of(name)
    except RegisterError as error:
        raise ServoMapError(f"servo map, {joint}: {error}") from error
    if model.register("goal_position").maximum != POSITION_MAX:
        raise ServoMapError(
            f"servo map, {joint}: the driver counts in steps of the AX family (0 to {POSITION_MAX}), which "
            f"{model.name} does not have; choose AX-12A or AX-18A for class {kind} in the description"
        )
    return model
