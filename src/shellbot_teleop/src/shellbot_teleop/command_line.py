# SPDX-License-Identifier: MIT
"""Command line of window and terminal: they start before there is a parameter server, so settings are files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import List


def parse_arguments(arguments: List[str], description: str) -> argparse.Namespace:
    """Read the command line, ROS remappings taken out before."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--keymap", type=Path, help="key map YAML (default: the one of the package)")
    parser.add_argument("--config", type=Path, help="settings YAML (default: the one of the package)")
    parser.add_argument("--layout", default="", help="key layout at the start (default: the key map's)")
    return parser.parse_args(arguments)
