# SPDX-License-Identifier: MIT
"""Limb references from the commands of legs and shells, with velocities from one tick to the next."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_action_manager.body.legs import LowerCommand
from shellbot_kinematics.references import Frame, LimbReferences


class ReferenceBuilder:
    """Remembers the last command, so that velocities are the differences of what was really sent."""

    def __init__(self) -> None:
        self._lower: Optional[LowerCommand] = None
        self._upper = np.zeros((0, 2))

    def build(self, stamp: float, dt: float, lower: LowerCommand, upper: np.ndarray) -> LimbReferences:
        """Return the references of a tick.

        Parameters
        ----------
        stamp, dt : float
            Simulated time and time since the last references, s; dt <= 0 gives zero velocities.
        lower : LowerCommand
            Joints or feet of the lower legs.
        upper : (6, 2) or (0, 2) array
            shoulder, shell, rad; empty without upper legs.
        """
        frame = np.full(12, int(Frame.HOLD))
        p_base, v_base = np.full((12, 3), np.nan), np.full((12, 3), np.nan)
        q, dq = np.full((12, 3), np.nan), np.full((12, 3), np.nan)
        last = self._lower
        moved = last is not None and dt > 0.0
        fan_velocity = (lower.q[0, 0] - last.q[0, 0]) / dt if moved and last is not None else 0.0
        if lower.p_base is not None:
            frame[:6], p_base[:6], v_base[:6] = Frame.FOOT, lower.p_base, 0.0
            if moved and last is not None and last.p_base is not None:
                v_base[:6] = (lower.p_base - last.p_base) / dt
        else:
            frame[:6], q[:6], dq[:6] = Frame.JOINT, lower.q[:, 1:], 0.0
            if moved and last is not None:
                dq[:6] = (lower.q[:, 1:] - last.q[:, 1:]) / dt
        if len(upper):
            frame[6:], q[6:, :2], dq[6:, :2] = Frame.JOINT, upper, 0.0
            if moved and len(self._upper):
                dq[6:, :2] = (upper - self._upper) / dt
        self._lower, self._upper = lower, upper
        return LimbReferences(
            stamp=stamp,
            fan_position=float(lower.q[:, 0].mean()),
            fan_velocity=float(fan_velocity),
            frame=frame,
            p_base=p_base,
            v_base=v_base,
            joint_position=q,
            joint_velocity=dq,
        )
