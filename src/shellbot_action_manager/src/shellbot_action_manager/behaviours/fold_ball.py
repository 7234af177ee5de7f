# SPDX-License-Identifier: MIT
"""Folding to a ball as it lies: after a fall, or on its back, the robot shuts before it rolls upright."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_action_manager.behaviours.ball import NO_ATTITUDE, NO_SHELLS, OnPath
from shellbot_action_manager.behaviours.protocol import Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register

_LOST = "{} is lost while the robot folds: it goes on, but may not roll upright; mend the leg, then request recover"


@register("fold_ball")
class FoldBall(OnPath):
    """Plays the path forwards by the clock in any attitude; only the shut ball waits for the joints."""

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

    def failure(self, state: State) -> Optional[str]:
        """Report a ball that does not shut."""
        return self._path().late or None

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next motion."""
        transformation, leg = self._path(), self._lost_now(commands)
        limbs = transformation.step(dt, 1, state, lying=True)
        done = transformation.closed
        self._robot.announcer.say("transform", "" if done else transformation.text)
        notice = _LOST.format(leg) if leg else ""
        return Motion(limbs, progress=transformation.fraction, done=done, notice=notice)
