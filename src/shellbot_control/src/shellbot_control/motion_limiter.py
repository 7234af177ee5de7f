# SPDX-License-Identifier: MIT
"""The applied command: it starts at the measured joints, moves no faster than they can, and catches up gently."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from shellbot_common import Level, Notice
from shellbot_control.catch_up import CatchUp
from shellbot_control.command_filter_parameters import CommandFilterParameters
from shellbot_control.joint_limits import JointLimits, read_only
from shellbot_control.limiting import rate_limit

Array = np.ndarray

_CATCH_UP_GRACE = 1.0  # s after the catch-up's ramp in which a lag is still the way back and not worth a warning


class MotionLimiter:
    """Hold the applied command or move it towards targets.

    Parameters
    ----------
    limits : JointLimits
        The n joints and their speeds.
    parameters : CommandFilterParameters
        How a way back begins.
    """

    def __init__(self, limits: JointLimits, parameters: CommandFilterParameters) -> None:
        self._limits = limits
        self._parameters = parameters
        self._catch_up = CatchUp(parameters.catch_up_threshold, parameters.catch_up_velocity, parameters.catch_up_time)
        self.reset()

    @property
    def applied(self) -> Optional[Array]:
        """The last command, (n,) rad; None before the first."""
        return self._applied

    def reset(self) -> None:
        """Forget the applied command: the next starts at the measured joints."""
        self._applied: Optional[Array] = None
        self._resuming = True

    def resume(self) -> None:
        """Let the next move begin slowly if its way is long (after a hold, a stop or a gap)."""
        self._resuming = True

    def hold(self, measured: Array) -> Array:
        """Return the last command, or the measured joints within their limits if there was none; (n,) rad."""
        if self._applied is None:
            self._applied = read_only(np.clip(measured, self._limits.lower, self._limits.upper))
        self._resuming = True
        return self._applied

    def move(self, goal: Array, measured: Array, dt: float) -> Tuple[Array, Tuple[Notice, ...]]:
        """Move the applied command towards ``goal``.

        Parameters
        ----------
        goal, measured : (n,) array
            rad; wanted within the limits.
        dt : float
            s since the last command.

        Returns
        -------
        (n,) array
            The new applied command, read-only.
        tuple of Notice
            What to tell the operator.
        """
        notices: Tuple[Notice, ...] = ()
        previous = self._start(goal, measured) if self._applied is None else self._applied
        if self._resuming:
            self._resuming = False
            notices = self._begin(goal, previous)
        position = rate_limit(goal, previous, self._catch_up.limit(self._limits.velocity, dt), dt)
        lag = np.abs(goal - position)
        worst = int(lag.argmax())
        is_behind = bool(lag[worst] > 0.0)
        if self._catch_up.elapsed is not None:
            is_over = self._catch_up.elapsed > self._parameters.catch_up_time + _CATCH_UP_GRACE
            if is_over or not is_behind:
                self._catch_up.elapsed = None
        elif lag[worst] > self._parameters.catch_up_threshold:
            limits = self._limits
            text = f"targets move faster than the joints: {limits.names[worst]} is {lag[worst]:.2f} rad behind at its "
            notices += (Notice("too fast", Level.WARN, text + f"limit of {limits.velocity[worst]:.1f} rad/s"),)
        self._applied = read_only(position)
        return self._applied, notices

    def _start(self, goal: Array, measured: Array) -> Array:
        """Return where the first command starts."""
        # Within the sag of a loaded servo the target itself is the start: starting from the sagged joint would take the
        # load off it for a tick and let the body drop.
        measured = np.clip(measured, self._limits.lower, self._limits.upper)
        return np.where(np.abs(goal - measured) <= self._parameters.catch_up_threshold, goal, measured)

    def _begin(self, goal: Array, previous: Array) -> Tuple[Notice, ...]:
        """Begin to follow after a start or a hold: slowly if the way is long."""
        distance = np.abs(goal - previous)
        worst = int(distance.argmax())
        if not self._catch_up.begin(float(distance[worst])):
            return ()
        text = f"catching up with the targets slowly: {self._limits.names[worst]} is {distance[worst]:.2f} rad away"
        return (Notice("catch_up", Level.INFO, text),)
