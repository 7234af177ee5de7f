# SPDX-License-Identifier: MIT
"""Pictures of any serial chain: its frames, its sampled reach, how singular it is."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from robot_mechanics import JointMap, ReachCloud, SerialChain

from .plot_canvas import COLOURS, equal_axes

_MM = 1e3
_AXES = (("#d62728", "x"), ("#2ca02c", "y"), ("#1f77b4", "z"))


def draw_frames(
    axes: Any, chain: SerialChain, q: np.ndarray, size: float, labels: Optional[Sequence[str]] = None
) -> np.ndarray:
    """Draw a chain at q (n,) in three dimensions: links, and a triad of length `size` (m) per frame; return its points.

    Parameters
    ----------
    labels : sequence of str, optional
        Of the base and of each joint, fixed ones included; "" draws no triad there. Default: their names.
    """
    frames = [np.eye(4), *chain.frames(q)]
    names = labels if labels is not None else [chain.base, *(joint.name for joint in chain.joints)]
    points = _MM * np.array([T[:3, 3] for T in frames])
    axes.plot(*points.T, "-", color="0.25", linewidth=2.5, solid_capstyle="round")
    axes.plot(*points.T, "o", color="0.25", markersize=3.5)
    for T, name in zip(frames, names):  # noqa: N806
        if not name:
            continue
        p = _MM * T[:3, 3]
        for j, (colour, _) in enumerate(_AXES):
            tip = p + _MM * size * T[:3, j]
            axes.plot(*np.stack((p, tip)).T, color=colour, linewidth=1.6)
        axes.text(*(p + _MM * 0.25 * size), name, fontsize=8)
    return points


def frame_legend(axes: Any) -> None:
    """Add what the colours of the triads mean."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=colour, label=f"{name} axis") for colour, name in _AXES]
    axes.legend(handles=handles, fontsize=8, loc="upper left", frameon=False)


def equal_box(axes: Any, points: np.ndarray, margin: float = 30.0) -> None:
    """Give three axes the same scale around points (m, 3) in mm, with names."""
    from matplotlib.ticker import MaxNLocator

    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_zlim(low[2], high[2])
    axes.set_box_aspect(high - low, zoom=0.9)
    for name in "xyz":
        getattr(axes, f"set_{name}label")(f"{name} / mm", fontsize=8)
        getattr(axes, f"{name}axis").set_major_locator(MaxNLocator(5))
    axes.tick_params(labelsize=7)


def draw_cloud(figure: Any, cloud: ReachCloud, thickness: float) -> None:
    """Draw a sampled reach in a figure: all from above and from the side, and a cut through y = 0 by singularity."""
    above, side, cut = figure.subplots(1, 3)
    p = _MM * cloud.p
    for axes, (i, j), title in ((above, (0, 1), "from above, all"), (side, (0, 2), "from the side, all")):
        axes.plot(p[:, i], p[:, j], ",", color=COLOURS[0], alpha=0.6)
        axes.plot(0.0, 0.0, "k+", markersize=9, label="base")
        equal_axes(axes, "xyz"[i], "xyz"[j])
        axes.set_title(f"{title}: {len(cloud)} samples", fontsize=10)
        axes.legend(fontsize=8, loc="upper right")
    near = cloud.slice("y", 0.0, thickness)
    image = cut.scatter(
        _MM * near.p[:, 0], _MM * near.p[:, 2], c=near.smallest, s=5, cmap="magma", vmin=0.0, linewidths=0
    )
    cut.plot(0.0, 0.0, "k+", markersize=9)
    equal_axes(cut, "x", "z")
    cut.set_title(f"cut |y| ≤ {0.5 * _MM * thickness:.0f} mm: {len(near)} samples", fontsize=10)
    figure.colorbar(image, ax=cut, label="smallest singular value / m/rad", shrink=0.7)


def draw_joint_map(figure: Any, found: JointMap, chain: SerialChain) -> None:
    """Draw smallest singular value and manipulability over two joints of a chain."""
    kinds = {joint.name: joint.kind for joint in chain.joints}
    scale = [_MM if kinds[name] == "prismatic" else np.degrees(1.0) for name in found.joints]
    units = ["mm" if kinds[name] == "prismatic" else "deg" for name in found.joints]
    for axes, values, label in zip(
        figure.subplots(1, 2),
        (found.smallest, found.manipulability),
        ("smallest singular value", "manipulability"),
    ):
        a, b = scale[0] * found.first, scale[1] * found.second
        image = axes.pcolormesh(a, b, values, cmap="magma", vmin=0.0, shading="nearest")
        axes.set_xlabel(f"{found.joints[0]} / {units[0]}")
        axes.set_ylabel(f"{found.joints[1]} / {units[1]}")
        axes.set_title(label, fontsize=10)
        figure.colorbar(image, ax=axes, shrink=0.8)
