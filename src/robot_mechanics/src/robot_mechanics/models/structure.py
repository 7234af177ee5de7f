# SPDX-License-Identifier: MIT
"""What serial chains and trees share: coordinates with limits, and the poses of all joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Sequence, Tuple

import numpy as np

from robot_mechanics.errors import InvalidChainError, ShapeError
from robot_mechanics.models.joint import Joint
from robot_mechanics.models.parameters import LARGEST_COORDINATE, ChainParameters, pack
from robot_mechanics.native import chain_kernels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class JointStructure:
    """Immutable joints, parents first, with their coordinates q.

    Parameters
    ----------
    joints : sequence of Joint
        In an order in which every parent comes before its children.
    parent : sequence of int
        Index of the joint before each, -1 for the base.
    what : str
        How messages call it, for example "chain 'leg'".

    Attributes
    ----------
    joints : tuple of Joint
    n : int
        Number of coordinates q: joints that move, without those that mimic another of them.
    joint_names : tuple of str
        Of the joints that own a coordinate, in the order of q.
    lower, upper, velocity : (n,) arrays, read-only
        Limits of q (rad or m) and of its rates, those of following joints included; infinite where there are none.
    """

    joints: Tuple[Joint, ...]
    n: int
    joint_names: Tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    _parameters: ChainParameters
    _what: str

    def __init__(self, joints: Sequence[Joint], parent: Sequence[int], what: str) -> None:
        made = tuple(joints)
        for i, joint in enumerate(made):
            if not isinstance(joint, Joint):
                raise InvalidChainError(f"joint {i} of {what} is {joint!r}; expected a Joint")
        seen: Dict[str, int] = {}
        for joint in made:
            if joint.name in seen:
                raise InvalidChainError(f"{what} has several joints named '{joint.name}'; names must differ")
            seen[joint.name] = 1
        packed = pack(made, parent, what)
        self.joints = made
        self.n = packed.n
        self.joint_names = tuple(made[i].name for i in packed.coordinates)
        self.lower, self.upper, self.velocity = packed.lower, packed.upper, packed.velocity
        self._parameters = packed
        self._what = what

    def __setattr__(self, name: str, value: object) -> None:
        """Set each attribute once."""
        if name in self.__dict__:
            raise AttributeError(f"{self.__dict__.get('_what', 'it')} cannot be changed ('{name}'); build another")
        object.__setattr__(self, name, value)

    def parameters(self) -> ChainParameters:
        """Return the packed constant arrays: transforms, kinds, columns, ratios, limits (read-only)."""
        return self._parameters

    def check(self, q: ArrayLike, name: str = "q") -> np.ndarray:
        """Return q (or, by another `name`, its rates) as a contiguous float array of its own.

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m, or rates.
        name : str
            How messages call it.

        Raises
        ------
        ShapeError
            If it is not n finite numbers, or one is beyond 1e9.
        """
        try:
            values = np.array(q, dtype=np.float64, order="C")
        except (TypeError, ValueError, OverflowError):
            raise ShapeError(f"{name} of {self._what} is {q!r}; expected {self.n} numbers") from None
        if values.shape != (self.n,):
            raise ShapeError(
                f"{name} of {self._what} has shape {values.shape}; expected ({self.n},): {self.joint_names}"
            )
        for value in values.tolist():  # a third of the time of numpy's comparison for the few joints of an arm
            if not -LARGEST_COORDINATE <= value <= LARGEST_COORDINATE:  # also for NaN
                raise ShapeError(
                    f"{name} of {self._what} is {values}; expected finite numbers within +-{LARGEST_COORDINATE:g}"
                )
        return values

    def within_limits(self, q: ArrayLike, tolerance: float = 0.0) -> bool:
        """Return whether every coordinate lies in its limits, widened by `tolerance` (rad or m).

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        tolerance : float
            rad or m.
        """
        values = self.check(q)
        return bool(np.all(values >= self.lower - tolerance) and np.all(values <= self.upper + tolerance))

    def joint_values(self, q: ArrayLike) -> np.ndarray:
        """Return the position of every joint (len(joints),), rad or m: followers by their ratio, fixed ones zero.

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        """
        return self._joint_values(self.check(q))

    def _joint_values(self, q: np.ndarray) -> np.ndarray:
        p = self._parameters
        values = np.zeros(len(self.joints))
        moves = p.column >= 0
        values[moves] = p.ratio[moves] * q[p.column[moves]] + p.offset[moves]
        return values

    def _evaluate(self, q: ArrayLike) -> Tuple[np.ndarray, np.ndarray]:
        """Return the poses (m, 4, 4) behind every joint, and those whose z is the joint's axis, in the base."""
        p = self._parameters
        try:
            values = np.array(q, dtype=np.float64, order="C")
        except (TypeError, ValueError, OverflowError):
            values = self.check(q)  # says what is wrong
        if values.shape != (self.n,):
            self.check(q)
        frames, axes = np.empty((2, len(self.joints), 4, 4))
        fine = chain_kernels.tree_frames(
            p.pre, p.post, p.kind, p.parent, p.column, p.ratio, p.offset, values, frames, axes
        )
        if not fine:
            self.check(values)
        return frames, axes

    def __len__(self) -> int:
        """Return the number of joints, fixed ones included."""
        return len(self.joints)
