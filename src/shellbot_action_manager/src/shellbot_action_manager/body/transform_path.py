# SPDX-License-Identifier: MIT
"""The path of the joints between standing and the closed ball, as data: named steps of postures, read from YAML."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Tuple, Union

import numpy as np

from shellbot_action_manager.body.geometry import RobotGeometry
from shellbot_action_manager.body.unhook import UnhookConfig
from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number, package_file, required

Key = Tuple[float, float, float, float, float, float, float, float, float, float]
_SNAP = 0.002  # rad: the last key is the pose `closed` of the description, written with four digits
_SAMPLE = 0.02  # s: grid on which a posture is looked for


@dataclass(frozen=True)
class PathStep(Settings, error=ConfigError):
    """One step; units and columns in `config/transform.yaml`."""

    name: str
    closing: str
    opening: str
    level: bool
    keys: Tuple[Key, ...] = number(-3.2, 3.2)
    pressed: bool = False

    def conflict(self) -> str:
        """Refuse a step without postures, or one that goes back in time."""
        if not self.keys:
            return f"keys of {self.name} is empty; give at least one posture"
        if min(key[0] for key in self.keys) < 0.01:
            return f"keys of {self.name}: a time is below 0.01 s; the first number is the time from the posture before"
        return ""


@dataclass(frozen=True)
class LevellingConfig(Settings, error=ConfigError):
    """Levelling by the IMU; units and meaning in `config/transform.yaml`."""

    gain: float = number(0.0, 5.0)
    damping: float = number(0.0, 0.5, "s")
    integral: float = number(0.0, 10.0, "1/s")
    integral_limit: float = number(0.0, 0.3, "rad")
    range: Tuple[float, float] = number(-0.3, 0.3, "rad", ordered=True)
    rate: float = number(0.1, 6.0, "rad/s")


@dataclass(frozen=True)
class TransformConfig(Settings, error=ConfigError):
    """Closing and opening; units and meaning in `config/transform.yaml`."""

    speed: float = number(0.1, 2.0)
    follow_error: float = number(0.05, 1.0, "rad")
    arrived: float = number(0.01, 0.3, "rad")
    timeout: float = number(0.2, 20.0, "s")
    blind: float = number(0.0, 2.0, "s")
    catch_up: float = number(0.1, 3.0, "rad/s")
    found: float = number(0.02, 0.5, "rad")
    fold_lead: float = number(0.02, 1.0, "rad")
    greatest_slope: float = number(0.02, 0.6, "rad")
    open_tilt: float = number(0.02, 0.6, "rad")
    shut_tilt: float = number(0.02, 1.0, "rad")
    unhook_lower: UnhookConfig = required()
    unhook_upper: UnhookConfig = required()
    levelling: LevellingConfig = required()
    steps: Tuple[PathStep, ...] = required()


def load_transform(path: Optional[Union[str, Path]] = None) -> TransformConfig:
    """Return the checked settings, by default of the package's own `config/transform.yaml`.

    Raises
    ------
    ConfigError
        If the file cannot be read or a value is out of range.
    """
    return TransformConfig.load(path or package_file("shellbot_action_manager", "config/transform.yaml"))


class TransformPath:
    """Postures over the path's own time, 0 standing, `duration` closed.

    Parameters
    ----------
    config : TransformConfig
        Its steps.
    geometry : RobotGeometry
        Of a robot with upper legs; both ends of the path are its poses.

    Raises
    ------
    ConfigError
        If the last posture is not the closed ball of the description, or a joint leaves its limits.
    """

    def __init__(self, config: TransformConfig, geometry: RobotGeometry) -> None:
        self.steps = config.steps
        keys = np.array([key for step in config.steps for key in step.keys])
        stand, closed = (
            np.array([lower[0, 0], *lower[0, 1:], *lower[1, 1:], *upper[0]])
            for lower, upper in (
                (geometry.stand_lower, geometry.up_upper),
                (geometry.closed_lower, geometry.closed_upper),
            )
        )
        miss = np.abs(keys[-1, 1:] - closed)
        if miss.max() > _SNAP:
            raise ConfigError(
                f"transform: the last posture misses the pose closed by {miss.max():.4f} rad; end in that pose"
            )
        self._times = np.concatenate([[0.0], np.cumsum(keys[:, 0])])
        self._postures = np.vstack([stand, keys[:, 1:]])
        self._postures[-1] = closed
        counts = np.cumsum([len(step.keys) for step in config.steps])
        self.ends = self._times[counts]
        self.starts = np.concatenate([[0.0], self.ends[:-1]])
        self.duration = float(self._times[-1])
        grid = np.append(np.arange(0.0, self.duration, _SAMPLE), self.duration)
        self._grid, self._samples = grid, np.array([np.interp(grid, self._times, c) for c in self._postures.T]).T

    def at(self, time: float) -> Tuple[np.ndarray, np.ndarray]:
        """Return fan, coxa, femur, tibia (6, 4) and shoulder, shell (6, 2), rad, at a time of the path, s."""
        i = int(np.clip(np.searchsorted(self._times, time, side="right"), 1, len(self._times) - 1))
        before, after = self._times[i - 1], self._times[i]
        fraction = min(max((time - before) / (after - before), 0.0), 1.0)
        return _unfold(self._postures[i - 1] + fraction * (self._postures[i] - self._postures[i - 1]))

    def step_at(self, time: float, direction: int) -> int:
        """Return the index of the step under way at a time, s; at the border of two the one ahead in `direction`."""
        find = bisect_right if direction > 0 else bisect_left
        return min(find(self.ends.tolist(), time), len(self.steps) - 1)

    def find(self, lower: np.ndarray, upper: np.ndarray) -> Tuple[float, float]:
        """Return the time (s) whose posture is nearest to joints (6, 4) and (6, 2), and the worst difference, rad."""
        legs = lower[:, 1:]
        columns = [lower[:, :1], legs[0::2], legs[1::2], upper]  # each against the columns that it shares
        places = [slice(0, 1), slice(1, 4), slice(4, 7), slice(7, 9)]
        error = np.zeros(len(self._grid))
        for values, place in zip(columns, places):
            difference = np.abs(self._samples[:, None, place] - values[None])
            error = np.maximum(error, difference.max(axis=(1, 2)))
        best = int(np.argmin(error))
        return float(self._grid[best]), float(error[best])


def _unfold(posture: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    lower = np.empty((6, 4))
    lower[:, 0] = posture[0]
    lower[0::2, 1:], lower[1::2, 1:] = posture[1:4], posture[4:7]
    return lower, np.tile(posture[7:9], (6, 1))
