# SPDX-License-Identifier: MIT
"""Commands of a command line tool."""

from __future__ import annotations

import argparse
from typing import Any


def add_command(commands: Any, name: str, text: str, **options: Any) -> argparse.ArgumentParser:
    """Add a command to what ``add_subparsers`` returned; `text` explains it in the tool's ``--help`` and in its own."""
    added: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text, **options)
    return added
