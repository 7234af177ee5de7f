# SPDX-License-Identifier: MIT
"""Engine, drive and odometry of one snake: what its node runs at each tick, and every experiment in one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Tuple

import numpy as np

from shellbot_common import Stamp, classify_stamp
from snake_motion.chassis import BodyGeometry
from snake_motion.drive import VelocityDrive
from snake_motion.engine import EngineOutput, Feedback, SnakeEngine
from snake_motion.errors import SnakeMotionError
from snake_motion.odometry import SnakeOdometry, SnakeState


@dataclass(frozen=True)
class CoreOutput:
    """What to command, and where the robot is."""

    motion: EngineOutput
    state: Optional[SnakeState]  #: None without an attitude
    notice: str = ""  #: For the log, if there is something new to say


class SnakeCore:
    """All of a snake's motion without ROS.

    Parameters
    ----------
    engine, drive, geometry
        Its parts; the geometry is that of the odometry.
    """

    def __init__(self, engine: SnakeEngine, drive: VelocityDrive, geometry: BodyGeometry) -> None:
        self.engine, self.drive = engine, drive
        self._odometry = SnakeOdometry(geometry)
        self._time: Optional[float] = None
        self._twist: Tuple[float, ...] = (0.0, 0.0, 0.0)
        self._twist_time = -np.inf
        self._is_driving = False

    def command(self, twist: Sequence[float]) -> None:
        """Take a twist: forward, left (m/s), turning (rad/s); it holds until the time-out."""
        self._twist, self._twist_time = tuple(twist), self._time if self._time is not None else -np.inf

    def step(self, t: float, q: np.ndarray, orientation: Optional[np.ndarray]) -> Optional[CoreOutput]:
        """Advance to a time; None for a late tick.

        Parameters
        ----------
        t : float
            Simulated time, s.
        q : (n,) array
            Measured joints, rad.
        orientation : (4,) array or None
            Quaternion x, y, z, w of the head; None if it is not known.
        """
        kind = classify_stamp(self._time, t)
        if kind is Stamp.LATE:
            return None
        if kind is Stamp.RESET:
            self.engine.reset()
            self._odometry.reset()
            self._twist_time = -np.inf
        self._time = t
        state = None
        if orientation is not None and np.all(np.isfinite(q)) and np.all(np.isfinite(orientation)):
            state = self._odometry.step(t, q, orientation, self._scale())
        notice = self._follow(t)
        return CoreOutput(self.engine.step(t, Feedback(q, state.roll if state else None)), state, notice)

    def _scale(self) -> float:
        active = self.engine.active
        row = self.engine.gaits.rows.get(active.name) if active else None
        return row.odometry_scale if row else 1.0

    def _follow(self, t: float) -> str:
        """Let the twist steer; returns why it cannot, if so."""
        is_fresh = t - self._twist_time <= self.engine.config.command_timeout
        if not is_fresh:
            if self._is_driving:
                self._is_driving = False
                self.engine.drive(None)
            return ""
        try:
            target, _ = self.drive.target(self._twist)
        except SnakeMotionError as error:
            self._twist_time = -np.inf
            if self._is_driving:
                self._is_driving = False
                self.engine.drive(None)
            return str(error)
        if target is not None or self._is_driving:
            self.engine.drive(target)
        self._is_driving = target is not None
        return ""
