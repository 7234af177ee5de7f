# SPDX-License-Identifier: MIT
"""The terminal: prompt_toolkit reads its keys and draws what `terminal_screen` composes."""

from __future__ import annotations

from typing import Callable, Optional

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import ConditionalKeyBindings, KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import ConditionalContainer, Dimension, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style

from shellbot_teleop.terminal_actions import ActionsPage, part
from shellbot_teleop.terminal_keys import OURS, key_name
from shellbot_teleop.terminal_screen import Screen, formatted
from shellbot_teleop.texts import tr

ESCAPE_WAIT = 0.1  # s that an Escape waits for the rest of an arrow's sequence
_DRAW_PERIOD = 0.1  # s at least between two pictures
_STYLE = Style.from_dict(
    {
        "title": "bold",
        "muted": "ansibrightblack",
        "command": "ansicyan",
        "measured": "ansigreen",
        "held": "ansiblack bg:ansicyan",
        "debug": "ansibrightblack",
        "warn": "ansiyellow",
        "error": "ansired",
        "fatal": "ansired",
        "stop": "bold ansiwhite bg:ansired",
    }
)


class TerminalView:
    """
    Screen and keys.

    Parameters
    ----------
    page : ActionsPage
        The list of actions.
    on_key : callable
        Called with the key map's name of a key that is the robot's.
    on_end : callable
        Called when the operator ends the program by Ctrl-C.
    terminal_input, terminal_output : optional
        Others than the program's own terminal.

    Attributes
    ----------
    application : Application
        To be run.
    lists_actions : bool
        Whether the list of actions is shown: then only `OURS` are the robot's keys.
    """

    def __init__(
        self,
        page: ActionsPage,
        on_key: Callable[[str], None],
        on_end: Callable[[], None],
        terminal_input: Optional[Input] = None,
        terminal_output: Optional[Output] = None,
    ) -> None:
        self._page, self._on_key, self._on_end = page, on_key, on_end
        self._shown = Screen([], [], [], [], [])
        self.lists_actions = False
        listing = Condition(lambda: self.lists_actions)
        self._head = FormattedTextControl(lambda: formatted(self._shown.head), focusable=True, show_cursor=False)
        velocities = FormattedTextControl(lambda: formatted(self._shown.velocities))
        condition = FormattedTextControl(lambda: formatted(self._shown.condition))
        keys = FormattedTextControl(lambda: formatted(self._shown.key_help))
        messages = FormattedTextControl(
            lambda: formatted(self._shown.messages),
            get_cursor_position=lambda: Point(0, max(len(self._shown.messages) - 1, 0)),  # the newest are seen
            show_cursor=False,
        )
        # on a terminal that is too small the state comes first, then the keys; messages get what is left
        parts = HSplit(
            [
                part(self._head, 9),
                ConditionalContainer(part(velocities, 9), ~listing),
                part(condition, 9),
                ConditionalContainer(part(keys, 3), ~listing),
                ConditionalContainer(page.container, listing),
                Window(FormattedTextControl([("class:title", tr("Messages"))]), height=Dimension(max=1)),
                Window(messages, height=Dimension(preferred=1), wrap_lines=True),
            ]
        )
        ours = KeyBindings()
        ours.add(Keys.Any, filter=~listing, eager=True)(self._press)
        for key in OURS:
            ours.add(key, filter=listing, eager=True)(self._press)
        self.application: Application = Application(
            Layout(parts, focused_element=self._head),
            style=_STYLE,
            key_bindings=merge_key_bindings([ConditionalKeyBindings(page.keys, listing), ours]),
            full_screen=True,
            min_redraw_interval=_DRAW_PERIOD,
            input=terminal_input,
            output=terminal_output,
        )
        self.application.ttimeoutlen = ESCAPE_WAIT

    def show(self, shown: Screen) -> None:
        """Draw a screen, if it differs from the one that is seen."""
        if shown != self._shown:
            self._shown = shown
            self.application.invalidate()

    def list_actions(self, is_shown: bool) -> None:
        """Show the list of actions, or go back to the keys."""
        self.lists_actions = is_shown
        if is_shown:
            self._page.open()
        else:
            self.application.layout.focus(self._head)

    def _press(self, event: KeyPressEvent) -> None:
        press = event.key_sequence[0]
        if press.key == Keys.ControlC:
            self._on_end()
        name = key_name(press, event.key_processor.input_queue)
        if name:
            self._on_key(name)
