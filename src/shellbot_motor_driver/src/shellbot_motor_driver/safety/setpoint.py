# SPDX-License-Identifier: MIT
"""Targets of any quality: which are accepted, and how old the last accepted ones are."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_control import TargetsError
from shellbot_motor_driver.driving.driver_config import Setpoint
from shellbot_motor_driver.errors import ServoMapError
from shellbot_motor_driver.map.servo_map import ServoMap

Array = np.ndarray


class SetpointGate:
    """Judge targets as they come.

    Parameters
    ----------
    servo_map : ServoMap
        Joints, limits.
    config : Setpoint
        Thresholds.

    Attributes
    ----------
    targets : (n_servos,) array or None
        Joint angle of each servo that is to be approached, within the limits.
    stamp : float
        When these were given, s; -inf before the first.
    problem : str
        Why the last targets were refused; empty if they were not.
    clamped : str
        Which joints were brought into their range, in words; empty if none.
    """

    def __init__(self, servo_map: ServoMap, config: Setpoint) -> None:
        self._map, self._config = servo_map, config
        self.reset()

    def reset(self) -> None:
        """Forget all targets: the next are the first."""
        self.targets: Optional[Array] = None
        self.stamp = -np.inf
        self.problem = ""
        self.clamped = ""
        self._candidate: Optional[Array] = None
        self._since = 0.0

    def offer(self, targets: Array, stamp: float, now: float) -> bool:
        """Judge targets; return whether they are accepted.

        Parameters
        ----------
        targets : (n_joints,) array
            rad.
        stamp, now : float
            When they were given, and the present, s.
        """
        config = self._config
        stamp = min(stamp, now)
        if now - stamp > config.hold_after:
            return self._refuse(f"targets are {now - stamp:.2f} s old on arrival; check the chain and the network")
        try:
            reduced = self._map.reduce(targets)
        except (ServoMapError, TargetsError, TypeError, ValueError) as error:
            return self._refuse(str(error))
        inside = np.minimum(np.maximum(reduced, self._map.lower), self._map.upper)
        out = np.abs(reduced - inside)
        worst = int(out.argmax())
        if out[worst] > config.far:
            return self._refuse(
                f"the target of {self._map.motor_names[worst]} is {reduced[worst]:.2f} rad, allowed "
                f"{self._map.lower[worst]:.2f} to {self._map.upper[worst]:.2f}; check the node that publishes it"
            )
        self.clamped = ""
        if out[worst] > 1e-6:
            self.clamped = (
                f"the target of {self._map.motor_names[worst]} ({reduced[worst]:.3f} rad) is clamped to its range "
                f"{self._map.lower[worst]:.3f} to {self._map.upper[worst]:.3f}"
            )
        if self._jumps(inside, stamp):
            return False
        self.targets, self.stamp, self.problem, self._candidate = inside, stamp, "", None
        return True

    def _jumps(self, reduced: Array, stamp: float) -> bool:
        """Return whether targets are refused (for now) because they are far from the previous ones."""
        config = self._config
        # After a pause there is nothing to compare with, and the approach is slow anyway.
        if self.targets is None or (stamp - self.stamp > config.sit_after and self._candidate is None):
            return False
        jump = np.abs(reduced - self.targets)
        worst = int(jump.argmax())
        if jump[worst] <= config.jump:
            return False
        if self._candidate is None or float(np.abs(reduced - self._candidate).max()) > config.jump:
            self._since = stamp
        self._candidate = reduced
        if stamp - self._since >= config.steady:
            return False
        return not self._refuse(
            f"the target of {self._map.motor_names[worst]} jumped by {jump[worst]:.2f} rad; holding until targets are "
            f"steady for {config.steady:g} s, then approaching them slowly"
        )

    def _refuse(self, problem: str) -> bool:
        self.problem = problem
        return False
