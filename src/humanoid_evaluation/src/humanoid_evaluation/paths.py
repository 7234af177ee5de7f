# SPDX-License-Identifier: MIT
"""The path of a run in its file: true pose and odometry of the base, ten a second, each as seen from its start."""

from __future__ import annotations

from typing import Any, Dict, Sequence, Union

import numpy as np

from robot_evaluation.planar import displacement_in_start_axes

Poses = Union[np.ndarray, Sequence[np.ndarray]]
PERIOD = 0.1
"""s between two poses of a path."""
_DIGITS = {"x_m": 4, "y_m": 4, "turn_deg": 2}


def path_of(truth: Poses, odometry: Poses) -> Dict[str, Any]:
    """Return a path for JSON: `period_s`, and of `true` and `odometry` the lists `x_m`, `y_m`, `turn_deg`.

    Parameters
    ----------
    truth, odometry : (n, 3) array
        Poses x, y, yaw of the base, PERIOD apart, in a frame of their own, m and rad. The first of each is the frame of
        the result, x ahead and y to the left. A turn may exceed 180 deg; between two poses it is less.
        Of two lengths the shorter counts.
    """
    count = min(len(truth), len(odometry))
    true, own = (_seen(np.array(poses[:count])) for poses in (truth, odometry))
    return {"period_s": PERIOD, "true": true, "odometry": own}


def _seen(poses: np.ndarray) -> Dict[str, Any]:
    x, y = displacement_in_start_axes(poses[:, :2] - poses[0, :2], poses[0, 2]).T
    yaw = np.unwrap(poses[:, 2])
    columns = {"x_m": x, "y_m": y, "turn_deg": np.degrees(yaw - yaw[0])}
    return {name: np.round(column, _DIGITS[name]).tolist() for name, column in columns.items()}
