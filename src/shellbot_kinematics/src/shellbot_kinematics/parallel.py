# SPDX-License-Identifier: MIT
"""A parallel robot: several serial limbs on one floating base, some joints driven together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from shellbot_kinematics.chain import SerialChain
from shellbot_kinematics.dh import RowLike
from shellbot_kinematics.errors import InvalidChainError, ShapeError, UnknownNameError
from shellbot_kinematics.urdf import load_urdf

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ParallelChain:
    """Immutable set of limbs on a floating base.

    Two coordinate vectors are used: `q` has every joint of every limb (the order of `joint_names`), `u` has one
    coordinate per drive (the order of `drive_names`): joints that belong to a common drive share one. q = expand(u).

    Parameters
    ----------
    limbs : mapping of str to SerialChain
        In the order wanted; no joint may belong to two limbs.
    common : mapping of str to sequence of str, optional
        Name of a drive -> joints that it turns together (the six fans on one motor).

    Raises
    ------
    InvalidChainError
        If there are no limbs, a joint is shared, or a common joint does not exist or is named twice.
    """

    def __init__(self, limbs: Mapping[str, SerialChain], common: Optional[Mapping[str, Sequence[str]]] = None) -> None:
        self._limbs: Dict[str, SerialChain] = dict(limbs)
        if not self._limbs:
            raise InvalidChainError("a parallel chain needs at least one limb")
        names: List[str] = []
        self._slices: Dict[str, slice] = {}
        for limb, chain in self._limbs.items():
            shared = set(names).intersection(chain.joint_names)
            if shared:
                raise InvalidChainError(f"joint '{sorted(shared)[0]}' of limb '{limb}' belongs to another limb as well")
            self._slices[limb] = slice(len(names), len(names) + chain.n)
            names.extend(chain.joint_names)
        self.joint_names: Tuple[str, ...] = tuple(names)
        self.common: Dict[str, Tuple[str, ...]] = {drive: tuple(joints) for drive, joints in (common or {}).items()}
        drive_of: Dict[str, str] = {}
        for drive, joints in self.common.items():
            for joint in joints:
                if joint not in names:
                    raise InvalidChainError(f"common drive '{drive}' names joint '{joint}', which is in no limb")
                if joint in drive_of:
                    raise InvalidChainError(f"joint '{joint}' is named twice in the common drives; once is enough")
                drive_of[joint] = drive
        drives = [drive_of.get(name, name) for name in names]
        self.drive_names: Tuple[str, ...] = tuple(dict.fromkeys(drives))
        self._drive_index = np.array([self.drive_names.index(drive) for drive in drives], dtype=np.int64)

    @classmethod
    def from_urdf(
        cls, text: str, base: str, tips: Mapping[str, str], common: Optional[Mapping[str, Sequence[str]]] = None
    ) -> ParallelChain:
        """Build from a URDF given as text; `tips` maps a limb's name to its tip link."""
        tree = load_urdf(text)
        limbs = {limb: SerialChain(tree.path(base, tip), name=limb, base=base, tip=tip) for limb, tip in tips.items()}
        return cls(limbs, common)

    @classmethod
    def from_dh(
        cls, tables: Mapping[str, Sequence[RowLike]], common: Optional[Mapping[str, Sequence[str]]] = None
    ) -> ParallelChain:
        """Build from one Denavit-Hartenberg table per limb; rows without a name become <limb>_0, <limb>_1, ..."""
        limbs = {}
        for limb, rows in tables.items():
            limbs[limb] = SerialChain.from_dh(rows, [f"{limb}_{i}" for i in range(len(rows))], name=limb)
        return cls(limbs, common)

    @property
    def limb_names(self) -> Tuple[str, ...]:
        """Names of the limbs, in order."""
        return tuple(self._limbs)

    def limb(self, name: str) -> SerialChain:
        """Return one limb.

        Raises
        ------
        UnknownNameError
            If it does not exist.
        """
        if name not in self._limbs:
            raise UnknownNameError(f"no limb '{name}'; there are {', '.join(self._limbs)}")
        return self._limbs[name]

    def columns(self, name: str) -> slice:
        """Return where the joints of a limb stand in q."""
        self.limb(name)
        return self._slices[name]

    def expand(self, u: ArrayLike) -> np.ndarray:
        """Return q (all joints) for the drives' coordinates u."""
        values = np.asarray(u, dtype=np.float64)
        if values.shape != (len(self.drive_names),):
            raise ShapeError(f"u has shape {values.shape}; expected ({len(self.drive_names)},): {self.drive_names}")
        return values[self._drive_index]

    def fk(self, q: ArrayLike, T_world_base: Optional[np.ndarray] = None) -> np.ndarray:  # noqa: N803
        """Return the poses (limbs, 4, 4) of all tips in base, or in world where the pose of the base is given."""
        values = self._check(q)
        poses = np.array([chain.fk(values[self._slices[limb]]) for limb, chain in self._limbs.items()])
        return poses if T_world_base is None else np.asarray(T_world_base, dtype=np.float64) @ poses

    def jacobian(self, name: str, q: ArrayLike) -> np.ndarray:
        """Return d(tip twist)/d(base twist, u): (6, 6 + drives), in the axes of base, linear rows and columns first.

        The base's twist is that of its origin: v_tip = v_base + w_base x p_base_tip + J u'.
        """
        values = self._check(q)
        chain, where = self.limb(name), self._slices[name]
        p = chain.fk(values[where])[:3, 3]
        J = np.zeros((6, 6 + len(self.drive_names)))  # noqa: N806
        J[:, :6] = np.eye(6)
        J[:3, 3:6] = [[0.0, p[2], -p[1]], [-p[2], 0.0, p[0]], [p[1], -p[0], 0.0]]  # - p x
        np.add.at(J.T, 6 + self._drive_index[where], chain.jacobian(values[where]).T)
        return J

    def _check(self, q: ArrayLike) -> np.ndarray:
        values = np.ascontiguousarray(q, dtype=np.float64)
        if values.shape != (len(self.joint_names),):
            raise ShapeError(
                f"q has shape {values.shape}; expected ({len(self.joint_names)},), the order of joint_names"
            )
        return values

    def __str__(self) -> str:
        """Return the tables of all limbs."""
        head = f"{len(self._limbs)} limbs, {len(self.joint_names)} joints, {len(self.drive_names)} drives"
        return "\n\n".join([head] + [str(chain) for chain in self._limbs.values()])
