# SPDX-License-Identifier: MIT
"""The actions page as data: what the robot can perform, and how far it is; toolkit-free and ROS-free."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Dict, Sequence, Tuple, Union

from shellbot_teleop.errors import ParameterError
from shellbot_teleop.texts import tr

SILENT_S = 3.0  # feedback comes at 10 Hz of simulated time; a slow simulation still tells something within this

_CANCELS = {
    "now": tr("Cancel takes it back to rest at once."),
    "step": tr("Cancel takes effect after the present step."),
    "never": tr("It cannot be cancelled: it plays to its end."),
}
_PHASES = {"requested": tr("requested"), "running": tr("running"), "paused": tr("paused")}


@dataclass(frozen=True)
class ActionParameter:
    """A number that the operator may choose."""

    name: str
    #: default, low, high: Default and range, in the unit of `unit`
    default: float
    low: float
    high: float
    unit: str = ""
    text: str = ""
    whole: bool = False  #: Only whole numbers

    @property
    def range(self) -> str:
        """The range in words."""
        return f"{tr('{low:g} to {high:g}', low=self.low, high=self.high)} {self.unit}".strip()

    def read(self, text: str) -> float:
        """Return the number that was typed; raises ParameterError."""
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not self.low <= value <= self.high or (self.whole and value != round(value)):
            rule = tr("{name} = {value}: give a number, {range}.", name=self.name, value=text, range=self.range)
            whole = tr("{name} = {value}: give a whole number, {range}.", name=self.name, value=text, range=self.range)
            raise ParameterError(whole if self.whole else rule)
        return value


@dataclass(frozen=True)
class ActionEntry:
    """An action that the robot knows; `cancel` tells when a cancel takes effect: now, step or never."""

    name: str
    text: str
    parameters: Tuple[ActionParameter, ...] = ()
    cancel: str = "now"

    @property
    def cancels(self) -> str:
        """What a cancel does, as a sentence."""
        return _CANCELS.get(self.cancel, "")

    @property
    def defaults(self) -> str:
        """All parameters as a line that `read` understands."""
        return ", ".join(f"{parameter.name}={parameter.default:.12g}" for parameter in self.parameters)

    def read(self, line: str) -> Dict[str, float]:
        """Return the parameters of a line such as ``leg=2, times=3``; raises ParameterError."""
        known = {parameter.name: parameter for parameter in self.parameters}
        values: Dict[str, float] = {}
        for entry in filter(None, re.split(r"[,\s]+", line)):
            name, _, text = entry.partition("=")
            if name not in known or name in values:
                names = ", ".join(f"{name}=..." for name in known)
                raise ParameterError(
                    tr("{entry}: {name} takes {names}, each once.", entry=entry, name=self.name, names=names)
                )
            values[name] = known[name].read(text)
        return values


@dataclass(frozen=True)
class ActionsSeen:
    """Actions that the robot lists; none: there is no robot, or one without actions."""

    entries: Tuple[ActionEntry, ...]


@dataclass(frozen=True)
class GoalSeen:
    """An action was requested, here or by another program."""

    name: str
    identity: str


@dataclass(frozen=True)
class FeedbackSeen:
    """How far an action is: step, fraction of the whole (0..1), whether it pauses."""

    identity: str
    step: str
    fraction: float
    paused: bool


@dataclass(frozen=True)
class ResultSeen:
    """An action ended, or was refused; `level` is info or warn, `text` one sentence."""

    identity: str
    level: str
    text: str


ActionNews = Union[ActionsSeen, GoalSeen, FeedbackSeen, ResultSeen]


@dataclass(frozen=True)
class ActionState:
    """What is being performed.

    Attributes
    ----------
    phase : str
        idle, requested, running, paused.
    name, step, fraction, text, level
        Name of the action, its present step, fraction of the whole (0..1), and the sentence with which the last one
        ended, with its level.
    """

    phase: str = "idle"
    name: str = ""
    step: str = ""
    fraction: float = 0.0
    text: str = ""
    level: str = "info"

    @property
    def busy(self) -> bool:
        """Whether something is under way that can be cancelled."""
        return self.phase != "idle"

    @property
    def line(self) -> str:
        """How far it is, in words; empty where nothing is under way."""
        if not self.busy:
            return ""
        phase, percent = _PHASES[self.phase], 100 * self.fraction
        return tr("{name} {phase}, {percent:.0f} %", name=self.name, phase=phase, percent=percent) + f"  {self.step}"


class ActionModel:
    """Follows the robot's actions, whoever started them.

    Attributes
    ----------
    entries : tuple of ActionEntry
        What the robot knows, in order of names; to be read only.
    """

    def __init__(self) -> None:
        self.entries: Tuple[ActionEntry, ...] = ()
        self._state = ActionState()
        self._identity = ""  # of the action that the state is about
        self._names: dict = {}  # identity: name, of what was requested and has not ended
        self._last_feedback = 0.0

    def found(self, search: str) -> Sequence[ActionEntry]:
        """Return the actions in whose name or sentence all words of `search` occur; names come before sentences."""
        words = search.lower().split()
        hits = [entry for entry in self.entries if all(word in f"{entry.name} {entry.text}".lower() for word in words)]
        return sorted(hits, key=lambda entry: not all(word in entry.name.lower() for word in words))

    @property
    def none_found(self) -> str:
        """What stands where a search finds nothing."""
        if self.entries:
            return tr("None of {count} actions matches.", count=len(self.entries))
        return tr("No actions: no robot lists any on the topic actions. Those with an action_manager do.")

    def observe(self, news: ActionNews, t: float) -> None:
        """Take over what the robot sends at time `t` (s, any steady clock)."""
        if isinstance(news, ActionsSeen):
            self.entries = tuple(sorted(news.entries, key=lambda entry: entry.name))
            self._state, self._names = ActionState(), {}  # sent once in the life of an action manager: it is a new one
        elif isinstance(news, GoalSeen):
            if not news.identity:
                return  # from a command line: the server gives it another one
            self._names[news.identity] = news.name
            if not self._state.busy:
                self._identity, self._last_feedback = news.identity, t
                self._state = ActionState("requested", news.name)
        elif isinstance(news, FeedbackSeen):
            self._identity, self._last_feedback = news.identity, t
            name = self._names.get(news.identity, tr("an action"))
            fraction = min(max(news.fraction, 0.0), 1.0) if news.fraction == news.fraction else 0.0
            self._state = ActionState("paused" if news.paused else "running", name, news.step, fraction)
        else:
            name = self._names.pop(news.identity, "")
            if self._state.busy and news.identity != self._identity:  # another one was refused, the present goes on
                self._state = replace(self._state, text=f"{name}: {news.text}", level=news.level)
            else:
                self._state = ActionState(text=f"{name}: {news.text}" if name else news.text, level=news.level)

    def state(self, t: float) -> ActionState:
        """Return what is performed; an action without feedback for `SILENT_S` has a warning."""
        if self._state.busy and t - self._last_feedback > SILENT_S:
            text = tr("no feedback from it; is the simulation paused, or the robot gone?")
            return replace(self._state, text=text, level="warn")
        return self._state
