# SPDX-License-Identifier: MIT
"""Rolling a ball upright: to where its pole is down, and there a catch by opening all lower gores at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Tuple

import numpy as np

from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number

if TYPE_CHECKING:
    from shellbot_action_manager.body.rolling import RollingControl


@dataclass(frozen=True)
class RightingConfig(Settings, error=ConfigError):
    """Righting; units and meaning in `config/rolling.yaml`."""

    speed: float = number(0.05, 2.0, "m/s")
    least_speed: float = number(0.0, 1.0, "m/s")
    slope: float = number(0.1, 20.0, "1/s")
    catch_error: float = number(0.001, 0.2, "m")
    catch_lead: float = number(0.0, 1.0, "s")
    catch_tilt: float = number(0.05, 1.0, "rad")
    catch_speed: Tuple[float, float] = number(0.0, 2.0, "m/s", ordered=True)
    catch: Tuple[float, float] = number(-2.0, 2.0, "rad")
    catch_gain: float = number(0.0, 20.0)
    catch_damping: float = number(0.0, 1.0, "s")
    catch_limit: float = number(0.0, 1.5, "rad")
    lost_tilt: float = number(0.1, 3.0, "rad")
    catch_time: float = number(0.2, 5.0, "s")
    upright: float = number(0.02, 0.5, "rad")
    still: float = number(0.05, 3.0, "rad/s")
    still_time: float = number(0.0, 1.0, "s")
    rest_time: float = number(0.0, 2.0, "s")
    close_time: float = number(0.0, 3.0, "s")
    caught: float = number(0.01, 1.0, "rad")
    loosen_time: float = number(0.5, 10.0, "s")
    run_up_speed: float = number(0.05, 2.0, "m/s")
    run_up_time: float = number(0.1, 10.0, "s")
    run_up_tilt: float = number(0.3, 3.1, "rad")
    approach_time: float = number(1.0, 30.0, "s")
    kicks: int = number(1, 20)
    limit: float = number(1.0, 120.0, "s")


class Righting:
    """Stages: approach, catch; after a failed catch: close, loosen gores that hold each other, roll away for a run-up.

    Parameters
    ----------
    config : RightingConfig
        Speeds and limits.
    control : RollingControl
        Of the velocity; its own, not that of another behaviour.
    radius : float
        Of the ball, m.

    Notes
    -----
    A ball that leans by the angle theta towards the direction a is upright after rolling r theta against a. The catch
    begins where the remaining way, less the way that it still rolls meanwhile, is short enough.
    On the edges of its open gores a ball may tremble by tenths of a degree and turn about the vertical, as in Gazebo;
    it stands all the same, so that only a mean of its turn about horizontal axes counts.
    """

    def __init__(self, config: RightingConfig, control: RollingControl, radius: float) -> None:
        self._config, self._control, self._radius = config, control, radius
        self.reset()

    def reset(self) -> None:
        """Begin with the run-up, which a ball that lies over far enough leaves at once."""
        self._control.reset()
        self.stage, self.tries, self.time = "run_up", 0, 0.0
        self._since, self._rested = 0.0, 0.0
        self._turn = np.zeros(2)  # about horizontal axes, mean over some still_time, rad/s
        self.done = False

    @property
    def has_timed_out(self) -> bool:
        """Whether it took too long, but for a catch that is under way, and a ball that has begun to rest upright."""
        return self.time > self._config.limit and self.stage != "catch" and self._rested == 0.0

    @property
    def opens(self) -> bool:
        """Whether the lower gores are to be open for the catch."""
        return self.stage == "catch"

    def catch(self, lean: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Return the offsets (6, 2) of femurs and tibiae in a catch, rad.

        Parameters
        ----------
        lean, rate : (6,) array
            How far each gore is on the low side, and how fast that grows, 1/s. Such gores open less.
        """
        config = self._config
        less = config.catch_gain * (lean + config.catch_damping * rate)
        less = np.clip(less, -config.catch_limit, config.catch_limit)
        return np.array(config.catch) + np.outer(less, (1.0, -0.5))

    def step(
        self, dt: float, z_world: np.ndarray, omega: np.ndarray, velocity: np.ndarray, behind: float = 0.0
    ) -> np.ndarray:
        """Return the push (2,) of a tick.

        Parameters
        ----------
        dt : float
            s.
        z_world : (3,) array
            Axis of the ball, from the pole that is to be down to the other one.
        omega : (3,) array
            Angular velocity, rad/s.
        velocity : (2,) array
            m/s.
        behind : float
            How far the joint that is farthest from its command is from it, rad.
        """
        config = self._config
        self.time, self._since = self.time + dt, self._since + dt
        tilt = float(np.arccos(np.clip(z_world[2], -1.0, 1.0)))
        towards = -z_world[:2] / max(float(np.hypot(*z_world[:2])), 1e-9)
        error = self._radius * tilt * towards
        self._turn = self._turn + dt / (dt + config.still_time) * (omega[:2] - self._turn)
        rests = tilt < config.upright and float(np.hypot(*self._turn)) < config.still
        self._rested = self._rested + dt if rests else 0.0
        self.done = self._rested >= config.rest_time
        if rests:
            self._control.reset()
            return np.zeros(2)
        if self.stage == "catch":
            if self._since < config.catch_time and tilt < config.lost_tilt:
                return np.zeros(2)
            self._begin("close")
        if self.stage == "close" and self._since >= config.close_time:
            self._begin("loosen" if behind > config.caught else "run_up")
        if self.stage == "loosen" and self._since >= config.loosen_time:
            self._begin("run_up")
        stuck = self._control.kicks > config.kicks or self._since > config.approach_time
        if self.stage == "approach" and stuck:
            self._begin("run_up")
        if self.stage == "run_up":
            if self._since < config.run_up_time and tilt < config.run_up_tilt:
                return self._control.step(dt, -config.run_up_speed * towards, velocity)
            self._begin("approach")
            self.tries += 1
        if self.stage == "approach":
            ahead = error - config.catch_lead * velocity
            if (
                float(np.hypot(*ahead)) < config.catch_error
                and tilt < config.catch_tilt
                and config.catch_speed[0] < float(velocity @ towards) < config.catch_speed[1]
            ):
                self._begin("catch")
                return np.zeros(2)
            distance = float(np.hypot(*error))
            speed = min(config.speed, np.sqrt(distance), max(config.slope * distance, config.least_speed))
            return self._control.step(dt, speed * towards, velocity)
        self._control.reset()
        return np.zeros(2)

    def _begin(self, stage: str) -> None:
        self.stage, self._since = stage, 0.0
        self._control.reset()
