# SPDX-License-Identifier: MIT
"""Folding to a ball as it lies: after a fall, or on its back, the robot shuts before it rolls upright."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

import numpy as np

from shellbot_action_manager.behaviours.ball import NO_ATTITUDE, NO_SHELLS, OnPath
from shellbot_action_manager.behaviours.protocol import Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.body.limbs import LimbCommand

_LOST = "{} is lost while the robot folds: it goes on, but may not roll upright; mend the leg, then request recover"


@register("fold_ball")
class FoldBall(OnPath):
    """Plays the path forwards by the clock in any attitude; only the shut ball waits for the joints.

    A gore on which the robot lies bears its weight, and its servo would stall at the torque limit. So no joint is
    commanded farther than `fold_lead` from its measured angle: it yields, and continues once it is free.
    """

    changes_attitude = True

    def refusal(self, state: State) -> Optional[str]:
        """Refuse without upper legs, without an attitude to roll upright by, and a robot that lies upright."""
        if self._robot.transformation is None:
            return NO_SHELLS
        if state.orientation is None:
            return NO_ATTITUDE
        if state.tilt > self._robot.config.posture.upright:
            return None
        lies, limit = np.degrees([state.tilt, self._robot.config.posture.upright])
        return f"the robot is upright, tilted by {lies:.0f} deg, less than {limit:.0f}; request stand or hexapod"

    def enter(self, state: State) -> None:
        """Begin at the present command."""
        super().enter(state)
        self._aim = state.commanded  # the path's own command: a joint is behind of it, and not of what is commanded

    def failure(self, state: State) -> Optional[str]:
        """Report a ball that does not shut."""
        return self._path().late or None

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next motion."""
        transformation, leg = self._path(), self._lost_now(commands)
        limbs = transformation.step(dt, 1, replace(state, commanded=self._aim), lying=True)
        self._aim = Motion(dict(limbs))
        done, lead = transformation.closed, self._robot.config.transform.fold_lead
        for name, group in self._robot.geometry.limbs.items():
            measured = group.measured(state.q)
            limbs[name] = LimbCommand(np.clip(limbs[name].q, measured - lead, measured + lead))
        self._robot.announcer.say("transform", "" if done else transformation.text)
        notice = _LOST.format(leg) if leg else ""
        return Motion(limbs, progress=transformation.fraction, done=done, notice=notice, heading=self._heading)
