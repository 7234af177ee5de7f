# SPDX-License-Identifier: MIT
"""The servos: one PID per joint, as in effort_controllers/JointGroupPositionController, inside the torque limit.

A joint of a class with a `velocity_gain` has a velocity-limited P servo: the same law with a damping of its own, p /
velocity_gain, and an error that is clipped to velocity / velocity_gain, so that it turns no faster than `velocity`.
"""

from __future__ import annotations

import dataclasses
from typing import List, Sequence

import numpy as np

from .errors import CommandError

#: As of ros_control (cfg/Pid.cfg), without what drives a joint away from its target; all of it is stable, 1e308 is not
_RANGES = {"p": (0.0, 1e5), "i": (0.0, 1e5), "d": (0.0, 1e3), "i_clamp_min": (-1e5, 0.0), "i_clamp_max": (0.0, 1e5)}


@dataclasses.dataclass(frozen=True)
class PidGains:
    """Gains of one joint, names as in control_toolbox."""

    #: p, i, d: N m/rad, N m/(rad s), N m s/rad; ranges in _RANGES
    p: float
    i: float = 0.0
    d: float = 0.0
    #: i_clamp_min, i_clamp_max: Bounds of the integral term, N m; min <= 0 <= max
    i_clamp_min: float = 0.0
    i_clamp_max: float = 0.0
    antiwindup: bool = False  #: True: the sum of the error is bounded too, so that it unwinds at once

    def __post_init__(self) -> None:
        """Check the gains; raises CommandError."""
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if isinstance(value, str) or not low <= value <= high:  # not a number, too
                raise CommandError(f"gain {name} = {value}; give a number from {low:g} to {high:g}")


class ServoBank:
    """Gains and integrators of all joints.

    The torque of a joint is, before limiting to the joint's effort,

        tau = p (cmd - q) + clamp(i * sum of (cmd - q) dt, i_clamp_min, i_clamp_max) + d (dcmd/dt - dq)

    The physics engine evaluates `gain * ctrl + bias0 + bias1 * q + bias2 * dq` with the velocity part implicitly; so p
    and d become gain, bias1 and bias2, and the rest goes into bias0. dcmd/dt is the command's change over one tick.

    Parameters
    ----------
    gains : sequence of PidGains
        Initial gains in the order of the joints.
    velocity_gain, velocity : (n,) array
        Of velocity-limited servos, 1/s (0: a PID), and their greatest speed, rad/s.

    Attributes
    ----------
    has_velocity_limit : bool
        Whether any servo is velocity-limited: its set point then depends on the position, in every physics step.
    has_integral : bool
        Whether any joint has an integral gain: then the bias must be refreshed in every physics step.
    """

    def __init__(self, gains: Sequence[PidGains], velocity_gain: np.ndarray, velocity: np.ndarray) -> None:
        self._gains: List[PidGains] = list(gains)
        is_limited = velocity_gain > 0.0
        self.has_velocity_limit = bool(is_limited.any())
        divisor = np.where(is_limited, velocity_gain, 1.0)
        self._greatest_error = np.where(is_limited, velocity / divisor, np.inf)  # rad
        self._damping_time = np.where(is_limited, 1.0 / divisor, 0.0)  # s
        self._error_sum = np.zeros(len(self._gains))  # rad s
        self._command_rate = np.zeros(len(self._gains))  # rad/s
        self._refresh()

    @property
    def stiffness(self) -> np.ndarray:
        """P gains of all joints, (n,), N m/rad; a new array whenever one changes."""
        return self._kp

    @property
    def integral_term(self) -> np.ndarray:
        """The clamped integral terms, N m, shape (n,)."""
        return np.clip(self._ki * self._error_sum, self._i_min, self._i_max)

    def gains(self, index: int) -> PidGains:
        """Return the gains of one joint."""
        return self._gains[index]

    def set_gains(self, index: int, gains: PidGains) -> None:
        """Change the gains of one joint; its integral survives except where i becomes 0."""
        self._gains[index] = gains
        if gains.i == 0.0:
            self._error_sum[index] = 0.0
        self._refresh()

    def reset(self) -> None:
        """Forget the integrals and the command rate."""
        self._error_sum[:] = 0.0
        self._command_rate[:] = 0.0

    def set_command_rate(self, rate: np.ndarray) -> None:
        """Set dcmd/dt for the coming tick, rad/s, shape (n,)."""
        self._command_rate[:] = rate

    def integrate(self, error: np.ndarray, dt: float) -> None:
        """Add one physics step to the integrals.

        Parameters
        ----------
        error : (n,) array
            Command minus position, rad.
        dt : float
            Length of the step, s.
        """
        self._error_sum += np.where(self._ki > 0.0, error * dt, 0.0)
        bounded = np.clip(self._error_sum, self._sum_min, self._sum_max)
        self._error_sum = np.where(self._antiwindup, bounded, self._error_sum)

    def bias(self) -> np.ndarray:
        """Return bias0 of the actuators, N m, shape (n,)."""
        rate_term = self._kd * self._command_rate
        return self.integral_term + rate_term if self.has_integral else rate_term  # clipping costs as much as contacts

    def coefficients(self) -> np.ndarray:
        """Return p and damping of all joints, shape (n, 2)."""
        return np.column_stack([self._kp, self._kd + self._kp * self._damping_time])

    def set_point(self, command: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return what the servos aim at now, rad, shape (n,): the command, near by for those that limit their speed.

        Parameters
        ----------
        command, q : (n,) array
            Commanded and present position, rad.
        """
        return q + np.clip(command - q, -self._greatest_error, self._greatest_error)

    def _refresh(self) -> None:
        table = np.array([[g.p, g.i, g.d, g.i_clamp_min, g.i_clamp_max] for g in self._gains]).reshape(-1, 5)
        self._kp, self._ki, self._kd, self._i_min, self._i_max = table.T.copy()
        self._antiwindup = np.array([g.antiwindup for g in self._gains], dtype=bool)
        self.has_integral = bool(np.any(self._ki > 0.0))
        divisor = np.where(self._ki > 0.0, self._ki, 1.0)
        self._sum_min, self._sum_max = self._i_min / divisor, self._i_max / divisor
