# SPDX-License-Identifier: MIT
"""What a model consists of, as rows for tables: masses, joints, drives, screw axes, poses of the tips at zero.

A cell is a text or a number, with all its digits; `as_text` rounds what is to be read. "-" stands where the model has
nothing: a link without inertia, a limit that is infinite.
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Iterable, List, Sequence, Union

import numpy as np

from robot_mechanics.errors import UnknownNameError
from robot_mechanics.models.joint import PRISMATIC
from robot_mechanics.motion.rotations import rpy_from_rotation
from robot_mechanics.native import rigid_body as rb

if TYPE_CHECKING:
    from robot_mechanics.dynamics.model import DynamicModel

FORMATS = ("text", "markdown", "csv")
DIGITS = 6  # significant ones in text and Markdown
Cell = Union[str, float]
Rows = List[List[Cell]]
_POSE: List[Cell] = ["x / m", "y", "z", "roll / rad", "pitch", "yaw"]


def mass_rows(model: DynamicModel) -> Rows:
    """Return a heading, a row per link, and the total: mass, centre of mass in the link, tensor about it (link axes).

    Parameters
    ----------
    model : DynamicModel
        Masses in kg, centres in m, tensors in kg m^2.
    """
    rows: Rows = [["link", "mass / kg", "com x / m", "y", "z", "Ixx / kg m^2", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"]]
    for link in model.tree.links:
        inertia = model.inertias.get(link)
        if inertia is None:
            rows.append([link, *["-"] * 10])
            continue
        upper = inertia.tensor[np.triu_indices(3)]
        rows.append([link, *_numbers([inertia.mass, *inertia.com, *upper])])
    total = math.fsum(inertia.mass for inertia in model.inertias.values())
    return [*rows, ["total", total, *["-"] * 9]]


def joint_rows(model: DynamicModel) -> Rows:
    """Return a heading and a row per joint: kind, links, origin (the child's pose in the parent at zero), axis.

    Parameters
    ----------
    model : DynamicModel
        Origins in m and rad (roll, pitch, yaw as in a URDF, rounded to 1e-15), axes in the child link; fixed joints
        have none.
    """
    rows: Rows = [["joint", "type", "parent", "child", *_POSE, "axis x", "y", "z"]]
    for joint in model.tree.evaluation_order:
        origin, axis = joint.origin @ joint.after, joint.after[:3, :3].T @ joint.axis
        numbers = _pose(origin, 15) + (_numbers(axis) if joint.moves else ["-"] * 3)
        rows.append([joint.name, joint.kind, joint.parent, joint.child, *numbers])
    return rows


def drive_rows(model: DynamicModel) -> Rows:
    """Return a heading and a row per joint that moves: limits, greatest speed and effort, friction and armature.

    Parameters
    ----------
    model : DynamicModel
        Joints that follow others have their own limits; friction and armature are the sums that act on a coordinate,
        in the row of the first joint that it moves.
    """
    rows: Rows = [
        ["joint", "lower / rad or m", "upper", "velocity / 1/s", "effort / N m or N", "viscous", "Coulomb", "armature"]
    ]
    for joint in filter(lambda joint: joint.moves, model.tree.evaluation_order):
        drive = model.table.rows[model.table.body_of[joint.child], [rb.VISCOUS, rb.COULOMB, rb.ARMATURE]]
        limits = (joint.lower, joint.upper, joint.velocity, joint.effort)
        rows.append([joint.name, *_numbers(limits), *_numbers(drive)])
    return rows


def screw_rows(model: DynamicModel) -> Rows:
    """Return a heading and a row per joint that moves: its screw axis in the root link at zero (direction, moment).

    That of a revolute joint is (w, -w x p), of a prismatic one (0, w) (Lynch and Park, Modern Robotics, ch. 3).

    Parameters
    ----------
    model : DynamicModel
        Moments in m; rounded to 1e-12, so that no error of rounding is printed.
    """
    rows: Rows = [["joint", "wx", "wy", "wz", "vx / m", "vy", "vz"]]
    poses = model.body_poses(_zero(model))
    for joint in filter(lambda joint: joint.moves, model.tree.evaluation_order):
        body = model.table.body_of[joint.child]
        axis, p = poses[body, :3, 2], poses[body, :3, 3]
        axes = (0.0, 0.0, 0.0, *axis) if joint.kind == PRISMATIC else (*axis, *-np.cross(axis, p))
        rows.append([joint.name, *_numbers(np.round(axes, 12))])
    return rows


def home_rows(model: DynamicModel) -> Rows:
    """Return a heading and a row per link without a child: its pose in the root link where all joints are at zero.

    Parameters
    ----------
    model : DynamicModel
        Poses in m and rad (roll, pitch, yaw as in a URDF), rounded to 1e-12.
    """
    rows: Rows = [["tip at zero", *_POSE]]
    poses = model.body_poses(_zero(model))
    for link in model.tree.tips:
        home = poses[model.table.body_of[link]] @ model.table.pose_in_body[link]
        rows.append([link, *_pose(np.round(home, 12), 12)])
    return rows


def all_tables(model: DynamicModel, style: str = "text") -> str:
    """Return every table of a model, an empty line between two of them.

    Parameters
    ----------
    model : DynamicModel
    style : str
        As of `as_text`. `text` and `markdown` end with a line that says to how many digits they are rounded.
    """
    kinds = (mass_rows, joint_rows, drive_rows, screw_rows, home_rows)
    tables = [as_text(rows(model), style) for rows in kinds]
    if style != "csv":
        tables.append(f"Numbers are rounded to {DIGITS} digits; as csv they have all.")
    return "\n\n".join(tables)


def as_text(rows: Sequence[Sequence[Cell]], style: str = "text") -> str:
    """Return rows, the heading first, as a table.

    Parameters
    ----------
    rows : sequence of sequences of str or float
    style : str
        `text` or `markdown`, where numbers have `DIGITS` significant digits, or `csv`, where they have all: each is
        read back as the same float.

    Raises
    ------
    UnknownNameError
        If there is no such style.
    """
    if style not in FORMATS:
        raise UnknownNameError(f"no format '{style}'; there are {', '.join(FORMATS)}")
    if style == "csv":
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(rows)  # writes floats by repr
        return stream.getvalue().rstrip("\n")
    written = [[cell if isinstance(cell, str) else f"{cell:.{DIGITS}g}" for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in written) for k in range(len(written[0]))]
    lines = []
    for i, row in enumerate(written):
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        lines.append(("| " + " | ".join(cells) + " |") if style == "markdown" else "  ".join(cells).rstrip())
        if style == "markdown" and i == 0:
            lines.append("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _zero(model: DynamicModel) -> np.ndarray:
    q = np.zeros(model.nq)
    if model.floating:
        q[6] = 1.0
    return q


def _numbers(values: Iterable[float]) -> List[Cell]:
    """Return plain floats, without -0.0, and "-" for infinite ones."""
    return [float(x) + 0.0 if math.isfinite(x) else "-" for x in values]


def _pose(T: np.ndarray, decimals: int) -> List[Cell]:  # noqa: N803 - a pose
    """Return position, as it is, and roll, pitch, yaw, which are computed, to as many decimals."""
    return _numbers([*T[:3, 3], *np.round(rpy_from_rotation(T[:3, :3]), decimals)])
