# SPDX-License-Identifier: MIT
"""The simulator's 3D window on the same display: placed beside the operator's window, its keys drive the robot, too.

Whoever sees a robot clicks on it and presses W. The viewer has shortcuts of its own (W: wireframe), so its keys are
grabbed from the X server and sent on to the operator's window, where they go the way of all keys. Combinations that the
window manager takes (Alt+Tab) stay its own.
"""

from __future__ import annotations

from typing import Any, Iterator, Optional

from python_qt_binding.QtCore import QObject, QSocketNotifier, Signal
from python_qt_binding.QtWidgets import QApplication, QWidget
from Xlib import X
from Xlib.display import Display
from Xlib.error import CatchError, DisplayError, XError

WINDOW_NAME = "robot_viewer"  # WM_CLASS instance of the viewer; tests/test_settings_agree.py compares
_VIEWER_FRACTION, _VIEWER_LEAST = 0.42, 0.3  # of the screen's width; the least even if the windows overlap
_GRAB_MODES = (X.NotifyGrab, X.NotifyUngrab)  # focus events of a key grab that begins or ends


class SimulatorView(QObject):
    """Watches for the viewer's window and takes over its keys.

    Parameters
    ----------
    window : QWidget
        The operator's window.
    """

    focus_changed = Signal(bool)  # the viewer has the keyboard focus, or lost it

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._display: Optional[Any] = None
        self._viewer: Optional[Any] = None
        self.has_focus = False

    def start(self) -> None:
        """Look for the viewer now and whenever a window appears; without an X display there is nothing to do."""
        if QApplication.platformName() != "xcb":
            return
        try:
            self._display = Display()
        except (DisplayError, OSError):
            return
        self._display.set_error_handler(lambda *_: None)  # a window may vanish between two requests
        root = self._display.screen().root
        root.change_attributes(event_mask=X.SubstructureNotifyMask)
        self._take_from(root)
        self._notifier = QSocketNotifier(self._display.fileno(), QSocketNotifier.Read, self)
        self._notifier.activated.connect(self._serve)
        self._serve()

    def close(self) -> None:
        """Give the viewer its keys back."""
        if self._display is not None:
            self._notifier.setEnabled(False)
            self._display.close()
            self._display = None

    def _serve(self) -> None:
        # Xlib reads what has come while it sends, and what is read already does not wake the notifier
        while self._display is not None and self._display.pending_events():
            while self._display is not None and self._display.pending_events():
                self._handle(self._display.next_event())
            if self._display is not None:
                self._display.flush()

    def _handle(self, event: Any) -> None:
        if event.type in (X.MapNotify, X.ReparentNotify) and self._viewer is None:
            self._take_from(event.window)
        elif self._viewer is None or getattr(event, "window", None) != self._viewer:
            return
        elif event.type == X.DestroyNotify:
            self._viewer = None
            self._set_focus(False)
        elif event.type in (X.FocusIn, X.FocusOut) and event.mode not in _GRAB_MODES:
            self._set_focus(event.type == X.FocusIn)
        elif event.type == X.KeyRelease or (event.type == X.KeyPress and self.has_focus):
            self._forward(event)

    def _take_from(self, window: Any) -> None:
        """Take the viewer if it is this window or in it: window managers put a frame around."""
        for candidate in _tree(window, 2):
            try:
                name = candidate.get_wm_class()
            except XError:
                continue
            if name and name[0] == WINDOW_NAME:
                self._take(candidate)
                return

    def _take(self, viewer: Any) -> None:
        display = self._display
        assert display is not None
        self._viewer = viewer
        viewer.change_attributes(event_mask=X.FocusChangeMask | X.StructureNotifyMask)
        # While a modifier were grabbed the window manager would not see the key that follows it.
        modifiers = {code for codes in display.get_modifier_mapping() for code in codes}
        for code in range(display.display.info.min_keycode, display.display.info.max_keycode + 1):
            if code not in modifiers:  # an error: somebody has that key already
                viewer.grab_key(code, X.AnyModifier, False, X.GrabModeAsync, X.GrabModeAsync, onerror=CatchError())
        self._place()
        self._set_focus(display.get_input_focus().focus in (viewer, X.PointerRoot))

    def _set_focus(self, has_focus: bool) -> None:
        if has_focus:
            self._window.setFocus()  # a number half typed there must not take the keys
        self.has_focus = has_focus
        self.focus_changed.emit(has_focus)

    def _forward(self, event: Any) -> None:
        """Send a key on to the operator's window as if it had been pressed there."""
        assert self._display is not None
        target = self._display.create_resource_object("window", int(self._window.winId()))
        fields = {
            name: getattr(event, name) for name in ("detail", "time", "root", "child", "root_x", "root_y", "state")
        }
        target.send_event(type(event)(window=target, event_x=0, event_y=0, same_screen=1, **fields))

    def _place(self) -> None:
        """Put viewer and operator's window side by side, the latter on top where the screen is too small for both."""
        window, viewer = self._window, self._viewer
        handle = window.windowHandle()
        if handle is None or viewer is None or window.isMaximized() or window.isFullScreen():
            return
        area, frame, inner = handle.screen().availableGeometry(), window.frameGeometry(), window.geometry()
        left, top = inner.left() - frame.left(), inner.top() - frame.top()  # of the window manager's frame
        border, title = frame.width() - inner.width(), frame.height() - inner.height()
        viewer_width = round(_VIEWER_FRACTION * area.width())
        width = max(min(frame.width(), area.width() - viewer_width), window.minimumWidth() + border)
        viewer_width = min(viewer_width, max(area.width() - width, round(_VIEWER_LEAST * area.width())))
        height = min(frame.height(), area.height())
        window.resize(width - border, height - title)
        window.move(area.left() + area.width() - width, area.top())
        place = {
            "x": area.left() + left,
            "y": area.top() + top,
            "width": viewer_width - border,
            "height": height - title,
        }
        ratio = window.devicePixelRatioF()
        viewer.configure(**{name: round(value * ratio) for name, value in place.items()})
        window.raise_()
        window.activateWindow()


def _tree(window: Any, depth: int) -> Iterator[Any]:
    """Yield a window and what is in it, `depth` levels down."""
    yield window
    if depth:
        try:
            children = window.query_tree().children
        except XError:
            return
        for child in children:
            yield from _tree(child, depth - 1)
