# SPDX-License-Identifier: MIT
"""Where the package's files are."""

from __future__ import annotations

from pathlib import Path

from shellbot_common import package_file


def package_path() -> Path:
    """Return the folder of the package that holds config/, meshes/ and urdf/.

    Raises
    ------
    shellbot_common.PackageFileError
        If no such folder is found (package neither in its source tree nor installed).
    """
    return package_file("shellbot_description", "config/shellbot.yaml").parents[1]
