# SPDX-License-Identifier: MIT
"""From gains of joints to the compliance registers of servos, and back.

Between margin and full torque the output of an AX rises over its slope ``s`` (2, 4, ... 128 steps), so that the servo's
stiffness is ``tau_stall / (s · 0.29°)``, and that of a joint behind a gear ``g`` shared by ``m`` joints ``g² / m``
times that. The simulators' default P comes from the same slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from shellbot_common import Settings, number
from shellbot_control import GainTable
from shellbot_description import Variables, joint_class, load_variables
from shellbot_motor_driver.errors import DriverConfigError

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


def stiffness(joint_class: str, slope: int, variables: Optional[Variables] = None) -> float:
    """Return the stiffness of a joint, N·m/rad, at a slope: 18.5 for a coxa (AX-12A) at 16.

    Parameters
    ----------
    joint_class : str
        One of ``shellbot_description.JOINT_CLASSES``.
    slope : int
        Steps.
    variables : Variables, optional
        The description's.
    """
    variables = variables if variables is not None else load_variables()
    return variables.servo_stiffness(joint_class) * variables.compliance_slope / slope


def springs(
    joint_names: Sequence[str], table: Mapping[str, Compliance], variables: Optional[Variables] = None
) -> Tuple[np.ndarray, np.ndarray]:
    """Return the stiffness of joints, (n,) N·m/rad, and the angle within which each gives no torque, (n,) rad.

    Parameters
    ----------
    joint_names : sequence of str
        The n joints.
    table : mapping of str to Compliance
        Of each of their classes.
    variables : Variables, optional
        The description's.
    """
    variables = variables if variables is not None else load_variables()
    of_class = {
        name: (
            stiffness(name, c.slope, variables) * c.torque_fraction,
            c.margin * variables.servo_resolution / (variables.fan_drive.reduction if name == "fan" else 1.0),
        )
        for name, c in table.items()
    }
    both = np.array([of_class[joint_class(name)] for name in joint_names])
    return both[:, 0], both[:, 1]


def slope_for(joint_class: str, p: float, variables: Optional[Variables] = None) -> Tuple[int, float]:
    """Return the slope nearest (in ratio) to a P gain, N·m/rad, and the stiffness that it gives.

    Raises
    ------
    DriverConfigError
        If the gain is not a positive finite number.
    """
    if not (math.isfinite(p) and p > 0.0):
        raise DriverConfigError(f"P gain of {joint_class} is {p}; give a positive finite number of N·m/rad")
    slope = min(SLOPES, key=lambda s: abs(math.log(stiffness(joint_class, s, variables) / p)))
    return slope, stiffness(joint_class, slope, variables)


def compliance_from_gains(
    table: GainTable, margin: int = 1, punch: int = 32, variables: Optional[Variables] = None
) -> Tuple[Dict[str, Compliance], Tuple[str, ...]]:
    """Return the compliance of each class of a gain table, and what it cannot do, in words.

    A servo has P only: I and D of the table are left out, and said. The stiffness factor of the table counts. A gain
    below that of the softest slope is met by a lower torque limit as far as that goes (a gain of 0 is limp).

    Parameters
    ----------
    table : GainTable
        N·m/rad per joint class.
    margin, punch : int
        Registers for all.
    variables : Variables, optional
        The description's.
    """
    made: Dict[str, Compliance] = {}
    words: List[str] = []
    for name, gains in table.classes.items():
        p = gains.p * table.stiffness
        softest = stiffness(name, SLOPES[-1], variables)
        fraction = min(1.0, p / softest)
        slope, reached = (SLOPES[-1], softest * fraction) if fraction < 1.0 else slope_for(name, p, variables)
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
