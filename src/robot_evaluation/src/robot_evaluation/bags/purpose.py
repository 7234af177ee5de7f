# SPDX-License-Identifier: MIT
"""What is recorded for which purpose: a YAML file of topics for each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Tuple

from robot_evaluation.errors import DefinitionError
from shellbot_common import RobotProfile, Settings, package_file, required

CONTROLLER, CONTACT = "{controller}", "{contact}"


@dataclass(frozen=True)
class Purpose(Settings, error=DefinitionError):
    """Topics that are recorded together; names are relative to the robot's namespace."""

    text: str  #: What for, in a few words
    topics: Tuple[str, ...] = required()  #: `{controller}` and `{contact}` stand for the robot's own
    includes: str = ""  #: Another purpose whose topics are recorded, too

    def for_robot(self, profile: RobotProfile) -> Tuple[str, ...]:
        """Return the names of the topics of one robot, each once."""
        names: List[str] = list(load(self.includes).for_robot(profile)) if self.includes else []
        for topic in self.topics:
            topic = topic.replace(CONTROLLER, profile.controller)
            names += [topic.replace(CONTACT, link) for link in profile.contacts] if CONTACT in topic else [topic]
        return tuple(dict.fromkeys(names))


def purposes() -> Dict[str, Path]:
    """Return the files of this package by the names of their purposes."""
    folder = package_file("robot_evaluation", "config/record")
    return {file.stem: file for file in sorted(folder.glob("*.yaml"))}


def load(purpose: str) -> Purpose:
    """Return a purpose by its name, or by the path of a file of one's own.

    Raises
    ------
    DefinitionError
        If there is none, or the file is no such file.
    """
    files = purposes()
    if purpose in files:
        return Purpose.load(files[purpose])
    if purpose.endswith(".yaml"):
        return Purpose.load(purpose)
    raise DefinitionError(f"purpose {purpose!r} does not exist; choose one of {', '.join(files)}, or a YAML file")


def bag_file(name: str, folder: Path, default: str) -> Path:
    """Return where a bag is to be written.

    Parameters
    ----------
    name : str
        Path as the user gave it, relative to `folder`; empty: `default`.
    folder : pathlib.Path
        Folder of the user.
    default : str
        Name without the ending.

    Raises
    ------
    DefinitionError
        If there is such a file already, or no such folder.
    """
    path = folder / Path(name or default).expanduser()
    if path.suffix != ".bag":
        path = path.with_name(path.name + ".bag")
    for taken in (path, path.with_name(path.name + ".active")):
        if taken.exists():
            raise DefinitionError(f"{taken} exists; give another name with bag:=FILE, or remove it")
    if not path.parent.is_dir():
        raise DefinitionError(f"the folder {path.parent} does not exist; create it, or give another with bag:=FILE")
    return path
