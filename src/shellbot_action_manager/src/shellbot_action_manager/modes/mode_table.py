# SPDX-License-Identifier: MIT
"""The mode table: which behaviour runs in each mode, and where each request leads; read from YAML and checked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, Dict, FrozenSet, List, Mapping, Optional, Sequence, Set, Tuple, Union

from shellbot_action_manager.behaviours.registry import behaviour_names
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
    HALFWAY = 7

    @property
    def label(self) -> str:
        """The name on the wire, in lower case."""
        return self.name.lower()


WAITING, STOPPED = Mode.WAITING, Mode.STOPPED
"""Before the first joint states, and after an emergency stop; neither can be requested, nor can halfway."""

REQUESTED_MODES: Tuple[str, ...] = tuple(m.label for m in Mode if m not in (WAITING, STOPPED, Mode.HALFWAY))
REQUESTS = (*REQUESTED_MODES, "recover", "perform")
"""Modes; `recover`, which leads a robot that has fallen to a mode; `perform`, which leads through an action."""

OBEYED = ("cmd_vel", "upper_shells")


@dataclass(frozen=True)
class ModeRow:
    """What runs while a mode is held."""

    behaviour: str  #: Name in the registry
    obeys: FrozenSet[str]  #: Commands of OBEYED that count in this mode and on the way to it
    text: str  #: Sentence of the mode topic


@dataclass(frozen=True)
class Transition:
    """Where a request leads: the goal, and the behaviours that run one after the other on the way."""

    goal: Mode
    steps: Tuple[str, ...]


@dataclass(frozen=True)
class TakeOver:
    """How a robot is taken over after a start or a rearm, when the behaviour of the mode recognises its posture."""

    #: The mode is the one that the robot was going to, if it is among these, and the first of them otherwise
    modes: Tuple[Mode, ...]
    text: str  #: Sentence of the mode topic
    continues: bool  #: Whether the start mode is requested from there after a start


@dataclass(frozen=True)
class ModeTable:
    """Checked table of modes and requests; `find` returns a transition or a refusal in words.

    `reverses` names the step that undoes a step from wherever it is, so that a request can turn it round; `durations`
    how long a step takes, s, where that is not 1 s.
    """

    modes: Mapping[Mode, ModeRow]
    transitions: Mapping[Tuple[Mode, str], Transition]
    refusals: Mapping[Tuple[Mode, str], str]
    take_over: Tuple[TakeOver, ...]
    reverses: Mapping[str, str]
    durations: Mapping[str, float]

    @property
    def behaviours(self) -> Set[str]:
        """Names of every behaviour in the table."""
        steps = {step for transition in self.transitions.values() for step in transition.steps}
        return steps | {row.behaviour for row in self.modes.values()}

    @property
    def start_modes(self) -> Tuple[str, ...]:
        """Labels of the modes that a robot can be taken over in, and so be sent to at the start."""
        found = dict.fromkeys(mode.label for row in self.take_over for mode in row.modes)
        return tuple(label for label in found if label in REQUESTS)

    def find(self, mode: Mode, request: str) -> Tuple[Optional[Transition], str]:
        """Return the transition for a request in a mode, or None and the reason for the operator."""
        if request not in REQUESTS:
            own = sorted({*REQUESTS} - {"perform"})  # that one is of actions
            return None, f"there is no request '{request}'; the requests are {', '.join(own)}"
        if mode.label == request:
            return None, f"already in mode {request}"
        found = self.transitions.get((mode, request))
        if found is not None:
            return found, ""
        text = self.refusals.get((mode, request), "no transition leads from {mode} to {request}; request sit first")
        return None, text.format(mode=mode.label, request=request)


def load_mode_table(path: Optional[Union[str, Path]] = None) -> ModeTable:
    """Return the table of a YAML file, by default the package's own `config/modes.yaml`.

    Raises
    ------
    ConfigError
        If the file cannot be read, or names a mode, request or behaviour that does not exist, or has a row twice.
    """
    data = read_yaml(path or package_file("shellbot_action_manager", "config/modes.yaml"), ConfigError)
    _require("mode table", data, ("modes", "transitions", "reverses", "durations", "refusals", "take_over"))
    behaviours = behaviour_names()
    modes = _mode_rows(data["modes"], behaviours)

    def known_mode(name: Any) -> Mode:
        return _mode(_known("mode", name, [mode.label for mode in modes]))

    transitions: Dict[Tuple[Mode, str], Transition] = {}
    for row in _rows(data["transitions"], "transitions", ("from", "request", "goal", "steps")):
        steps = tuple(_known("behaviour", step, behaviours) for step in _list(row, "steps"))
        entry = Transition(known_mode(row["goal"]), steps)
        for mode in _list(row, "from"):
            _add(transitions, (known_mode(mode), _known("request", row["request"], REQUESTS)), entry)
    refusals: Dict[Tuple[Mode, str], str] = {}
    for row in _rows(data["refusals"], "refusals", ("from", "request", "text")):
        for mode in _list(row, "from"):
            for request in _list(row, "request"):
                _add(refusals, (_mode(mode), _known("request", request, REQUESTS)), str(row["text"]))
    take_over = tuple(
        TakeOver(tuple(known_mode(mode) for mode in _list(row, "modes")), str(row["text"]), bool(row["continues"]))
        for row in _rows(data["take_over"], "take_over", ("modes", "text", "continues"))
    )
    reverses = {
        _known("behaviour", step, behaviours): _known("behaviour", reverse, behaviours)
        for step, reverse in _mapping(data["reverses"], "reverses").items()
    }
    durations = {
        _known("behaviour", step, behaviours): _duration(step, seconds)
        for step, seconds in _mapping(data["durations"], "durations").items()
    }
    return ModeTable(modes, transitions, refusals, take_over, reverses, durations)


def _list(row: Mapping[str, Any], key: str) -> Sequence[Any]:
    if isinstance(row[key], list):
        return list(row[key])
    raise ConfigError(f"mode table: {key} is {row[key]!r}; give a list, such as [{row[key]}]")


def _duration(step: str, value: Any) -> float:
    if isinstance(value, (int, float)) and 0.01 <= value <= 1e3:
        return float(value)
    raise ConfigError(f"mode table: durations: {step} is {value}; give 0.01 to 1000 s")


def _mode_rows(data: Any, behaviours: Sequence[str]) -> Dict[Mode, ModeRow]:
    data = _mapping(data, "modes")
    modes: Dict[Mode, ModeRow] = {}
    for name, row in data.items():
        _require(f"mode table: modes.{name}", row, ("behaviour", "obeys", "text"))
        obeys = frozenset(_known("command", command, OBEYED) for command in _list(row, "obeys"))
        modes[_mode(name)] = ModeRow(_known("behaviour", row["behaviour"], behaviours), obeys, str(row["text"]))
    for mode in (WAITING, STOPPED):
        if mode not in modes:
            raise ConfigError(f"mode table: modes lacks {mode.label}; add its row")
    return modes


def _mapping(data: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ConfigError(f"mode table: {name} is {type(data).__name__}; expected a row for each name")
    return data


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
