# SPDX-License-Identifier: MIT
"""Small widgets that the panels are made of. No click gives one the keyboard focus: the keys belong to the robot."""

from __future__ import annotations

import math
from typing import Dict, Optional, Sequence, Tuple

from python_qt_binding.QtCore import QRectF, Qt, Signal
from python_qt_binding.QtGui import QPainter, QPen
from python_qt_binding.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from shellbot_teleop.qt import theme
from shellbot_teleop.robot_monitor import signed


def restyle(widget: QWidget, style: str) -> None:
    """Set a widget's own style sheet if it is another one: Qt works hard even for the same."""
    if widget.styleSheet() != style:
        widget.setStyleSheet(style)


class View(QWidget):
    """A widget that tells whether it is visible, so that what it shows is requested only then."""

    visible_changed = Signal(bool)

    def showEvent(self, event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: the view became visible."""
        super().showEvent(event)
        self.visible_changed.emit(True)

    def hideEvent(self, event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: the view was hidden."""
        super().hideEvent(event)
        self.visible_changed.emit(False)


class Card(QFrame):
    """A framed box with a small title; add widgets to `body`."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setObjectName("card")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(12, 9, 12, 11)
        self.body.setSpacing(7)
        self.title = QLabel(title.upper())
        self.title.setObjectName("title")
        self.body.addWidget(self.title)


class Pill(QLabel):
    """A short state on a coloured ground."""

    def __init__(self) -> None:
        super().__init__()
        self.setFont(theme.font(9))
        self.setSizePolicy(QSizePolicy.Maximum, QSizePolicy.Fixed)

    def show_state(self, text: str, colour: str) -> None:
        """Show a text in a colour."""
        self.setText(text)
        restyle(
            self,
            f"color: {colour}; background: {theme.palette().raised}; border: 1px solid {colour}; border-radius: 9px;"
            " padding: 2px 10px; font-weight: 600;",
        )


def button(text: str, tip: str = "", checkable: bool = False, name: str = "") -> QPushButton:
    """Push button; a click leaves the focus where it is."""
    result = QPushButton(text)
    result.setFocusPolicy(Qt.TabFocus)
    result.setCheckable(checkable)
    result.setToolTip(tip)
    result.setObjectName(name)
    return result


def label(text: str = "", muted: bool = False, mono: bool = False, size_pt: float = 10.0, bold: bool = False) -> QLabel:
    """Label in one of the window's fonts."""
    result = QLabel(text)
    if muted:
        result.setObjectName("muted")
    result.setFont(theme.font(size_pt, bold, mono))
    return result


def scroll_area() -> QScrollArea:
    """Area that is as wide as what is in it, and scrolls up and down."""
    result = QScrollArea()
    result.setWidgetResizable(True)
    result.setFocusPolicy(Qt.TabFocus)
    result.setHorizontalScrollBarPolicy(Qt.ScrollBarAlwaysOff)
    return result


def tabs(*pages: Tuple[QWidget, str]) -> QTabWidget:
    """Pages (widget, name) with tabs; a click leaves the focus where it is."""
    result = QTabWidget()
    result.setFocusPolicy(Qt.TabFocus)  # of the bar, too
    result.tabBar().setDrawBase(False)
    for widget, name in pages:
        result.addTab(widget, name)
    return result


class ValueSlider(QWidget):
    """A named slider over a range of real numbers, with its value beside it.

    Parameters
    ----------
    name : str
        What it sets.
    factor : float
        Shown number = value * factor.
    unit : str
        Unit of the shown number.
    digits : int
        Decimals of the shown number.
    """

    moved = Signal(float)
    STEPS = 1000

    def __init__(
        self,
        name: str,
        factor: float = 1.0,
        unit: str = "",
        digits: int = 0,
        name_width: int = 64,
        value_width: int = 76,
    ) -> None:
        super().__init__()
        self._factor, self._unit, self._digits = factor, unit, digits
        self._low, self._high = 0.0, 1.0
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self._name = label(name, muted=True)
        self._name.setMinimumWidth(name_width)
        self._slider = QSlider(Qt.Horizontal)
        self._slider.setRange(0, self.STEPS)
        self._slider.setFocusPolicy(Qt.TabFocus)
        self._slider.setSingleStep(self.STEPS // 50)
        self._slider.setPageStep(self.STEPS // 10)
        self._slider.valueChanged.connect(self._on_slider)
        self._text = label(mono=True)
        self._text.setAlignment(Qt.AlignRight | Qt.AlignVCenter)
        self._text.setMinimumWidth(value_width)
        row.addWidget(self._name)
        row.addWidget(self._slider, 1)
        row.addWidget(self._text)
        self.show_value(0.0)

    @property
    def value(self) -> float:
        """Where the handle stands."""
        return self._low + (self._high - self._low) * self._slider.value() / self.STEPS

    @property
    def dragging(self) -> bool:
        """True while the operator holds the handle."""
        return self._slider.isSliderDown()

    def set_range(self, low: float, high: float) -> None:
        """Set the range; the value stays as near as it can."""
        if (low, high) != (self._low, self._high) and high >= low:
            value = self.value
            self._low, self._high = low, high
            self.setEnabled(high > low)
            self.show_value(value)

    def show_value(self, value: float) -> None:
        """Put the handle and the text, without telling anybody."""
        if not math.isfinite(value):
            self._text.setText("–")
            return
        span = self._high - self._low
        self._slider.blockSignals(True)
        self._slider.setValue(round(self.STEPS * (value - self._low) / span) if span > 0 else 0)
        self._slider.blockSignals(False)
        self._show_text(value)

    def _show_text(self, value: float) -> None:
        shown = round(value * self._factor, self._digits) + 0.0
        self._text.setText(f"{shown:.{self._digits}f} {self._unit}")

    def _on_slider(self, _position: int) -> None:
        self._show_text(self.value)
        self.moved.emit(self.value)


class ChoiceRow(QWidget):
    """Buttons of which one is chosen, `most` in a row; no drop-down list, because that would take the keys."""

    chosen = Signal(str)

    def __init__(self, names: Sequence[str], tips: Optional[Sequence[str]] = None, most: int = 9) -> None:
        super().__init__()
        self._rows, self._most = QGridLayout(self), most
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(4)
        self._rows.setColumnStretch(most, 1)
        self._buttons: Dict[str, QPushButton] = {}
        self.offer(names, tips)

    def offer(self, names: Sequence[str], tips: Optional[Sequence[str]] = None) -> None:
        """Have a button for each of these names."""
        if list(names) == list(self._buttons):
            return
        for choice in self._buttons.values():
            self._rows.removeWidget(choice)
            choice.deleteLater()
        self._buttons = {}
        for index, name in enumerate(names):
            choice = button(name, tips[index] if tips else "", checkable=True, name="small")
            choice.clicked.connect(lambda _checked, name=name: self._click(name))
            self._rows.addWidget(choice, index // self._most, index % self._most)
            self._buttons[name] = choice

    def _click(self, name: str) -> None:
        self.show_choice(name)
        self.chosen.emit(name)

    def show_choice(self, name: str) -> None:
        """Mark a choice without telling anybody; an unknown name marks none."""
        for other, choice in self._buttons.items():
            choice.setChecked(other == name)


class VelocityBar(QWidget):
    """One velocity about its zero: commanded above, measured below, the limit as the full width."""

    def __init__(self, name: str, unit: str) -> None:
        super().__init__()
        self._name, self._unit = name, unit
        self._commanded, self._measured, self._limit = 0.0, math.nan, 1.0
        self.setMinimumHeight(42)
        self.setSizePolicy(QSizePolicy.Expanding, QSizePolicy.Fixed)

    def show_values(self, commanded: float, measured: float, limit: float) -> None:
        """Show commanded, measured (NaN: unknown) and limit, all in the bar's unit."""
        if (commanded, measured, limit) != (self._commanded, self._measured, self._limit):
            self._commanded, self._measured, self._limit = commanded, measured, limit
            self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: draw."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.Antialiasing)
        width = self.width()
        painter.setFont(theme.font(9.5))
        painter.setPen(theme.colour(theme.palette().muted))
        painter.drawText(QRectF(0, 0, width, 16), Qt.AlignLeft | Qt.AlignVCenter, self._name)
        painter.setFont(theme.font(8.5, mono=True))
        measured = signed(self._measured, 2) if math.isfinite(self._measured) else "   –"
        painter.setPen(theme.colour(theme.palette().good))
        painter.drawText(QRectF(0, 0, width, 16), Qt.AlignRight | Qt.AlignVCenter, f"{measured} {self._unit}")
        metrics = painter.fontMetrics()
        offset = metrics.horizontalAdvance(f"{measured} {self._unit}") + 12
        painter.setPen(theme.colour(theme.palette().accent))
        painter.drawText(QRectF(0, 0, width - offset, 16), Qt.AlignRight | Qt.AlignVCenter, signed(self._commanded, 2))
        for top, value, name in (
            (19, self._commanded, theme.palette().accent),
            (28, self._measured, theme.palette().good),
        ):
            painter.setPen(Qt.NoPen)
            painter.setBrush(theme.colour(theme.palette().raised))
            painter.drawRoundedRect(QRectF(0, top, width, 7), 3, 3)
            if math.isfinite(value) and self._limit > 0.0 and value != 0.0:
                length = min(abs(value) / self._limit, 1.0) * width / 2
                if length < 2.0:
                    continue  # rounding would make a dot of a zero
                painter.setBrush(theme.colour(name))
                painter.drawRoundedRect(QRectF(width / 2 - (length if value < 0 else 0), top, length, 7), 3, 3)
        painter.setPen(QPen(theme.colour(theme.palette().muted), 1))
        painter.drawLine(round(width / 2), 17, round(width / 2), 37)
