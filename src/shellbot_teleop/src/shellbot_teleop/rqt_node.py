# SPDX-License-Identifier: MIT
"""The operator's window as a plugin of rqt."""

from __future__ import annotations

from typing import Any

from shellbot_teleop.command_line import load_settings, window_parser
from shellbot_teleop.window_node import WindowProgram


class OperatorPlugin:
    """The window in a dock of rqt, within rqt's own node; it drives while the keyboard focus is in it.

    Parameters
    ----------
    context : qt_gui.plugin_context.PluginContext
        What rqt hands to each plugin: command line, place for a widget, a means to close it.

    Raises
    ------
    SettingsError
        A file on the command line is invalid; rqt shows the sentence.
    """

    def __init__(self, context: Any) -> None:
        arguments = window_parser("The operator's window in rqt.").parse_args(context.argv())
        self._program = WindowProgram(*load_settings(arguments))
        if arguments.layout:
            self._program.controller.set_layout(arguments.layout)
        window = self._program.window
        window.title_end = f" ({context.serial_number()})" if context.serial_number() > 1 else ""
        window.setObjectName("shellbot_operator")
        window.setWindowTitle(window.windowTitle() + window.title_end)  # until the robot's name is known
        self._program.controller.quit_requested.connect(context.close_plugin)
        context.add_widget(window)
        self._program.link.start()

    def shutdown_plugin(self) -> None:
        """Send the last zero, give control up; rqt's node stays."""
        self._program.close()
