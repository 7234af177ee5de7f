# SPDX-License-Identifier: MIT
"""The window: panels around the command model; refreshed at a fixed, low rate from what is known of the robot."""

from __future__ import annotations

import time
from typing import Any, Dict

from python_qt_binding.QtCore import Qt, QTimer
from python_qt_binding.QtWidgets import (
    QHBoxLayout,
    QMainWindow,
    QScrollArea,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from shellbot_teleop.body_estimate import with_body
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Notice
from shellbot_teleop.joint_table import joint_rows
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.keys import key_label
from shellbot_teleop.qt import theme
from shellbot_teleop.qt.body_panel import BodyPanel
from shellbot_teleop.qt.camera_view import CameraView
from shellbot_teleop.qt.controller import OperatorController
from shellbot_teleop.qt.feet_panel import FeetPanel
from shellbot_teleop.qt.gains_panel import GainsPanel
from shellbot_teleop.qt.joints_panel import JointsPanel
from shellbot_teleop.qt.keys_panel import KeysPanel
from shellbot_teleop.qt.robot_view import RobotView
from shellbot_teleop.qt.status_panels import LogPanel, ModePanel, PosePanel, VelocityPanel
from shellbot_teleop.qt.widgets import ChoiceRow, Pill, ValueSlider, button, label
from shellbot_teleop.robot_monitor import LogLine, RobotMonitor, fresh, fresh_battery

_REFRESH_MS = 66
_PICTURE_MS = 40  # 25 pictures a second, as far as the machine can


def _tips(keymap: Keymap) -> Dict[str, str]:
    """Tool tips of buttons: the keys that do the same."""
    layout = keymap.default_layout
    actions = {binding.action for binding in keymap.bindings}
    return {
        action: "Key " + " or ".join(key_label(key) for key in keymap.keys_of(layout, action))
        for action in actions
        if keymap.keys_of(layout, action)
    }


class TeleopWindow(QMainWindow):
    """The operator's window.

    Parameters
    ----------
    config : TeleopConfig
        Settings.
    controller : OperatorController
        Takes the input.
    monitor : RobotMonitor
        What is known of the robot.
    """

    def __init__(self, config: TeleopConfig, controller: OperatorController, monitor: RobotMonitor) -> None:
        super().__init__()
        self._config, self._controller, self._monitor = config, controller, monitor
        self.model: CommandModel = controller.model
        self._connected = False
        self.view_has_focus = False  # the simulator's 3D window has the focus: its keys come here
        tips = _tips(self.model.keymap)
        self.setWindowTitle("Shellbot")
        self.setStyleSheet(theme.STYLE)
        self.setFont(theme.font())
        self.mode, self.velocity, self.pose, self.log = ModePanel(tips), VelocityPanel(), PosePanel(), LogPanel()
        self.keys, self.body, self.gains = KeysPanel(self.model.keymap), BodyPanel(config.gaits), GainsPanel()
        self.feet, self.joints = FeetPanel(), JointsPanel()
        self.robot, self.camera = RobotView(), CameraView()
        self.stop = button("EMERGENCY STOP", tips.get("safety.emergency_stop", ""), name="stop")
        self.rearm = button("Rearm", tips.get("safety.rearm", ""))
        self.link, self.focus = Pill(), Pill()
        self.layouts = ChoiceRow(self.model.keymap.layout_names, list(self.model.keymap.layouts.values()))
        self.speed = ValueSlider("speed", 100.0, "%", name_width=42, value_width=46)
        self.speed.set_range(0.1, 1.0)
        self.speed.setMinimumWidth(130)
        self.speed.setMaximumWidth(260)
        self._arrange()
        self._connect_signals()
        self.keys.show_layout(self.model.layout)
        self.show_link(False, "starting")
        self._refresh_timer = QTimer(self)
        self._refresh_timer.timeout.connect(self.refresh)
        self._refresh_timer.start(_REFRESH_MS)
        self._picture_timer = QTimer(self)
        self._picture_timer.timeout.connect(self.refresh_picture)
        self._picture_timer.start(_PICTURE_MS)
        self.setFocusPolicy(Qt.StrongFocus)
        self.setFocus()
        self.refresh()

    # ----------------------------------------------------------------- layout

    def _arrange(self) -> None:
        root = QWidget()
        root.setObjectName("root")
        page = QVBoxLayout(root)
        page.setContentsMargins(12, 10, 12, 12)
        page.setSpacing(10)
        header = QHBoxLayout()
        header.setSpacing(10)
        header.addWidget(label("Shellbot", size_pt=15, bold=True))
        header.addWidget(self.link)
        header.addWidget(self.focus)
        header.addStretch(1)
        header.addWidget(label("keys", muted=True))
        header.addWidget(self.layouts)
        header.addWidget(self.speed, 1)
        header.addWidget(self.rearm)
        header.addWidget(self.stop)
        page.addLayout(header)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        for card in (self.mode, self.velocity, self.pose, self.feet):
            column.addWidget(card)
        column.addStretch(1)
        left_area = QScrollArea()
        left_area.setWidget(left)
        left_area.setWidgetResizable(True)
        left_area.setFocusPolicy(Qt.NoFocus)
        left_area.setHorizontalScrollBarPolicy(Qt.ScrollBarAlwaysOff)
        left_area.setFixedWidth(320)
        self.views = self._tabs((self.robot, "Robot"), (self.camera, "Camera"), (self.joints, "Joints"))
        centre = QSplitter(Qt.Vertical)
        centre.addWidget(self.views)
        centre.addWidget(self.log)
        centre.setStretchFactor(0, 3)
        centre.setStretchFactor(1, 1)
        centre.setSizes([520, 180])
        self.pages = self._tabs((self.keys, "Keys"), (self.body, "Body"), (self.gains, "Gains"))
        self.pages.setMinimumWidth(392)
        main = QSplitter(Qt.Horizontal)
        main.setHandleWidth(10)
        for widget, stretch in ((left_area, 0), (centre, 1), (self.pages, 0)):
            main.addWidget(widget)
            main.setStretchFactor(main.count() - 1, stretch)
            main.setCollapsible(main.count() - 1, False)
        page.addWidget(main, 1)
        self.setCentralWidget(root)
        self.resize(1360, 850)

    @staticmethod
    def _tabs(*pages: tuple) -> QTabWidget:
        tabs = QTabWidget()
        tabs.setDocumentMode(False)
        tabs.tabBar().setFocusPolicy(Qt.NoFocus)
        tabs.tabBar().setDrawBase(False)
        tabs.setFocusPolicy(Qt.NoFocus)
        for widget, name in pages:
            tabs.addTab(widget, name)
        return tabs

    def _connect_signals(self) -> None:
        controller = self._controller
        self.mode.requested.connect(controller.perform)
        self.stop.pressed.connect(
            lambda: controller.perform("safety.emergency_stop")
        )  # on the press, not on the release
        self.rearm.clicked.connect(lambda: controller.perform("safety.rearm"))
        self.layouts.chosen.connect(controller.set_layout)
        self.speed.moved.connect(controller.set_scale)
        self.body.pose_moved.connect(controller.set_pose)
        self.body.shells_moved.connect(controller.set_shells)
        self.body.neutral_requested.connect(lambda: controller.perform("pose.neutral"))
        self.body.gait_chosen.connect(controller.set_gait)
        controller.changed.connect(self.show_command)
        controller.noticed.connect(self.show_notice)
        controller.quit_requested.connect(self.close)

    # ---------------------------------------------------------------- showing

    def show_link(self, connected: bool, text: str) -> None:
        """Show whether there is a ROS master."""
        self._connected = connected
        self.link.show_state("ROS connected" if connected else "no ROS master", theme.GOOD if connected else theme.WARN)
        self.link.setToolTip(text)
        if not connected:
            self.statusBar().showMessage(text)
        else:
            self.statusBar().clearMessage()
            self.statusBar().hide()
        self.statusBar().setVisible(not connected)

    def show_notice(self, notice: Notice) -> None:
        """Put one of our own messages into the log."""
        self.log.add(LogLine(notice.level, "teleop", notice.text, time.time()))

    def show_command(self) -> None:
        """Show what the command model holds."""
        model = self.model
        if self.keys.layout_name != model.layout:
            self.keys.show_layout(model.layout)
        self.layouts.show_choice(model.layout)
        self.keys.show_held(model.held)
        if not self.speed.dragging:
            self.speed.show_value(model.scale)
        self.body.show_model(model)

    def _fresh(self, info: Any) -> Any:
        return fresh(info, time.monotonic(), self._config.stale_after)

    def refresh(self) -> None:
        """Show what is known of the robot; called by the window's timer."""
        model, monitor = self.model, self._monitor
        odom, contacts, status = self._fresh(monitor.odom), self._fresh(monitor.contacts), self._fresh(monitor.status)
        odom = with_body(odom, contacts)
        self.mode.show_mode(monitor.mode, model.stopped)
        self.velocity.show_velocities(model.twist, odom, model.limits)
        self.pose.show_pose(odom, status)
        self.pose.show_servos(fresh_battery(monitor.battery, time.monotonic()), self._fresh(monitor.servos))
        self.feet.show_contacts(contacts)
        self.camera.show_picture(monitor.picture, monitor.picture_count)
        if self.joints.isVisible():
            joints, targets = self._fresh(monitor.joints), self._fresh(monitor.targets)
            self.joints.show_joints(joint_rows(monitor.profile, joints, targets))
        for line in monitor.take_log():
            self.log.add(line)
        self.show_command()
        self.rearm.setEnabled(model.stopped or not self._connected)
        if self._controller.editing:
            self.focus.show_state("typing: Enter", theme.WARN)
        elif self.isActiveWindow() or self.view_has_focus:
            self.focus.show_state("keys drive", theme.ACCENT)
        else:
            self.focus.show_state("click to drive", theme.MUTED)

    def refresh_picture(self) -> None:
        """Show where the robot is; called by a timer of its own, which is faster."""
        monitor = self._monitor
        contacts = self._fresh(monitor.contacts)
        self.robot.show_robot(
            monitor.description,
            monitor.profile,
            self._fresh(monitor.joints),
            self._fresh(monitor.base),
            with_body(self._fresh(monitor.odom), contacts),
            contacts,
            self._fresh(monitor.footsteps),
            self._fresh(monitor.truth),
            self.model.twist,
        )

    def closeEvent(self, event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: the window closes; held keys are dropped first, which sends the one zero."""
        self._refresh_timer.stop()
        self._picture_timer.stop()
        self._controller.drop_all()
        self.robot.close_picture()
        super().closeEvent(event)
