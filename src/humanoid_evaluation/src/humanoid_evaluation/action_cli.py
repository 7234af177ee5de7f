# SPDX-License-Identifier: MIT
"""``scripts/action humanoid``: lists and checks motions, and makes one of recorded joints."""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Dict, Optional, Sequence, Tuple

import numpy as np

import humanoid_description
from humanoid_evaluation.robot import Robot
from humanoid_motion.joint_motion import joint_ranges
from humanoid_motion.motion_fitting import fit, play_error, recording_of, trimmed
from humanoid_motion.motions import HOLD, MotionReader, MotionSet, load_motions
from humanoid_motion.parameters import WalkError
from robot_evaluation.console import run_tool, say, seed_of
from robot_evaluation.joint_tables import read_joints
from robot_evaluation.tables import markdown_table
from shellbot_common import SettingsError, add_command
from shellbot_common.performance import Outcome
from shellbot_common.rotations import rpy_from_quaternion
from shellbot_simulator.core.config import load_config

_STAND = 1.0  # s before and after a motion
_COLUMNS = {
    "motion": "motion",
    "friction": "friction",
    "seconds": "seconds",
    "tilt_deg": "tilt of the torso / deg",
    "slip_mm": "moved on the floor / mm",
    "verdict": "verdict",
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/action humanoid",
        description=__doc__,
        epilog="on the running robot, whatever robot it is: scripts/action humanoid run MOTION",
    )
    commands = p.add_subparsers(dest="command", required=True, metavar="list|check|record")
    own = argparse.ArgumentParser(add_help=False)
    own.add_argument("--motions-file", type=Path, default="", metavar="FILE", help="with motions of your own")
    add_command(commands, "list", "names, frames and durations", parents=[own])
    check = add_command(commands, "check", "play motions in the simulator: does it stay on its feet?", parents=[own])
    check.add_argument("motion", nargs="*", help="names; all by default")
    check.add_argument("--friction", type=float, nargs="+", default=[0.6, 0.8, 1.0], help="(default 0.6 0.8 1.0)")
    check.add_argument("--seed", type=seed_of, default=0, help="of start and noise (default 0)")
    record = add_command(commands, "record", "make a motion of recorded joint_states")
    record.add_argument("motion", help="its name")
    record.add_argument("--from-file", type=Path, required=True, metavar="FILE", help="a bag, or a table (.csv)")
    record.add_argument("--out", type=Path, required=True, metavar="FILE.yaml", help="new, or one that it is added to")
    record.add_argument("--text", default="", help="what it does, in a few words")
    record.add_argument("--tolerance-deg", type=float, default=1.0, help="of each joint (default 1)")
    record.add_argument("--begin", type=float, default=0.0, metavar="S", help="leave out what is before (default 0)")
    record.add_argument("--end", type=float, default=math.inf, metavar="S", help="and behind (default: its end)")
    record.add_argument("--ns", metavar="NAMESPACE", help="of the robot, where the bag has several")
    return p


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run the tool; returns 0, 1 if a motion is red or failed, 2 after an error."""
    arguments = parser().parse_args(argv)
    return run_tool(lambda: {"list": _list, "check": _check, "record": _record}[arguments.command](arguments))


def motions_of(file: str) -> MotionSet:
    """Return the motions delivered, and those of a user's file unless it is empty; raises as `load_motions`."""
    return load_motions(_reader(), file)


def _reader() -> MotionReader:
    return MotionReader.of_robot(humanoid_description.urdf_text(), humanoid_description.profile())


def _list(arguments: argparse.Namespace) -> int:
    for name, motion in motions_of(_given(arguments.motions_file)).performed.items():
        end = ", holds its last frame" if motion.then == HOLD else ""
        say(f"{name}: {motion.text} ({len(motion.times)} frames, {motion.times.sum():.1f} s{end})")
    return 0


def _given(file: Path) -> str:
    """Return a path as it was given: that of no argument is empty, not the present folder."""
    return str(file) if str(file) not in ("", ".") else ""


def _check(arguments: argparse.Namespace) -> int:
    file = _given(arguments.motions_file)
    motions = motions_of(file).performed
    for name in arguments.motion:
        if name not in motions:
            raise WalkError(f"there is no motion {name!r}; there are {', '.join(motions)}")
    rows = [
        played(name, friction, arguments.seed, file)
        for name in arguments.motion or motions
        for friction in arguments.friction
    ]
    say(markdown_table(rows, _COLUMNS, {"friction": 2, "seconds": 1, "tilt_deg": 1, "slip_mm": 0}))
    return 1 if any(row["verdict"] != "green" for row in rows) else 0


def played(name: str, friction: float, seed: int, file: str) -> Dict[str, object]:
    """Return a row of the table: a motion performed by a robot that stands, and a second after it."""
    robot = Robot(replace(load_config(), friction=friction), seed=seed, motions_file=file)
    while robot.time < _STAND:
        robot.tick()
    place, begin, tilt, after = robot.state.p_world_base[:2], robot.time, 0.0, 0.0
    robot.core.perform(name)
    while robot.core.performer.is_active or after < _STAND:
        robot.tick()
        if robot.core.performer.is_active:
            seconds = robot.time - begin
        else:
            after = robot.time - begin - seconds
        tilt = max(tilt, *np.abs(rpy_from_quaternion(*robot.state.quat_world_base)[:2]).tolist())
    status = robot.core.performer.status
    assert status is not None
    text = "the robot falls" if robot.core.has_fallen else status.text
    return {
        "motion": name,
        "friction": friction,
        "seconds": seconds,
        "tilt_deg": math.degrees(tilt),
        "slip_mm": 1e3 * float(np.linalg.norm(robot.state.p_world_base[:2] - place)),
        "verdict": "green" if status.outcome is Outcome.SUCCEEDED and not robot.core.has_fallen else f"RED: {text}",
    }


def _joints(arguments: argparse.Namespace) -> Tuple[Sequence[str], Sequence[float], np.ndarray]:
    if arguments.from_file.suffix.lower() == ".csv":
        return read_joints(arguments.from_file)
    module = importlib.import_module("robot_evaluation.bags.joint_conversions")
    track = module.read_joint_states(arguments.from_file, arguments.ns)
    return track.names, track.t, track.position


def _record(arguments: argparse.Namespace) -> int:
    name, out = arguments.motion, arguments.out
    if not 0.2 <= arguments.tolerance_deg <= 20.0:
        raise WalkError(f"--tolerance-deg is {arguments.tolerance_deg:g}; give 0.2 to 20")
    if name in load_motions(_reader(), out if out.exists() else "").performed:
        where = out if out.exists() else "the robot"
        raise WalkError(f"{where} has a motion {name} already; give another name or file")
    urdf, profile = humanoid_description.urdf_text(), humanoid_description.profile()
    ranges, stance = joint_ranges(urdf, profile), np.array(list(profile.pose(profile.base.spawn_pose).values()))
    tolerance = math.radians(arguments.tolerance_deg)
    try:
        recording = recording_of(*_joints(arguments), ranges, (arguments.begin, arguments.end))
        recording = trimmed(recording, tolerance)
    except WalkError as error:
        raise WalkError(f"{arguments.from_file}: {error}") from None
    fitted = fit(recording, ranges, stance, tolerance)
    source = f"{arguments.from_file.name}, from {recording.begin:.2f} s on"
    added = f"# {source}\n{fitted.lines(name, arguments.text or f'recorded: {source}')}"
    before = out.read_text(encoding="utf-8").rstrip("\n") + "\n" if out.exists() else ""
    trial = out.with_name(f".{out.name}.new")
    try:  # what is written is what the robot reads
        trial.write_text(before + added, encoding="utf-8")
        motion = load_motions(_reader(), trial).performed[name]
        os.replace(trial, out)
    except WalkError as error:
        raise SettingsError(f"{name} is not saved: {str(error).replace(str(trial), str(out))}") from None
    finally:
        trial.unlink(missing_ok=True)
    off, longer = play_error(motion, recording, fitted.times)
    worst = int(off.argmax())
    slower = f", {longer:.2f} times as long as recorded, because joints would be too fast" if longer > 1.01 else ""
    end = "holds its last frame" if fitted.then == HOLD else "goes back to its stance"
    stated = f"within {math.degrees(off[worst]):.2f} deg of the recording (worst {list(ranges)[worst]})"
    size = f"{len(fitted.times)} frames of {len(fitted.joints)} joints, {recording.t[-1]:.2f} s{slower}"
    say(f"{name} in {out}: {size}; {stated}; at its end the robot {end}")
    say(f"next: scripts/action humanoid check {name} --motions-file {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
