# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False
"""Where the base is to be: over the planned centre of mass, upright against its tilt; and what each leg starts from."""

from __future__ import annotations

import numpy as np

from humanoid_motion.base_estimator import BaseEstimator
from humanoid_motion.body_model import Posture
from humanoid_motion.parameters import WalkParameters
from humanoid_motion.planar import LEFT, RIGHT, applied, clamped, rotation_of, wrapped
from humanoid_motion.stepping import Stepping
from humanoid_motion.swing import lift_height
from humanoid_motion.whole_body import PlannedFeet
from robot_mechanics.native.jit import kernel
from shellbot_common import TICK

_LEVEL_SPEED = 0.03  # m/s: of the base's height after that of the floor under the feet
_LATE_SPEED = 0.1  # m/s: a foot that finds no ground in time goes on downwards
_MOST_TILT = 0.3  # rad, of the reference


@kernel
def _pull(com, dcm, measured, omega, part):
    """Let the centre of mass (2,) follow the DCM for a tick, and give up a part of its error."""
    for k in range(2):
        com[k] += omega * (dcm[k] - com[k]) * TICK
        com[k] += part * (measured[k] - com[k])


@kernel
def _bases(feet, com, height, body_com, attitude, rates, gains, swing, part, measured):
    """Return place and rotation of the base for both legs; that of the swinging one (-1: none) nearer to `measured`."""
    yaw = feet[LEFT, 2] + 0.5 * wrapped(feet[RIGHT, 2] - feet[LEFT, 2])
    roll = clamped(-(gains[0] * attitude[0] + gains[1] * rates[0]), -_MOST_TILT, _MOST_TILT)
    pitch = clamped(-(gains[0] * attitude[1] + gains[1] * rates[1]), -_MOST_TILT, _MOST_TILT)
    places, rotations = np.empty((2, 3)), np.empty((2, 3, 3))
    rotations[0] = rotations[1] = rotation_of(roll, pitch, yaw)
    x, y, _ = applied(rotations[0], body_com[0], body_com[1], body_com[2])
    for side in range(2):
        places[side] = (com[0] - x, com[1] - y, height)
    if swing >= 0:
        for k in range(3):
            places[swing, k] += part * (measured[k] - places[swing, k])
        rest = 1.0 - part
        rotations[swing] = rotation_of(part * attitude[0] + rest * roll, part * attitude[1] + rest * pitch, yaw)
    return places, rotations


class BaseReference:
    """Follows the plan from tick to tick.

    Parameters
    ----------
    parameters : WalkParameters
        Gains.
    height : float
        Of the base over the floor, m.
    com : (2,) array
        Where the centre of mass is, odometry frame, m.
    estimator : BaseEstimator
        Where the base is.
    """

    def __init__(self, parameters: WalkParameters, height: float, com: np.ndarray, estimator: BaseEstimator) -> None:
        self._p, self._height, self._com, self._estimator = parameters, height, com, estimator
        self._level = float(estimator.heights.mean())

    def follow(self, dcm: np.ndarray, measured: np.ndarray, omega: float) -> None:
        """Take the planned DCM and the measured centre of mass of a tick, (2,) each, odometry frame, m."""
        _pull(self._com, dcm, measured, omega, self._p.com_pull)

    def feet(self, stepping: Stepping, posture: Posture, rates: np.ndarray) -> PlannedFeet:
        """Return both feet, the swinging one from a base nearer to the measured one.

        Parameters
        ----------
        stepping : Stepping
            It has the feet.
        posture : Posture
            As measured.
        rates : (3,) array
            Angular velocity of the base, rad/s.
        """
        p, estimator = self._p, self._estimator
        heights = estimator.heights.copy()
        most = _LEVEL_SPEED * TICK
        self._level += clamped(0.5 * (heights[LEFT] + heights[RIGHT]) - self._level, -most, most)
        attitude, gains = (estimator.roll, estimator.pitch), (p.tilt_gain, p.tilt_rate_gain)
        swing = stepping.swing if stepping.is_swinging else -1
        body = self._com, self._height + self._level, posture.com
        measured = p.swing_from_measured, estimator.place
        places, rotations = _bases(stepping.feet, *body, attitude, rates, gains, swing, *measured)
        if swing >= 0:
            late = max(0.0, stepping.time - stepping.step_time)
            start, end, fraction = heights[swing], heights[1 - swing], stepping.fraction
            ground = start + (end - start) * min(max(fraction, 0.0), 1.0)
            heights[swing] = lift_height(fraction, p.lift) + ground - _LATE_SPEED * late
        return PlannedFeet(stepping.feet, heights, places, rotations)
