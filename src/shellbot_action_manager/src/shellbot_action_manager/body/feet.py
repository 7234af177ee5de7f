# SPDX-License-Identifier: MIT
"""The feet: balls at the ends of the shanks, which roll on the ground while the shanks tilt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import List, Tuple

import numpy as np

from robot_mechanics import Joint, KinematicTree, SerialChain


@dataclass(frozen=True)
class Feet:
    """Six balls, each with its centre on the x axis of its foot frame, which runs along the shank to the tip."""

    chains: Tuple[SerialChain, ...]  #: From base_link to each tip
    radius: float  #: Of the balls, m
    back: float  #: From the tip back to the centre, m

    @cached_property
    def _tree(self) -> KinematicTree:
        """The chains as one, for one call a tick."""
        joints: List[Joint] = []
        for chain in self.chains:
            links = ["base_link", *(joint.name for joint in chain.joints)]
            joints += [replace(joint, parent=link, child=joint.name) for link, joint in zip(links, chain.joints)]
        return KinematicTree(joints)

    def poses(self, q_lower: np.ndarray) -> np.ndarray:
        """Return the poses (6, 4, 4) of the foot frames in base_link, m, for fan, coxa, femur, tibia (6, 4) in rad."""
        return self._tree.fk(q_lower.ravel())[1:].reshape(len(self.chains), -1, 4, 4)[:, -1]

    def lowest_points(self, T_base_foot: np.ndarray, down: np.ndarray) -> np.ndarray:
        """Return the lowest point of each ball (6, 3) in base_link, m.

        Parameters
        ----------
        T_base_foot : (6, 4, 4) array
            From `poses`.
        down : (3,) array
            Direction of gravity in base_link.
        """
        return T_base_foot[:, :3, 3] - self.back * T_base_foot[:, :3, 0] + self.radius * down
