# SPDX-License-Identifier: MIT
"""Latched targets of named joints, reached smoothly from the present command, each move at its own speed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Mapping

import numpy as np

from humanoid_motion.parameters import WalkError
from robot_mechanics.models.urdf import load_urdf
from shellbot_common import TICK, RobotProfile

_RISE = 0.1  # s in which a joint reaches the speed of its move, and stops; or stops from its maximum speed
_TOGETHER = 1e-6  # rad: joints of one motor commanded closer than this are commanded alike


@dataclass(frozen=True)
class JointRange:
    """What a joint can do."""

    lower: float  #: rad
    upper: float  #: rad
    speed: float  #: rad/s
    leader: str = ""  #: Joint whose motor turns it, too


def joint_ranges(urdf_text: str, profile: RobotProfile) -> Mapping[str, JointRange]:
    """Return limits, speed and motor of each driven joint, in the profile's order."""
    joints = {joint.name: joint for joint in load_urdf(urdf_text).joints.values()}
    leaders = {name: coupling.leader for coupling in profile.couplings for name in coupling.followers}
    return {
        name: JointRange(joints[name].lower, joints[name].upper, joints[name].velocity, leaders.get(name, ""))
        for name in profile.joint_names
    }


class JointMotion:
    """References of all joints: a move replaces what its joints did before, the others go on.

    Each joint runs a trapezoid of speed towards its target, planned anew each tick, so that a target may change at any
    time. The joints of one move start and arrive together. What moves faster than its new target allows brakes as hard
    as it can, which no move before planned to exceed: so no joint passes the limits that all targets are within.

    Parameters
    ----------
    ranges : mapping of str to JointRange
        Joints in the order of every array here, (n,).
    """

    def __init__(self, ranges: Mapping[str, JointRange]) -> None:
        self._ranges, self._names = dict(ranges), list(ranges)
        self._limit = np.array([joint.speed for joint in ranges.values()])
        self._range = np.array([[joint.lower, joint.upper] for joint in ranges.values()]).T  # (2, n) rad
        self.start(np.zeros(len(self._names)))

    def start(self, q: np.ndarray) -> None:
        """Rest at a command (n,), rad."""
        self._place, self._target = np.array(q, dtype=float), np.array(q, dtype=float)
        self._rate, self._speed, self._rise = (np.zeros(len(self._place)) for _ in range(3))

    def resolved(self, targets: Mapping[str, float], speed: float) -> Dict[str, float]:
        """Return the targets of all joints that move, those of a shared motor included, rad.

        Parameters
        ----------
        targets : mapping of str to float
            rad.
        speed : float
            Fraction of the maximum speed.

        Raises
        ------
        WalkError
            If there is no target, a joint is unknown, a target not finite or beyond the limits, the speed not a
            fraction, or joints of one motor are commanded apart.
        """
        if not targets:
            raise WalkError("no joint is named; give NAME=ANGLE, with names from joint_states")
        if not 0.0 < speed <= 1.0:
            raise WalkError(f"speed is {speed}; give a fraction of the maximum speed, above 0 to 1")
        found: Dict[str, float] = {}
        for name, value in targets.items():
            if name not in self._ranges:
                raise WalkError(f"there is no joint '{name}'; there are {', '.join(self._names)}")
            joint = self._ranges[name]
            if not joint.lower <= value <= joint.upper:  # not a number, too
                value_deg, low_deg, high_deg = (math.degrees(angle) for angle in (value, joint.lower, joint.upper))
                raise WalkError(
                    f"{name} is commanded to {value:.4g} rad ({value_deg:.4g} deg); give {joint.lower:.4f} .. "
                    f"{joint.upper:.4f} rad ({low_deg:.2f} .. {high_deg:.2f} deg)"
                )
            for other in self._same_motor(name):
                if abs(targets.get(other, value) - value) > _TOGETHER:
                    raise WalkError(
                        f"{name} and {other} are turned by one motor, but commanded apart ({value:.4f} and "
                        f"{targets[other]:.4f} rad); command the same angle, or only one of them"
                    )
                found[other] = float(value)
            found[name] = float(value)
        return found

    def move(self, targets: Mapping[str, float], speed: float) -> float:
        """Begin to move; returns how long it takes from rest, s.

        Parameters
        ----------
        targets, speed
            As for `resolved`, whose WalkError it raises; then nothing changes.
        """
        goals = self.resolved(targets, speed)
        index = [self._names.index(name) for name in goals]
        self._target[index] = list(goals.values())
        stop = self._place + 0.5 * self._rate * np.abs(self._rate) / (self._limit / _RISE)  # where it can be at rest
        distance = np.maximum(*(np.abs(self._target - place)[index] for place in (self._place, stop)))
        time = max(float(np.max(distance / (speed * self._limit[index]))), _RISE)
        self._speed[index] = distance / time
        self._rise[index] = self._speed[index] / _RISE
        return time + _RISE

    def step(self) -> np.ndarray:
        """Advance by a tick; returns the reference (n,), rad."""
        error = self._target - self._place
        half = 0.5 * self._rise * TICK
        brake = np.sqrt(half**2 + 2.0 * self._rise * np.abs(error)) - half  # from here it can just stop at the target
        rate = np.sign(error) * np.minimum(np.minimum(self._speed, brake), np.abs(error) / TICK)
        is_braking = (rate * self._rate < 0.0) | (np.abs(rate) < np.abs(self._rate))
        most = np.where(is_braking, self._limit / _RISE, self._rise) * TICK
        self._rate = self._rate + np.clip(rate - self._rate, -most, most)
        new = self._place + self._rate * TICK
        inside = np.clip(self._place, *self._range) == self._place  # one that began outside comes back without a jump
        new = np.where(inside, np.clip(new, *self._range), new)  # ticks make a braking path longer by a rounding
        self._rate, self._place = (new - self._place) / TICK, new
        return self._place.copy()

    @property
    def target(self) -> np.ndarray:
        """Where the joints go, (n,), rad."""
        return self._target.copy()

    @property
    def is_moving(self) -> bool:
        """Whether a joint is on its path."""
        return bool(np.any(np.abs(self._target - self._place) > 1e-4))

    def _same_motor(self, name: str) -> List[str]:
        motor = self._ranges[name].leader or name
        return [other for other, joint in self._ranges.items() if other != name and motor in (other, joint.leader)]
