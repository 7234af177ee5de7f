# SPDX-License-Identifier: MIT
"""Shellbot as chains, found in its URDF by the names that docs/architecture.md fixes."""

from __future__ import annotations

from typing import Dict, List, Tuple

import numpy as np

from robot_mechanics.errors import InvalidChainError, UnknownNameError
from robot_mechanics.models.chain import SerialChain
from robot_mechanics.models.tree import KinematicTree
from robot_mechanics.models.urdf import load_urdf
from shellbot_kinematics._layout import G_TIP, LANES, LEG, P_SHELL, P_SHELLS, P_TABLE, PACKED, SHELL
from shellbot_kinematics.leg_geometry import NO_LIMIT, pack_lower, pack_upper
from shellbot_kinematics.shellbot_limbs import (
    LIMB_JOINTS,
    LOWER_LIMBS,
    UPPER_LIMBS,
    Frame,
    frame_links,
    limb_index,
)

BASE = "base_link"


class ShellbotModel:
    """Immutable chains, driven joints, limits and packed leg geometry of one variant.

    Parameters
    ----------
    urdf_text : str or path
        Of the robot, as in `load_urdf`.

    Attributes
    ----------
    names : tuple of str
        Driven joints: fan, coxa, femur, tibia of lower_1 .. lower_6, then shoulder, shell of upper_1 .. upper_6 if
        there are any.
    limbs : tuple of str
        Limbs that this variant has.
    lower, upper, velocity : (n,) arrays
        Limits, rad and rad/s; 1e6 where the URDF gives none.
    packed : (652,) array
        The whole robot as the kernels take it (see packed); legs and shells are views of it.
    legs, shells : (6, 47) and (0 or 6, 28) arrays
        Packed geometry and limits of the lower and upper limbs (see leg_geometry).

    Raises
    ------
    InvalidUrdfError, InvalidChainError
        If the text is no URDF, a joint or frame of a leg is missing, or a leg is not built as the closed forms need.
    """

    def __init__(self, urdf_text: str) -> None:
        tree = load_urdf(urdf_text)
        self.limbs = LOWER_LIMBS + (UPPER_LIMBS if _joint_names("upper_1")[0] in tree.joints else ())
        self.names: Tuple[str, ...] = tuple(name for limb in self.limbs for name in _joint_names(limb))
        missing = [name for name in self.names if name not in tree.joints]
        if missing:
            raise InvalidChainError(f"the robot description lacks the joints {', '.join(missing)}")
        self._chains: Dict[Tuple[str, Frame], SerialChain] = {}
        for limb in self.limbs:
            for frame, link in frame_links(limb).items():
                self._chains[limb, frame] = _chain(tree, limb, link)
        joints = [tree.joints[name] for name in self.names]
        self.lower = _limit([joint.lower for joint in joints])
        self.upper = _limit([joint.upper for joint in joints])
        self.velocity = _limit([joint.velocity for joint in joints])
        legs = [pack_lower(self.chain(limb, Frame.FOOT), self.chain(limb, Frame.SPHERE_CENTRE)) for limb in LOWER_LIMBS]
        shells = [pack_upper(self.chain(limb, Frame.SPHERE_CENTRE)) for limb in self.limbs[6:]]
        self.packed = np.zeros(PACKED)
        self.packed[:P_SHELL] = np.concatenate(legs)
        if shells:
            self.packed[P_SHELL:P_SHELLS] = np.concatenate(shells)
        self.packed[P_SHELLS] = len(shells)
        in_lanes = np.array(legs)[[0, 1, 2, 3, 4, 5, 5, 5], : G_TIP + 3]
        self.packed[P_TABLE:] = [*in_lanes.T.ravel(), LANES]
        for array in (self.lower, self.upper, self.velocity, self.packed):
            array.setflags(write=False)
        self.legs = self.packed[:P_SHELL].reshape(6, LEG)
        self.shells = self.packed[P_SHELL:P_SHELLS].reshape(6, SHELL)[: len(shells)]

    @property
    def n(self) -> int:
        """Number of driven joints: 36, or 24 without upper legs."""
        return len(self.names)

    def chain(self, limb: str, frame: Frame) -> SerialChain:
        """Return the chain from base_link to a frame of a limb.

        Parameters
        ----------
        limb : str
            lower_1 .. upper_6.
        frame : Frame
            Tip.

        Raises
        ------
        UnknownNameError
            If this robot has no such limb, or the limb no such frame.
        """
        limb_index(limb)
        if limb not in self.limbs:
            raise UnknownNameError(f"this robot has no limb '{limb}'; it has {', '.join(self.limbs)}")
        try:
            return self._chains[limb, Frame(frame)]
        except (KeyError, ValueError):
            allowed = ", ".join(f.name for f in frame_links(limb))
            raise UnknownNameError(f"limb {limb} has no frame {frame!r} to compute; use {allowed}") from None

    def columns(self, limb: str) -> slice:
        """Return where the joints of a limb stand in a vector of all driven joints.

        Parameters
        ----------
        limb : str
            lower_1 .. upper_6.
        """
        i = limb_index(limb)
        return slice(4 * i, 4 * i + 4) if i < 6 else slice(24 + 2 * (i - 6), 26 + 2 * (i - 6))


def _joint_names(limb: str) -> Tuple[str, ...]:
    """Return the joints of a leg's chain: its fan joint, which the limb `fan` drives, and its own."""
    first = ("fan",) if limb in LOWER_LIMBS else ()
    return tuple(f"{limb}_{joint}" for joint in (*first, *LIMB_JOINTS[limb]))


def _chain(tree: KinematicTree, limb: str, link: str) -> SerialChain:
    if link not in tree.links:
        raise InvalidChainError(f"the robot description lacks the link '{link}', the frame that limb {limb} is led by")
    chain = SerialChain(tree.path(BASE, link), name=link, base=BASE, tip=link)
    if chain.joint_names != _joint_names(limb):
        raise InvalidChainError(f"the joints down to '{link}' are {chain.joint_names}; expected {_joint_names(limb)}")
    return chain


def _limit(values: List[float]) -> np.ndarray:
    return np.clip(np.array(values, dtype=np.float64), -NO_LIMIT, NO_LIMIT)
