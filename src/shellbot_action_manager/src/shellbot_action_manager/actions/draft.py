# SPDX-License-Identifier: MIT
"""Puts the steps of an action together to a plan: what is planned in one piece, and what comes between the pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Sequence

import numpy as np

from shellbot_action_manager.actions.plan import Again, ByHand, Guided, ModeChange, Part, Performance, While
from shellbot_action_manager.actions.postures import Postures, joined
from shellbot_action_manager.actions.steps import LONGEST_S, AnyStep, HandStep, Loop, ModeStep, Place, Step, WalkStep
from shellbot_action_manager.errors import ActionError
from shellbot_common import TICK

if TYPE_CHECKING:
    from shellbot_action_manager.actions.library import ActionLibrary
    from shellbot_action_manager.actions.planning import Planner

_LONGEST_PLAN_S = 3600.0  # s of motions on the spot, all parts together: their postures are kept in memory
_ON_FEET = ("stand", "hexapod")


class Draft:
    """A plan in the making: the parts that are finished, and the postures since the last of them.

    Parameters
    ----------
    planner : Planner
        Plans and checks single steps.
    library : ActionLibrary
        Names file, line and step in what it refuses.
    place : Place
        Of the action.
    footholds : (6, 3) array
        Where the feet stand in W, m.
    height : float
        Of the body over them at rest, m.
    """

    def __init__(
        self, planner: Planner, library: ActionLibrary, place: Place, footholds: np.ndarray, height: float
    ) -> None:
        self._planner, self._library = planner, library
        self._place = place  # of the last step
        self._footholds, self._height = footholds, height
        self.parts: List[Part] = []
        self._mode = ""  # after the last change of mode; empty: the one that the action begins in, on its feet
        self._ended = False  # nothing may follow
        self._planned = 0.0  # s
        self._begin(planner.rest)

    @property
    def _on_feet(self) -> bool:
        return not self._mode or self._mode in _ON_FEET

    def _begin(self, posture: Postures) -> None:
        self._postures = posture
        self._names: List[str] = []
        self._ends: List[int] = []
        self._places: List[Place] = []

    def add(self, steps: Sequence[AnyStep]) -> None:
        """Add steps."""
        for step in steps:
            if self._ended:
                raise self._library.complain(
                    step.place, "by_hand is the last step of an action; leave out what follows"
                )
            if isinstance(step, Loop):
                self._add_loop(step)
            elif isinstance(step, ModeStep):
                self.rest()
                self.parts.append(ModeChange((step.name,), step.mode))
                self._mode = step.mode
            else:
                if not self._on_feet:
                    reason = f"the robot is in mode {self._mode} here; give a step with mode: stand or hexapod first"
                    raise self._library.complain(step.place, reason)
                self._add_on_feet(step)

    def _add_on_feet(self, step: AnyStep) -> None:
        if isinstance(step, WalkStep):
            self.rest()
            self.parts.append(Guided((step.name,), step.motion, step.gait))
            return
        if isinstance(step, HandStep):
            self._finish_part()
            if self._postures.stands[-1, step.leg - 1]:
                raise self._library.complain(step.place, f"the foot of lower_{step.leg} stands; lift it before")
            found = self._planner.check.refusal(self._planner.back(self._postures[-1]), self._footholds, self._height)
            if found is not None:
                raise self._library.complain(step.place, f"from here the way back to rest is not free: {found[1]}")
            self.parts.append(ByHand((step.name,), step.leg, self._postures[-1], self._footholds, self._height))
            self._begin(self._planner.rest)  # the way back is planned when the foot is let go
            self._ended = True
            return
        assert isinstance(step, Step)
        try:
            self._append(step.name, self._planner.step(step, self._postures[-1]), step.place)
        except ActionError as error:
            raise self._library.complain(step.place, str(error)) from None
        if TICK * self._ends[-1] > LONGEST_S:
            raise self._library.complain(step.place, f"it would take longer than {LONGEST_S:g} s; repeat less")

    def _add_loop(self, loop: Loop) -> None:
        travels = _travels(loop.steps)
        if any(isinstance(step, HandStep) for step in loop.steps):
            raise self._library.complain(loop.place, "by_hand is no part of a loop; it is the last step of an action")
        on_feet = self._on_feet
        if travels:
            self.rest()
        else:
            self._finish_part()
        begin, at = len(self.parts), self._postures
        self.parts.append(While(loop.condition, loop.values, loop.most, 0))
        self.add(loop.steps)
        if travels:
            self.rest()
        ends = zip(vars(at).values(), vars(self._postures).values())
        moved = any(np.abs(a - b[-1]).max(initial=0.0) > 1e-9 for a, b in ends)
        if moved or self._on_feet != on_feet:
            reason = "what is done while a condition holds ends elsewhere than it began; let it end as it began"
            raise self._library.complain(loop.place, reason)
        self._finish_part()
        if len(self.parts) == begin + 1:
            raise self._library.complain(loop.place, "nothing to do while the condition holds; give the step a wait")
        self.parts.append(Again(begin))
        self.parts[begin] = While(loop.condition, loop.values, loop.most, len(self.parts))

    def rest(self) -> None:
        """Bring body and feet back to rest, and end the part."""
        back = self._planner.back(self._postures[-1])
        if len(back.pose) > 1:
            self._append("back to rest", back, self._place)
        self._finish_part()

    def _append(self, name: str, postures: Postures, place: Place) -> None:
        self._postures = joined(self._postures, postures)
        self._names.append(name)
        self._ends.append(len(self._postures.pose) - 1)
        self._places.append(place)
        self._place = place

    def _finish_part(self) -> None:
        postures, ends = self._postures, np.array(self._ends)
        if not self._ends or ends[-1] == 0:
            self._begin(postures[-1])
            return
        found = self._planner.check.refusal(postures, self._footholds, self._height)
        if found is not None:
            i, reason = found
            at = int(np.searchsorted(ends, i))
            raise self._library.complain(self._places[at], f"{reason} (after {TICK * i:.2f} s, {self._names[at]})")
        self.parts.append(Performance(postures, tuple(self._names), ends, self._footholds, self._height))
        self._planned += TICK * float(ends[-1])
        if self._planned > _LONGEST_PLAN_S:
            raise self._library.complain(
                self._place,
                f"the motions would take longer than {_LONGEST_PLAN_S:g} s together; repeat less, or by while",
            )
        self._begin(postures[-1])


def _travels(steps: Sequence[AnyStep]) -> bool:
    """Return whether steps leave the footholds."""
    return any(_travels(s.steps) if isinstance(s, Loop) else not isinstance(s, Step) for s in steps)
