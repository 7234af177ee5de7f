# SPDX-License-Identifier: MIT
"""The window: panels around the command model; refreshed at a fixed, low rate from what is known of the robot."""

from __future__ import annotations

import time
from typing import Any

from python_qt_binding.QtCore import QSize, Qt, QTimer
from python_qt_binding.QtWidgets import QApplication, QMainWindow, QSplitter, QVBoxLayout, QWidget

from shellbot_teleop.body_estimate import with_body
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Notice
from shellbot_teleop.joint_table import joint_rows
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.qt import theme
from shellbot_teleop.qt.actions_panel import ActionsPanel
from shellbot_teleop.qt.body_panel import BodyPanel
from shellbot_teleop.qt.camera_view import CameraView
from shellbot_teleop.qt.controller import OperatorController
from shellbot_teleop.qt.feet_panel import FeetPanel
from shellbot_teleop.qt.gains_panel import GainsPages
from shellbot_teleop.qt.header import Header
from shellbot_teleop.qt.joints_panel import JointsPanel
from shellbot_teleop.qt.keyboard_focus import KeyboardFocus
from shellbot_teleop.qt.keys_panel import KeysPanel, key_tips
from shellbot_teleop.qt.log_panel import LogPanel
from shellbot_teleop.qt.plots_panel import PlotsPanel
from shellbot_teleop.qt.robot_view import RobotView
from shellbot_teleop.qt.status_panels import ModePanel, PosePanel, VelocityPanel
from shellbot_teleop.qt.widgets import scroll_area, tabs
from shellbot_teleop.robot_monitor import LogLine, RobotMonitor, fresh, fresh_battery
from shellbot_teleop.texts import tr

_REFRESH_MS = 33
_NARROW = 1060  # pixels: a window that is narrower shows the state on a page, not in a column of its own
_WIDEST = 16777215  # pixels: Qt's own greatest width
_PICTURE_MS = 60  # 17 pictures a second, as far as the machine can: more would take the time of keys on two cores


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
        self._connected = self.view_has_focus = False  # the simulator's 3D window has the focus: its keys come here
        self.title_end = ""  # behind the name, such as the number of a second window in one rqt
        keymap, tips = self.model.keymap, key_tips(self.model.keymap)
        self.setWindowTitle(tr("Operator"))
        self.setStyleSheet(theme.use(config.theme))
        self.setFont(theme.font())
        self.mode, self.velocity = ModePanel(keymap, tips), VelocityPanel()
        self.pose, self.log = PosePanel(), LogPanel()
        self.keys, self.body, self.gains = KeysPanel(keymap), BodyPanel(keymap), GainsPages(config.gains_servers)
        self.feet, self.joints, self.actions = FeetPanel(), JointsPanel(), ActionsPanel()
        self.robot, self.camera = RobotView(), CameraView()
        self.plots = PlotsPanel(monitor.history)
        self.header = Header(controller, tips)
        self._arrange()
        self._connect_signals()
        self.keys.show_layout(self.model.layout)
        self.help.show_layout(self.model.layout)
        self.show_link(False, tr("starting"))
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
        page.addWidget(self.header)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        for card in (self.mode, self.velocity, self.pose, self.feet):
            column.addWidget(card)
        column.addStretch(1)
        left_area = self._state = scroll_area()
        left_area.setWidget(left)
        left_area.setFixedWidth(320)
        names = (tr("Robot"), tr("Camera"), tr("Joints"), tr("Plots"))
        self.views = tabs(*zip((self.robot, self.camera, self.joints, self.plots), names))
        centre = QSplitter(Qt.Vertical)
        centre.addWidget(self.views)
        centre.addWidget(self.log)
        centre.setStretchFactor(0, 3)
        centre.setStretchFactor(1, 1)
        centre.setSizes([520, 180])
        self.pages = tabs((self.keys, tr("Keys")), (self.body, tr("Body")), (self.gains, tr("Gains")))
        self.pages.setMinimumWidth(380)
        self._leave_out(self.model.keymap)
        main = self._columns = QSplitter(Qt.Horizontal)
        main.setHandleWidth(10)
        for widget, stretch in ((left_area, 0), (centre, 1), (self.pages, 0)):
            main.addWidget(widget)
            main.setStretchFactor(main.count() - 1, stretch)
            main.setCollapsible(main.count() - 1, False)
        page.addWidget(main, 1)
        self.setCentralWidget(root)
        self.help = KeysPanel(self.model.keymap)
        self.help.setParent(root)
        self.help.setObjectName("help")
        self.help.setAttribute(Qt.WA_StyledBackground)
        self.help.hide()
        parts = (self.help, self.header, self._state, self.views, self.log, self.pages)
        self.by_keys = KeyboardFocus(self, parts, (self.views, self.pages))
        self.setMinimumSize(800, 560)
        self.resize(QSize(1360, 850).boundedTo(QApplication.primaryScreen().availableSize()))  # STOP is at the right

    def _leave_out(self, keymap: Keymap) -> None:
        """Hide what this robot has not: the key map says what it can be commanded."""
        self.mode.setVisible(keymap.has("mode"))
        self.velocity.setVisible(keymap.has("drive"))
        self.robot.sticks.setVisible(keymap.has("drive"))
        self.feet.hide()  # until a robot tells of feet
        has_body = any(map(keymap.has, ("pose", "shells"))) or bool(keymap.keys_of(keymap.default_layout, "gait.next"))
        if not has_body:
            self.pages.removeTab(self.pages.indexOf(self.body))

    def _connect_signals(self) -> None:
        controller = self._controller
        self.mode.requested.connect(controller.perform)
        self.body.pose_moved.connect(controller.set_pose)
        self.body.shells_moved.connect(controller.set_shells)
        self.body.neutral_requested.connect(lambda: controller.perform("pose.neutral"))
        self.body.gait_chosen.connect(controller.set_gait)
        self.robot.sticks.pushed.connect(controller.push_stick)
        for page in (self.plots, self.actions):
            page.noticed.connect(self.show_notice)
        controller.changed.connect(self.show_command)
        controller.noticed.connect(self.show_notice)
        controller.quit_requested.connect(self.close)
        controller.help_toggled.connect(self.toggle_help)
        controller.actions_used.connect(lambda effect: self.actions.use(effect, self.by_keys))
        for keys in (self.keys, self.help):
            keys.theme_toggled.connect(lambda: self.show_theme(theme.other()))

    # ---------------------------------------------------------------- showing

    def show_link(self, connected: bool, text: str) -> None:
        """Show whether there is a ROS master."""
        self._connected = connected
        colour = theme.palette().good if connected else theme.palette().warn
        self.header.link.show_state(tr("ROS connected") if connected else tr("no ROS master"), colour)
        self.header.link.setToolTip(text)
        self._show_words()
        self.statusBar().showMessage("" if connected else text)
        self.statusBar().setVisible(not connected)

    def show_notice(self, notice: Notice) -> None:
        """Put one of our own messages into the log."""
        self.log.add(LogLine(notice.level, "teleop", notice.text, time.time()))

    def show_theme(self, name: str) -> None:
        """Change to a theme, dark or light."""
        self.setStyleSheet(theme.use(name))
        for repaint in (self.keys.paint_again, self.help.paint_again, self.gains.paint_again, self.log.write_again):
            repaint()
        self.show_link(self._connected, self.header.link.toolTip())
        self.refresh()

    def show_command(self) -> None:
        """Show what the command model holds."""
        model = self.model
        if self.keys.layout_name != model.layout:
            self.keys.show_layout(model.layout)
            self.help.show_layout(model.layout)
        self.help.show_held(model.held)
        self.header.show_model()
        self.keys.show_held(model.held)
        self.body.show_model(model)
        self.robot.sticks.show_axes(model.stick.axes)

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
        self.pose.show_diagnostics(*monitor.diagnostics.line(time.monotonic()))
        self.feet.show_contacts(contacts)
        if contacts is not None:
            self.feet.show()
        if monitor.profile is not None:
            name = monitor.profile.name.capitalize()
            self.header.show_name(name)
            self.setWindowTitle(name + self.title_end)
        self.camera.show_picture(monitor.picture, monitor.picture_count)
        if self.joints.isVisible():
            joints, targets = self._fresh(monitor.joints), self._fresh(monitor.targets)
            servos = self._fresh(monitor.servos)
            self.joints.show_joints(joint_rows(monitor.profile, joints, targets, servos, monitor.description))
        if self.plots.isVisible():
            self.plots.refresh()
        if self.actions.model.entries and self.pages.indexOf(self.actions) < 0:
            self.pages.insertTab(self.pages.indexOf(self.keys) + 1, self.actions, tr("Actions"))
        if self.actions.isVisible():
            self.actions.refresh(model.stopped)
        self._show_control()
        for line in monitor.take_log():
            self.log.add(line)
        self.show_command()

    def _show_control(self) -> None:
        """Show who is in control; what commands the robot can be used only by him."""
        self.header.show_control(self.view_has_focus)
        for commands in (self.body, *self.gains.pages.values(), self.actions, *self.mode.buttons.values()):
            commands.setEnabled(self.model.control.armed)

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

    def toggle_help(self) -> None:
        """Lay all keys over the window, or take them away."""
        self.help.setVisible(not self.help.isVisible())
        self.help.raise_()
        self._place_help()

    def _place_help(self) -> None:
        area = self.centralWidget().rect()
        width = min(area.width() - 24, 620)
        self.help.setGeometry((area.width() - width) // 2, 64, width, area.height() - 76)

    def resizeEvent(self, event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: what has no room beside the robot goes onto a page; the header loses its words first."""
        super().resizeEvent(event)
        is_narrow = self.width() < _NARROW
        if is_narrow != (self._columns.indexOf(self._state) < 0):
            if is_narrow:
                self._state.setMaximumWidth(_WIDEST)
                self.pages.insertTab(0, self._state, tr("State"))
                self.pages.setCurrentIndex(0)
            else:
                self.pages.removeTab(self.pages.indexOf(self._state))
                self._state.setMaximumWidth(320)
                self._columns.insertWidget(0, self._state)
                self._columns.setStretchFactor(0, 0)
            self._state.show()
        self._show_words()
        self._place_help()

    def _show_words(self) -> None:
        """Leave out of the header what a narrow window has no room for."""
        self.header.show_words(self.width() >= _NARROW, self._connected)

    def closeEvent(self, event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: the window closes; held keys are dropped first, which sends the one zero."""
        self._refresh_timer.stop()
        self._picture_timer.stop()
        self._controller.drop_all(tr("the window closes"))
        self.robot.close_picture()
        self.plots.plot.close_thread()
        super().closeEvent(event)
