# SPDX-License-Identifier: MIT
"""The models that come with the package: published arms, and an example of each part of the YAML schema."""

from __future__ import annotations

from pathlib import Path
from typing import Tuple

from robot_mechanics.errors import UnknownNameError

_FOLDER = Path(__file__).resolve().parent / "examples"


def model_names() -> Tuple[str, ...]:
    """Return the names of the YAML models; `model_path` also knows `arm4`, a URDF with masses."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def model_path(name: str) -> Path:
    """Return the path of a model of the package, for `load_model`, `SerialChain.from_yaml` and the like.

    Parameters
    ----------
    name : str
        One of `model_names`, or `arm4`.

    Returns
    -------
    Path
        A YAML file, or the URDF of `arm4`, for `DynamicModel.from_urdf`.

    Raises
    ------
    UnknownNameError
        If there is no such model; the message lists those that there are.
    """
    found = sorted(path for path in _FOLDER.iterdir() if path.suffix in (".yaml", ".urdf"))
    for path in found:
        if path.stem == name:
            return path
    raise UnknownNameError(f"no model '{name}'; there are {', '.join(path.stem for path in found)}")
