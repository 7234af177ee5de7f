# SPDX-License-Identifier: MIT
"""The lower legs for many feet at once: closed-form inverse and forward, limits, and what they reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Sequence, Tuple, Union

import numpy as np

from robot_mechanics.errors import InvalidChainError, ShapeError, UnknownNameError
from robot_mechanics.models.chain import SerialChain
from shellbot_kinematics import workspace_kernels
from shellbot_kinematics.leg_geometry import pack_lower
from shellbot_kinematics.limb_inverse import LegBranch
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class LegSet:
    """Lower legs with one tip each, all treated in one call; k legs below."""

    names: Tuple[str, ...]  #: Legs, in the order of every array's first axis
    geometry: np.ndarray  #: (k, 28) Packed geometry, see leg_geometry
    #: lower, upper: (k, 4) Limits of fan, coxa, femur, tibia, rad
    lower: np.ndarray
    upper: np.ndarray
    frame: Frame = Frame.FOOT  #: The tip: FOOT or SPHERE_CENTRE

    @classmethod
    def from_model(cls, model: ShellbotModel, frame: Frame = Frame.FOOT) -> LegSet:
        """Return the six legs of a Shellbot.

        Parameters
        ----------
        model : ShellbotModel
            The robot.
        frame : Frame
            Tip of every leg.

        Raises
        ------
        UnknownNameError
            If lower legs have no such frame.
        """
        model.chain(LOWER_LIMBS[0], frame)
        limits = (_frozen(model.lower[:24].reshape(6, 4)), _frozen(model.upper[:24].reshape(6, 4)))
        return cls(LOWER_LIMBS, model.legs, *limits, frame=Frame(frame))

    @classmethod
    def from_chains(cls, chains: Sequence[SerialChain]) -> LegSet:
        """Return legs given as chains (fan, coxa, femur, tibia), e.g. from Denavit-Hartenberg tables; the tip is FOOT.

        Parameters
        ----------
        chains : sequence of SerialChain
            k of them, each from base_link to the tip.

        Raises
        ------
        InvalidChainError
            If there is none, or one is not built as the closed form needs.
        """
        if not chains:
            raise InvalidChainError("a set of legs needs at least one chain")
        geometry = _frozen([pack_lower(chain, chain) for chain in chains])
        limits = (_frozen([chain.lower for chain in chains]), _frozen([chain.upper for chain in chains]))
        return cls(tuple(chain.name for chain in chains), geometry, *limits)

    @property
    def tip(self) -> int:
        """Number of the tip in the packed geometry."""
        return 0 if self.frame == Frame.FOOT else 1

    def pick(self, *names: str) -> LegSet:
        """Return some of the legs.

        Parameters
        ----------
        *names : str
            In the order of the result.

        Raises
        ------
        UnknownNameError
            If one does not exist.
        """
        rows = [self.row(name) for name in names]
        geometry, lower, upper = (_frozen(array[rows]) for array in (self.geometry, self.lower, self.upper))
        return LegSet(names, geometry, lower, upper, self.frame)

    def row(self, name: str) -> int:
        """Return where a leg stands in the arrays.

        Parameters
        ----------
        name : str
            Of the leg.

        Raises
        ------
        UnknownNameError
            If it does not exist.
        """
        if name not in self.names:
            raise UnknownNameError(f"no lower leg '{name}'; there are {', '.join(self.names)}")
        return self.names.index(name)

    def solve(
        self, p_base: ArrayLike, fan: Union[float, ArrayLike] = 0.0, branch: LegBranch = LegBranch.FRONT_KNEE_UP
    ) -> np.ndarray:
        """Return coxa, femur and tibia, (k, m, 3), rad in -pi .. pi, for tips (k, m, 3) in base_link.

        Joint limits are not looked at (see `margin`). NaN where the branch does not get there: all three joints nearer
        to the coxa axis than the lateral offset, femur and tibia where the links are too short or too long.

        Parameters
        ----------
        p_base : (k, m, 3) array_like
            Positions of the tips in base_link, m; NaN gives NaN.
        fan : float or (k,) array_like
            Angle of the fan joints, rad.
        branch : LegBranch
            Which of the four solutions.

        Raises
        ------
        ShapeError
            If a shape does not fit, or the fan is not finite.

        Notes
        -----
        From the coxa axis, with h the lateral offset: s = +-sqrt(x^2 + y^2 - h^2), q2 = atan2(y, x) - atan2(h, s), then
        the planar arm from (s - l2, z).
        """
        p = self._points(p_base, "p_base", 3)
        out = np.empty_like(p)
        side, knee = branch.value
        workspace_kernels.legs_solve(self.geometry, self.tip, p, self._fan(fan), side, knee, out)
        return out

    def forward(self, q: ArrayLike) -> np.ndarray:
        """Return the tips (k, m, 3) in base_link, m, for fan, coxa, femur, tibia q (k, m, 4) in rad.

        Parameters
        ----------
        q : (k, m, 4) array_like
            rad.

        Raises
        ------
        ShapeError
            If the shape does not fit.
        """
        values = self._points(q, "q", 4)
        out = np.empty((*values.shape[:2], 3))
        workspace_kernels.legs_forward(self.geometry, self.tip, values, out)
        return out

    def margin(self, q: ArrayLike) -> np.ndarray:
        """Return how far (rad) coxa, femur, tibia (k, ..., 3) lie in their limits: negative outside, -inf for NaN.

        Parameters
        ----------
        q : (k, ..., 3) array_like
            rad.
        """
        values = np.ascontiguousarray(q, dtype=np.float64)
        if values.ndim < 2 or values.shape[0] != len(self.names) or values.shape[-1] != 3:
            raise ShapeError(f"q has shape {values.shape}; expected ({len(self.names)}, ..., 3): coxa, femur, tibia")
        out = np.empty((len(self.names), values[0].size // 3, 3))
        workspace_kernels.legs_margin(values.reshape(out.shape), self.lower, self.upper, out)
        return out.reshape(values.shape)

    def reaches(self, p_base: ArrayLike, fan: Union[float, ArrayLike] = 0.0, joint_margin: float = 0.0) -> np.ndarray:
        """Return whether any branch brings the tips to (k, m, 3) in base_link within the joint limits, (k, m) bool.

        Parameters
        ----------
        p_base : (k, m, 3) array_like
            m in base_link; NaN is not reached.
        fan : float or (k,) array_like
            rad.
        joint_margin : float
            Distance that coxa, femur and tibia keep from their limits, rad.
        """
        p = self._points(p_base, "p_base", 3)
        out = np.empty(p.shape[:2], dtype=np.bool_)
        low, high = self.lower + joint_margin, self.upper - joint_margin
        workspace_kernels.legs_reach(self.geometry, self.tip, p, self._fan(fan), low, high, out)
        return out

    def _points(self, values: ArrayLike, what: str, width: int) -> np.ndarray:
        array = np.ascontiguousarray(values, dtype=np.float64)
        if array.ndim != 3 or array.shape[0] != len(self.names) or array.shape[2] != width:
            raise ShapeError(f"{what} has shape {array.shape}; expected ({len(self.names)}, m, {width})")
        return array

    def _fan(self, fan: Union[float, ArrayLike]) -> np.ndarray:
        if type(fan) is float and math.isfinite(fan):  # of every tick
            return np.full(len(self.names), fan)
        array = np.asarray(fan, dtype=np.float64)
        if array.shape not in ((), (len(self.names),)) or not np.isfinite(array).all():
            raise ShapeError(f"fan is {fan!r}; expected one finite angle in rad, or one per leg ({len(self.names)})")
        return np.ascontiguousarray(np.broadcast_to(array, (len(self.names),)))


def _frozen(values: object) -> np.ndarray:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
