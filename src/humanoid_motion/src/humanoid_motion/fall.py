# SPDX-License-Identifier: MIT
"""Whether the robot falls, to which side, and whether it has come to rest there; from IMU and feet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Sequence, Tuple

import numpy as np

from humanoid_motion.parameters import WalkError
from shellbot_common import TICK, Settings, number

UPRIGHT, FALLING, FALLEN = "upright", "falling", "fallen"
SIDES = ("front", "left", "back", "right")
"""The side on which the robot lands, counter-clockwise seen from above."""


def upright_soles() -> np.ndarray:
    """Return the normal (3,) of the soles in the frame of a torso that is commanded to be upright."""
    return np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class FallParameters(Settings, error=WalkError):
    """From `config/fall.yaml`."""

    tilt: float = number(0.2, 1.5, "rad")  #: Beyond it, also against the commanded one, the robot falls
    early_tilt: float = number(0.1, 1.5, "rad")  #: Beyond it, if the two rows below agree
    lead: float = number(0.0, 1.0, "s")  #: How far ahead the tilt is predicted
    predicted_tilt: float = number(0.2, 3.0, "rad")  #: Predicted tilt of a fall
    unloaded: float = number(0.0, 50.0, "N")  #: Load of both feet together below which none stands
    unloaded_time: float = number(0.01, 2.0, "s")  #: With early_tilt, a fall without any prediction
    rest_rate: float = number(0.01, 5.0, "rad/s")  #: A fall is over when it turns slower than this
    rest_time: float = number(0.05, 5.0, "s")  #: for so long
    protective_effort: float = number(0.0, 1.0)  #: Fraction of the arms' effort while it falls
    settle_time: float = number(0.1, 5.0, "s")  #: After each motion, before the next is chosen
    upright_tilt: float = number(0.05, 0.5, "rad")  #: It stands below this, with half its weight on the feet,
    upright_time: float = number(0.1, 5.0, "s")  #: for so long
    tries: int = number(1, 20)  #: To get up, before it stays where it lies
    blind_time: float = number(0.05, 5.0, "s", default=0.5)  #: No load on the feet for so long is a fall without an IMU


class FallDetector:
    """Follows one robot from tick to tick.

    Attributes
    ----------
    state : str
        UPRIGHT, FALLING or FALLEN; only `reset` leads back to UPRIGHT.
    tilt : float
        Of the torso, rad.
    side : str
        One of SIDES: where the torso leans to.
    """

    def __init__(self, parameters: FallParameters) -> None:
        self._p = parameters
        self.reset()

    def reset(self) -> None:
        """Begin upright; a robot that lies has fallen again in the next tick."""
        self.state, self.tilt, self.side = UPRIGHT, 0.0, SIDES[0]
        self._in_air = self._still = 0.0

    def update(
        self,
        attitude: Sequence[float],
        rates_torso: np.ndarray,
        wrenches: np.ndarray,
        is_blind: bool = False,
        up_of_soles: Callable[[], np.ndarray] = upright_soles,
    ) -> None:
        """Take one tick.

        Parameters
        ----------
        attitude : (4,) sequence of float
            Quaternion x, y, z, w of the torso.
        rates_torso : (3,) array
            Angular velocity of the torso in its own frame, rad/s.
        wrenches : (2, 6) array
            Of the ground at each sole, N and N m.
        is_blind : bool
            Attitude and rates are frozen: the feet alone tell.
        up_of_soles : callable
            Returns the normal (3,) in the torso's frame that the soles have at the commanded angles. It is looked at
            for a large tilt only: a torso that is commanded to bow does not fall.
        """
        p = self._p
        # as floats: numpy costs ten times as much
        x, y, z = up_torso = _up(*attitude)
        turn_x, turn_y, turn_z = rates_torso.tolist()
        self.tilt = angle_from_vertical(up_torso)
        if self.tilt > 0.1:
            self.side = side_of(up_torso)
        back = turn_y * z - turn_z * y, turn_z * x - turn_x * z, turn_x * y - turn_y * x
        # what stands still in the world turns backwards
        ahead = angle_from_vertical([axis - p.lead * rate for axis, rate in zip(up_torso, back)])
        load = sum(max(force, 0.0) for force in wrenches[:, 2].tolist())
        self._in_air = self._in_air + TICK if load < p.unloaded else 0.0
        rests = is_blind or math.hypot(turn_x, turn_y, turn_z) < p.rest_rate
        self._still = self._still + TICK if rests else 0.0
        early = self.tilt > p.early_tilt and (ahead > p.predicted_tilt or self._in_air >= p.unloaded_time)
        if is_blind:
            falls = self._in_air >= p.blind_time
        else:
            falls = early or (self.tilt > p.tilt and _angle_between(up_torso, up_of_soles()) > p.tilt)
        if self.state == UPRIGHT and falls:
            self.state, self._still = FALLING, 0.0
        elif self.state == FALLING and self._still >= p.rest_time:
            self.state = FALLEN


def _up(x: float, y: float, z: float, w: float) -> Tuple[float, float, float]:
    """Return the world's vertical seen from a body of this attitude; `up_from_quaternion` takes 20 times as long."""
    square = x * x + y * y + z * z + w * w
    return 2.0 * (x * z - w * y) / square, 2.0 * (y * z + w * x) / square, 1.0 - 2.0 * (x * x + y * y) / square


def angle_from_vertical(up_torso: Sequence[float]) -> float:
    """Return the torso's tilt, rad, from the world's vertical in its frame (3,)."""
    return math.atan2(math.hypot(up_torso[0], up_torso[1]), up_torso[2])


def _angle_between(one: Sequence[float], other: np.ndarray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(one, other)), np.dot(one, other)))


def side_of(up_torso: Sequence[float]) -> str:
    """Return where the torso leans to, one of SIDES, from the world's vertical in its frame (3,)."""
    quarter = round(math.atan2(-up_torso[1], -up_torso[0]) / (0.5 * math.pi))
    return SIDES[int(quarter) % 4]
