# SPDX-License-Identifier: MIT
"""Node `teleop_window`: the operator's window joined to ROS."""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import partial
from typing import Dict

import rospy
from python_qt_binding.QtCore import QObject, QTimer, Signal
from python_qt_binding.QtWidgets import QApplication

from shellbot_common import SettingsError
from shellbot_teleop.action_client_node import ActionClient
from shellbot_teleop.command_line import load_settings, window_parser
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Notice
from shellbot_teleop.gains_client_node import GainsClient
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.link_events import LinkEvent, LinkState
from shellbot_teleop.qt.command_panel import CommandPanel
from shellbot_teleop.qt.controller import OperatorController
from shellbot_teleop.qt.main_window import TeleopWindow
from shellbot_teleop.qt.simulator_view import SimulatorView
from shellbot_teleop.robot_monitor import RobotMonitor
from shellbot_teleop.ros_link_node import RosLink
from shellbot_teleop.texts import tr
from shellbot_teleop.x_display import answers

NO_DISPLAY = (
    "teleop_window: there is no display to open the window on (DISPLAY is empty or its server does not answer).\n"
    "Use the terminal version instead:  scripts/teleop --terminal\n"
    "or log in with  ssh -X  and start the window again."
)


class Bridge(QObject):
    """Brings what ROS threads tell into the window's thread."""

    event = Signal(object)
    actions_news = Signal(object)
    gains_groups = Signal(str, object)  # the first is the server
    gains_values = Signal(str, object)
    gains_state = Signal(str, bool, str)


class WindowProgram:
    """Window, command model and link, put together; also used by the latency measurement and the tests."""

    def __init__(self, config: TeleopConfig, keymap: Keymap, name: str = "teleop_window") -> None:
        self.bridge = Bridge()
        self.monitor = RobotMonitor()
        self.link = RosLink(name, config, self.monitor, self.bridge.event.emit)
        self.model = CommandModel(config, keymap)
        self.controller = OperatorController(self.model, config, self.link.execute)
        self.window = TeleopWindow(config, self.controller, self.monitor)
        self.controller.watch(self.window, QApplication.instance())
        self.view = SimulatorView(self.window)
        self.view.focus_changed.connect(self._on_view_focus)
        self.bridge.event.connect(self._on_event)
        self.window.camera.visible_changed.connect(lambda is_seen: self.link.request("camera", is_seen))
        self.window.robot.visible_changed.connect(lambda is_seen: self.link.request("robot", is_seen))
        self.window.plots.visible_changed.connect(lambda is_seen: self.link.request("plots", is_seen))
        self.window.robot.ghost_requested.connect(lambda is_seen: self.link.request("truth", is_seen))
        self._actions = ActionClient(self.bridge.actions_news.emit, self.bridge.event.emit, config.service_timeout)
        self.bridge.actions_news.connect(self.window.actions.show_news)
        self.window.actions.run_requested.connect(self._actions.run)
        self.window.actions.pause_requested.connect(self._actions.pause)
        self.window.actions.cancel_requested.connect(self._actions.cancel)
        self.commands = CommandPanel([sys.executable, "-u", "-m", "shellbot_client.command_line"])
        if any(binding.action == "mode.hexapod" for binding in keymap.bindings):  # the client's robot
            self.window.views.addTab(self.commands, "Python")
        self.controller.changed.connect(lambda: self.commands.setEnabled(self.model.control.armed))
        self._gains: Dict[str, GainsClient] = {}
        pages = self.window.gains.pages
        self.bridge.gains_groups.connect(lambda server, groups: pages[server].show_groups(groups))
        self.bridge.gains_values.connect(lambda server, values: pages[server].show_values(values))
        self.bridge.gains_state.connect(lambda server, *state: pages[server].show_state(*state))
        self.window.gains.changed.connect(self._change_gains)

    def start(self) -> None:
        """Show the window and look for ROS."""
        self.window.show()
        self.window.activateWindow()
        self.view.start()
        self.link.start()

    def close(self) -> None:
        """Send the last zero and leave."""
        self.view.close()
        self.window.close()
        self.controller.close()
        for client in self._gains.values():
            client.close()
        self._actions.close()
        self.link.close()
        self.commands.close_process()

    def _change_gains(self, server: str, values: dict) -> None:
        if server in self._gains:
            self._gains[server].change(values)

    def _join_gains(self) -> None:
        """Look for every server, at a restarted master anew; each client reconnects after its server restarts."""
        for server in self.window.gains.pages:
            if server not in self._gains:
                signals = self.bridge.gains_groups, self.bridge.gains_values, self.bridge.gains_state
                self._gains[server] = GainsClient(server, *(partial(signal.emit, server) for signal in signals))
            self._gains[server].join()

    def _on_view_focus(self, has_focus: bool) -> None:
        """Drop the keys that were held in the window which the focus leaves."""
        self.window.view_has_focus = has_focus
        if not has_focus:
            self.controller.drop_all(tr("the simulator's window lost the focus"))

    def _on_event(self, event: LinkEvent) -> None:
        """Act on what came from ROS; in the window's thread."""
        if isinstance(event, LinkState):
            self.window.show_link(event.connected, event.text)
            self.window.show_notice(Notice("info" if event.connected else "warn", event.text))
            if event.connected:
                self._actions.join()
                self._join_gains()
            if event.ended:
                self.window.close()
        elif isinstance(event, Notice):
            self.window.show_notice(event)
        else:
            self.controller.observe(event)


def has_display() -> bool:
    """Tell whether a window can be opened; Qt itself would end the program with a core dump."""
    if os.environ.get("QT_QPA_PLATFORM", "xcb") not in ("", "xcb"):
        return True
    if os.environ.get("WAYLAND_DISPLAY") and not os.environ.get("DISPLAY"):
        return True
    display = os.environ.get("DISPLAY", "")
    if not display:
        return False
    return answers(display)


def main() -> int:
    """Run the node; returns the exit status."""
    ending = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ending.set())
    arguments = window_parser("The operator's window.").parse_args(rospy.myargv(sys.argv)[1:])
    try:
        config, keymap = load_settings(arguments)
    except SettingsError as error:
        sys.stderr.write(f"teleop_window: {error}\n")
        return 2
    if not has_display():
        sys.stderr.write(NO_DISPLAY + "\n")
        return 3
    if os.environ.get("DISPLAY"):
        # on a Wayland desktop, too: only X11 lets the window take the keys of the simulator's view
        os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    # Nothing in the window is drawn with OpenGL (the robot is, by another process), whose library takes 60 MB.
    os.environ.setdefault("QT_XCB_GL_INTEGRATION", "none")
    # A key press must not wait 5 ms until a ROS thread gives the interpreter away.
    sys.setswitchinterval(0.0005)
    application = QApplication(sys.argv[:1])
    program = WindowProgram(config, keymap)
    if arguments.layout:
        program.controller.set_layout(arguments.layout)

    def end_if_requested() -> None:
        if ending.is_set():
            program.window.close()
            application.quit()

    # Python sees signals only when it runs: the timer wakes it, and ends a window that was not even shown yet, too.
    wake = QTimer()
    wake.timeout.connect(end_if_requested)
    wake.start(100)
    program.start()
    application.exec_()
    program.close()
    return 0
