# SPDX-License-Identifier: MIT
"""Command line: what a URDF says of masses and joints, and what forces its poses need."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path
from typing import List, Optional

import numpy as np

from robot_mechanics.arguments import negative_numbers
from robot_mechanics.dynamics.model import DynamicModel
from robot_mechanics.dynamics.tables import FORMATS, all_tables, as_text
from robot_mechanics.errors import KinematicsError, UnknownNameError
from robot_mechanics.models.example_models import model_names, model_path


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(prog="scripts/dynamics", description="Rigid-body dynamics of a URDF.")
    commands = p.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    for name, text in (
        ("table", "masses, centres of mass, tensors; joints, limits, friction, screw axes; poses of the tips at zero"),
        ("explain", "masses on one page, with what is odd about them"),
        ("torques", "mass matrix and the forces that hold a pose"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("robot", help="a URDF file, '-' for standard input, or a model of the package (arm4)")
        command.add_argument("--floating", action="store_true", help="the root link moves freely")
        if name == "table":
            command.add_argument(
                "--format", choices=FORMATS, default="text", help="numbers of csv have all digits, others are rounded"
            )
        if name == "torques":
            command.add_argument(
                "--pose", type=float, nargs="+", metavar="RAD", help="joints, in order; zero if not given"
            )
    return p


def load(robot: str, floating: bool) -> DynamicModel:
    """Return the model that the command line names."""
    if robot == "-":
        return DynamicModel.from_urdf(sys.stdin.read(), floating=floating)
    path = Path(robot)
    if not path.exists():
        path = model_path("arm4")
        if robot != path.stem:
            reason = "has no masses" if robot in model_names() else "does not exist"
            raise UnknownNameError(f"model '{robot}' {reason}; there is '{path.stem}', or give the path of a URDF file")
    return DynamicModel.from_urdf(path, floating=floating)


def report(arguments: argparse.Namespace) -> str:
    """Return what a command prints."""
    with warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always")
        model = load(arguments.robot, arguments.floating)
    if arguments.command == "explain":
        return model.explain()  # has them, and more
    for warning in odd:
        sys.stderr.write(f"warning: {warning.message}\n")
    if arguments.command == "table":
        return all_tables(model, arguments.format)
    q = np.zeros(model.nq)
    if model.floating:
        q[6] = 1.0
    if arguments.pose:
        if len(arguments.pose) != model.n:
            expected = f"{model.n}: {', '.join(model.joint_names)}"
            raise KinematicsError(f"--pose has {len(arguments.pose)} numbers; expected {expected}")
        q[model.nq - model.n :] = arguments.pose
    names = [*(["fx", "fy", "fz", "nx", "ny", "nz"] if model.floating else []), *model.joint_names]
    rows = [["coordinate", "gravity / N m", "mass matrix / kg m^2"]]
    for name, g, row in zip(names, model.gravity(q), model.mass_matrix(q)):
        rows.append([name, f"{g:.6f}", " ".join(f"{x:10.6f}" for x in row)])
    return as_text(rows)


def main(given: Optional[List[str]] = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = parser().parse_args(negative_numbers(sys.argv[1:] if given is None else given))
    try:
        sys.stdout.write(report(arguments) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:  # ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (KinematicsError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
