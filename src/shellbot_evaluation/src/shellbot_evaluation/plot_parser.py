# SPDX-License-Identifier: MIT
"""Words of scripts/plot's command line, and what is said of those that do not fit together."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any, List, NoReturn, Optional

import shellbot_description as description
from robot_evaluation import plot_bodies
from robot_evaluation.bags import cli as bag_cli
from robot_evaluation.console import robots_with
from robot_evaluation.errors import DefinitionError
from robot_mechanics.arguments import negative_numbers
from shellbot_common import add_command
from shellbot_kinematics import Frame

from . import spring_figure

FRAMES = {"foot": Frame.FOOT, "sphere_centre": Frame.SPHERE_CENTRE}
MOST_SAMPLES = 2_000_000
# what an option is that was not given; set after it is known which ones were
_DEFAULTS = {"fan": 0.0, "step": 0.002, "samples": 20000, "seed": 0, "pose": "stand"}
_OF_SHELLBOT, _OF_A_MODEL = (
    ("leg", "fan", "height", "frame", "step", "pose"),
    ("base", "tip", "samples", "seed", "joints"),
)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, and where to look."""

    def error(self, message: str) -> NoReturn:
        """Leave with status 2."""
        self.exit(2, f"error: {message}; {self.prog} --help lists what can be given\n")


def parser() -> Parser:
    """Return the parser of the command line."""
    common = Parser(add_help=False)
    common.add_argument("--out", type=Path, metavar="FILE", help="picture, .png .svg .pdf (default results/plots/...)")
    common.add_argument("--show", action="store_true", help="open it in a window, too")
    robot = Parser(add_help=False)
    robot.add_argument("--leg", metavar="LEG", help="1 .. 6, lower_1 .. lower_6 or upper_1 .. upper_6")
    fan = Parser(add_help=False)
    fan.add_argument("--fan", type=float, metavar="DEG", help="angle of the fans, degrees (default 0)")
    height = Parser(add_help=False)
    height.add_argument("--height", type=float, metavar="M", help="body centre above the ground, m")
    chain = Parser(add_help=False)
    chain.add_argument(
        "--model", type=Path, metavar="FILE", help="another robot: a YAML model or URDF, or ur5, puma560"
    )
    chain.add_argument("--base", metavar="LINK", help="first link of a URDF given by --model")
    chain.add_argument("--tip", metavar="LINK", help="last link of a URDF given by --model")
    tip = Parser(add_help=False)
    tip.add_argument("--frame", choices=sorted(FRAMES), help="tip (default: foot; upper legs: sphere_centre)")
    tip.add_argument("--step", type=float, metavar="M", help="spacing of the grid, m (default 0.002)")
    p = Parser(
        prog="scripts/plot",
        description="Pictures of a limb's reach, singularities and frames, how far feet may go, masses, recorded runs.",
        epilog="example: scripts/plot walkspace --height 0.17 --out walkspace.png",
    )
    kinds = p.add_subparsers(dest="what")
    reach = add_command(
        kinds,
        "reach",
        "region in the limb's plane, and seen from above",
        parents=[common, robot, fan, height, tip, chain],
    )
    reach.add_argument("--samples", type=int, metavar="N", help="with --model: joints drawn (default 20000)")
    reach.add_argument("--seed", type=int, metavar="N", help="with --model: of the draw (default 0)")
    walk = add_command(kinds, "walkspace", "stroke of the feet over the ground", parents=[common, robot, fan, height])
    walk.add_argument("--gait", default="tripod", help="whose stance, lift and height are taken (default tripod)")
    walk.add_argument(
        "--stance", type=float, metavar="M", help="radius on which the feet stand, m (default: the gait's)"
    )
    walk.add_argument("--lift", type=float, metavar="M", help="top of the swing, m (default: the gait's)")
    walk.add_argument("--margin", type=float, metavar="DEG", help="to the joint limits (default: the action manager's)")
    singular = add_command(
        kinds, "singularity", "smallest singular value and manipulability", parents=[common, robot, tip, chain]
    )
    singular.add_argument("--joints", nargs=2, metavar="NAME", help="with --model: the two joints that are varied")
    frames = add_command(kinds, "frames", "joint frames of a limb or of all: --leg all", parents=[common, robot, chain])
    frames.add_argument("--pose", help=f"{', '.join(description.POSES)} (default stand)")
    frames.add_argument("--q", nargs="+", type=float, metavar="DEG", help="joints instead of a pose (mm if prismatic)")
    plot_bodies.add_parser(kinds, common)
    bag_cli.add_parser(kinds, common)
    spring_figure.add_parser(kinds, common)
    for name in robots_with("plot_cli", "shellbot"):  # scripts/plot starts them
        add_command(kinds, name, f"another robot: scripts/plot {name} --help", add_help=False)
    kinds.metavar = "|".join(kinds.choices)
    return p


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    """Return the arguments.

    Raises
    ------
    SystemExit
        Status 2, after a sentence on standard error, for words that are unknown or not for that kind of picture.
    """
    p = parser()
    arguments, unknown = p.parse_known_args(negative_numbers(sys.argv[1:] if argv is None else argv))
    kinds: Any = next(action for action in p._actions if isinstance(action, argparse._SubParsersAction)).choices
    if arguments.what is None:
        p.error(f"name what to draw: {', '.join(kinds)}")
    for word in unknown:
        option = word.split("=", 1)[0]
        takers = [kind for kind in kinds if option in kinds[kind]._option_string_actions]
        if takers:
            kinds[arguments.what].error(
                f"{arguments.what} takes no {option}, only {_listed(takers)} do" + "es" * (len(takers) == 1)
            )
    if unknown:
        kinds[arguments.what].error(f"{unknown[0]} is not known here")
    return arguments


def check(arguments: argparse.Namespace) -> None:
    """Fill in what was not given.

    Raises
    ------
    DefinitionError
        If options do not go together or numbers are out of range.
    """
    model = getattr(arguments, "model", None)
    for name in _OF_SHELLBOT if model is not None else _OF_A_MODEL if hasattr(arguments, "model") else ():
        if getattr(arguments, name, None) is not None:
            if model is not None:
                raise DefinitionError(f"--{name} is about Shellbot; leave it out, or --model {model}")
            raise DefinitionError(f"--{name} is about another robot; name it with --model FILE, or leave --{name} out")
    if getattr(arguments, "q", None) and getattr(arguments, "pose", None) is not None:
        raise DefinitionError("--pose and --q both say where the joints are; give one of them")
    for name, value in _DEFAULTS.items():
        if hasattr(arguments, name) and getattr(arguments, name) is None:
            setattr(arguments, name, value)
    if hasattr(arguments, "fan") and not math.isfinite(arguments.fan):
        raise DefinitionError(f"--fan is {arguments.fan}; give degrees")
    if hasattr(arguments, "samples") and not 1 <= arguments.samples <= MOST_SAMPLES:
        raise DefinitionError(f"--samples is {arguments.samples}; expected 1 to {MOST_SAMPLES}")
    if hasattr(arguments, "seed") and arguments.seed < 0:
        raise DefinitionError(f"--seed is {arguments.seed}; expected 0 or more")


def _listed(words: List[str]) -> str:
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]
