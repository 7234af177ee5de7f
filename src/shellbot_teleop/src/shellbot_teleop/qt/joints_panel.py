# SPDX-License-Identifier: MIT
"""The table of joints: one row per joint of the robot's profile."""

from __future__ import annotations

import math
from typing import Sequence

from python_qt_binding.QtCore import Qt
from python_qt_binding.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from shellbot_teleop.joint_table import JointRow
from shellbot_teleop.qt import theme
from shellbot_teleop.texts import tr

COLUMNS = (tr("joint"), tr("angle °"), tr("target °"), "N·m", tr("load %"), "V", "°C", tr("state"))
_LOAD, _OF_SERVOS = 4, (5, 6)  # hidden where nothing is known of them


class JointsPanel(QTableWidget):
    """Angle, target, torque and servo of every joint, coloured by state; empty until joint_states come."""

    def __init__(self) -> None:
        super().__init__(0, len(COLUMNS))
        self.setHorizontalHeaderLabels(COLUMNS)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.Stretch)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeToContents)
        self.horizontalHeader().setMinimumSectionSize(44)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(22)
        self.setEditTriggers(QAbstractItemView.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.NoSelection)
        self.setFocusPolicy(Qt.TabFocus)
        self.setTabKeyNavigation(False)
        self.setFont(theme.font(9, mono=True))

    def show_joints(self, rows: Sequence[JointRow]) -> None:
        """Show the rows; numbers that are not known are dashes."""
        palette = theme.palette()
        colours = {"": palette.muted, "ok": palette.good, "warn": palette.warn, "bad": palette.bad}
        self.setRowCount(len(rows))
        has_servos = any(math.isfinite(row.servo.voltage) or math.isfinite(row.servo.temperature) for row in rows)
        self.setColumnHidden(_LOAD, not any(math.isfinite(row.load) for row in rows))
        for column in _OF_SERVOS:
            self.setColumnHidden(column, not has_servos)
        for index, row in enumerate(rows):
            servo = row.servo
            texts = (
                row.joint,
                _degrees(row.position),
                _degrees(row.target),
                _number(row.effort, 2),
                _number(100.0 * row.load, 0),
                _number(servo.voltage, 1),
                _number(servo.temperature, 0),
                row.text,
            )
            for column, text in enumerate(texts):
                item = self.item(index, column)
                if item is None:
                    item = QTableWidgetItem()
                    is_text = column in (0, len(COLUMNS) - 1)
                    item.setTextAlignment((Qt.AlignLeft if is_text else Qt.AlignRight) | Qt.AlignVCenter)
                    self.setItem(index, column, item)
                if item.text() != text:
                    item.setText(text)
                    item.setToolTip(f"{row.joint} ({row.kind}): {row.text}" if row.kind else f"{row.joint}: {row.text}")
            state = self.item(index, len(COLUMNS) - 1)
            colour = theme.colour(colours[row.level])
            if state.foreground().color() != colour:
                state.setForeground(colour)


def _degrees(angle: float) -> str:
    return _number(math.degrees(angle), 1)


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "–"
