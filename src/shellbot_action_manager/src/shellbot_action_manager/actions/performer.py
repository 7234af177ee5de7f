# SPDX-License-Identifier: MIT
"""Leads the robot through a planned action, part by part: plays postures, requests modes, walks, checks conditions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Dict, Optional, Union

import numpy as np

from shellbot_action_manager.actions.expressions import evaluate
from shellbot_action_manager.actions.guided_walk import GuidedWalk
from shellbot_action_manager.actions.hand_player import HandPlayer
from shellbot_action_manager.actions.performance import (
    Cancel,
    PerformanceCommands,
    PerformanceObservation,
)
from shellbot_action_manager.actions.plan import Again, ByHand, Guided, ModeChange, Part, Performance, Plan, While
from shellbot_action_manager.actions.planning import Planner
from shellbot_action_manager.actions.player import BACK, Player
from shellbot_action_manager.actions.postures import Postures
from shellbot_action_manager.errors import ActionError
from shellbot_common.performance import Outcome, PerformanceStatus

_MOST_JUMPS = 1000  # loops that are left out, one after the other, in a tick


class Performer:
    """Holds the action that is performed, or was last.

    Parameters
    ----------
    planner : Planner
        Plans the way back of a cancelled action.
    """

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._plan = Plan("", (), "now")
        self._index = 0
        self._player: Optional[Union[Player, HandPlayer]] = None
        self._walk: Optional[GuidedWalk] = None
        self._cancel: Optional[Cancel] = None
        self._because = ""
        self._requested = self._paused = False
        self._speed, self._elapsed = 1.0, 0.0
        self._counts: Dict[int, int] = {}  # how often each While went on
        self._seen = PerformanceObservation("", "", (), "")
        self._origin: Optional[np.ndarray] = None
        self.status: Optional[PerformanceStatus] = None

    @property
    def active(self) -> bool:
        """Whether an action is loaded and has not ended."""
        return self.status is not None and self.status.outcome is None

    @property
    def name(self) -> str:
        """The action that is performed, or was last."""
        return self._plan.name

    @property
    def plays(self) -> bool:
        """Whether there are postures to play now."""
        return self.active and self._player is not None and not self._player.ended

    def load(self, plan: Plan, speed: float, seen: PerformanceObservation) -> None:
        """Take an action; `go_on` begins it.

        Parameters
        ----------
        plan : Plan
            What to do.
        speed : float
            Fraction of the planned speed, positive.
        seen : PerformanceObservation
            Of the newest tick.

        Raises
        ------
        ActionError
            If it walks, and there is no odometry.
        """
        if seen.pose is None and any(isinstance(part, Guided) for part in plan.parts):
            raise ActionError(f"{plan.name} walks, and there is no odometry; start the node odometry")
        self._plan, self._speed, self._elapsed = plan, speed, 0.0
        self._paused, self._cancel, self._because, self._counts, self._origin = False, None, "", {}, None
        self._player = self._walk = None
        self.status = PerformanceStatus(plan.name, "")
        self._see(0.0, seen)
        self._begin_part(0)

    def pause(self, paused: bool) -> None:
        """Come to rest within 0.3 s wherever the action is, or go on; a change of mode goes on to its end."""
        self._paused = paused

    def undo(self) -> str:
        """Play the present step backwards and pause; return why not, or nothing."""
        if not self.plays or self._player is None:
            return "there is no step on the spot to undo; a walk or a change of mode is cancelled"
        if not self._player.undo():
            return "this is where the robot began to move on the spot, or it goes back to rest already"
        self._paused = True
        return ""

    def cancel(self, when: Cancel = Cancel.NOW, because: str = "") -> str:
        """Go back to rest, out of a pause too; return why not, or nothing.

        On the spot lifted feet are put down first, then the body goes home. A walk stops; a change of mode goes on to
        its end. What the action says of cancelling counts, too, unless there is a reason, `because`.
        """
        if not self.active or self._because or (self._cancel is not None and not because):
            return ""
        self._because = because
        if self._plan.cancel == "never" and not because:
            return f"{self._plan.name} is not cancelled: it goes on to its end; an emergency stop ends it at once"
        self._cancel = Cancel.AFTER_STEP if self._plan.cancel == "step" and not because else when
        self._paused = False
        if self._player is not None:
            self._player.go_back(self._cancel is Cancel.AFTER_STEP)
        if self._walk is not None and self._cancel is Cancel.NOW:
            self._walk.stop()
        return ""

    def end(self, outcome: Outcome, text: str) -> None:
        """End the action at once, where it is."""
        if self.active and self.status is not None:
            self.status = replace(self.status, outcome=outcome, text=text)

    def go_on(self, dt: float, seen: PerformanceObservation) -> PerformanceCommands:
        """Return what the action wants at a tick; postures come from `step`, once the mode table lets it perform."""
        if not self.active:
            return PerformanceCommands()
        self._see(dt, seen)
        part = self._part
        if isinstance(part, (Performance, ByHand)):
            orders = self._lead_to("perform")
        elif isinstance(part, ModeChange):
            orders = self._change_mode(part)
        else:
            orders = self._guide(dt)
        self._report()
        return orders

    def step(self, dt: float, foot_velocity: Optional[np.ndarray] = None) -> Postures:
        """Return the posture `dt` (s) later, alone in its array; only while it `plays`.

        `foot_velocity` (3,) is what the operator commands for a foot that is led by hand, in the axes of its leg, m/s.
        """
        player = self._player
        if isinstance(player, HandPlayer):
            posture = player.step(dt, self._speed, self._paused, foot_velocity)
        else:
            assert player is not None
            posture = player.step(dt, self._speed, self._paused)
        self._report()
        if player.ended:
            if player.is_returning:
                reason = f": {self._because}" if self._because else ""
                self.end(Outcome.CANCELLED, f"{self._plan.name} cancelled, back at rest{reason}")
            else:
                self._begin_part(self._index + 1)
                if self._player is not None and self._cancel is not None:  # the way back was not free yet
                    self._player.go_back(after_step=True)
        return posture

    @property
    def _part(self) -> Part:
        return self._plan.parts[self._index]

    def _see(self, dt: float, seen: PerformanceObservation) -> None:
        self._elapsed += dt
        if seen.pose is not None:
            if self._origin is None:
                self._origin, self._yaw = seen.pose, float(seen.pose[2])
            self._yaw += math.remainder(float(seen.pose[2]) - self._yaw, math.tau)
            walked = float(np.hypot(*(seen.pose[:2] - self._origin[:2])))
            turned = math.degrees(self._yaw - float(self._origin[2]))
            seen = replace(seen, measured={**seen.measured, "walked": walked, "turned_deg": turned})
        self._seen = replace(seen, measured={**seen.measured, "elapsed": self._elapsed})

    def _begin_part(self, index: int) -> None:
        """Go on with a part; conditions before it are checked now."""
        plan, parts = self._plan, self._plan.parts
        self._player = self._walk = None
        self._requested = False
        for _ in range(_MOST_JUMPS):
            part = parts[index] if index < len(parts) else None
            if isinstance(part, Again):
                index = part.begin
            elif isinstance(part, While):
                count = self._counts.get(index, 0)
                try:
                    holds = count < part.most and evaluate(part.condition, {**part.values, **self._seen.measured})
                except ActionError as error:
                    self.end(Outcome.ABORTED, f"{plan.name}: while {part.condition}: {error}")
                    return
                self._counts[index] = count + 1 if holds else 0
                index = index + 1 if holds else part.end
            else:
                break
        else:  # what they go by is the same until the next tick
            self.end(Outcome.ABORTED, f"{plan.name}: its loops do nothing; give the step in them another condition")
            return
        if part is None and self._cancel is not None:  # its way back was never free
            self.end(Outcome.CANCELLED, f"{plan.name} cancelled, back at rest at its own end")
        if part is None:
            self.end(Outcome.SUCCEEDED, f"{plan.name} done")
            return
        self._index = index
        if isinstance(part, Performance):
            self._player = Player(self._planner, part)
        elif isinstance(part, ByHand):
            self._player = HandPlayer(self._planner, part)
        elif isinstance(part, Guided):
            self._walk = GuidedWalk(part.motion, self._speed)

    def _next(self) -> None:
        """Go on after a part that ended with the robot at rest."""
        if self._cancel is None:
            self._begin_part(self._index + 1)
        else:
            self.end(Outcome.CANCELLED, f"{self._plan.name} cancelled, in mode {self._seen.mode}")

    def _lead_to(self, request: str) -> PerformanceCommands:
        """Request what the part needs, once; end the action where something else was requested since."""
        seen = self._seen
        if not self._requested:
            if self._paused:
                return PerformanceCommands()
            self._requested = True
            return PerformanceCommands("" if seen.goal == request else request)
        if (request not in seen.steps) if request == "perform" else (seen.goal != request):
            self.end(Outcome.ABORTED, seen.text)
        return PerformanceCommands()

    def _change_mode(self, part: ModeChange) -> PerformanceCommands:
        seen = self._seen
        if self._requested and seen.mode == part.mode and not seen.steps:
            self._next()
            return PerformanceCommands()
        return self._lead_to(part.mode)

    def _guide(self, dt: float) -> PerformanceCommands:
        seen, part, walk = self._seen, self._part, self._walk
        assert walk is not None and isinstance(part, Guided)
        if not (self._requested and seen.mode == "hexapod" and not seen.steps):
            return self._lead_to("hexapod")
        if seen.goal != "hexapod":
            self.end(Outcome.ABORTED, seen.text)
            return PerformanceCommands()
        twist = walk.step(dt, seen.pose, seen.acceleration, self._paused)
        if walk.failure:
            self.end(Outcome.ABORTED, f"{self._plan.name}: {part.steps[0]}: {walk.failure}")
        elif walk.stopped and not seen.moves:
            self._next()
        return PerformanceCommands(twist=twist, gait=part.gait)

    def _report(self) -> None:
        """Say how far it is."""
        if not self.active or self.status is None:
            return
        plan, before = self._plan, self._plan.parts[: self._index]
        number, played = sum(len(part.steps) for part in before), sum(part.duration for part in before)
        part = self._part
        name, phase = part.steps[0], self._seen.progress
        if self._player is not None:
            i, name, phase = self._player.status
            number, played = number + i, played + self._player.played
        elif self._walk is not None:
            phase = self._walk.fraction
            played += phase * part.duration
        step = (
            BACK
            if self._player is not None and self._player.is_returning
            else f"{number + 1} of {plan.step_count}: {name}"
        )
        progress = max(self.status.progress, min(played / max(plan.duration, 1e-9), 1.0))
        self.status = PerformanceStatus(plan.name, step, phase, progress, self._paused)
