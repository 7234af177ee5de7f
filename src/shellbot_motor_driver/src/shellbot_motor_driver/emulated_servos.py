# SPDX-License-Identifier: MIT
"""The servos of a robot, emulated."""

from __future__ import annotations

from typing import Any, List

from ax_emulator.servo import DEFAULT_BEHAVIOUR, EmulatedServo, ServoBehaviour
from shellbot_motor_driver.map.servo_map import ServoMap


def shellbot_servos(variant: str = "walker", return_delay: int = 0, **options: Any) -> List[EmulatedServo]:
    """Return the servos of Shellbot, ``walker`` (19) or ``full`` (31); the rest as of `emulated_servos`."""
    return emulated_servos(ServoMap.load(variant), return_delay, **options)


def emulated_servos(
    servo_map: ServoMap,
    return_delay: int = 0,
    behaviour: ServoBehaviour = DEFAULT_BEHAVIOUR,
    seed: int = 0,
    compliance_slope: int = 16,
) -> List[EmulatedServo]:
    """Return the servos of a robot, each of its model, with its joint at angle zero and the walking compliance.

    Parameters
    ----------
    servo_map : ServoMap
        Which servos.
    return_delay : int
        Register value of all, units of 2 us.
    behaviour : ServoBehaviour
        Peculiarities of all.
    seed : int
        Of the interrupts' phases.
    compliance_slope : int
        Register value of both slopes.
    """
    servos = []
    for entry in servo_map.entries:
        position = min(max(round(entry.zero), 0), entry.model.position_max)
        servo = EmulatedServo(entry.servo_id, entry.model, 1, return_delay, position, behaviour, seed=seed)
        servo.table["cw_compliance_slope"] = servo.table["ccw_compliance_slope"] = compliance_slope
        servos.append(servo)
    return servos
