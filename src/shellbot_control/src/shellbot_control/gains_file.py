# SPDX-License-Identifier: MIT
"""Gains as a YAML file: what scripts/gains saves and loads, and scripts/tune proposes.

::

    robot: arm
    stiffness: 1.0            # overall, multiplies P and I
    classes:                  # N m/rad, N m/(rad s), N m s/rad; what is not named stays as it is
      wheel: {p: 18.5, i: 0.0, d: 0.0}
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Mapping, Optional

import yaml

from shellbot_common import Settings, write_file
from shellbot_control.errors import ConfigurationError
from shellbot_control.gains import GAIN_NAMES, STIFFNESS, GainTable, page_name

_HEAD = (
    "# Gains by joint class: N m/rad, N m/(rad s), N m s/rad; stiffness multiplies p and i. scripts/gains load FILE\n"
)


@dataclass(frozen=True)
class ClassGains(Settings):
    """Of one joint class; None: stays as it is. Any finite number: the page clamps, and says so."""

    p: Optional[float] = None  #: N m/rad
    i: Optional[float] = None  #: N m/(rad s)
    d: Optional[float] = None  #: N m s/rad


@dataclass(frozen=True)
class GainsFile(Settings, error=ConfigurationError):
    """Gains of a robot, or of some of its joint classes."""

    robot: str  #: Name of the robot they are of
    stiffness: Optional[float] = None  #: Overall; None: stays as it is
    classes: Mapping[str, ClassGains] = field(default_factory=dict)  #: Joint class to gains

    @classmethod
    def of_table(cls, robot: str, table: GainTable) -> GainsFile:
        """Return the file of a whole table."""
        classes = {kind: {k: getattr(gains, k) for k in GAIN_NAMES} for kind, gains in table.classes.items()}
        return cls.from_mapping({"robot": robot, "stiffness": table.stiffness, "classes": classes})

    def changes(self, robot: str, classes: Mapping[str, Any]) -> Dict[str, float]:
        """Return the entries of the page that the file changes.

        Parameters
        ----------
        robot : str
            Name of the robot that is to have them.
        classes : mapping
            Its joint classes.

        Raises
        ------
        ConfigurationError
            If they are of another robot, or of a class that this one lacks.
        """
        if self.robot != robot:
            raise ConfigurationError(f"the gains are those of {self.robot}, and this robot is {robot}")
        unknown = [kind for kind in self.classes if kind not in classes]
        if unknown:
            raise ConfigurationError(f"{robot} has no joint class {', '.join(unknown)}; it has {', '.join(classes)}")
        page = {
            page_name(kind, k): getattr(gains, k)
            for kind, gains in self.classes.items()
            for k in GAIN_NAMES
            if getattr(gains, k) is not None
        }
        return page if self.stiffness is None else {STIFFNESS: self.stiffness, **page}

    def save(self, path: Path) -> None:
        """Write the file.

        Raises
        ------
        ConfigurationError
            If it cannot be written.
        """
        values: Dict[str, Any] = {"robot": self.robot}
        if self.stiffness is not None:
            values[STIFFNESS] = self.stiffness
        rows = ((kind, ((k, getattr(gains, k)) for k in GAIN_NAMES)) for kind, gains in self.classes.items())
        values["classes"] = {kind: {k: round(v, 4) for k, v in row if v is not None} for kind, row in rows}
        try:
            write_file(path, _HEAD + yaml.safe_dump(values, sort_keys=False, default_flow_style=None))
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be written: {error.strerror}; choose another place") from None
