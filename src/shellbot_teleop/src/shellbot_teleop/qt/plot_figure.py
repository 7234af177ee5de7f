# SPDX-License-Identifier: MIT
"""Commanded and measured angles over time, drawn by matplotlib.

The time axis is relative and stands still: axes, ticks and legend are drawn once, and then only the curves, in a tenth
of the time of a whole picture.
"""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from shellbot_teleop.joint_history import COMMANDED, KINDS, MEASURED, JointSamples
from shellbot_teleop.qt import theme
from shellbot_teleop.texts import tr

_STYLES = {COMMANDED: (0, (4, 2)), MEASURED: "solid"}  # in the order of KINDS
_MARGIN = 0.08  # of the range of angles, above and below
_LEAST = 2.0  # degrees: least range of angles


class PlotRequest(NamedTuple):
    """What to draw."""

    samples: Dict[str, JointSamples]  #: By kind
    joints: Tuple[str, ...]  #: In the order of the colours
    end: float  #: Stamp at the right edge, s
    seconds: float  #: Length of the time axis
    size: Tuple[int, int]  #: Width and height, pixels
    ratio: float = 1.0  #: Pixels of the screen a pixel of the toolkit


class PlotFigure:
    """A picture of curves; from any thread, one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._palette = theme.palette()
        self._figure: Any = Figure(dpi=100)
        self._canvas = FigureCanvasAgg(self._figure)
        self._axes: Any = self._figure.add_axes([0.0, 0.0, 1.0, 1.0])
        self._lines: List[Any] = []
        self._joints: Tuple[str, ...] = ()
        self._seconds = 0.0
        self._size = (0, 0)  # pixels
        self._background: Any = None

    def draw(self, request: PlotRequest) -> np.ndarray:
        """Return a picture of the request, (height, width, 4) uint8 RGBA; a pixel less, by rounding."""
        with self._lock:
            needed = (request.joints, request.seconds, theme.palette())
            if needed != (self._joints, self._seconds, self._palette):
                self._joints, self._seconds, self._palette = needed
                self._begin()
            self._set_curves(request)
            if self._background is None or request.size != self._size:
                self._draw_axes(request.size, request.ratio)
            self._canvas.restore_region(self._background)
            for line in self._lines:
                self._axes.draw_artist(line)
            return np.array(self._canvas.buffer_rgba())

    def save(self, path: Path) -> None:
        """Write the last picture to a file, PNG or what its name says; raises OSError or ValueError."""
        with self._lock:
            for line in self._lines:
                line.set_animated(False)
            try:
                self._figure.savefig(str(path), facecolor=self._palette.surface)
            finally:
                for line in self._lines:
                    line.set_animated(True)
                self._background = None

    def _set_curves(self, request: PlotRequest) -> None:
        low, high = math.inf, -math.inf
        for line, (joint, kind) in zip(self._lines, ((j, k) for j in self._joints for k in KINDS)):
            found = request.samples.get(kind)
            if found is None or not len(found.times):
                line.set_data([], [])
                continue
            angles = np.degrees(found.of(joint))
            line.set_data(found.times - request.end, angles)
            known = angles[np.isfinite(angles)]
            if len(known):
                low, high = min(low, float(known.min())), max(high, float(known.max()))
        if low <= high:
            self._fit(low, high)

    def _begin(self) -> None:
        axes = self._axes
        axes.clear()
        self._figure.set_facecolor(self._palette.surface)
        axes.set_facecolor(self._palette.background)
        axes.set_xlim(-self._seconds, 0.0)
        axes.set_xlabel(tr("s before now"))
        axes.set_ylabel(tr("angle, degrees (dashed: commanded)"))
        for item in (axes.xaxis.label, axes.yaxis.label):
            item.set_color(self._palette.muted)
            item.set_fontsize(9)
        axes.tick_params(colors=self._palette.muted, labelsize=8)
        axes.grid(color=self._palette.line, linewidth=0.6)
        for spine in axes.spines.values():
            spine.set_color(self._palette.line)
        look: Dict[str, Any] = {"linewidth": 1.4, "animated": True}
        self._lines = [
            axes.plot([], [], color=colour, linestyle=style, label=joint if kind == MEASURED else "_", **look)[0]
            for joint, colour in zip(self._joints, self._palette.curves)
            for kind, style in _STYLES.items()
        ]
        if self._lines:
            legend = axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize=8, ncol=3, frameon=False)
            for text in legend.get_texts():
                text.set_color(self._palette.text)
        self._background = None

    def _fit(self, low: float, high: float) -> None:
        """Change the range of angles if the curves leave it, or need much less: each change draws everything anew."""
        bottom, top = self._axes.get_ylim()
        range_now, needed = top - bottom, max(high - low, _LEAST)
        if low < bottom or high > top or not needed <= range_now <= 3.0 * needed:
            middle, half = 0.5 * (low + high), (0.5 + _MARGIN) * needed
            self._axes.set_ylim(middle - half, middle + half)
            self._background = None

    def _draw_axes(self, size: Tuple[int, int], ratio: float) -> None:
        width, height = size[0] / ratio, size[1] / ratio
        self._size = size
        self._figure.set_dpi(100.0 * ratio)
        self._figure.set_size_inches(width / 100.0, height / 100.0)
        left, bottom, top = (min(margin, 0.3) for margin in (66.0 / width, 42.0 / height, 42.0 / height))
        self._axes.set_position([left, bottom, 0.97 - left, 1.0 - top - bottom])  # above it the legend, out of the way
        self._canvas.draw()
        self._background = self._canvas.copy_from_bbox(self._figure.bbox)
