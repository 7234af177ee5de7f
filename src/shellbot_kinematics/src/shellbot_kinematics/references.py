# SPDX-License-Identifier: MIT
"""What every limb should do at one tick: the contract between the action manager and kinematics."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np

from shellbot_kinematics._layout import (
    R_FAN,
    R_FAN_RATE,
    R_FRAME,
    R_JOINT,
    R_P,
    R_RATE,
    R_RPY,
    R_STAMP,
    R_V,
    R_W,
    REFERENCES,
)
from shellbot_kinematics.errors import InvalidReferenceError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Frame(IntEnum):
    """Which frame of a limb a reference speaks about; the first three are numbered as in LimbReference.msg."""

    FOOT = 0
    SPHERE_CENTRE = 1
    JOINT = 2
    HOLD = 3
    """The limb is not in the message: it keeps its last targets."""


LIMBS: Tuple[str, ...] = tuple(f"{side}_{k}" for side in ("lower", "upper") for k in range(1, 7))
"""Limb names in the order of every per-limb array: lower_1 .. lower_6, upper_1 .. upper_6."""

LOWER_LIMBS = LIMBS[:6]
UPPER_LIMBS = LIMBS[6:]


def limb_index(limb: str) -> int:
    """Return the row of a limb in the per-limb arrays.

    Raises
    ------
    UnknownNameError
        If there is no such limb.
    """
    try:
        return LIMBS.index(limb)
    except ValueError:
        raise UnknownNameError(f"unknown limb '{limb}'; use one of {', '.join(LIMBS)}") from None


_SCALARS = (("stamp", R_STAMP), ("fan_position", R_FAN), ("fan_velocity", R_FAN_RATE))
_ARRAYS = (
    ("p_base", R_P),
    ("v_base", R_V),
    ("rpy_base", R_RPY),
    ("w_base", R_W),
    ("joint_position", R_JOINT),
    ("joint_velocity", R_RATE),
)


def _free() -> np.ndarray:
    return np.full((12, 3), np.nan)


def _hold() -> np.ndarray:
    return np.full(12, int(Frame.HOLD), dtype=np.int64)


@dataclass(frozen=True)
class LimbReferences:
    """References of all twelve limbs at one tick. Arrays are copied, checked for shape, and read-only.

    NaN means "free" in a pose or twist. Values that make no sense for a limb (infinite, or NaN where the limb has to be
    told) are not refused here: the solver holds that limb and says so, so that one bad number cannot stop the others.

    Attributes
    ----------
    stamp : float
        Simulated time of the tick, s.
    fan_position, fan_velocity : float
        Angle (rad) and rate (rad/s) common to the six fans.
    frame : (12,) int64 array
        A `Frame` per limb, in the order of `LIMBS`. Upper limbs have no FOOT.
    p_base, v_base : (12, 3) arrays
        Position (m) and velocity (m/s) of the limb's frame in base_link's axes, seen from base_link.
    rpy_base, w_base : (12, 3) arrays
        Roll, pitch, yaw (rad, R = Rz(yaw) Ry(pitch) Rx(roll)) and angular velocity (rad/s); used with SPHERE_CENTRE
        only.
    joint_position, joint_velocity : (12, 3) arrays
        rad, rad/s, used with JOINT. Lower limbs: coxa, femur, tibia; upper limbs: shoulder, shell, NaN.
    packed : (231,) array
        All of it as the kernels take it; the other arrays of numbers are views of this one.

    Raises
    ------
    InvalidReferenceError
        On wrong shapes, an unknown frame number, a FOOT reference for an upper limb, or a stamp that is not finite.
    """

    stamp: float
    fan_position: float
    fan_velocity: float
    frame: np.ndarray = field(default_factory=_hold)
    p_base: np.ndarray = field(default_factory=_free)
    v_base: np.ndarray = field(default_factory=_free)
    rpy_base: np.ndarray = field(default_factory=_free)
    w_base: np.ndarray = field(default_factory=_free)
    joint_position: np.ndarray = field(default_factory=_free)
    joint_velocity: np.ndarray = field(default_factory=_free)
    packed: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Copy into one packed array, check, and make the fields read-only views of it."""
        packed = np.empty(REFERENCES)
        for name, column in _SCALARS:
            packed[column] = _scalar(name, getattr(self, name))
        for name, column in _ARRAYS:
            packed[column : column + 36].reshape(12, 3)[:] = _array(name, getattr(self, name))
        frame = _array("frame", self.frame)
        packed[R_FRAME : R_FRAME + 12] = frame
        self._adopt(packed, frame)
        if not np.isfinite(self.stamp):
            raise InvalidReferenceError(f"stamp is {self.stamp}; expected the time of the tick in seconds")
        bad = np.flatnonzero((frame < Frame.FOOT) | (frame > Frame.HOLD))
        if bad.size:
            raise InvalidReferenceError(
                f"frame of limb {LIMBS[bad[0]]} is {frame[bad[0]]}; "
                f"expected one of {[(f.value, f.name) for f in Frame]}"
            )
        feet_above = np.flatnonzero(frame[6:] == Frame.FOOT)
        if feet_above.size:
            raise InvalidReferenceError(
                f"limb {UPPER_LIMBS[feet_above[0]]} has no foot; use SPHERE_CENTRE, JOINT or HOLD"
            )

    def _adopt(self, packed: np.ndarray, frame: np.ndarray) -> None:
        packed.setflags(write=False)
        frame.setflags(write=False)
        fields_of = self.__dict__  # frozen: past __setattr__
        fields_of["packed"], fields_of["frame"] = packed, frame
        for name, column in _SCALARS:
            fields_of[name] = float(packed[column])
        rows = packed[R_P:].reshape(6, 12, 3)
        for k, (name, _) in enumerate(_ARRAYS):
            fields_of[name] = rows[k]

    @classmethod
    def from_packed(cls, packed: np.ndarray) -> LimbReferences:
        """Return references on an array (231,) laid out as `packed` is, which they take over; for those who have
        checked stamp and frames themselves, as the conversion from a message does.
        """
        self = cls.__new__(cls)
        self._adopt(packed, packed[R_FRAME : R_FRAME + 12].astype(np.int64))
        return self

    @classmethod
    def feet(
        cls,
        stamp: float,
        p_base_foot: ArrayLike,
        v_base_foot: Optional[ArrayLike] = None,
        fan_position: float = 0.0,
        fan_velocity: float = 0.0,
    ) -> LimbReferences:
        """Return references for the six feet (6, 3) in m, with the upper limbs held; velocities default to zero."""
        feet = np.asarray(p_base_foot, dtype=np.float64)
        speeds = np.zeros((6, 3)) if v_base_foot is None else np.asarray(v_base_foot, dtype=np.float64)
        if feet.shape != (6, 3) or speeds.shape != (6, 3):
            raise InvalidReferenceError(
                f"feet and their velocities must be (6, 3), not {feet.shape} and {speeds.shape}"
            )
        frame, p_base, v_base = _hold(), _free(), _free()
        frame[:6], p_base[:6], v_base[:6] = Frame.FOOT, feet, speeds
        return cls(stamp, fan_position, fan_velocity, frame=frame, p_base=p_base, v_base=v_base)


def _scalar(name: str, value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidReferenceError(f"{name} is {value!r}; expected one number") from None


def _array(name: str, value: object) -> np.ndarray:
    shape: Tuple[int, ...] = (12,) if name == "frame" else (12, 3)
    kind = np.int64 if name == "frame" else np.float64
    try:
        array = np.array(value, dtype=kind)
    except (TypeError, ValueError):
        raise InvalidReferenceError(f"{name} cannot be read as an array of numbers of shape {shape}") from None
    if array.shape != shape:
        raise InvalidReferenceError(f"{name} has shape {array.shape}; expected {shape}, one row per limb of LIMBS")
    array.setflags(write=False)
    return array
