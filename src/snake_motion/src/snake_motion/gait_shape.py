# SPDX-License-Identifier: MIT
"""A gait as a moving shape: both groups of generators, either direction, for a body on any of its faces."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Tuple

import numpy as np

from snake_motion.waves import Wave


@dataclass(frozen=True)
class GaitShape:
    """The joint angles of a gait over the phase of its cycle."""

    pitch: Wave  #: Vertical wave: of the joints 0, 2, 4, ...
    yaw: Wave  #: Horizontal wave: of the joints 1, 3, 5, ...
    period: float  #: s
    start: float = 0.0  #: rad, phase of the cycle at which the gait begins
    mirrored: bool = False  #: Direction -1 mirrors the motion left to right instead of playing the cycle backwards

    def angles(self, theta: float, modules: int, direction: int = 1, roll: float = 0.0) -> np.ndarray:
        """Return the joint angles, rad, shape (modules,).

        Direction -1 changes the sign of steps and phases, which plays the cycle backwards, half a cycle later; of a
        mirrored gait it changes the sign of the yaw joints.

        Parameters
        ----------
        theta : float
            Phase of the cycle, rad.
        modules : int
            Number of modules.
        direction : int
            1 or -1.
        roll : float
            Roll of the body about its axis, rad: which of its faces lies on the ground. Both waves are evaluated at the
            place of each joint and turned back by it, so that the shape in space is that of an upright body.
        """
        pitch_place, yaw_place, is_pitch = _places(modules)
        side = direction if self.mirrored else 1
        direction = 1 if self.mirrored else direction
        middle = 0.25 * (modules - 1)  # of the body, as a place in the pitch group
        v = _evaluate(self.pitch, theta + self.start, pitch_place, middle, direction)
        h = _evaluate(self.yaw, theta + self.start, yaw_place, middle - 0.5, direction) * side
        cos, sin = math.cos(roll), math.sin(roll)
        return np.where(is_pitch, cos * v - sin * h, cos * h + sin * v)

    @property
    def greatest_angle(self) -> float:
        """Greatest angle of any joint, rad, upright."""
        return max(abs(wave.amplitude) + abs(wave.offset) for wave in (self.pitch, self.yaw))

    @property
    def greatest_speed(self) -> float:
        """Greatest speed of any joint, rad/s."""
        return max(abs(self.pitch.amplitude), abs(self.yaw.amplitude)) * 2.0 * math.pi / self.period

    @property
    def greatest_acceleration(self) -> float:
        """Greatest acceleration of any joint, rad/s^2."""
        return self.greatest_speed * 2.0 * math.pi / self.period

    @property
    def steps(self) -> Tuple[float, float]:
        """Steps of both waves, NaN where one is still: gaits of equal steps can be faded into each other directly."""
        return (
            self.pitch.step if self.pitch.amplitude else math.nan,
            self.yaw.step if self.yaw.amplitude else math.nan,
        )


@functools.lru_cache(maxsize=None)
def _places(modules: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each joint's place, (n,), in the pitch and in the yaw group (between two of its joints if it is of the
    other group), and which joints are pitch joints; at each tick the same.
    """
    place = np.arange(modules)
    return 0.5 * place, 0.5 * (place - 1), place % 2 == 0


def _evaluate(wave: Wave, theta: float, place: np.ndarray, middle: float, direction: int) -> np.ndarray:
    if wave.standing is not None:
        shape = wave.amplitude * np.cos(wave.step * (place - middle) + wave.standing)
        return shape * math.sin(theta + direction * wave.phase) + wave.offset
    return wave.amplitude * np.sin(theta + direction * (wave.step * place + wave.phase)) + wave.offset


def blends_directly(one: GaitShape, other: GaitShape) -> bool:
    """Return whether outputs of two gaits can be mixed on the way from one to the other: their waves travel alike."""
    return all(math.isnan(a) or math.isnan(b) or abs(a - b) < 1e-9 for a, b in zip(one.steps, other.steps))
