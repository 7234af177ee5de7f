# SPDX-License-Identifier: MIT
"""References of all limbs in, joint targets out: one call into the kernels per tick."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np

from shellbot_kinematics import _kernels, limb_inverse
from shellbot_kinematics.errors import InvalidReferenceError, ShapeError
from shellbot_kinematics.references import Frame, LimbReferences
from shellbot_kinematics.reports import InverseResult, JointTargets
from shellbot_kinematics.shellbot_model import ShellbotModel
from shellbot_kinematics.solver_config import SolverConfig

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
        self.config = SolverConfig() if config is None else config
        self.names: Tuple[str, ...] = self.model.names
        n = self.model.n
        self._last, self._last_dq, self._offset = np.empty(n), np.empty(n), np.empty(n)
        self._mode, self._left = np.empty(13, dtype=np.int64), np.empty(13)
        self._settings = np.empty(5)
        self.reset()

    # ------------------------------------------------------------------------------------------ ticks
    def reset(self, q: Optional[ArrayLike] = None) -> None:
        """Forget the past; the next targets start from `q` (n,) if given, else from the joints measured in the next
        tick.
        """
        self._last[:] = np.nan if q is None else self._vector("q", q)
        self._mode[:] = -1
        for array in (self._last_dq, self._left, self._offset):
            array[:] = 0.0

    def set_config(self, config: SolverConfig) -> None:
        """Go on with other parameters; the targets are blended over, they do not jump."""
        self.config = config

    def set_solver(self, name: str) -> None:
        """Go on with another solver, "closed_form" or "clik"."""
        self.set_config(dataclasses.replace(self.config, solver=name))

    def solve(self, references: LimbReferences, q_measured: ArrayLike, dt: float) -> JointTargets:
        """Return the joint targets of one tick.

        Parameters
        ----------
        references : LimbReferences
            What each limb should do. Limbs with Frame.HOLD, and limbs whose reference is NaN where a number is needed,
            keep their last targets. A FOOT needs its three coordinates; the SPHERE_CENTRE of a lower limb too (its
            orientation follows); that of an upper limb either three coordinates, or its height z and an orientation.
            The fan stays where it was if its angle is not finite.
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
        q = self._vector("q_measured", q_measured)
        if not 0.0 <= dt < np.inf:
            raise ShapeError(
                f"dt is {dt}; expected seconds since the tick before, 0 or more (reset() after a jump back)"
            )
        unknown = np.isnan(self._last)
        if unknown.any():
            self._last[unknown] = q[unknown]
        config, r, model, n = self.config, references, self.model, self.model.n
        settings = self._settings
        settings[0], settings[1], settings[2] = dt, float(config.solver == "clik"), config.clik_gain
        settings[3], settings[4] = config.tick, config.blend_time
        position, velocity, distance = np.empty(n), np.empty(n), np.empty(12)
        status, stop = np.empty(12, dtype=np.int64), np.empty(12, dtype=np.int64)
        _kernels.solve_tick(
            model.legs, model.shells, model.lower, model.upper, model.velocity,
            r.frame, r.p_base, r.v_base, r.rpy_base, r.w_base, r.joint_position, r.joint_velocity,
            r.fan_position, r.fan_velocity, q, settings,
            self._last, self._last_dq, self._mode, self._offset, self._left, position, velocity, status, distance, stop,
        )  # fmt: skip
        if np.isnan(position).any():
            lost = [name for name, value in zip(self.names, position) if np.isnan(value)]
            raise InvalidReferenceError(
                f"nothing to command for {', '.join(lost)}: no reference, no last target, no measured position; "
                "wait for joint_states, or send a reference for every limb"
            )
        for array in (position, velocity, distance, status, stop):
            array.setflags(write=False)
        return JointTargets(r.stamp, self.names, position, velocity, status, stop, distance)

    def warm_up(self) -> None:
        """Compile the kernels, or load them from the cache on disk, without touching the state."""
        state = (self._last, self._last_dq, self._mode, self._offset, self._left)
        saved = [array.copy() for array in state]
        q = np.zeros(self.model.n)
        self.solve(LimbReferences.feet(0.0, self.fk_feet(q)), q, 0.0)
        self.inverse("lower_1", Frame.FOOT, self.forward("lower_1", Frame.FOOT, q[:4])[:3, 3])
        self.foot_jacobians(q)
        for array, values in zip(state, saved):
            array[:] = values

    # ------------------------------------------------------------------------------------------ single questions
    def fk_feet(self, q: ArrayLike) -> np.ndarray:
        """Return the six feet (6, 3) in base_link, m, for all driven joints q (n,)."""
        out = np.empty((6, 3))
        _kernels.lower_feet(self.model.legs, self._vector("q", q), out)
        return out

    def foot_jacobians(self, q: ArrayLike) -> np.ndarray:
        """Return d p_base_foot / d (fan, coxa, femur, tibia) of the six feet, (6, 3, 4), m/rad; [:, :, 1:] leaves out
        the fan.
        """
        values = self._vector("q", q)
        out = np.empty((6, 3, 4))
        for i in range(6):
            _kernels.lower_jacobian(self.model.legs[i], 0, values[4 * i : 4 * i + 4], out[i])
        return out

    def forward(self, limb: str, frame: Frame, q: ArrayLike) -> np.ndarray:
        """Return T_base_frame, (4, 4), of one limb for its own joints q: (fan, coxa, femur, tibia) or (shoulder,
        shell), rad.

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
        """Return the joints of one limb for a position of its frame; see limb_inverse.solve_limb. The state of the
        ticks is untouched.
        """
        return limb_inverse.solve_limb(self.model, limb, frame, p_base, rpy_base, fan_position, seed)

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
