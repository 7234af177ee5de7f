# SPDX-License-Identifier: MIT
"""Rolling by a commanded velocity: how hard and in which direction the gores push."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Union

import numpy as np

from shellbot_action_manager.body.pushers import Pair, PusherConfig
from shellbot_action_manager.body.righting import RightingConfig
from shellbot_action_manager.body.yielding import YieldingConfig
from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number, package_file, required


@dataclass(frozen=True)
class RollingConfig(Settings, error=ConfigError):
    """Rolling; units and meaning in `config/rolling.yaml`."""

    radius: float = number(0.05, 1.0, "m")
    speed: float = number(0.05, 2.0, "m/s")
    turn_rate: float = number(0.0, 10.0, "rad/s")
    acceleration: float = number(0.1, 50.0, "m/s^2")
    turn_acceleration: float = number(0.1, 100.0, "rad/s^2")
    pushers: PusherConfig = required()
    righting: RightingConfig = required()
    yielding: YieldingConfig = required()
    gain: float = number(0.0, 20.0, "s/m")
    integral: float = number(0.0, 50.0, "1/m")
    brake: float = number(0.0, 20.0, "s/m")
    placing: float = number(0.0, 50.0, "s/m")
    hold: Pair = number(0.0, 50.0)
    hold_slack: float = number(0.0, 1.0)
    hold_path: float = number(0.02, 10.0, "m")
    still: float = number(0.0, 0.5, "m/s")
    pushed: float = number(0.0, 2.0, "m/s")
    stuck_after: float = number(0.05, 5.0, "s")
    kick: float = number(0.0, 2.0, "s")
    kick_step: float = number(0.1, 3.1, "rad")
    kick_ahead: float = number(0.0, 1.0)
    dead_start: float = number(0.0, 0.5, "m")
    kick_from: float = number(0.0, 2.0, "m/s")
    push_rate: float = number(1.0, 1000.0, "1/s")
    joint_rate: Pair = number(0.5, 20.0, "rad/s")


def load_rolling(path: Optional[Union[str, Path]] = None) -> RollingConfig:
    """Return the checked settings, by default of the package's own `config/rolling.yaml`.

    Raises
    ------
    ConfigError
        If the file cannot be read or a value is out of range.
    """
    return RollingConfig.load(path or package_file("shellbot_action_manager", "config/rolling.yaml"))


class RollingControl:
    """PI law on the velocity of the ball, a kick aside when it is stuck, braking and holding its place.

    Parameters
    ----------
    config : RollingConfig
        Gains.
    start_distance : callable
        Takes a level direction (2,), returns how far the ball would start that way, m (`Pushers.start_distance`).
    """

    def __init__(self, config: RollingConfig, start_distance: Callable[[np.ndarray], float]) -> None:
        self._config, self._start_distance = config, start_distance
        angles = np.arange(config.kick_step, np.pi, config.kick_step)
        angles = np.concatenate((angles, -angles))
        c, s = np.cos(angles), np.sin(angles)
        self._turns = np.array([[c, -s], [s, c]]).transpose(2, 0, 1)  # from the command to each kick
        self._worth = 1.0 + config.kick_ahead * c
        self.reset()

    def reset(self) -> None:
        """Begin at rest: nothing is pushed."""
        self.push = np.zeros(2)
        self.moving = False  # whether it drives or brakes, not only holds
        self._integral = np.zeros(2)
        self._place: Optional[np.ndarray] = None  # from where it came to rest to where it is, m
        self._stuck, self._kicking, self._kick = 0.0, 0.0, np.zeros(2)
        self._tried = np.zeros(len(self._turns), dtype=bool)  # kicks since it last rolled
        self.kicks = 0  # since it was reset

    @property
    def active(self) -> bool:
        """Whether it drives, brakes or holds a place; not while it rests where it was closed."""
        return self.moving or self._place is not None

    def step(self, dt: float, commanded: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return the push (2,), length 0 to 1, of a tick.

        Parameters
        ----------
        dt : float
            s.
        commanded, velocity : (2,) array
            Over the ground in level axes that do not turn, m/s.
        """
        if commanded.any():
            self.moving, self._place = True, None
            goal = self._drive(dt, commanded, velocity)
        else:
            self._stuck, self._kicking, self._integral = 0.0, 0.0, np.zeros(2)
            goal = self._stop(dt, velocity)
        goal = _limited(goal, 1.0)
        self.push = self.push + _limited(goal - self.push, self._config.push_rate * dt)
        return self.push

    def _drive(self, dt: float, commanded: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        config, speed = self._config, float(np.hypot(*commanded))
        ahead = commanded / speed
        error = commanded - velocity
        if speed < config.kick_from:  # places itself: an integral would break it loose
            self._integral = np.zeros(2)
            return config.placing * error
        self._integral = _limited(self._integral + config.integral * error * dt, 1.0)
        along = float(velocity @ ahead)
        if along > -config.pushed:  # one that still rolls backwards is braked, not stuck
            self._stuck = self._stuck + dt if along < config.still else 0.0
        if along > config.pushed:
            self._tried[:] = False
        at_rest = along < config.still and float(np.hypot(*velocity)) < config.still
        dead = self._kicking <= 0.0 and at_rest and self._start_distance(ahead) < config.dead_start
        if self._kicking <= 0.0 and (dead or self._stuck > config.stuck_after):
            self._kicking, self._stuck, self._kick = config.kick, 0.0, self._best_kick(ahead)
            self.kicks += 1
        if self._kicking > 0.0:
            self._kicking -= dt
            return self._kick
        return config.gain * error + self._integral

    def _best_kick(self, ahead: np.ndarray) -> np.ndarray:
        """Return the direction (2,) that promises most of those not tried since it last rolled."""
        if self._tried.all():
            self._tried[:] = False
        kicks = self._turns @ ahead
        worth = self._worth * [self._start_distance(kick) for kick in kicks]
        best = int(np.argmax(np.where(self._tried, -1.0, worth)))
        self._tried[best] = True
        return kicks[best]

    def _stop(self, dt: float, velocity: np.ndarray) -> np.ndarray:
        config, speed = self._config, float(np.hypot(*velocity))
        if self._place is None:
            self.moving = self.moving or speed > config.pushed
            if not self.moving:
                return np.zeros(2)
            if speed < config.still:
                self._place, self.moving = np.zeros(2), False
            return -config.brake * velocity
        # rocking to and fro it forgets its place: the pull there would open gores on which it rocks again and again
        self._place = self._place * max(0.0, 1.0 - speed * dt / config.hold_path) + velocity * dt
        pull = -config.hold[0] * self._place
        pull = pull - _limited(pull, config.hold_slack)  # gores that open a little lift the ball and let it creep
        return pull - config.hold[1] * velocity


def _limited(vector: np.ndarray, length: float) -> np.ndarray:
    return vector * min(1.0, length / max(float(np.hypot(*vector)), 1e-9))
