# SPDX-License-Identifier: MIT
"""Limb references to shellbot_msgs/LimbReferences, for any robot, and from it to those of Shellbot's solver."""

from __future__ import annotations

from typing import Optional

import rospy
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3

from shellbot_kinematics.packed_references import PackedReferences
from shellbot_kinematics.reference_packing import Packing, unknown_kind
from shellbot_kinematics.references import Kind, LimbReferences
from shellbot_msgs.msg import LimbReference
from shellbot_msgs.msg import LimbReferences as LimbReferencesMsg

FRAME_ID = "base_link"
_POSE, _JOINTS, _HOLD = int(Kind.POSE), int(Kind.JOINTS), int(Kind.HOLD)
_NAN = float("nan")
_FREE = (Pose(Point(*[_NAN] * 3), Quaternion(*[_NAN] * 4)), Twist(Vector3(*[_NAN] * 3), Vector3(*[_NAN] * 3)))


def stamp_from_seconds(seconds: float) -> rospy.Time:
    """Return the time rounded to the nearest nanosecond (rospy.Time.from_sec cuts 1.001 s off to 1000999999 ns)."""
    nanoseconds = int(round(seconds * 1e9))
    return rospy.Time(nanoseconds // 10**9, nanoseconds % 10**9)


def references_to_message(references: LimbReferences, stamp: Optional[rospy.Time] = None) -> LimbReferencesMsg:
    """Return the message.

    Parameters
    ----------
    references : LimbReferences
        What each limb should do.
    stamp : rospy.Time, optional
        Written into the header instead of `references.stamp`; pass the stamp of the joint_states that started the
        tick, so that it stays the same to the nanosecond.
    """
    message = LimbReferencesMsg()
    message.header.stamp = stamp_from_seconds(references.stamp) if stamp is None else stamp
    message.header.frame_id = FRAME_ID
    for limb in references.limbs:
        pose, twist = _FREE
        if limb.kind == _POSE:
            pose = Pose(Point(*limb.position), Quaternion(*limb.orientation))
            twist = Twist(Vector3(*limb.linear), Vector3(*limb.angular))
        message.limbs.append(
            LimbReference(
                limb.limb, int(limb.kind), limb.frame, pose, twist,
                limb.joint_position, limb.joint_velocity, limb.effort, limb.load_share,
            )
        )  # fmt: skip
    return message


def references_from_message(message: LimbReferencesMsg) -> PackedReferences:
    """Return the references of a message as Shellbot's solver takes them.

    Limbs that are missing hold. NaN passes (free coordinate, or a value the solver will refuse for that limb alone);
    an empty joint_velocity means zero.

    Raises
    ------
    UnknownNameError, InvalidReferenceError
        As `pack_references`, which reads the same content without a message.
    """
    packing = Packing(message.header.stamp.to_sec())
    for limb in message.limbs:
        kind = limb.kind
        if kind == _POSE:
            p, v = limb.pose.position, limb.twist.linear
            if packing.add_pose(limb.limb, limb.frame, (p.x, p.y, p.z), (v.x, v.y, v.z)):
                q, w = limb.pose.orientation, limb.twist.angular
                packing.add_turn(limb.limb, (q.x, q.y, q.z, q.w), (w.x, w.y, w.z))
        elif kind == _JOINTS:
            packing.add_joints(limb.limb, limb.joint_position, limb.joint_velocity)
        elif kind == _HOLD:
            packing.add_hold(limb.limb)
        else:
            raise unknown_kind(limb.limb, kind)
        if limb.effort:
            packing.add_effort(limb.limb, limb.effort)
    return packing.references()
