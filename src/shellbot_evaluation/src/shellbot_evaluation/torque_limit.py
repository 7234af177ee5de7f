# SPDX-License-Identifier: MIT
"""How long, and how many, servos give all their torque."""

from __future__ import annotations

import numpy as np

from shellbot_chain.chain import Chain
from shellbot_common import TICK

_NEAR = 0.999  # of its limit: at it


class TorqueLimit:
    """Counts servos at their limit, in every step of the physics.

    Parameters
    ----------
    chain : Chain
        Whose joints they are; `step` reads its present state.

    Attributes
    ----------
    longest_s : float
        Longest time for which one servo was at its limit, s.
    joint : str
        The joint of that servo; empty: none was.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._held = np.zeros(len(chain.joint_names))
        self._count, self._steps = 0, 0
        self.longest_s, self.joint = 0.0, ""

    @property
    def mean_joints(self) -> float:
        """Mean number of joints at their limit."""
        return self._count / max(self._steps, 1)

    def step(self) -> None:
        """Count the chain's last tick."""
        effort, limit = self._chain.state.step_effort, _NEAR * self._chain.robot.stall_torque
        for at_limit in np.abs(effort) >= limit:
            self._held = np.where(at_limit, self._held + TICK / len(effort), 0.0)
            worst = int(np.argmax(self._held))
            if self._held[worst] > self.longest_s:
                self.longest_s, self.joint = float(self._held[worst]), self._chain.joint_names[worst]
            self._count, self._steps = self._count + int(at_limit.sum()), self._steps + 1
