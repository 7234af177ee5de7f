# SPDX-License-Identifier: MIT
"""The forms in which a target of the general inverse can be given."""

from __future__ import annotations

from typing import Tuple

import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.native.target_kernels import GOOD, INFINITE, NO_QUATERNION, is_pose, read_pose

FORMS = (
    "(3,) position, (6,) position and roll, pitch, yaw, (7,) position and quaternion x, y, z, w, (4, 4) pose, or a "
    "pair (position, orientation) with the orientation None, (3,) roll, pitch, yaw, (4,) quaternion or (3, 3)"
)


_ALL_ROWS = np.ones(6)
_ALL_ROWS.setflags(write=False)


def read_target(target: object) -> Tuple[np.ndarray, np.ndarray]:
    """Return the pose (3, 4), free numbers as 0 or no turn, and 1 or 0 for each of the six rows that counts or is free.

    NaN frees a row. In roll, pitch, yaw each NaN frees one component of the rotation vector (x, y, z) and counts as
    0 in the target's orientation; in a quaternion or matrix NaN frees all three.

    Raises
    ------
    ShapeError
        If the target has none of the forms, is infinite, or its rotation is none.
    """
    if isinstance(target, tuple) and len(target) == 2:
        values = _numbers(target[0], "position of the target")
        if values.shape != (3,):
            raise ShapeError(f"position of the target has shape {values.shape}; expected (3,)")
        if target[1] is not None:
            orientation = _numbers(target[1], "orientation of the target")
            if orientation.shape not in ((3,), (4,), (3, 3)):
                raise ShapeError(f"orientation of the target has shape {orientation.shape}; expected {FORMS}")
            values = np.concatenate((values, orientation.ravel()))
    else:
        values = _numbers(target, "target")
        if values.shape == (4, 4):
            if is_pose(values):
                return values[:3], _ALL_ROWS
            if not np.array_equal(values[3], [0.0, 0.0, 0.0, 1.0]):
                raise ShapeError(f"last row of the target is {values[3]}; expected 0, 0, 0, 1")
            values = np.concatenate((values[:3, 3], values[:3, :3].ravel()))
        elif values.shape not in ((3,), (6,), (7,)):
            raise ShapeError(f"target has shape {values.shape}; expected {FORMS}")
    pose, rows = np.empty((3, 4)), np.empty(6)
    wrong = read_pose(values, pose, rows)
    if wrong == INFINITE:
        raise ShapeError(f"the target holds infinity: {values}; expected finite numbers, or NaN for free rows")
    if wrong == NO_QUATERNION:
        raise ShapeError(f"quaternion of the target has length {np.linalg.norm(values[3:])}; expected 1")
    if wrong != GOOD:
        raise ShapeError("rotation of the target is no rotation matrix; its columns must be orthogonal, of length 1")
    return pose, rows


def _numbers(value: object, what: str) -> np.ndarray:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {value!r}; expected {FORMS}") from None
