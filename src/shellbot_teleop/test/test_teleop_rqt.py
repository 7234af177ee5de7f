# SPDX-License-Identifier: MIT
"""The window as a plugin of rqt, in a window with other parts: what rqt reads, whose keys are its own, what ends."""

from __future__ import annotations

import importlib
import json
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest

from shellbot_common import RobotProfile, package_file
from shellbot_common.testing import wait_until
from shellbot_teleop.effects import ZERO_TWIST


class Host:
    """What rqt is to a plugin: a window with docks, of which another one has a field for text."""

    def __init__(self, arguments=()):
        from python_qt_binding.QtCore import Qt
        from python_qt_binding.QtWidgets import QDockWidget, QLineEdit, QMainWindow

        self.arguments, self.closed = list(arguments), []
        self.window = QMainWindow()
        self.field = QLineEdit()
        self.dock, other = QDockWidget(), QDockWidget()
        other.setWidget(self.field)
        self.window.addDockWidget(Qt.LeftDockWidgetArea, self.dock)
        self.window.addDockWidget(Qt.RightDockWidgetArea, other)

    def argv(self):
        return self.arguments

    def serial_number(self):
        return 2

    def add_widget(self, widget):
        self.dock.setWidget(widget)
        self.dock.setWindowTitle(widget.windowTitle())

    def close_plugin(self):
        self.closed.append(True)


@pytest.fixture
def until(teleop_application):
    return lambda condition, what="": wait_until(
        condition, what, meanwhile=teleop_application.processEvents, period=0.001
    )


def test_rqt_finds_the_plugin():
    manifest = ElementTree.parse(str(package_file("shellbot_teleop", "package.xml"))).getroot()
    file = manifest.find("export/rqt_gui").get("plugin").replace("${prefix}/", "")
    described = ElementTree.parse(str(package_file("shellbot_teleop", file))).getroot().find("class")
    module, name = described.get("type").rsplit(".", 1)
    assert callable(getattr(importlib.import_module(module), name).shutdown_plugin)
    assert described.get("base_class_type") == "rqt_gui_py::Plugin"
    perspective = json.loads(package_file("shellbot_teleop", "config/operator.perspective").read_text(encoding="utf-8"))
    running = perspective["groups"]["pluginmanager"]["keys"]["running-plugins"]["repr"]
    for plugin in (
        f"shellbot_teleop/{described.get('name')}",
        "rqt_reconfigure/",
        "rqt_graph/",
        "rqt_plot/",
        "rqt_console/",
    ):
        assert plugin in running, f"{plugin} is not in the perspective: {running}"


def test_keys_are_the_plugins_while_the_focus_is_in_it(teleop_application, teleop_keyboard, until):
    from shellbot_teleop.rqt_node import OperatorPlugin

    host = Host(["--layout", "walk", "--gains-servers", "gains,arm_motion"])
    plugin = OperatorPlugin(host)
    model, window = plugin._program.model, plugin._program.window
    motion, sent = window.gains.pages["arm_motion"], []
    plugin._program.bridge.gains_state.emit("arm_motion", True, "there")
    assert motion.state.text() == "there" != window.gains.pages["gains"].state.text()
    plugin._program._gains["arm_motion"] = SimpleNamespace(change=sent.append, close=lambda: None)
    motion.changed.emit({"kp": 1.0})
    assert sent == [{"kp": 1.0}]
    assert host.dock.windowTitle() == "Operator (2)"
    window._monitor.profile = RobotProfile.load(package_file("arm_description", "config/profile.yaml"))
    window.refresh()
    assert window.windowTitle() == "Arm (2)"
    host.window.show()
    host.window.activateWindow()
    until(host.window.isActiveWindow)
    model.observe_operator("rqt_gui_py_node_1", True)
    window.setFocus()
    teleop_keyboard.press("w")
    until(lambda: model.twist.x > 0.0, "a key drives")
    host.field.setFocus()
    until(lambda: model.twist == ZERO_TWIST, "no key drives after the focus left the plugin")
    assert not plugin._program.controller.has_focus
    teleop_keyboard.release("w")
    teleop_keyboard.press("s")
    teleop_keyboard.release("s")
    until(lambda: host.field.text().endswith("s"), "a letter reaches the other dock")
    assert model.twist == ZERO_TWIST and not model.held
    window.setFocus()
    teleop_keyboard.press("Ctrl+q")
    teleop_keyboard.release("Ctrl+q")
    until(lambda: host.closed, "Ctrl+Q closes the plugin")
    plugin.shutdown_plugin()
    host.window.close()
