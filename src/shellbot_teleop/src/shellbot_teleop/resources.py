# SPDX-License-Identifier: MIT
"""Where the package's own files are, from the source tree and from an installation, without ROS running."""

from __future__ import annotations

import os
from pathlib import Path

from shellbot_teleop.errors import ConfigError


def resource(relative: str) -> Path:
    """Path of a file of this package.

    Parameters
    ----------
    relative : str
        Such as ``"config/keymap.yaml"``.

    Returns
    -------
    Path
        The file in the source tree or in the ``share`` folder of a workspace on ``CMAKE_PREFIX_PATH``.

    Raises
    ------
    ConfigError
        It is in none of them.
    """
    roots = [Path(__file__).resolve().parents[2]]
    roots += [
        Path(prefix) / "share" / "shellbot_teleop"
        for prefix in os.environ.get("CMAKE_PREFIX_PATH", "").split(os.pathsep)
        if prefix
    ]
    for root in roots:
        if (root / relative).is_file():
            return root / relative
    raise ConfigError(
        f"{relative} is not found under {[str(root) for root in roots]}: source devel/setup.bash of the workspace."
    )
