# SPDX-License-Identifier: MIT
"""Where this package's own files are, in the source tree and installed."""

from __future__ import annotations

from pathlib import Path

from shellbot_action_manager.errors import ConfigError


def package_path() -> Path:
    """Return the folder that holds config/ and launch/.

    Raises
    ------
    ConfigError
        If neither the source tree nor an installed share folder is found.
    """
    here = Path(__file__).resolve()
    for parent in here.parents:
        for candidate in (parent, parent / "share" / "shellbot_action_manager"):
            if (candidate / "config" / "gaits.yaml").is_file():
                return candidate
    raise ConfigError(f"config/gaits.yaml is not found above {here}; build and install the workspace again")


def config_file(name: str) -> Path:
    """Return the path of one of the package's own YAML files."""
    return package_path() / "config" / name
