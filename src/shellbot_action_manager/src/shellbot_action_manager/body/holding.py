# SPDX-License-Identifier: MIT
"""Which still postures leave the servos enough of their torque, with what the robot carries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Optional

import numpy as np

from shellbot_action_manager.body.geometry import LOWER_COUNT

if TYPE_CHECKING:
    from shellbot_action_manager.body.geometry import RobotGeometry
    from shellbot_action_manager.estimation.payload import Payload

_LEAST_FEET = 3  # which fewer carry the robot how, no statics of a robot at rest can tell


class Holding:
    """Compares the torques that hold a still posture with those of the servos.

    Parameters
    ----------
    geometry : RobotGeometry
        The robot.
    most : float
        Greatest torque allowed, as a fraction of the servo's: `action.effort`.

    Attributes
    ----------
    payload : Payload or None
        What lies on the trunk; counts where its place is known, as a mass there. None: nothing. It may change at any
        time.
    """

    def __init__(self, geometry: RobotGeometry, most: float) -> None:
        self._geometry, self._most = geometry, most
        self._up = np.concatenate((np.zeros(LOWER_COUNT), geometry.up_upper.ravel()))
        self.payload: Optional[Payload] = None

    def obstacle(self, q: np.ndarray, rpy: np.ndarray, stands: np.ndarray) -> str:
        """Return which joint would need too much of its torque, in words; empty when none does.

        Parameters
        ----------
        q : (n,) array
            All driven joints, rad.
        rpy : (3,) array
            Attitude of the base: roll, pitch, yaw, rad.
        stands : (6,) bool array
            Feet that carry the robot; of fewer than three nothing is reported.
        """
        if np.count_nonzero(stands) < _LEAST_FEET:
            return ""
        statics, payload, words = self._geometry.statics, self.payload, ""
        if payload is None or math.isnan(payload.p_base[0]):
            torque = statics.holding_torque(q, rpy, stands)
        else:
            torque = statics.holding_torque(q, rpy, stands, payload.mass, payload.p_base)
            words = f"with {payload.mass:.1f} kg on top "
        effort = np.abs(torque) / statics.effort_limits
        joint = int(effort.argmax())
        if effort[joint] <= self._most:
            return ""
        name, percent = self._geometry.joint_names[joint], math.ceil(100.0 * effort[joint])
        return f"{words}{name} would need {percent}% of its torque, allowed are {self._most:.0%}"

    def pose_obstacle(self, q_legs: np.ndarray, rpy: np.ndarray, idle: np.ndarray) -> str:
        """Return the same for the lower legs alone, with fans at zero and the upper shells up.

        Parameters
        ----------
        q_legs : (6, 3) array
            Coxa, femur, tibia, rad; NaN, where an idle leg does not reach, counts as 0.
        rpy : (3,) array
            Roll, pitch, yaw of the base, rad.
        idle : (6,) bool array
            Legs that do not stand.
        """
        q = self._up.copy()
        self._geometry.q_lower(q)[:, 1:] = np.where(np.isfinite(q_legs), q_legs, 0.0)
        return self.obstacle(q, rpy, ~idle)
