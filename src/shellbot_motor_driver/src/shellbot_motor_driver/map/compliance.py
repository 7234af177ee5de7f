# SPDX-License-Identifier: MIT
"""From gains of joints to the compliance registers of servos, and back.

Between margin and full torque the output of an AX rises over its slope ``s`` (2, 4, ... 128 steps), so that the servo's
stiffness is ``tau_stall / (s · 0.29°)``, and that of a joint behind a gear ``g`` shared by ``m`` joints ``g² / m``
times that. The simulators' default P comes from the same slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Tuple

import numpy as np

from ax_bus.registers import RAD_PER_STEP
from shellbot_common import Settings, number
from shellbot_control import GainTable
from shellbot_motor_driver.errors import DriverConfigError
from shellbot_motor_driver.map.driven_robot import DrivenRobot
from shellbot_motor_driver.map.shellbot import shellbot

SLOPES = (2, 4, 8, 16, 32, 64, 128)  # steps
_CLOSE = 1.05  # ratio up to which a gain counts as met


@dataclass(frozen=True)
class Compliance(Settings, error=DriverConfigError):
    """Registers 26 to 29 and 48 of a servo, both directions alike."""

    slope: int = 16  #: One of ``SLOPES``
    margin: int = number(0, 255, default=1)  #: Dead band, steps of 0.29 degrees, 0 to 255
    punch: int = number(0, 1023, default=32)  #: Least output outside the margin, of 1023
    #: Torque limit, 0 to 1: what is below the softest slope (a stiffness of 0 is limp)
    torque_fraction: float = number(0.0, 1.0, default=1.0)

    def conflict(self) -> str:
        """Return that the servos have no such slope, if so."""
        if self.slope in SLOPES:
            return ""
        return f"compliance slope is {self.slope}; choose from {', '.join(map(str, SLOPES))}"


def stiffness(joint_class: str, slope: int, robot: Optional[DrivenRobot] = None) -> float:
    """Return the stiffness of a joint, N·m/rad, at a slope: 18.5 for a coxa (AX-12A) at 16.

    Parameters
    ----------
    joint_class : str
        One of the robot's.
    slope : int
        Steps.
    robot : DrivenRobot, optional
        Whose servos; Shellbot's if not given.
    """
    return (robot or shellbot("full")).stiffness[joint_class] / slope


def springs(table: Mapping[str, Compliance], robot: Optional[DrivenRobot] = None) -> Tuple[np.ndarray, np.ndarray]:
    """Return the stiffness of each driven joint, (n,) N·m/rad, and the angle within which it gives no torque, (n,) rad.

    Parameters
    ----------
    table : mapping of str to Compliance
        Of each class of joint.
    robot : DrivenRobot, optional
        Whose servos; Shellbot's if not given.
    """
    robot = robot or shellbot("full")
    of_class = {
        name: (stiffness(name, c.slope, robot) * c.torque_fraction, c.margin * RAD_PER_STEP / robot.servos[name].gear)
        for name, c in table.items()
    }
    both = np.array([of_class[kind] for kind in robot.profile.joints.values()])
    return both[:, 0], both[:, 1]


def slope_for(joint_class: str, p: float, robot: Optional[DrivenRobot] = None) -> Tuple[int, float]:
    """Return the slope nearest (in ratio) to a P gain, N·m/rad, and the stiffness that it gives.

    Raises
    ------
    DriverConfigError
        If the gain is not a positive finite number.
    """
    if not (math.isfinite(p) and p > 0.0):
        raise DriverConfigError(f"P gain of {joint_class} is {p}; give a positive finite number of N·m/rad")
    slope = min(SLOPES, key=lambda s: abs(math.log(stiffness(joint_class, s, robot) / p)))
    return slope, stiffness(joint_class, slope, robot)


def compliance_from_gains(
    table: GainTable, margin: int = 1, punch: int = 32, robot: Optional[DrivenRobot] = None
) -> Tuple[Dict[str, Compliance], Tuple[str, ...]]:
    """Return the compliance of each class of a gain table, and what it cannot do, in words.

    A servo has P only: I and D of the table are left out and reported. The stiffness factor of the table counts. A
    gain below that of the softest slope is met by a lower torque limit as far as that goes (a gain of 0 is limp).

    Parameters
    ----------
    table : GainTable
        N·m/rad per joint class.
    margin, punch : int
        Registers for all.
    robot : DrivenRobot, optional
        Whose servos; Shellbot's if not given.
    """
    made: Dict[str, Compliance] = {}
    words: List[str] = []
    for name, gains in table.classes.items():
        p = gains.p * table.stiffness
        softest = stiffness(name, SLOPES[-1], robot)
        fraction = min(1.0, p / softest)
        slope, reached = (SLOPES[-1], softest * fraction) if fraction < 1.0 else slope_for(name, p, robot)
        made[name] = Compliance(slope, margin, punch, fraction)
        if p > 0.0 and not 1.0 / _CLOSE <= reached / p <= _CLOSE:
            words.append(
                f"{name}: P {p:.1f} becomes {reached:.1f} N·m/rad (slope {slope}), the nearest that a servo has"
            )
        if gains.i:
            words.append(f"{name}: servos have no I gain; {gains.i:g} is left out")
    if any(gains.d for gains in table.classes.values()):
        words.append("servos have no D gain; their motors damp themselves")
    return made, tuple(words)
