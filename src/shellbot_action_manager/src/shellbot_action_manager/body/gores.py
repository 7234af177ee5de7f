# SPDX-License-Identifier: MIT
"""The gores of the ball: where each of them is, and the point of it that is lowest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from robot_mechanics import SerialChain
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

_HALF_WIDTH = np.pi / 6.0  # rad: of a gore, slits included


@dataclass(frozen=True)
class Gores:
    """Twelve pieces of a sphere, six lower and six upper ones, each about the sphere centre of its limb.

    In the frame of its sphere centre a gore extends to both sides of the x axis, down from the equator if it is a
    lower one and up if it is an upper one; z is the axis of the ball.
    """

    names: Tuple[str, ...]  #: Frames of the sphere centres, as in the description
    chains: Tuple[SerialChain, ...]  #: From base_link to each of them
    columns: Tuple[np.ndarray, ...]  #: Where the joints of each chain stand in the array of driven joints
    side: np.ndarray  #: (12,) -1 of a lower gore, 1 of an upper one
    radius: float  #: Outer, m

    @classmethod
    def from_description(cls, urdf: str, radius: float) -> Gores:
        """Return the gores of a robot with upper limbs, of its description's text, for their outer radius, m."""
        model = ShellbotModel(urdf)
        chains = tuple(model.chain(limb, Frame.SPHERE_CENTRE) for limb in model.limbs)
        place = {name: i for i, name in enumerate(model.names)}
        columns = tuple(np.array([place[name] for name in chain.joint_names]) for chain in chains)
        side = np.where([limb in LOWER_LIMBS for limb in model.limbs], -1.0, 1.0)
        return cls(tuple(f"{limb}_sphere_centre" for limb in model.limbs), chains, columns, side, radius)

    def poses(self, q: np.ndarray) -> np.ndarray:
        """Return the poses (12, 4, 4) of the sphere centres in base_link, m, for all driven joints q (n,), rad."""
        return np.array([chain.fk(q[index]) for chain, index in zip(self.chains, self.columns)])

    def lowest_points(self, T_base_gore: np.ndarray, down: np.ndarray) -> np.ndarray:
        """Return the lowest point of each gore (12, 3) in base_link, m.

        Parameters
        ----------
        T_base_gore : (12, 4, 4) array
            From `poses`.
        down : (3,) array
            Direction of gravity in base_link.
        """
        d_gore = np.einsum("kij,i->kj", T_base_gore[:, :3, :3], down)
        across = np.clip(np.arctan2(d_gore[:, 1], d_gore[:, 0]), -_HALF_WIDTH, _HALF_WIDTH)
        z = self.side * np.maximum(self.side * d_gore[:, 2], 0.0)
        level = np.sqrt(np.maximum(1.0 - z * z, 0.0))
        d_gore = np.stack((level * np.cos(across), level * np.sin(across), z), axis=1)  # within the gore's edges
        return T_base_gore[:, :3, 3] + self.radius * np.einsum("kij,kj->ki", T_base_gore[:, :3, :3], d_gore)
