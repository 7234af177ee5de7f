# SPDX-License-Identifier: MIT
"""The mode machine's table: which request leads from which mode where, read from YAML and checked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from shellbot_action_manager.errors import ConfigError
from shellbot_common import SettingsError, check_names, package_file, read_yaml


class Mode(IntEnum):
    """Modes, numbered as in Mode.msg."""

    WAITING = 0
    SIT = 1
    STAND = 2
    HEXAPOD = 3
    SHELL = 4
    RELAX = 5
    STOPPED = 6

    @property
    def label(self) -> str:
        """The name on the wire, in lower case."""
        return self.name.lower()


REQUESTS: Tuple[str, ...] = ("hexapod", "shell", "sit", "stand", "relax")
STEPS: Tuple[str, ...] = ("stand_up", "stop_walking", "centre_body", "step_out", "sit_down")


@dataclass(frozen=True)
class Transition:
    """Where a request leads: the goal and the steps on the way."""

    goal: Mode
    steps: Tuple[str, ...]


@dataclass(frozen=True)
class ModeTable:
    """Checked table of requests; `find` answers with a transition or with a refusal in words."""

    transitions: Mapping[Tuple[Mode, str], Transition]
    refusals: Mapping[Tuple[Mode, str], str]

    def find(self, mode: Mode, request: str) -> Tuple[Optional[Transition], str]:
        """Return the transition for a request in a mode, or None and the reason for the operator."""
        if request not in REQUESTS:
            return None, f"there is no mode '{request}'; the modes are {', '.join(REQUESTS)}"
        if mode.label == request:
            return None, f"already in mode {request}"
        found = self.transitions.get((mode, request))
        if found is not None:
            return found, ""
        text = self.refusals.get((mode, request), "there is no way from {mode} to {request}; request sit first")
        return None, text.format(mode=mode.label, request=request)


def load_mode_table(path: Optional[Union[str, Path]] = None) -> ModeTable:
    """Return the table of a YAML file, by default the package's own `config/modes.yaml`.

    Raises
    ------
    ConfigError
        If the file cannot be read, or names a mode, request or step that does not exist, or has a row twice.
    """
    data = read_yaml(path or package_file("shellbot_action_manager", "config/modes.yaml"), ConfigError)
    _require("mode table", data, ("transitions", "refusals"))
    transitions: Dict[Tuple[Mode, str], Transition] = {}
    for row in _rows(data["transitions"], "transitions", ("from", "request", "goal", "steps")):
        steps = tuple(_known("step", step, STEPS) for step in row["steps"])
        entry = Transition(_mode(row["goal"]), steps)
        for mode in row["from"]:
            _add(transitions, (_mode(mode), _known("request", row["request"], REQUESTS)), entry)
    refusals: Dict[Tuple[Mode, str], str] = {}
    for row in _rows(data["refusals"], "refusals", ("from", "request", "text")):
        for mode in row["from"]:
            for request in row["request"]:
                _add(refusals, (_mode(mode), _known("request", request, REQUESTS)), str(row["text"]))
    return ModeTable(transitions, refusals)


def _rows(rows: Any, name: str, keys: Sequence[str]) -> List[Mapping[str, Any]]:
    if not isinstance(rows, list):
        raise ConfigError(f"mode table: {name} is {type(rows).__name__}; expected a list of rows")
    for i, row in enumerate(rows):
        _require(f"mode table: {name}[{i}]", row, keys)
    return rows


def _require(where: str, found: Any, keys: Sequence[str]) -> None:
    try:
        check_names(found, keys, keys)
    except SettingsError as error:
        raise ConfigError(f"{where}: {error}") from error


def _known(kind: str, value: Any, choices: Sequence[str]) -> str:
    if value not in choices:
        raise ConfigError(f"mode table: there is no {kind} '{value}'; choose from {', '.join(choices)}")
    return str(value)


def _mode(name: Any) -> Mode:
    return Mode[_known("mode", name, [mode.label for mode in Mode]).upper()]


def _add(table: Dict[Tuple[Mode, str], Any], key: Tuple[Mode, str], value: Any) -> None:
    if key in table:
        raise ConfigError(f"mode table: from {key[0].label} request {key[1]} stands there twice; remove one row")
    table[key] = value
