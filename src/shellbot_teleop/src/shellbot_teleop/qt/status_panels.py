# SPDX-License-Identifier: MIT
"""Panels that show the robot's state: mode, velocities, pose."""

from __future__ import annotations

import math
from typing import Dict, Optional, Tuple

from python_qt_binding.QtCore import QPropertyAnimation, Qt, Signal
from python_qt_binding.QtWidgets import QGridLayout, QLabel, QProgressBar

from shellbot_teleop.controls import mode_buttons
from shellbot_teleop.effects import PublishTwist
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.limits import Limits
from shellbot_teleop.qt import theme
from shellbot_teleop.qt.widgets import Card, VelocityBar, button, label, restyle
from shellbot_teleop.robot_monitor import (
    BatteryInfo,
    ModeInfo,
    OdomInfo,
    ServosInfo,
    StatusInfo,
    servo_line,
    signed,
)
from shellbot_teleop.texts import tr

_BAR_MS = 300  # ms


class ModePanel(Card):
    """Mode, progress of a transition, the robot's sentence, and buttons that request another mode."""

    requested = Signal(str)  # action name

    def __init__(self, keymap: Keymap, tips: Dict[str, str]) -> None:
        super().__init__(tr("Mode"))
        self._name = label(tr("no robot yet"), size_pt=17, bold=True)
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
        self._text = label(tr("Waiting for the robot."), muted=True)
        self._text.setWordWrap(True)
        self._text.setMinimumHeight(34)
        self._text.setAlignment(Qt.AlignLeft | Qt.AlignTop)
        self.body.addWidget(self._text)
        grid = QGridLayout()
        grid.setSpacing(5)
        self.buttons = {}
        for index, (text, action) in enumerate(mode_buttons(keymap)):
            push = button(text, f"{tr('Mode {name}.', name=action.partition('.')[2])} {tips.get(action, '')}".strip())
            push.clicked.connect(lambda _checked, action=action: self.requested.emit(action))
            grid.addWidget(push, index // 3, index % 3)
            self.buttons[action] = push
        self.body.addLayout(grid)

    def show_mode(self, mode: Optional[ModeInfo], stopped: bool) -> None:
        """Show the mode; None when the action manager has sent nothing yet."""
        if mode is None:
            self._name.setText(tr("STOPPED") if stopped else tr("no robot yet"))
            self._step.setText("")
            self._show_progress(0.0, ("", ""))
            self._text.setText(tr("Waiting for its mode (scripts/sim or scripts/onboard starts it)."))
            return
        moving = bool(mode.target) and mode.target != mode.name
        colour = theme.palette().warn if moving else theme.palette().text
        if stopped or mode.name == "stopped":
            colour = theme.palette().bad
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
        super().__init__(tr("Velocity"))
        names = ((tr("forward"), "m/s"), (tr("sideways"), "m/s"), (tr("turn"), "rad/s"))
        self._bars = tuple(VelocityBar(*name) for name in names)
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
        source = tr("gait {name}", name=limits.gait) if limits.gait else tr("no gait")
        source = source if limits.measured else tr("cautious, no walkspace yet")
        full = tr("full bar {x:.2f} m/s, {y:.2f} m/s, {yaw:.2f} rad/s ({source})", x=x, y=y, yaw=yaw, source=source)
        self._legend.setText(
            f'<span style="color:{theme.palette().accent}">■</span> {tr("commanded")} &nbsp; '
            f'<span style="color:{theme.palette().good}">■</span> {tr("measured")}<br>{full}'
        )


class PosePanel(Card):
    """Where the robot is and how it stands, and how far its joints are behind."""

    def __init__(self) -> None:
        super().__init__(tr("Robot pose"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        self._values: Dict[str, QLabel] = {}
        for index, (name, text, tip) in enumerate(
            (
                ("x", "x", tr("forward in odom")),
                ("y", "y", tr("left in odom")),
                ("yaw", tr("yaw"), tr("heading in odom")),
                ("height", tr("height"), tr("body above ground")),
                ("roll", tr("roll"), tr("positive: to the right")),
                ("pitch", tr("pitch"), tr("positive: forward")),
            )
        ):
            caption = label(text, muted=True)
            caption.setToolTip(tip)
            value = label("–", mono=True)
            value.setAlignment(Qt.AlignRight)
            grid.addWidget(caption, index // 2, 2 * (index % 2))
            grid.addWidget(value, index // 2, 2 * (index % 2) + 1)
            self._values[name] = value
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        self.body.addLayout(grid)
        self._joints = label(tr("joints: no reference status"), muted=True, size_pt=9)
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
        self.diagnostics.setToolTip(tr("What is reported on /diagnostics."))
        self.body.addWidget(self.diagnostics)

    def show_pose(self, odom: Optional[OdomInfo], status: Optional[StatusInfo]) -> None:
        """Show odometry and joint errors; None when unknown or old."""
        texts = dict.fromkeys(self._values, "–")
        if odom is not None and odom.finite:
            roll, pitch, yaw = (math.degrees(angle) for angle in odom.rpy)
            texts["x"], texts["y"] = (f"{signed(place, 3)} m" for place in odom.position[:2])
            texts["yaw"] = f"{signed(yaw, 1)}°"
            if odom.position[2] > 0.0:  # odometry itself has no height
                texts["height"] = f"{1000 * odom.position[2]:.0f} mm"
            if odom.has_tilt:
                texts["roll"], texts["pitch"] = f"{signed(roll, 1)}°", f"{signed(pitch, 1)}°"
        for name, text in texts.items():
            self._values[name].setText(text)
        if status is None:
            self._joints.setText(tr("joints: no reference status"))
        elif status.holding:
            self._joints.setText(tr("joints hold: {reason}", reason=status.text))
        else:
            error = f"{math.degrees(status.max_error):.1f}°" if math.isfinite(status.max_error) else tr("unknown")
            state = tr("joints on target") if status.reached else tr("joints moving")
            largest = tr("largest error {angle}", angle=error)
            self._joints.setText(f"{state}, {largest} {status.max_error_joint}")
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
