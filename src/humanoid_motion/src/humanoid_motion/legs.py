# SPDX-License-Identifier: MIT
"""The legs in closed form: hip, two links, ankle; and one motor that turns the yaw-pitch joints of both hips."""

from __future__ import annotations

import math
from typing import NamedTuple, Tuple

import numpy as np

from humanoid_motion.body_model import BodyModel
from humanoid_motion.planar import applied, clamped, undone
from robot_mechanics.native.jit import kernel

LEG_JOINTS = ("HipYawPitch", "HipRoll", "HipPitch", "KneePitch", "AnklePitch", "AnkleRoll")
"""Of each leg, from hip to foot; the side (L, R) goes in front."""

_REACH_MARGIN = 0.0005  # m, to the straight leg


class Leg(NamedTuple):
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
            hip=joints[0].origin[:3, 3].copy(),
            tilt=math.atan2(axis[1], axis[2]) % (2.0 * math.pi),
            thigh=-float(joints[3].origin[2, 3]),
            shin=-float(joints[4].origin[2, 3]),
            sole=-float(sole.origin[2, 3]),
            lower=np.array([joint.lower for joint in joints]),
            upper=np.array([joint.upper for joint in joints]),
        )


@kernel
def ankle_of(leg: Leg, rotation: np.ndarray, sole: np.ndarray) -> np.ndarray:
    """Return the ankle (3,) of a foot whose sole frame has this rotation and place, root frame, m."""
    return sole + leg.sole * rotation[:, 2]


@kernel
def hip_yaw_pitch(leg: Leg, rotation: np.ndarray, ankle: np.ndarray) -> float:
    """Return the first joint's angle if the foot is to have this rotation and ankle exactly, rad.

    Hip pitch, knee and ankle pitch turn about one direction, which the ankle's roll leaves in the foot's y-z plane at
    a right angle to the hip; the first joint is what turns the hip's own y axis there.
    """
    up = leg.hip - ankle
    _, y, z = undone(rotation, up[0], up[1], up[2])  # the hip, seen from the foot
    roll = math.atan2(y, z)
    x, y, z = applied(rotation, 0.0, math.cos(roll), -math.sin(roll))
    c, s = math.cos(leg.tilt), math.sin(leg.tilt)
    sign = math.copysign(1.0, c)
    return math.atan2(-sign * x, sign * (c * y - s * z))


@kernel
def leg_angles(leg: Leg, yaw_pitch: float, rotation: np.ndarray, ankle: np.ndarray) -> np.ndarray:
    """Return all six angles, rad: ankle and sole normal are met exactly, yaw as far as `yaw_pitch` allows.

    Parameters
    ----------
    leg : Leg
        Lengths.
    yaw_pitch : float
        Angle of the shared hip joint, rad.
    rotation : (3, 3) array
        Of the foot in the root frame.
    ankle : (3,) array
        In the root frame, m. Beyond the reach, the leg is straight towards it.
    """
    a, b = leg.thigh, leg.shin
    down = ankle - leg.hip
    x, y, z = _behind_first(leg.tilt, yaw_pitch, down[0], down[1], down[2])
    d = clamped(math.sqrt(x * x + y * y + z * z), abs(a - b) + _REACH_MARGIN, a + b - _REACH_MARGIN)
    knee = math.acos(clamped((d * d - a * a - b * b) / (2.0 * a * b), -1.0, 1.0))
    roll = math.atan2(y, -z)
    pitch = math.asin(clamped(-x / d, -1.0, 1.0)) - math.atan2(b * math.sin(knee), a + b * math.cos(knee))
    x, y, z = _behind_first(leg.tilt, yaw_pitch, rotation[0, 2], rotation[1, 2], rotation[2, 2])
    y, z = _plane_turn(y, z, -roll)
    z, x = _plane_turn(z, x, -pitch - knee)
    return np.array([yaw_pitch, roll, pitch, knee, math.atan2(x, z), -math.asin(clamped(y, -1.0, 1.0))])


@kernel
def pair_angles(legs: Tuple[Leg, Leg], rotations: np.ndarray, ankles: np.ndarray, weight: float) -> np.ndarray:
    """Return the six angles of both legs with the hips' shared motor, (2, 6), rad.

    Parameters
    ----------
    legs : (Leg, Leg)
        Left and right.
    rotations, ankles : (2, 3, 3) and (2, 3) arrays
        Of the feet in the root frame, m.
    weight : float
        Part of the shared angle that the left leg decides, 0 to 1.
    """
    one, other = legs
    left, right = hip_yaw_pitch(one, rotations[0], ankles[0]), hip_yaw_pitch(other, rotations[1], ankles[1])
    low, high = max(one.lower[0], other.lower[0]), min(one.upper[0], other.upper[0])
    shared = clamped(weight * left + (1.0 - weight) * right, low, high)
    angles = np.empty((2, 6))
    angles[0] = leg_angles(one, shared, rotations[0], ankles[0])
    angles[1] = leg_angles(other, shared, rotations[1], ankles[1])
    return angles


@kernel
def _behind_first(tilt: float, yaw_pitch: float, x: float, y: float, z: float) -> Tuple[float, float, float]:
    """Return a vector of the root link in the link behind the shared joint."""
    y, z = _plane_turn(y, z, tilt)
    x, y = _plane_turn(x, y, -yaw_pitch)
    y, z = _plane_turn(y, z, -tilt)
    return x, y, z


@kernel
def _plane_turn(one: float, other: float, angle: float) -> Tuple[float, float]:
    """Return two coordinates after a turn from the first axis to the second."""
    c, s = math.cos(angle), math.sin(angle)
    return c * one - s * other, s * one + c * other
