# SPDX-License-Identifier: MIT
"""Command line of scripts/bench."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from robot_evaluation.bench_report import add_report_options, report
from robot_evaluation.console import robots_with, run_tool
from robot_evaluation.errors import DefinitionError
from robot_evaluation.tables import markdown_table
from shellbot_common import add_command


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    common = argparse.ArgumentParser(add_help=False)
    add_report_options(common, "NAME")
    launches = argparse.ArgumentParser(add_help=False, parents=[common])
    launches.add_argument("--logs", type=Path, default=Path("results/bench"), help="folder for logs of launches")
    p = argparse.ArgumentParser(prog="scripts/bench", description="Speed and latency of the chain, on this machine.")
    kinds = p.add_subparsers(dest="what")
    chain = add_command(kinds, "chain", "the chain in one process, without ROS", parents=[common])
    chain.add_argument("--seconds", type=float, default=10.0, help="simulated seconds of each situation (default 10)")
    chain.add_argument("--timestep", type=float, default=0.002, help="s, step of the physics (default 0.002)")
    workers = add_command(kinds, "workers", "a batch of experiments with one and two workers", parents=[common])
    workers.add_argument("--rounds", type=int, default=3, help="batches of each (default 3)")
    add_command(kinds, "actions", "planning and performing the actions of the library", parents=[common])
    dynamics = add_command(kinds, "dynamics", "rigid-body dynamics beside Pinocchio", parents=[common])
    dynamics.add_argument("--rounds", type=int, default=20, help="of each case (default 20)")
    dynamics.add_argument("--seconds", type=float, default=0.05, help="of processor time a round (default 0.05)")
    dynamics.add_argument(
        "--peers-env", type=Path, default=Path("build/bench_kinematics"), help="the peer's environment"
    )
    ros = add_command(kinds, "ros", "the real launch, headless", parents=[launches])
    ros.add_argument("--rtf", type=float, nargs="+", default=[1.0, 0.0], help="real-time factors (default 1 0)")
    ros.add_argument("--seconds", type=float, default=20.0, help="wall seconds of walking (default 20)")
    ros.add_argument("--samples", type=int, default=50, help="commands whose latency is measured (default 50)")
    teleop = add_command(kinds, "teleop", "keys through the real window on a virtual display", parents=[launches])
    teleop.add_argument("--samples", type=int, default=100, help="key strokes (default 100)")
    operator = add_command(kinds, "operator", "operators that are killed or cut off as they drive", parents=[launches])
    operator.add_argument("--samples", type=int, default=50, help="of each kind (default 50)")
    operator.set_defaults(driven_with="window")
    for name, text in (
        ("page", "with the page in headless Chromium, not the window"),
        ("netns", "with the window in a network namespace, which is cut off; needs root"),
        ("joystick", "with a joystick, not the window; its messages end, too, as when it is unplugged"),
    ):
        operator.add_argument(f"--{name}", dest="driven_with", action="store_const", const=name, help=text)
    for name, text in (
        ("kinematics", "the kinematics library against its peers, which are installed in an environment of their own"),
        ("bus", "the servo bus on an emulated chain, beside dynamixel-sdk"),
    ):
        add_command(kinds, name, text, add_help=False)  # these have a command line of their own
    for robot in robots_with("bench_cli", "shellbot"):  # scripts/bench starts them
        add_command(kinds, robot, f"another robot: scripts/bench {robot} --help", add_help=False)
    kinds.metavar = "|".join(kinds.choices)
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns the exit status: 1 if a limit is not met."""
    given = sys.argv[1:] if argv is None else argv
    if given[:1] == ["kinematics"]:
        from .bench_kinematics.cli import main as bench_kinematics

        return bench_kinematics(given[1:])
    if given[:1] == ["bus"]:
        from .bench_bus.cli import main as bench_bus

        return bench_bus(given[1:])
    p = parser()
    arguments = p.parse_args(argv)
    if arguments.what is None:
        p.error("name what to measure; scripts/bench --help lists it")
    return run_tool(lambda: _run(arguments, "scripts/bench " + " ".join(sys.argv[1:] if argv is None else argv)))


def _run(arguments: argparse.Namespace, command: str) -> int:
    benches = {"chain": _chain, "actions": _actions, "dynamics": _dynamics, "ros": _ros, "teleop": _teleop}
    benches.update(operator=_operator, workers=_workers)
    # before anything is installed or started
    for name, least in (("rounds", 1), ("samples", 1), ("seconds", 0.01), ("rtf", 0)):
        for value in np.ravel(getattr(arguments, name, least)):
            if not least <= value < math.inf:
                raise DefinitionError(f"--{name} is {value:g}; give {least:g} or more")
    text, figures, met = benches[arguments.what](arguments)
    driven_with = getattr(arguments, "driven_with", "window")
    name = arguments.what if driven_with == "window" else driven_with
    report(arguments, name, command, text, figures)
    return 0 if met else 1


def _chain(arguments: argparse.Namespace) -> Tuple[str, Dict[str, Any], bool]:
    from .bench_chain import (
        COLUMNS,
        DIGITS,
        FEED_FORWARD_US,
        REQUIRED_TIMES_REAL_TIME,
        bench_chain,
        fast_enough,
        feed_forward_us,
    )

    results, longer = bench_chain(arguments.seconds, arguments.timestep), feed_forward_us(arguments.seconds)
    rows = [asdict(result) for result in results]
    met = fast_enough(results) and longer["manager"] <= FEED_FORWARD_US
    text = markdown_table(rows, COLUMNS, DIGITS)
    required = ", ".join(f"{situation} {times:g} ×" for situation, times in REQUIRED_TIMES_REAL_TIME.items())
    text += f"\nStep of the physics {1e3 * arguments.timestep:g} ms, one core. Required: {required} real time;"
    text += f" {'met' if fast_enough(results) else 'NOT met'} by CPU time.\n"
    text += f"Torques fed forward lengthen a tick of the action manager by {longer['manager']:.1f} us (required:"
    text += f" {FEED_FORWARD_US:g}, {'met' if longer['manager'] <= FEED_FORWARD_US else 'NOT met'}),"
    text += f" that of all that computes joint targets by {longer['all']:.1f} us.\n"
    return text, {"timestep_s": arguments.timestep, "rows": rows, "feed_forward_us": longer, "met": met}, met


def _workers(arguments: argparse.Namespace) -> Tuple[str, Dict[str, Any], bool]:
    from .bench_workers import COLUMNS, DIGITS, REQUIRED, bench_workers

    rows = bench_workers(rounds=arguments.rounds)
    met = rows[1]["speed_up"] >= REQUIRED
    text = markdown_table(rows, COLUMNS, DIGITS)
    text += f"\nMedians of {arguments.rounds} batches. Required: {REQUIRED:g} times as fast with two workers,"
    text += f" of a machine without other work; {'met' if met else 'NOT met'}.\n"
    return text, {"rows": rows, "met": met}, met


def _actions(_arguments: argparse.Namespace) -> Tuple[str, Dict[str, Any], bool]:
    from .bench_actions import COLUMNS, DIGITS, PLANNING_MS, TICK_MS, bench_actions, fast_enough

    rows = bench_actions()
    met = fast_enough(rows)
    text = markdown_table(rows, COLUMNS, DIGITS)
    text += f"\nRequired: planning of up to ten steps {PLANNING_MS:g} ms, a tick {TICK_MS:g} ms at the 99th percentile;"
    text += f" {'met' if met else 'NOT met'}.\n"
    return text, {"rows": rows, "met": met}, met


def _dynamics(arguments: argparse.Namespace) -> Tuple[str, Dict[str, Any], bool]:
    from .bench_dynamics import BATCH_GOAL, RATIOS, STRAIGHT, TOOLBOX, bench_dynamics

    rows, ratios, missing = bench_dynamics(arguments.peers_env.resolve(), arguments.rounds, arguments.seconds)
    columns = {"case": "case", "ours": "ours / µs", "pinocchio": "Pinocchio from Python / µs"}
    columns.update(cpp="Pinocchio in C++ / µs", ratio="ratio", toolbox="Robotics Toolbox / µs")
    text = markdown_table(rows, columns, {"ours": 3, "pinocchio": 2, "cpp": 3, "ratio": 2, "toolbox": 0})
    goals = {name: goal for name, (_, goal) in RATIOS.items()}
    goals.update({"batch_rnea_m_per_s": BATCH_GOAL, STRAIGHT[0]: STRAIGHT[1], TOOLBOX[0]: TOOLBOX[-1]})
    reached = [f"{name} {ratio:.2f} of {goals[name]:g}" for name, ratio in ratios.items()]
    reached += [f"{name} not measured (required: {goal:g})" for name, goal in goals.items() if name not in ratios]
    text += f"\nMedians of {arguments.rounds} rounds. {missing}{'; '.join(reached)}.\n"
    met = all(
        ratios.get(name, 0.0) >= goal for name, goal in goals.items()
    )  # a figure that was not measured is not met
    return text, {"rows": rows, "ratios": ratios, "met": met}, met


def _ros(arguments: argparse.Namespace) -> Tuple[str, Dict[str, Any], bool]:
    from .bench_ros import bench_ros, ros_text

    results = [bench_ros(rtf, arguments.seconds, arguments.samples, arguments.logs) for rtf in arguments.rtf]
    text, met = ros_text(results)
    return text, {"launches": results, "met": met}, met


def _teleop(arguments: argparse.Namespace) -> Tuple[str, Dict[str, Any], bool]:
    from .bench_teleop import bench_teleop, teleop_text

    figures = bench_teleop(arguments.samples, arguments.logs)
    text, met = teleop_text(figures)
    return text, figures, met


def _operator(arguments: argparse.Namespace) -> Tuple[str, Dict[str, Any], bool]:
    from .bench_teleop import bench_operator, operator_text

    samples = bench_operator(arguments.samples, arguments.logs, arguments.driven_with)
    text, met = operator_text(samples)
    return text, {"samples": samples, "met": met}, met


if __name__ == "__main__":
    sys.exit(main())
