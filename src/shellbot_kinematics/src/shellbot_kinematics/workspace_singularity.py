# SPDX-License-Identifier: MIT
"""How well a limb moves its tip: smallest singular value and manipulability over its plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shellbot_kinematics.shellbot_limbs import Frame
from shellbot_kinematics.shellbot_model import ShellbotModel
from shellbot_kinematics.workspace_plane import LimbPlane
from shellbot_kinematics.workspace_reach import plane_grid


@dataclass(frozen=True, eq=False)
class SingularityMap:
    """Measures of the tip's Jacobian over a limb's plane, per knee branch (up, down); NaN where out of reach."""

    plane: LimbPlane  #: Links, limits and the meaning of s and z
    #: s, z: (ns,) Grid, m
    s: np.ndarray
    z: np.ndarray
    #: (2, nz, ns) Smallest singular value, m/rad: of the 3x3 Jacobian of coxa, femur, tibia (lower limbs; the same for
    #: every angle of fan and coxa) or of the 2x2 one of shoulder and shell
    smallest: np.ndarray
    #: (2, nz, ns) |det J| (Yoshikawa's sqrt(det(J J'))), m^3/rad^3 or m^2/rad^2; zero exactly at the singular poses
    manipulability: np.ndarray

    def best(self) -> np.ndarray:
        """Return the smallest singular value (nz, ns) of the better branch; NaN where none reaches."""
        filled = np.where(np.isnan(self.smallest), -np.inf, self.smallest).max(axis=0)
        return np.where(np.isinf(filled), np.nan, filled)


def singularity_map(model: ShellbotModel, limb: str, frame: Frame = Frame.FOOT, step: float = 0.003) -> SingularityMap:
    """Return smallest singular value and manipulability over the plane of a limb.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. upper_6.
    frame : Frame
        FOOT (lower limbs) or SPHERE_CENTRE.
    step : float
        Spacing of the grid, m.

    Raises
    ------
    UnknownNameError, InvalidConfigError
        If there is no such limb or frame, or the step is not between 0.1 mm and 50 mm.

    Notes
    -----
    In the axes along, across the plane and up, with h the lateral offset, the coxa's column is (-h, s, 0), and those of
    femur and tibia have no part across: det J = s det J_plane. So the leg is singular with the tip under the coxa axis
    (s = 0), and with the links stretched or folded.
    """
    plane = LimbPlane.from_model(model, limb, frame)
    s, z = plane_grid(plane, step)
    points = np.stack(np.meshgrid(s, z), axis=-1).reshape(-1, 2)
    _, J_plane = plane.solve(points)  # noqa: N806
    reached = np.isfinite(J_plane[..., 0, 0])
    J = J_plane[reached]  # noqa: N806 - (m, 2, 2)
    if plane.is_lower:
        J3 = np.zeros((len(J), 3, 3))  # noqa: N806
        J3[:, 0, 0] = -plane.offset
        J3[:, 1, 0] = np.broadcast_to(points[:, 0], reached.shape)[reached]
        J3[:, 0, 1:], J3[:, 2, 1:] = J[:, 0], J[:, 1]
        J = J3  # noqa: N806
    shape = (2, z.size, s.size)
    smallest, manipulability = np.full((2, *reached.shape), np.nan)
    if len(J):
        smallest[reached] = np.linalg.svd(J, compute_uv=False)[:, -1]
        manipulability[reached] = np.abs(np.linalg.det(J))
    return SingularityMap(plane, s, z, smallest.reshape(shape), manipulability.reshape(shape))
