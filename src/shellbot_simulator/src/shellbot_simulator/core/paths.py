# SPDX-License-Identifier: MIT
"""Finding package folders and `package://` files without asking a ROS master."""

from __future__ import annotations

from pathlib import Path

from shellbot_common import package_folders

from .errors import ModelError

_PREFIX = "package://"


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
        candidates = [folder / relative for folder in package_folders(package)]
    else:
        candidates = [Path(uri[len("file://") :] if uri.startswith("file://") else uri)]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    tried = ", ".join(str(candidate) for candidate in candidates) or "no folder of that package is known"
    raise ModelError(f"mesh {uri!r} not found (tried: {tried}); build the meshes or source the workspace's setup.bash")
