# SPDX-License-Identifier: MIT
"""Which still postures leave the servos enough of their torque."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from shellbot_action_manager.body.geometry import RobotGeometry

_LEAST_FEET = 3  # which fewer carry the robot how, no statics of a robot at rest can tell


class Holding:
    """Compares the torques that hold a still posture with those of the servos.

    Parameters
    ----------
    geometry : RobotGeometry
        The robot.
    most : float
        Greatest torque allowed, as a fraction of the servo's: `action.effort`.
    """

    def __init__(self, geometry: RobotGeometry, most: float) -> None:
        self._geometry, self._most = geometry, most

    def obstacle(self, q: np.ndarray, rpy: np.ndarray, stands: np.ndarray) -> str:
        """Return which joint would need too much of its torque, in words; empty when none does.

        Parameters
        ----------
        q : (n,) array
            All driven joints, rad.
        rpy : (3,) array
            Attitude of the base: roll, pitch, yaw, rad.
        stands : (6,) bool array
            Feet that carry the robot; of fewer than three nothing is said.
        """
        if stands.sum() < _LEAST_FEET:
            return ""
        statics = self._geometry.statics
        effort = np.abs(statics.holding_torque(q, rpy, stands)) / statics.effort_limits
        joint = int(effort.argmax())
        if effort[joint] <= self._most:
            return ""
        name, percent = self._geometry.joint_names[joint], math.ceil(100.0 * effort[joint])
        return f"{name} would need {percent}% of its torque, allowed are {self._most:.0%}"

    def pose_obstacle(self, q_legs: np.ndarray, rpy: np.ndarray, idle: np.ndarray) -> str:
        """Return the same for the lower legs alone, with fans at zero and the upper shells up.

        Parameters
        ----------
        q_legs : (6, 3) array
            Coxa, femur, tibia, rad; NaN, where a leg that does not stand cannot reach, counts as 0.
        rpy : (3,) array
            Roll, pitch, yaw of the base, rad.
        idle : (6,) bool array
            Legs that do not stand.
        """
        lower = np.zeros((6, 4))
        lower[:, 1:] = np.nan_to_num(q_legs)
        return self.obstacle(np.concatenate((lower.ravel(), self._geometry.up_upper.ravel())), rpy, ~idle)
