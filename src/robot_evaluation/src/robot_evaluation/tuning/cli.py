# SPDX-License-Identifier: MIT
"""scripts/tune: step responses of joint classes in the embedded simulator, and proposed gains."""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

from robot_evaluation.console import Progress, file_of, run_tool, say
from robot_evaluation.errors import EvaluationError
from robot_evaluation.plot_canvas import check_display, check_file, finish
from robot_evaluation.tables import markdown_table
from shellbot_common import RobotProfile
from shellbot_control import Gains, GainTable
from shellbot_control.gain_presets import clamped
from shellbot_control.gains_file import GainsFile

from .figure import draw
from .response import Joint, Response, identify, propose
from .step import StepRig

FOLDER = Path("results/plots")
FITS = 0.1  # RMS misfit, as a fraction of the step, beyond which a joint is no second-order system
HEADS = {
    "class": "class",
    "joint": "joint",
    "p": "P",
    "d": "D",
    "rise": "rise / ms",
    "overshoot": "overshoot / %",
    "settling": "settling / ms",
    "error": "steady error / °",
    "torque": "torque / % of limit",
    "ratio": "damping ratio",
    "misfit": "misfit / %",
}
DIGITS = {"p": 2, "d": 3, "rise": 1, "overshoot": 1, "settling": 0, "error": 2, "torque": 0, "ratio": 2, "misfit": 1}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/tune",
        description="Steps every joint of a class, one after the other, in the embedded simulator, its base held in "
        "the air, and prints rise time (10 to 90 %), overshoot, settling time (to 5 % of the step) and steady error. "
        "Proposes gains: D for the damping ratio, P for the sag if one is given; docs/gains.md has the rule.",
        epilog="example: scripts/tune arm --classes large --save arm_gains.yaml; scripts/gains load arm_gains.yaml",
    )
    p.add_argument("robot", nargs="?", default="shellbot", help="shellbot (default), arm, snake, humanoid")
    p.add_argument("arguments", nargs="*", metavar="NAME:=VALUE", help="of its description, such as modules:=8")
    p.add_argument("--classes", nargs="+", metavar="CLASS", help="joint classes (default: all)")
    p.add_argument("--gains", type=Path, metavar="FILE.yaml", help="gains to try, as scripts/gains saves them")
    p.add_argument("--pose", default="", help="to step from (default: stand, else the spawn pose)")
    p.add_argument("--weightless", action="store_true", help="without gravity, for what cannot hold itself up")
    p.add_argument("--step-deg", type=float, default=2.0, metavar="DEG", help="height of the step (default 2)")
    p.add_argument("--seconds", type=float, default=1.5, metavar="S", help="recorded after the step (default 1.5)")
    p.add_argument("--damping-ratio", type=float, default=0.7, metavar="Z", help="to propose D for (default 0.7)")
    p.add_argument(
        "--sag-deg", type=float, metavar="DEG", help="greatest steady error to propose P for (default: P stays)"
    )
    p.add_argument("--save", type=file_of, metavar="FILE.yaml", help="write the proposed gains, for scripts/gains load")
    p.add_argument("--out", type=Path, metavar="FILE", help="picture (default results/plots/tune_ROBOT.png)")
    p.add_argument("--show", action="store_true", help="open it in a window, too")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0, or 2 after an error."""
    arguments = parser().parse_args(argv)
    return run_tool(lambda: run(arguments))


def run(arguments: argparse.Namespace) -> int:
    """Step, print, propose, try the proposal; returns 0.

    Raises
    ------
    EvaluationError
        If robot, class, pose or numbers cannot be used.
    """
    check_numbers(arguments)
    check_display(arguments.show)
    out = check_file(arguments.out or FOLDER / f"tune_{arguments.robot}.png")
    module = importlib.import_module("robot_evaluation.tuning.described_robot_conversions")
    urdf, text = module.described_robot(arguments.robot, arguments.arguments)
    profile = RobotProfile.from_text(text, f"profile of {arguments.robot}")
    table = GainTable.from_profile(profile)
    if arguments.gains is not None:
        table = tried(table, GainsFile.load(arguments.gains), profile)
    gains = {kind: table.class_gains(kind) for kind in table.classes}
    rig = StepRig(urdf, profile, arguments.pose, arguments.weightless)
    kinds = arguments.classes or list(dict.fromkeys(profile.joints[name] for name in profile.motor_joints))
    joints = {kind: rig.motors(kind) for kind in kinds}
    progress = Progress(2 * sum(len(names) for names in joints.values()))

    def measure(in_force: Mapping[str, Gains], series: str) -> Dict[str, List[Response]]:
        found: Dict[str, List[Response]] = {}
        for kind, names in joints.items():
            for name in names:
                response = rig.response(name, in_force, math.radians(arguments.step_deg), arguments.seconds)
                found.setdefault(kind, []).append(response)
                progress.step(f"{series} {name}")
        return found

    present = measure(gains, "present")
    proposed = dict(gains)
    notes: List[str] = []
    for kind, responses in present.items():
        proposed[kind], words = proposal(kind, responses, gains[kind], arguments, profile)
        notes += words
    after = measure(proposed, "proposed")
    say(f"{arguments.robot} in pose {rig.pose}, step of {arguments.step_deg:g} deg; the worst joint of each class\n")
    rows = [row for kind in present for row in (table_row(kind, present[kind], gains[kind], ""),
            table_row(kind, after[kind], proposed[kind], "proposed "))]  # fmt: skip
    say(markdown_table(rows, HEADS, DIGITS))
    for note in notes:
        say(f"note: {note}")
    if arguments.save is not None:
        chosen = GainTable({kind: proposed[kind] for kind in kinds})
        GainsFile.of_table(profile.name, chosen).save(arguments.save)
        say(f"gains in {arguments.save}; next: scripts/gains load {arguments.save}")
    shown = {kind: {"present": present[kind], "proposed": after[kind]} for kind in present}
    finish(draw(f"{arguments.robot}: step of {arguments.step_deg:g}°", shown, arguments.show), out, arguments.show)
    say(f"picture in {out}")
    return 0


def check_numbers(arguments: argparse.Namespace) -> None:
    """Check the ranges of the options.

    Raises
    ------
    EvaluationError
        If a number is out of range.
    """
    ranges = {"step_deg": (0.1, 45.0), "seconds": (0.2, 10.0), "damping_ratio": (0.1, 2.0), "sag_deg": (0.01, 20.0)}
    for name, (low, high) in ranges.items():
        value = getattr(arguments, name)
        if value is not None and not low <= value <= high:
            raise EvaluationError(f"--{name.replace('_', '-')} is {value:g}; give {low:g} to {high:g}")


def tried(table: GainTable, file: GainsFile, profile: RobotProfile) -> GainTable:
    """Return a table with the gains of a file, within the ranges of the robot's page."""
    changes, notices = clamped(file.changes(profile.name, profile.classes), profile)
    for notice in notices:
        say(f"note: {notice.text}")
    return GainTable.from_page({**table.to_page(), **changes}, table.classes)


def proposal(
    kind: str, responses: Sequence[Response], gains: Gains, arguments: argparse.Namespace, profile: RobotProfile
) -> Any:
    """Return the proposed gains of a class, and remarks on them."""
    notes: List[str] = []
    joints: Dict[str, Joint] = {response.joint: identify(response, gains) for response in responses}
    odd = [name for name, joint in joints.items() if joint.misfit > FITS]
    heaviest = max([name for name in joints if name not in odd] or joints, key=lambda name: joints[name].inertia)
    if odd:
        notes.append(
            f"{kind}: {', '.join(odd)} does not move like one inertia on a spring (other joints of its limb "
            "yield, or the torque is at its limit); check the proposal by its row"
        )
    worst = max(abs(response.steady_error) for response in responses)
    factor = 1.0 if arguments.sag_deg is None else max(worst / math.radians(arguments.sag_deg), 1.0)
    proposed = propose(joints[heaviest], gains, arguments.damping_ratio, factor)
    page, notices = clamped({f"{kind}_p": proposed.p, f"{kind}_d": proposed.d}, profile)
    notes += [notice.text for notice in notices]
    if proposed.d == 0.0 and gains.d == 0.0:
        notes.append(f"{kind} is damped enough without D: its friction alone gives more than the ratio requested")
    return Gains(page[f"{kind}_p"], gains.i, page[f"{kind}_d"]), notes


def table_row(kind: str, responses: Sequence[Response], gains: Gains, series: str) -> Dict[str, object]:
    """Return the row of a class: that of the joint with the greatest overshoot."""
    worst = max(responses, key=lambda response: response.overshoot)
    joint = identify(worst, gains)
    return {
        "class": f"{series}{kind}",
        "joint": worst.joint,
        "p": gains.p,
        "d": gains.d,
        "rise": 1e3 * worst.rise,
        "overshoot": 100.0 * worst.overshoot,
        "settling": 1e3 * worst.settling,
        "error": math.degrees(max((r.steady_error for r in responses), key=abs)),
        "torque": 100.0 * max(float(abs(r.effort).max() / r.limit) for r in responses),
        "ratio": joint.damping_ratio(gains),
        "misfit": 100.0 * joint.misfit,
    }


if __name__ == "__main__":
    sys.exit(main())
