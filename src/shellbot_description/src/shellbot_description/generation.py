# SPDX-License-Identifier: MIT
"""Everything of the description that is generated from the variables: inertials, collision shapes, classes, meshes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

from shellbot_description.gore import convex_pieces, piece_names
from shellbot_description.inertia import link_inertials, six
from shellbot_description.shapes import link_shapes
from shellbot_description.variables import Variables

HEADER = "# Generated from shellbot.yaml by scripts/generate.py; do not edit. {what}\n"


def _flow(value: Any) -> str:
    """Return a number, text, list or mapping as one line of YAML; floats with all their digits."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, float):
        # 12 digits: the same file from every BLAS; + 0.0 drops the sign of -0
        return _number(float(f"{value:.12g}") + 0.0)
    return str(value)


def _number(value: float) -> str:
    """Return a number as YAML 1.1 reads one, with all its digits; it takes 1e-05 for a string, but not 1.0e-05."""
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def inertials_text(variables: Variables) -> str:
    """Return the text of `inertials.yaml`: mass, centre of mass and inertia of each kind of link, in its frame."""
    lines = [HEADER.format(what="inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre of mass, axes of the link.")]
    for kind, body in link_inertials(variables).items():
        com = tuple(0.0 if abs(x) < 1e-12 else float(x) for x in body.com)
        moments = tuple(0.0 if abs(x) < 1e-15 else x for x in six(body.inertia))
        lines.append(f"{kind}:\n  mass_kg: {_flow(body.mass)}\n  com_m: {_flow(com)}\n")
        lines.append(f"  inertia_kgm2: {_flow(moments)}\n")
    return "".join(lines)


def collisions_text(variables: Variables) -> str:
    """Return the text of `collisions.yaml`: primitives of each kind of link, names of the gores' pieces."""
    lines = [HEADER.format(what="Collision shapes in link frames; gores: names of their convex meshes.")]
    for kind, shapes in link_shapes(variables).items():
        rows: List[Dict[str, Any]] = [
            {"name": s.name, "kind": s.kind, "size_m": s.size, "xyz_m": s.xyz, "rpy_rad": s.rpy}
            for s in shapes
            if s.collides
        ]
        lines.append(f"{kind}:" + ("" if rows else " []") + "\n" + "".join(f"  - {_flow(row)}\n" for row in rows))
    for kind in ("lower_gore", "upper_gore"):
        lines.append(f"{kind}: {_flow(piece_names(variables))}\n")
    return "".join(lines)


def joint_classes_text(variables: Variables) -> str:
    """Return the text of `joint_classes.yaml`: what the profile says of each joint class, with every digit."""
    lines = [HEADER.format(what="stiffness in N m/rad: full torque over the compliance slope; armature in kg m^2.")]
    lines.append("classes:\n")
    for name in variables.joints:
        stiffness, armature = variables.servo_stiffness(name), variables.armature(name)
        lines.append(f"  {name}: {{stiffness: {_number(stiffness)}, armature: {_number(armature)}}}\n")
    return "".join(lines)


def write_joint_classes(folder: Path, variables: Variables) -> Path:
    """Write `joint_classes.yaml` into a folder; return its path."""
    path = folder / "joint_classes.yaml"
    path.write_text(joint_classes_text(variables), encoding="utf-8")
    return path


def write_config(folder: Path, variables: Variables) -> Dict[str, Path]:
    """Write `inertials.yaml` and `collisions.yaml` into a folder; return their paths by the xacro argument's name."""
    texts = {"inertials": inertials_text(variables), "collisions": collisions_text(variables)}
    paths = {name: folder / f"{name}.yaml" for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text, encoding="utf-8")
    return paths


def write_meshes(folder: Path, variables: Variables) -> List[Path]:
    """Write all meshes into `visual/` and `collision/` of a folder; return their paths.

    Needs numpy-stl and scipy, which running the robot does not.
    """
    from shellbot_description.surfaces import hull, write_stl
    from shellbot_description.visual_meshes import visual_meshes

    meshes = {f"visual/{name}": triangles for name, triangles in visual_meshes(variables).items()}
    for kind, lower in (("lower_gore", True), ("upper_gore", False)):
        for name, points in convex_pieces(variables, lower).items():
            meshes[f"collision/{kind}_{name}"] = hull(points)
    paths = []
    for name, triangles in meshes.items():
        path = folder / f"{name}.stl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_stl(path, triangles)
        paths.append(path)
    return paths
