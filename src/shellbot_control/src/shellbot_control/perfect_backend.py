# SPDX-License-Identifier: MIT
"""A backend whose joints are where they are told to be at once: for tests of everything above it."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from shellbot_control.backend import JointSample, RobotBackend
from shellbot_control.errors import ConfigurationError
from shellbot_control.joint_limits import JointLimits
from shellbot_control.limiting import clamp_targets

Array = np.ndarray


class PerfectBackend(RobotBackend):
    """Perfect joints: the measured positions are the applied targets; time passes only in :meth:`advance`.

    Parameters
    ----------
    limits : JointLimits
        Names and limits of the joints.
    position : (n,) array, optional
        Positions at the start in rad; default the middle of each range.
    """

    def __init__(self, limits: JointLimits, position: Optional[Array] = None) -> None:
        self._limits = limits
        start = (limits.lower + limits.upper) / 2.0 if position is None else position
        self._position = clamp_targets(start, limits)
        self._before = self._position
        self._velocity = np.zeros(len(limits))
        self._stamp = 0.0

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Names of the joints."""
        return self._limits.names

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass; the velocity becomes the mean over them.

        Raises
        ------
        ConfigurationError
            If the time is not positive.
        """
        if not seconds > 0.0:
            raise ConfigurationError(f"cannot advance by {seconds} s; give a positive time")
        self._stamp += seconds
        self._velocity = (self._position - self._before) / seconds
        self._before = self._position

    def read(self) -> JointSample:
        """Return the joints, which carry no load."""
        return JointSample(self._stamp, self.joint_names, self._position, self._velocity, np.zeros(len(self._limits)))

    def write(self, targets: Array) -> Array:
        """Set the joints to the clamped targets and return these."""
        self._position = clamp_targets(targets, self._limits)
        return self._position.copy()

    def hold(self) -> Array:
        """Return the positions, which stay as they are."""
        return self._position.copy()
