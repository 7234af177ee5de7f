# SPDX-License-Identifier: MIT
"""What is drawn of feet, support, reach and plan: shapes in odom, no messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Iterator, List, Mapping, Optional, Tuple

import numpy as np

from shellbot_action_manager.interface import ContactEstimate
from shellbot_action_manager.markers.support import Support

Colour = Tuple[float, float, float, float]

GREEN: Colour = (0.13, 0.60, 0.27, 1.0)
YELLOW: Colour = (0.93, 0.66, 0.05, 1.0)
RED: Colour = (0.85, 0.13, 0.13, 1.0)
STANDING: Colour = (0.13, 0.17, 0.27, 1.0)
SWINGING: Colour = (0.05, 0.45, 0.95, 1.0)
PLANNED: Colour = (0.62, 0.18, 0.78, 1.0)
REACH: Colour = (0.45, 0.50, 0.60, 0.6)

_OVER_GROUND = 0.002  # m: flat shapes would flicker in the plane of the grid
_FULL_LOAD = 0.075  # m: diameter of a foot's disc that carries everything; its area is proportional to the load
_FOOTSTEP = 0.05  # m
_TEXT_BESIDE_FOOT = 0.07  # m
_TEXT_OVER_BODY = 0.29  # m: clear of the open shells


class Kind(Enum):
    """How the points of a shape are drawn."""

    DISC = "disc"  # flat on the ground
    SPHERE = "sphere"
    LINE = "line"
    AREA = "area"  # every three points are a triangle
    TEXT = "text"


@dataclass(frozen=True, eq=False)
class Shape:
    """One thing to draw."""

    layer: str  #: What it belongs to; a viewer shows and hides layers
    number: int  #: Within the layer: a shape replaces the one that had its number
    kind: Kind
    points: np.ndarray  #: (n, 3) In odom, m; disc, sphere and text have one
    size: float  #: Diameter, width of the line or height of the letters, m
    colour: Colour  #: Red, green, blue, alpha, 0..1
    text: str = ""


def margin_colour(margin: float, required: float) -> Colour:
    """Return green from the required margin (m) on, yellow from half of it on, red below."""
    if margin >= required:
        return GREEN
    return YELLOW if margin >= 0.5 * required else RED


def contact_shapes(contacts: ContactEstimate, T_odom_base: np.ndarray) -> Iterator[Shape]:
    """Draw what touches the ground as discs whose areas are the loads, and feet in the air as spheres.

    Of a rolling ball only the gores that touch are drawn.
    """
    feet = contacts.model == "feet"
    points = moved(T_odom_base, np.where(contacts.in_contact[:, None], contacts.centre_of_pressure, contacts.position))
    for i in np.flatnonzero(np.isfinite(points).all(axis=1)):
        if contacts.in_contact[i]:
            load = float(np.nan_to_num(contacts.load_share[i]))
            size = _FULL_LOAD * max(load, 0.05) ** 0.5
            yield Shape("feet", int(i), Kind.DISC, on_ground(points[i]), size, STANDING)
            if feet:
                outwards = points[i, :2] - T_odom_base[:2, 3]
                beside = points[i, :2] + _TEXT_BESIDE_FOOT * outwards / max(float(np.linalg.norm(outwards)), 1e-9)
                text = f"{100.0 * load:.0f}%"
                yield Shape("load", int(i), Kind.TEXT, on_ground(beside) + [0.0, 0.0, 0.02], 0.03, STANDING, text)
        elif feet:
            yield Shape("feet", int(i), Kind.SPHERE, points[i][None], 0.03, SWINGING)


def support_shapes(support: Optional[Support], T_odom_base: np.ndarray, required: float) -> Iterator[Shape]:
    """Draw the support polygon, the body's centre on the ground, its nearest edge, and the margin in mm."""
    centre = on_ground(T_odom_base[:3, 3])
    margin = -np.inf if support is None else support.margin
    colour = margin_colour(margin, required)
    text = "no support" if support is None else f"margin {1e3 * margin:.0f} mm"
    if support is not None:
        corners = on_ground(support.corners)
        fan = [corners[[0, i, i + 1]] for i in range(1, len(corners) - 1)]
        yield Shape("support", 0, Kind.AREA, np.concatenate(fan), 1.0, (*colour[:3], 0.3))
        yield Shape("support", 1, Kind.LINE, np.vstack((corners, corners[:1])), 0.005, colour)
        yield Shape("margin", 1, Kind.LINE, np.vstack((centre, on_ground(support.nearest))), 0.004, colour)
    yield Shape("margin", 0, Kind.SPHERE, centre, 0.02, colour)
    top = T_odom_base[:3, 3] + [0.0, 0.0, _TEXT_OVER_BODY]
    yield Shape("margin", 2, Kind.TEXT, top[None], 0.04, colour, text)


def reach_shapes(outlines: np.ndarray, T_odom_footprint: np.ndarray) -> Iterator[Shape]:
    """Draw the ground that each foot reaches: closed outlines (6, n, 2) in base_footprint, NaN for none."""
    for leg, outline in enumerate(outlines):
        if np.isfinite(outline).all():
            points = moved(T_odom_footprint, on_ground(outline))
            yield Shape("reach", leg, Kind.LINE, points, 0.002, REACH)


def path_shapes(paths: Mapping[int, List[np.ndarray]]) -> Iterator[Shape]:
    """Draw the commanded paths of the feet: points (3,) in odom by leg, oldest first."""
    for leg, path in paths.items():
        if len(path) > 1:
            yield Shape("path", leg, Kind.LINE, np.array(path), 0.005, SWINGING)


def footstep_shapes(p_odom: np.ndarray) -> Iterator[Shape]:
    """Draw where the feet in the air will land, (6, 3) in odom, m; NaN for those that stand."""
    for leg in np.flatnonzero(np.isfinite(p_odom).all(axis=1)):
        yield Shape("footsteps", int(leg), Kind.DISC, on_ground(p_odom[leg]), _FOOTSTEP, PLANNED)


def moved(T: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return points (n, 3) in the axes that the pose T (4, 4) leads to."""
    return np.asarray(points @ T[:3, :3].T + T[:3, 3])


def on_ground(points: np.ndarray) -> np.ndarray:
    """Return points (n, 2 or 3), or one, straight above or below where they are, on the ground, (n, 3)."""
    flat = np.atleast_2d(points)[:, :2]
    return np.column_stack((flat, np.full(len(flat), _OVER_GROUND)))
