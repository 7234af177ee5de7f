# SPDX-License-Identifier: MIT
"""The picture of a plot; matplotlib is loaded and draws in a thread, so that no key waits for it.

It draws without a toolkit (Agg), so any Qt binding will do.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Dict, Optional, Sequence

import numpy as np
from python_qt_binding.QtCore import Qt, Signal
from python_qt_binding.QtGui import QImage, QPainter
from python_qt_binding.QtWidgets import QWidget

from shellbot_teleop.joint_history import JointSamples
from shellbot_teleop.qt import theme
from shellbot_teleop.texts import tr


class JointPlot(QWidget):
    """Draws what it was given last; no state of the robot."""

    made = Signal(object, float)  # (height, width, 4) uint8 pixels; pixels of the screen a pixel of Qt

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()
        self._request: Any = None
        self._ending = False
        self._thread: Optional[threading.Thread] = None
        self.figure: Any = None  #: A PlotFigure once matplotlib is loaded
        self._pixels: Optional[np.ndarray] = None
        self._image: Optional[QImage] = None
        self.text = tr("Waiting for joint_states.")  #: What is shown without a picture
        self.made.connect(self._on_picture)
        self.setMinimumSize(260, 150)

    def show_samples(self, samples: Dict[str, JointSamples], joints: Sequence[str], end: float, seconds: float) -> None:
        """Draw the samples of some joints in the last seconds before `end`, s of their stamps."""
        ratio = self.devicePixelRatioF()
        size = (max(round(ratio * self.width()), 1), max(round(ratio * self.height()), 1))
        with self._changed:
            self._request = (samples, tuple(joints), end, seconds, size, ratio)
            if self._thread is None and not self._ending:
                self.text = tr("Loading matplotlib.")
                self._thread = threading.Thread(target=self._serve, name="joint_plot", daemon=True)
                self._thread.start()
            self._changed.notify()

    def save(self, path: Path) -> None:
        """Write the picture to a file, PNG or what its name says; raises OSError or ValueError."""
        if self._image is None:
            raise ValueError(tr("there is no picture yet: no joint_states have come"))
        self.figure.save(path)

    def close_thread(self) -> None:
        """End the thread that draws."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout=3.0)

    def _serve(self) -> None:
        from shellbot_teleop.qt.plot_figure import PlotFigure, PlotRequest

        figure = self.figure = PlotFigure()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._request is not None or self._ending)
                request, self._request = self._request, None
                if self._ending:
                    return
            pixels = figure.draw(PlotRequest(*request))
            if not self._ending:
                self.made.emit(pixels, request[-1])

    def _on_picture(self, pixels: np.ndarray, ratio: float) -> None:
        height, width, _ = pixels.shape
        self._pixels = pixels  # QImage does not copy
        self._image = QImage(pixels.data, width, height, 4 * width, QImage.Format_RGBA8888)
        self._image.setDevicePixelRatio(ratio)
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: show the picture."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour(theme.palette().surface))
        if self._image is not None:
            painter.drawImage(0, 0, self._image)
        else:
            painter.setPen(theme.colour(theme.palette().muted))
            painter.drawText(self.rect(), Qt.AlignCenter, self.text)
