# SPDX-License-Identifier: MIT
"""Where the files of the package are, in the source tree and when installed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Iterator, Union

import yaml

from shellbot_description.errors import DescriptionError

PACKAGE = "shellbot_description"
_MARKER = Path("config") / "shellbot.yaml"


def _candidates() -> Iterator[Path]:
    here = Path(__file__).resolve()
    yield here.parents[2]  # source tree: <package>/src/shellbot_description/files.py
    for parent in here.parents:  # installed: <prefix>/lib/python3/dist-packages/shellbot_description/files.py
        yield parent / "share" / PACKAGE
    for entry in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry) / PACKAGE


def package_path() -> Path:
    """Return the folder of the package that holds config/, meshes/ and urdf/.

    Raises
    ------
    DescriptionError
        If no such folder is found (package neither in its source tree nor installed).
    """
    for candidate in _candidates():
        if (candidate / _MARKER).is_file():
            return candidate
    raise DescriptionError(
        f"{PACKAGE}: {_MARKER} not found beside the Python package nor in ROS_PACKAGE_PATH; source devel/setup.bash"
    )


def read_yaml(path: Union[str, Path]) -> Dict[str, Any]:
    """Return the mapping in a YAML file.

    Raises
    ------
    DescriptionError
        If the file is missing, is no YAML or holds something else than a mapping.
    """
    path = Path(path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DescriptionError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DescriptionError(f"{path}: is not valid YAML: {error}") from error
    if not isinstance(data, dict):
        raise DescriptionError(f"{path}: must hold a mapping of keys, found {type(data).__name__}")
    return data
