# SPDX-License-Identifier: MIT
"""Key help, drawn from the key map; keys that are held light up."""

from __future__ import annotations

from typing import Dict, FrozenSet, Sequence

from python_qt_binding.QtCore import Qt, Signal
from python_qt_binding.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from shellbot_teleop.keymap import KeyLine, Keymap
from shellbot_teleop.keys import key_label
from shellbot_teleop.qt import theme
from shellbot_teleop.qt.keyboard_focus import HELP
from shellbot_teleop.qt.widgets import button, label, scroll_area
from shellbot_teleop.texts import tr

_CAP = (
    "border-radius: 4px; padding: 1px 5px; min-width: {width}px; font-weight: 600;"
    " border: 1px solid {border}; border-bottom: 2px solid {border}; background: {ground}; color: {text};"
)
_SHORT = 20  # letters of a line, with two for the frame of each cap, that fits twice beside another
_CAPS = 58  # pixels: texts of all groups begin in one line, where the caps let them


def _length(line: KeyLine) -> int:
    return len(line.help) + sum(len(key_label(key)) + 2 for key in line.keys)


def key_tips(keymap: Keymap) -> Dict[str, str]:
    """Tool tips of buttons by action: the keys that do the same."""
    layout = keymap.default_layout
    actions = {binding.action for binding in keymap.bindings}
    return {
        action: tr("Key {keys}", keys=f" {tr('or')} ".join(map(key_label, keymap.keys_of(layout, action))))
        for action in actions
        if keymap.keys_of(layout, action)
    }


class KeysPanel(QWidget):
    """Table of the keys of one layout, one line an action, under the headings of the key map; changes the theme."""

    theme_toggled = Signal()

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap
        self._caps: Dict[str, QLabel] = {}
        self._held: FrozenSet[str] = frozenset()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(2, 4, 2, 2)
        self._area = scroll_area()
        outer.addWidget(self._area)
        tip = tr("Other colours; --theme and theme: in the settings choose those at the start.")
        self.theme = button("", tip, name="small")
        self.theme.clicked.connect(self.theme_toggled)
        below = QHBoxLayout()
        below.setContentsMargins(0, 0, 10, 6)
        below.addStretch(1)
        below.addWidget(self.theme)
        outer.addLayout(below)
        self.layout_name = ""

    def show_layout(self, layout: str) -> None:
        """Draw the table of a layout."""
        if layout == self.layout_name:
            return
        self.layout_name = layout
        self.theme.setText(tr("Light theme") if theme.other() == "light" else tr("Dark theme"))
        self._caps, self._held = {}, frozenset()
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(10, 4, 10, 8)
        column.setSpacing(4)
        groups = [(tr(title), self._keymap.lines(layout, group)) for group, title in self._keymap.groups.items()]
        for title, lines in (*groups, (tr("Without a mouse"), HELP)):
            if not lines:
                continue
            heading = label(title.upper())
            heading.setObjectName("title")
            heading.setContentsMargins(0, 8 if column.count() else 0, 0, 1)
            column.addWidget(heading)
            column.addLayout(self._lines(lines))
        column.addStretch(1)
        self._area.setWidget(page)

    def _lines(self, lines: Sequence[KeyLine]) -> QGridLayout:
        """Return the lines of a group; opposite actions stand side by side where all of them are short enough."""
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        columns = 2 if max(map(_length, lines)) <= _SHORT else 1
        for index, entry in enumerate(lines):
            row, column = index // columns, 2 * (index % columns)
            grid.addLayout(self._cap_row(entry.keys), row, column)
            help_text = label(entry.help, size_pt=9.5)
            if entry.action == "safety.emergency_stop":
                help_text.setStyleSheet(f"color: {theme.palette().bad}; font-weight: 600;")
            grid.addWidget(help_text, row, column + 1)
            grid.setColumnStretch(column + 1, 1)
            grid.setColumnMinimumWidth(column, _CAPS)
        return grid

    def _cap_row(self, keys: Sequence[str]) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        for key in keys:
            cap = QLabel(key_label(key))
            cap.setAlignment(Qt.AlignCenter)
            cap.setFont(theme.font(8.5, bold=True))
            self._caps.setdefault(key, cap)  # the key map's, before those of the window
            self._paint(cap, False)
            row.addWidget(cap)
        row.addStretch(1)
        return row

    @staticmethod
    def _paint(cap: QLabel, held: bool) -> None:
        p = theme.palette()
        border, ground, text = (p.accent, p.accent, p.on_accent) if held else (p.cap, p.raised, p.text)
        width = max(cap.fontMetrics().horizontalAdvance(cap.text()) + 2, 15)  # or a crowded row would squeeze it
        cap.setStyleSheet(_CAP.format(width=width, border=border, ground=ground, text=text))

    def paint_again(self) -> None:
        """Draw the table anew, in other colours."""
        layout, self.layout_name = self.layout_name, ""
        self.show_layout(layout)

    def show_held(self, held: FrozenSet[str]) -> None:
        """Light up the keys that are held."""
        for key in held ^ self._held:
            if key in self._caps:
                self._paint(self._caps[key], key in held)
        self._held = held
