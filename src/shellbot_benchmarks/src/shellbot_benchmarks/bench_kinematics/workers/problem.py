# SPDX-License-Identifier: MIT
"""The benchmark's robots and targets, the same for every library, on numpy alone; and the judge of their answers."""

from __future__ import annotations

import math
from typing import Iterable, List, Sequence, Tuple

import numpy as np

Row = Tuple[float, float, float, float]  # alpha, a, theta, d: standard Denavit-Hartenberg

# lower leg of the robot: base link (fixed), fan, coxa, femur, tibia; m and rad
LEG_BASE: Row = (0.0, 0.066, 0.0, -0.029)
LEG: List[Row] = [
    (0.0, 0.120, 0.0, 0.0),
    (-math.pi / 2, 0.038, 0.0, -0.02425),
    (0.0, 0.066, 0.0, 0.02425),
    (0.0, 0.122, 0.0, 0.0),
]
# Universal Robots UR5, the manufacturer's table
UR5_BASE: Row = (0.0, 0.0, 0.0, 0.0)
UR5: List[Row] = [
    (math.pi / 2, 0.0, 0.0, 0.089159),
    (0.0, -0.425, 0.0, 0.0),
    (0.0, -0.39225, 0.0, 0.0),
    (math.pi / 2, 0.0, 0.0, 0.10915),
    (-math.pi / 2, 0.0, 0.0, 0.09465),
    (0.0, 0.0, 0.0, 0.0823),
]
HOME = np.array([0.0, 0.0, -0.5, 1.8])
UR5_HOME = np.array([0.3, -1.2, 1.4, -0.8, -1.3, 0.2])
ARMS = (("leg", LEG_BASE, LEG, HOME), ("arm", UR5_BASE, UR5, UR5_HOME))
W_RANGE = np.radians([[-45.0, 45.0], [-60.0, 60.0], [-80.0, 60.0], [10.0, 140.0]])
F_RANGE = np.radians([[-180.0, 180.0]] * 4)
# joint ranges of the robot: fan, coxa, femur, tibia
LEG_LIMITS = np.array([[-2.15, 0.05], [-1.9, 1.9], [-2.6, 2.6], [-2.6, 2.6]])
TOLERANCE = 1e-6  # m and rad
COUNT = 10_000


def row_transform(row: Row, q: float = 0.0) -> np.ndarray:
    """Return Rz(theta + q) Tz(d) Tx(a) Rx(alpha), (4, 4)."""
    alpha, a, theta, d = row
    c, s, ca, sa = math.cos(theta + q), math.sin(theta + q), math.cos(alpha), math.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1.0]])


def forward(base: Row, rows: Sequence[Row], q: np.ndarray) -> np.ndarray:
    """Return the poses (N, 4, 4) of the tip for q (N, n)."""
    q = np.atleast_2d(q)
    T = np.broadcast_to(row_transform(base), (len(q), 4, 4))  # noqa: N806
    for j, (alpha, a, theta, d) in enumerate(rows):
        c, s, o = np.cos(theta + q[:, j]), np.sin(theta + q[:, j]), np.zeros(len(q))
        ca, sa = math.cos(alpha), math.sin(alpha)
        A = np.array(  # noqa: N806
            [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [o, o + sa, o + ca, o + d], [o, o, o, o + 1.0]]
        ).transpose(2, 0, 1)
        T = T @ A  # noqa: N806
    return T


def jacobian(base: Row, rows: Sequence[Row], q: np.ndarray) -> np.ndarray:
    """Return the geometric Jacobian (6, n) of the tip in the axes of the base, for q (n,)."""
    frames = [row_transform(base)]
    for row, value in zip(rows, q):
        frames.append(frames[-1] @ row_transform(row, value))
    axes, origins = np.array(frames[:-1])[:, :3, 2], np.array(frames)[:, :3, 3]
    arms = origins[-1] - origins[:-1]
    return np.hstack((np.cross(axes, arms), axes)).T


def leg_targets(kind: str, count: int = COUNT) -> np.ndarray:
    """Return the feet (count, 3) of the set W or F, or of random joints within the limits (L)."""
    seed, ranges = {"W": (20240601, W_RANGE), "F": (20240602, F_RANGE), "L": (20240603, LEG_LIMITS)}[kind]
    q = ranges[:, 0] + np.random.default_rng(seed).random((COUNT, 4)) * (ranges[:, 1] - ranges[:, 0])
    return np.ascontiguousarray(forward(LEG_BASE, LEG, q[:count])[:, :3, 3])


def leg_pose_targets(count: int) -> Tuple[np.ndarray, np.ndarray]:
    """Return joints with the fan at zero and their poses, for peers that need the orientation, too (set W)."""
    u = np.random.default_rng(20240601).random((COUNT, 4))
    q = W_RANGE[:, 0] + u * (W_RANGE[:, 1] - W_RANGE[:, 0])
    q[:, 0] = 0.0
    return q[:count], np.ascontiguousarray(forward(LEG_BASE, LEG, q[:count]))


def ur5_targets(count: int = COUNT) -> np.ndarray:
    """Return poses (count, 4, 4) of random UR5 joints, each within +-pi."""
    q = np.random.default_rng(20240604).uniform(-math.pi, math.pi, (COUNT, 6))
    return np.ascontiguousarray(forward(UR5_BASE, UR5, q[:count]))


def gait(ticks: int = 200) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return feet (ticks, 6, 3), velocities, and start joints of a tripod gait of six equal legs, each in its own base.

    100 Hz, stride 60 mm, lift 30 mm, 1 Hz: at most 2.4 mm a tick.
    """
    home = forward(LEG_BASE, LEG, HOME)[0, :3, 3]
    feet, rates = np.empty((ticks, 6, 3)), np.empty((ticks, 6, 3))
    for leg in range(6):
        phase = 2.0 * math.pi * (np.arange(ticks) * 0.01 + 0.5 * (leg % 2))
        lift = np.sin(phase)
        feet[:, leg] = home + np.column_stack(
            [0.0 * phase, -0.03 * np.cos(phase), 0.03 * np.where(lift > 0.0, lift * lift, 0.0)]
        )
        rates[:, leg] = (
            2.0
            * math.pi
            * np.column_stack([0.0 * phase, 0.03 * lift, 0.03 * np.where(lift > 0.0, 2.0 * lift * np.cos(phase), 0.0)])
        )
    return feet, rates, np.tile(HOME, 6)


def reached(base: Row, rows: Sequence[Row], q: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return whether each answer meets its position (N, 3) or pose (N, 4, 4), by this module's own kinematics."""
    T = forward(base, rows, np.nan_to_num(q, nan=1e3))  # noqa: N806
    points = targets if targets.ndim == 2 else targets[:, :3, 3]
    # a millionth more than the tolerance: the judge rounds differently
    good = np.linalg.norm(T[:, :3, 3] - points, axis=1) <= TOLERANCE * (1.0 + 1e-6)
    if targets.ndim == 3:
        away = np.linalg.norm(T[:, :3, :3] - targets[:, :3, :3], axis=(1, 2))  # sqrt(8) sin(angle / 2)
        good &= 2.0 * np.arcsin(np.minimum(away / math.sqrt(8.0), 1.0)) <= TOLERANCE * (1.0 + 1e-3)
    return good & np.isfinite(q).all(axis=1)


def urdf(name: str, base: Row, rows: Sequence[Row], limits: Sequence[Sequence[float]], legs: int = 1) -> str:
    """Return the chain as URDF text, `legs` times side by side; tips are called tip_1, ..."""
    links, joints = ['<link name="world"/>'], []
    for leg in range(1, legs + 1):
        before, T = "world", row_transform(base)  # noqa: N806
        for j in range(len(rows) + 1):
            final = j == len(rows)
            child = f"tip_{leg}" if final else f"link_{leg}_{j}"
            pitch = math.atan2(-T[2, 0], math.hypot(T[0, 0], T[1, 0]))
            rpy = (math.atan2(T[2, 1], T[2, 2]), pitch, math.atan2(T[1, 0], T[0, 0]))
            links.append(
                f'<link name="{child}"><inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" '
                'ixz="0" iyz="0"/></inertial></link>'
            )
            origin = f'<origin xyz="{_numbers(T[:3, 3])}" rpy="{_numbers(rpy)}"/>'
            kind, more = "fixed", ""
            if not final:
                low, high = limits[j]
                kind = "revolute"
                more = f'<axis xyz="0 0 1"/><limit lower="{low}" upper="{high}" effort="10" velocity="100"/>'
                T = row_transform(rows[j])  # noqa: N806
            joints.append(
                f'<joint name="joint_{leg}_{j}" type="{kind}"><parent link="{before}"/><child link="{child}"/>'
                f"{origin}{more}</joint>"
            )
            before = child
    return f'<?xml version="1.0"?><robot name="{name}">' + "".join(links) + "".join(joints) + "</robot>"


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{float(value):.17g}" for value in values)
