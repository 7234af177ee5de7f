# SPDX-License-Identifier: MIT
"""Checking arrays with one number per joint, and attitudes."""

from __future__ import annotations

from typing import Optional, Sequence, Union

import numpy as np

from .errors import CommandError

Positions = Union[Sequence[float], np.ndarray]
"""One angle per joint, rad."""


def checked_positions(position: Positions, joint_names: Sequence[str]) -> np.ndarray:
    """Return joint positions as a new array (n,), rad.

    Parameters
    ----------
    position : sequence of float
        One angle per joint, rad.
    joint_names : sequence of str
        The n joints.

    Raises
    ------
    CommandError
        For a wrong length, in the words of effort_controllers/JointGroupPositionController, or a value not finite.
    """
    array = np.array(position, dtype=float)
    if array.shape != (len(joint_names),):
        raise CommandError(
            f"Dimension of command ({array.size}) does not match number of joints ({len(joint_names)})! Not executing!"
        )
    is_finite = np.isfinite(array)
    if not is_finite.all():
        bad = np.flatnonzero(~is_finite)
        raise CommandError(
            f"Command for joint {joint_names[bad[0]]} is {array[bad[0]]}; every joint needs a finite number. "
            "Not executing!"
        )
    return array


def checked_attitude(attitude: Optional[Positions]) -> Optional[np.ndarray]:
    """Return a quaternion x, y, z, w as an array (4,); None as it is.

    Parameters
    ----------
    attitude : (4,) sequence of float, optional
        Of any length but 0.

    Raises
    ------
    CommandError
        If it is no quaternion.
    """
    if attitude is None:
        return None
    try:
        array = np.array(attitude, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (4,) or not np.isfinite(array).all() or not array.any():
        raise CommandError(f"attitude is {attitude}; give a quaternion x, y, z, w, four finite numbers, not all zero")
    return array
