# SPDX-License-Identifier: MIT
"""What the command line tools have in common: output, a progress bar, and errors as sentences."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Callable, Optional, TextIO

from shellbot_chain.errors import ChainError

from .errors import EvaluationError

BAR_WIDTH = 30


def say(text: str) -> None:
    """Write a result to standard output."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


class Progress:
    """A bar on standard error: drawn in place on a terminal, one line a step elsewhere."""

    def __init__(self, total: int, stream: Optional[TextIO] = None) -> None:
        self._total, self._done = total, 0
        self._stream = stream if stream is not None else sys.stderr
        self._start = time.monotonic()

    def step(self, text: str) -> None:
        """Count one step as done and show what it was."""
        self._done += 1
        filled = BAR_WIDTH * self._done // max(self._total, 1)
        line = f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {self._done}/{self._total}"
        line += f" {time.monotonic() - self._start:5.1f} s  {text}"
        if self._stream.isatty():
            self._stream.write("\r\033[K" + line + ("\n" if self._done == self._total else ""))
        else:
            self._stream.write(line + "\n")
        self._stream.flush()


def run_tool(tool: Callable[[], int]) -> int:
    """Run a tool and turn the errors that a user can mend into one sentence on standard error; returns the status."""
    try:
        return tool()
    except ChainError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped by the user\n")
        return 130


def config_file(name: str) -> Path:
    """Return a file of this package's config folder, in the source tree or installed.

    Raises
    ------
    EvaluationError
        If it is in neither.
    """
    for parent in Path(__file__).resolve().parents:
        for folder in (parent, parent / "share" / "shellbot_evaluation"):
            if (folder / "config" / name).is_file():
                return folder / "config" / name
    raise EvaluationError(f"config/{name} of shellbot_evaluation is not found; build and install the workspace again")
