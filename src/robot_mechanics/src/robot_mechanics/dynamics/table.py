# SPDX-License-Identifier: MIT
"""From a tree with inertias to the table of moving bodies that the kernels read: fixed joints are merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Mapping, Tuple, Type

import numpy as np

from robot_mechanics.dynamics.bodies import JointFriction
from robot_mechanics.errors import InvalidConfigError, InvalidInertiaError, KinematicsError, UnknownNameError
from robot_mechanics.models.inertia import Inertia
from robot_mechanics.models.joint import FIXED, KINDS
from robot_mechanics.models.tree import KinematicTree
from robot_mechanics.native import rigid_body as rb

_NONE = JointFriction()


@dataclass(frozen=True, eq=False)
class BodyTable:
    """Arrays of the moving bodies of a tree; all read-only."""

    rows: np.ndarray  #: (bodies, rigid_body.BODY), body 0 the base
    frictionless: np.ndarray  #: The same without friction
    above: np.ndarray  #: (rates,) for `rigid_body.solve_positive`
    body_of: Mapping[str, int]  #: Link -> the body that it is a part of
    pose_in_body: Mapping[str, np.ndarray]  #: Link -> its pose (4, 4) in the frame of that body
    inertias: Tuple[Inertia, ...]  #: Of the bodies, in their frames

    def of_coordinates(self, column: int) -> np.ndarray:
        """Return what a column says of each coordinate of velocity, (rates,), 0 of those of a floating base.

        Parameters
        ----------
        column : int
            Of `rigid_body`: VISCOUS, COULOMB or ARMATURE.
        """
        found, bodies = np.zeros(len(self.above)), self.rows[1:]
        first = 6 if self.rows[0, rb.KIND] == rb.FLOATING_BASE else 0
        np.add.at(found, first + bodies[:, rb.COLUMN].astype(int), bodies[:, column])
        return found


def make_table(
    tree: KinematicTree,
    inertias: Mapping[str, Inertia],
    friction: Mapping[str, JointFriction],
    floating: bool,
    gravity: np.ndarray,
) -> BodyTable:
    """Return the table of a tree.

    Parameters
    ----------
    tree : KinematicTree
    inertias : mapping of str to Inertia
        By link, in the link's frame; links that are missing have no mass.
    friction : mapping of str to JointFriction
        By joint. A coordinate that several joints follow has the sum of theirs, by the square of their ratios (Coulomb
        friction by its magnitude).
    floating : bool
        Whether the root link moves freely.
    gravity : (3,) array
        In the world, m/s^2.

    Raises
    ------
    UnknownNameError
        If an inertia or friction belongs to no link or joint of the tree.
    InvalidInertiaError, InvalidConfigError
        If one is no Inertia or JointFriction.
    """
    _know("link", inertias, tree.links, Inertia, InvalidInertiaError)
    _know("joint", friction, tuple(tree.joints), JointFriction, InvalidConfigError)
    p, order = tree.parameters(), tree.evaluation_order
    body_of: Dict[str, int] = {tree.root: 0}
    pose_in_body: Dict[str, np.ndarray] = {tree.root: np.eye(4)}
    base = np.zeros(rb.BODY)
    base[[rb.PARENT, rb.KIND, rb.COLUMN]] = -1, rb.FLOATING_BASE if floating else rb.FIXED_BASE, -1
    base[rb.P : rb.P + 3] = gravity
    rows: List[np.ndarray] = [base]
    owner: Dict[int, np.ndarray] = {}  # coordinate -> row of the first body that it moves
    for i, joint in enumerate(order):
        parent = body_of[joint.parent]
        pre = pose_in_body[joint.parent] @ p.pre[i]
        if KINDS[p.kind[i]] == FIXED:
            body_of[joint.child], pose_in_body[joint.child] = parent, pre @ p.post[i]
            continue
        row = np.zeros(rb.BODY)
        row[[rb.PARENT, rb.KIND, rb.COLUMN]] = parent, p.kind[i], p.column[i]
        row[[rb.RATIO, rb.OFFSET]] = p.ratio[i], p.offset[i]
        row[rb.R : rb.R + 9], row[rb.P : rb.P + 3] = pre[:3, :3].ravel(), pre[:3, 3]
        body_of[joint.child], pose_in_body[joint.child] = len(rows), p.post[i]
        rows.append(row)
        f, ratio, first = friction.get(joint.name, _NONE), p.ratio[i], owner.setdefault(int(p.column[i]), row)
        first[rb.ARMATURE] += ratio**2 * f.armature
        first[rb.VISCOUS] += ratio**2 * f.viscous
        first[rb.COULOMB] += abs(ratio) * f.coulomb
    merged = [Inertia(0.0, np.zeros(3), np.zeros((3, 3)))] * len(rows)
    for link, inertia in inertias.items():
        merged[body_of[link]] = merged[body_of[link]] + inertia.in_frame(
            pose_in_body[link][:3, 3], pose_in_body[link][:3, :3]
        )
    table = np.array(rows)
    for row, inertia in zip(table, merged):
        row[rb.MASS : rb.MASS + 10] = inertia.parameters
    frictionless = table.copy()
    frictionless[:, [rb.VISCOUS, rb.COULOMB]] = 0.0
    above = _above(table, tree.n, 6 if floating else 0)
    for array in (table, frictionless, above, *pose_in_body.values()):
        array.setflags(write=False)
    return BodyTable(table, frictionless, above, body_of, pose_in_body, tuple(merged))


def _above(rows: np.ndarray, n: int, base: int) -> np.ndarray:
    """Return for each rate the next one towards the base: where joints share a coordinate, simply the one before."""
    above = np.arange(-1, base + n - 1)
    if len(rows) - 1 > n:
        return above
    for row in rows[1:]:
        parent = int(row[rb.PARENT])
        above[base + int(row[rb.COLUMN])] = base + int(rows[parent, rb.COLUMN]) if parent > 0 else base - 1
    return above


def _know(
    what: str, given: Mapping[str, object], known: Tuple[str, ...], kind: type, error: Type[KinematicsError]
) -> None:
    if not isinstance(given, Mapping):
        raise error(f"{kind.__name__} by {what} is {given!r}; expected a mapping such as {{'{known[-1]}': ...}}")
    unknown = sorted(set(given).difference(known))
    if unknown:
        raise UnknownNameError(f"there is no {what} '{unknown[0]}'; there are {', '.join(known)}")
    for name, value in given.items():
        if not isinstance(value, kind):
            raise error(f"{what} '{name}' has {value!r}; expected {kind.__name__}")
