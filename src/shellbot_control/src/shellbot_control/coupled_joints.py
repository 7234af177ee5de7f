# SPDX-License-Identifier: MIT
"""Joints that one motor turns, and targets that would have them apart."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from shellbot_common.robot_profile import Coupling
from shellbot_control.errors import TargetsError

APART = 0.15  # rad that is taken: a limp robot is commanded its measured angles, and those have play


class CoupledJoints:
    """The couplings of a robot, for its commands.

    Parameters
    ----------
    names : sequence of str
        Joints in the order of the commands.
    couplings : sequence of Coupling
        Of the robot's profile.
    """

    def __init__(self, names: Sequence[str], couplings: Sequence[Coupling]) -> None:
        self._names = tuple(names)
        index = {name: column for column, name in enumerate(names)}
        self._pairs = [(index[c.leader], index[name], c) for c in couplings for name in c.followers]

    def check(self, requested: np.ndarray) -> None:
        """Refuse commands (n,), rad, that have joints of one motor apart; raises TargetsError."""
        for leader, follower, coupling in self._pairs:
            expected = coupling.follow(requested[leader])
            if abs(requested[follower] - expected) > APART:
                raise TargetsError(
                    f"{self._names[follower]} is turned by the motor of {coupling.leader}, so it would be at "
                    f"{expected:.3f} rad, but it is commanded to {requested[follower]:.3f}; at most {APART:g} rad apart"
                )
