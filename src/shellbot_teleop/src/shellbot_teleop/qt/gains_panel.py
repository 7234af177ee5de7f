# SPDX-License-Identifier: MIT
"""The gains page: built from what dynamic_reconfigure servers describe, a page for each."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, Mapping, Sequence, Tuple, Union

from python_qt_binding.QtCore import QEvent, QObject, Qt, QTimer, Signal
from python_qt_binding.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QSlider,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from shellbot_teleop.gains_model import GainGroup, GainParameter
from shellbot_teleop.qt import theme
from shellbot_teleop.qt.widgets import button, label, restyle, scroll_area
from shellbot_teleop.texts import tr

_SEND_AFTER_MS = 80  # a dragged slider sends its newest value, not every one


class GainRow(QObject):
    """Slider and number field, or a check box, or a list, of one parameter."""

    moved = Signal(str, object)  # name; number or choice
    _STEPS = 500

    def __init__(self, parameter: GainParameter, grid: QGridLayout, row: int) -> None:
        super().__init__()
        self._parameter = parameter
        name = label(parameter.label, muted=True)
        self._check: Any = None
        self._slider: Any = None
        self._field: Any = None
        self._list: Any = None
        if parameter.kind == "choice":
            self._choice(parameter, name, grid, row)
            return
        numbers = {"low": parameter.low, "high": parameter.high, "default": parameter.default}
        bounds = tr("{low:g} .. {high:g}, default {default:g}", **numbers)
        tip = f"{parameter.help}\n{parameter.name}: {bounds}".strip()
        name.setToolTip(tip)
        grid.addWidget(name, row, 0)
        if parameter.kind == "bool":
            self._check = QCheckBox()
            self._check.setFocusPolicy(Qt.TabFocus)
            self._check.toggled.connect(lambda on: self.moved.emit(parameter.name, float(on)))
            grid.addWidget(self._check, row, 1)
            return
        self._slider = QSlider(Qt.Horizontal)
        self._slider.setFocusPolicy(Qt.TabFocus)
        self._slider.setRange(0, self._STEPS)
        self._slider.valueChanged.connect(self._on_slider)
        self._field = QDoubleSpinBox()
        self._field.setFocusPolicy(Qt.StrongFocus)
        self._field.setButtonSymbols(QDoubleSpinBox.NoButtons)
        self._field.setAlignment(Qt.AlignRight)
        self._field.setFont(theme.font(9, mono=True))
        self._field.setDecimals(0 if parameter.kind == "int" else 3)
        self._field.setRange(parameter.low, parameter.high)
        self._field.setKeyboardTracking(False)  # sent when the number is finished, not digit by digit
        self._field.valueChanged.connect(self._on_field)
        for widget in (self._slider, self._field):
            widget.setToolTip(tip)
            widget.installEventFilter(self)
        grid.addWidget(self._slider, row, 1)
        grid.addWidget(self._field, row, 2)

    def _choice(self, parameter: GainParameter, name: QWidget, grid: QGridLayout, row: int) -> None:
        self._list = QComboBox()
        self._list.setFocusPolicy(Qt.TabFocus)
        for index, (option, text) in enumerate(parameter.options.items()):
            self._list.addItem(option)
            self._list.setItemData(index, text, Qt.ToolTipRole)
        self._list.activated.connect(lambda _index: self.moved.emit(parameter.name, self._list.currentText()))
        self._list.installEventFilter(self)
        for widget in (name, self._list):
            widget.setToolTip(parameter.help)
        grid.addWidget(name, row, 0)
        grid.addWidget(self._list, row, 1, 1, 2)

    def eventFilter(self, _watched: object, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Qt's hook: the wheel scrolls the page, whatever control it passes over, and changes no value."""
        is_wheel = event.type() == QEvent.Wheel
        if is_wheel:
            event.ignore()
        return bool(is_wheel)

    def show_value(self, value: Union[float, str]) -> None:
        """Show the server's value, unless the operator is changing it right now."""
        if self._list is not None:
            self._quietly(self._list, lambda: self._list.setCurrentText(str(value)))
            return
        value = self._parameter.clamped(float(value))
        if self._check is not None:
            self._quietly(self._check, lambda: self._check.setChecked(bool(value)))
        elif not self._slider.isSliderDown() and not self._field.hasFocus():
            self._quietly(self._field, lambda: self._field.setValue(value))
            self._quietly(self._slider, lambda: self._slider.setValue(self._position(value)))

    @staticmethod
    def _quietly(widget: QWidget, change: Callable[[], None]) -> None:
        widget.blockSignals(True)
        change()
        widget.blockSignals(False)

    def _position(self, value: float) -> int:
        low, high = self._parameter.low, self._parameter.high
        return round(self._STEPS * (value - low) / (high - low))

    def _on_slider(self, position: int) -> None:
        low, high = self._parameter.low, self._parameter.high
        value = low + (high - low) * position / self._STEPS
        value = float(round(value)) if self._parameter.kind == "int" else round(value, 3)
        self._quietly(self._field, lambda: self._field.setValue(value))
        self.moved.emit(self._parameter.name, value)

    def _on_field(self, value: float) -> None:
        self._quietly(self._slider, lambda: self._slider.setValue(self._position(value)))
        self.moved.emit(self._parameter.name, value)


class GainsPanel(QWidget):
    """All groups of a server under each other; empty with a sentence while there is no server."""

    changed = Signal(dict)  # name to value, to be sent

    def __init__(self, server: str) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 6, 2, 2)
        self.state = label(tr("Waiting for the node {name}.", name=server), muted=True, size_pt=9)
        self.state.setWordWrap(True)
        self.state.setContentsMargins(10, 2, 10, 0)
        tip = tr("Every number and switch as the server describes its default")
        self.defaults = button(tr("Defaults"), tip, name="small")
        self.defaults.clicked.connect(self._reset)
        heading = QHBoxLayout()
        heading.addWidget(self.state, 1)
        heading.addWidget(self.defaults)
        column.addLayout(heading)
        self._area = scroll_area()
        column.addWidget(self._area, 1)
        self.rows: Dict[str, GainRow] = {}
        self._groups: Tuple[GainGroup, ...] = ()
        self._pending: Dict[str, Union[float, str]] = {}
        self._send_timer = QTimer(self)
        self._send_timer.setSingleShot(True)
        self._send_timer.setInterval(_SEND_AFTER_MS)
        self._send_timer.timeout.connect(self._send)

    def show_state(self, available: bool, text: str) -> None:
        """Show whether the server is there; without it nothing can be moved."""
        self.state.setText(text)
        self._area.setEnabled(available)
        self.defaults.setEnabled(available)
        self.paint_again()

    def paint_again(self) -> None:
        """Show the state in the colours of the theme."""
        is_there = self._area.isEnabledTo(self)
        restyle(self.state, f"color: {theme.palette().good if is_there else theme.palette().warn};")

    def show_groups(self, groups: Tuple[GainGroup, ...]) -> None:
        """Build the page; the same groups again change nothing."""
        if groups == self._groups:
            return
        self._groups = groups
        self.rows = {}
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(10, 4, 10, 8)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        row = 0
        for group in groups:
            heading = label(group.title.upper())
            heading.setObjectName("title")
            heading.setContentsMargins(0, 8 if row else 0, 0, 0)
            grid.addWidget(heading, row, 0, 1, 3)
            row += 1
            for parameter in group.parameters:
                gain = GainRow(parameter, grid, row)
                gain.moved.connect(self._moved)
                self.rows[parameter.name] = gain
                row += 1
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(row, 1)
        self._area.setWidget(page)

    def show_values(self, values: Mapping[str, Union[float, str]]) -> None:
        """Show the server's values."""
        for name, value in values.items():
            if name in self.rows and name not in self._pending:
                self.rows[name].show_value(value)

    def _moved(self, name: str, value: Union[float, str]) -> None:
        self._pending[name] = value
        if not self._send_timer.isActive():
            self._send_timer.start()

    def _reset(self) -> None:
        parameters = [parameter for group in self._groups for parameter in group.parameters]
        self.changed.emit({each.name: each.default for each in parameters if each.kind != "choice"})

    def _send(self) -> None:
        values, self._pending = self._pending, {}
        self.changed.emit(values)


class GainsPages(QWidget):
    """The panels of all servers, one of them seen; a list to choose from where there are several.

    Parameters
    ----------
    servers : sequence of str
        Names of their nodes.

    Attributes
    ----------
    pages : dict of str to GainsPanel
        By server.
    """

    changed = Signal(str, dict)  # server; name to value, to be sent

    def __init__(self, servers: Sequence[str]) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.servers, stack = QComboBox(), QStackedWidget()
        self.servers.setFocusPolicy(Qt.TabFocus)
        self.servers.setToolTip(tr("Node whose numbers are shown"))
        self.servers.addItems(list(servers))
        self.servers.currentIndexChanged.connect(stack.setCurrentIndex)
        if len(servers) > 1:
            row = QHBoxLayout()
            row.setContentsMargins(12, 10, 12, 0)
            row.addWidget(self.servers)
            column.addLayout(row)
        column.addWidget(stack)
        self.pages = {server: GainsPanel(server) for server in servers}
        for server, page in self.pages.items():
            page.changed.connect(partial(self.changed.emit, server))
            stack.addWidget(page)

    def paint_again(self) -> None:
        """Show every state in the colours of the theme."""
        for page in self.pages.values():
            page.paint_again()
