# SPDX-License-Identifier: MIT
"""Postures of a robot on its footholds, where its feet are in them, and how safely it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from shellbot_action_manager.body.geometry import LEG_COUNT
from shellbot_action_manager.gait.walking import LEG_AZIMUTH
from shellbot_common.rotations import rotation_from_rpy

DOWN = 1e-4  # m: a foot that is lifted by less stands


@dataclass(frozen=True)
class Postures:
    """Postures of the robot over its footholds, m of them."""

    pose: np.ndarray  #: (m, 6) Body relative to its rest pose, m and rad
    feet: np.ndarray  #: (m, 6, 3) Feet relative to where they stand, in the axes of their legs: out, left, up, m
    upper: np.ndarray  #: (m, 6, 2) Joints of the upper legs, rad; (m, 0, 2) without

    @property
    def stands(self) -> np.ndarray:
        """Which feet stand, (m, 6)."""
        return np.asarray(self.feet[..., 2] <= DOWN)

    def __getitem__(self, i: int) -> Postures:
        """Return posture `i` alone."""
        return Postures(self.pose[i][None], self.feet[i][None], self.upper[i][None])


def joined(first: Postures, second: Postures) -> Postures:
    """Return postures one after the other; the first of the second is the last of the first."""
    return Postures(*(np.concatenate((a, b[1:])) for a, b in zip(vars(first).values(), vars(second).values())))


def feet_in_walk_axes(offsets: np.ndarray, footholds: np.ndarray) -> np.ndarray:
    """Return feet (..., 6, 3) in W from their offsets in the axes of their legs and where they stand (6, 3), m."""
    return footholds + np.einsum("kij,...kj->...ki", leg_axes(), offsets)


def all_in_base(p_walk: np.ndarray, pose: np.ndarray, height: float) -> np.ndarray:
    """Return `feet_in_base` of many postures (m, 6, 3)."""
    R_walk_base = Rotation.from_euler("xyz", pose[:, 3:]).as_matrix()  # noqa: N806
    return np.asarray((p_walk - (pose[:, None, :3] + [0.0, 0.0, height])) @ R_walk_base)


def stability(p_walk: np.ndarray, stands: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return how far (m,) the body's centre is inside the polygon of the standing feet; negative outside.

    Parameters
    ----------
    p_walk : (m, 6, 3) array
        Feet in W, counter-clockwise as they are numbered, m.
    stands : (m, 6) array of bool
        Which of them stand; below three there is no polygon: minus infinity.
    centre : (m, 2) array
        Of the body in W, m.
    """
    least = np.full(len(p_walk), np.inf)
    for i in range(LEG_COUNT):
        for j in range(1, LEG_COUNT):  # the next foot that stands: those between i and j do not
            k = (i + j) % LEG_COUNT
            between = [(i + n) % LEG_COUNT for n in range(1, j)]
            edge = stands[:, i] & stands[:, k] & ~stands[:, between].any(axis=1)
            along = p_walk[:, k, :2] - p_walk[:, i, :2]
            to = centre - p_walk[:, i, :2]
            inside = (along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0]) / np.maximum(np.linalg.norm(along, axis=1), 1e-9)
            least = np.where(edge, np.minimum(least, inside), least)
    return np.where(stands.sum(axis=1) >= 3, least, -np.inf)


def leg_axes() -> np.ndarray:
    """Return the axes of the legs in W, (6, 3, 3): x outwards, z up."""
    return np.stack([rotation_from_rpy(0.0, 0.0, azimuth) for azimuth in LEG_AZIMUTH])
