# SPDX-License-Identifier: MIT
"""From gains of joints to the compliance registers of servos, and back.

Between margin and full torque the output of an AX rises over its slope ``s`` (2, 4, ... 128 steps), so that the servo's
stiffness is ``tau_stall / (s · 300°/1023)``, and that of a joint behind a gear ``g`` shared by ``m`` joints ``g² / m``
times that. The simulators' default P comes from the same slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional, Tuple

from shellbot_control import GainTable
from shellbot_description import Variables
from shellbot_motor_driver.errors import DriverConfigError

SLOPES = (2, 4, 8, 16, 32, 64, 128)  # steps


@dataclass(frozen=True)
class Compliance:
    """Registers 26 to 29 and 48 of a servo, both directions alike.

    Parameters
    ----------
    slope : int
        One of ``SLOPES``.
    margin : int
        Dead band, steps of 0.29 degrees, 0 to 255.
    punch : int
        Least output outside the margin, of 1023.
    torque_share : float
        Torque limit, 0 to 1: what is below the softest slope (a stiffness of 0 is limp).
    """

    slope: int = 16
    margin: int = 1
    punch: int = 32
    torque_share: float = 1.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.slope not in SLOPES:
            raise DriverConfigError(f"compliance slope is {self.slope}; choose from {', '.join(map(str, SLOPES))}")
        for name, high in (("margin", 255), ("punch", 1023), ("torque_share", 1.0)):
            if not 0 <= getattr(self, name) <= high:
                raise DriverConfigError(f"compliance {name} is {getattr(self, name)}; give 0 to {high}")


def stiffness(joint_class: str, slope: int, variables: Optional[Variables] = None) -> float:
    """Return the stiffness of a joint, N·m/rad, at a slope."""
    raise NotImplementedError


def slope_for(joint_class: str, p: float, variables: Optional[Variables] = None) -> Tuple[int, float]:
    """Return the slope nearest (in ratio) to a P gain, N·m/rad, and the stiffness that it gives."""
    raise NotImplementedError


def compliance_from_gains(
    table: GainTable, margin: int = 1, punch: int = 32, variables: Optional[Variables] = None
) -> Tuple[Dict[str, Compliance], Tuple[str, ...]]:
    """Return the compliance of each class of a gain table, and what it cannot do, in words.

    A servo has P only: I and D of the table are left out, and said. The stiffness factor of the table counts.
    """
    raise NotImplementedError
