# SPDX-License-Identifier: MIT
"""Targets, summaries and poses to messages; service requests to calls of the solver."""

from __future__ import annotations

import math
from typing import Optional, Tuple

import numpy as np
import rospy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from sensor_msgs.msg import JointState

from robot_mechanics.errors import KinematicsError, ShapeError
from robot_mechanics.motion.rotations import quaternion_from_rotation, rpy_from_quaternion
from shellbot_common.diagnostics_conversions import diagnostic_status, diagnostics
from shellbot_kinematics.limb_references_conversions import FRAME_ID
from shellbot_kinematics.reports import JointTargets
from shellbot_kinematics.server_core import Summary
from shellbot_kinematics.shellbot_limbs import frame_of
from shellbot_kinematics.solver import ShellbotSolver
from shellbot_msgs.srv import ComputeFKRequest, ComputeFKResponse, ComputeIKRequest, ComputeIKResponse


def targets_to_message(targets: JointTargets, stamp: rospy.Time) -> JointState:
    """Return joint targets as a message with the stamp of the references, to the nanosecond."""
    message = JointState(
        name=list(targets.names),
        position=targets.position.tolist(),
        velocity=targets.velocity.tolist(),
        effort=[] if targets.effort is None else targets.effort.tolist(),
    )
    message.header.stamp = stamp
    return message


def summary_to_message(summary: Summary, node: str, stamp: rospy.Time) -> DiagnosticArray:
    """Return the summary as diagnostics of one component."""
    status = diagnostic_status(f"{node}: solver", summary.level, summary.text, dict(summary.values))
    return diagnostics(stamp, status)


def answer_fk(solver: ShellbotSolver, request: ComputeFKRequest, measured: np.ndarray) -> ComputeFKResponse:
    """Answer compute_fk; an empty joint_position stands for the measured joints."""
    try:
        where = solver.model.columns(request.limb)
        q = request.joint_position
        if not q:
            q = measured[where] if request.limb in solver.model.limbs else ()
            if np.isnan(q).any():
                raise ShapeError(f"the joints of {request.limb} have not been measured yet; give joint_position")
        T = solver.forward(request.limb, frame_of(request.limb, request.frame), q)  # noqa: N806 - a pose
    except KinematicsError as error:
        return ComputeFKResponse(success=False, reason=str(error))
    answer = ComputeFKResponse(success=True, reason="", pose=PoseStamped())
    answer.pose.header.frame_id = FRAME_ID
    answer.pose.pose = Pose(Point(*T[:3, 3]), Quaternion(*quaternion_from_rotation(T)))
    return answer


def answer_ik(solver: ShellbotSolver, request: ComputeIKRequest, measured: np.ndarray) -> ComputeIKResponse:
    """Answer compute_ik; an empty seed stands for the measured joints."""
    p, seed = request.pose.position, request.seed
    try:
        if not seed:
            seed = np.where(np.isnan(measured), 0.0, measured)
        frame = frame_of(request.limb, request.frame)
        rpy = _orientation(request.pose.orientation)
        result = solver.inverse(request.limb, frame, [p.x, p.y, p.z], rpy, request.fan_position, seed)
    except KinematicsError as error:
        return ComputeIKResponse(success=False, reason=str(error), error=math.nan)
    return ComputeIKResponse(result.converged, result.reason, result.q.tolist(), result.error)


def _orientation(q: Quaternion) -> Optional[Tuple[float, float, float]]:
    """Return roll, pitch, yaw, or None for a free one: all NaN, or all zero as a request is when nobody fills it in."""
    values = np.array([q.x, q.y, q.z, q.w])
    if np.isnan(values).all() or not values.any():
        return None
    length = float(np.linalg.norm(values))
    if not abs(length - 1.0) < 1e-3:
        raise ShapeError(f"the quaternion has length {length:.3g}; expected 1, or all NaN for a free orientation")
    return rpy_from_quaternion(*(values / length).tolist())
