# SPDX-License-Identifier: MIT
"""scripts/plot bag: tables and plots of a recorded run."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any, Dict, List, Tuple

from robot_evaluation.console import Progress, say
from robot_evaluation.errors import EvaluationError
from robot_evaluation.joint_tables import write_joints
from robot_evaluation.tables import markdown_table

from .analysis import left_out, tables
from .data import CONTACT_TOPICS, ODOMETRY_TOPICS, WRENCHES, BagData
from .figure import draw

PARTS = ("tracking", "latency", "contacts", "velocity")
HEADS: Dict[str, Dict[str, str]] = {
    "tracking": {
        "class": "class",
        "joints": "joints",
        "rms": "error, RMS / °",
        "max": "largest / °",
        "worst": "joint that errs most",
        "delay": "delay / ms",
    },
    "latency": {
        "topic": "topic",
        "messages": "messages",
        "period": "period / ms",
        "longest": "longest / ms",
        "missing": "missing",
        "answered": "ticks answered / %",
        "after": "after joint_states, median / ms",
        "after99": "99 % / ms",
    },
    "contacts": {
        "source": "topic",
        "contact": "contact",
        "touching": "touching / %",
        "touchdowns": "touchdowns",
        "mean": "mean contact / s",
    },
    "velocity": {
        "source": "topic",
        "seconds": "commanded for / s",
        "x_commanded": "x commanded / (m/s)",
        "x_measured": "measured",
        "y_commanded": "y commanded / (m/s)",
        "y_measured": "measured ",
        "yaw_commanded": "yaw commanded / (°/s)",
        "yaw_measured": "measured  ",
    },
}
DIGITS = {"rms": 2, "max": 2, "delay": 0, "period": 1, "longest": 1, "answered": 1, "after": 1, "after99": 1}
DIGITS.update(touching=1, mean=2, seconds=1, yaw_commanded=1, yaw_measured=1)
TITLES = {
    "tracking": "Tracking: commanded against measured joints",
    "latency": "Latency: periods by stamps, arrival by the recorder's clock, which in a simulation goes by ticks",
    "contacts": "Contacts",
    "velocity": "Velocity, mean while one is commanded",
}


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to those of scripts/plot."""
    text = "tracking, latency, contacts and velocity of a recorded run"
    p = commands.add_parser("bag", parents=[common], help=text, description=text)
    p.add_argument("bag", type=Path, metavar="FILE.bag", help="recorded by roslaunch shellbot_bringup record.launch")
    p.add_argument("--parts", nargs="+", choices=PARTS, help="only these (default: all that the bag has topics for)")
    p.add_argument("--ns", metavar="NAMESPACE", help="of the robot, where the bag has several")
    p.add_argument("--csv", type=Path, metavar="FILE", help="write joint_states as a table, too: t, and each joint")


def run(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Print the tables, and return the figure and its name.

    Raises
    ------
    EvaluationError
        If the bag cannot be read, or lacks what was requested.
    """
    module = importlib.import_module("robot_evaluation.bags.read_conversions")
    data: BagData = module.read_bag(arguments.bag, arguments.ns, lambda count: Progress(count).step)
    lacks = {part: sentence for part, sentence in missing(data).items() if sentence}
    for part in arguments.parts or ():
        if part in lacks:
            raise EvaluationError(lacks[part])
    parts = [part for part in arguments.parts or PARTS if part not in lacks]
    if not parts:
        raise EvaluationError("; ".join(lacks.values()))
    found = tables(data, parts)
    if parts == ["tracking"] and not found["tracking"]:
        raise EvaluationError(f"{data.file}: {_nothing('tracking')}")
    for part, rows in found.items():
        say(f"\n{TITLES[part]}\n")
        say(markdown_table(rows, HEADS[part], DIGITS) if rows else _nothing(part))
    for sentence in lacks.values() if not arguments.parts else ():
        say(f"note: {sentence}")
    if data.profile is not None and data.missing_joints(data.profile.joint_names):
        say(f"note: joint_states lack {', '.join(data.missing_joints(data.profile.joint_names))}")
    for name, track in data.joints.items():
        if track.bad:
            count = next(n for topic, n in data.messages.items() if topic.endswith(f"/{name}"))
            say(f"note: {track.bad} of {count} {name} lack a number for a joint that they name; it is skipped there")
    if "tracking" in parts and left_out(data):
        say(f"note: no tracking of {', '.join(left_out(data))}: never commanded, or never measured")
    if arguments.csv is not None:
        _write(arguments.csv, data)
    return draw(data, parts, arguments.show), f"bag_{arguments.bag.stem}"


def missing(data: BagData) -> Dict[str, str]:
    """Return for each part what the bag lacks, as a sentence that says how to record it; empty if nothing."""
    joints: List[str] = [name for name in ("joint_states", "joint_targets") if name not in data.joints]
    needs = {
        "tracking": " and ".join(joints),
        "latency": "" if data.stamps else "joint_states, joint_targets and every other topic of the chain",
        "contacts": "" if data.contacts else f"{', '.join(CONTACT_TOPICS)} and {WRENCHES}LINK",
        "velocity": "" if data.poses and data.cmd_vel else _velocity_needs(data),
    }
    purpose = {"tracking": "joints", "latency": "joints"}
    return {
        part: f"no {part}: {data.file} lacks {lacks}; record with roslaunch shellbot_bringup record.launch "
        f"purpose:={purpose.get(part, 'walk')}"
        if lacks
        else ""
        for part, lacks in needs.items()
    }


def _velocity_needs(data: BagData) -> str:
    return " and ".join(
        words for words, there in (("cmd_vel", data.cmd_vel), (" or ".join(ODOMETRY_TOPICS), data.poses)) if not there
    )


def _nothing(part: str) -> str:
    return {
        "tracking": "no joint is both commanded and measured",
        "latency": "no topic has two messages",
        "contacts": "nothing ever touches",
        "velocity": "no velocity other than zero was commanded",
    }[part]


def _write(path: Path, data: BagData) -> None:
    track = data.joints.get("joint_states")
    if track is None:
        raise EvaluationError(f"--csv needs joint_states, and {data.file} lacks them; record with purpose:=joints")
    try:
        write_joints(path, track.names, track.t.tolist(), track.position)
    except OSError as error:
        raise EvaluationError(f"{path} cannot be written: {error.strerror}") from None
    say(f"joints in {path}")
