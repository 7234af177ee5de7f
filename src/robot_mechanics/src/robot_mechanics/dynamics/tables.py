# SPDX-License-Identifier: MIT
"""What a model consists of, as rows for tables: masses, joints, screw axes."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, List, Sequence

import numpy as np

from robot_mechanics.errors import UnknownNameError
from robot_mechanics.models.joint import FIXED, PRISMATIC
from robot_mechanics.native import rigid_body as rb

if TYPE_CHECKING:
    from robot_mechanics.dynamics.model import DynamicModel

FORMATS = ("text", "markdown", "csv")
Rows = List[List[str]]


def mass_rows(model: DynamicModel) -> Rows:
    """Return a heading and a row per link: mass (kg), centre of mass in the link (m), tensor about it (kg m^2)."""
    rows = [["link", "mass / kg", "com x / m", "y", "z", "Ixx / kg m^2", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"]]
    for link in model.tree.links:
        inertia = model.inertias.get(link)
        if inertia is None:
            rows.append([link, *["-"] * 10])
            continue
        I = inertia.tensor  # noqa: E741
        six = I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]
        rows.append([link, *(f"{x:.9g}" for x in (inertia.mass, *inertia.com, *six))])
    return rows


def joint_rows(model: DynamicModel) -> Rows:
    """Return a heading and a row per joint: type, links, screw axis in the root at zero (direction, moment), friction.

    The screw axis of a revolute joint is (w, -w x p), of a prismatic one (0, w) (Lynch and Park, Modern Robotics,
    ch. 3).
    """
    rows = [
        ["joint", "type", "parent", "child", "wx", "wy", "wz", "vx / m", "vy", "vz", "viscous", "Coulomb", "armature"]
    ]
    q = np.zeros(model.nq)
    if model.floating:
        q[6] = 1.0
    poses = model.body_poses(q)
    for joint in model.tree.evaluation_order:
        head = [joint.name, joint.kind, joint.parent, joint.child]
        if joint.kind == FIXED:
            rows.append([*head, *["-"] * 9])
            continue
        body = model.table.body_of[joint.child]
        axis, p = poses[body, :3, 2], poses[body, :3, 3]
        axes = (0.0, 0.0, 0.0, *axis) if joint.kind == PRISMATIC else (*axis, *-np.cross(axis, p))
        drive = model.table.rows[body, [rb.VISCOUS, rb.COULOMB, rb.ARMATURE]]
        rows.append([*head, *(f"{x + 0.0:.6g}" for x in np.round(axes, 12)), *(f"{x:g}" for x in drive)])
    return rows


def as_text(rows: Sequence[Sequence[str]], style: str = "text") -> str:
    """Return rows, the heading first, as a table.

    Parameters
    ----------
    rows : sequence of sequences of str
    style : str
        `text`, `markdown` or `csv`.
    """
    if style not in FORMATS:
        raise UnknownNameError(f"no format '{style}'; there are {', '.join(FORMATS)}")
    if style == "csv":
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(rows)
        return stream.getvalue().rstrip("\n")
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for i, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        lines.append(("| " + " | ".join(cells) + " |") if style == "markdown" else "  ".join(cells).rstrip())
        if style == "markdown" and i == 0:
            lines.append("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
