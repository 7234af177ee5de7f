# SPDX-License-Identifier: MIT
"""LimbReferences of the pure code to and from shellbot_msgs/LimbReferences; used at both ends of the topic."""

from __future__ import annotations

import math
from typing import Optional, Tuple

import numpy as np
import rospy
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3

from shellbot_kinematics.errors import InvalidReferenceError
from shellbot_kinematics.references import LIMBS, Frame, LimbReferences, limb_index
from shellbot_kinematics.rotations import quaternion_from_rpy, rpy_from_quaternion
from shellbot_msgs.msg import LimbReference
from shellbot_msgs.msg import LimbReferences as LimbReferencesMsg

NAN = float("nan")
FRAME_ID = "base_link"


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
    frame = np.full(12, int(Frame.HOLD), dtype=np.int64)
    p, v, rpy, w, joints, rates = (np.full((12, 3), np.nan) for _ in range(6))
    for limb in message.limbs:
        i = limb_index(limb.limb)
        if frame[i] != Frame.HOLD:
            raise InvalidReferenceError(f"limb {limb.limb} comes twice in one message; send each limb at most once")
        if limb.frame not in (Frame.FOOT, Frame.SPHERE_CENTRE, Frame.JOINT):
            raise InvalidReferenceError(
                f"limb {limb.limb} has frame {limb.frame}; expected 0 (FOOT), 1 (SPHERE_CENTRE) or 2 (JOINT); "
                "leave a limb out to hold it"
            )
        frame[i] = limb.frame
        if limb.frame == Frame.JOINT:
            _read_joints(limb, i, joints, rates)
            continue
        position, linear, angular = limb.pose.position, limb.twist.linear, limb.twist.angular
        p[i] = position.x, position.y, position.z
        v[i] = linear.x, linear.y, linear.z
        if limb.frame == Frame.SPHERE_CENTRE:
            rpy[i] = _rpy(limb)
            w[i] = angular.x, angular.y, angular.z
    return LimbReferences(
        stamp=message.header.stamp.to_sec(),
        fan_position=message.fan_position,
        fan_velocity=message.fan_velocity,
        frame=frame,
        p_base=p,
        v_base=v,
        rpy_base=rpy,
        w_base=w,
        joint_position=joints,
        joint_velocity=rates,
    )


def _joint_count(i: int) -> int:
    return 3 if i < 6 else 2


def _read_joints(limb: LimbReference, i: int, joints: np.ndarray, rates: np.ndarray) -> None:
    count = _joint_count(i)
    order = "coxa, femur, tibia" if count == 3 else "shoulder, shell"
    if len(limb.joint_position) != count:
        raise InvalidReferenceError(
            f"limb {limb.limb} has {len(limb.joint_position)} joint positions; expected {count} ({order})"
        )
    if len(limb.joint_velocity) not in (0, count):
        raise InvalidReferenceError(
            f"limb {limb.limb} has {len(limb.joint_velocity)} joint velocities; "
            f"expected {count} ({order}) or none for zero"
        )
    joints[i, :count] = limb.joint_position
    rates[i, :count] = limb.joint_velocity if limb.joint_velocity else 0.0


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
