# SPDX-License-Identifier: MIT
"""LimbReferences of the pure code to and from shellbot_msgs/LimbReferences; used at both ends of the topic."""

from __future__ import annotations

import math
from array import array
from typing import List, Optional, Tuple

import numpy as np
import rospy
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3

from shellbot_kinematics._layout import (
    R_FAN,
    R_FAN_RATE,
    R_FRAME,
    R_JOINT,
    R_P,
    R_RATE,
    R_RPY,
    R_STAMP,
    R_V,
    R_W,
    REFERENCES,
)
from shellbot_kinematics.errors import InvalidReferenceError
from shellbot_kinematics.references import LIMBS, Frame, LimbReferences, limb_index
from shellbot_kinematics.rotations import quaternion_from_rpy, rpy_from_quaternion
from shellbot_msgs.msg import LimbReference
from shellbot_msgs.msg import LimbReferences as LimbReferencesMsg

NAN = float("nan")
FRAME_ID = "base_link"
_FOOT, _SPHERE_CENTRE, _JOINT = int(Frame.FOOT), int(Frame.SPHERE_CENTRE), int(Frame.JOINT)
_NOTHING = [NAN] * REFERENCES  # everything free, every limb held
_NOTHING[R_FRAME : R_FRAME + 12] = [float(Frame.HOLD)] * 12


def stamp_from_seconds(seconds: float) -> rospy.Time:
    """Return the time rounded to the nearest nanosecond (rospy.Time.from_sec cuts 1.001 s off to 1000999999 ns)."""
    nanoseconds = int(round(seconds * 1e9))
    return rospy.Time(nanoseconds // 10**9, nanoseconds % 10**9)


def references_to_message(references: LimbReferences, stamp: Optional[rospy.Time] = None) -> LimbReferencesMsg:
    """Return the message; limbs with Frame.HOLD are left out.

    Parameters
    ----------
    references : LimbReferences
        What each limb should do.
    stamp : rospy.Time, optional
        Written into the header instead of `references.stamp`; pass the stamp of the joint_states that started the
        tick, so that it stays the same to the nanosecond.

    Raises
    ------
    InvalidReferenceError
        If an orientation is free in part only: a quaternion cannot say that.
    """
    message = LimbReferencesMsg()
    message.header.stamp = stamp_from_seconds(references.stamp) if stamp is None else stamp
    message.header.frame_id = FRAME_ID
    message.fan_position = references.fan_position
    message.fan_velocity = references.fan_velocity
    # lists of Python floats: genpy packs them several times faster than numpy scalars
    frames, p, v = references.frame.tolist(), references.p_base.tolist(), references.v_base.tolist()
    for i, frame in enumerate(frames):
        if frame == Frame.HOLD:
            continue
        limb = LimbReference(limb=LIMBS[i], frame=frame)
        if frame == Frame.JOINT:
            count = _joint_count(i)
            limb.joint_position = references.joint_position[i, :count].tolist()
            limb.joint_velocity = references.joint_velocity[i, :count].tolist()
        else:
            limb.pose, limb.twist = Pose(), Twist()
            limb.pose.position, limb.twist.linear = Point(*p[i]), Vector3(*v[i])
            quaternion, rate = (NAN, NAN, NAN, NAN), (NAN, NAN, NAN)
            if frame == Frame.SPHERE_CENTRE:
                quaternion, rate = _quaternion(references.rpy_base[i], LIMBS[i]), tuple(references.w_base[i].tolist())
            limb.pose.orientation, limb.twist.angular = Quaternion(*quaternion), Vector3(*rate)
        message.limbs.append(limb)
    return message


def references_from_message(message: LimbReferencesMsg) -> LimbReferences:
    """Return the references of a message.

    Limbs that are missing become Frame.HOLD. NaN passes (free coordinate, or a value the solver will refuse for that
    limb alone); an empty joint_velocity means zero.

    Raises
    ------
    UnknownNameError
        On a limb that does not exist.
    InvalidReferenceError
        On a limb that comes twice, an unknown frame, a wrong number of joints, or a quaternion that is neither free
        (all NaN) nor of length one.
    """
    values = _NOTHING[:]
    values[R_STAMP] = message.header.stamp.to_sec()
    values[R_FAN], values[R_FAN_RATE] = message.fan_position, message.fan_velocity
    for limb in message.limbs:
        i = limb_index(limb.limb)
        if values[R_FRAME + i] != Frame.HOLD:
            raise InvalidReferenceError(f"limb {limb.limb} comes twice in one message; send each limb at most once")
        frame = limb.frame
        if frame == _JOINT:
            _read_joints(limb, i, values)
        elif frame == _FOOT or frame == _SPHERE_CENTRE:  # noqa: PLR1714, SIM109 - this is the tick's path
            position, linear = limb.pose.position, limb.twist.linear
            a, b = R_P + 3 * i, R_V + 3 * i
            values[a], values[a + 1], values[a + 2] = position.x, position.y, position.z
            values[b], values[b + 1], values[b + 2] = linear.x, linear.y, linear.z
            if frame == _SPHERE_CENTRE:
                angular, a, b = limb.twist.angular, R_RPY + 3 * i, R_W + 3 * i
                values[a : a + 3] = _rpy(limb)
                values[b : b + 3] = angular.x, angular.y, angular.z
            elif i >= 6:
                raise InvalidReferenceError(
                    f"limb {limb.limb} has no foot; use 1 (SPHERE_CENTRE) or 2 (JOINT), or leave it out to hold it"
                )
        else:
            raise InvalidReferenceError(
                f"limb {limb.limb} has frame {frame}; expected 0 (FOOT), 1 (SPHERE_CENTRE) or 2 (JOINT); "
                "leave a limb out to hold it"
            )
        values[R_FRAME + i] = float(frame)
    # by way of array: numpy takes several times as long over a list
    try:
        return LimbReferences.from_packed(np.frombuffer(array("d", values)))
    except TypeError as error:
        raise InvalidReferenceError(f"limb_references hold something that is no number: {error}") from None


def _joint_count(i: int) -> int:
    return 3 if i < 6 else 2


def _read_joints(limb: LimbReference, i: int, values: List[float]) -> None:
    count = _joint_count(i)
    if len(limb.joint_position) != count or len(limb.joint_velocity) not in (0, count):
        order = "coxa, femur, tibia" if count == 3 else "shoulder, shell"
        if len(limb.joint_position) != count:
            raise InvalidReferenceError(
                f"limb {limb.limb} has {len(limb.joint_position)} joint positions; expected {count} ({order})"
            )
        raise InvalidReferenceError(
            f"limb {limb.limb} has {len(limb.joint_velocity)} joint velocities; "
            f"expected {count} ({order}) or none for zero"
        )
    a, b = R_JOINT + 3 * i, R_RATE + 3 * i
    values[a : a + count] = limb.joint_position
    values[b : b + count] = limb.joint_velocity or [0.0] * count


def _quaternion(rpy: np.ndarray, limb: str) -> Tuple[float, float, float, float]:
    free = np.isnan(rpy)
    if free.all():
        return NAN, NAN, NAN, NAN
    if free.any():
        raise InvalidReferenceError(
            f"limb {limb} has the orientation {rpy.tolist()}: a message carries all three angles or none "
            "(all NaN = free)"
        )
    return quaternion_from_rpy(float(rpy[0]), float(rpy[1]), float(rpy[2]))


def _rpy(limb: LimbReference) -> Tuple[float, float, float]:
    orientation = limb.pose.orientation
    x, y, z, w = orientation.x, orientation.y, orientation.z, orientation.w
    if math.isnan(x) and math.isnan(y) and math.isnan(z) and math.isnan(w):
        return NAN, NAN, NAN
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not abs(length - 1.0) < 1e-3:
        raise InvalidReferenceError(
            f"limb {limb.limb} has a quaternion of length {length:.3g}; expected 1, or all NaN for a free orientation"
        )
    return rpy_from_quaternion(x / length, y / length, z / length, w / length)
