# SPDX-License-Identifier: MIT
"""The log: messages of the robot's nodes and our own."""

from __future__ import annotations

import html
import time
from typing import List

from python_qt_binding.QtCore import Qt
from python_qt_binding.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit

from shellbot_teleop.qt import theme
from shellbot_teleop.qt.widgets import Card, ChoiceRow
from shellbot_teleop.robot_monitor import LogLine
from shellbot_teleop.texts import tr


class LogPanel(Card):
    """Messages of the robot's nodes and our own, coloured by level."""

    _SHOWN = {
        tr("all"): ("debug", "info", "warn", "error", "fatal"),
        tr("warnings"): ("warn", "error", "fatal"),
        tr("errors"): ("error", "fatal"),
    }

    def __init__(self) -> None:
        super().__init__(tr("Log"))
        self._filter = ChoiceRow(tuple(self._SHOWN))
        self._filter.show_choice(tr("all"))
        self._filter.chosen.connect(self._set_filter)
        top = QHBoxLayout()
        self.body.removeWidget(self.title)
        top.addWidget(self.title)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("search"))
        self.search.setToolTip(tr("Words of a message or the name of a node; Enter gives the keys back to the robot."))
        self.search.setFocusPolicy(Qt.StrongFocus)
        self.search.textChanged.connect(lambda _text: self.write_again())
        top.addWidget(self.search, 1)
        top.addWidget(self._filter)
        self.body.addLayout(top)
        self._levels = self._SHOWN[tr("all")]
        self._lines: List[LogLine] = []
        self.view = QPlainTextEdit()
        self.view.setReadOnly(True)
        self.view.setFocusPolicy(Qt.TabFocus)
        self.view.setTabChangesFocus(True)
        self.view.setFont(theme.font(8.5, mono=True))
        self.view.setMaximumBlockCount(500)
        self.view.setMinimumHeight(70)
        self.body.addWidget(self.view, 1)
        # Qt follows the newest line only while the view is visible and large enough; the user's scrolling up ends it
        self._follows = True
        scroll_bar = self.view.verticalScrollBar()
        scroll_bar.rangeChanged.connect(self._follow)
        scroll_bar.valueChanged.connect(self._note_scrolling)

    def add(self, line: LogLine) -> None:
        """Append a line."""
        self._lines = self._lines[-499:] + [line]
        if self._is_shown(line):
            self._write(line)

    def _is_shown(self, line: LogLine) -> bool:
        return line.level in self._levels and line.has(self.search.text())

    def _write(self, line: LogLine) -> None:
        stamp = time.strftime("%H:%M:%S", time.localtime(line.time))
        text = html.escape(line.text).replace("\n", "<br>")
        colour = theme.palette().of_level(line.level)
        self.view.appendHtml(
            f'<span style="color:{theme.palette().muted}">{stamp} {html.escape(line.source)}</span> '
            f'<span style="color:{colour}">{text}</span>'
        )

    def _follow(self, _low: int, high: int) -> None:
        if self._follows:
            self.view.verticalScrollBar().setValue(high)

    def _note_scrolling(self, value: int) -> None:
        self._follows = value >= self.view.verticalScrollBar().maximum()

    def _set_filter(self, name: str) -> None:
        self._levels = self._SHOWN[name]
        self.write_again()

    def write_again(self) -> None:
        """Write all lines anew: other ones, or in other colours."""
        self.view.clear()
        for line in self._lines:
            if self._is_shown(line):
                self._write(line)
