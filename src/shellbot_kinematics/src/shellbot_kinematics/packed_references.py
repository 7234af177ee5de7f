# SPDX-License-Identifier: MIT
"""References of Shellbot's limbs as its solver takes them: one packed array."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np

from shellbot_kinematics._layout import (
    R_FAN,
    R_FAN_RATE,
    R_FRAME,
    R_P,
    R_STAMP,
    REFERENCES,
)
from shellbot_kinematics.errors import InvalidReferenceError
from shellbot_kinematics.shellbot_limbs import LIMBS, UPPER_LIMBS, Frame

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_SCALARS = (("stamp", R_STAMP), ("fan_position", R_FAN), ("fan_velocity", R_FAN_RATE))
_COLUMNS = dict(_SCALARS)
_ARRAYS = {"p_base": 0, "v_base": 1, "rpy_base": 2, "w_base": 3, "joint_position": 4, "joint_velocity": 5}
_FREE = np.full((12, 3), np.nan)
_FREE.setflags(write=False)


def _free() -> np.ndarray:
    return _FREE


def _hold() -> np.ndarray:
    return np.full(12, int(Frame.HOLD), dtype=np.int64)


@dataclass(frozen=True)
class PackedReferences:
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
    effort : (36,) array or None
        Feed-forward effort of the driven joints, N m; None: none.

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
    effort: Optional[np.ndarray] = None

    def __post_init__(self) -> None:
        """Copy into one packed array, check, and make the fields read-only views of it."""
        packed = np.empty(REFERENCES)
        for name, column in _SCALARS:
            packed[column] = _scalar(name, getattr(self, name))
        rows = packed[R_P:].reshape(6, 12, 3)
        for name, k in _ARRAYS.items():
            value = getattr(self, name)
            rows[k] = value if type(value) is np.ndarray and value.shape == (12, 3) else _array(name, value)
        frame = _array("frame", self.frame)
        packed[R_FRAME : R_FRAME + 12] = frame
        if not math.isfinite(packed[R_STAMP]):
            raise InvalidReferenceError(f"stamp is {self.stamp}; expected the time of the tick in seconds")
        for limb, number in zip(LIMBS, frame.tolist()):
            if not Frame.FOOT <= number <= Frame.HOLD:
                raise InvalidReferenceError(
                    f"frame of limb {limb} is {number}; expected one of {[(f.value, f.name) for f in Frame]}"
                )
            if number == Frame.FOOT and limb in UPPER_LIMBS:
                raise InvalidReferenceError(f"limb {limb} has no foot; use SPHERE_CENTRE, JOINT or HOLD")
        self._adopt(packed, self.effort)

    def _adopt(self, packed: np.ndarray, effort: Optional[np.ndarray]) -> None:
        packed.setflags(write=False)
        self.__dict__.clear()  # frozen: past __setattr__; the other fields are made by __getattr__ when needed
        self.__dict__["packed"], self.__dict__["effort"] = packed, effort

    def __getattr__(self, name: str) -> object:
        """Make a field from the packed array when it is first asked for: a tick needs none of them."""
        packed = self.__dict__.get("packed")
        value: object
        if packed is None:
            raise AttributeError(name)
        if name in _ARRAYS:
            value = packed[R_P:].reshape(6, 12, 3)[_ARRAYS[name]]
        elif name in _COLUMNS:
            value = float(packed[_COLUMNS[name]])
        elif name == "frame":
            frame = packed[R_FRAME : R_FRAME + 12].astype(np.int64)
            frame.setflags(write=False)
            value = frame
        else:
            raise AttributeError(f"PackedReferences has no field '{name}'")
        self.__dict__[name] = value
        return value

    @classmethod
    def from_packed(cls, packed: np.ndarray, effort: Optional[np.ndarray] = None) -> PackedReferences:
        """Return references on an array (231,) laid out as `packed` is, which they take over, unchecked."""
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
        """Return references for the six feet (6, 3) in m, with the upper limbs held; velocities default to zero."""
        feet = np.asarray(p_base_foot, dtype=np.float64)
        speeds = np.zeros((6, 3)) if v_base_foot is None else np.asarray(v_base_foot, dtype=np.float64)
        if feet.shape != (6, 3) or speeds.shape != (6, 3):
            raise InvalidReferenceError(
                f"feet and their velocities must be (6, 3), not {feet.shape} and {speeds.shape}"
            )
        frame, p_base, v_base = _hold(), _FREE.copy(), _FREE.copy()
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
