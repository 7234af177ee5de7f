# SPDX-License-Identifier: MIT
"""The actions page: search, choose, set parameters, run, pause, cancel."""

from __future__ import annotations

import time
from typing import Dict, Optional

from python_qt_binding.QtCore import Qt, Signal
from python_qt_binding.QtWidgets import (
    QAbstractItemView,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from shellbot_teleop.action_model import ActionEntry, ActionModel, ActionNews, ActionParameter, ActionsSeen
from shellbot_teleop.effects import CancelAction, Notice, OfActions, TogglePause
from shellbot_teleop.qt import theme
from shellbot_teleop.qt.keyboard_focus import KeyboardFocus
from shellbot_teleop.qt.widgets import button, label, restyle, scroll_area
from shellbot_teleop.texts import tr


class ActionsPanel(QWidget):
    """All actions of the robot, and how far the present one is."""

    run_requested = Signal(str, dict)  # name; parameters by name
    pause_requested = Signal(bool)
    cancel_requested = Signal()
    noticed = Signal(object)  # a Notice for the log

    def __init__(self) -> None:
        super().__init__()
        self.model = ActionModel()
        self._shown: Optional[ActionEntry] = None  # the entry whose parameters are shown
        self.fields: Dict[str, QDoubleSpinBox] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 10, 10)
        column.setSpacing(7)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("search; Enter gives the keys back to the robot"))
        self.search.setFocusPolicy(Qt.StrongFocus)
        self.search.textChanged.connect(lambda _text: self._show_list())
        column.addWidget(self.search)
        self.list = QListWidget()
        self.list.setFocusPolicy(Qt.TabFocus)
        self.list.setSelectionMode(QAbstractItemView.SingleSelection)
        self.list.setMinimumHeight(60)
        self.list.currentTextChanged.connect(self._show_entry)
        column.addWidget(self.list, 3)
        self.text = label(self.model.none_found, muted=True, size_pt=9)
        self.text.setWordWrap(True)
        column.addWidget(self.text)
        self._area = scroll_area()
        column.addWidget(self._area, 2)
        self.run, self.pause, self.cancel = button(tr("Run")), button(tr("Pause")), button(tr("Cancel"))
        self.run.clicked.connect(self._run)
        self.pause.clicked.connect(self._toggle_pause)
        self.cancel.clicked.connect(self.cancel_requested.emit)
        buttons = QHBoxLayout()
        for widget in (self.run, self.pause, self.cancel):
            buttons.addWidget(widget)
        column.addLayout(buttons)
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        column.addWidget(self.bar)
        self.state = label(size_pt=9)
        self.state.setWordWrap(True)
        column.addWidget(self.state)
        self.refresh(False)

    def show_news(self, news: ActionNews) -> None:
        """Take over what the robot tells of its actions."""
        self.model.observe(news, time.monotonic())
        if isinstance(news, ActionsSeen):
            self._show_list()

    def use(self, effect: OfActions, by_keys: KeyboardFocus) -> None:
        """Do what a key does to this page."""
        if isinstance(effect, TogglePause):
            self._toggle_pause()
        elif isinstance(effect, CancelAction):
            self.cancel_requested.emit()
        elif not by_keys.open_page(self, self.search):
            self.noticed.emit(Notice("warn", self.model.none_found))

    def _toggle_pause(self) -> None:
        self.pause_requested.emit(self.model.state(time.monotonic()).phase != "paused")

    def refresh(self, stopped: bool) -> None:
        """Show how far the action is; while the emergency stop is latched none can be started."""
        state = self.model.state(time.monotonic())
        self.run.setEnabled(self._shown is not None and not state.busy and not stopped)
        self.run.setToolTip(tr("The emergency stop is latched: rearm first.") if stopped else "")
        self.pause.setEnabled(state.phase in ("running", "paused"))
        self.pause.setText(tr("Resume") if state.phase == "paused" else tr("Pause"))
        self.cancel.setEnabled(state.busy)
        self.bar.setValue(round(1000 * state.fraction))
        self.state.setText("\n".join(filter(None, (state.line, state.text))))
        restyle(
            self.state,
            f"color: {theme.palette().warn if state.level == 'warn' and state.text else theme.palette().text};",
        )

    def _show_list(self) -> None:
        chosen = self.list.currentItem().text() if self.list.currentItem() is not None else ""
        names = [entry.name for entry in self.model.found(self.search.text())]
        self.list.blockSignals(True)
        self.list.clear()
        self.list.addItems(names)
        if names:
            self.list.setCurrentRow(names.index(chosen) if chosen in names else 0)
        self.list.blockSignals(False)
        self._show_entry(self.list.currentItem().text() if names else "")

    def _show_entry(self, name: str) -> None:
        entry = next((entry for entry in self.model.entries if entry.name == name), None)
        if entry is None:
            self.text.setText(self.model.none_found)
        if entry != self._shown:  # else typed values stay
            self._shown = entry
            self._show_parameters(entry)

    def _show_parameters(self, entry: Optional[ActionEntry]) -> None:
        self.fields = {}
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 0, 0)
        if entry is not None:
            self.text.setText(f"{entry.text}. {entry.cancels}")
            for row, parameter in enumerate(entry.parameters):
                field = self.fields[parameter.name] = _field(parameter)
                grid.addWidget(label(parameter.name, muted=True), row, 0)
                grid.addWidget(field, row, 1)
                grid.addWidget(label(parameter.range, muted=True, size_pt=9), row, 2)
            grid.setColumnStretch(2, 1)
            grid.setRowStretch(len(entry.parameters), 1)
        self._area.setWidget(page)

    def _run(self) -> None:
        if self._shown is not None:
            self.run_requested.emit(self._shown.name, {name: field.value() for name, field in self.fields.items()})


def _field(parameter: ActionParameter) -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setFocusPolicy(Qt.StrongFocus)
    field.setButtonSymbols(QDoubleSpinBox.NoButtons)
    field.setAlignment(Qt.AlignRight)
    field.setFont(theme.font(9, mono=True))
    field.setDecimals(0 if parameter.whole else 4)
    field.setRange(parameter.low, parameter.high)
    field.setValue(parameter.default)
    field.setToolTip(parameter.text)
    return field
