# SPDX-License-Identifier: MIT
"""Fixtures of the teleop tests: the shipped key map and settings, and a real Qt application on a virtual display."""

from __future__ import annotations

import os

import pytest

from shellbot_benchmarks.virtual_display import XKeyboard, virtual_display
from shellbot_common import package_file
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.keymap import Keymap


@pytest.fixture(scope="session")
def teleop_config():
    return TeleopConfig.load(package_file("shellbot_teleop", "config/teleop.yaml"))


@pytest.fixture(scope="session")
def teleop_keymap():
    return Keymap.load(package_file("shellbot_teleop", "config/keymap.yaml"))


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
