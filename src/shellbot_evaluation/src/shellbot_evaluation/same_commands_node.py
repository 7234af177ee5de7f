# SPDX-License-Identifier: MIT
"""``scripts/experiment same``: the same commands to the robot that runs, such as in Gazebo, and to the chain here."""

from __future__ import annotations

import argparse
import sys
from typing import List, Optional, Sequence

from robot_evaluation.console import add_page, seed_of
from robot_evaluation.errors import EvaluationError
from robot_evaluation.running_trace_node import RunningTrace
from robot_evaluation.tables import write_between_markers
from shellbot_client import Shellbot

from .same_commands import CASES, REST, Case, Track, chain_tracks, compare, table, track_of


def running_tracks(cases: Sequence[Case], names: Sequence[str]) -> List[Track]:
    """Return the cases one after the other on the robot that runs."""
    tracks = []
    with Shellbot() as robot:
        topics = RunningTrace(tuple(names))
        robot.go_to("hexapod")
        robot.wait(1.0)
        for case in cases:
            topics.forget()
            robot.drive(case.seconds, x=case.x, deg_s=case.deg_s)
            robot.wait(REST)
            tracks.append(track_of(topics.trace()))
    return tracks


def main(argv: Optional[List[str]] = None) -> int:
    """Run the comparison and print its table."""
    parser = argparse.ArgumentParser(prog="scripts/experiment same", description=__doc__)
    parser.add_argument("--seed", type=seed_of, default=1, help="of the chain in this process; 1")
    add_page(parser, "same")
    arguments = parser.parse_args(argv)
    try:
        with Shellbot():  # where no robot runs, this says so before a minute of simulation
            pass
        names, mass, ours = chain_tracks(CASES, arguments.seed)
        text = table(compare(CASES, ours, running_tracks(CASES, names), mass))
        sys.stdout.write(text + "\n")
        if arguments.write:
            write_between_markers(arguments.write, "same", text)
    except EvaluationError as error:
        sys.stderr.write(f"scripts/experiment same: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
