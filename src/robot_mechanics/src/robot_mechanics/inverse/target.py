# SPDX-License-Identifier: MIT
"""The forms in which a target of the general inverse can be given."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.motion.rotations import rotation_from_quaternion, rotation_from_rpy
from robot_mechanics.native.lm_kernels import is_pose

FORMS = (
    "(3,) position, (6,) position and roll, pitch, yaw, (7,) position and quaternion x, y, z, w, (4, 4) pose, or a "
    "pair (position, orientation) with the orientation None, (3,) roll, pitch, yaw, (4,) quaternion or (3, 3)"
)


_NO_TURN = np.eye(3)
_NO_TURN.setflags(write=False)
_ALL_ROWS = np.ones(6, dtype=bool)
_ALL_ROWS.setflags(write=False)


def read_target(target: object) -> Tuple[np.ndarray, np.ndarray]:
    """Return the pose (3, 4), free numbers as 0 or no turn, and which of the six rows count, (6,) bool.

    NaN frees a row. In roll, pitch, yaw each NaN frees one component of the rotation vector (x, y, z) and counts as
    0 in the target's orientation; in a quaternion or matrix NaN frees all three.

    Raises
    ------
    ShapeError
        If the target has none of the forms, is infinite, or its rotation is none.
    """
    if isinstance(target, tuple) and len(target) == 2:
        position = _numbers(target[0], "position of the target")
        orientation = None if target[1] is None else _numbers(target[1], "orientation of the target")
    else:
        whole = _numbers(target, "target")
        if whole.shape == (4, 4):
            if is_pose(whole):
                return whole[:3], _ALL_ROWS
            if not np.array_equal(whole[3], [0.0, 0.0, 0.0, 1.0]):
                raise ShapeError(f"last row of the target is {whole[3]}; expected 0, 0, 0, 1")
            position, orientation = whole[:3, 3], whole[:3, :3]
        elif whole.shape in ((3,), (6,), (7,)):
            position, orientation = whole[:3], (whole[3:] if len(whole) > 3 else None)
        else:
            raise ShapeError(f"target has shape {whole.shape}; expected {FORMS}")
    if position.shape != (3,):
        raise ShapeError(f"position of the target has shape {position.shape}; expected (3,)")
    pose, rows = np.empty((3, 4)), np.ones(6, dtype=bool)
    pose[:, :3], rows[3:] = _rotation(orientation)
    for r, value in enumerate(position.tolist()):  # of three numbers Python's tests are faster than numpy's
        if math.isinf(value):
            raise ShapeError("the target is infinite; expected finite numbers, or NaN for free rows")
        rows[r] = not math.isnan(value)
        pose[r, 3] = value if rows[r] else 0.0
    return pose, rows


def _rotation(orientation: object) -> Tuple[np.ndarray, np.ndarray]:
    if orientation is None:
        return _NO_TURN, np.zeros(3, dtype=bool)
    values = np.asarray(orientation, dtype=np.float64)
    counts = np.ones(3, dtype=bool)
    if values.shape == (3,):
        angles = values.tolist()
        if any(map(math.isinf, angles)):
            raise ShapeError(f"roll, pitch, yaw of the target are {values}; expected finite numbers or NaN")
        free = [math.isnan(angle) for angle in angles]
        counts[free] = False
        return rotation_from_rpy(*(0.0 if out else angle for out, angle in zip(free, angles))), counts
    if values.shape not in ((4,), (3, 3)):
        raise ShapeError(f"orientation of the target has shape {values.shape}; expected {FORMS}")
    if np.isnan(values).any():
        return _NO_TURN, ~counts
    if values.shape == (4,):
        length = math.sqrt(values @ values)
        if not 0.999 < length < 1.001:
            raise ShapeError(f"quaternion of the target has length {length}; expected 1")
        return rotation_from_quaternion(*(values / length).tolist()), counts
    T = np.eye(4)  # noqa: N806
    T[:3, :3] = values
    if not is_pose(T):
        raise ShapeError("rotation of the target is no rotation matrix; its columns must be orthogonal, of length 1")
    return values, counts


def _numbers(value: object, what: str) -> np.ndarray:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {value!r}; expected {FORMS}") from None
