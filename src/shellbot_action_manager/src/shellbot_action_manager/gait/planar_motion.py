# SPDX-License-Identifier: MIT
"""Rigid motion in the plane: exact integration of a constant twist, SE(2)."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np


def exp_twist(twist: np.ndarray, duration: float) -> Tuple[float, float, float]:
    """Return the pose that a constant body twist reaches: x (m), y (m), yaw (rad) in the frame of the start.

    Parameters
    ----------
    twist : (3,) array
        Forward and sideways speed (m/s) and turning rate (rad/s), in the moving body's axes.
    duration : float
        s; negative goes back.

    Notes
    -----
    With a = w t: x = (v_x sin a - v_y (1 - cos a)) / w and y = (v_x (1 - cos a) + v_y sin a) / w; series for a -> 0.
    """
    vx, vy, w = float(twist[0]), float(twist[1]), float(twist[2])
    angle = w * duration
    if abs(angle) < 1e-6:
        s, c = 1.0 - angle * angle / 6.0, angle / 2.0  # sin(a)/a and (1 - cos a)/a
    else:
        s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle
    return duration * (vx * s - vy * c), duration * (vx * c + vy * s), angle


def body_point_after(point: np.ndarray, twist: np.ndarray, duration: float) -> Tuple[float, float]:
    """Return where a point (2,) in the body's frame, m, comes to lie with the body, seen from where the body was."""
    x, y, yaw = exp_twist(twist, duration)
    c, s = math.cos(yaw), math.sin(yaw)
    px, py = point.tolist()
    return c * px - s * py + x, s * px + c * py + y


def ground_points_after(points: np.ndarray, twist: np.ndarray, duration: float) -> np.ndarray:
    """Return where points that are fixed to the ground come to lie in the frame of the body that moved on, (n, 2).

    Parameters
    ----------
    points : (n, 2) array
        m, in the body's frame before the motion.
    """
    x, y, yaw = exp_twist(twist, duration)
    c, s = math.cos(yaw), math.sin(yaw)
    px, py = points[:, 0] - x, points[:, 1] - y
    after = np.empty(points.shape)
    after[:, 0], after[:, 1] = c * px + s * py, c * py - s * px
    return after
