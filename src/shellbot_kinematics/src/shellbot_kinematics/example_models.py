# SPDX-License-Identifier: MIT
"""The models that come with the package: published arms, and an example of each part of the schema."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator, Optional, Tuple

from shellbot_kinematics.errors import UnknownNameError

PACKAGE = "shellbot_kinematics"


def model_names() -> Tuple[str, ...]:
    """Return the names that `model_path` knows."""
    folder = _folder()
    return () if folder is None else tuple(sorted(path.stem for path in folder.glob("*.yaml")))


def model_path(name: str) -> Path:
    """Return the path of a model of the package, for `load_model`, `SerialChain.from_yaml` and the like.

    Raises
    ------
    UnknownNameError
        If there is no such model; the message lists those that there are.
    """
    folder = _folder()
    if folder is None or name not in model_names():
        known = ", ".join(model_names()) or "none: the package's folder models/ is not installed"
        raise UnknownNameError(f"no model '{name}'; there are {known}")
    return folder / f"{name}.yaml"


def _folder() -> Optional[Path]:
    for candidate in _candidates():
        if (candidate / "ur5.yaml").is_file():
            return candidate
    return None


def _candidates() -> Iterator[Path]:
    here = Path(__file__).resolve()
    yield here.parents[2] / "models"  # source tree: <package>/src/shellbot_kinematics/example_models.py
    for parent in here.parents:  # installed: <prefix>/lib/python3/dist-packages/shellbot_kinematics/...
        yield parent / "share" / PACKAGE / "models"
    for entry in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry) / PACKAGE / "models"
