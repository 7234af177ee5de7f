# SPDX-License-Identifier: MIT
"""The table of joints: one row per joint of the robot's profile."""

from __future__ import annotations

import math
from typing import Sequence

from python_qt_binding.QtCore import Qt
from python_qt_binding.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from shellbot_teleop.joint_table import JointRow
from shellbot_teleop.qt import theme

COLUMNS = ("joint", "class", "angle °", "target °", "torque N·m")


class JointsPanel(QTableWidget):
    """Angle, target and torque of every joint; empty until joint_states come."""

    def __init__(self) -> None:
        super().__init__(0, len(COLUMNS))
        self.setHorizontalHeaderLabels(COLUMNS)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.Stretch)
        self.verticalHeader().hide()
        self.setEditTriggers(QAbstractItemView.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.NoSelection)
        self.setFocusPolicy(Qt.NoFocus)
        self.setFont(theme.font(9, mono=True))

    def show_joints(self, rows: Sequence[JointRow]) -> None:
        """Show the rows; numbers that are not known are dashes."""
        self.setRowCount(len(rows))
        for index, row in enumerate(rows):
            angles = (_degrees(row.position), _degrees(row.target))
            for column, text in enumerate((row.joint, row.kind, *angles, _number(row.effort, 2))):
                item = self.item(index, column)
                if item is None:
                    item = QTableWidgetItem()
                    item.setTextAlignment((Qt.AlignRight if column > 1 else Qt.AlignLeft) | Qt.AlignVCenter)
                    self.setItem(index, column, item)
                if item.text() != text:
                    item.setText(text)


def _degrees(angle: float) -> str:
    return _number(math.degrees(angle), 1)


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "–"
