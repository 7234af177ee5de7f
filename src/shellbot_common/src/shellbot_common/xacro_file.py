# SPDX-License-Identifier: MIT
"""Expands xacro files to URDF text; loaded by descriptions only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Mapping

from shellbot_common.errors import SettingsError


class XacroError(SettingsError):
    """Xacro is missing, or refuses a file."""


def run_xacro(file: Path, mappings: Mapping[str, str]) -> str:
    """Return the expanded text of a xacro file, by the library where it can be imported, else by the program.

    Parameters
    ----------
    file : Path
        The file.
    mappings : mapping of str to str
        Its arguments.

    Raises
    ------
    XacroError
        If xacro is missing or refuses the file; xacro's own message is passed on.
    """
    try:
        import xacro
    except ImportError:
        command = [_xacro_program(), str(file)] + [f"{key}:={value}" for key, value in mappings.items()]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise XacroError(f"xacro could not expand {file}: {done.stderr.strip()}") from None
        return done.stdout
    try:
        return str(xacro.process_file(str(file), mappings=dict(mappings)).toprettyxml(indent="  "))
    except Exception as error:  # xacro raises many types, from XML parsing to names unknown in an expression
        raise XacroError(f"xacro could not expand {file}: {error}") from error


def _xacro_program() -> str:
    # a virtual environment that is not active: this interpreter's, or the workspace's, for any other interpreter
    folders = [Path(sys.executable).parent, Path(__file__).resolve().parents[4] / ".venv" / "bin"]
    beside = (str(folder / "xacro") for folder in folders if os.access(folder / "xacro", os.X_OK))
    program = shutil.which("xacro") or next(beside, None)
    if program is None:
        raise XacroError("xacro is neither importable nor on PATH; run scripts/setup or install ros-noetic-xacro")
    return program
