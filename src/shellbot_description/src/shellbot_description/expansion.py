# SPDX-License-Identifier: MIT
"""Expands the xacro files to URDF text."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Dict, Tuple

import yaml

from shellbot_common.xacro_file import XacroError
from shellbot_common.xacro_file import run_xacro as expand_file
from shellbot_description.errors import DescriptionError
from shellbot_description.files import package_path
from shellbot_description.generation import write_config
from shellbot_description.loading import Source, load_raw, variables_from_raw
from shellbot_description.names import check_variant

SIMULATORS = ("mujoco", "gazebo", "none")
XACRO_ARGS = ("mesh_uri", "friction", "camera", "self_collide")


def _xacro_argument(name: str, value: object) -> str:
    """Return the text of an argument for xacro; xacro itself would complain late, or never."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if name in ("camera", "self_collide") and text not in ("true", "false"):
        raise DescriptionError(f"argument {name} = {text!r} is neither true nor false; give one of these")
    if name == "friction":
        try:
            friction = float(text)
        except ValueError:
            friction = -1.0
        if not 0.0 <= friction <= 10.0:  # also false for NaN
            raise DescriptionError(f"argument friction = {text!r} is out of range; give a number from 0 to 10")
    return text


def run_xacro(file: Path, mappings: Dict[str, str]) -> str:
    """Return the expanded text of a xacro file; raise DescriptionError if xacro is missing or refuses it."""
    try:
        return expand_file(file, mappings)
    except XacroError as error:
        raise DescriptionError(str(error)) from error


@lru_cache(maxsize=8)
def _expand_adopted(file: Path, mappings: Tuple[Tuple[str, str], ...]) -> str:
    """Return the text for the adopted variables, from the second time on without the third of a second it takes."""
    return run_xacro(file, dict(mappings))


def expand(
    variant: str = "simulation",
    simulator: str = "mujoco",
    variables: Source = None,
    **xacro_args: object,
) -> str:
    """Return the URDF of the robot.

    Parameters
    ----------
    variant : str
        `simulation` (36 joints), `full` (fans 2..6 mimic fan 1: 31 motors) or `walker` (24 joints, no upper legs).
    simulator : str
        `mujoco`, `gazebo` (adds transmissions and plugins) or `none`.
    variables : str, Path or mapping, optional
        Another variables file, e.g. `config/shellbot_older.yaml`, or changes of the adopted set; inertias and collision
        primitives are computed anew, the meshes stay those of the adopted set.
    **xacro_args
        `mesh_uri`, `friction`, `camera`, `self_collide` of urdf/shellbot.urdf.xacro.

    Raises
    ------
    DescriptionError
        If an argument does not exist or xacro fails.
    """
    check_variant(variant)
    if simulator not in SIMULATORS:
        raise DescriptionError(f"simulator {simulator!r} does not exist; choose one of {', '.join(SIMULATORS)}")
    unknown = sorted(set(xacro_args) - set(XACRO_ARGS))
    if unknown:
        raise DescriptionError(f"argument {unknown[0]!r} does not exist; choose from {', '.join(XACRO_ARGS)}")
    file = package_path() / "urdf" / "shellbot.urdf.xacro"
    mappings = {"variant": variant, "simulator": simulator}
    mappings.update((key, _xacro_argument(key, value)) for key, value in xacro_args.items())
    if variables is None:
        return _expand_adopted(file, tuple(mappings.items()))
    raw = load_raw(variables)
    checked = variables_from_raw(raw)
    with tempfile.TemporaryDirectory(prefix="shellbot_") as folder:
        merged = Path(folder) / "variables.yaml"
        merged.write_text(yaml.safe_dump(raw), encoding="utf-8")
        mappings["variables"] = str(merged)
        mappings.update((name, str(path)) for name, path in write_config(Path(folder), checked).items())
        return run_xacro(file, mappings)
