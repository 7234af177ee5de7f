# SPDX-License-Identifier: MIT
"""From limb references of the contract, or of a message, to those that Shellbot's solver takes, checked."""

from __future__ import annotations

import math
from array import array
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np

from robot_mechanics.errors import InvalidReferenceError, UnknownNameError
from robot_mechanics.motion.rotations import rpy_from_quaternion
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
from shellbot_kinematics.packed_references import PackedReferences
from shellbot_kinematics.references import Kind, LimbReferences
from shellbot_kinematics.shellbot_limbs import FAN, LIMB_JOINTS, LIMBS, UPPER_LIMBS, Frame, frame_links

_NOTHING = [math.nan] * REFERENCES  # everything free, every limb held
_NOTHING[R_FRAME : R_FRAME + 12] = [float(Frame.HOLD)] * 12
_ROWS = {limb: i for i, limb in enumerate(LIMBS)}
_TIPS = {link: (limb, _ROWS[limb], frame) for limb in LIMBS for frame, link in frame_links(limb).items()}
_JOINTS: Dict[str, Tuple[int, int]] = {limb: (R_JOINT + 3 * i, R_RATE + 3 * i) for limb, i in _ROWS.items()}
_JOINTS[FAN] = (R_FAN, R_FAN_RATE)
_EFFORTS = {limb: slice(4 * i + 1, 4 * i + 4) for i, limb in enumerate(LIMBS[:6])}
_EFFORTS.update({limb: slice(24 + 2 * i, 26 + 2 * i) for i, limb in enumerate(UPPER_LIMBS)})


class Packing:
    """Packs the references of one tick, limb by limb, and checks each.

    Parameters
    ----------
    stamp : float
        Simulated time of the tick, s.
    """

    def __init__(self, stamp: float) -> None:
        self._values = _NOTHING[:]
        self._values[R_STAMP] = stamp
        self._given: List[str] = []
        self._effort: Optional[List[float]] = None

    def add_pose(self, limb: str, frame: str, position: Sequence[float], linear: Sequence[float]) -> bool:
        """Add a limb that is led by the pose of a tip frame; return whether its orientation counts, too.

        Parameters
        ----------
        limb : str
            lower_1 .. upper_6.
        frame : str
            Link of the tip, such as lower_1_foot.
        position, linear : (3,) sequence of float
            Of the tip in base_link, m and m/s; NaN is free.

        Raises
        ------
        UnknownNameError
            On a limb that does not exist.
        InvalidReferenceError
            On a frame that is not one of the limb's, or a limb that comes twice.
        """
        try:
            owner, i, tip = _TIPS[frame]
        except KeyError:
            owner = ""
        if owner != limb:
            known_limb(limb)
            frames = " or ".join(frame_links(limb).values()) if limb != FAN else ""
            raise InvalidReferenceError(
                f"limb {limb} has no tip frame '{frame}'; use {frames or 'JOINTS, the fan has no tip'}"
            )
        self._once(limb)
        values, a, b = self._values, R_P + 3 * i, R_V + 3 * i
        values[a : a + 3] = position
        values[b : b + 3] = linear
        values[R_FRAME + i] = float(tip)
        return tip == Frame.SPHERE_CENTRE

    def add_turn(self, limb: str, orientation: Sequence[float], angular: Sequence[float]) -> None:
        """Add the orientation of a limb that `add_pose` has just added.

        Parameters
        ----------
        limb : str
            lower_1 .. upper_6.
        orientation : (4,) sequence of float
            Quaternion x, y, z, w of the tip in base_link; NaN is free.
        angular : (3,) sequence of float
            Angular velocity in base_link, rad/s.

        Raises
        ------
        InvalidReferenceError
            On a quaternion that is neither free (all NaN) nor of length one.
        """
        i = _ROWS[limb]
        a, b = R_RPY + 3 * i, R_W + 3 * i
        self._values[a : a + 3] = _rpy(limb, orientation)
        self._values[b : b + 3] = angular

    def add_joints(self, limb: str, position: Sequence[float], velocity: Sequence[float]) -> None:
        """Add a limb that is led by its joints; no velocities are zero.

        Parameters
        ----------
        limb : str
            lower_1 .. upper_6 or fan.
        position, velocity : sequence of float
            Of each joint of the limb, rad and rad/s; velocity may be empty.

        Raises
        ------
        UnknownNameError
            On a limb that does not exist.
        InvalidReferenceError
            On a wrong number of joints, or a limb that comes twice.
        """
        count = _check_count(limb, "positions", position, 0)
        _check_count(limb, "velocities", velocity, 1)
        self._once(limb)
        a, b = _JOINTS[limb]
        self._values[a : a + count] = position
        self._values[b : b + count] = velocity or [0.0] * count
        if limb != FAN:
            self._values[R_FRAME + _ROWS[limb]] = float(Frame.JOINT)

    def add_hold(self, limb: str) -> None:
        """Add a limb that keeps its last targets.

        Parameters
        ----------
        limb : str
            lower_1 .. upper_6.

        Raises
        ------
        UnknownNameError, InvalidReferenceError
            On a limb that does not exist, or comes twice.
        """
        known_limb(limb)
        self._once(limb)

    def add_effort(self, limb: str, effort: Sequence[float]) -> None:
        """Add the feed-forward effort of a limb's joints, N m; that of the fan is divided among its six joints.

        Parameters
        ----------
        limb : str
            lower_1 .. upper_6 or fan.
        effort : sequence of float
            Of each joint of the limb, N m.

        Raises
        ------
        UnknownNameError, InvalidReferenceError
            On a limb that does not exist, or a wrong number of joints.
        """
        _check_count(limb, "efforts", effort, 1)
        if self._effort is None:
            self._effort = [0.0] * 36
        if limb == FAN:
            self._effort[0:24:4] = [effort[0] / 6.0] * 6
        elif len(effort):
            self._effort[_EFFORTS[limb]] = effort

    def references(self) -> PackedReferences:
        """Return what was added; limbs that were not hold.

        Raises
        ------
        InvalidReferenceError
            If something was no number, or the stamp is not finite.
        """
        if not math.isfinite(self._values[R_STAMP]):
            raise InvalidReferenceError(f"stamp is {self._values[R_STAMP]}; expected the time of the tick in seconds")
        try:  # by way of array: numpy takes several times as long over a list
            packed = np.frombuffer(array("d", self._values))
        except TypeError as error:
            raise InvalidReferenceError(f"limb_references hold something that is no number: {error}") from None
        try:
            effort = None if self._effort is None else np.frombuffer(array("d", self._effort))
        except TypeError as error:
            raise InvalidReferenceError(f"efforts of limb_references hold what is no number: {error}") from None
        return PackedReferences.from_packed(packed, effort)

    def _once(self, limb: str) -> None:
        if limb in self._given:
            raise InvalidReferenceError(f"limb {limb} comes twice in one message; send each limb at most once")
        self._given.append(limb)


def pack_references(references: LimbReferences) -> PackedReferences:
    """Return references as the solver takes them; the message of the same content is read by the conversions.

    Parameters
    ----------
    references : LimbReferences
        Of one tick.

    Raises
    ------
    UnknownNameError
        On a limb that does not exist.
    InvalidReferenceError
        On a limb that comes twice, an unknown kind or frame, a wrong number of joints, or a quaternion that is neither
        free nor of length one.
    """
    packing = Packing(references.stamp)
    for limb in references.limbs:
        if limb.kind == Kind.POSE:
            if packing.add_pose(limb.limb, limb.frame, limb.position, limb.linear):
                packing.add_turn(limb.limb, limb.orientation, limb.angular)
        elif limb.kind == Kind.JOINTS:
            packing.add_joints(limb.limb, limb.joint_position, limb.joint_velocity)
        elif limb.kind == Kind.HOLD:
            packing.add_hold(limb.limb)
        else:
            raise unknown_kind(limb.limb, limb.kind)
        if limb.effort:
            packing.add_effort(limb.limb, limb.effort)
    return packing.references()


def known_limb(limb: str) -> None:
    """Raise UnknownNameError if Shellbot has no such limb.

    Parameters
    ----------
    limb : str
        lower_1 .. upper_6 or fan.
    """
    if limb not in LIMB_JOINTS:
        raise UnknownNameError(f"unknown limb '{limb}'; use one of {', '.join(LIMB_JOINTS)}")


def unknown_kind(limb: str, kind: int) -> InvalidReferenceError:
    """Return the error of a reference whose kind does not exist.

    Parameters
    ----------
    limb : str
        Whose reference it is.
    kind : int
        That was given.
    """
    allowed = ", ".join(f"{k.value} ({k.name})" for k in Kind)
    return InvalidReferenceError(f"limb {limb} has kind {kind}; expected one of {allowed}")


def _check_count(limb: str, what: str, values: Sequence[float], optional: int) -> int:
    """Return how many joints a limb has; with `optional` there may be no values at all."""
    try:
        joints = LIMB_JOINTS[limb]
    except KeyError:
        known_limb(limb)
        raise
    count = len(joints)
    if len(values) != count and not (optional and not len(values)):
        none = " or none for zero" if optional else ""
        raise InvalidReferenceError(
            f"limb {limb} has {len(values)} joint {what}; expected {count} ({', '.join(joints)}){none}"
        )
    return count


def _rpy(limb: str, orientation: Sequence[float]) -> Tuple[float, float, float]:
    x, y, z, w = orientation
    if math.isnan(x) and math.isnan(y) and math.isnan(z) and math.isnan(w):
        return math.nan, math.nan, math.nan
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not abs(length - 1.0) < 1e-3:
        raise InvalidReferenceError(
            f"limb {limb} has a quaternion of length {length:.3g}; expected 1, or all NaN for a free orientation"
        )
    return rpy_from_quaternion(x / length, y / length, z / length, w / length)
