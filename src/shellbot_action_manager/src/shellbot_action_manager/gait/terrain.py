# SPDX-License-Identifier: MIT
"""Walking on rough ground: where each foot meets it, how high feet are lifted over it, and how the body stays level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional

import numpy as np

from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.gait.walking import WalkState
from shellbot_common import Settings, number

_SETTLES = 5  # ticks of steady descent before its error counts
_FLAT = 1e-5  # m: nearer to the plane a foot that goes back to it is there


@dataclass(frozen=True)
class TerrainConfig(Settings, error=ConfigError):
    """How the feet find the ground; units and meaning in `config/action_manager.yaml`."""

    lift_rate: float = number(0.05, 1.0, "m/s")
    descent_rate: float = number(0.02, 0.5, "m/s")
    search_rate: float = number(0.02, 0.5, "m/s")
    search_above: float = number(0.0, 0.1, "m")
    acceleration: float = number(1.0, 50.0, "m/s^2")
    latency: int = number(0, 10, "ticks")
    frequency: float = number(10.0, 500.0, "rad/s")
    damping: float = number(0.1, 3.0)
    threshold: float = number(0.0005, 0.05, "m")
    ticks: int = number(1, 20, "ticks")
    preload: float = number(0.0, 0.02, "m")
    height_rate: float = number(0.0, 0.2, "m/s")
    tilt_gain: float = number(0.0, 10.0, "1/s")
    tilt_rate: float = number(0.0, 1.0, "rad/s")
    level: float = number(0.0, 0.5, "rad")
    slope_time: float = number(0.1, 10.0, "s")


class Terrain:
    """Heights of the six feet over the plane z = 0 of the walk frame W, which follows the mean of the standing feet.

    A foot in the air rises over the highest of the last touchdowns, then goes down until its joints say that it is
    blocked, or as deep as the gait searches. It stands at the height that it found.

    Parameters
    ----------
    config : TerrainConfig
        Speeds, the servos' response, thresholds.

    Notes
    -----
    Every height follows its goal on a trapezoid of bounded speed and acceleration, also when a touchdown stops it. A
    free foot follows its command like a mass on the servos' springs: delay, natural frequency, damping. One that stays
    above where that model is, while it is to go down, stands on something.
    """

    def __init__(self, config: TerrainConfig) -> None:
        self._config = config
        self.start()

    def start(self) -> None:
        """Begin on flat ground, with every foot on it."""
        self.z = np.zeros(6)  #: (6,) Commanded heights in W, m
        self.acceleration = np.zeros(6)  #: (6,) Their second derivatives, m/s^2
        self.down = np.ones(6, dtype=bool)  #: (6,) Feet that stand: touched down, or as deep as they may go
        self.flat = True  #: Whether every foot is where a flat floor would be
        self._rate = np.zeros(6)
        self._goal = np.zeros(6)
        self._found = np.zeros(6)  # heights of the last touchdowns
        self._descends = np.zeros(6, dtype=bool)
        self._swinging = np.zeros(6, dtype=bool)
        self._lifted = np.zeros(6)  # how far the foot was seen to rise in this swing
        self._late = np.zeros((self._config.latency + 1, 6))  # commands that are on their way
        self._model, self._model_rate = np.zeros(6), np.zeros(6)
        self._steady, self._blocked = np.zeros(6), np.zeros(6)
        self._slope = np.zeros(2)  # roll and pitch of the ground against gravity
        self._plane = np.zeros(2)  # the same of the standing feet in W
        self._under = np.zeros(6)  # heights of the plane through the standing feet, under each foot

    def sense(self, z_measured: Optional[np.ndarray]) -> np.ndarray:
        """Return the feet (6,) bool that touch down at this tick.

        Parameters
        ----------
        z_measured : (6,) array or None
            Heights of the feet in W by the measured joints, m; None: not known.
        """
        if z_measured is None:
            return np.zeros(6, dtype=bool)
        config = self._config
        self._lifted = np.maximum(self._lifted, z_measured - self._found)
        above = z_measured - self._model
        searching = self._descends & ~self.down & (np.abs(self._rate + config.search_rate) < 0.1 * config.search_rate)
        self._steady = np.where(searching, self._steady + 1, 0)
        falling = self._steady > _SETTLES  # the model errs while the speed changes
        self._blocked = np.where(falling & (above > config.threshold), self._blocked + 1, 0)
        touched = self._blocked >= config.ticks
        self._goal = np.where(touched, z_measured - config.preload, self._goal)
        self._found = np.where(touched, self._goal, self._found)
        self.down = self.down | touched
        return touched

    def step(
        self,
        dt: float,
        lift: float,
        depth: float,
        swinging: np.ndarray,
        lowers: np.ndarray,
        known: bool,
        low: np.ndarray,
        high: np.ndarray,
    ) -> np.ndarray:
        """Return the heights (6,) one tick later, m.

        Parameters
        ----------
        dt : float
            s.
        lift, depth : float
            How far feet rise over what they found, and how deep below the plane they search, m.
        swinging : (6,) bool array
            Feet that the gait has in the air.
        lowers : (6,) bool array
            Those of them that it lets down again.
        known : bool
            Whether feet are measured; otherwise they go down to the plane.
        low, high : (6,) array
            Heights that the legs can reach, m.
        """
        config = self._config
        lifting = swinging & ~self._swinging
        self._swinging = swinging
        self.down = self.down & ~lifting
        self._lifted[lifting] = 0.0
        self._descends = (self._descends & ~lifting) | (lowers & swinging) | ~swinging
        highest = max(float((self._found - self._under).max()), 0.0)
        top = self._under + highest + lift
        bottom = self._under - np.where(known & (self._lifted > 0.3 * lift), depth, 0.0)
        self._goal = np.where(self.down, self._goal, np.where(self._descends, bottom, top))
        goal = np.clip(self._goal, low, high)
        near = self.z <= self._under + highest + config.search_above + self._rate**2 / config.acceleration
        limit = np.where(goal > self.z, config.lift_rate, np.where(near, config.search_rate, config.descent_rate))
        room = np.maximum(np.abs(goal - self.z) - np.abs(self._rate) * dt, 0.0)
        rate_to_goal = np.sign(goal - self.z) * np.minimum(limit, np.sqrt(2.0 * config.acceleration * room))
        change = config.acceleration * dt
        rate = np.clip(rate_to_goal, self._rate - change, self._rate + change)
        arrived = (np.abs(goal - self.z) <= max(change * dt, _FLAT)) & (np.abs(self._rate) <= 2.0 * change)
        rate = np.where(arrived, 0.0, rate)
        self.acceleration = np.where(self.down | arrived, 0.0, (rate - self._rate) / dt)
        self.z, self._rate = np.where(arrived, goal, self.z + rate * dt), rate
        bottomed = arrived & self._descends & ~self.down
        self._found, self.down = np.where(bottomed, self.z, self._found), self.down | bottomed
        self._goal = np.where(bottomed, self.z, self._goal)
        self.flat = not (self.z.any() or self._rate.any())
        self._follow(dt)
        return self.z

    def fade(self, dt: float) -> None:
        """Go back to flat ground, for a gait that does not search."""
        step = self._config.height_rate * dt
        self.z = np.where(np.abs(self.z) <= step, 0.0, self.z - np.sign(self.z) * step)
        if not self.z.any():
            self.start()

    def lifted(self, state: WalkState, idle: np.ndarray, searches: bool) -> WalkState:
        """Return the state of the gait with the feet at these heights; those of `idle` legs (6,) stay as they are."""
        feet, acceleration = state.p_feet.copy(), state.a_feet.copy()
        if searches:
            feet[:, 2], acceleration[:, 2] = self.z, self.acceleration
        else:
            flat = np.where(state.swinging, feet[:, 2], 0.0)
            feet[:, 2] = np.where(idle, feet[:, 2], flat + self.z)
        return replace(state, p_feet=feet, a_feet=acceleration)

    def level(self, dt: float, p_feet: np.ndarray, tilt: Optional[np.ndarray]) -> None:
        """Turn W and move it up or down, so that the standing feet are around z = 0 and the body is level.

        Parameters
        ----------
        dt : float
            s.
        p_feet : (6, 2) array
            Feet in W, m.
        tilt : (2,) array or None
            Measured roll and pitch of W, rad; None: not known.
        """
        config, down = self._config, self.down
        if down.sum() < 3:
            return
        step = np.full(6, -np.clip(self._goal[down].mean(), -config.height_rate * dt, config.height_rate * dt))
        axes = np.column_stack((p_feet[:, 1], -p_feet[:, 0], np.ones(6)))
        plane = np.linalg.lstsq(axes[down], self.z[down], rcond=None)[0][:2]  # roll and pitch of the ground in W
        blend = min(dt / config.slope_time, 1.0)
        self._plane = self._plane + blend * (plane - self._plane)
        self._under = axes[:, :2] @ self._plane
        if tilt is not None:
            self._slope = self._slope + blend * (tilt + plane - self._slope)
            requested = self._slope - np.clip(self._slope, -config.level, config.level)
            most = config.tilt_rate * dt
            roll, pitch = np.clip(config.tilt_gain * (tilt - requested) * dt, -most, most)
            step = step + axes[:, :2] @ np.array([roll, pitch])
            self._plane = self._plane + np.array([roll, pitch])
        for heights in (self.z, self._goal, self._found, self._model, *self._late):
            heights += step

    def _follow(self, dt: float) -> None:
        """Step the model of where free feet are."""
        config = self._config
        self._late = np.vstack((self._late[1:], self.z))
        omega, steps = config.frequency, 5
        for _ in range(steps):
            pull = omega**2 * (self._late[0] - self._model) - 2.0 * config.damping * omega * self._model_rate
            self._model_rate = self._model_rate + pull * dt / steps
            self._model = self._model + self._model_rate * dt / steps
