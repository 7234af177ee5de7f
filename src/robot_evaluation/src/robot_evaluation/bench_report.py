# SPDX-License-Identifier: MIT
"""What every bench does with its tables: print them with the machine that made them, write them where requested."""

from __future__ import annotations

import argparse
import re
from typing import Any, Mapping

from robot_evaluation.console import add_page, file_of, say
from robot_evaluation.reports import machine, write_json
from robot_evaluation.tables import write_between_markers

_FILES = re.compile(r" --(?:json|write|logs)[ =]\S+")


def add_report_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Add --json and --write of the bench `name`."""
    parser.add_argument("--json", type=file_of, metavar="FILE", help="also write the figures to this file")
    add_page(parser, f"bench-{name}")


def report(arguments: argparse.Namespace, name: str, command: str, text: str, figures: Mapping[str, Any]) -> None:
    """Print and write the results of a bench.

    Parameters
    ----------
    arguments : argparse.Namespace
        With the options of `add_report_options`.
    name, command : str
        The bench's name, and how it was called; the page does not show where its files went.
    text : str
        Its tables as Markdown.
    figures : mapping
        What the JSON file holds beside the name of the bench and the machine.
    """
    about = machine()
    text += f"\nMade by `{_FILES.sub('', command)}` on {about['processor']}, {about['cores']} cores,"
    text += f" load {about['load_at_end']:.1f} at the end.\n"
    say(text)
    if arguments.json is not None:
        write_json(arguments.json, {"bench": name, "machine": about, **figures})
    if arguments.write is not None:
        write_between_markers(arguments.write, f"bench-{name}", text)
