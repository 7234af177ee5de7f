# SPDX-License-Identifier: MIT
"""The joints of one limb with what the servo map says about them: limits, zero, sign, ID."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Tuple

from ax_bus.registers import POSITION_MAX, RAD_PER_STEP
from robot_evaluation.errors import DefinitionError
from shellbot_motor_driver.errors import ServoMapError
from shellbot_motor_driver.map.servo_entry import ServoEntry
from shellbot_motor_driver.map.servo_map import ServoMap

LIMBS = tuple(f"{half}_{k}" for half in ("lower", "upper") for k in range(1, 7))


@dataclass(frozen=True)
class LimbJoint:
    """One slider."""

    name: str  #: The joint; the fan of any leg is the one fan of all
    entry: ServoEntry  #: Its servo: ID, zero, sign, gear, limits

    @property
    def title(self) -> str:
        """Name within the limb."""
        word = self.name.rsplit("_", 1)[1]
        return "fan (all six)" if word == "fan" else word

    @property
    def lower_deg(self) -> float:
        """Lower limit."""
        return math.degrees(self.entry.lower)

    @property
    def upper_deg(self) -> float:
        """Upper limit."""
        return math.degrees(self.entry.upper)

    def clamp(self, angle: float) -> float:
        """Return an angle within the limits, rad."""
        return min(self.entry.upper, max(self.entry.lower, angle))

    def steps(self, angle: float) -> int:
        """Return the goal position of a joint angle, rad."""
        entry = self.entry
        steps = round(entry.zero + entry.sign * entry.gear * self.clamp(angle) / RAD_PER_STEP)
        return min(POSITION_MAX, max(0, steps))

    def angle(self, steps: float) -> float:
        """Return the joint angle of a present position, rad."""
        entry = self.entry
        return (steps - entry.zero) * RAD_PER_STEP / (entry.sign * entry.gear)

    @property
    def facts(self) -> str:
        """Limits and offsets as one line."""
        entry = self.entry
        gear = f" · gear {entry.gear:g}" if entry.gear != 1.0 else ""
        return (
            f"ID {entry.servo_id} · {entry.model.name} · {self.lower_deg:.0f}° to {self.upper_deg:.0f}° · "
            f"zero at {entry.zero:g} steps · sign {entry.sign:+d}{gear}"
        )


def limb_joints(limb: str, servo_map: ServoMap) -> Tuple[LimbJoint, ...]:
    """Return the sliders of a limb: fan, coxa, femur, tibia; or shoulder, shell.

    Raises
    ------
    DefinitionError
        For an unknown limb, or one that the variant does not have.
    """
    if limb not in LIMBS:
        raise DefinitionError(f"there is no limb {limb!r}; choose from {', '.join(LIMBS)}")
    entries = {entry.joint: entry for entry in servo_map.entries}
    names = [name for name in entries if name.startswith(limb + "_") and not name.endswith("_fan")]
    if not names:
        raise DefinitionError(f"the variant {servo_map.variant} has no limb {limb}; choose --variant full")
    if limb.startswith("lower"):
        names.insert(0, "lower_1_fan")
    return tuple(LimbJoint(name, entries[name]) for name in names)


def load_map(variant: str, path: str = "") -> ServoMap:
    """Return the servo map of a variant, or from a calibrated file.

    Raises
    ------
    DefinitionError
        If it cannot be used.
    """
    try:
        return ServoMap.load(variant, Path(path) if path else None)
    except ServoMapError as error:
        raise DefinitionError(str(error)) from error
