# SPDX-License-Identifier: MIT
"""What the node does with one limb_references, message to message and without transport; and how long that takes."""

from __future__ import annotations

import math
import time
from typing import Dict, NamedTuple, Optional

import numpy as np
import rospy
from sensor_msgs.msg import JointState

from shellbot_kinematics.errors import KinematicsError
from shellbot_kinematics.kinematics_conversions import targets_to_message
from shellbot_kinematics.limb_references_conversions import references_from_message, references_to_message
from shellbot_kinematics.references import Kind, LimbReference, LimbReferences
from shellbot_kinematics.reports import JointTargets
from shellbot_kinematics.server_core import ServerCore
from shellbot_kinematics.shellbot_limbs import FAN, LOWER_LIMBS, UPPER_LIMBS
from shellbot_kinematics.solver import ShellbotSolver
from shellbot_kinematics.solver_config import SolverConfig
from shellbot_msgs.msg import LimbReferences as LimbReferencesMsg


class TickAnswer(NamedTuple):
    """Targets and their message, or None and why; `complaint` is empty if there is nothing to say."""

    targets: Optional[JointTargets]
    message: Optional[JointState]
    complaint: str


def answer_references(core: ServerCore, message: LimbReferencesMsg) -> TickAnswer:
    """Return the answer to one message; one that cannot be read holds all limbs."""
    complaint = ""
    stamp = message.header.stamp
    try:
        try:
            references = references_from_message(message)
        except KinematicsError as error:
            complaint = f"limb_references not used, all limbs hold: {error}"
            targets = core.hold(stamp.to_sec())
        else:
            targets = core.tick(references)
    except KinematicsError as error:
        return TickAnswer(None, None, complaint or f"no joint_targets: {error}")
    return TickAnswer(targets, targets_to_message(targets, stamp), complaint)


def measure_tick(urdf_text: str, ticks: int = 5000, solver: str = "closed_form") -> Dict[str, float]:
    """Return median, 99th percentile and worst time (us, wall clock) of `answer_references` on a tripod gait.

    Parameters
    ----------
    urdf_text : str
        Robot description.
    ticks : int
        How many to measure, after 100 that are not.
    solver : str
        One of SOLVERS.
    """
    core = ServerCore(ShellbotSolver(urdf_text, SolverConfig(solver=solver)))
    core.solver.warm_up()
    model = core.solver.model
    q = np.concatenate([np.tile([0.0, -0.293, -0.165, 1.923], 6), np.tile([0.466, 1.367], 6)])[: model.n]
    core.update_measured(model.names, q)
    messages = [_gait_message(core.solver, q, 0.01 * k) for k in range(100)]
    taken = np.empty(ticks)
    for k in range(-100, ticks):
        message = messages[k % 100]
        message.header.stamp = rospy.Time(100 + (k + 100) // 100, (k % 100) * 10_000_000)
        start = time.perf_counter_ns()
        answer = answer_references(core, message)
        if k >= 0:
            taken[k] = 1e-3 * (time.perf_counter_ns() - start)
        if answer.targets is not None:
            core.measured[:] = answer.targets.position  # the robot follows
    return {"median": float(np.median(taken)), "p99": float(np.percentile(taken, 99)), "worst": float(taken.max())}


def _gait_message(solver: ShellbotSolver, q: np.ndarray, t: float) -> LimbReferencesMsg:
    """Return references of a tripod gait with 60 mm stride and 30 mm lift at 1 Hz; upper shells by their joints."""
    rate = 2.0 * math.pi
    phase = rate * t + math.pi * (np.arange(6) % 2)
    p, v = solver.fk_feet(q), np.zeros((6, 3))
    p[:, 0] += 0.03 * np.cos(phase)
    p[:, 2] += 0.015 * (1.0 + np.sin(phase))
    v[:, 0], v[:, 2] = -0.03 * rate * np.sin(phase), 0.015 * rate * np.cos(phase)
    limbs = [LimbReference(FAN, Kind.JOINTS, joint_position=(0.0,))]
    for k, limb in enumerate(LOWER_LIMBS):
        limbs.append(LimbReference(limb, Kind.POSE, f"{limb}_foot", p[k].tolist(), v[k].tolist()))
    for limb, joints in zip(UPPER_LIMBS, q[24:].reshape(-1, 2).tolist()):
        limbs.append(LimbReference(limb, Kind.JOINTS, joint_position=joints, joint_velocity=(0.0, 0.0)))
    return references_to_message(LimbReferences(t, tuple(limbs)))
