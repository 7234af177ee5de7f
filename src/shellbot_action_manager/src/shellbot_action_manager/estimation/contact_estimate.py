# SPDX-License-Identifier: MIT
"""Which feet stand: what the gait says, confirmed by the measured joints. The same on the robot and in simulators."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_action_manager.body.body_pose import up_from_quaternion


class ContactEstimator:
    """Feet that are told to stand, or were until just now, and that are as low as the lowest of them.

    Parameters
    ----------
    tolerance : float
        Height above the lowest foot up to which a foot may stand, m.
    lag : float
        Time by which the measured joints are behind what they are told, s.
    """

    def __init__(self, tolerance: float, lag: float) -> None:
        self._tolerance, self._lag = tolerance, lag
        self.reset()

    def reset(self) -> None:
        """Forget which feet stood."""
        self._since_planted = np.full(6, np.inf)

    def step(
        self, dt: float, p_base_feet: np.ndarray, planted: np.ndarray, orientation: Optional[np.ndarray]
    ) -> np.ndarray:
        """Return which feet stand, (6,) bool.

        Parameters
        ----------
        dt : float
            s since the last step.
        p_base_feet : (6, 3) array
            Measured feet in base_link, m.
        planted : (6,) bool array
            Feet that are told to stand.
        orientation : (4,) array or None
            Quaternion x, y, z, w of base_link; None: the body is taken as level.
        """
        self._since_planted = np.where(planted, 0.0, self._since_planted + dt)
        candidates = self._since_planted <= self._lag
        if not candidates.any():
            return np.zeros(6, dtype=bool)
        height = p_base_feet[:, 2]
        if orientation is not None:
            height = p_base_feet @ up_from_quaternion(orientation)
        return candidates & (height <= height[candidates].min() + self._tolerance)
