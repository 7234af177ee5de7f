# SPDX-License-Identifier: MIT
"""What a step response says: rise, overshoot, settling, steady error, the second-order system behind it, and gains.

A joint with inertia J, viscous friction b and gains p and d follows a step like the system of natural frequency
sqrt(p / J) and damping ratio (b + d) / (2 sqrt(p J)), as long as its torque stays below the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Tuple

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import least_squares

from robot_evaluation.errors import EvaluationError
from shellbot_control import Gains

SETTLED = 0.05  # of the step: settled within this
_FITTED = ((0.5, 2000.0), (0.005, 5.0))  # ranges of the natural frequency, rad/s, and of the damping ratio
_FINE = 0.0005  # s: between samples, interpolated with position and velocity


@dataclass(frozen=True)
class Response:
    """Of one joint to a step of its command at time zero."""

    joint: str
    t: np.ndarray  #: (m,) s, from the step on
    position: np.ndarray  #: (m,) rad
    velocity: np.ndarray  #: (m,) rad/s
    effort: np.ndarray  #: (m,) N m, the greatest of the tick before
    start: float  #: Command before the step, rad
    step: float  #: Height of the step, rad
    limit: float = math.inf  #: Torque limit, N m

    def fine(self) -> Tuple[np.ndarray, np.ndarray]:
        """Return times (k,) and the fraction of the step that is done, from where the joint was, without sampling."""
        t = np.arange(self.t[0], self.t[-1], _FINE)
        position = CubicHermiteSpline(self.t, self.position, self.velocity)(t)
        return t, (position - self.position[0]) / self.step

    @property
    def final(self) -> float:
        """Fraction of the step at the end: 1 without a change of the steady error."""
        return float((self.position[-1] - self.position[0]) / self.step)

    @property
    def rise(self) -> float:
        """Time from 10 to 90 % of the final value, s; NaN if it is not reached."""
        t, y = self.fine()
        reached = [np.flatnonzero(y >= fraction * self.final) for fraction in (0.1, 0.9)]
        return float(t[reached[1][0]] - t[reached[0][0]]) if all(len(r) for r in reached) else math.nan

    @property
    def overshoot(self) -> float:
        """Beyond the final value, as a fraction of it; 0 without any."""
        return max(float(self.fine()[1].max() / self.final - 1.0), 0.0)

    @property
    def settling(self) -> float:
        """Time after which it stays within 5 % of the step around the final value, s; NaN if it never does."""
        t, y = self.fine()
        outside = np.flatnonzero(np.abs(y - self.final) > SETTLED)
        last = outside[-1] + 1 if len(outside) else 0
        return float(t[last]) if last < len(t) * 0.95 else math.nan

    @property
    def steady_error(self) -> float:
        """Command minus position at the end, rad: what gravity bends the joint by."""
        return float(self.start + self.step - self.position[-1])


@dataclass(frozen=True)
class Joint:
    """A joint as the second-order system that explains its response."""

    inertia: float  #: kg m^2
    friction: float  #: N m s/rad, without d
    misfit: float  #: RMS of the difference, as a fraction of the step

    def damping_ratio(self, gains: Gains) -> float:
        """Return the damping ratio that some gains give."""
        return (self.friction + gains.d) / (2.0 * math.sqrt(gains.p * self.inertia))


def second_order(t: np.ndarray, frequency: float, ratio: float) -> np.ndarray:
    """Return the unit step response of a second-order system at times t (m,) s; frequency in rad/s."""
    half = np.sqrt(complex(ratio * ratio - 1.0)) * frequency  # of the distance between the two poles
    if abs(half) < 1e-6 * frequency:
        return np.asarray(1.0 - np.exp(-frequency * t) * (1.0 + frequency * t))
    a, b = -ratio * frequency + half, -ratio * frequency - half
    return np.asarray(1.0 + ((b * np.exp(a * t) - a * np.exp(b * t)) / (a - b)).real)


def identify(response: Response, gains: Gains) -> Joint:
    """Fit the second-order system to a response.

    Raises
    ------
    EvaluationError
        If the joint hardly moved, or its p is zero.
    """
    if gains.p <= 0.0 or abs(response.final) < 0.05:
        raise EvaluationError(f"{response.joint} does not follow its command (p is {gains.p:g}); give it a stiffness")
    t, y = response.fine()
    y = y / response.final

    def difference(x: np.ndarray) -> np.ndarray:
        return np.asarray(second_order(t, math.exp(x[0]), math.exp(x[1])) - y)

    guesses = [(math.log(f), math.log(r)) for f in (10.0, 30.0, 90.0) for r in (0.3, 1.0)]
    fits = [least_squares(difference, guess, bounds=np.log(_FITTED).T) for guess in guesses]
    best = min(fits, key=lambda fit: float(fit.cost))
    frequency, ratio = math.exp(best.x[0]), math.exp(best.x[1])
    inertia = gains.p / frequency**2
    friction = 2.0 * ratio * frequency * inertia - gains.d
    return Joint(inertia, max(friction, 0.0), float(np.sqrt(np.mean(best.fun**2))))


def propose(joint: Joint, gains: Gains, ratio: float, p_factor: float = 1.0) -> Gains:
    """Return gains by the rule of docs/gains.md: p carries the load, d sets the damping ratio, i stays.

    Parameters
    ----------
    joint : Joint
        The heaviest of its class.
    gains : Gains
        Present ones.
    ratio : float
        Requested damping ratio.
    p_factor : float
        Of p: present steady error over the requested one.
    """
    p = gains.p * p_factor
    return Gains(p, gains.i, max(2.0 * ratio * math.sqrt(p * joint.inertia) - joint.friction, 0.0))
