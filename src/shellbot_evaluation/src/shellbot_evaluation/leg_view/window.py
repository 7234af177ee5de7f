# SPDX-License-Identifier: MIT
"""The window: a picture, and a slider for each joint of the limb."""

from __future__ import annotations

import math
import time
from typing import Any, Dict, Sequence

import numpy as np
from python_qt_binding.QtCore import Qt, QTimer, Signal
from python_qt_binding.QtGui import QImage, QPixmap
from python_qt_binding.QtWidgets import (
    QDoubleSpinBox,
    QGridLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from .limb import LimbJoint
from .picture import LimbPicture

_PERIOD_MS = 40
_PER_DEGREE = 10  # slider units: tenths of a degree


class JointSlider(QGroupBox):
    """One joint: slider and number for the goal, limits and offsets, what is measured."""

    moved = Signal(str, float)  # joint, rad

    def __init__(self, joint: LimbJoint, angle: float) -> None:
        super().__init__(joint.title)
        self.joint = joint
        self.slider = QSlider(Qt.Horizontal)
        self.slider.setRange(math.ceil(joint.lower_deg * _PER_DEGREE), math.floor(joint.upper_deg * _PER_DEGREE))
        self.number = QDoubleSpinBox()
        self.number.setDecimals(1)
        self.number.setSuffix(" °")
        self.number.setRange(self.slider.minimum() / _PER_DEGREE, self.slider.maximum() / _PER_DEGREE)
        self.measured = QLabel()
        self.measured.setMinimumWidth(230)
        ends = [QLabel(f"{end:.0f}°") for end in (joint.lower_deg, joint.upper_deg)]
        grid = QGridLayout(self)
        grid.addWidget(ends[0], 0, 0)
        grid.addWidget(self.slider, 0, 1)
        grid.addWidget(ends[1], 0, 2)
        grid.addWidget(self.number, 0, 3)
        grid.addWidget(QLabel(joint.facts), 1, 0, 1, 4)
        grid.addWidget(self.measured, 2, 0, 1, 4)
        self.set_goal(angle)
        self.slider.valueChanged.connect(self._from_slider)
        self.number.valueChanged.connect(self._from_number)

    def set_goal(self, angle: float) -> None:
        """Move slider and number to an angle, rad."""
        self.slider.setValue(round(math.degrees(angle) * _PER_DEGREE))
        self.number.setValue(self.slider.value() / _PER_DEGREE)

    def show_measured(self, angle: float, note: str) -> None:
        """Tell what is measured, rad, and a remark."""
        goal = math.radians(self.slider.value() / _PER_DEGREE)
        text = f"at {math.degrees(angle):.1f}° · goal {self.joint.steps(goal)} steps · {note}"
        self.measured.setText(text.rstrip(" ·"))

    def _from_slider(self, value: int) -> None:
        self.number.blockSignals(True)
        self.number.setValue(value / _PER_DEGREE)
        self.number.blockSignals(False)
        self.moved.emit(self.joint.name, math.radians(value / _PER_DEGREE))

    def _from_number(self, value: float) -> None:
        self.slider.setValue(round(value * _PER_DEGREE))


class LegWindow(QWidget):
    """Sliders on the right, the limb on the left.

    Parameters
    ----------
    title : str
        Of the window.
    joints : sequence of LimbJoint
        The limb.
    drive : PictureDrive or BusDrive
        What the sliders move.
    variant, limb : str
        What is drawn.
    """

    _drawn = Signal(object)

    def __init__(self, title: str, joints: Sequence[LimbJoint], drive: Any, variant: str, limb: str) -> None:
        super().__init__()
        self.setWindowTitle(title)
        self._drive = drive
        self._picture = LimbPicture(variant, limb, self._drawn.emit)
        self._drawn.connect(self._draw)
        self.pictures = 0
        measured = drive.measure(0.0)
        self._start = {joint.name: measured.get(joint.name, self._picture.pose[joint.name]) for joint in joints}
        self.sliders: Dict[str, JointSlider] = {}
        side = QVBoxLayout()
        for joint in joints:
            slider = JointSlider(joint, self._start[joint.name])
            slider.moved.connect(self._drive.command)
            slider.setEnabled(joint.name in measured)
            self.sliders[joint.name] = slider
            side.addWidget(slider)
        buttons = QHBoxLayout()
        for text, goals in (
            ("Zero", {joint.name: 0.0 for joint in joints}),
            ("Stand", {joint.name: self._picture.pose[joint.name] for joint in joints}),
            ("As at the start", self._start),
        ):
            button = QPushButton(text)
            button.clicked.connect(lambda _checked=False, goals=goals: self.go(goals))
            buttons.addWidget(button)
        side.addLayout(buttons)
        side.addStretch(1)
        self._image = QLabel("drawing ...")
        self._image.setAlignment(Qt.AlignCenter)
        self._image.setMinimumSize(480, 480)
        row = QHBoxLayout(self)
        row.addWidget(self._image, 1)
        row.addLayout(side)
        self._last = time.monotonic()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._beat)
        self._timer.start(_PERIOD_MS)

    def go(self, goals: Dict[str, float]) -> None:
        """Move sliders to angles, rad; those that cannot move stay."""
        for name, angle in goals.items():
            if self.sliders[name].isEnabled():
                self.sliders[name].set_goal(self.sliders[name].joint.clamp(angle))

    def finish(self) -> None:
        """Release servos, thread and renderer."""
        self._timer.stop()
        self._drive.close()
        self._picture.close()

    def closeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """End everything with the window."""
        self.finish()
        super().closeEvent(event)

    def _beat(self) -> None:
        now = time.monotonic()
        angles = self._drive.measure(now - self._last)
        self._last = now
        notes = self._drive.notes()
        for name, slider in self.sliders.items():
            if name in angles:
                slider.show_measured(angles[name], notes.get(name, ""))
            else:
                slider.measured.setText(notes.get(name, ""))
        self._picture.show(angles, 480, 480)

    def _draw(self, picture: Any) -> None:
        if isinstance(picture, str):
            self._image.setText(picture)
            self._image.setWordWrap(True)
            return
        pixels = np.ascontiguousarray(picture)
        height, width, _ = pixels.shape
        image = QImage(pixels.data, width, height, 3 * width, QImage.Format_RGB888)
        self._image.setPixmap(QPixmap.fromImage(image.copy()))
        self.pictures += 1
