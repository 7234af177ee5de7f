# SPDX-License-Identifier: MIT
"""Files that belong to a package: in its source tree, or where catkin installed them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator

from shellbot_common.errors import PackageFileError


def package_file(package: str, relative: str) -> Path:
    """Return the path of a file or folder of a package, such as ``"config/gaits.yaml"``.

    It may be beside this package (source tree), in the `share` folders above it (install space), in ROS_PACKAGE_PATH or
    in a workspace of CMAKE_PREFIX_PATH.

    Raises
    ------
    PackageFileError
        If it is in none of them.
    """
    for folder in package_folders(package):
        if (folder / relative).exists():
            return folder / relative
    raise PackageFileError(
        f"{relative} of the package {package} is not found beside {_here()} nor in ROS_PACKAGE_PATH and "
        "CMAKE_PREFIX_PATH; source devel/setup.bash of the workspace"
    )


def package_folders(package: str) -> Iterator[Path]:
    """Yield where a package's files may be, the most likely folder first; none need exist."""
    yield _here().parent / package  # source tree: src/shellbot_common/src/shellbot_common/package_files.py
    for parent in _here().parents:  # installed: <prefix>/lib/python3/dist-packages/shellbot_common/package_files.py
        yield parent / "share" / package
    for entry in filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)):
        if Path(entry).name == package:
            yield Path(entry)
        yield Path(entry) / package
    for entry in filter(None, os.environ.get("CMAKE_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(entry) / "share" / package


def _here() -> Path:
    return Path(__file__).resolve().parents[2]
