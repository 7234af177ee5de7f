# SPDX-License-Identifier: MIT
"""The robot's actions in a terminal: a list with a search, and a line for parameters."""

from __future__ import annotations

from typing import Callable, List, Mapping, Optional

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    VSplit,
    Window,
)

from shellbot_teleop.action_model import ActionEntry, ActionModel
from shellbot_teleop.errors import ParameterError
from shellbot_teleop.terminal_screen import Line, formatted, wrapped
from shellbot_teleop.texts import tr


class ActionsPage:
    """
    The page; while it is shown letters are text of its two fields.

    Parameters
    ----------
    model : ActionModel
        What the robot knows.
    run : callable
        Called with the name of an action and its parameters.
    back : str
        Label of the key that leads back.

    Attributes
    ----------
    container : HSplit
        To be put into a layout.
    keys : KeyBindings
        Of the page, beside those of its fields.
    """

    def __init__(self, model: ActionModel, run: Callable[[str, Mapping[str, float]], None], back: str) -> None:
        self._model, self._run, self._back = model, run, back
        self._row = 0
        self._error = ""
        self.search = Buffer(multiline=False, on_text_changed=lambda _: self._choose(0))
        self.parameters = Buffer(multiline=False, on_text_changed=lambda _: self._show_error(""))
        self._parameters_shown = Condition(lambda: get_app().layout.has_focus(self.parameters))
        names = FormattedTextControl(self._names, get_cursor_position=lambda: Point(0, self._row), show_cursor=False)
        self.container = HSplit(
            [
                _field(tr("Actions, search:"), self.search),
                Window(names, height=Dimension(weight=1), dont_extend_height=True),  # what is long is cut: it is below
                part(FormattedTextControl(self._details), 3),
                ConditionalContainer(_field(tr("Parameters:"), self.parameters), self._parameters_shown),
                ConditionalContainer(
                    part(FormattedTextControl(lambda: _broken([[("warn", self._error)]])), 9),
                    Condition(lambda: bool(self._error)),
                ),
                part(FormattedTextControl(self._help), 9),
            ]
        )
        self.keys = KeyBindings()
        self.keys.add("up")(lambda _: self._choose(self._row - 1))
        self.keys.add("down")(lambda _: self._choose(self._row + 1))
        self.keys.add("enter")(lambda _: self._enter())

    @property
    def entry(self) -> Optional[ActionEntry]:
        """The chosen action."""
        found = self._model.found(self.search.text)
        return found[min(self._row, len(found) - 1)] if found else None

    def open(self) -> None:
        """Begin with the whole list."""
        self.search.reset()
        self._choose(0)

    def _choose(self, row: int) -> None:
        self._row = max(min(row, len(self._model.found(self.search.text)) - 1), 0)
        self._show_error("")
        get_app().layout.focus(self.search)

    def _enter(self) -> None:
        """Go on to the parameters, if there are any, or run the action."""
        entry = self.entry
        if entry is None:
            return
        if entry.parameters and not self._parameters_shown():
            self.parameters.text = entry.defaults
            self.parameters.cursor_position = len(entry.defaults)
            get_app().layout.focus(self.parameters)
            return
        try:
            values = entry.read(self.parameters.text) if entry.parameters else {}
        except ParameterError as error:
            self._show_error(str(error))
            return
        self._run(entry.name, values)

    def _show_error(self, text: str) -> None:
        self._error = text

    def _names(self) -> StyleAndTextTuples:
        chosen, lines = self.entry, []
        for entry in self._model.found(self.search.text):
            style = "held" if entry == chosen else "command"
            lines.append([(style, f" {entry.name:16} "), ("", f" {entry.text}")])
        return formatted(lines)

    def _details(self) -> StyleAndTextTuples:
        entry = self.entry
        if entry is None:
            return _broken([[("warn", self._model.none_found)]])
        lines: List[Line] = [[("", f"{entry.text}. {entry.cancels}")]]
        for parameter in entry.parameters:
            lines.append(
                [("command", f"  {parameter.name:14}"), ("", f" {parameter.range}  "), ("muted", parameter.text)]
            )
        return _broken(lines)

    def _help(self) -> StyleAndTextTuples:
        line: Line = []
        texts = (("↑ ↓", tr("choose")), ("Enter", tr("parameters, then run")), (self._back, tr("back to the keys")))
        for key, text in texts:
            line += [("command", key), ("muted", f" {text}   ")]
        return formatted([line])


def part(control: FormattedTextControl, weight: int) -> Window:
    """Return a part as high as its text; where there is too little room the heavier parts get it first."""
    return Window(control, height=Dimension(weight=weight), wrap_lines=True, dont_extend_height=True)


def _broken(lines: List[Line]) -> StyleAndTextTuples:
    """Return lines broken between words where the terminal ends."""
    return formatted(wrapped(lines, get_app().output.get_size().columns))


def _field(title: str, buffer: Buffer) -> VSplit:
    return VSplit(
        [
            Window(FormattedTextControl([("class:title", f"{title} ")]), dont_extend_width=True, height=1),
            Window(BufferControl(buffer), height=1),
        ]
    )
