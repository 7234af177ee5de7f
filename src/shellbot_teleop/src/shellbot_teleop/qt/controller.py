# SPDX-License-Identifier: MIT
"""Between the window's events and the command model: keys, timers, focus."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterable, List, Optional, Sequence

from python_qt_binding.QtCore import QEvent, QObject, Qt, QTimer, Signal
from python_qt_binding.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QWidget

from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Effect, EmergencyStop, LayoutChanged, Notice, OfActions, Quit, ToggleHelp
from shellbot_teleop.key_tracker import ReleaseGrace
from shellbot_teleop.link_events import LinkEvent, OperatorSeen, StoppedSeen
from shellbot_teleop.observe import observe
from shellbot_teleop.qt.command_panel import TAKES_KEYS
from shellbot_teleop.qt.qt_keys import PressedKeys, key_name
from shellbot_teleop.texts import tr

# While a number is typed into a field these still command the robot; the others belong to the field.
_ALWAYS_OURS = frozenset(("Space", "Escape")) | frozenset(f"F{number}" for number in range(1, 13))
_BUTTON = "dead-man button"  # beside the names of keys that are held


class OperatorController(QObject):
    """Feeds the command model and hands its effects on.

    Publishing is driven by the events themselves: a press is published before its event returns. The timer (wall clock,
    because the operator lives in real time) only repeats while something is held.

    Parameters
    ----------
    config : TeleopConfig
        Publishing rate and release grace.
    execute : callable
        Carries out an effect.
    clock : callable
        Steady clock, s.
    """

    changed = Signal()  # keys held, layout, scale, gait, pose
    noticed = Signal(object)  # a Notice for the log
    quit_requested = Signal()
    help_toggled = Signal()
    actions_used = Signal(object)  # an OfActions

    def __init__(
        self,
        model: CommandModel,
        config: TeleopConfig,
        execute: Callable[[Effect], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.model = model
        self._execute = execute
        self._clock = clock
        self._keys = PressedKeys()
        self._grace = ReleaseGrace(config.release_grace)
        self._grace_ms = max(1, round(config.release_grace * 1000))
        self._window: Any = None  # the QWidget once watched
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.PreciseTimer)
        self._timer.setInterval(round(config.period * 1000))
        self._timer.timeout.connect(lambda: self.carry_out(self.model.tick(self._clock())))
        # In this thread and not in one of ROS: a window that hangs must not seem alive.
        self._life = QTimer(self)
        self._life.setTimerType(Qt.PreciseTimer)
        self._life.timeout.connect(self._show_life)
        self._life.start(round(1000.0 / config.alive_rate))

    def watch(self, window: QWidget, application: QApplication) -> None:
        """Take the keys of a window wherever its focus is, and notice when it loses the focus.

        The window may also be a part of another one; then the keys are its own while the focus is in it.
        """
        self._window = window
        application.installEventFilter(self)
        application.focusChanged.connect(self._on_focus)

    def close(self) -> None:
        """Take no more keys, before the window goes."""
        if self._window is not None:
            application, self._window = QApplication.instance(), None
            application.removeEventFilter(self)
            application.focusChanged.disconnect(self._on_focus)
        self._life.stop()
        self._timer.stop()

    @property
    def editing(self) -> bool:
        """True while the focus is in a field for numbers or text."""
        focus = self._window.focusWidget() if self._window is not None else None
        return isinstance(focus, (QLineEdit, QAbstractSpinBox))

    @property
    def in_control(self) -> bool:
        """True while the focus is in a control, which then has some keys of its own."""
        return self._window is not None and self._window.focusWidget() not in (None, self._window)

    def _holds(self, widget: QWidget) -> bool:
        return self._window is not None and (widget is self._window or self._window.isAncestorOf(widget))

    def _has_opened(self, widget: Optional[QWidget]) -> bool:
        """Tell whether a widget is in a dialog or a list that the window has opened."""
        while widget is not None and widget is not self._window:
            widget = widget.parentWidget()
        return widget is not None

    @property
    def has_focus(self) -> bool:
        """True while keys come here."""
        focus = QApplication.focusWidget()
        return self._window is not None and self._window.isActiveWindow() and (focus is None or self._holds(focus))

    def _on_focus(self, _before: Optional[QWidget], now: Optional[QWidget]) -> None:
        if now is not None and not self._holds(now):  # in another part of the same window
            self.drop_all(tr("the focus went elsewhere"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Qt's hook: see every event of the application first."""
        kind = event.type()
        if kind == QEvent.WindowDeactivate and watched is self._window:
            self.drop_all(tr("the window lost the focus"))
        elif (
            kind == QEvent.MouseButtonPress
            and self.in_control
            and isinstance(watched, QWidget)
            and not isinstance(watched, (QLineEdit, QAbstractSpinBox))
        ):
            self._window.setFocus()  # a click anywhere else gives the keys back to the robot
        elif kind in (QEvent.KeyPress, QEvent.KeyRelease, QEvent.ShortcutOverride) and isinstance(watched, QWidget):
            if self._holds(watched):
                return self._key_event(kind, event)
            if self._has_opened(watched):
                return self._stop_event(kind, event)
        return super().eventFilter(watched, event)

    def _stop_event(self, kind: int, event: QEvent) -> bool:
        """Take the key of the emergency stop from what the window has opened; a field's own are none."""
        name = key_name(event.key(), event.modifiers())
        binding = self.model.keymap.find(self.model.layout, name) if name in _ALWAYS_OURS else None
        if binding is None or binding.action != "safety.emergency_stop":
            return False
        event.accept()
        if kind == QEvent.KeyPress and not event.isAutoRepeat():
            self.perform(binding.action)
        return True

    def _key_event(self, kind: int, event: QEvent) -> bool:
        code, key, modifiers = event.nativeScanCode(), event.key(), event.modifiers()
        if kind == QEvent.KeyRelease:
            if not event.isAutoRepeat():
                name = self._keys.release(code, key, modifiers)
                if name is not None:
                    self.key_up(name)
            return not self.in_control
        move_focus = self._window.by_keys.meant(key, modifiers)
        if move_focus is not None:
            event.accept()
            if kind == QEvent.KeyPress:
                move_focus()
            return True
        name = key_name(key, modifiers)
        if name is None:
            return False
        # one that went down before the focus moved is the robot's until it comes up
        is_down = self._keys.has(code, key) or self._grace.has_released(name)
        if not name.startswith("Ctrl") and not is_down and self._is_taken(name):
            if kind == QEvent.ShortcutOverride:
                return False
            return self._press_in_control(name)
        self._keys.press(code, key, modifiers)
        if kind == QEvent.ShortcutOverride:
            event.accept()  # no widget may take it as its shortcut; the press follows
            return True
        if not event.isAutoRepeat():
            self.key_down(name)
        return True

    def _is_taken(self, name: str) -> bool:
        """Tell whether a key is that of the field or control that has the focus."""
        if not self.editing:
            return bool(self._window.by_keys.belongs_to_control(name))
        return name not in _ALWAYS_OURS or (name == "Space" and self._is_line)

    @property
    def _is_line(self) -> bool:
        """True in a field that Enter does not leave; an empty one is left as others are."""
        field = self._window.focusWidget()
        return bool(field.property(TAKES_KEYS) and field.text())

    def _press_in_control(self, name: str) -> bool:
        """Act on a key of a field or control; tell whether that was all."""
        if name != "Enter" or (self.editing and self._is_line):
            return False
        if self.editing:
            self._window.setFocus()
            return False
        return bool(self._window.by_keys.press())

    # ------------------------------------------------------------------ input

    def key_down(self, name: str) -> None:
        """Take a key that went down; auto-repeat pairs are recognised and ignored."""
        if self._grace.press(name):
            self.carry_out(self.model.press(name, self._clock()))

    def key_up(self, name: str) -> None:
        """Take a key that came up; it counts after the grace for auto-repeat."""
        self._grace.release(name, self._clock())
        QTimer.singleShot(self._grace_ms, Qt.PreciseTimer, self._release_due)

    def _release_due(self) -> None:
        now = self._clock()
        for name in self._grace.due(now):
            self.carry_out(self.model.release(name, now))
        if self._grace.waiting:  # a timer may fire a moment early
            QTimer.singleShot(2, Qt.PreciseTimer, self._release_due)

    def drop_all(self, reason: str) -> None:
        """Drop every key, and tell why if this stops the robot."""
        self._keys.clear()
        self._grace.clear()
        stops: List[Effect] = self.model.release_all(self._clock())
        text = tr("Stopped, because {reason}.", reason=reason)
        self.carry_out([*stops, Notice("warn", text)] if stops else stops)

    def hold_dead_man(self, is_held: bool) -> None:
        """Hold the button that is a dead-man switch, or let it go."""
        if is_held:
            self.carry_out(self.model.hold_dead_man(_BUTTON))
        else:
            self.carry_out(self.model.release(_BUTTON, self._clock()))

    def _show_life(self) -> None:
        for effect in self.model.heartbeat():
            self._execute(effect)

    def perform(self, action: str) -> None:
        """Do a command as its key does; for buttons."""
        self.carry_out(self.model.perform(action, self._clock()))

    def push_stick(self, axes: Sequence[float]) -> None:
        """Forward, left, turn left, -1 .. 1, from the sticks."""
        self.carry_out(self.model.push_stick(axes, self._clock()))

    def set_scale(self, scale: float) -> None:
        """Fraction of the full speed, from the slider."""
        self.carry_out(self.model.set_scale(scale, self._clock()))

    def set_pose(self, axis: int, value: float) -> None:
        """Target of a body pose axis (m or rad), from its slider."""
        self.carry_out(self.model.set_pose_target({axis: value}, self._clock()))

    def set_shells(self, axis: int, value: float) -> None:
        """Target of the upper shells (m or rad), from its slider."""
        self.carry_out(self.model.set_shells_target(axis, value, self._clock()))

    def set_layout(self, name: str) -> None:
        """Key layout, from its button."""
        self.carry_out(self.model.set_layout(name, self._clock()))

    def set_gait(self, name: str) -> None:
        """Gait, from its button."""
        self.carry_out(self.model.set_gait(name))

    def observe(self, event: LinkEvent) -> None:
        """Take over what the robot tells; who is in control, and an emergency stop, are shown at once."""
        effects = observe(self.model, event, self._clock())
        if isinstance(event, (StoppedSeen, OperatorSeen)):
            self.carry_out(effects)

    # ----------------------------------------------------------------- output

    def carry_out(self, effects: Iterable[Effect]) -> None:
        """Hand effects on, then start or stop the repeating timer."""
        for effect in effects:
            if isinstance(effect, Quit):
                self.quit_requested.emit()
            elif isinstance(effect, ToggleHelp):
                self.help_toggled.emit()
            elif isinstance(effect, OfActions):
                self.actions_used.emit(effect)
            elif not isinstance(effect, LayoutChanged):
                self._execute(effect)
                if isinstance(effect, Notice):
                    self.noticed.emit(effect)
                elif isinstance(effect, EmergencyStop) and self.in_control:
                    self._window.setFocus()
        if self.model.active and not self._timer.isActive():
            self._timer.start()
        elif not self.model.active and self._timer.isActive():
            self._timer.stop()
        self.changed.emit()
