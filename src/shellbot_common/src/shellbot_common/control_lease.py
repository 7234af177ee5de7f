# SPDX-License-Identifier: MIT
"""Who is in control of a robot: one operator at a time, by priority, as long as it shows signs of life.

As in twist_mux, priorities are settings of the robot, not of the operator's machine; unlike there, senders are
distinguished by their names, so that all of them use the same topics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Callable, Dict, Mapping, Optional, Set, Tuple

from shellbot_common.settings import Settings, number, required

Answer = Tuple[bool, str]


@dataclass(frozen=True)
class LeaseConfig(Settings):
    """Settings; their meaning is in ``config/operators.yaml``."""

    silent_after: float = number(0.05, 5.0, "s")
    free_after: float = number(0.1, 60.0, "s")
    driving: float = number(0.0, 10.0, "s")
    default_priority: int = number(0, 1000)
    priorities: Mapping[str, int] = required()

    def conflict(self) -> str:
        """Return that control would be free before its operator counts as silent, if so."""
        if self.free_after < self.silent_after:
            return f"free_after is {self.free_after:g} s; give at least silent_after ({self.silent_after:g} s)"
        return ""

    def priority(self, name: str) -> int:
        """Return the priority of an operator: that of the first pattern that its name matches."""
        matching = (value for pattern, value in self.priorities.items() if fnmatchcase(name, pattern))
        return next(matching, self.default_priority)


class ControlLease:
    """
    The state of control. Every method takes the time `t`, s of a steady wall clock: operators live in real time.

    Parameters
    ----------
    config : LeaseConfig
        Settings.
    describe : callable
        Name of a node to what a person calls it, such as ``teleop_window on laptop``.

    Attributes
    ----------
    holder : str
        Node of the operator in control; empty: no operator is. To be read only.
    """

    def __init__(self, config: LeaseConfig, describe: Callable[[str], str] = str) -> None:
        self._config, self._describe = config, describe
        self.holder = ""
        self._operators: Dict[str, str] = {}  # names of all that ever requested control, and what a person calls them
        self._alive, self._drove = -math.inf, -math.inf
        self._reported: Set[str] = set()

    @property
    def drives(self) -> bool:
        """Whether the last velocity that counted was one of the operator in control, and not zero."""
        return self._drove > -math.inf

    def take(self, name: str, t: float) -> Answer:
        """Return whether an operator gets control, and a sentence."""
        who = self._operators[name] = self._describe(name)
        if name == self.holder or not self.holder:
            text = f"{who} is in control"
        elif t - self._alive > self._config.free_after:
            text = f"{who} is in control; {self._operators[self.holder]} was silent"
        elif self._config.priority(name) > self._config.priority(self.holder):
            text = f"{who} has the higher priority and took control from {self._operators[self.holder]}"
        else:
            other = self._operators[self.holder]
            text = f"{other} is in control: it must give control up first, or end; the emergency stop always works"
            return False, text
        if name != self.holder:
            self._drove = -math.inf
        self.holder, self._alive = name, t
        self._reported.clear()
        return True, text

    def give_up(self, name: str) -> Answer:
        """Return that an operator gave control up, or that it had none."""
        if name != self.holder:
            return False, f"{self._describe(name)} is not in control"
        self.holder, self._drove = "", -math.inf
        return True, f"{self._operators[name]} gave control up; no operator is in control"

    def is_alive(self, name: str, t: float) -> None:
        """Take a sign of life."""
        if name == self.holder:
            self._alive = t
            self._reported.discard("silent")

    def refusal(self, name: str, t: float) -> str:
        """Return why a command does not count, or "": that of an operator needs control."""
        self.is_alive(name, t)
        if name not in self._operators or name == self.holder:
            return ""
        other = self._operators.get(self.holder, "no operator")
        return f"{self._operators[name]} is not in control ({other} is): its command is ignored; take control first"

    def motion_refusal(self, name: str, moves: bool, t: float) -> str:
        """Return why a velocity, or what goes on like one, does not count, or "".

        Parameters
        ----------
        name : str
            Its sender.
        moves : bool
            Whether it is not zero.
        t : float
            Wall clock, s.
        """
        reason = self.refusal(name, t)
        if reason:
            return reason
        if name == self.holder:
            self._drove = t if moves else -math.inf
        elif t - self._drove <= self._config.driving:
            return f"{self._operators[self.holder]} drives: what {name} commands is ignored meanwhile"
        else:
            self._drove = -math.inf
        return ""

    def silence(self, t: float) -> str:
        """Return in words, once, that the operator in control drove and fell silent, or later that control is free."""
        age = t - self._alive
        if not self.holder or age <= self._config.silent_after:
            return ""
        who = self._operators[self.holder]
        if "silent" not in self._reported:
            self._reported.add("silent")
            drove, self._drove = self.drives, -math.inf
            ended = f"no sign of life of {who} for {self._config.silent_after:g} s: its velocity is zero now"
            return f"{ended} (program ended, or link cut)" if drove else ""
        if age > self._config.free_after:
            self.holder = ""
            return f"{who} is silent: no operator is in control"
        return ""

    def next_check(self, t: float) -> Optional[float]:
        """Return after how many seconds to call `silence` again at the latest, None: not before control is taken."""
        if not self.holder:
            return None
        limit = self._config.free_after if "silent" in self._reported else self._config.silent_after
        # a sign of life may come and end the silence meanwhile, and the next one begin
        return min(max(self._alive + limit - t, 0.0) + 1e-3, self._config.silent_after)
