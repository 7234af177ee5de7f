# SPDX-License-Identifier: MIT
"""Sliders of body pose and upper shells, and the choice of the gait."""

from __future__ import annotations

from python_qt_binding.QtCore import Signal
from python_qt_binding.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.controls import POSE_SLIDERS, SHELL_SLIDERS
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.qt.widgets import ChoiceRow, ValueSlider, button, label
from shellbot_teleop.texts import tr


class BodyPanel(QWidget):
    """Body pose relative to rest, upper shells, gait; the sliders end at the present limits.

    Of these a robot has what its key map has keys for.
    """

    pose_moved = Signal(int, float)
    shells_moved = Signal(int, float)
    neutral_requested = Signal()
    gait_chosen = Signal(str)

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        whole = QVBoxLayout(self)
        whole.setContentsMargins(12, 10, 12, 10)
        column = self._part(whole, keymap.has("pose"))
        heading = QHBoxLayout()
        heading.addWidget(self._heading(tr("Body pose, relative to rest")))
        heading.addStretch(1)
        rest = button(tr("Rest"), tr("All six back to zero"), name="small")
        rest.clicked.connect(self.neutral_requested)
        heading.addWidget(rest)
        column.addLayout(heading)
        self.pose = {}
        for axis, name, factor, unit, digits in POSE_SLIDERS:
            slider = ValueSlider(name, factor, unit, digits)
            slider.moved.connect(lambda value, axis=axis: self.pose_moved.emit(axis, value))
            self.pose[axis] = slider
            column.addWidget(slider)
        column = self._part(whole, keymap.has("shells"))
        column.addWidget(self._heading(tr("Upper shells")))
        self.shells = {}
        for axis, name, factor, unit, digits in SHELL_SLIDERS:
            slider = ValueSlider(name, factor, unit, digits)
            slider.moved.connect(lambda value, axis=axis: self.shells_moved.emit(axis, value))
            self.shells[axis] = slider
            column.addWidget(slider)
        column = self._part(whole, "gait.next" in {binding.action for binding in keymap.bindings})
        column.addWidget(self._heading(tr("Gait")))
        self.gaits = ChoiceRow((), most=4)
        self.gaits.chosen.connect(self.gait_chosen)
        column.addWidget(self.gaits)
        whole.addStretch(1)

    def _part(self, whole: QVBoxLayout, is_seen: bool) -> QVBoxLayout:
        """Return the column of a part of the page, which is seen where the robot has such a thing."""
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 10)
        column.setSpacing(6)
        part.setVisible(is_seen)
        whole.addWidget(part)
        return column

    @staticmethod
    def _heading(text: str) -> QWidget:
        heading = label(text.upper())
        heading.setObjectName("title")
        return heading

    def show_model(self, model: CommandModel) -> None:
        """Show the model's targets, limits and gait."""
        for sliders, vector in ((self.pose, model.pose), (self.shells, model.shells)):
            for axis, slider in sliders.items():
                slider.set_range(vector.lower[axis], vector.upper[axis])
                if not slider.dragging:
                    slider.show_value(vector.target[axis])
        self.gaits.offer(model.gaits)
        self.gaits.show_choice(model.limits.gait or model.gait)
