# SPDX-License-Identifier: MIT
"""The window: a picture, and a slider for each joint of the limb."""

from __future__ import annotations

import math
import time
from typing import Any, Dict, List, Sequence

import numpy as np
from python_qt_binding.QtCore import Qt, QTimer, Signal
from python_qt_binding.QtGui import QImage, QKeySequence, QPixmap
from python_qt_binding.QtWidgets import (
    QDoubleSpinBox,
    QGridLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QShortcut,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from .limb import LimbJoint
from .picture import LimbPicture

_PERIOD_MS = 40
_PER_DEGREE = 10  # slider units: tenths of a degree
_STOP_KEYS = (Qt.Key_Escape, Qt.Key_F12)  # as everywhere in the project
_ALARM_STYLE = "background: #c00000; color: white; font-weight: bold; padding: 4px;"
_STOP_STYLE = "QPushButton { background: #c00000; color: white; font: bold 22px; border-radius: 6px; }"


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

    def set_movable(self, is_movable: bool) -> None:
        """Take the goal or not; what is measured stays to be read."""
        self.slider.setEnabled(is_movable)
        self.number.setEnabled(is_movable)

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
        self.failures: List[str] = []
        side = QVBoxLayout()
        side.addLayout(self._stop_row())
        for joint in joints:
            slider = JointSlider(joint, self._start[joint.name])
            slider.moved.connect(self._drive.command)
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
        self._show_state()
        self._last = time.monotonic()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._beat)
        self._timer.start(_PERIOD_MS)

    def go(self, goals: Dict[str, float]) -> None:
        """Move sliders to angles, rad; those that cannot move stay."""
        for name, angle in goals.items():
            if self.sliders[name].slider.isEnabled():
                self.sliders[name].set_goal(self.sliders[name].joint.clamp(angle))

    def stop(self) -> None:
        """Take the torque away at once, until `resume`."""
        self._drive.stop()
        self._show_state()

    def resume(self) -> None:
        """Switch on again: sliders go to where the joints are, then the joints follow them."""
        self._drive.resume()
        self._show_state()  # enables the sliders again
        self.go(self._drive.measure(0.0))

    def finish(self) -> None:
        """Release servos, thread and renderer; `failures` has what could not be released."""
        if self._timer.isActive():
            self._timer.stop()
            self.failures = self._drive.close()
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
        self._show_state()
        self._picture.show(angles, 480, 480)

    def _stop_row(self) -> QGridLayout:
        self.stop_button = QPushButton("STOP  (Esc, F12)")
        self.stop_button.setStyleSheet(_STOP_STYLE)
        self.stop_button.setMinimumSize(230, 64)
        self.stop_button.setFocusPolicy(Qt.NoFocus)  # Space and Enter belong to what is being set
        self.stop_button.pressed.connect(self.stop)  # not clicked, which waits for the release
        self.resume_button = QPushButton("Torque on")
        self.resume_button.setMinimumHeight(64)
        self.resume_button.clicked.connect(lambda _checked=False: self.resume())
        self.state = QLabel()
        self.state.setWordWrap(True)
        self.state.setMinimumHeight(40)  # two lines: nothing may jump when it has more to say
        for key in _STOP_KEYS:
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ApplicationShortcut)
            shortcut.activated.connect(self.stop)
        grid = QGridLayout()
        grid.addWidget(self.stop_button, 0, 0)
        grid.addWidget(self.resume_button, 0, 1)
        grid.addWidget(self.state, 1, 0, 1, 2)
        return grid

    def _show_state(self) -> None:
        """Say what holds; after a stop no slider can be moved."""
        is_well, text = self._drive.state()
        self.state.setText(text)
        is_stopped = self._drive.is_stopped
        colour = "#c00000" if is_stopped else "#006000"
        self.state.setStyleSheet(f"color: {colour}; font-weight: bold;" if is_well else _ALARM_STYLE)
        self.resume_button.setEnabled(is_stopped)
        for name, slider in self.sliders.items():
            slider.set_movable(name in self._drive.movable)

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
