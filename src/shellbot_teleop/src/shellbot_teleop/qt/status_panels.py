# SPDX-License-Identifier: MIT
"""Panels that show the robot's state: mode, velocities, pose, log."""

from __future__ import annotations

import html
import math
import time
from typing import Dict, List, Optional, Tuple

from python_qt_binding.QtCore import QPropertyAnimation, Qt, Signal
from python_qt_binding.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLineEdit, QPlainTextEdit, QProgressBar

from shellbot_teleop.controls import mode_buttons
from shellbot_teleop.effects import PublishTwist
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.limits import Limits
from shellbot_teleop.qt import theme
from shellbot_teleop.qt.widgets import Card, ChoiceRow, VelocityBar, button, label, restyle
from shellbot_teleop.robot_monitor import (
    BatteryInfo,
    LogLine,
    ModeInfo,
    OdomInfo,
    ServosInfo,
    StatusInfo,
    servo_line,
    signed,
)

_BAR_MS = 300  # ms


class ModePanel(Card):
    """Mode, progress of a transition, the robot's sentence, and buttons that request another mode."""

    requested = Signal(str)  # action name

    def __init__(self, keymap: Keymap, tips: Dict[str, str]) -> None:
        super().__init__("Mode")
        self._name = label("no robot yet", size_pt=17, bold=True)
        self.body.addWidget(self._name)
        self._step = label(muted=True)  # a line of its own: beside the name of a transition it made the column too wide
        self.body.addWidget(self._step)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setRange(0, 1000)
        self.body.addWidget(self._progress)
        # the robot reports progress in steps of 5 %; the bar moves from one to the next
        self._motion = QPropertyAnimation(self._progress, b"value", self)
        self._motion.setDuration(_BAR_MS)
        self._transition = ("", "")  # mode and target that the bar shows
        self._text = label("Waiting for the robot.", muted=True)
        self._text.setWordWrap(True)
        self._text.setMinimumHeight(34)
        self._text.setAlignment(Qt.AlignLeft | Qt.AlignTop)
        self.body.addWidget(self._text)
        grid = QGridLayout()
        grid.setSpacing(5)
        self.buttons = {}
        for index, (text, action) in enumerate(mode_buttons(keymap)):
            push = button(text, f"Mode {action.partition('.')[2]}. {tips.get(action, '')}".strip())
            push.clicked.connect(lambda _checked, action=action: self.requested.emit(action))
            grid.addWidget(push, index // 3, index % 3)
            self.buttons[action] = push
        self.body.addLayout(grid)

    def show_mode(self, mode: Optional[ModeInfo], stopped: bool) -> None:
        """Show the mode; None when the action manager has said nothing yet."""
        if mode is None:
            self._name.setText("STOPPED" if stopped else "no robot yet")
            self._step.setText("")
            self._show_progress(0.0, ("", ""))
            self._text.setText("Waiting for its mode (scripts/sim or scripts/onboard starts it).")
            return
        moving = bool(mode.target) and mode.target != mode.name
        colour = (
            theme.palette().bad
            if stopped or mode.name == "stopped"
            else theme.palette().warn
            if moving
            else theme.palette().text
        )
        self._name.setText(f"{mode.name} → {mode.target}" if moving else mode.name)
        restyle(self._name, f"color: {colour};")
        progress = min(max(mode.progress, 0.0), 1.0) if math.isfinite(mode.progress) else 0.0
        step = mode.step.replace("_", " ")
        self._step.setText(f"{step}  {progress:.0%}" if moving else step)
        self._show_progress(progress, (mode.name, mode.target))
        self._text.setText(mode.text)

    def _show_progress(self, progress: float, transition: Tuple[str, str]) -> None:
        """Move the bar to the progress of a transition (mode, target); another one begins anew."""
        value, is_new = round(1000 * progress), transition != self._transition
        self._transition = transition
        if is_new:
            self._motion.stop()
            self._progress.setValue(value)
        elif value != (self._motion.endValue() if self._is_moving() else self._progress.value()):
            self._motion.stop()
            self._motion.setStartValue(self._progress.value())
            self._motion.setEndValue(value)
            self._motion.start()

    def _is_moving(self) -> bool:
        return self._motion.state() == QPropertyAnimation.Running


class VelocityPanel(Card):
    """Commanded against measured velocities, on bars that end at the walkspace's limits."""

    def __init__(self) -> None:
        super().__init__("Velocity")
        self._bars = (VelocityBar("forward", "m/s"), VelocityBar("sideways", "m/s"), VelocityBar("turn", "rad/s"))
        for bar in self._bars:
            self.body.addWidget(bar)
        self._legend = label(size_pt=8.5, muted=True)
        self._legend.setWordWrap(True)
        self.body.addWidget(self._legend)

    def show_velocities(self, twist: PublishTwist, odom: Optional[OdomInfo], limits: Limits) -> None:
        """Show the twist last sent, the measured velocity (None: unknown or old) and the limits."""
        measured = odom.velocity if odom is not None else (math.nan,) * 3
        for bar, commanded, value, limit in zip(self._bars, (twist.x, twist.y, twist.yaw), measured, limits.velocity):
            bar.show_values(commanded, value, limit)
        x, y, yaw = limits.velocity
        source = f"gait {limits.gait}" if limits.gait else "no gait"
        source = source if limits.measured else "cautious, no walkspace yet"
        self._legend.setText(
            f'<span style="color:{theme.palette().accent}">■</span> commanded &nbsp; '
            f'<span style="color:{theme.palette().good}">■</span> measured<br>full bar {x:.2f} m/s, {y:.2f} m/s, '
            f"{yaw:.2f} rad/s ({source})"
        )


class PosePanel(Card):
    """Where the robot is and how it stands, and how far its joints are behind."""

    def __init__(self) -> None:
        super().__init__("Robot pose")
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        self._values: Dict[str, QLabel] = {}
        for index, (name, tip) in enumerate(
            (
                ("x", "forward in odom"),
                ("y", "left in odom"),
                ("yaw", "heading in odom"),
                ("height", "body above ground"),
                ("roll", "positive: to the right"),
                ("pitch", "positive: forward"),
            )
        ):
            caption = label(name, muted=True)
            caption.setToolTip(tip)
            value = label("–", mono=True)
            value.setAlignment(Qt.AlignRight)
            grid.addWidget(caption, index // 2, 2 * (index % 2))
            grid.addWidget(value, index // 2, 2 * (index % 2) + 1)
            self._values[name] = value
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        self.body.addLayout(grid)
        self._joints = label("joints: –", muted=True, size_pt=9)
        self._joints.setWordWrap(True)
        self._joints.setMinimumHeight(46)  # three lines, so that the panel below stays where it is
        self._joints.setAlignment(Qt.AlignLeft | Qt.AlignTop)
        self.body.addWidget(self._joints)
        self.servos = label("", muted=True, size_pt=9)
        self.servos.setWordWrap(True)
        self.servos.setVisible(False)  # a simulator has none
        self.body.addWidget(self.servos)
        self.diagnostics = label("", muted=True, size_pt=9)
        self.diagnostics.setWordWrap(True)
        self.diagnostics.setToolTip("What is reported on /diagnostics.")
        self.body.addWidget(self.diagnostics)

    def show_pose(self, odom: Optional[OdomInfo], status: Optional[StatusInfo]) -> None:
        """Show odometry and joint errors; None when unknown or old."""
        texts = dict.fromkeys(self._values, "–")
        if odom is not None and odom.finite:
            roll, pitch, yaw = (math.degrees(angle) for angle in odom.rpy)
            texts = {
                **texts,
                "x": f"{signed(odom.position[0], 3)} m",
                "y": f"{signed(odom.position[1], 3)} m",
                "yaw": f"{signed(yaw, 1)}°",
            }
            if odom.position[2] > 0.0:  # odometry itself has no height
                texts["height"] = f"{1000 * odom.position[2]:.0f} mm"
            if odom.has_tilt:
                texts["roll"], texts["pitch"] = f"{signed(roll, 1)}°", f"{signed(pitch, 1)}°"
        for name, text in texts.items():
            self._values[name].setText(text)
        if status is None:
            self._joints.setText("joints: no reference status")
        elif status.holding:
            self._joints.setText(f"joints hold: {status.text}")
        else:
            error = f"{math.degrees(status.max_error):.1f}°" if math.isfinite(status.max_error) else "unknown"
            self._joints.setText(
                f"joints {'on target' if status.reached else 'moving'}, largest error {error} {status.max_error_joint}"
            )
        restyle(
            self._joints,
            f"color: {theme.palette().warn if status is not None and status.holding else theme.palette().muted};",
        )

    def show_servos(self, battery: Optional[BatteryInfo], servos: Optional[ServosInfo]) -> None:
        """Show battery and servos; nothing at all where there are none."""
        text, bad = servo_line(battery, servos)
        self._show_line(self.servos, text, bad)
        self.servos.setVisible(bool(text))

    def show_diagnostics(self, text: str, bad: bool) -> None:
        """Show what the nodes report."""
        self._show_line(self.diagnostics, text, bad)

    @staticmethod
    def _show_line(line: QLabel, text: str, bad: bool) -> None:
        line.setText(text)
        restyle(line, f"color: {theme.palette().warn if bad else theme.palette().muted};")


class LogPanel(Card):
    """Messages of the robot's nodes and our own, coloured by level."""

    _SHOWN = {
        "all": ("debug", "info", "warn", "error", "fatal"),
        "warnings": ("warn", "error", "fatal"),
        "errors": ("error", "fatal"),
    }

    def __init__(self) -> None:
        super().__init__("Log")
        self._filter = ChoiceRow(tuple(self._SHOWN))
        self._filter.show_choice("all")
        self._filter.chosen.connect(self._set_filter)
        top = QHBoxLayout()
        self.body.removeWidget(self.title)
        top.addWidget(self.title)
        self.search = QLineEdit()
        self.search.setPlaceholderText("search")
        self.search.setToolTip("Words of a message or the name of a node; Enter gives the keys back to the robot.")
        self.search.setFocusPolicy(Qt.ClickFocus)
        self.search.textChanged.connect(lambda _text: self.write_again())
        top.addWidget(self.search, 1)
        top.addWidget(self._filter)
        self.body.addLayout(top)
        self._levels = self._SHOWN["all"]
        self._lines: List[LogLine] = []
        self.view = QPlainTextEdit()
        self.view.setReadOnly(True)
        self.view.setFocusPolicy(Qt.NoFocus)
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
