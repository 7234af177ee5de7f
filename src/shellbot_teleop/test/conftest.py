# SPDX-License-Identifier: MIT
"""Fixtures of the teleop tests: the shipped key map and settings, and a real Qt application on a virtual display."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from teleop_desk import Desk

from shellbot_benchmarks.virtual_display import XKeyboard, virtual_display
from shellbot_common import package_file
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import Heartbeat, PublishTwist
from shellbot_teleop.keymap import Keymap
from shellbot_teleop.robot_monitor import RobotMonitor

WAIT = 60.0  # s at most for an event to go through the X server


@pytest.fixture(scope="session")
def teleop_config():
    return TeleopConfig.load(package_file("shellbot_teleop", "config/teleop.yaml"))


@pytest.fixture(scope="session")
def teleop_keymap():
    return Keymap.load(package_file("shellbot_teleop", "config/keymap.yaml"))


@pytest.fixture
def desk(teleop_config, teleop_keymap):
    """A station of the page's server, with a clock of its own."""
    return Desk(teleop_config, teleop_keymap)


@pytest.fixture(scope="session")
def teleop_display():
    """Display of an X server of our own."""
    with virtual_display() as display:
        yield display


@pytest.fixture(scope="session")
def teleop_application(teleop_display):
    """The one QApplication of the process, on the virtual display."""
    os.environ["DISPLAY"] = teleop_display
    os.environ["QT_QPA_PLATFORM"] = "xcb"
    from python_qt_binding.QtWidgets import QApplication

    application = QApplication.instance() or QApplication(["teleop_test"])
    yield application


@pytest.fixture(scope="session")
def teleop_keyboard(teleop_display, teleop_application):
    keyboard = XKeyboard(teleop_display)
    yield keyboard
    keyboard.close()


class Setup:
    """Window, controller and what came out of them."""

    def __init__(self, application, config, keymap):
        from shellbot_teleop.qt.controller import OperatorController
        from shellbot_teleop.qt.main_window import TeleopWindow

        self.application = application
        self.out = []
        self.monitor = RobotMonitor()
        self.model = CommandModel(config, keymap)
        self.controller = OperatorController(
            self.model,
            config,
            lambda effect: isinstance(effect, Heartbeat) or self.out.append((time.monotonic(), effect)),
        )
        self.model.observe_operator("teleop_window", True)
        self.window = TeleopWindow(config, self.controller, self.monitor)
        self.controller.watch(self.window, application)
        self.window.show()
        self.window.activateWindow()
        assert self.until(self.window.isActiveWindow), "the window did not get the focus"

    def until(self, condition, timeout=WAIT):
        """Let Qt work until something is true; tell whether it became so."""
        deadline = time.monotonic() + timeout
        while not condition() and time.monotonic() < deadline:
            self.application.processEvents()
            time.sleep(0.001)
        return bool(condition())

    def work(self, seconds):
        """Let Qt work for a while in which nothing may happen."""
        self.until(lambda: False, seconds)

    @property
    def twists(self):
        return [effect for _, effect in self.out if isinstance(effect, PublishTwist)]

    def kinds(self, kind):
        return [effect for _, effect in self.out if isinstance(effect, kind)]


@pytest.fixture
def make_setup(teleop_application, teleop_keymap, teleop_keyboard):
    """Makes a window with settings."""
    from python_qt_binding.QtCore import QEvent

    made = []

    def make(config, keymap=teleop_keymap):
        made.append(Setup(teleop_application, config, keymap))
        return made[-1]

    yield make
    for setup in made:
        setup.window.close()
        setup.controller.close()
        setup.window.deleteLater()
        teleop_application.sendPostedEvents(None, QEvent.DeferredDelete)
        teleop_application.processEvents()


@pytest.fixture
def setup(make_setup, teleop_config):
    return make_setup(teleop_config)
