# SPDX-License-Identifier: MIT
"""Pictures of Shellbot's workspace: reach of a limb, walkspace of the legs, singularities over the leg plane."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import numpy as np

from robot_evaluation.plot_canvas import COLOURS, equal_axes
from shellbot_kinematics import (
    LegSet,
    LimbPlane,
    LimbReach,
    ReachSlice,
    SingularityMap,
    StrokeReach,
    Walkspace,
)
from shellbot_kinematics.workspace_walk import TRIPODS

_MM = 1e3


def draw_reach(axes: Any, reach: LimbReach, q: Optional[np.ndarray] = None, ground: Optional[float] = None) -> None:
    """Draw a limb's reach in its plane: region, limits (thick where they end it), the limb at q (2,), the ground."""
    plane = reach.plane
    extent = _extent(reach.s, reach.z)
    shade = np.where(reach.branches > 0, reach.branches, np.nan)
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    colours = ListedColormap(["#dbe9f6", "#a9cbe8"])
    axes.imshow(shade, origin="lower", extent=extent, cmap=colours, vmin=0.5, vmax=2.5, interpolation="nearest")
    handles = [Patch(color="#dbe9f6", label="one knee branch"), Patch(color="#a9cbe8", label="both knee branches")]
    for i, (name, curve) in enumerate(plane.curves().items()):
        (line,) = axes.plot(_MM * curve[:, 0], _MM * curve[:, 1], color=COLOURS[i % 6], linewidth=0.9, label=name)
        handles.append(line)
        end = reach.boundary.get(name)
        if end is not None:
            axes.plot(_MM * end[:, 0], _MM * end[:, 1], color=COLOURS[i % 6], linewidth=2.6)
    if q is not None:
        handles.append(draw_links(axes, plane, q))
    if plane.is_lower:
        axes.axvline(0.0, color="0.35", linewidth=0.9, linestyle="-.")
        axes.annotate("coxa axis", (0.0, extent[3]), (4, -12), textcoords="offset points", fontsize=8, color="0.35")
    if ground is not None:
        handles.append(axes.axhline(_MM * ground, color="#6b4f2a", linewidth=1.2, linestyle="--", label="ground"))
    equal_axes(axes, "s, along the plane", "z, above the body's centre")
    axes.set_xlim(extent[:2])
    axes.set_ylim(extent[2:])
    axes.set_title(f"{plane.limb}, {_frame(plane)}, in the plane of the limb: {1e4 * reach.area:.0f} cm²", fontsize=10)
    axes.legend(handles=handles, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=3, frameon=False)


def draw_links(axes: Any, plane: LimbPlane, q: np.ndarray) -> Any:
    """Draw the limb in its plane at the two joints q (2,), rad; return the line."""
    l1, _, a0, _, sg, _ = plane.link
    angle = float(a0 - sg * q[0])
    knee = plane.origin + l1 * np.array([math.cos(angle), math.sin(angle)])
    points = [plane.origin, knee, plane.forward(q)]
    if plane.is_lower:
        points.insert(0, np.array([0.0, plane.origin[1]]))
    x, z = _MM * np.array(points).T
    (line,) = axes.plot(x, z, "o-", color="0.15", linewidth=2.2, markersize=4.5, label="limb, stand")
    return line


def draw_slice(axes: Any, cut: ReachSlice, legs: LegSet, fan_azimuth: np.ndarray) -> None:
    """Draw what the legs reach at one height, seen from above, with the coxa axes (k, 2) at the fan angle."""
    for i, name in enumerate(legs.names):
        if cut.reached[i].any():
            axes.contourf(
                _MM * cut.x, _MM * cut.y, cut.reached[i].astype(float), levels=[0.5, 1.5], colors=[COLOURS[i % 6]],
                alpha=0.16,
            )  # fmt: skip
            axes.contour(
                _MM * cut.x, _MM * cut.y, cut.reached[i].astype(float), levels=[0.5], colors=[COLOURS[i % 6]],
                linewidths=1.2,
            )  # fmt: skip
        axes.plot(*(_MM * fan_azimuth[i]), "o", color=COLOURS[i % 6], markersize=4, label=f"{name}, coxa axis")
    fan = legs.geometry[:, :2]
    for start, end in zip(fan, fan_azimuth):
        axes.plot(_MM * np.array([start[0], end[0]]), _MM * np.array([start[1], end[1]]), color="0.5", linewidth=1.2)
    equal_axes(axes, "x", "y")
    axes.set_title(
        f"from above, at {-_MM * cut.height:.1f} mm below the body's centre, fan {np.degrees(cut.fan):.0f}°",
        fontsize=10,
    )
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=3, frameon=False)


def draw_strokes(axes: Any, stroke: StrokeReach, stance: float, title: str, numbers: Sequence[int]) -> None:
    """Draw the reachable ground around the rest points from above, each leg's circle, and the tripods' ellipses.

    Parameters
    ----------
    numbers : sequence of int
        Of the legs, from 1; they choose the colours, too.
    """
    closed = np.append(np.arange(stroke.bearing.size), 0)
    direction = np.stack((np.cos(stroke.bearing), np.sin(stroke.bearing)), axis=1)
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    round_ = np.stack((np.cos(turn), np.sin(turn)), axis=1)
    ellipses = [stroke.ellipse(rows) for rows in TRIPODS] if len(stroke.rest) == 6 else [stroke.ellipse()]
    for i, (rest, number) in enumerate(zip(stroke.rest, numbers)):
        colour = COLOURS[(number - 1) % 6]
        outline = _MM * (rest + stroke.radius[i][:, None] * direction)[closed]
        axes.fill(outline[:, 0], outline[:, 1], color=colour, alpha=0.18)
        axes.plot(outline[:, 0], outline[:, 1], color=colour, linewidth=1.2)
        circle = _MM * (rest + stroke.circle[i] * round_)
        first = i == 0
        axes.plot(
            circle[:, 0], circle[:, 1], color="0.2", linewidth=1.0, label="largest circle of the leg" if first else None
        )
        ellipse = ellipses[i % 2 if len(ellipses) == 2 else 0]
        oval = _MM * (rest + ellipse.radius(turn)[:, None] * round_)
        axes.plot(
            oval[:, 0], oval[:, 1], color="0.2", linewidth=1.0, linestyle=":",
            label=f"largest ellipse of {'its tripod' if len(ellipses) == 2 else 'the leg'}" if first else None,
        )  # fmt: skip
        axes.plot(*(_MM * rest), "+", color="0.2", label="rest point" if first else None)
        axes.annotate(str(number), _MM * rest, (5, 4), textcoords="offset points", fontsize=9)
    axes.plot(*(_MM * stance * round_.T), color="0.6", linewidth=0.8, linestyle="--", label="stance circle")
    equal_axes(axes, "x", "y")
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=2, frameon=False)


def draw_walkspace(figure: Any, axes: Any, space: Walkspace, height: float, stance: float) -> None:
    """Draw the stroke that all legs allow over stance radius and body height, with the point (stance, height)."""
    stroke = _MM * space.common
    image = axes.pcolormesh(
        _MM * space.stance,
        _MM * space.height,
        np.where(stroke > 0.0, stroke, np.nan),
        cmap="viridis",
        shading="nearest",
    )
    lines = axes.contour(
        _MM * space.stance, _MM * space.height, stroke, levels=[10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
        colors="white", linewidths=0.8,
    )  # fmt: skip
    axes.clabel(lines, fmt="%d", fontsize=8)
    best = np.argmax(stroke, axis=1)
    walkable = stroke.max(axis=1) > 0.0
    axes.plot(
        _MM * space.stance[best][walkable], _MM * space.height[walkable], ".-", color="#ffb000", linewidth=1.0,
        markersize=4, label="widest stroke of each height",
    )  # fmt: skip
    axes.plot(_MM * stance, _MM * height, "*", color="#ff3b30", markersize=13, label="drawn on the left")
    axes.set_xlabel("stance radius / mm")
    axes.set_ylabel("body centre above the ground / mm")
    axes.set_title("radius of the largest stroke circle of all legs", fontsize=10)
    figure.colorbar(image, ax=axes, label="mm", shrink=0.8)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=2, frameon=False)


def draw_singularity(
    figure: Any, axes: Any, found: SingularityMap, values: np.ndarray, label: str, q: Optional[np.ndarray] = None
) -> None:
    """Draw a measure (nz, ns) over the limb's plane with the curves that bound the reach and the limb at q (2,)."""
    extent = _extent(found.s, found.z)
    image = axes.imshow(values, origin="lower", extent=extent, cmap="magma", vmin=0.0, interpolation="nearest")
    figure.colorbar(image, ax=axes, label=label, shrink=0.7)
    for name, curve in found.plane.curves().items():
        if name in ("stretched", "folded"):
            axes.plot(_MM * curve[:, 0], _MM * curve[:, 1], color="#26c6da", linewidth=1.2, label=f"singular: {name}")
    if found.plane.is_lower:
        axes.axvline(0.0, color="#26c6da", linewidth=1.2, linestyle="-.", label="singular: tip under the coxa axis")
    if q is not None:
        line = draw_links(axes, found.plane, q)
        line.set_color("#4caf50")
    equal_axes(axes, "s, along the plane", "z, above the body's centre")
    axes.set_facecolor("0.92")
    axes.set_xlim(extent[:2])
    axes.set_ylim(extent[2:])
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=2, frameon=False)


def _extent(s: np.ndarray, z: np.ndarray) -> tuple[float, float, float, float]:
    half = 0.5 * (s[1] - s[0])
    return _MM * (s[0] - half), _MM * (s[-1] + half), _MM * (z[0] - half), _MM * (z[-1] + half)


def _frame(plane: LimbPlane) -> str:
    return plane.frame.name.lower().replace("_", " ")
