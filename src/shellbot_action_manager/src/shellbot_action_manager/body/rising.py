# SPDX-License-Identifier: MIT
"""Standing up from the ground and lying down again, as a short list of moves."""

from __future__ import annotations

from typing import List, Union

import numpy as np

from shellbot_action_manager.body.legs import LegGeometry, LowerCommand, feet_command
from shellbot_action_manager.body.postures import FootMove, JointMove
from shellbot_action_manager.config import PostureConfig

_PATH_SAMPLES = 15

FAN_CLOSED_FROM = 0.05
"""rad: with the fan turned farther than this the feet are not those of a standing robot."""


class Moves:
    """Moves that follow one another.

    Parameters
    ----------
    legs : LegGeometry
        The lower legs.
    moves : list of JointMove and FootMove
        In their order; each begins where the one before ended.
    """

    def __init__(self, legs: LegGeometry, moves: List[Union[JointMove, FootMove]]) -> None:
        self._legs, self._moves, self._now = legs, moves, 0
        self._total = sum(move.duration for move in moves)

    @property
    def done(self) -> bool:
        """Whether the last move is over."""
        return self._now >= len(self._moves)

    @property
    def progress(self) -> float:
        """Fraction of the whole time that is over, 0..1."""
        if self.done:
            return 1.0
        before = sum(move.duration for move in self._moves[: self._now])
        return (before + self._moves[self._now].progress * self._moves[self._now].duration) / self._total

    @property
    def on_feet(self) -> bool:
        """Whether the present move is one of planted feet."""
        return not self.done and isinstance(self._moves[self._now], FootMove)

    def step(self, dt: float) -> LowerCommand:
        """Return the command one tick later; at the end the last one."""
        move = self._moves[min(self._now, len(self._moves) - 1)]
        value = move.step(dt)
        if move.done:
            self._now += 1
        return feet_command(self._legs, value) if isinstance(move, FootMove) else LowerCommand(value, None)


def plan_rise(
    start: np.ndarray, rest_height: float, sit_lower: np.ndarray, legs: LegGeometry, config: PostureConfig
) -> Moves:
    """Return the moves from any folded posture to standing, body at `rest_height` (m) over the feet.

    Parameters
    ----------
    start, sit_lower : (6, 4) array
        Joints now and of the sitting robot: fan, coxa, femur, tibia, rad.

    Notes
    -----
    The legs go to the sitting posture, then the body rises over feet that do not move on the ground. If the feet can
    push from where they are (sitting already, or a rise was interrupted) the first move is left out.
    """
    feet = legs.forward(start)
    moves: List[Union[JointMove, FootMove]] = []
    if not _can_push(legs, start, feet, rest_height, config):
        moves.append(JointMove(start, sit_lower, config.joint_rate))
        feet = legs.forward(sit_lower)
    goal = feet.copy()
    goal[:, 2] = -rest_height
    return Moves(legs, [*moves, FootMove(feet, goal, config.rise_time)])


def plan_lie_down(p_base: np.ndarray, sit_lower: np.ndarray, legs: LegGeometry, config: PostureConfig) -> Moves:
    """Return the moves from standing feet (6, 3) in base_link, m, to the sitting joints (6, 4), rad."""
    low = p_base.copy()
    low[:, 2] = legs.forward(sit_lower)[:, 2]
    folded = JointMove(feet_command(legs, low).q, sit_lower, config.joint_rate)
    return Moves(legs, [FootMove(p_base, low, config.rise_time), folded])


def _can_push(
    legs: LegGeometry, start: np.ndarray, feet: np.ndarray, rest_height: float, config: PostureConfig
) -> bool:
    """Return whether the feet lie in one plane far enough under the body, and can all be pushed straight down."""
    low, high = config.standing_radius
    radius = np.linalg.norm(feet[:, :2], axis=1)
    if np.ptp(feet[:, 2]) > config.plane_tolerance or np.abs(start[:, 0]).max() > FAN_CLOSED_FROM:
        return False
    if radius.min() < low or radius.max() > high or feet[:, 2].max() > -config.pushing_height:
        return False
    fraction = np.linspace(0.0, 1.0, _PATH_SAMPLES)[None, :, None]
    goal = feet.copy()
    goal[:, 2] = -rest_height
    path = feet[:, None, :] + fraction * (goal - feet)[:, None, :]
    return bool((legs.margin(legs.solve(path)) >= 0.0).all())
