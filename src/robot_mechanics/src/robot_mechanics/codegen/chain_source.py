# SPDX-License-Identifier: MIT
"""Pose and Jacobian of one serial chain as straight-line source.

The rotation carried along the chain is kept as B Rz(theta) with a constant or already computed B. Behind a revolute
joint only theta grows; two parallel joints with no twist between them therefore share one sine and cosine of the sum of
their angles, and a constant turn about z is an addition to an angle. The product is multiplied out where a lever arm or
a change of axis needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

import numpy as np

from robot_mechanics.codegen.expressions import SMALL, Value, Vector, Writer, negative, snap
from robot_mechanics.models.parameters import ChainParameters

REVOLUTE, PRISMATIC, FIXED = 0, 1, 2


@dataclass(frozen=True)
class Axis:
    """A moving joint: its axis in the base, how far it follows its coordinate, and the first link behind it."""

    kind: int
    column: int
    ratio: float
    z: Vector
    link: int


@dataclass(frozen=True)
class Link:
    """A displacement p on the way to the tip: `along` times the axes x and y, and something times the last axis z."""

    p: Vector
    x: Vector
    y: Vector
    z: Vector
    along: Tuple[float, float]

    def across(self, w: Writer) -> Vector:
        """Write z x p, without products of what p is made of."""
        return [w.dot([(self.y[k], self.along[0]), (self.x[k], -self.along[1])]) for k in range(3)]

    def half_inward(self, w: Writer) -> Vector:
        """Write half of z x (z x p)."""
        return [w.dot([(self.x[k], -0.5 * self.along[0]), (self.y[k], -0.5 * self.along[1])]) for k in range(3)]


@dataclass(frozen=True)
class Pose:
    """Position, the columns of the rotation (empty if not asked for), the axes and the links on the way to it.

    arms[i]: from the beginning of link i to the tip, so the last is zero and the first the position.
    """

    p: Vector
    columns: List[Vector]
    axes: List[Axis]
    links: List[Link]
    arms: List[Vector]


@dataclass(frozen=True)
class Motion:
    """What a unit of a joint's motion does to the tip: its axis z, and the linear part v of its Jacobian column.

    The joint moves by `ratio` times coordinate `column`. With a the way from it to the next revolute joint if that has
    a parallel axis, else to the tip: swing is z x a, half_swing half of z x (z x a). They are empty if not asked for,
    and of prismatic joints.
    """

    kind: int
    column: int
    ratio: float
    z: Vector
    v: Vector
    swing: Vector
    half_swing: Vector


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
            axes.append(Axis(kind, column, ratio, frame.z(), len(frame.links)))
            value = [(ratio, q[column]), (float(parameters.offset[i]), 1.0)]  # type: List[Tuple[Value, Value]]
            frame.turn(value) if kind == REVOLUTE else frame.slide(w.dot(value))
            constant = np.eye(4)
        constant = constant @ parameters.post[i]
    if not rotation:
        constant[:3, :3] = np.eye(3)
    frame.move(constant)
    arms: List[Vector] = [[0.0, 0.0, 0.0]]
    for link in reversed(frame.links):  # from the tip on: no arm waits for the position
        arms.insert(0, [w.dot([(1.0, arms[0][k]), (1.0, link.p[k])]) for k in range(3)])
    return Pose(arms[0], frame.columns() if rotation else [], axes, frame.links, arms)


def write_motions(w: Writer, pose: Pose, second: bool = True) -> List[Motion]:
    """Write the motions of the joints on the way to a pose, without swings if not `second`."""
    made: List[Motion] = []
    for i, axis in enumerate(pose.axes):
        v, swing, half = axis.z, [], []  # type: Tuple[Vector, Vector, Vector]
        if axis.kind == REVOLUTE:
            v = _across(w, pose, axis.z, axis.link)
            following = next((a for a in pose.axes[i + 1 :] if a.kind == REVOLUTE), None)
            joins = following is not None and parallel(axis.z, following.z) != 0.0
            if second:
                end = following.link if following and joins else len(pose.links)
                swing = _across(w, pose, axis.z, axis.link, end)
                half = _half_swing(w, pose, axis.z, axis.link, end)
        made.append(Motion(axis.kind, axis.column, axis.ratio, axis.z, v, swing, half))
    return made


def _arm(w: Writer, pose: Pose, first: int, end: int) -> Vector:
    """Write the way from the beginning of link `first` to that of link `end`."""
    if end - first <= 2:
        return [w.dot([(1.0, link.p[k]) for link in pose.links[first:end]]) for k in range(3)]
    return [w.dot([(1.0, pose.arms[first][k]), (-1.0, pose.arms[end][k])]) for k in range(3)]


def _across(w: Writer, pose: Pose, z: Vector, link: int, end: Optional[int] = None) -> Vector:
    """Write z x the way from the beginning of a link to that of link `end`, else to the tip.

    It is the sum over the links as long as that takes no products.
    """
    last = len(pose.links) if end is None else end
    direction = parallel(z, pose.links[link].z) if link < last else 0.0
    if direction == 0.0 or all(not isinstance(x, str) for x in z):
        return w.cross(z, pose.arms[link] if last == len(pose.links) else _arm(w, pose, link, last))
    rest, own = _across(w, pose, z, link + 1, end), pose.links[link].across(w)
    return [w.dot([(1.0, rest[k]), (direction, own[k])]) for k in range(3)]


def _half_swing(w: Writer, pose: Pose, z: Vector, first: int, end: int) -> Vector:
    """Write half of z x (z x the way from link `first` to link `end`)."""
    terms: List[List[Tuple[Value, Value]]] = [[], [], []]
    while first < end and parallel(z, pose.links[first].z):
        inward = pose.links[first].half_inward(w)
        for k in range(3):
            terms[k].append((1.0, inward[k]))
        first += 1
    if first < end:
        rest = w.cross(z, w.cross(z, _arm(w, pose, first, end)))
        for k in range(3):
            terms[k].append((0.5, rest[k]))
    return [w.dot(products) for products in terms]


def parallel(a: Vector, b: Vector) -> float:
    """Return 1 if two axes are the same whatever q is, -1 if opposite, else 0."""
    return 1.0 if a == b else -1.0 if a == [negative(x) for x in b] else 0.0


def write_jacobian(w: Writer, pose: Pose, n: int, rows: int) -> List[Vector]:
    """Write the geometric Jacobian of the tip in the axes of the base; return `rows` (3 or 6) rows of n values."""
    return jacobian_of(w, write_motions(w, pose, second=False), n, rows)


def jacobian_of(w: Writer, motions: Sequence[Motion], n: int, rows: int) -> List[Vector]:
    """Write the Jacobian from the joints' motions."""
    parts: List[List[List[Tuple[Value, Value]]]] = [[[] for _ in range(n)] for _ in range(rows)]
    for motion in motions:
        angular: Vector = [0.0, 0.0, 0.0] if motion.kind == PRISMATIC else motion.z
        for row, value in enumerate([*motion.v, *angular][:rows]):
            parts[row][motion.column].append((motion.ratio, value))
    return [[w.dot(products) for products in row] for row in parts]


class _Frame:
    """The frame carried along the chain: its links so far and its rotation B Rz(theta)."""

    def __init__(self, w: Writer) -> None:
        self._w = w
        self.links: List[Link] = []
        self._base: List[Vector] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]  # columns of B
        self._angle: List[Tuple[Value, Value]] = []

    def z(self) -> Vector:
        return list(self._base[2])

    def turn(self, value: List[Tuple[Value, Value]]) -> None:
        self._angle = self._angle + value

    def slide(self, value: Value) -> None:
        z = self.z()
        self.links.append(Link([self._w.dot([(z[k], value)]) for k in range(3)], z, z, z, (0.0, 0.0)))

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
            p = [w.dot([(x[k], t[0]), (y[k], t[1]), (z[k], t[2])]) for k in range(3)]
            self.links.append(Link(p, x, y, self.z(), (t[0], t[1])))
        R = constant[:3, :3]  # noqa: N806
        if abs(R[2, 2] - 1.0) < SMALL and np.abs([R[0, 2], R[1, 2], R[2, 0], R[2, 1]]).max() < SMALL:
            angle = float(np.arctan2(R[1, 0], R[0, 0]))
            if abs(angle) > SMALL:
                self._angle = [*self._angle, (angle, 1.0)]
            return
        old = self.columns()
        self._base = [[w.dot([(old[j][k], float(R[j, c])) for j in range(3)]) for k in range(3)] for c in range(3)]
        self._angle = []
