# SPDX-License-Identifier: MIT
"""Commanded and measured angles over time, drawn by matplotlib.

Its picture is drawn without a toolkit (Agg) and shown as an image, so any Qt binding will do. The time axis is relative
and stands still: axes, ticks and legend are drawn once, and then only the curves, in a tenth of the time of a whole
picture. Loaded when the page is first seen.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from python_qt_binding.QtGui import QImage, QPainter
from python_qt_binding.QtWidgets import QWidget

from shellbot_teleop.joint_history import COMMANDED, KINDS, MEASURED, JointSamples
from shellbot_teleop.qt import theme

COLOURS = ("#38bdf8", "#4ade80", "#fbbf24", "#f472b6", "#a78bfa", "#fb923c")  # as many joints at once
_STYLES = {COMMANDED: (0, (4, 2)), MEASURED: "solid"}  # in the order of KINDS
_MARGIN = 0.08  # of the range of angles, above and below
_LEAST = 2.0  # degrees: least range of angles


class JointPlot(QWidget):
    """Draws what it is given; no state of the robot."""

    def __init__(self) -> None:
        super().__init__()
        self._figure: Any = Figure(dpi=100, facecolor=theme.SURFACE)
        self._canvas = FigureCanvasAgg(self._figure)
        self._axes: Any = self._figure.add_axes([0.0, 0.0, 1.0, 1.0])
        self._lines: List[Any] = []
        self._joints: Tuple[str, ...] = ()
        self._seconds = 0.0
        self._size = (0, 0)  # pixels
        self._background: Any = None
        self._image: Optional[QImage] = None
        self._pixels: Any = None
        self.drawings = 0  # whole pictures; the others drew curves only
        self.setMinimumSize(260, 150)

    def show_samples(self, samples: Dict[str, JointSamples], joints: Sequence[str], end: float, seconds: float) -> None:
        """Draw the samples of some joints in the last seconds before `end`, s of their stamps."""
        if tuple(joints) != self._joints or seconds != self._seconds:
            self._joints, self._seconds = tuple(joints), seconds
            self._begin()
        low, high = math.inf, -math.inf
        for line, (joint, kind) in zip(self._lines, ((j, k) for j in self._joints for k in KINDS)):
            found = samples.get(kind)
            if found is None or not len(found.times):
                line.set_data([], [])
                continue
            angles = np.degrees(found.of(joint))
            line.set_data(found.times - end, angles)
            known = angles[np.isfinite(angles)]
            if len(known):
                low, high = min(low, float(known.min())), max(high, float(known.max()))
        if low <= high:
            self._fit(low, high)
        self._draw()

    def save(self, path: Path) -> None:
        """Write the picture to a file, PNG or what its name says; raises OSError or ValueError."""
        self._canvas.draw()
        self._figure.savefig(str(path), facecolor=theme.SURFACE)
        self._background = None

    def _begin(self) -> None:
        axes = self._axes
        axes.clear()
        axes.set_facecolor(theme.BACKGROUND)
        axes.set_xlim(-self._seconds, 0.0)
        axes.set_xlabel("s before now")
        axes.set_ylabel("angle, degrees (dashed: commanded)")
        for item in (axes.xaxis.label, axes.yaxis.label):
            item.set_color(theme.MUTED)
            item.set_fontsize(9)
        axes.tick_params(colors=theme.MUTED, labelsize=8)
        axes.grid(color=theme.LINE, linewidth=0.6)
        for spine in axes.spines.values():
            spine.set_color(theme.LINE)
        look: Dict[str, Any] = {"linewidth": 1.4, "animated": True}
        self._lines = [
            axes.plot([], [], color=colour, linestyle=style, label=joint if kind == MEASURED else "_", **look)[0]
            for joint, colour in zip(self._joints, COLOURS)
            for kind, style in _STYLES.items()
        ]
        if self._lines:
            legend = axes.legend(
                loc="upper left", fontsize=8, ncol=1, facecolor=theme.SURFACE, edgecolor=theme.LINE, framealpha=0.8
            )
            for text in legend.get_texts():
                text.set_color(theme.TEXT)
        self._background = None

    def _fit(self, low: float, high: float) -> None:
        """Change the range of angles if the curves leave it, or need much less: each change draws everything anew."""
        bottom, top = self._axes.get_ylim()
        range_now, needed = top - bottom, max(high - low, _LEAST)
        if low < bottom or high > top or not needed <= range_now <= 3.0 * needed:
            middle, half = 0.5 * (low + high), (0.5 + _MARGIN) * needed
            self._axes.set_ylim(middle - half, middle + half)
            self._background = None

    def _draw(self) -> None:
        ratio = self.devicePixelRatioF()
        width, height = max(round(ratio * self.width()), 1), max(round(ratio * self.height()), 1)
        if self._background is None or (width, height) != self._size:
            self._size = (width, height)  # the canvas' own may be a pixel less, by rounding
            self._figure.set_dpi(100.0 * ratio)
            self._figure.set_size_inches(width / (100.0 * ratio), height / (100.0 * ratio))
            left, bottom = 66.0 / self.width(), 42.0 / self.height()
            self._axes.set_position(
                [left, bottom, 1.0 - left - 12.0 / self.width(), 1.0 - bottom - 10.0 / self.height()]
            )
            self._canvas.draw()
            self._background = self._canvas.copy_from_bbox(self._figure.bbox)
            self.drawings += 1
        self._canvas.restore_region(self._background)
        for line in self._lines:
            self._axes.draw_artist(line)
        self._pixels = self._canvas.buffer_rgba()
        width, height = self._canvas.get_width_height()
        self._image = QImage(self._pixels, width, height, 4 * width, QImage.Format_RGBA8888)
        self._image.setDevicePixelRatio(ratio)
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: show the picture."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour(theme.SURFACE))
        if self._image is not None:
            painter.drawImage(0, 0, self._image)


def warm_up() -> None:
    """Draw something once: what the first picture of a process takes long for is done when this returns."""
    figure = Figure()
    axes: Any = figure.add_subplot(1, 1, 1)
    axes.plot([0.0], [0.0], label="x")
    axes.legend()
    FigureCanvasAgg(figure).draw()
