# SPDX-License-Identifier: MIT
"""Command line of scripts/plot: pictures of workspaces, frames, bodies and recorded runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

from robot_evaluation import plot_bodies, plot_model
from robot_evaluation.bags import cli as bag_cli
from robot_evaluation.console import run_tool, say
from robot_evaluation.errors import DefinitionError
from robot_evaluation.plot_canvas import check_file, finish
from robot_mechanics import KinematicsError
from shellbot_action_manager.errors import ActionManagerError
from shellbot_description import DescriptionError

from . import plot_frames, plot_shellbot, spring_figure
from .plot_parser import check, parse, parser

__all__ = ["main", "parser"]

FOLDER = Path("results/plots")
Tool = Callable[[argparse.Namespace], Tuple[Any, str]]
SHELLBOT: Dict[str, Tool] = {
    "reach": plot_shellbot.reach,
    "walkspace": plot_shellbot.walkspace_of,
    "singularity": plot_shellbot.singularity,
    "frames": plot_frames.frames,
    "bodies": plot_bodies.run,
    "bag": bag_cli.run,
    "stability": spring_figure.run,
}
OTHER: Dict[str, Tool] = {
    "reach": plot_model.reach,
    "singularity": plot_model.singularity,
    "frames": plot_model.frames,
}


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0, or 2 after an error."""
    arguments = parse(argv)
    return run_tool(lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> int:
    check(arguments)
    if arguments.out is not None:
        check_file(arguments.out)
    tools = SHELLBOT if getattr(arguments, "model", None) is None else OTHER
    try:
        figure, name = tools[arguments.what](arguments)
    except (KinematicsError, ActionManagerError, DescriptionError) as error:
        raise DefinitionError(str(error)) from None
    path = check_file(FOLDER / f"{name}.png") if arguments.out is None else arguments.out
    finish(figure, path, arguments.show)
    say(f"picture in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
