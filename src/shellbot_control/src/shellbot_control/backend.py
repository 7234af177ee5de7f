# SPDX-License-Identifier: MIT
"""The contract of everything that has joints: simulators, servos and the perfect mock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Tuple

import numpy as np

from shellbot_control.joint_limits import read_only

Array = np.ndarray


@dataclass(frozen=True)
class JointSample:
    """Measured state of n joints at one time.

    Parameters
    ----------
    stamp : float
        Time of the measurement in s.
    names : tuple of str
        Joint names, in the order of the arrays.
    position, velocity, effort : (n,) array
        rad, rad/s, N·m; copied, handed out read-only.
    """

    stamp: float
    names: Tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for field in ("position", "velocity", "effort"):
            object.__setattr__(self, field, read_only(getattr(self, field)))


class RobotBackend(ABC):
    """n position-controlled joints that can be read and commanded.

    ``shellbot_control.backend_contract`` says in runnable form what each method promises.
    """

    @property
    @abstractmethod
    def joint_names(self) -> Tuple[str, ...]:
        """Names of the joints; the order of every array, the same for the life of the backend."""

    @abstractmethod
    def read(self) -> JointSample:
        """Return the measured joints; moves nothing."""

    @abstractmethod
    def write(self, targets: Array) -> Array:
        """Command joint positions.

        Parameters
        ----------
        targets : (n,) array
            rad, in the order of ``joint_names``.

        Returns
        -------
        (n,) array
            The targets that were applied, after the backend's own limits.

        Raises
        ------
        shellbot_control.errors.TargetsError
            If the shape is wrong or a value is not finite; the targets applied before then stay in force.
        """

    @abstractmethod
    def hold(self) -> Array:
        """Keep the last applied targets in force, or the measured positions before the first; never go limp.

        Returns
        -------
        (n,) array
            The targets held, in rad.
        """
