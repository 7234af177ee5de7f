# SPDX-License-Identifier: MIT
"""The messages of the robot's IMU, and what they say at the time of a tick."""

from __future__ import annotations

import math
from collections import deque
from typing import Deque, List, Optional, Sequence, Tuple

import numpy as np

from shellbot_action_manager.estimation.attitude import AttitudeConfig, AttitudeFilter, ImuReading, known
from shellbot_action_manager.estimation.memory import counts_at
from shellbot_common import Stamp, classify_stamp
from shellbot_common.rotations import is_attitude

IMU_TIMEOUT = 0.2  # s: an older attitude is not used
_READINGS = 400  # as many as the queues of the messages that come with them hold, twice
_SAME = 1e-9  # s: two stamps that differ by less are of one tick


class ImuInput:
    """The robot's IMU as its nodes read it, so that each of them makes the same of the same messages.

    An orientation that the IMU gives is taken as it is; without one (REP 145) the filter runs.

    Parameters
    ----------
    config : AttitudeConfig
        Of the filter.
    memory : sequence of float
        `memory` of another input, such as that of a node that died: the filter goes on with its heading.
    """

    def __init__(self, config: AttitudeConfig, memory: Sequence[float] = ()) -> None:
        self._filter, self._latency = AttitudeFilter(config), config.latency
        self.reset()
        self._memory = memory

    def reset(self) -> None:
        """Forget everything."""
        self._memory = ()
        self._filter.reset()
        self._time = -math.inf
        self._in_step = False  # the last tick found a measurement of its own time
        self._readings: Deque[Tuple[float, ImuReading]] = deque(maxlen=_READINGS)

    @property
    def memory(self) -> List[float]:
        """What another input needs to go on with the heading: time (s), quaternion; empty without an attitude."""
        if not self._readings or self._readings[-1][1].orientation is None:
            return []
        return [float(self._time), *self._readings[-1][1].orientation.tolist()]

    def receive(
        self, t: float, orientation: Optional[np.ndarray], angular_velocity: np.ndarray, specific_force: np.ndarray
    ) -> None:
        """Take a message.

        Parameters
        ----------
        t : float
            Its stamp, s; a repeated or late one (see `classify_stamp`) changes nothing, one older by more than a gap
            resets.
        orientation : (4,) array or None
            Quaternion x, y, z, w of base_link; None: the IMU does not estimate it. NaN or no length: not now.
        angular_velocity : (3,) array
            rad/s in base_link.
        specific_force : (3,) array
            m/s^2 in base_link.
        """
        kind = classify_stamp(self._time, t)
        if kind is Stamp.RESET:
            self.reset()
        if kind in (Stamp.REPEATED, Stamp.LATE):
            return
        if kind is Stamp.FIRST and counts_at(t, self._memory, 5):
            before = np.array(self._memory[1:], dtype=np.float64)
            self._filter.reset(before if is_attitude(before) else None)
        if orientation is None:
            if not np.isfinite(angular_velocity).all():
                return  # as if it had not come: the attitude before holds until it is too old
            reading = self._filter.step(t - self._time if kind is Stamp.NEXT else 0.0, angular_velocity, specific_force)
        else:
            attitude = orientation if is_attitude(orientation) else None
            reading = ImuReading(attitude, known(angular_velocity), known(specific_force))
        self._time = t
        self._readings.append((t, reading))

    def is_due(self, t: float) -> bool:
        """Return whether the measurement of the tick at time t (s) is on its way, so that waiting for it pays.

        A simulator measures at each tick, with the stamp of joint_states: a tick that took what is there by chance
        would make the robot's motion depend on the speed of the machine. An IMU with a clock of its own is never due.
        """
        return self._in_step and self._time < t - _SAME

    def read(self, t: float) -> ImuReading:
        """Return what was measured at time t (s) or last before it: nothing if that is older than `IMU_TIMEOUT`.

        On a busy machine other messages are handled later than those of the IMU: the newest is then of another time.
        Where all are later than t the earliest counts, if it is no more than `IMU_TIMEOUT` later. The orientation is
        turned on by the angular velocity for the latency of the configuration.
        """
        if not self._readings:
            return ImuReading()
        before = ((stamp, reading) for stamp, reading in reversed(self._readings) if stamp <= t + _SAME)
        stamp, reading = next(before, self._readings[0])
        self._in_step = abs(t - stamp) <= _SAME
        return reading.later(self._latency) if abs(t - stamp) <= IMU_TIMEOUT else ImuReading()
