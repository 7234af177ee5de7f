# SPDX-License-Identifier: MIT
"""The camera's picture, as large as fits."""

from __future__ import annotations

from typing import Optional

import numpy as np
from python_qt_binding.QtCore import QRectF, Qt
from python_qt_binding.QtGui import QImage, QPainter

from shellbot_teleop.qt import theme
from shellbot_teleop.qt.widgets import View
from shellbot_teleop.texts import tr


class CameraView(View):
    """Shows pictures, and reports whether it is visible, so that pictures are requested from the camera only then."""

    def __init__(self) -> None:
        super().__init__()
        self._image: Optional[QImage] = None
        self._pixels: Optional[np.ndarray] = None
        self._count = -1
        self.setMinimumSize(240, 160)

    def show_picture(self, pixels: Optional[np.ndarray], count: int) -> None:
        """Show (h, w, 3) uint8 RGB pixels; `count` tells whether they are new."""
        if count == self._count or not self.isVisible():
            return
        self._count = count
        self._pixels = pixels  # QImage does not copy: keep the array
        if pixels is None:
            self._image = None
        else:
            height, width, _ = pixels.shape
            self._image = QImage(pixels.data, width, height, 3 * width, QImage.Format_RGB888)
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: draw."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.SmoothPixmapTransform)
        painter.fillRect(self.rect(), theme.colour(theme.palette().background))
        if self._image is None:
            painter.setPen(theme.colour(theme.palette().muted))
            painter.setFont(theme.font(10))
            painter.drawText(
                self.rect(),
                Qt.AlignCenter,
                tr("No picture on camera/image_raw yet.\nThe simulator sends one while this page is seen."),
            )
            return
        scale = min(self.width() / self._image.width(), self.height() / self._image.height())
        width, height = scale * self._image.width(), scale * self._image.height()
        painter.drawImage(QRectF((self.width() - width) / 2, (self.height() - height) / 2, width, height), self._image)
