# SPDX-License-Identifier: MIT
"""Pose and Jacobian of one serial chain as straight-line source.

The rotation carried along the chain is kept as B Rz(theta) with a constant or already computed B. Behind a revolute
joint only theta grows; two parallel joints with no twist between them therefore share one sine and cosine of the sum of
their angles, and a constant turn about z is an addition to an angle. The product is multiplied out where a lever arm or
a change of axis needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Sequence, Tuple

import numpy as np

from shellbot_kinematics.generated.expressions import SMALL, Value, Vector, Writer, negative, snap
from shellbot_kinematics.parameters import ChainParameters

REVOLUTE, PRISMATIC, FIXED = 0, 1, 2


@dataclass(frozen=True)
class Axis:
    """Where a moving joint acts: its axis and a point on it, in the base; how far it follows its coordinate."""

    kind: int
    column: int
    ratio: float
    z: Vector
    p: Vector


@dataclass(frozen=True)
class Pose:
    """Position, the columns of the rotation (empty if not asked for), and the axes on the way to it."""

    p: Vector
    columns: List[Vector]
    axes: List[Axis]


def write_pose(w: Writer, parameters: ChainParameters, q: Sequence[str], rotation: bool) -> Pose:
    """Write the pose of the chain's tip, for coordinates held in the variables `q`.

    With rotation=False the last joint's turn of the tip frame itself is left out.
    """
    frame = _Frame(w)
    axes: List[Axis] = []
    constant = np.eye(4)
    for i in range(len(parameters.kind)):
        constant = constant @ parameters.pre[i]
        kind = int(parameters.kind[i])
        if kind != FIXED:
            frame.move(constant)
            ratio, column = float(parameters.ratio[i]), int(parameters.column[i])
            axes.append(Axis(kind, column, ratio, frame.z(), list(frame.p)))
            value = [(ratio, q[column]), (float(parameters.offset[i]), 1.0)]  # type: List[Tuple[Value, Value]]
            frame.turn(value) if kind == REVOLUTE else frame.slide(w.dot(value))
            constant = np.eye(4)
        constant = constant @ parameters.post[i]
    if not rotation:
        constant[:3, :3] = np.eye(3)
    frame.move(constant)
    return Pose(frame.p, frame.columns() if rotation else [], axes)


def write_jacobian(w: Writer, pose: Pose, n: int, rows: int) -> List[Vector]:
    """Write the geometric Jacobian of the tip in the axes of the base; return `rows` (3 or 6) rows of n values."""
    parts: List[List[List[Tuple[Value, Value]]]] = [[[] for _ in range(n)] for _ in range(rows)]
    for axis in pose.axes:
        if axis.kind == PRISMATIC:
            linear, angular = axis.z, [0.0, 0.0, 0.0]  # type: Tuple[Vector, Vector]
        else:
            arm = [w.dot([(1.0, pose.p[k]), (-1.0, axis.p[k])]) for k in range(3)]
            linear, angular = w.cross(axis.z, arm), axis.z
        for row, value in enumerate([*linear, *angular][:rows]):
            parts[row][axis.column].append((axis.ratio, value))
    return [[w.dot(products) for products in row] for row in parts]


class _Frame:
    """The frame carried along the chain: position p and rotation B Rz(theta)."""

    def __init__(self, w: Writer) -> None:
        self._w = w
        self.p: Vector = [0.0, 0.0, 0.0]
        self._base: List[Vector] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]  # columns of B
        self._angle: List[Tuple[Value, Value]] = []

    def z(self) -> Vector:
        return list(self._base[2])

    def turn(self, value: List[Tuple[Value, Value]]) -> None:
        self._angle = self._angle + value

    def slide(self, value: Value) -> None:
        self.p = [self._w.dot([(1.0, self.p[k]), (self._base[2][k], value)]) for k in range(3)]

    def columns(self) -> List[Vector]:
        """Return the columns of B Rz(theta), multiplied out."""
        w = self._w
        if not self._angle:
            return self._base
        s, c = w.turned(self._angle)
        x, y, z = self._base
        return [
            [w.dot([(x[k], c), (y[k], s)]) for k in range(3)],
            [w.dot([(y[k], c), (negative(x[k]), s)]) for k in range(3)],
            z,
        ]

    def move(self, constant: np.ndarray) -> None:
        """Carry the frame on by a constant transform."""
        w, t = self._w, [snap(float(v)) for v in constant[:3, 3]]
        if any(t):
            x, y = self.columns()[:2] if t[0] or t[1] else (self._base[0], self._base[1])
            z = self._base[2]
            self.p = [w.dot([(1.0, self.p[k]), (x[k], t[0]), (y[k], t[1]), (z[k], t[2])]) for k in range(3)]
        R = constant[:3, :3]  # noqa: N806
        if abs(R[2, 2] - 1.0) < SMALL and np.abs([R[0, 2], R[1, 2], R[2, 0], R[2, 1]]).max() < SMALL:
            angle = float(np.arctan2(R[1, 0], R[0, 0]))
            if abs(angle) > SMALL:
                self._angle = [*self._angle, (angle, 1.0)]
            return
        old = self.columns()
        self._base = [[w.dot([(old[j][k], float(R[j, c])) for j in range(3)]) for k in range(3)] for c in range(3)]
        self._angle = []
