# SPDX-License-Identifier: MIT
"""The loops over the modules that run at each tick, compiled; one source for any number of modules."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

from robot_mechanics.native.jit import kernel

_NOTHING = 12.0  # softnesses above the lowest corner: a weight of exp(-12) carries nothing
_ITERATIONS = 10  # the estimate is the same with 20
_TRUST = 1.0  # m of the centre of pressure that one rad of tilt is worth: 17 mm for a degree
_SETTLING = 3  # steps of Newton's method a tick, from the tilt of the tick before
_LARGEST_STEP = 0.02  # rad


@kernel
def chain(q: np.ndarray, length: float, head: np.ndarray, centre: np.ndarray, rotation: np.ndarray) -> None:
    """Write centres (n + 1, 3) and rotations (n + 1, 3, 3) of the bodies, seen from the head's centre, in the axes
    into which `head` (3, 3) turns those of the head; joints q (n,) rad, `length` of a module, m.
    """
    n = len(q)
    rotation[0] = head
    centre[0] = 0.0
    joint = np.zeros(3)
    for i in range(n):
        cos, sin = math.cos(q[i]), math.sin(q[i])
        other = 1 if i % 2 else 2  # yaw turns forward into left, pitch forward into up
        reach = 0.25 * length if i == 0 else length
        half = 0.25 * length if i == n - 1 else 0.5 * length
        for row in range(3):
            forward, side = rotation[i, row, 0], rotation[i, row, other]
            joint[row] -= reach * forward
            rotation[i + 1, row, 0] = cos * forward + sin * side
            rotation[i + 1, row, other] = cos * side - sin * forward
            rotation[i + 1, row, 3 - other] = rotation[i, row, 3 - other]
            centre[i + 1, row] = joint[row] - half * rotation[i + 1, row, 0]


@kernel
def means(centre: np.ndarray, rotation: np.ndarray) -> Tuple[float, float, float, float, float, float]:
    """Return the virtual chassis of bodies (n + 1, 3), (n + 1, 3, 3), halves at the ends, in a frame whose z is up:
    centre of mass x, y, z (m), yaw of the mean direction, roll about the body's axis (rad; 0: upright, positive: right
    side down), and the mean component of the bodies' tops along the vertical, -1 .. 1.
    """
    bodies = len(centre)
    x = y = z = forward_x = forward_y = left = top = 0.0
    for body in range(bodies):
        mass = 0.5 if body == 0 or body == bodies - 1 else 1.0
        x += mass * centre[body, 0]
        y += mass * centre[body, 1]
        z += mass * centre[body, 2]
        forward_x += mass * rotation[body, 0, 0]
        forward_y += mass * rotation[body, 1, 0]
        left += rotation[body, 2, 1]
        top += rotation[body, 2, 2]
    modules = bodies - 1
    yaw, roll = math.atan2(forward_y, forward_x), math.atan2(left, top)
    return x / modules, y / modules, z / modules, yaw, roll, top / bodies


@kernel
def place_corners(centre: np.ndarray, rotation: np.ndarray, corners: np.ndarray, points: np.ndarray) -> float:
    """Write the corners (bodies, 8, 3) of bodies with such corners in their own axes; return the lowest height, m."""
    lowest = math.inf
    for body in range(len(centre)):
        for corner in range(8):
            for row in range(3):
                points[body, corner, row] = centre[body, row]
                for column in range(3):
                    points[body, corner, row] += rotation[body, row, column] * corners[body, corner, column]
            lowest = min(lowest, points[body, corner, 2])
    return lowest


@kernel
def settle(points: np.ndarray, x_com: float, y_com: float, softness: float, tilt: np.ndarray) -> None:
    """Tilt a body that rests, corners (bodies, 8, 3), by the few tenths of a degree that measurements are wrong by.

    A body lies such that its centre of pressure is below its centre of mass (x_com, y_com, m). With loads exp(-height /
    softness) that is where softness * log(sum of them) is least over the tilts about x and y, a convex function; their
    squares are added, weighted by `_TRUST`. Changes the heights, and `tilt` (2,) rad, which is that of the tick before.
    """
    bodies = len(points)
    for _ in range(_SETTLING):
        lowest = math.inf
        for body in range(bodies):
            for corner in range(8):
                x, y, z = points[body, corner]
                lowest = min(lowest, z + tilt[0] * (y - y_com) - tilt[1] * (x - x_com))
        total = mean_x = mean_y = xx = xy = yy = 0.0
        for body in range(bodies):
            for corner in range(8):
                x, y = points[body, corner, 0] - x_com, points[body, corner, 1] - y_com
                above = (points[body, corner, 2] + tilt[0] * y - tilt[1] * x - lowest) / softness
                if above < _NOTHING:
                    load = math.exp(-above)
                    total += load
                    mean_x += load * x
                    mean_y += load * y
                    xx += load * x * x
                    xy += load * x * y
                    yy += load * y * y
        mean_x, mean_y = mean_x / total, mean_y / total
        slope_x, slope_y = _TRUST * tilt[0] - mean_y, _TRUST * tilt[1] + mean_x
        a = _TRUST + (yy / total - mean_y * mean_y) / softness
        b = -(xy / total - mean_x * mean_y) / softness
        c = _TRUST + (xx / total - mean_x * mean_x) / softness
        step_x, step_y = (c * slope_x - b * slope_y) / (a * c - b * b), (a * slope_y - b * slope_x) / (a * c - b * b)
        shorter = min(1.0, _LARGEST_STEP / max(abs(step_x), abs(step_y), 1e-12))
        tilt[0] -= shorter * step_x
        tilt[1] -= shorter * step_y
    for body in range(bodies):
        for corner in range(8):
            x, y = points[body, corner, 0] - x_com, points[body, corner, 1] - y_com
            points[body, corner, 2] += tilt[0] * y - tilt[1] * x


@kernel
def carried(before: np.ndarray, after: np.ndarray, softness: float, creep: float) -> Tuple[float, float]:
    """Return the displacement, m, of which friction on corners (bodies, 8, 3) that moved so makes least work.

    That is the weighted geometric median of their displacements, by Weiszfeld's iteration; the weights stand for the
    loads and are exp(-height over the lowest / softness). Below `creep` (m), friction grows with the displacement.
    """
    bodies = len(after)
    lowest = math.inf
    for body in range(bodies):
        for corner in range(8):
            lowest = min(lowest, 0.5 * (before[body, corner, 2] + after[body, corner, 2]))
    moved, count = np.empty((8 * bodies, 3)), 0  # x, y, weight of those that count
    x = y = total = 0.0
    for body in range(bodies):
        for corner in range(8):
            above = (0.5 * (before[body, corner, 2] + after[body, corner, 2]) - lowest) / softness
            if above < _NOTHING:
                weight = math.exp(-above)
                moved[count, 0] = after[body, corner, 0] - before[body, corner, 0]
                moved[count, 1] = after[body, corner, 1] - before[body, corner, 1]
                moved[count, 2] = weight
                x += weight * moved[count, 0]
                y += weight * moved[count, 1]
                total += weight
                count += 1
    x, y = x / total, y / total  # the mean, to begin with
    for _ in range(_ITERATIONS):
        next_x = next_y = total = 0.0
        for i in range(count):
            slip = math.sqrt((moved[i, 0] - x) ** 2 + (moved[i, 1] - y) ** 2 + creep**2)
            next_x += moved[i, 2] * moved[i, 0] / slip
            next_y += moved[i, 2] * moved[i, 1] / slip
            total += moved[i, 2] / slip
        x, y = next_x / total, next_y / total
    return x, y


@kernel
def stand(
    q: np.ndarray,
    length: float,
    head: np.ndarray,
    corners: np.ndarray,
    softness: float,
    tilt: np.ndarray,
    points: np.ndarray,
    p_chassis_head: np.ndarray,
    rotation_chassis_head: np.ndarray,
) -> Tuple[float, float, float, float, float]:
    """Place the body, seen from the head, on the ground: write its corners, settled, and the head (3,), (3, 3) in the
    chassis' frame on the ground; return the chassis' x, y (m), yaw, roll (rad) and up, as of `means`.

    The other arguments are those of `chain`, `place_corners` and `settle`.
    """
    bodies = len(q) + 1
    centre, rotation = np.empty((bodies, 3)), np.empty((bodies, 3, 3))
    chain(q, length, head, centre, rotation)
    lowest = place_corners(centre, rotation, corners, points)
    x_com, y_com, _, yaw, roll, up = means(centre, rotation)
    settle(points, x_com, y_com, softness, tilt)
    cos, sin = math.cos(yaw), math.sin(yaw)
    p_chassis_head[0] = -cos * x_com - sin * y_com
    p_chassis_head[1] = sin * x_com - cos * y_com
    p_chassis_head[2] = -lowest
    for column in range(3):
        rotation_chassis_head[0, column] = cos * head[0, column] + sin * head[1, column]
        rotation_chassis_head[1, column] = cos * head[1, column] - sin * head[0, column]
        rotation_chassis_head[2, column] = head[2, column]
    return x_com, y_com, yaw, roll, up


@kernel
def spread(covariance: np.ndarray, x: float, y: float, place: float, heading: float) -> None:
    """Let a covariance (3, 3) of x, y (m) and yaw (rad) grow over a displacement x, y, m, by variances of place (m^2)
    and heading (rad^2).
    """
    for row, arm in ((0, -y), (1, x)):  # the heading's error turns the displacement
        for column in range(3):
            covariance[row, column] += arm * covariance[2, column]
    for column, arm in ((0, -y), (1, x)):
        for row in range(3):
            covariance[row, column] += arm * covariance[row, 2]
    covariance[0, 0] += place
    covariance[1, 1] += place
    covariance[2, 2] += heading
