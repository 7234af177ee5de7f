# SPDX-License-Identifier: MIT
"""The plane of a limb: its two links, joint limits, the curves that bound its reach, joints and Jacobian per point.

Every limb of Shellbot ends in two links in a vertical plane: femur and tibia behind the coxa, shoulder and shell behind
the body. In that plane a point is (s, z): s along the plane, from the coxa axis (lower limbs) or the shoulder axis
(upper limbs), z its height in base_link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Tuple

import numpy as np

from shellbot_kinematics import _layout as K  # noqa: N812 - columns of the packed geometry
from shellbot_kinematics import workspace_kernels
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, UPPER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

CURVE_POINTS = 361


@dataclass(frozen=True, eq=False)
class LimbPlane:
    """Two links in a plane with joint limits."""

    limb: str  #: Its name
    frame: Frame  #: The tip
    origin: np.ndarray  #: (2,) First axis of the two links, (s, z) in m
    #: l1, l2 (m), angles a0, b0 of the links at zero (rad), signs of the two joints
    link: Tuple[float, float, float, float, float, float]
    offset: float  #: Of the plane from the coxa axis, m; 0 for upper limbs, which do not turn
    #: lower, upper: (2,) Limits of the two joints, rad
    lower: np.ndarray
    upper: np.ndarray
    turn: np.ndarray  #: (2,) Limits of the joint that turns the plane (coxa), rad; NaN for upper limbs

    @classmethod
    def from_model(cls, model: ShellbotModel, limb: str, frame: Frame = Frame.FOOT) -> LimbPlane:
        """Return the plane of a limb.

        Parameters
        ----------
        model : ShellbotModel
            The robot.
        limb : str
            lower_1 .. upper_6.
        frame : Frame
            Tip.

        Raises
        ------
        UnknownNameError
            If this robot has no such limb, or the limb no such frame.
        """
        model.chain(limb, frame)
        low, high = model.lower[model.columns(limb)], model.upper[model.columns(limb)]
        if limb in LOWER_LIMBS:
            g = model.legs[LOWER_LIMBS.index(limb)]
            k = K.G_TIP + (0 if frame == Frame.FOOT else 3)
            height = g[K.G_FAN + 2] + g[K.G_OFF + 2] + g[K.G_ZF]
            link = (g[K.G_L], g[k + 1], g[K.G_A0], g[k + 2], g[K.G_SF], g[K.G_ST])
            return cls(
                limb, Frame(frame), np.array([g[K.G_L2], height]), link, float(g[k]), low[2:], high[2:],
                np.array([low[1], high[1]]),
            )  # fmt: skip
        u = model.shells[UPPER_LIMBS.index(limb)]
        link = (u[K.U_L], u[K.U_M], u[K.U_A0], u[K.U_B0], u[K.U_SS], u[K.U_SH])
        return cls(limb, Frame(frame), np.array([0.0, u[K.U_ORG + 2]]), link, 0.0, low, high, np.full(2, np.nan))

    @property
    def is_lower(self) -> bool:
        """Whether the plane turns about a coxa axis."""
        return bool(np.isfinite(self.turn).all())

    def forward(self, q: np.ndarray) -> np.ndarray:
        """Return the tip (..., 2), m, for the two joints q (..., 2) in rad.

        Parameters
        ----------
        q : (..., 2) array
            rad.
        """
        l1, l2, a0, b0, sg, sh = self.link
        A = a0 - sg * q[..., 0]  # noqa: N806 - angles of the links, as in _planar
        B = b0 - sg * q[..., 0] - sh * q[..., 1]  # noqa: N806
        s = l1 * np.cos(A) + l2 * np.cos(B)
        return self.origin + np.stack((s, l1 * np.sin(A) + l2 * np.sin(B)), axis=-1)

    def solve(self, points: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Return joints (2, m, 2), knee up and down, and the plane's Jacobian (2, m, 2, 2), m/rad, for points (m, 2).

        NaN where a branch does not get there within the limits.

        Parameters
        ----------
        points : (m, 2) array
            In the plane, m.
        """
        relative = np.ascontiguousarray(points, dtype=np.float64) - self.origin
        q = np.empty((2, len(relative), 2))
        J = np.empty((2, len(relative), 2, 2))  # noqa: N806
        workspace_kernels.plane_map(self.link, relative, self.lower, self.upper, q, J)
        return q, J

    def span(self) -> Tuple[np.ndarray, np.ndarray]:
        """Return the lowest and highest corner (2,) of a box around all that the links can reach, m."""
        length = self.link[0] + self.link[1]
        return self.origin - length, self.origin + length

    def curves(self) -> Dict[str, np.ndarray]:
        """Return the curves (points, 2) on which the reach can end, by name: joint limits, stretched, folded.

        The image of a box of joints is bounded by images of its edges and of the singular lines inside it.
        """
        low, high = np.maximum(self.lower, -np.pi), np.minimum(self.upper, np.pi)
        inner, outer = (np.linspace(low[i], high[i], CURVE_POINTS) for i in range(2))
        names = ("femur", "tibia") if self.is_lower else ("shoulder", "shell")
        found: Dict[str, np.ndarray] = {}
        for j, name in enumerate(names):
            for end, limits, bound in (("lower", self.lower, low), ("upper", self.upper, high)):
                if abs(limits[j]) < np.pi:
                    q = np.empty((CURVE_POINTS, 2))
                    q[:, j], q[:, 1 - j] = bound[j], (outer, inner)[j]
                    found[f"{name} {end} limit"] = self.forward(q)
        _, _, a0, b0, _, sh = self.link
        for name, bend in (("stretched", 0.0), ("folded", np.pi)):
            q1 = sh * (b0 - a0 - bend)
            q1 = q1 - 2.0 * np.pi * np.floor((q1 - 0.5 * (low[1] + high[1])) / (2.0 * np.pi) + 0.5)
            if low[1] <= q1 <= high[1]:
                found[name] = self.forward(np.stack((inner, np.full(CURVE_POINTS, q1)), axis=1))
        return found
