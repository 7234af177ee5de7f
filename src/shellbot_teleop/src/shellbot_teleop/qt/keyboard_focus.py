# SPDX-License-Identifier: MIT
"""The window without a mouse: keys that no key map can have go to its controls, and back to the robot.

While a control has the focus, arrows, Enter and Tab are its own, and a field has letters, too; all other keys drive on.
"""

from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence

from python_qt_binding.QtCore import Qt
from python_qt_binding.QtWidgets import QAbstractButton, QListWidget, QTabWidget, QWidget

from shellbot_teleop.keymap import KeyLine
from shellbot_teleop.texts import tr

HELP = (
    KeyLine("", ("Ctrl+Tab",), tr("next part of the window")),
    KeyLine("", ("Ctrl+Shift+Tab",), tr("part before it")),
    KeyLine("", ("Ctrl+Enter",), tr("back: all keys drive")),
    KeyLine("", ("Alt+1",), tr("first tab; Alt+2 … Alt+0 the others")),
    KeyLine("", ("Tab", "Shift+Tab"), tr("in a part: next control, last one")),
    KeyLine("", ("Enter", "↑", "↓"), tr("press it, tick it, move it")),
)
_OF_CONTROLS = frozenset(("Up", "Down", "Left", "Right", "PageUp", "PageDown", "Home", "End", "Enter", "Tab"))


class KeyboardFocus:
    """
    Moves the focus between the robot, which is the window itself, and the window's controls.

    Parameters
    ----------
    window : QWidget
        While it has the focus the keys drive.
    parts : sequence of QWidget
        What Ctrl+Tab goes through, in order.
    tabs : sequence of QTabWidget
        What Alt and a digit open, counted from the first to the last.
    """

    def __init__(self, window: QWidget, parts: Sequence[QWidget], tabs: Sequence[QTabWidget]) -> None:
        self._window, self._parts, self._tabs = window, parts, tabs

    def meant(self, key: int, modifiers: Any) -> Optional[Any]:
        """Return what a key with Ctrl or Alt does to the focus, as a callable, or None."""
        if modifiers & Qt.ControlModifier and key in (Qt.Key_Tab, Qt.Key_Backtab):
            step = -1 if key == Qt.Key_Backtab or modifiers & Qt.ShiftModifier else 1
            return lambda: self.go_on(step)
        if modifiers & Qt.ControlModifier and key in (Qt.Key_Return, Qt.Key_Enter):
            return self._window.setFocus
        if modifiers & Qt.AltModifier and Qt.Key_0 <= key <= Qt.Key_9:
            return lambda: self.open_tab((key - Qt.Key_0 - 1) % 10)
        return None

    def go_on(self, step: int) -> None:
        """Give the focus to the next part (1) or the one before (-1); between last and first the keys drive."""
        focus = self._window.focusWidget()
        stations = [self._window, *filter(None, map(_first_control, self._parts))]
        parts = [part for part in self._parts if _first_control(part) is not None]
        at = next((number for number, part in enumerate(parts, start=1) if _is_in(focus, part)), 0)
        stations[(at + step) % len(stations)].setFocus(Qt.TabFocusReason)

    def open_tab(self, number: int) -> None:
        """Show a tab, the first is 0; the focus leaves a page that vanishes."""
        for tabs in self._tabs:
            if number < tabs.count():
                if _is_in(self._window.focusWidget(), tabs):
                    self._window.setFocus()
                tabs.setCurrentIndex(number)
                return
            number -= tabs.count()

    def open_page(self, page: QWidget, control: QWidget) -> bool:
        """Show a page and give the focus to a control of it; tell whether the page is there."""
        for tabs in self._tabs:
            if tabs.indexOf(page) >= 0:
                tabs.setCurrentWidget(page)
                control.setFocus(Qt.TabFocusReason)
                return True
        return False

    def belongs_to_control(self, name: str) -> bool:
        """Tell whether a key is that of the control that has the focus, of one that is no field."""
        return self._window.focusWidget() not in (None, self._window) and name in _OF_CONTROLS

    def press(self) -> bool:
        """Press the button that has the focus, or tick the row of a list; tell whether there is one."""
        focus = self._window.focusWidget()
        if isinstance(focus, QAbstractButton):
            focus.click()
            return True
        row = focus.currentItem() if isinstance(focus, QListWidget) else None
        if row is None or not row.flags() & Qt.ItemIsUserCheckable:
            return False
        row.setCheckState(Qt.Unchecked if row.checkState() == Qt.Checked else Qt.Checked)
        return True


def _is_in(widget: Optional[QWidget], part: QWidget) -> bool:
    return widget is not None and (widget is part or part.isAncestorOf(widget))


def _controls(part: QWidget) -> Iterable[QWidget]:
    """Yield the controls of a part that Tab goes to, in its order."""
    control = part
    while True:
        if (
            control.focusPolicy() & Qt.TabFocus
            and control.isEnabled()
            and control.isVisible()
            and _is_in(control, part)
        ):
            yield control
        control = control.nextInFocusChain()
        if control is part:
            return


def _first_control(part: QWidget) -> Optional[QWidget]:
    return next(iter(_controls(part)), None) if part.isVisible() else None
