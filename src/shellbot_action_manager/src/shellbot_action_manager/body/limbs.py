# SPDX-License-Identifier: MIT
"""Limbs of any robot: groups of limbs of one build, by name, and what they are commanded to at a tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Mapping, Optional, Tuple

import numpy as np


@dataclass(frozen=True)
class LimbGroup:
    """Limbs of one build, which are measured and commanded together."""

    limbs: Tuple[str, ...]  #: Names, as in the description and on the wire
    #: (m, n, k) Where the n joints of each limb stand in the array of driven joints; k joints that are coupled count as
    #: one
    columns: np.ndarray

    def measured(self, q: np.ndarray) -> np.ndarray:
        """Return the joints (m, n) of the group in all driven joints q, rad; the mean of coupled ones."""
        return q[self.columns].mean(axis=2)


@dataclass(frozen=True)
class LimbCommand:
    """What a group of limbs is commanded to at a tick."""

    q: np.ndarray  #: (m, n) Joints, rad; always known
    #: (m, 3) Position of the tip in base_link, m, where the limbs are led by it; None where they are led by their
    #: joints
    p_base: Optional[np.ndarray] = None
    tip: str = "foot"  #: Which tip frame that is: the frame of limb L is named `L_tip`
    #: (m,) Fraction of the weight that each limb is to carry; None: not planned
    load_share: Optional[np.ndarray] = None
    #: (m, n) Joints a tick later, rad, if the command goes on as it is; NaN or None: not known
    ahead: Optional[np.ndarray] = None


LimbCommands = Mapping[str, LimbCommand]
"""Commands of all limbs of the robot: group to command."""


def held(limbs: LimbCommands) -> Dict[str, LimbCommand]:
    """Return the commands with which every joint stays where it is commanded."""
    return {name: LimbCommand(command.q) for name, command in limbs.items()}


def found(groups: Mapping[str, LimbGroup], q: np.ndarray) -> Dict[str, LimbCommand]:
    """Return the commands with which every joint stays where it is measured, for all driven joints q (n,), rad."""
    return {name: LimbCommand(group.measured(q)) for name, group in groups.items()}
