# SPDX-License-Identifier: MIT
"""The models that come with the package: published arms, and an example of each part of the schema."""

from __future__ import annotations

from pathlib import Path
from typing import Tuple

from robot_mechanics.errors import UnknownNameError

_FOLDER = Path(__file__).resolve().parent / "examples"


def model_names() -> Tuple[str, ...]:
    """Return the names that `model_path` knows."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def model_path(name: str) -> Path:
    """Return the path of a model of the package, for `load_model`, `SerialChain.from_yaml` and the like.

    Parameters
    ----------
    name : str
        One of `model_names`.

    Returns
    -------
    Path
        A YAML file.

    Raises
    ------
    UnknownNameError
        If there is no such model; the message lists those that there are.
    """
    if name not in model_names():
        raise UnknownNameError(f"no model '{name}'; there are {', '.join(model_names())}")
    return _FOLDER / f"{name}.yaml"
