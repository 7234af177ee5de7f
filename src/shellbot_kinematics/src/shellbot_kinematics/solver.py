# SPDX-License-Identifier: MIT
"""References of all limbs in, joint targets out: one call into the kernels per tick."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np

from robot_mechanics.errors import InvalidReferenceError, ShapeError
from shellbot_kinematics._layout import (
    ANSWER,
    CODES,
    LEG,
    O_DISTANCE,
    O_RATES,
    S_BLEND,
    S_DT,
    S_GAIN,
    S_LAST,
    S_MEASURED,
    S_MODE,
    S_SOLVER,
    S_STEP,
    STATE,
)
from shellbot_kinematics._lower_leg import lower_feet, lower_jacobian
from shellbot_kinematics._tick import solve_tick
from shellbot_kinematics.packed_references import PackedReferences
from shellbot_kinematics.pose_inverse import solve_pose
from shellbot_kinematics.reports import InverseResult, JointTargets
from shellbot_kinematics.shellbot_limbs import Frame
from shellbot_kinematics.shellbot_model import ShellbotModel
from shellbot_kinematics.solver_config import SOLVERS, SolverConfig

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ShellbotSolver:
    """Solves all limbs of one Shellbot; remembers the targets of the tick before.

    Parameters
    ----------
    urdf_text : str
        Robot description, expanded; variants with or without upper legs.
    config : SolverConfig, optional
        Solver, gain, blending.

    Attributes
    ----------
    model : ShellbotModel
        Chains, limits and geometry.
    names : tuple of str
        Driven joints, the order of every joint vector.

    Raises
    ------
    InvalidUrdfError, InvalidChainError
        If the description is not Shellbot's.
    """

    def __init__(self, urdf_text: str, config: Optional[SolverConfig] = None) -> None:
        self.model = ShellbotModel(urdf_text)
        self.names: Tuple[str, ...] = self.model.names
        self._state = np.zeros(STATE)
        self._measured = self._state[S_MEASURED : S_MEASURED + self.model.n]
        self.set_config(SolverConfig() if config is None else config)
        self.reset()

    # ------------------------------------------------------------------------------------------ ticks
    def reset(self, q: Optional[ArrayLike] = None) -> None:
        """Forget the past; the next targets start from `q` (n,) if given, else from the joints measured in the next
        tick.

        Parameters
        ----------
        q : (n,) array_like, optional
            All driven joints, rad.
        """
        self._state[S_LAST:] = 0.0
        self._state[S_LAST : S_LAST + self.model.n] = np.nan if q is None else self._vector("q", q)
        self._state[S_MODE : S_MODE + 13] = -1.0

    def set_config(self, config: SolverConfig) -> None:
        """Go on with other parameters; the targets are blended over, they do not jump.

        Parameters
        ----------
        config : SolverConfig
            In force from the next tick on.
        """
        self.config = config
        state = self._state
        state[S_SOLVER], state[S_STEP], state[S_BLEND] = SOLVERS.index(config.solver), config.tick, config.blend_time
        state[S_GAIN : S_GAIN + 5] = config.clik_gain

    def solve(self, references: PackedReferences, q_measured: ArrayLike, dt: float) -> JointTargets:
        """Return the joint targets of one tick.

        Parameters
        ----------
        references : PackedReferences
            What each limb should do. Limbs with Frame.HOLD, and limbs whose reference is NaN where a number is needed,
            keep their last targets. A FOOT needs its three coordinates. The SPHERE_CENTRE of a lower limb needs them
            too (its orientation follows), or x, y and an orientation, its height z NaN (the second report's
            coordinates: x, y, pitch, and yaw for the fan); that of an upper limb three coordinates, or its height z
            and an orientation. If the fan's angle is not finite the fan stays where it was, unless all six lower limbs
            give an orientation in place of z: then it turns as their yaw asks, in the mean.
        q_measured : (n,) sequence
            Measured joints, rad; NaN where unknown.
        dt : float
            s of simulated time since the tick before; 0 for the first.

        Returns
        -------
        JointTargets
            Within the joint limits. A point out of reach is answered by the nearest reachable one, found thus: the
            coxa turns towards the point; in the leg's plane the point is drawn onto the ring that the two links reach;
            a joint beyond its limit stays there and the joints behind it point at what is left of the way.

        Raises
        ------
        ShapeError
            If q_measured does not have n entries, or dt is no number.
        InvalidReferenceError
            If a joint has neither a target, nor a last target, nor a measured position to hold.
        """
        if type(q_measured) is np.ndarray and q_measured.shape == self._measured.shape:
            self._measured[:] = q_measured
        else:
            self._measured[:] = self._vector("q_measured", q_measured)
        if not 0.0 <= dt < np.inf:
            raise ShapeError(
                f"dt is {dt}; expected seconds since the tick before, 0 or more (reset() after a jump back)"
            )
        state, n = self._state, self.model.n
        state[S_DT], state[S_STEP] = dt, min(dt, self.config.tick)
        answer, codes = np.empty(ANSWER), np.empty(CODES, dtype=np.int64)
        if solve_tick(self.model.packed, state, references.packed, answer, codes):
            lost = [name for name, value in zip(self.names, answer[:n]) if np.isnan(value)]
            raise InvalidReferenceError(
                f"nothing to command for {', '.join(lost)}: no reference, no last target, no measured position; "
                "wait for joint_states, or send a reference for every limb"
            )
        answer.setflags(write=False)
        codes.setflags(write=False)
        return JointTargets(
            references.stamp, self.names, answer[:n], answer[O_RATES : O_RATES + n], codes[:12], codes[12:],
            answer[O_DISTANCE:], None if references.effort is None else references.effort[:n],
        )  # fmt: skip

    def warm_up(self) -> None:
        """Compile the kernels, or load them from the cache on disk, without touching the state."""
        saved = self._state.copy()
        q = np.zeros(self.model.n)
        self.solve(PackedReferences.feet(0.0, self.fk_feet(q)), q, 0.0)
        for limb in ("lower_1", self.model.limbs[-1]):
            q = np.zeros(self.model.chain(limb, Frame.SPHERE_CENTRE).n)
            p = self.forward(limb, Frame.SPHERE_CENTRE, q)[:3, 3]
            self.inverse(limb, Frame.SPHERE_CENTRE, p, [0.0, 0.0, 0.0])
        nothing = math.nan
        self.inverse("lower_1", Frame.FOOT, [nothing, 0.0, -0.15])
        self.inverse("lower_1", Frame.FOOT, [0.27, 0.0, -0.15], fan_position=nothing)
        self.foot_jacobians(np.zeros(self.model.n))
        self._state[:] = saved

    # ------------------------------------------------------------------------------------------ single questions
    def fk_feet(self, q: ArrayLike) -> np.ndarray:
        """Return the six feet (6, 3) in base_link, m, for all driven joints q (n,).

        Parameters
        ----------
        q : (n,) array_like
            rad.
        """
        out = np.empty((6, 3))
        lower_feet(self.model.packed, self._vector("q", q), out)
        return out

    def foot_jacobians(self, q: ArrayLike) -> np.ndarray:
        """Return d p_base_foot / d (fan, coxa, femur, tibia) of the six feet, (6, 3, 4), m/rad; [:, :, 1:] leaves out
        the fan.

        Parameters
        ----------
        q : (n,) array_like
            All driven joints, rad.
        """
        values = self._vector("q", q)
        out = np.empty((6, 3, 4))
        for i in range(6):
            lower_jacobian(self.model.packed, i * LEG, 0, values, 4 * i, out[i])
        return out

    def forward(self, limb: str, frame: Frame, q: ArrayLike) -> np.ndarray:
        """Return T_base_frame, (4, 4), of one limb for its own joints q: (fan, coxa, femur, tibia) or (shoulder,
        shell), rad.

        Parameters
        ----------
        limb, frame
            As of `ShellbotModel.chain`.
        q : (4,) or (2,) array_like
            Joints of the limb, rad.

        Raises
        ------
        UnknownNameError, ShapeError
            If limb or frame do not exist, or q has the wrong length or is not finite.
        """
        return self.model.chain(limb, frame).fk(q)

    def inverse(
        self,
        limb: str,
        frame: Frame,
        p_base: ArrayLike,
        rpy_base: Optional[ArrayLike] = None,
        fan_position: float = 0.0,
        seed: Optional[ArrayLike] = None,
    ) -> InverseResult:
        """Return the joints of one limb for a position of its frame, or any part of a pose (NaN is free); see
        pose_inverse.solve_pose. The state of the ticks is untouched.

        Parameters
        ----------
        limb, frame
            As of `ShellbotModel.chain`.
        p_base : (3,) array_like
            Of the tip in base_link, m.
        rpy_base : (3,) array_like, optional
            Roll, pitch, yaw of the tip in base_link, rad.
        fan_position : float
            rad; NaN leaves the fan free.
        seed : (n,), (4,) or (2,) array_like, optional
            Joints to start from, rad.
        """
        return solve_pose(self.model, limb, frame, p_base, rpy_base, fan_position, seed)

    def _vector(self, what: str, values: ArrayLike) -> np.ndarray:
        try:
            vector = np.ascontiguousarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ShapeError(
                f"{what} cannot be read as numbers; expected {self.model.n}, one per driven joint"
            ) from None
        if vector.shape != (self.model.n,):
            raise ShapeError(f"{what} has shape {vector.shape}; expected ({self.model.n},), one per driven joint")
        return vector
