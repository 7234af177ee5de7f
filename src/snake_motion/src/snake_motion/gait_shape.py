# SPDX-License-Identifier: MIT
"""A gait as a moving shape: both groups of generators, either direction, for a body on any of its faces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Tuple

import numpy as np

from snake_motion.waves import Wave


@dataclass(frozen=True)
class JointWaves:
    """A gait of one robot, in one direction and on one face: what is the same at every tick."""

    amplitude: np.ndarray  #: (2, n) Of the pitch and of the yaw wave at each joint, rad
    phase: np.ndarray  #: (2, n) rad
    offset: np.ndarray  #: (2, n) rad
    weight: np.ndarray  #: (2, n) Of either wave in each joint
    start: float  #: rad

    def angles(self, theta: float) -> np.ndarray:
        """Return the joint angles at a phase of the cycle, rad, (n,)."""
        of_pitch, of_yaw = (self.amplitude * np.sin(theta + self.start + self.phase) + self.offset) * self.weight
        total: np.ndarray = of_pitch + of_yaw
        return total


@dataclass(frozen=True)
class GaitShape:
    """The joint angles of a gait over the phase of its cycle."""

    pitch: Wave  #: Vertical wave: of the joints 0, 2, 4, ...
    yaw: Wave  #: Horizontal wave: of the joints 1, 3, 5, ...
    period: float  #: s
    start: float = 0.0  #: rad, phase of the cycle at which the gait begins
    mirrored: bool = False  #: Direction -1 mirrors the motion left to right instead of playing the cycle backwards

    def joint_waves(self, modules: int, direction: int = 1, roll: float = 0.0) -> JointWaves:
        """Return what each joint does over the cycle.

        Direction -1 changes the sign of steps and phases, which plays the cycle backwards, half a cycle later; of a
        mirrored gait it changes the sign of the yaw joints.

        Parameters
        ----------
        modules : int
            Number of modules.
        direction : int
            1 or -1.
        roll : float
            Roll of the body about its axis, rad: which of its faces lies on the ground. Both waves are evaluated at the
            place of each joint and turned back by it, so that the shape in space is that of an upright body.
        """
        side = direction if self.mirrored else 1
        direction = 1 if self.mirrored else direction
        place = 0.5 * np.arange(modules)  # of each joint in the pitch group; it is half a place less in the yaw group
        middle = 0.25 * (modules - 1)  # of the body
        is_pitch = np.arange(modules) % 2 == 0
        cos, sin = math.cos(roll), math.sin(roll)
        v = _of_joints(self.pitch, place, middle, direction)
        h = _of_joints(self.yaw, place - 0.5, middle - 0.5, direction)
        weight = np.where(is_pitch, cos, sin), np.where(is_pitch, -side * sin, side * cos)
        amplitude, phase, offset = np.stack([v, h], axis=1)
        return JointWaves(amplitude, phase, offset, np.array(weight), self.start)

    def angles(self, theta: float, modules: int, direction: int = 1, roll: float = 0.0) -> np.ndarray:
        """Return the joint angles at a phase of the cycle, rad, shape (modules,); the rest as of `joint_waves`."""
        return self.joint_waves(modules, direction, roll).angles(theta)

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


def _of_joints(wave: Wave, place: np.ndarray, middle: float, direction: int) -> np.ndarray:
    """Return amplitude, phase and offset of joints at places (n,), rad, (3, n)."""
    if wave.standing is not None:
        amplitude = wave.amplitude * np.cos(wave.step * (place - middle) + wave.standing)
        phase = np.full_like(place, direction * wave.phase)
    else:
        amplitude = np.full_like(place, wave.amplitude)
        phase = direction * (wave.step * place + wave.phase)
    return np.array([amplitude, phase, np.full_like(place, wave.offset)])


def blends_directly(one: GaitShape, other: GaitShape) -> bool:
    """Return whether outputs of two gaits can be mixed on the way from one to the other: their waves travel alike."""
    return all(math.isnan(a) or math.isnan(b) or abs(a - b) < 1e-9 for a, b in zip(one.steps, other.steps))
