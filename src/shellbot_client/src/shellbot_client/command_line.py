# SPDX-License-Identifier: MIT
"""A command line that takes every call of the Python client, in a terminal and, over pipes, for the operator's window.

Over pipes each line is a JSON object: ``{"run": TEXT}`` or ``{"complete": TEXT}`` comes in, ``{"text": TEXT}``,
``{"done": true}`` and ``{"completions": [TEXT, ...]}`` go out. SIGINT ends a call; the robot then stops where it can
stand.
"""

from __future__ import annotations

import argparse
import code
import contextlib
import inspect
import io
import itertools
import json
import os
import queue
import re
import rlcompleter
import signal
import sys
import threading
from typing import Any, Callable, Dict, List, Optional, TextIO, Tuple

from robot_evaluation.errors import DefinitionError
from shellbot_chain.errors import MissionFailed
from shellbot_common import SettingsError

from .robot import Shellbot

with contextlib.suppress(ImportError):
    import readline  # a terminal's history and completion

_SENTENCES = (MissionFailed, DefinitionError, SettingsError, KeyboardInterrupt)


def _calls() -> Dict[str, Callable[..., Any]]:
    """Return the methods that drive a robot, by name."""
    found = inspect.getmembers(Shellbot, inspect.isfunction)
    return {name: function for name, function in found if not name.startswith("_")}


def _print_help(of: Any = None) -> None:
    """Print the calls, or what one does."""
    if of is not None:
        sys.stdout.write(f"{inspect.getdoc(of) or 'it has no description'}\n")
        return
    for name, function in _calls().items():
        _, *arguments = inspect.signature(function).parameters.values()
        plain = ", ".join(str(each.replace(annotation=each.empty)) for each in arguments)
        sys.stdout.write(f"{name}({plain}): {(inspect.getdoc(function) or '').splitlines()[0]}\n")
    sys.stdout.write("robot.mode, robot.place; help(CALL) says more; everything else of Python works, too\n")


class CommandLine(code.InteractiveConsole):
    """Runs lines of Python in which the methods of a robot are functions.

    Parameters
    ----------
    connect : callable
        Returns the robot; called before the first line that runs, and again after it failed.
    """

    def __init__(self, connect: Callable[[], Shellbot]) -> None:
        # until there is a robot they stand for its calls, so that these can be completed
        self._names: Dict[str, Any] = {"robot": Shellbot, **_calls(), "Shellbot": Shellbot, "help": _print_help}
        super().__init__(self._names)
        self.completer = rlcompleter.Completer(self._names)
        self._connect = connect
        self._robot: Optional[Shellbot] = None

    def push(self, line: str, *others: Any, **options: Any) -> bool:
        """Run a line, and return whether it needs more of them."""
        try:
            self._join()
            return super().push(line, *others, **options)
        except _SENTENCES:
            self.showtraceback()
            self.resetbuffer()
            return False

    def _join(self) -> None:
        if self._robot is None:
            self._robot = self._connect().__enter__()
            self._names.update({name: getattr(self._robot, name) for name in _calls()}, robot=self._robot)

    def showtraceback(self) -> None:
        """Print what went wrong: in one sentence, where it is the robot's or the client's."""
        error = sys.exc_info()[1]
        if isinstance(error, _SENTENCES):
            self.write(f"{str(error) or 'interrupted'}\n")
        else:
            super().showtraceback()

    def completions(self, text: str) -> List[str]:
        """Return what a text that ends in a name may go on as, each a whole text."""
        name = re.search(r"[\w.]*$", text).group()  # type: ignore[union-attr]
        matches = map(self.completer.complete, itertools.repeat(name), itertools.count())
        found = itertools.takewhile(lambda match: match is not None, matches if name else ())
        return [f"{text[: len(text) - len(name)]}{match}" for match in found]

    def close(self) -> None:
        """Let the robot stop."""
        if self._robot is not None:
            self._robot.__exit__(None, None, None)


class _Out(io.TextIOBase):
    """Sends what is printed as JSON."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self.send(text=text)
        return len(text)

    def send(self, **message: Any) -> None:
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()


def _request(text: str) -> Tuple[str, str]:
    """Return what another program requests, "run" or "complete", and of what; raises ValueError for anything else."""
    message = json.loads(text)
    if isinstance(message, dict) and len(message) == 1:
        ((kind, words),) = message.items()
        if kind in ("run", "complete") and isinstance(words, str):
            return kind, words
    raise ValueError(text)


def _serve(line: CommandLine, source: TextIO, sink: TextIO) -> None:
    """Answer the requests of another program until it closes its pipe, or dies, which ends what runs."""
    out, requests, runs = _Out(sink), queue.Queue(), threading.Event()  # type: ignore[var-annotated]

    def read() -> None:
        for request in source:
            requests.put(request)
        requests.put(None)
        if runs.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=read, name="requests", daemon=True).start()
    while True:
        try:
            runs.clear()
            request = requests.get()
            if request is None:
                return
            try:
                kind, text = _request(request)
            except ValueError:
                out.send(text=f'{request.strip()} is no request; send {{"run": LINE}} or {{"complete": TEXT}}\n')
                continue
            if kind == "complete":
                out.send(completions=line.completions(text))
                continue
            runs.set()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):  # type: ignore[type-var]
                if line.push(text) and line.push(""):
                    line.resetbuffer()
                    out.write("the line is not complete: something is not closed\n")
            out.send(done=True)
        except KeyboardInterrupt:
            continue  # nothing is being run


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Every call of the Python client, line by line; help() lists them.")
    parser.add_argument("--simulated", action="store_true", help="a robot in this process; neither ROS nor a display")
    is_simulated = parser.parse_args(arguments).simulated
    line = CommandLine(Shellbot.simulated if is_simulated else Shellbot)
    try:
        if sys.stdin.isatty():
            if "readline" in sys.modules:
                readline.parse_and_bind("tab: complete")
                readline.set_completer(line.completer.complete)
            line.interact("Calls of the Python client; help() lists them.", "")
        else:
            _serve(line, sys.stdin, sys.stdout)
    finally:
        line.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
