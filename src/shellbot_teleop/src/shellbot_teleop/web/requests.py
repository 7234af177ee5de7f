# SPDX-License-Identifier: MIT
"""What a page sends, checked: whatever a browser or a stranger writes becomes a request or an error sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, NoReturn, Tuple, Union

from shellbot_common import short
from shellbot_teleop.actions import Command, find_action
from shellbot_teleop.effects import CancelAction
from shellbot_teleop.errors import TeleopError
from shellbot_teleop.keys import ALL_KEYS

_LONGEST_NAME = 100  # characters
_MOST_PARAMETERS = 50
_GREATEST = 1e9  # of any number; no NaN is below it


class RequestError(TeleopError):
    """What a page sent is no request."""


@dataclass(frozen=True)
class Alive:
    """The page works and is seen."""


@dataclass(frozen=True)
class Press:
    """A key, or the button that stands for it, went down."""

    key: str


@dataclass(frozen=True)
class Release:
    """It came up."""

    key: str


@dataclass(frozen=True)
class Drop:
    """Everything held is dropped: the page lost the focus, or is `hidden` and cannot be operated."""

    hidden: bool


@dataclass(frozen=True)
class Push:
    """The stick: forward, left, turn left, -1 .. 1."""

    axes: Tuple[float, ...]


@dataclass(frozen=True)
class Do:
    """A command by the name of its action."""

    action: str


@dataclass(frozen=True)
class SetScale:
    """Fraction of the full speed."""

    value: float


@dataclass(frozen=True)
class SetGait:
    """Gait by its name."""

    name: str


@dataclass(frozen=True)
class SetLayout:
    """Key layout by its name."""

    name: str


@dataclass(frozen=True)
class SetPose:
    """Target of an axis of the body pose, m or rad."""

    axis: int
    value: float


@dataclass(frozen=True)
class SetShells:
    """Target of an axis of the upper shells, m or rad."""

    axis: int
    value: float


@dataclass(frozen=True)
class RunAction:
    """An action of the robot and its parameters."""

    name: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class PauseAction:
    """Pause the present action, or let it go on."""

    paused: bool


@dataclass(frozen=True)
class Look:
    """What the page shows now: the camera's picture, the table of joints, marks over the robot."""

    camera: bool
    joints: bool
    marks: bool


Request = Union[
    Alive,
    Press,
    Release,
    Drop,
    Push,
    Do,
    SetScale,
    SetGait,
    SetLayout,
    SetPose,
    SetShells,
    RunAction,
    PauseAction,
    CancelAction,
    Look,
]


def parse_request(text: Union[str, bytes]) -> Request:
    """Read a message of a page.

    Parameters
    ----------
    text : str
        A JSON object; `type` is one of the kinds, the rest are the fields of that request, each exactly once.

    Raises
    ------
    RequestError
        It is something else; the sentence says what, and what is allowed.
    """
    if not isinstance(text, str):
        raise RequestError("a page sends text, not bytes")
    try:
        fields = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"not JSON ({error}): {short(text)}") from error
    if not isinstance(fields, dict):
        raise RequestError(f"a JSON object is needed, not {short(text)}")
    kind = fields.pop("type", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise RequestError(f"type = {short(kind)}: choose from {', '.join(_KINDS)}")
    make, readers = _KINDS[kind]
    if set(fields) != set(readers):
        raise RequestError(f"{kind} has the fields {sorted(readers)}, not {short(sorted(fields))}")
    values = {}
    for name, read in readers.items():
        try:
            values[name] = read(fields[name])
        except RequestError as error:
            raise RequestError(f"{kind}: {name} = {short(fields[name])}: {error}") from None
    return make(**values)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _number(value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not abs(value) < _GREATEST:
        raise RequestError("give a finite number")
    return float(value)


def _axes(value: Any) -> Tuple[float, ...]:
    if not isinstance(value, list) or len(value) != 3:
        raise RequestError("give three numbers: forward, left, turn left")
    axes = tuple(_number(each) for each in value)
    if max(map(abs, axes)) > 1.0:
        raise RequestError("each is between -1 and 1")
    return axes


def _axis(count: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
            raise RequestError(f"give a whole number from 0 to {count - 1}")
        return value

    return read


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise RequestError("give true or false")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME or not value.isprintable():
        raise RequestError(f"give a name of 1 to {_LONGEST_NAME} characters")
    return value


def _key(value: Any) -> str:
    if not isinstance(value, str) or value not in ALL_KEYS:
        raise RequestError("there is no such key")
    return value


def _command(value: Any) -> str:
    if not isinstance(value, str) or not isinstance(find_action(value), Command) or value == "gait.request":
        raise RequestError("there is no such command")
    return value


def _values(value: Any) -> Mapping[str, float]:
    if not isinstance(value, dict) or len(value) > _MOST_PARAMETERS:
        raise RequestError(f"give up to {_MOST_PARAMETERS} parameters by name")
    return {_name(name): _number(number) for name, number in value.items()}


_KINDS: Dict[str, Tuple[Callable[..., Request], Dict[str, Callable[[Any], Any]]]] = {
    "alive": (Alive, {}),
    "press": (Press, {"key": _key}),
    "release": (Release, {"key": _key}),
    "drop": (Drop, {"hidden": _switch}),
    "push": (Push, {"axes": _axes}),
    "do": (Do, {"action": _command}),
    "scale": (SetScale, {"value": _number}),
    "gait": (SetGait, {"name": _name}),
    "layout": (SetLayout, {"name": _name}),
    "pose": (SetPose, {"axis": _axis(6), "value": _number}),
    "shells": (SetShells, {"axis": _axis(2), "value": _number}),
    "run": (RunAction, {"name": _name, "values": _values}),
    "pause": (PauseAction, {"paused": _switch}),
    "cancel": (CancelAction, {}),
    "look": (Look, {"camera": _switch, "joints": _switch, "marks": _switch}),
}
