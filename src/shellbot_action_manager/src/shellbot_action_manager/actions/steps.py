# SPDX-License-Identifier: MIT
"""The steps that an action is made of, and how they are read from their rows in a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

from shellbot_action_manager.actions.expressions import Number, evaluate
from shellbot_action_manager.body.geometry import LEG_COUNT
from shellbot_action_manager.errors import ActionError
from shellbot_action_manager.gait.walk_to import GuidedMotion, LineWalk, SpotTurn
from shellbot_action_manager.modes.mode_table import REQUESTED_MODES
from shellbot_common import check_names, short

COORDINATES = {
    "body": ("x", "y", "z", "roll_deg", "pitch_deg", "yaw_deg"),
    "foot": ("x", "y", "z"),
    "upper": ("height", "opening_deg"),
}
"""What a waypoint of each kind of motion may give: m, and deg where the name says so."""
MEASURED = ("elapsed", "tilt_deg", "roll_deg", "pitch_deg", "behind_deg", "walked", "turned_deg")
"""What a condition `while` may use beside parameters; docs/actions.md explains them."""
MOST_STEPS = 500  # of one performance, references and repetitions counted
LONGEST_S = 600.0  # s of a step, a wait, or of steps on the spot without a walk or a change of mode between them
_KINDS = ("do", "action", "mode", "walk", "turn", "by_hand")
_STEP_KEYS = ("name", *_KINDS, "with", "repeat", "when", "while", "wait")
_MOTION_KEYS = ("move", "legs", "toward", "to", "through", "time", "at", "priority")
_WALK_KEYS = ("x", "y", "speed", "gait")
_TURN_KEYS = ("angle_deg", "rate_deg")
Where = Tuple[Union[str, int], ...]


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
class Place:
    """Where a step stands, for errors."""

    action: str = ""
    where: Where = ()  #: Keys and indices in the action


@dataclass(frozen=True)
class Step:
    """Motions that begin together; the next step begins when all of them have ended."""

    name: str
    motions: Tuple[Motion, ...]
    wait: float  #: s that the posture is held at its end
    place: Place = Place()


@dataclass(frozen=True)
class ModeStep:
    """A request of a mode; the next step begins when the robot is at rest in it."""

    name: str
    mode: str
    place: Place


@dataclass(frozen=True)
class WalkStep:
    """A walk or a turn by the odometry."""

    name: str
    motion: GuidedMotion
    gait: str  #: Empty: the one in use
    place: Place


@dataclass(frozen=True)
class HandStep:
    """A lifted foot that the operator leads; the last step."""

    name: str
    leg: int
    place: Place


@dataclass(frozen=True)
class Loop:
    """Steps that are begun as long as a condition holds, at most so often."""

    steps: Tuple[AnyStep, ...]
    condition: str
    values: Mapping[str, Number]  #: Of the parameters
    most: int
    place: Place


AnyStep = Union[Step, ModeStep, WalkStep, HandStep, Loop]


def check_step(row: Any) -> None:
    """Check the keys of a step.

    Raises
    ------
    ActionError, SettingsError
        If there is an unknown key, or more than one of do, action, mode, walk and turn.
    """
    check_names(row, _STEP_KEYS, ())
    kinds = [key for key in _KINDS if key in row]
    if len(kinds) > 1:
        raise ActionError(f"a step has either {kinds[0]} or {kinds[1]}; split it in two")
    if "with" in row and kinds != ["action"]:
        raise ActionError("with gives the parameters of another action; give action, too")
    if "wait" in row and kinds not in ([], ["do"]):
        raise ActionError(f"a step with {kinds[0]} has no wait; give the wait a step of its own")


def read_step(row: Mapping[str, Any], values: Mapping[str, Number], place: Place) -> AnyStep:
    """Return the step of a row that is no reference to another action.

    Parameters
    ----------
    row : mapping
        As in the file, its keys checked.
    values : mapping of str to number
        Of the parameters.
    place : Place
        Of the row.

    Raises
    ------
    ActionError, SettingsError
        If something in it is wrong.
    """
    wait = evaluate(row.get("wait", 0), values)
    if not 0.0 <= wait <= LONGEST_S:
        raise ActionError(f"wait is {wait:g} s; give 0 to {LONGEST_S:g}")
    if "mode" in row:
        if row["mode"] not in list(REQUESTED_MODES):
            raise ActionError(f"mode is {short(row['mode'])}; choose from {', '.join(REQUESTED_MODES)}")
        return ModeStep(_name(row, row["mode"]), str(row["mode"]), place)
    if "walk" in row or "turn" in row:
        kind = "walk" if "walk" in row else "turn"
        motion = (_walk if kind == "walk" else _turn)(row[kind], values)
        return WalkStep(_name(row, kind), motion, str((row[kind] or {}).get("gait", "")), place)
    if "by_hand" in row:
        leg = whole("by_hand", evaluate(row["by_hand"], values), 1, LEG_COUNT)
        return HandStep(_name(row, "by hand"), leg, place)
    motions = row.get("do") or []
    if not isinstance(motions, list):
        raise ActionError("do is no list; give one entry for each motion")
    if not motions and not wait:
        raise ActionError(f"nothing to do; give {', '.join(_KINDS)} or wait")
    name = _name(row, f"step {int(place.where[1]) + 1}")
    found = tuple(_motion(motion, values, (*place.where, "do", k)) for k, motion in enumerate(motions))
    return Step(name, found, float(wait), place)


def _name(row: Mapping[str, Any], default: str) -> str:
    name = row.get("name", default)
    if not isinstance(name, (str, int, float)) or len(str(name)) > 60:
        raise ActionError(f"name is {short(name)}; give a text of 60 characters at most")
    return str(name)


def read_condition(row: Mapping[str, Any], values: Mapping[str, Number]) -> str:
    """Return the condition `while` of a row, tried with zeros for what is measured; empty: it has none.

    Raises
    ------
    ActionError
        If it cannot be computed.
    """
    if "while" not in row:
        return ""
    try:
        evaluate(row["while"], {**values, **dict.fromkeys(MEASURED, 0.0)})
    except ActionError as error:
        raise ActionError(f"while: {error}") from None
    return str(row["while"])


def whole(name: str, value: Number, low: int, high: int) -> int:
    """Return a whole number in a range.

    Raises
    ------
    ActionError
        If it is none, or outside.
    """
    if not low <= value <= high or int(value) != value:
        raise ActionError(f"{name} is {value:g}; give a whole number from {low} to {high}")
    return int(value)


def _walk(row: Any, values: Mapping[str, Number]) -> LineWalk:
    check_names(row, _WALK_KEYS, ())
    x, y = (_between(f"{key} of walk", evaluate(row.get(key, 0), values), -50.0, 50.0, "m") for key in "xy")
    distance = math.hypot(x, y)
    if distance < 1e-3:
        raise ActionError("walk leads nowhere; give x (ahead), y (to the left) or both, m")
    speed = _between("speed of walk", evaluate(row.get("speed", 0.15), values), 0.02, 0.5, "m/s")
    return LineWalk(distance, (x / distance, y / distance), speed)


def _turn(row: Any, values: Mapping[str, Number]) -> SpotTurn:
    check_names(row, _TURN_KEYS, ("angle_deg",))
    angle = _between("angle_deg of turn", evaluate(row["angle_deg"], values), -3600.0, 3600.0, "deg")
    if abs(angle) < 0.1:
        raise ActionError(f"angle_deg of turn is {angle:g}; give the angle to turn by, counter-clockwise positive")
    rate = _between("rate_deg of turn", evaluate(row.get("rate_deg", 30), values), 6.0, 120.0, "deg/s")
    return SpotTurn(math.radians(angle), math.radians(rate))


def _between(name: str, value: Number, low: float, high: float, unit: str) -> float:
    if not low <= value <= high:
        raise ActionError(f"{name} is {value:g} {unit}; give {low:g} to {high:g}")
    return float(value)


def _motion(row: Any, values: Mapping[str, Number], where: Where) -> Motion:
    check_names(row, _MOTION_KEYS, ("move",))
    kind = row["move"]
    if kind not in list(COORDINATES):
        raise ActionError(f"move is {short(kind)}; choose from {', '.join(COORDINATES)}")
    legs = row.get("legs")
    if (legs is None) != (kind == "body"):
        raise ActionError("the body has no legs key" if kind == "body" else "legs is missing; give a list, or all")
    if legs == "all":
        legs = list(range(1, LEG_COUNT + 1))
    if legs is not None and not isinstance(legs, list):
        legs = [legs]
    if legs == []:
        raise ActionError("legs is empty; give a leg, a list of legs, or all")
    numbers = tuple(whole("legs", evaluate(leg, values), 1, LEG_COUNT) for leg in legs or [])
    if len(set(numbers)) < len(numbers):
        raise ActionError(f"legs {list(numbers)} names one twice; name each once")
    toward = None
    if "toward" in row:
        if kind != "body":
            raise ActionError("toward is for the body; feet move in the axes of their own legs")
        toward = whole("toward", evaluate(row["toward"], values), 1, LEG_COUNT)
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
        if not 0.01 <= time <= LONGEST_S:
            raise ActionError(
                f"time is {time:g} s; give 0.01 to {LONGEST_S:g}, or leave it out to be as fast as possible"
            )
    priority = whole("priority", evaluate(row.get("priority", 0), values), -100, 100)
    return Motion(kind, numbers, toward, through, time, priority, where, _times(row, through, values))


def _times(row: Mapping[str, Any], through: Sequence[Any], values: Mapping[str, Number]) -> Tuple[float, ...]:
    if "at" not in row:
        return ()
    if "time" in row:
        raise ActionError("give either time or at")
    if not through:
        raise ActionError("at is for waypoints; give to: rest a time, or leave it out to be as fast as possible")
    at = row["at"] if isinstance(row["at"], list) else [row["at"]]
    times = tuple(float(evaluate(value, values)) for value in at)
    if len(times) != len(through):
        raise ActionError(f"at has {len(times)} times for {len(through)} waypoints; give one for each")
    steps = [later - earlier for earlier, later in zip((0.0, *times), times)]
    if not all(step >= 0.01 for step in steps) or times[-1] > LONGEST_S:
        raise ActionError(
            f"at is {short(list(times))}; give seconds that increase from 0 by 0.01 at least, to {LONGEST_S:g}"
        )
    return times


def _waypoint(row: Any, kind: str, values: Mapping[str, Number]) -> Dict[str, float]:
    check_names(row, COORDINATES[kind], COORDINATES[kind] if kind == "upper" else ())
    if not row:
        raise ActionError("a waypoint gives nothing; give one coordinate at least")
    found = {key: float(evaluate(value, values)) for key, value in row.items()}
    for key, value in found.items():
        most, unit = (360.0, "deg") if key.endswith("_deg") else (1.0, "m")  # reach is checked by the planner
        _between(f"{key} of {kind}", value, -most, most, unit)
    return found
