# SPDX-License-Identifier: MIT
"""What the command line tools have in common: output, a progress bar, and errors as sentences."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path
from typing import Callable, Optional, Sequence, TextIO, Tuple

from tqdm import tqdm

from shellbot_common import SettingsError, package_file
from shellbot_common.seed_streams import GREATEST_SEED
from shellbot_simulator.core.config import ENGINES, check_engine
from shellbot_simulator.core.errors import SimulatorError

from .errors import DefinitionError, EvaluationError
from .tables import split_at_markers

MOST_SEEDS = 100_000


def say(text: str) -> None:
    """Write a result to standard output; one that is closed, such as by ``| head``, does not end the tool."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show(text: str) -> None:
    """Write on standard error what goes on: over the text before on a terminal, a line elsewhere."""
    sys.stderr.write(f"\r\033[K{text}" if sys.stderr.isatty() else f"{text}\n")
    sys.stderr.flush()


def add_seeds(parser: argparse.ArgumentParser, default: Optional[str], what: str) -> None:
    """Add the option ``--seeds``, which `seeds_of` reads; `what` is a run of one seed."""
    shown = f" (default {default})" if default else ""
    parser.add_argument(
        "--seeds",
        "--repetitions",
        default=default,
        metavar="N|A:B",
        help=f"seeds 0 to N - 1, or A to B - 1: {what}{shown}",
    )


def robots_with(tool: str, besides: str) -> Tuple[str, ...]:
    """Return the robots, besides one, whose evaluation package has a module of that name, which a script starts."""
    files = package_file("robot_evaluation", "config").parents[1].glob(f"*_evaluation/src/*_evaluation/{tool}.py")
    return tuple(sorted({file.parent.name[: -len("_evaluation")] for file in files} - {besides}))


def add_simulators(parser: argparse.ArgumentParser, campaign: bool = True) -> None:
    """Add the option ``--simulator``, a list of engines; `one_simulator` reads it where only one can be used."""
    parser.add_argument(
        "--simulator",
        nargs="+",
        type=engine_of,
        choices=ENGINES,
        default=["mujoco"],
        help="physics engine (default mujoco)" + "; a campaign compares several" * campaign,
    )


def engine_of(text: str) -> str:
    """Return the name of an engine; for argparse, which refuses one that is not installed before the first run."""
    try:
        check_engine(text)
    except SimulatorError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def one_simulator(names: Sequence[str]) -> str:
    """Return the one engine of a list, of what is not a campaign.

    Raises
    ------
    DefinitionError
        If there are several.
    """
    if len(names) > 1:
        raise DefinitionError(f"--simulator {' '.join(names)} is for --campaign; name one of them")
    return names[0]


def add_out(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--out``: where reports and, meanwhile, the journal of an experiment go."""
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results/experiment"),
        metavar="DIR",
        help="folder of the reports: every run as CSV, JSON, Markdown and one HTML page (default results/experiment)",
    )


def seed_of(text: str) -> int:
    """Return one seed; for argparse, which names the option of a wrong one."""
    if not text.isdecimal() or int(text) > GREATEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is no seed; give a whole number from 0 to {GREATEST_SEED}")
    return int(text)


def file_of(text: str) -> Path:
    """Return the path of a file to be written; for argparse, which refuses a folder before the first run."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder; give the path of a file")
    return path


def add_page(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the option ``--write``; a page without the markers of `name` is refused before the first run."""

    def page(text: str) -> Path:
        try:
            split_at_markers(Path(text), name)
        except EvaluationError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return Path(text)

    shown = f"put the tables between '<!-- begin: {name} -->' and its end marker of this page"
    parser.add_argument("--write", type=page, metavar="PAGE", help=shown)


def seeds_of(text: str) -> range:
    """Return the seeds that ``N`` (0 to N - 1) or ``A:B`` (A to B - 1) stands for.

    Raises
    ------
    DefinitionError
        If it stands for none, for more than `MOST_SEEDS`, or for one beyond `GREATEST_SEED`.
    """
    first, _, end = text.rpartition(":")
    try:
        seeds = range(int(first or 0), int(end))
    except ValueError:
        seeds = range(0)
    if not seeds or seeds[0] < 0:
        raise DefinitionError(f"--seeds is '{text}'; give N of 1 or more, or A:B with 0 <= A < B")
    if seeds[-1] > GREATEST_SEED or seeds[-1] - seeds[0] >= MOST_SEEDS:
        raise DefinitionError(
            f"--seeds is '{text}'; give at most {MOST_SEEDS} seeds, each from 0 to {GREATEST_SEED}: each takes seconds"
        )
    return seeds


class Progress:
    """A bar on standard error, drawn in place on a terminal, one line a step elsewhere; `done` were done before."""

    def __init__(self, total: int, stream: Optional[TextIO] = None, done: int = 0) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._is_drawn = self._stream.isatty()
        drawn_on = self._stream if self._is_drawn else io.StringIO()
        self._bar = tqdm(total=total, initial=done, file=drawn_on, ascii=".#", miniters=1, dynamic_ncols=True)

    def step(self, text: str) -> None:
        """Count one step as done and show what it was."""
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update()
        if not self._is_drawn:
            self._stream.write(f"{self._bar}\n")
            self._stream.flush()
        if self._bar.n == self._bar.total:
            self._bar.close()


def run_tool(tool: Callable[[], int]) -> int:
    """Run a tool and turn the errors that a user can mend into one sentence on standard error; returns the status."""
    try:
        return tool()
    except (EvaluationError, SettingsError, SimulatorError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except OSError as error:  # such as a full disk
        file = error.filename or "a file"
        sys.stderr.write(f"error: {file} cannot be used: {error.strerror}; check path, rights and free space\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped by the user\n")
        return 130
