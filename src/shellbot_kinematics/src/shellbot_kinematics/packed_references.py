# SPDX-License-Identifier: MIT
"""References of Shellbot's limbs as its solver takes them: one packed array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Sequence

import numpy as np

from robot_mechanics.errors import InvalidReferenceError
from shellbot_kinematics._layout import R_FAN, R_FAN_RATE, R_FRAME, R_P, R_STAMP, REFERENCES
from shellbot_kinematics.shellbot_limbs import Frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_SCALARS = {"stamp": R_STAMP, "fan_position": R_FAN, "fan_velocity": R_FAN_RATE}
_ROWS = {"p_base": 0, "v_base": 1, "rpy_base": 2, "w_base": 3, "joint_position": 4, "joint_velocity": 5}


class PackedReferences:
    """References of all twelve legs and the fan at one tick, read-only; `pack_references` makes and checks them.

    NaN means "free" in a pose or twist. Values that make no sense for a limb (infinite, or NaN where the limb needs a
    number) are not refused: the solver holds that limb and says so, so that one bad number cannot stop the others.

    Parameters
    ----------
    stamp, fan_position, fan_velocity, frame, **rows
        The attributes of these names; not checked. Rows that are not given are free.

    Attributes
    ----------
    stamp : float
        Simulated time of the tick, s.
    fan_position, fan_velocity : float
        Angle (rad) and rate (rad/s) common to the six fans.
    frame : (12,) int array
        A `Frame` per limb, in the order of `LIMBS`. Upper limbs have no FOOT.
    p_base, v_base : (12, 3) arrays
        Position (m) and velocity (m/s) of the limb's frame in base_link's axes, seen from base_link.
    rpy_base, w_base : (12, 3) arrays
        Roll, pitch, yaw (rad, R = Rz(yaw) Ry(pitch) Rx(roll)) and angular velocity (rad/s); used with SPHERE_CENTRE
        only.
    joint_position, joint_velocity : (12, 3) arrays
        rad, rad/s, used with JOINT. Lower limbs: coxa, femur, tibia; upper limbs: shoulder, shell, NaN.
    packed : (231,) array
        All of it as the kernels take it; the rows are views of this one.
    effort : (36,) array or None
        Feed-forward effort of the driven joints, N m; None: none.
    """

    stamp: float
    fan_position: float
    fan_velocity: float
    frame: np.ndarray
    p_base: np.ndarray
    v_base: np.ndarray
    rpy_base: np.ndarray
    w_base: np.ndarray
    joint_position: np.ndarray
    joint_velocity: np.ndarray

    def __init__(
        self,
        stamp: float,
        fan_position: float,
        fan_velocity: float,
        frame: Sequence[int] = (Frame.HOLD,) * 12,
        **rows: ArrayLike,
    ) -> None:
        packed = np.full(REFERENCES, np.nan)
        packed[[R_STAMP, R_FAN, R_FAN_RATE]] = stamp, fan_position, fan_velocity
        packed[R_FRAME : R_FRAME + 12] = frame
        for name, value in rows.items():
            packed[R_P:].reshape(6, 12, 3)[_ROWS[name]] = value
        self._adopt(packed, None)

    def _adopt(self, packed: np.ndarray, effort: Optional[np.ndarray]) -> None:
        packed.setflags(write=False)
        self.packed, self.effort = packed, effort

    def __getattr__(self, name: str) -> object:
        """Return a part of the packed array: a tick needs none but the stamp."""
        if name in _SCALARS:
            return float(self.packed[_SCALARS[name]])
        if name in _ROWS:
            return self.packed[R_P:].reshape(6, 12, 3)[_ROWS[name]]
        if name == "frame":
            return self.packed[R_FRAME : R_FRAME + 12].astype(np.int64)
        raise AttributeError(f"PackedReferences has no field '{name}'")

    @classmethod
    def from_packed(cls, packed: np.ndarray, effort: Optional[np.ndarray] = None) -> PackedReferences:
        """Return references on an array (231,) laid out as `packed` is, which they take over, unchecked.

        Parameters
        ----------
        packed : (231,) array
            m, rad, s.
        effort : (36,) array, optional
            As of the class, N m.
        """
        self = cls.__new__(cls)
        self._adopt(packed, effort)
        return self

    @classmethod
    def feet(
        cls,
        stamp: float,
        p_base_foot: ArrayLike,
        v_base_foot: Optional[ArrayLike] = None,
        fan_position: float = 0.0,
        fan_velocity: float = 0.0,
    ) -> PackedReferences:
        """Return references for the six feet (6, 3) in m, with the upper limbs held; velocities default to zero.

        Parameters
        ----------
        stamp : float
            Time of the tick, s.
        p_base_foot : (6, 3) array_like
            Feet in base_link, m.
        v_base_foot : (6, 3) array_like, optional
            m/s.
        fan_position, fan_velocity : float
            rad and rad/s.
        """
        feet = np.asarray(p_base_foot, dtype=np.float64)
        speeds = np.zeros((6, 3)) if v_base_foot is None else np.asarray(v_base_foot, dtype=np.float64)
        if feet.shape != (6, 3) or speeds.shape != (6, 3):
            raise InvalidReferenceError(
                f"feet and their velocities must be (6, 3), not {feet.shape} and {speeds.shape}"
            )
        held = np.full((6, 3), np.nan)
        frame = (Frame.FOOT,) * 6 + (Frame.HOLD,) * 6
        p_base, v_base = np.concatenate((feet, held)), np.concatenate((speeds, held))
        return cls(stamp, fan_position, fan_velocity, frame, p_base=p_base, v_base=v_base)
