# SPDX-License-Identifier: MIT
"""The action library: named motions in YAML files; parsed and checked here, turned into postures by `planning`.

An action is a sequence of steps; a step moves body, feet and upper shells at the same time. Every number may be an
expression of the action's parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Sequence, Tuple, Union

import yaml

from shellbot_action_manager.actions.expressions import Number, evaluate
from shellbot_action_manager.actions.steps import (
    MEASURED,
    MOST_STEPS,
    AnyStep,
    Loop,
    Place,
    Where,
    check_step,
    read_condition,
    read_step,
    whole,
)
from shellbot_action_manager.errors import ActionError, ConfigError
from shellbot_common import SettingsError, check_names, package_file, read_yaml, short

CANCELS = ("now", "step", "never")
"""When an action that is cancelled goes back to rest: at once, after the present step, or at its own end."""
_ACTION_KEYS = ("text", "parameters", "cancel", "steps")
_PARAMETER_KEYS = ("default", "range", "unit", "text")
_RESERVED = ("name", "speed", "on_progress", "each_tick")  # keywords of those who start an action
_MOST_ROWS = 10 * MOST_STEPS  # read for one performance, with all references expanded
_DEEPEST = 20  # references within references


@dataclass(frozen=True)
class Parameter:
    """A number that whoever starts an action may choose."""

    default: Number
    low: Number
    high: Number
    unit: str = ""
    text: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it must be a whole number: its default is."""
        return isinstance(self.default, int)


@dataclass(frozen=True)
class Action:
    """An action as its file has it."""

    name: str
    text: str
    parameters: Mapping[str, Parameter]
    steps: Sequence[Any] = field(repr=False)  #: As read
    file: Path = Path()
    cancel: str = "now"  #: One of CANCELS
    source: str = field(default="", repr=False)  #: Text of the file when it was read

    def values(self, given: Mapping[str, Number]) -> Dict[str, Number]:
        """Return all parameters, those not given by default.

        Raises
        ------
        ActionError
            If one does not exist, is out of its range or not whole; names the action, the value and the range.
        """
        known = self.parameters
        for name in given:
            if name not in known:
                raise ActionError(f"{self.name} has no parameter '{name}'; {_choices(name, list(known))}")
        values = {name: parameter.default for name, parameter in known.items()}
        for name, value in given.items():
            p = known[name]
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                raise ActionError(
                    f"{name} of {self.name} is {short(value)}; give a number from {p.low:g} to {p.high:g}"
                )
            whole = isinstance(value, int) or value.is_integer()
            if not p.low <= value <= p.high or (p.is_whole and not whole):  # NaN fails the comparison
                kind = "a whole number" if p.is_whole else "a number"
                unit = f" {p.unit}" if p.unit else ""
                shown = f"{value:g}" if isinstance(value, float) else short(value)
                raise ActionError(
                    f"{name} of {self.name} is {shown}{unit}; give {kind} from {p.low:g} to {p.high:g}{unit}"
                )
            values[name] = int(value) if p.is_whole else float(value)
        return values

    def assign(self, names: Sequence[str], values: Sequence[float]) -> Dict[str, float]:
        """Return values by the names of their parameters; without names they are those of the first parameters.

        Raises
        ------
        ActionError
            If there are not as many names as values.
        """
        names = names or list(self.parameters)[: len(values)]
        if len(names) != len(values):
            raise ActionError(
                f"{self.name}: {len(values)} parameters for {len(names)} names; give one value for each of "
                f"{', '.join(self.parameters) or 'none'}"
            )
        if len(set(names)) < len(names):
            raise ActionError(f"{self.name}: parameter names {', '.join(names)} have one twice; give each once")
        return dict(zip(names, values))


class ActionLibrary:
    """Actions by name.

    Parameters
    ----------
    folders : iterable of path, optional
        Folders whose ``*.yaml`` are read after the package's own ``config/actions``.

    Raises
    ------
    ActionError
        If a folder does not exist, a file cannot be read, or an action in it cannot be parsed; with file, line, action
        and step. Every action is parsed with the defaults of its parameters.
    """

    def __init__(self, folders: Iterable[Union[str, Path]] = ()) -> None:
        self._actions: Dict[str, Action] = {}
        own = package_file("shellbot_action_manager", "config/actions/basic.yaml").parent
        for folder in (own, *map(Path, folders)):
            for file in _files(folder):
                self._read(file)
        for action in self._actions.values():
            self.steps(action.name, {})

    @property
    def actions(self) -> Mapping[str, Action]:
        """All actions, as read."""
        return self._actions

    def find(self, name: str) -> Action:
        """Return an action by name.

        Raises
        ------
        ActionError
            If there is none of that name; names the nearest.
        """
        if not isinstance(name, str) or name not in self._actions:
            raise ActionError(f"there is no action {short(name)}; {_choices(str(name), sorted(self._actions))}")
        return self._actions[name]

    def steps(self, name: str, given: Mapping[str, Number]) -> Tuple[AnyStep, ...]:
        """Return the steps of an action with its references, guards and repetitions by number resolved.

        Parameters
        ----------
        name : str
            Of the action.
        given : mapping of str to number
            Parameters that differ from their defaults.

        Raises
        ------
        ActionError
            For an unknown action or parameter, a value out of range, or an error in the file; the latter with file,
            line, action and step.
        """
        action = self.find(name)
        self._rows = 0
        steps = tuple(self._expand(action, action.values(given), (name,)))
        if not steps:
            raise self.complain(Place(name, ("steps",)), "no step is left with these parameters; give it one")
        return steps

    def complain(self, place: Place, reason: str) -> ActionError:
        """Return an error that names file, line, action and step of a place."""
        action = self.find(place.action)
        where, steps = place.where, action.steps
        step = ""
        if len(where) > 1 and where[0] == "steps" and isinstance(where[1], int) and isinstance(steps, list):
            named = steps[where[1]].get("name", "") if isinstance(steps[where[1]], Mapping) else ""
            step = f", step {where[1] + 1}" + (f" ({named})" if named else "")
        line = _line(action.source, (action.name, *where))
        return ActionError(f"{action.file}, line {line}: {action.name}{step}: {reason}")

    def _read(self, file: Path) -> None:
        rows = read_yaml(file, ConfigError)
        source = file.read_text(encoding="utf-8")
        for name, row in rows.items():
            if not isinstance(name, str):
                raise ActionError(
                    f"{file}: an action is named {short(name)}; give a text, in quotes where YAML needs them"
                )
            if name in self._actions:
                raise ActionError(
                    f"{file}, line {_line(source, (name,))}: action '{name}' is in {self._actions[name].file}, too; "
                    "give one of the two another name"
                )
            self._actions[name] = Action(name, "", {}, [], file, source=source)
            try:
                check_names(row, _ACTION_KEYS, ("text", "steps"))
                parameters = _parameters(row.get("parameters") or {})
                if not isinstance(row["steps"], list):
                    raise ActionError("steps is no list; give one entry for each step")
                cancel = row.get("cancel", "now")
                if cancel not in list(CANCELS):
                    raise ActionError(f"cancel is {short(cancel)}; choose from {', '.join(CANCELS)}")
            except (SettingsError, ActionError) as error:
                raise self.complain(Place(name), str(error)) from None
            self._actions[name] = Action(name, str(row["text"]), parameters, row["steps"], file, cancel, source)

    def _expand(self, action: Action, values: Mapping[str, Number], within: Tuple[str, ...]) -> Iterator[AnyStep]:
        count = 0
        for i, row in enumerate(action.steps):
            place = Place(action.name, ("steps", i))
            try:
                self._rows += 1
                if self._rows > _MOST_ROWS:
                    raise ActionError(f"its references expand to more than {_MOST_ROWS} steps; refer to fewer actions")
                if len(within) > _DEEPEST:
                    raise ActionError(f"references are nested deeper than {_DEEPEST}; refer to fewer actions")
                check_step(row)
                if not evaluate(row.get("when", 1), values):
                    continue
                repeat = whole("repeat", evaluate(row.get("repeat", 1), values), 0, MOST_STEPS)
                condition = read_condition(row, values)
                if not repeat and not condition:
                    continue
                inner = self._inner(row, values, within) if "action" in row else [read_step(row, values, place)]
            except _Located:
                raise
            except (SettingsError, ActionError) as error:
                raise _Located(str(self.complain(place, str(error)))) from None
            count += (1 if condition else repeat) * len(inner)
            if count > MOST_STEPS:
                raise _Located(str(self.complain(place, f"more than {MOST_STEPS} steps; repeat less")))
            if condition:
                yield Loop(tuple(inner), condition, values, repeat, place)
                continue
            for _ in range(repeat):
                yield from inner

    def _inner(self, row: Mapping[str, Any], values: Mapping[str, Number], within: Tuple[str, ...]) -> List[AnyStep]:
        """Return the steps of the action that a row refers to."""
        other = self.find(row["action"])
        if other.name in within:
            raise ActionError(f"a loop of references: {' > '.join((*within, other.name))}; remove one")
        chosen = row.get("with") or {}
        if not isinstance(chosen, Mapping):
            raise ActionError(f"with is {short(chosen)}; give parameters of {other.name} by name, such as {{leg: 2}}")
        given = {str(key): evaluate(value, values) for key, value in chosen.items()}
        return list(self._expand(other, other.values(given), (*within, other.name)))


class _Located(ActionError):
    """An error whose sentence has its place already."""


def _choices(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, 1)
    there = f"are {', '.join(known)}" if known else "is none"
    return f"is {near[0]} meant? There {there}" if near else f"there {there}"


def _files(folder: Path) -> List[Path]:
    """Return the YAML files of a folder."""
    try:
        return sorted(file for file in folder.expanduser().iterdir() if file.suffix == ".yaml")
    except FileNotFoundError:
        reason = "does not exist; create it or correct its path"
    except NotADirectoryError:
        reason = "is a file; give the folder that it is in"
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); make it readable or correct its path"
    raise ActionError(f"the folder of actions {str(folder)[:200]} {reason}")


def _parameters(rows: Any) -> Dict[str, Parameter]:
    if not isinstance(rows, Mapping):
        raise ActionError(f"parameters is {short(rows)}; give a mapping of names to default and range")
    for name in rows:
        if not isinstance(name, str) or not name.isidentifier():
            raise ActionError(f"a parameter is named {short(name)}; give a name of letters, digits and underscores")
        if name in MEASURED:
            raise ActionError(f"{name} is what the robot measures; give the parameter another name")
        if name in _RESERVED:
            raise ActionError(f"{name} is a keyword of those who start an action; give the parameter another name")
    return {name: _parameter(row) for name, row in rows.items()}


def _parameter(row: Any) -> Parameter:
    check_names(row, _PARAMETER_KEYS, ("default", "range"))
    default, bounds = row["default"], row["range"]
    if not (isinstance(bounds, list) and len(bounds) == 2):
        raise ActionError(f"range is {bounds}; give its lower and upper end")
    low, high = (evaluate(value, {}) for value in bounds)
    default = evaluate(default, {})
    if not low <= default <= high:
        raise ActionError(f"default {default:g} is outside its range {low:g} to {high:g}")
    return Parameter(default, low, high, str(row.get("unit", "")), str(row.get("text", "")))


def _line(source: str, where: Where) -> int:
    """Return the line, from 1, of the deepest key or entry of `where` that a file's text has."""
    node = yaml.compose(source, Loader=yaml.SafeLoader)
    line = 1
    for key in where:
        if isinstance(node, yaml.MappingNode):
            pairs = [(k, v) for k, v in node.value if k.value == str(key)]
            if not pairs:
                break
            line, node = pairs[0][0].start_mark.line + 1, pairs[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line + 1
        else:
            break
    return line
