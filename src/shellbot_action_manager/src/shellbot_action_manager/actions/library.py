# SPDX-License-Identifier: MIT
"""The action library: named motions in YAML files; parsed and checked here, turned into postures by `planning`.

An action is a sequence of steps; a step moves body, feet and upper shells at the same time. Every number may be an
expression of the action's parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import yaml

from shellbot_action_manager.actions.expressions import Number, evaluate
from shellbot_action_manager.body.geometry import LEG_COUNT
from shellbot_action_manager.errors import ActionError, ConfigError
from shellbot_common import SettingsError, check_names, package_file, read_yaml

COORDINATES = {
    "body": ("x", "y", "z", "roll_deg", "pitch_deg", "yaw_deg"),
    "foot": ("x", "y", "z"),
    "upper": ("height", "opening_deg"),
}
"""What a waypoint of each kind of motion may give: m, and deg where the name says so."""
_MOST_STEPS = 500  # of one performance, references and repetitions counted
_ACTION_KEYS = ("text", "parameters", "steps")
_STEP_KEYS = ("name", "do", "repeat", "when", "wait", "action", "with")
_MOTION_KEYS = ("move", "legs", "toward", "to", "through", "time", "at", "priority")
_PARAMETER_KEYS = ("default", "range", "unit", "text")
Where = Tuple[Union[str, int], ...]


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
class Motion:
    """What some limbs do in a step, with the numbers that the parameters give."""

    kind: str  #: Key of COORDINATES
    legs: Tuple[int, ...]  #: Of feet or upper shells, 1 to 6
    toward: Optional[int]  #: Leg towards which the body's x points; None: ahead
    through: Tuple[Mapping[str, float], ...]  #: Waypoints; empty for the posture at rest
    time: Optional[float]  #: s; None: as fast as the limits allow
    priority: int  #: The higher one wins where two motions of a step move the same limb
    where: Where = ()  #: In the file, for errors
    at: Tuple[float, ...] = ()  #: When each waypoint is passed, s since the step began; empty: as `time` says


@dataclass(frozen=True)
class Step:
    """Motions that begin together; the next step begins when all of them have ended."""

    name: str
    motions: Tuple[Motion, ...]
    wait: float  #: s that the posture is held at its end
    where: Where = ()


@dataclass(frozen=True)
class Action:
    """An action as its file has it."""

    name: str
    text: str
    parameters: Mapping[str, Parameter]
    steps: Sequence[Any] = field(repr=False)  #: As read
    file: Path = Path()

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
            whole = isinstance(value, int) or float(value).is_integer()
            if not p.low <= value <= p.high or (p.is_whole and not whole):  # NaN fails the comparison
                kind = "a whole number" if p.is_whole else "a number"
                unit = f" {p.unit}" if p.unit else ""
                raise ActionError(
                    f"{name} of {self.name} is {value:g}{unit}; give {kind} from {p.low:g} to {p.high:g}{unit}"
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
            if not folder.is_dir():
                raise ActionError(f"the folder of actions {folder} does not exist; create it or correct its path")
            for file in sorted(folder.glob("*.yaml")):
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
        if name not in self._actions:
            raise ActionError(f"there is no action '{name}'; {_choices(name, sorted(self._actions))}")
        return self._actions[name]

    def steps(self, name: str, given: Mapping[str, Number]) -> Tuple[Step, ...]:
        """Return the steps of an action with its references, guards and repetitions resolved.

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
        steps = tuple(self._expand(action, action.values(given), (name,)))
        if not steps:
            raise ActionError(f"{name} has no step with these parameters; give it one")
        return steps

    def complain(self, name: str, where: Where, reason: str) -> ActionError:
        """Return an error that names file, line, action and step of what `where` points at."""
        action = self.find(name)
        steps = action.steps
        step = ""
        if len(where) > 1 and where[0] == "steps" and isinstance(where[1], int) and isinstance(steps, list):
            named = steps[where[1]].get("name", "") if isinstance(steps[where[1]], Mapping) else ""
            step = f", step {where[1] + 1}" + (f" ({named})" if named else "")
        return ActionError(f"{action.file}, line {_line(action.file, (name, *where))}: {name}{step}: {reason}")

    def _read(self, file: Path) -> None:
        for name, row in read_yaml(file, ConfigError).items():
            if name in self._actions:
                raise ActionError(
                    f"{file}, line {_line(file, (name,))}: action '{name}' is in {self._actions[name].file}, too; "
                    "give one of the two another name"
                )
            self._actions[name] = Action(str(name), "", {}, [], file)
            try:
                check_names(row, _ACTION_KEYS, ("text", "steps"))
                parameters = {key: _parameter(value) for key, value in (row.get("parameters") or {}).items()}
                if not isinstance(row["steps"], list):
                    raise ActionError("steps is no list; give one entry for each step")
            except (SettingsError, ActionError) as error:
                raise self.complain(name, (), str(error)) from None
            self._actions[name] = Action(str(name), str(row["text"]), parameters, row["steps"], file)

    def _expand(self, action: Action, values: Mapping[str, Number], within: Tuple[str, ...]) -> Iterator[Step]:
        count = 0
        for i, row in enumerate(action.steps):
            where: Where = ("steps", i)
            try:
                check_names(row, _STEP_KEYS, ())
                if not evaluate(row.get("when", 1), values):
                    continue
                repeat = _whole("repeat", evaluate(row.get("repeat", 1), values), 0, _MOST_STEPS)
                inner = self._steps_of(row, action, values, within, where)
            except (SettingsError, ActionError) as error:
                if isinstance(error, _Located):
                    raise
                raise _Located(str(self.complain(action.name, where, str(error)))) from None
            count += repeat * len(inner)
            if count > _MOST_STEPS:
                text = f"more than {_MOST_STEPS} steps; repeat less"
                raise _Located(str(self.complain(action.name, where, text)))
            for _ in range(repeat):
                yield from inner

    def _steps_of(
        self,
        row: Mapping[str, Any],
        action: Action,
        values: Mapping[str, Number],
        within: Tuple[str, ...],
        where: Where,
    ) -> List[Step]:
        wait = evaluate(row.get("wait", 0), values)
        if not 0.0 <= wait <= 600.0:
            raise ActionError(f"wait is {wait:g} s; give 0 to 600")
        if "action" in row:
            if "do" in row:
                raise ActionError("a step has either do or action; split it in two")
            other = self.find(str(row["action"]))
            if other.name in within:
                raise ActionError(f"a loop of references: {' > '.join((*within, other.name))}; remove one")
            given = {key: evaluate(value, values) for key, value in (row.get("with") or {}).items()}
            return list(self._expand(other, other.values(given), (*within, other.name)))
        motions = row.get("do") or []
        if not isinstance(motions, list):
            raise ActionError("do is no list; give one entry for each motion")
        if not motions and not wait:
            raise ActionError("nothing to do; give do, action or wait")
        name = str(row.get("name", f"step {int(where[1]) + 1}"))
        found = tuple(_motion(motion, values, (*where, "do", k)) for k, motion in enumerate(motions))
        return [Step(name, found, float(wait), where)]


class _Located(ActionError):
    """An error whose sentence has its place already."""


def _choices(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, 1)
    return (f"is {near[0]} meant? " if near else "") + f"There are: {', '.join(known) or 'none'}"


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


def _motion(row: Any, values: Mapping[str, Number], where: Where) -> Motion:
    check_names(row, _MOTION_KEYS, ("move",))
    kind = row["move"]
    if kind not in COORDINATES:
        raise ActionError(f"move is '{kind}'; choose from {', '.join(COORDINATES)}")
    legs = row.get("legs")
    if (legs is None) != (kind == "body"):
        raise ActionError("the body has no legs key" if kind == "body" else "legs is missing; give a list, or all")
    if legs == "all":
        legs = list(range(1, LEG_COUNT + 1))
    if legs is not None and not isinstance(legs, list):
        legs = [legs]
    numbers = tuple(_whole("legs", evaluate(leg, values), 1, LEG_COUNT) for leg in legs or [])
    if len(set(numbers)) < len(numbers):
        raise ActionError(f"legs {list(numbers)} names one twice; name each once")
    toward = None
    if "toward" in row:
        if kind != "body":
            raise ActionError("toward is for the body; feet move in the axes of their own legs")
        toward = _whole("toward", evaluate(row["toward"], values), 1, LEG_COUNT)
    if ("to" in row) == ("through" in row):
        raise ActionError("give either to (one waypoint) or through (a list of them)")
    points = [row["to"]] if "to" in row else row["through"]
    if points == ["rest"]:
        points = []
    elif not isinstance(points, list) or not points:
        raise ActionError("through is no list of waypoints; give one at least")
    through = tuple(_waypoint(point, kind, values) for point in points)
    time = None
    if "time" in row:
        time = float(evaluate(row["time"], values))
        if not 0.01 <= time <= 600.0:
            raise ActionError(f"time is {time:g} s; give 0.01 to 600, or leave it out to be as fast as possible")
    priority = _whole("priority", evaluate(row.get("priority", 0), values), -100, 100)
    return Motion(kind, numbers, toward, through, time, priority, where, _times(row, through, values))


def _times(row: Mapping[str, Any], through: Sequence[Any], values: Mapping[str, Number]) -> Tuple[float, ...]:
    if "at" not in row:
        return ()
    if "time" in row:
        raise ActionError("give either time or at")
    at = row["at"] if isinstance(row["at"], list) else [row["at"]]
    times = tuple(float(evaluate(value, values)) for value in at)
    if len(times) != len(through):
        raise ActionError(f"at has {len(times)} times for {len(through)} waypoints; give one for each")
    if not all(0.01 <= later - earlier <= 600.0 for earlier, later in zip((0.0, *times), times)):
        raise ActionError(f"at is {list(times)}; give seconds that increase from 0, each 0.01 to 600 after the last")
    return times


def _waypoint(row: Any, kind: str, values: Mapping[str, Number]) -> Dict[str, float]:
    check_names(row, COORDINATES[kind], COORDINATES[kind] if kind == "upper" else ())
    if not row:
        raise ActionError("a waypoint gives nothing; give one coordinate at least")
    return {key: float(evaluate(value, values)) for key, value in row.items()}


def _whole(name: str, value: Number, low: int, high: int) -> int:
    if not low <= value <= high or int(value) != value:
        raise ActionError(f"{name} is {value:g}; give a whole number from {low} to {high}")
    return int(value)


def _line(file: Path, where: Where) -> int:
    """Return the line, from 1, of the deepest key or entry of `where` that the file has."""
    node = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
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
