# SPDX-License-Identifier: MIT
"""Finding package folders and `package://` files without asking a ROS master."""

from __future__ import annotations

import os
from pathlib import Path
from typing import List

import shellbot_description

from .errors import ModelError

_PREFIX = "package://"


def config_path() -> Path:
    """Return the path of this package's `config/simulator.yaml` (source, devel or install space)."""
    here = Path(__file__).resolve()
    candidates = [here.parents[2] / "config" / "simulator.yaml"]
    candidates += [folder / "config" / "simulator.yaml" for folder in _package_folders("shellbot_simulator")]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ModelError(
        f"config/simulator.yaml not found beside {here.parents[2]} nor in ROS_PACKAGE_PATH; "
        "source the workspace's setup.bash"
    )


def resolve_uri(uri: str) -> Path:
    """Return the file behind a mesh URI of a URDF.

    Parameters
    ----------
    uri : str
        `package://<package>/<path>`, `file://<path>` or a plain absolute path.

    Returns
    -------
    pathlib.Path
        An existing file.

    Raises
    ------
    ModelError
        If the package or the file does not exist.
    """
    if uri.startswith(_PREFIX):
        package, _, relative = uri[len(_PREFIX) :].partition("/")
        candidates = [folder / relative for folder in _package_folders(package)]
    else:
        candidates = [Path(uri[len("file://") :] if uri.startswith("file://") else uri)]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    tried = ", ".join(str(candidate) for candidate in candidates) or "no folder of that package is known"
    raise ModelError(f"mesh {uri!r} not found (tried: {tried}); build the meshes or source the workspace's setup.bash")


def _package_folders(package: str) -> List[Path]:
    if package == "shellbot_description":
        return [Path(shellbot_description.package_path())]
    folders = []
    for root in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if root:
            folders += [Path(root) / package, Path(root)] if Path(root).name == package else [Path(root) / package]
    for prefix in os.environ.get("CMAKE_PREFIX_PATH", "").split(os.pathsep):
        if prefix:
            folders.append(Path(prefix) / "share" / package)
    return folders
