# SPDX-License-Identifier: MIT
"""The attitude of the head at the time of the joints: a measurement turned on by the rate that was measured with it."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_common.rotations import quaternion_product

_OLDEST = 0.05  # s: an older attitude says nothing


class Attitude:
    """The last measurement of the IMU.

    IMU and joints come in messages of their own, and a rolling snake turns by 4 degrees in a tick: an attitude that is
    a tick older than the joints bends the estimated ground, and odometry of a rolling gait is off by three quarters of
    the distance.
    """

    def __init__(self) -> None:
        self._time = -np.inf
        self._quaternion: Optional[np.ndarray] = None
        self._rate = np.zeros(3)

    def update(self, t: float, quaternion: Optional[np.ndarray], rate: np.ndarray) -> None:
        """Take a measurement.

        Parameters
        ----------
        t : float
            Its time, s.
        quaternion : (4,) array or None
            x, y, z, w of the head in the world; None: the IMU knows none.
        rate : (3,) array
            Angular velocity in the head's axes, rad/s; not finite counts as zero.
        """
        self._time, self._quaternion = t, quaternion
        self._rate = np.asarray(rate) if np.all(np.isfinite(rate)) else np.zeros(3)

    def at(self, t: float) -> Optional[np.ndarray]:
        """Return the quaternion x, y, z, w at a time, (4,); None without a measurement within 50 ms of it."""
        ahead = t - self._time
        if self._quaternion is None or not abs(ahead) <= _OLDEST:
            return None
        turn = 0.5 * ahead * self._rate
        half = float(np.linalg.norm(turn))
        # sin(x) / x, and its limit
        return quaternion_product(self._quaternion, np.array([*(np.sinc(half / np.pi) * turn), np.cos(half)]))
