# SPDX-License-Identifier: MIT
"""The row above everything: link, who is in control, layout of keys, speed, emergency stop."""

from __future__ import annotations

from typing import Dict

from python_qt_binding.QtWidgets import QHBoxLayout, QWidget

from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.control_state import who_drives
from shellbot_teleop.qt import theme
from shellbot_teleop.qt.controller import OperatorController
from shellbot_teleop.qt.widgets import ChoiceRow, Pill, ValueSlider, button, label
from shellbot_teleop.texts import tr

_NAME = 15  # characters of another operator's name that have room


class Header(QWidget):
    """
    Buttons and states that are always seen.

    Parameters
    ----------
    controller : OperatorController
        Takes what is clicked.
    tips : dict
        Action to the text of its keys.
    """

    def __init__(self, controller: OperatorController, tips: Dict[str, str]) -> None:
        super().__init__()
        model: CommandModel = controller.model
        self._controller, self._model, self._tips = controller, model, tips
        self.stop = button(tr("EMERGENCY STOP"), tips.get("safety.emergency_stop", ""), name="stop")
        self.rearm = button(tr("Rearm"), tips.get("safety.rearm", ""))
        self.arm = button(tr("Take control"), tips.get("control.take", ""))
        self.dead_man = button(tr("Hold to drive"), tips.get("control.dead_man", ""))
        self.link, self.focus = Pill(), Pill()
        self.layouts = ChoiceRow(model.keymap.layout_names, [tr(text) for text in model.keymap.layouts.values()])
        self.speed = ValueSlider(tr("speed"), 100.0, "%", name_width=42, value_width=46)
        self.speed.set_range(0.1, 1.0)
        self.speed.setMinimumWidth(130)
        self.speed.setMaximumWidth(260)
        self._title = label(tr("Operator"), size_pt=15, bold=True)
        self._letters = label(tr("letters"), muted=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        for widget in (self._title, self.link, self.focus):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self._letters)
        row.addWidget(self.layouts)
        row.addWidget(self.speed, 1)
        for widget in (self.dead_man, self.arm, self.rearm, self.stop):
            row.addWidget(widget)
        self.dead_man.setVisible(model.control.needs_dead_man)
        self._connect(controller)

    def _connect(self, controller: OperatorController) -> None:
        # on the press, not on the release
        self.stop.pressed.connect(lambda: controller.perform("safety.emergency_stop"))
        self.rearm.clicked.connect(lambda: controller.perform("safety.rearm"))
        self.arm.clicked.connect(lambda: controller.perform(self._control_action))
        self.dead_man.pressed.connect(lambda: controller.hold_dead_man(True))
        self.dead_man.released.connect(lambda: controller.hold_dead_man(False))
        self.layouts.chosen.connect(controller.set_layout)
        self.speed.moved.connect(controller.set_scale)

    @property
    def _control_action(self) -> str:
        return "control.give_up" if self._model.control.armed else "control.take"

    def show_control(self, view_has_focus: bool) -> None:
        """Show who is in control and where the keys go; they also come from the simulator's view."""
        control = self._model.control
        self.arm.setText(tr("Give up") if control.armed else tr("Take control"))
        self.arm.setToolTip(self._tips.get(self._control_action, ""))
        self.focus.setToolTip(control.who)
        self.rearm.setEnabled(control.armed and self._model.stopped)
        if self._controller.editing:
            self.focus.show_state(tr("typing: Enter"), theme.palette().warn)
        elif self._controller.in_control:
            self.focus.show_state(tr("back: Ctrl+Enter"), theme.palette().warn)
        elif not control.armed:
            name = control.operator if len(control.operator) <= _NAME else control.operator[: _NAME - 1] + "…"
            self.focus.show_state(who_drives(name), theme.palette().warn)
        elif self._controller.has_focus or view_has_focus:
            self.focus.show_state(tr("keys drive"), theme.palette().accent)
        else:
            self.focus.show_state(tr("click to drive"), theme.palette().muted)

    def show_words(self, is_wide: bool, is_connected: bool) -> None:
        """Leave out what a narrow window has no room for."""
        self._title.setVisible(is_wide)
        self._letters.setVisible(is_wide and len(self._model.keymap.layout_names) > 1)
        self.layouts.setVisible(len(self._model.keymap.layout_names) > 1)
        self.link.setVisible(is_wide or not is_connected)
        self.stop.setText(tr("EMERGENCY STOP") if is_wide else tr("STOP"))

    def show_name(self, name: str) -> None:
        """Show the name of the robot."""
        self._title.setText(name)

    def show_model(self) -> None:
        """Show layout and speed of the command model."""
        self.layouts.show_choice(self._model.layout)
        if not self.speed.dragging:
            self.speed.show_value(self._model.scale)
