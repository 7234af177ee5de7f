# SPDX-License-Identifier: MIT
"""`scripts/inertia`: convert and check inertia tensors, of one body or of all links of a URDF."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Dict, Optional, Sequence

import numpy as np

from robot_mechanics.arguments import negative_numbers
from robot_mechanics.errors import InvalidReferenceError, InvalidUrdfError, KinematicsError
from robot_mechanics.models.inertia import (
    COMPONENTS,
    Inertia,
    inertias_of_urdf,
    tensor_components,
    tensor_matrix,
)
from robot_mechanics.motion.rotations import rotation_from_rpy

_POSE = ("X", "Y", "Z", "ROLL", "PITCH", "YAW")


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Print the table; returns 0, 1 if a tensor is no rigid body's, 2 for arguments that cannot be used."""
    options = _parser().parse_args(negative_numbers(sys.argv[1:] if arguments is None else arguments))
    try:
        bodies = _bodies(options)
        pose = np.array(options.frame, dtype=float)
        if not np.isfinite(pose).all():
            raise InvalidReferenceError(f"--frame is {pose}; give six finite numbers, m and rad")
        rotation = rotation_from_rpy(*pose[3:])
        # pose is of the other frame in the given one; the result is seen from the other one
        bodies = {name: body.in_frame(-rotation.T @ pose[:3], rotation.T) for name, body in bodies.items()}
    except KinematicsError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(inertia_table(bodies, options.format, about_origin=options.about == "origin"))
    problems = [f"{name}: {text}" for name, body in bodies.items() for text in body.problems()]
    sys.stderr.write("".join(f"warning: {text}\n" for text in problems))
    return 1 if problems else 0


def inertia_table(bodies: Dict[str, Inertia], layout: str, about_origin: bool = False) -> str:
    """Return mass, centre of mass and tensor of bodies.

    Parameters
    ----------
    bodies : dict of str to Inertia
        Name to body.
    layout : str
        ``text``, ``markdown`` (kg, m, kg mm^2), or ``xacro`` (one `<inertial>` a body, about the centre of mass).
    about_origin : bool
        Tensors about the origin of the frame instead of the centre of mass; not for xacro, which knows only the latter.
    """
    if layout == "xacro":
        return "".join(_inertial_element(name, body) for name, body in bodies.items())
    # 1e-6 kg m^2 are 1 kg mm^2
    head = ["body", "mass kg", "x m", "y m", "z m", *(f"{name} kg mm^2" for name in COMPONENTS)]
    rows = []
    for name, body in bodies.items():
        tensor = body.tensor_about((0.0, 0.0, 0.0)) if about_origin else body.tensor
        micro = [f"{1e6 * value:.2f}" for value in tensor_components(tensor)]
        rows.append([name, f"{body.mass:.5f}", *(f"{x:.5f}" for x in body.com), *micro])
    if layout == "markdown":
        lines = [head, ["---"] * len(head), *rows]
        return "".join("| " + " | ".join(line) + " |\n" for line in lines)
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return "".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths)) + "\n" for row in [head, *rows])


def _inertial_element(name: str, body: Inertia) -> str:
    values = " ".join(f'{key}="{value:.9g}"' for key, value in zip(COMPONENTS, tensor_components(body.tensor)))
    place = " ".join(f"{x:.9g}" for x in body.com)
    return (
        f'<!-- {name} -->\n<inertial>\n  <origin xyz="{place}" rpy="0 0 0"/>\n  <mass value="{body.mass:.9g}"/>\n'
        f"  <inertia {values}/>\n</inertial>\n"
    )


def _bodies(options: argparse.Namespace) -> Dict[str, Inertia]:
    if options.about == "origin" and options.format == "xacro":
        raise InvalidUrdfError(
            "--about origin with --format xacro: an <inertial> is always about the centre of mass; leave --about out, "
            "or choose another format"
        )
    if options.urdf:
        given = [f"--{name}" for name in ("mass", "com", "tensor", "given") if getattr(options, name) is not None]
        if given:
            raise InvalidUrdfError(f"{' and '.join(given)} of one body beside a URDF file; give the one or the other")
        try:
            text = Path(options.urdf).read_text(encoding="utf-8") if options.urdf != "-" else sys.stdin.read()
        except (OSError, UnicodeError) as error:
            raise InvalidUrdfError(f"cannot read {options.urdf}: {error}; give the path of an expanded URDF") from None
        bodies = inertias_of_urdf(text)
        if not bodies:
            raise InvalidUrdfError(
                f"{options.urdf} has no link with mass; if it is a xacro, expand it: xacro FILE | scripts/inertia -"
            )
        return bodies
    missing = [name for name in ("mass", "tensor") if getattr(options, name) is None]
    if missing:
        raise InvalidUrdfError(f"--{' and --'.join(missing)} missing; give a URDF file, or mass, centre and tensor")
    matrix, com = tensor_matrix(options.tensor), options.com or [0.0, 0.0, 0.0]
    if options.given == "origin":
        return {"body": Inertia.about_point(options.mass, com, matrix)}
    return {"body": Inertia(options.mass, np.array(com), matrix)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/inertia", description=__doc__)
    parser.add_argument("urdf", nargs="?", help="an expanded URDF, - for standard input; or one body by the options")
    parser.add_argument("--mass", type=float, help="kg")
    parser.add_argument("--com", type=float, nargs=3, metavar=("X", "Y", "Z"), help="m (default 0 0 0)")
    parser.add_argument("--tensor", type=float, nargs=6, metavar=tuple(c.upper() for c in COMPONENTS), help="kg m^2")
    parser.add_argument("--given", choices=("com", "origin"), help="the point --tensor is about (default com)")
    parser.add_argument("--about", choices=("com", "origin"), default="com", help="the point that the table is about")
    parser.add_argument(
        "--frame", type=float, nargs=6, default=[0.0] * 6, metavar=_POSE, help="see the body from a frame here, m, rad"
    )
    parser.add_argument("--format", choices=("text", "markdown", "xacro"), default="text")
    return parser


if __name__ == "__main__":
    sys.exit(main())
