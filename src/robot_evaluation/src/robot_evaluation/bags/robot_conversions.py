# SPDX-License-Identifier: MIT
"""``bag_robot FILE robot_description|robot_profile``: prints the robot of a bag, for the parameters of a replay."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import List, Optional

from robot_evaluation.bags.read_conversions import DESCRIPTION, Bag
from robot_evaluation.console import run_tool, say
from robot_evaluation.errors import EvaluationError
from shellbot_common.robot_profile import PARAMETER


def robot_text(file: Path, what: str) -> str:
    """Return URDF or profile of the robot of a bag.

    Raises
    ------
    EvaluationError
        If the bag cannot be read, or has none.
    """
    with Bag(file) as bag:
        text = bag.text(f"{bag.namespace()}/{what}")
    if not text:
        raise EvaluationError(
            f"{file} does not say which robot it is of (no {what}: it was not recorded by record.launch); add "
            "robot:=NAME, such as robot:=humanoid"
        )
    return text


def main(argv: Optional[List[str]] = None) -> int:
    """Print the text; returns 0, or 2 after an error."""
    parser = argparse.ArgumentParser(prog="bag_robot", description=__doc__)
    parser.add_argument("bag", type=Path, metavar="FILE.bag")
    parser.add_argument("what", choices=(DESCRIPTION, PARAMETER))
    arguments = parser.parse_args(argv)

    def run() -> int:
        say(robot_text(arguments.bag, arguments.what))
        return 0

    return run_tool(run)


if __name__ == "__main__":
    sys.exit(main())
