# SPDX-License-Identifier: MIT
"""Part of the way between standing and the closed ball, where a joint did not come: back out, and hold."""

from __future__ import annotations

from typing import Optional

from shellbot_action_manager.behaviours.ball import OnPath, as_found, heading_of
from shellbot_action_manager.behaviours.protocol import Commands, Motion, State
from shellbot_action_manager.behaviours.registry import register
from shellbot_action_manager.body.limbs import held


@register("halfway")
class Halfway(OnPath):
    """Backs out to where the step began in which a joint did not come, and holds there."""

    def take_over(self, state: State) -> Optional[Motion]:
        """Recognise every posture of the path."""
        transformation = self._robot.transformation
        if transformation is None or not transformation.found(state):
            return None
        return as_found(state)

    def enter(self, state: State) -> None:
        """Find the way back, if there is one to go."""
        transformation = self._path()
        self._retreat = transformation.retreat if transformation.late else None
        self._direction = 0 if self._retreat is None else self._retreat[0]
        transformation.begin(state, self._direction)
        self._heading = heading_of(state)

    def failure(self, state: State) -> Optional[str]:
        """Accept every attitude: holding is all that is left."""
        return None

    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the next motion; a way back on which a joint does not come either ends there."""
        transformation = self._path()
        if self._retreat is not None:
            direction, until = self._retreat
            limbs = transformation.step(dt, direction, state, until)
            if transformation.late or transformation.at(until):
                self._retreat = None
            return Motion(limbs, activity="backing_out", progress=0.5, heading=self._heading)
        return Motion(held(state.commanded.limbs), heading=self._heading)
