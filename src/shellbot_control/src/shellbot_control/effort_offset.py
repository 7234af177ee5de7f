# SPDX-License-Identifier: MIT
"""Torques for servos that take angles only: how far a spring must be wound up to give them."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple, Union

import numpy as np

from shellbot_common import Level, Notice
from shellbot_control.errors import ConfigurationError, TargetsError
from shellbot_control.joint_limits import JointLimits
from shellbot_control.joint_order import JointOrder

Array = np.ndarray

FADE_S = 0.2  # in which offsets come when torques begin to be sent, and go when they end
GREATEST = 0.15  # rad: offset of a servo that is too soft for its torque
_LITTLE = 0.05  # N m: less torque crosses less than the dead band


class EffortOffset:
    """The offset tau / p of each joint's command, for a torque tau and the stiffness p of its servo.

    When torques stop coming, or are not finite, the last ones fade out, so that nothing jumps.

    Parameters
    ----------
    limits : JointLimits
        The n joints; torques beyond their effort count as that.
    """

    def __init__(self, limits: JointLimits) -> None:
        self._limits = limits
        self._order = JointOrder(limits.names)
        self._stiffness: Optional[Array] = None
        self._inverse = self._dead_band = self._least = self._greatest = np.zeros(len(limits))
        self._has_dead_band = False
        self.reset()

    def set_stiffness(self, stiffness: Array, dead_band: Union[float, Array] = 0.0) -> None:
        """Take other servos' springs from now on; before the first, torques have no effect.

        Parameters
        ----------
        stiffness : (n,) array
            N m/rad; 0: limp, its torque has no effect.
        dead_band : float or (n,) array
            rad by which each servo may be off without giving any torque.

        Raises
        ------
        ConfigurationError
            For a wrong number of joints, or a value that is negative or not finite.
        """
        if self._stiffness is stiffness:
            return
        p, band = np.asarray(stiffness, dtype=float), np.asarray(dead_band, dtype=float)
        for name, values in (("stiffness", p), ("dead band", band)):
            is_fitting = values.shape in ((), (len(self._limits),))
            if not (is_fitting and np.isfinite(values).all() and (values >= 0.0).all()):
                raise ConfigurationError(
                    f"{name} is {values.tolist()}; give {len(self._limits)} finite numbers that are not negative"
                )
        self._stiffness = stiffness
        self._inverse = np.divide(1.0, p, out=np.zeros(len(self._limits)), where=p > 0.0)
        self._dead_band = np.where(p > 0.0, band, 0.0)
        self._has_dead_band = bool(self._dead_band.any())
        self._greatest = np.minimum(self._limits.effort * self._inverse + self._dead_band, GREATEST)
        self._least = -self._greatest

    def reset(self) -> None:
        """Forget the torques."""
        self._effort = np.zeros(len(self._limits))
        self._fraction = 0.0

    def step(
        self, dt: float, names: Sequence[str], effort: Union[Sequence[float], Array]
    ) -> Tuple[Optional[Array], Tuple[Notice, ...]]:
        """Return the offset of a command.

        Parameters
        ----------
        dt : float
            s since the last one.
        names, effort : sequences
            Joint names in any order, and their torques, N m; none: no torques were sent.

        Returns
        -------
        (n,) array or None
            rad, to be added to the commanded angles; None: nothing is to be added.
        tuple of Notice
            Why torques have no effect.
        """
        notices: Tuple[Notice, ...] = ()
        sent = False
        if len(effort):
            if self._stiffness is None:
                text = "joint_targets have efforts, but the stiffness of the servos is not known: ignored"
                return None, (Notice("stiffness", Level.WARN, text),)
            try:
                self._effort, sent = self._order.pick(names, effort), True
            except TargetsError as error:
                notices = (Notice("effort", Level.ERROR, f"efforts of joint_targets ignored: {error}"),)
        if not sent and self._fraction == 0.0:
            return None, notices
        goal, change = float(sent), max(dt, 0.0) / FADE_S
        self._fraction = min(max(goal, self._fraction - change), self._fraction + change)
        offset = self._effort * self._inverse
        if self._has_dead_band:
            offset += self._dead_band * np.clip(self._effort / _LITTLE, -1.0, 1.0)
        np.minimum(offset, self._greatest, out=offset)
        np.maximum(offset, self._least, out=offset)
        if self._fraction < 1.0:
            offset *= self._fraction
        return offset, notices
