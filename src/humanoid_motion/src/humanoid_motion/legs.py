# SPDX-License-Identifier: MIT
"""The legs in closed form: hip, two links, ankle; and one motor that turns the yaw-pitch joints of both hips."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Tuple

import numpy as np

from humanoid_motion.body_model import BodyModel

LEG_JOINTS = ("HipYawPitch", "HipRoll", "HipPitch", "KneePitch", "AnklePitch", "AnkleRoll")
"""Of each leg, from hip to foot; the side (L, R) goes in front."""

_REACH_MARGIN = 0.0005  # m, to the straight leg


@dataclass(frozen=True)
class Leg:
    """Lengths and axes of one leg, m.

    The hip's first axis lies in the y-z plane; turned by `tilt` about x it becomes z, and with it hip yaw-pitch,
    roll and pitch become Euler angles z, x, y.
    """

    hip: np.ndarray  #: (3,) In the root link
    tilt: float  #: rad
    thigh: float
    shin: float
    sole: float  #: Height of the ankle above the sole
    lower: np.ndarray  #: (6,) rad
    upper: np.ndarray  #: (6,) rad

    @classmethod
    def of_model(cls, model: BodyModel, side: str) -> Leg:
        """Return the leg on side ``L`` or ``R`` of a model whose leg has the structure above."""
        joints = [model.joints[side + name] for name in LEG_JOINTS]
        sole = model.joints[f"{side.lower()}_sole_fixed"]
        axis = joints[0].axis
        return cls(
            hip=joints[0].origin[:3, 3],
            tilt=math.atan2(axis[1], axis[2]) % (2.0 * math.pi),
            thigh=-float(joints[3].origin[2, 3]),
            shin=-float(joints[4].origin[2, 3]),
            sole=-float(sole.origin[2, 3]),
            lower=np.array([joint.lower for joint in joints]),
            upper=np.array([joint.upper for joint in joints]),
        )

    def ankle(self, rotation: np.ndarray, sole: np.ndarray) -> np.ndarray:
        """Return the ankle (3,) of a foot whose sole frame has this rotation and place, root frame, m."""
        return np.asarray(sole + self.sole * rotation[:, 2])

    def hip_yaw_pitch(self, rotation: np.ndarray, ankle: np.ndarray) -> float:
        """Return the first joint's angle if the foot is to have this rotation and ankle exactly, rad."""
        a, b = self.thigh, self.shin
        x, y, z = rotation.T @ (self.hip - ankle)  # the hip, seen from the foot
        d, knee = self._knee(math.sqrt(x * x + y * y + z * z))
        roll = math.atan2(y, z)
        pitch = math.atan2(-a * math.sin(knee), b + a * math.cos(knee)) - math.asin(max(-1.0, min(1.0, x / d)))
        hip = rotation @ _rx(-roll) @ _ry(-pitch - knee)
        turned = _rx(self.tilt) @ hip
        sign = math.copysign(1.0, math.cos(self.tilt))
        return math.atan2(-sign * turned[0, 1], sign * turned[1, 1])

    def angles(self, yaw_pitch: float, rotation: np.ndarray, ankle: np.ndarray) -> np.ndarray:
        """Return all six angles, rad: ankle and sole normal are met exactly, yaw as far as `yaw_pitch` allows.

        Parameters
        ----------
        yaw_pitch : float
            Angle of the shared hip joint, rad.
        rotation : (3, 3) array
            Of the foot in the root frame.
        ankle : (3,) array
            In the root frame, m. Beyond the reach, the leg is straight towards it.
        """
        a, b = self.thigh, self.shin
        first = _rx(-self.tilt) @ _rz(yaw_pitch) @ _rx(self.tilt)
        x, y, z = first.T @ (ankle - self.hip)
        d, knee = self._knee(math.sqrt(x * x + y * y + z * z))
        roll = math.atan2(y, -z)
        pitch = math.asin(max(-1.0, min(1.0, -x / d))) - math.atan2(b * math.sin(knee), a + b * math.cos(knee))
        nx, ny, nz = (first @ _rx(roll) @ _ry(pitch + knee)).T @ rotation[:, 2]
        return np.array([yaw_pitch, roll, pitch, knee, math.atan2(nx, nz), -math.asin(max(-1.0, min(1.0, ny)))])

    def _knee(self, distance: float) -> Tuple[float, float]:
        """Return the distance hip to ankle within reach, and the knee's angle there."""
        a, b = self.thigh, self.shin
        d = max(abs(a - b) + _REACH_MARGIN, min(a + b - _REACH_MARGIN, distance))
        return d, math.acos(max(-1.0, min(1.0, (d * d - a * a - b * b) / (2.0 * a * b))))


def pair_angles(
    legs: Tuple[Leg, Leg],
    rotations: Tuple[np.ndarray, np.ndarray],
    ankles: Tuple[np.ndarray, np.ndarray],
    weight: float,
) -> Tuple[np.ndarray, np.ndarray]:
    """Return the six angles of both legs with the hips' shared motor, rad.

    Parameters
    ----------
    legs : (Leg, Leg)
        Left and right.
    rotations, ankles : pairs of (3, 3) and (3,) arrays
        Of the feet in the root frame, m.
    weight : float
        Part of the shared angle that the left leg decides, 0 to 1.
    """
    left, right = (leg.hip_yaw_pitch(r, p) for leg, r, p in zip(legs, rotations, ankles))
    shared = weight * left + (1.0 - weight) * right
    shared = min(max(shared, legs[0].lower[0], legs[1].lower[0]), legs[0].upper[0], legs[1].upper[0])
    one, other = (leg.angles(shared, r, p) for leg, r, p in zip(legs, rotations, ankles))
    return one, other


def _rx(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _ry(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _rz(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
