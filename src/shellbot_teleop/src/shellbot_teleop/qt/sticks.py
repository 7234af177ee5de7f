# SPDX-License-Identifier: MIT
"""Sticks for mouse, touch pad and finger, over the picture of the robot; the page has the same two."""

from __future__ import annotations

from typing import Any, Sequence

from python_qt_binding.QtCore import QPointF, QRectF, Qt, Signal
from python_qt_binding.QtGui import QPainter, QPen
from python_qt_binding.QtWidgets import QHBoxLayout, QWidget

from shellbot_teleop.qt import theme
from shellbot_teleop.texts import tr

_SIZE, _LOW = 92, 40  # pixels
_KNOB = 13  # pixels, its radius


class StickPad(QWidget):
    """One stick: pressed and dragged it moves, let go it is back in the middle.

    Parameters
    ----------
    has_two_axes : bool
        Whether it moves up and down, too.
    tip : str
        Tool tip.
    """

    pushed = Signal(float, float)  # right, up: 1 at the end of its travel, more beyond; 0, 0 when it is let go

    def __init__(self, has_two_axes: bool, tip: str) -> None:
        super().__init__()
        self._has_two_axes = has_two_axes
        self._at = QPointF()
        self.setFixedSize(_SIZE, _SIZE if has_two_axes else _LOW)
        self.setFocusPolicy(Qt.NoFocus)
        self.setToolTip(tip)

    @property
    def reach(self) -> float:
        """Pixels from the middle to the end of its travel."""
        return _SIZE / 2.0 - _KNOB - 3.0

    @property
    def is_centred(self) -> bool:
        """Whether it is drawn in the middle."""
        return bool(self._at.isNull())

    def show_position(self, right: float, up: float) -> None:
        """Draw it where the command is, which is the middle while nothing may be commanded."""
        at = QPointF(right, -up)
        if at != self._at:
            self._at = at
            self.update()

    def _follow(self, event: Any) -> None:
        right = (event.pos().x() - self.width() / 2.0) / self.reach
        up = (self.height() / 2.0 - event.pos().y()) / self.reach if self._has_two_axes else 0.0
        self.pushed.emit(right, up)

    def mousePressEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: begin to push."""
        self._follow(event)

    def mouseMoveEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: push elsewhere; Qt reports moves only while a button is down."""
        self._follow(event)

    def mouseReleaseEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: let go."""
        self.pushed.emit(0.0, 0.0)

    def paintEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: draw."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.Antialiasing)
        colours = theme.palette()
        middle, radius = QRectF(self.rect()).center(), self.height() / 2.0 - 1.0
        painter.setPen(QPen(theme.colour(colours.muted), 1.0))
        painter.setBrush(theme.colour(colours.background, 150))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.0, 1.0, -1.0, -1.0), radius, radius)
        painter.setBrush(theme.colour(colours.muted if self.is_centred else colours.accent))
        painter.drawEllipse(middle + self.reach * self._at, _KNOB, _KNOB)


class Sticks(QWidget):
    """A stick that turns, and one that drives forward and sideways."""

    pushed = Signal(object)  # forward, left, turn left; the command model shortens what is longer than 1

    def __init__(self) -> None:
        super().__init__()
        self.turn = StickPad(False, tr("Drag: turn left or right, as fast as it is pushed"))
        self.drive = StickPad(True, tr("Drag: drive in that direction, as fast as it is pushed"))
        self._axes = [0.0, 0.0, 0.0]
        self.turn.pushed.connect(lambda right, _up: self._push({2: -right}))
        self.drive.pushed.connect(lambda right, up: self._push({0: up, 1: -right}))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        for pad in (self.turn, self.drive):
            row.addWidget(pad, 0, Qt.AlignBottom)

    def _push(self, axes: dict) -> None:
        for axis, value in axes.items():
            self._axes[axis] = value
        self.pushed.emit(tuple(self._axes))

    def show_axes(self, axes: Sequence[float]) -> None:
        """Show the commanded position: forward, left, turn left."""
        self.drive.show_position(-axes[1], axes[0])
        self.turn.show_position(-axes[2], 0.0)
