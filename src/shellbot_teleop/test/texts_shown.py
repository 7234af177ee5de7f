# SPDX-License-Identifier: MIT
"""Prints, as JSON, the texts of a window, a terminal and notices in many states; run with the language to be tested."""

from __future__ import annotations

import json
import math
import sys
import time

import numpy as np
from python_qt_binding.QtWidgets import (
    QApplication,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QTableWidget,
    QTabWidget,
    QWidget,
)
from teleop_drawn import play

from shellbot_common import package_file
from shellbot_teleop.action_model import ActionEntry, ActionModel, ActionParameter, ActionsSeen, FeedbackSeen, GoalSeen
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Notice
from shellbot_teleop.gains_model import GainGroup, GainParameter
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.limits import Limits
from shellbot_teleop.link_events import LinkState, OperatorSeen
from shellbot_teleop.qt.command_panel import CommandPanel
from shellbot_teleop.qt.controller import OperatorController
from shellbot_teleop.qt.main_window import TeleopWindow
from shellbot_teleop.qt.plot_figure import PlotFigure, PlotRequest
from shellbot_teleop.qt.widgets import VelocityBar
from shellbot_teleop.robot_monitor import (
    BatteryInfo,
    ContactsInfo,
    JointsInfo,
    ModeInfo,
    OdomInfo,
    RobotMonitor,
    ServoReading,
    ServosInfo,
    StatusInfo,
)
from shellbot_teleop.terminal_screen import RobotView, screen
from shellbot_teleop.web.page_state import control_state, offered, robot_state
from shellbot_teleop.web.station import Station

NOW = time.monotonic()
FEET = np.array([[0.2, 0.2, -0.1], [0.2, -0.2, -0.1], [-0.2, 0.0, -0.1]])


def known_robot(monitor):
    """Let a monitor know a robot in trouble."""
    monitor.mode = ModeInfo("stand", "hexapod", "rise", 0.4, "")
    monitor.odom = OdomInfo((1.0, 0.0, 0.16), (0.1, 0.0, 0.0), (0.1, 0.0, 0.0), NOW)
    monitor.contacts = ContactsInfo((True,) * 3, (math.nan,) * 3, FEET, NOW)
    monitor.status = StatusInfo(False, 0.1, "", False, "", NOW)
    monitor.battery = BatteryInfo(11.1, 0.5, NOW)
    readings = {"knee": ServoReading(0.99, 11.0, 71.0, limp=True)}
    monitor.servos = ServosInfo(1, 71.0, "knee", 1, ("knee: 1", "knee: 2", "knee: 3"), NOW, readings)
    monitor.joints = JointsInfo(("knee", "hip"), (0.0, 0.0), (), NOW)
    monitor.targets = JointsInfo(("knee", "hip"), (1.0, 1.0), (), NOW)
    monitor.diagnostics.take([("hip", 1, ""), ("knee", 2, "")], NOW)


def texts_in(widget):
    """Yield everything that a widget says."""
    for name in ("text", "toolTip", "placeholderText", "windowTitle", "title"):
        found = getattr(widget, name, None)
        if callable(found) and not isinstance(widget, QLineEdit if name == "text" else ()):
            yield str(found())
    if isinstance(widget, QTabWidget):
        yield from (widget.tabText(index) for index in range(widget.count()))
    if isinstance(widget, QPlainTextEdit):
        yield widget.toPlainText()
    if isinstance(widget, QListWidget):
        yield from (widget.item(row).text() for row in range(widget.count()))
    if isinstance(widget, QTableWidget):
        yield from (widget.horizontalHeaderItem(column).text() for column in range(widget.columnCount()))
        items = (widget.item(row, column) for row in range(widget.rowCount()) for column in range(widget.columnCount()))
        yield from (text for item in items if item is not None for text in (item.text(), item.toolTip()))
    if isinstance(widget, VelocityBar):
        yield widget._name


def window_texts(config, keymap):
    """Yield the texts of the window, with a robot and without."""
    monitor, model = RobotMonitor(), CommandModel(config, keymap)
    controller = OperatorController(model, config, lambda effect: None)
    window = TeleopWindow(config, controller, monitor)
    controller.watch(window, QApplication.instance())
    window.gains.pages["gains"].show_groups((GainGroup("", (GainParameter("p", "p", "double", 0.0, 1.0, 0.5, ""),)),))
    entries = (ActionEntry("wave", "", (ActionParameter("n", 1.0, 0.0, 2.0, ""),)),)
    window.actions.show_news(ActionsSeen(entries))
    command = CommandPanel(["/nowhere/python"])
    window.views.addTab(command, "Python")
    window.show()

    def seen():
        window.refresh()
        window.refresh_picture()
        for widget in (window, *window.findChildren(QWidget)):
            yield from texts_in(widget)
        yield window.robot._status

    yield from seen()
    known_robot(monitor)
    window.show_link(True, "")
    window.views.setCurrentWidget(window.joints)
    model.observe_operator("pilot", False)
    yield from seen()
    monitor.status = StatusInfo(True, math.nan, "", True, "", NOW)
    monitor.mode = ModeInfo("stand", "stand", "", 1.0, "")
    model.observe_operator("us", True)
    model.observe_stopped(True, NOW)
    model.observe_limits(Limits((0.4, 0.3, 1.0), (-0.05,) * 3, (0.05,) * 3, (0.2,) * 3, "tripod", True))
    window.actions.show_news(GoalSeen("wave", "1"))
    window.actions.search.setText("nothing")
    window.resize(800, 600)
    window.log.search.setFocus()
    controller.drop_all("")
    window.plots.save("/nowhere", window.plots.write_png)
    yield from seen()
    figure = PlotFigure()
    figure.draw(PlotRequest({}, ("knee",), 0.0, 5.0, (300, 200)))
    yield from (figure._axes.get_xlabel(), figure._axes.get_ylabel())
    window.close()


def joined(shown):
    """Return the lines of the terminal as one, because long ones are broken."""
    lines = shown.head + shown.velocities + shown.condition + shown.key_help + shown.messages
    return " ".join(text for line in lines for _, text in line)


def page_texts():
    """Yield what the terminal's list of actions shows."""
    entries = (
        ActionEntry("wave", "", (ActionParameter("n", 1.0, 0.0, 2.0, ""),)),
        ActionEntry("wave", "", (), "never"),
    )

    async def session(typist):
        typist.view.list_actions(True)
        seen.append("\n".join(typist.rows()))
        for pieces in ((b"\r",), (b"\x7f", b"\x7f=\r"), (b"\x1b[B",), (b"hip",)):
            await typist.type(*pieces)
            seen.append("\n".join(typist.rows()))

    seen = []
    play(session, entries=entries, size=(300, 24))
    return seen


def terminal_texts(config, keymap):
    """Yield the lines of the terminal, with a robot and without."""
    monitor, model, actions = RobotMonitor(), CommandModel(config, keymap), ActionModel()
    known_robot(monitor)
    nothing = RobotView("", False, None, None, None)
    line = monitor.diagnostics.line(NOW)
    robot = RobotView("", True, monitor.mode, monitor.odom, monitor.status, monitor.battery, monitor.servos, line)
    held = StatusInfo(False, 0.0, "", True, "", NOW)
    for view in (nothing, robot, RobotView("", True, None, None, held)):
        for width, height in ((80, 24), (150, 60)):
            yield joined(screen(model, view, [], (width, height), actions.state(NOW)))
        actions.observe(FeedbackSeen("1", "", 0.5, False), NOW)
        model.observe_operator("us", True)
        model.observe_limits(Limits((0.4, 0.3, 1.0), (-0.05,) * 3, (0.05,) * 3, (0.2,) * 3, "tripod", True))
    model.observe_stopped(True, NOW)
    yield joined(screen(model, robot, [], (80, 24), actions.state(NOW + 100.0)))
    yield from page_texts()


def notices(config, keymap):
    """Yield the sentences with which keys, buttons and pages are answered."""

    def of(effects):
        return [effect.text for effect in effects if isinstance(effect, Notice)]

    for needs_dead_man in (False, True):
        model = CommandModel(config.replace(dead_man=needs_dead_man), keymap)
        for operator, is_us in (("pilot", False), ("", False), ("us", True)):
            yield from of(model.observe_operator(operator, is_us))
            for mode in ("stand", "hexapod"):
                model.observe_mode(mode)
                for binding in keymap.bindings:
                    yield from of(model.press(binding.key, NOW))
                    yield from of(model.release(binding.key, NOW))
            for stopped in (True, False):
                yield from of(model.observe_stopped(stopped, NOW))
                yield from of(model.press("w", NOW))
        model.observe_limits(Limits((0.0,) * 3, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3))
        yield from (text for key in ("w", "Up") for text in of(model.press(key, NOW)))
        yield from of(model.set_layout("", NOW))
    said = []
    tell = lambda _, notice: said.append(notice.text)  # noqa: E731
    station = Station(CommandModel(config, keymap), config, [].append, [].append, tell)
    station.observe(LinkState(True, ""))
    for page in (1, 2):
        station.open(page, "")
    for page, message in ((1, '{"type": "do", "action": "control.take"}'), (1, "")):
        station.receive(page, message)
    station.observe(OperatorSeen("us", True))
    for message in ('{"type": "do", "action": "control.take"}', '{"type": "press", "key": "w"}'):
        station.receive(2, message)
    station.receive(1, '{"type": "press", "key": "w"}')
    station.end()
    yield from said
    monitor, actions = RobotMonitor(), ActionModel()
    for _ in range(2):
        state = robot_state(station, monitor, actions, 1.0, NOW)
        yield from (state["joints"]["text"], state["nodes"]["text"], state["servos"]["text"], state["action"]["line"])
        known_robot(monitor)
        actions.observe(FeedbackSeen("1", "", 0.5, False), NOW)
    yield from (control_state(page, station.pages, station.model)["who"] for page in (1, 2))
    page = offered(station.model)
    yield from (text for text, _ in page["modes"])
    yield from (slider["name"] for slider in (*page["pose"], *page["shells"]))
    yield from (
        text for group in page["groups"] for text in (group["title"], *(line["help"] for line in group["lines"]))
    )


def main():
    application = QApplication(["texts_shown"])
    settings = TeleopConfig.load(package_file("shellbot_teleop", "config/teleop.yaml"))
    keymap = Keymap.load(package_file("shellbot_teleop", "config/keymap.yaml"))
    shown = {"window": window_texts, "terminal": terminal_texts, "notices": notices}
    json.dump({name: list(texts(settings, keymap)) for name, texts in shown.items()}, sys.stdout)
    application.quit()


if __name__ == "__main__":
    main()
