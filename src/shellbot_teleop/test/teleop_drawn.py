# SPDX-License-Identifier: MIT
"""The terminal's screen and keys without a terminal: bytes in, characters and keys out."""

from __future__ import annotations

import asyncio
import select
import time

from prompt_toolkit.application.current import set_app
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from shellbot_teleop.action_model import ActionModel, ActionsSeen
from shellbot_teleop.terminal_actions import ActionsPage
from shellbot_teleop.terminal_view import TerminalView

WAIT = 60.0  # s


class Paper(DummyOutput):
    def __init__(self, width, height):
        self.size = Size(rows=height, columns=width)

    def get_size(self):
        return self.size


class Typist:
    """A view, and what came out of it."""

    def __init__(self, pipe, size=(80, 24), entries=(), output=None):
        self.pipe, self.size = pipe, size
        self.keys, self.ran, self.ends = [], [], 0
        self.model = ActionModel()
        self.model.observe(ActionsSeen(tuple(entries)), 0.0)
        self.page = ActionsPage(self.model, lambda name, values: self.ran.append((name, values)), "F3")
        self.view = TerminalView(self.page, self.keys.append, self._end, pipe, output or Paper(*size))

    def _end(self):
        self.ends += 1

    def rows(self):
        """Return the screen as it is drawn now, line by line."""
        application = self.view.application
        with set_app(application):
            application.renderer.render(application, application.layout)
            cells = application.renderer.last_rendered_screen.data_buffer
        width, height = self.size
        return ["".join(cells[y][x].char for x in range(width)).rstrip() for y in range(height)]

    async def until(self, condition):
        deadline = time.monotonic() + WAIT
        while not condition() and time.monotonic() < deadline:
            await asyncio.sleep(0.005)
        assert condition(), (self.keys, self.ran, self.rows())

    async def type(self, *pieces):
        """Type, each piece after the one before has been read."""
        for piece in pieces:
            self.pipe.send_bytes(piece)
            await self.until(lambda: not _readable(self.pipe))


def _readable(pipe):
    return bool(select.select([pipe.fileno()], [], [], 0.0)[0])


def play(session, **options):
    """Let `session(typist)` run beside the application."""

    async def both(typist):
        running = asyncio.ensure_future(typist.view.application.run_async(set_exception_handler=False))
        try:
            await typist.until(lambda: typist.view.application.is_running)
            await session(typist)
        finally:
            typist.view.application.exit()
            await running

    with create_pipe_input() as pipe:
        typist = Typist(pipe, **options)
        asyncio.run(both(typist))
    return typist
