# SPDX-License-Identifier: MIT
"""Parameters of the walking engine, read from `config/walk.yaml` and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

import numpy as np

from shellbot_common import Settings, SettingsError, number

_LEAST_SWING = 0.1  # s
_AXES, _UNITS = ("ahead", "sideways", "turning"), ("m/s", "m/s", "rad/s")


class WalkError(SettingsError):
    """The walking engine cannot do what is requested; the sentence names value, range and remedy."""


@dataclass(frozen=True)
class WalkParameters(Settings, error=WalkError):
    """Meaning and unit of the first ones are in `config/walk.yaml`; the others are gains of the feedback."""

    step_time: float = number(0.2, 1.0, "s", default=0.28)
    double_support: float = number(0.02, 0.4, "s", default=0.06)
    first_double_support: float = number(0.1, 1.0, "s", default=0.30)
    hip_height: float = number(0.15, 0.24, "m", default=0.225)
    lift: float = number(0.005, 0.08, "m", default=0.020)
    foot_distance: float = number(0.09, 0.16, "m", default=0.100)
    zmp_ahead: float = number(-0.04, 0.09, "m", default=0.025)
    zmp_inwards: float = number(-0.03, 0.03, "m", default=0.004)
    limit_ahead: float = number(0.0, 0.5, "m/s", default=0.25)
    limit_back: float = number(0.0, 0.3, "m/s", default=0.15)
    limit_sideways: float = number(0.0, 0.2, "m/s", default=0.10)
    limit_turn: float = number(0.0, 2.0, "rad/s", default=1.05)
    change_per_step: Tuple[float, float, float] = number(0.001, 2.0, default=(0.05, 0.05, 0.3))
    dcm_gain: float = number(0.0, 3.0, default=0.6)  #: Of the centre of pressure on the DCM error, beyond 1
    sole_margin: float = number(0.0, 0.03, "m", default=0.012)  #: Of the centre of pressure to the edge of the sole
    step_gain: float = number(0.0, 1.5, default=0.7)  #: Of the next foothold on the DCM error predicted for then
    step_limits: Tuple[float, float] = number(0.0, 0.2, "m", default=(0.09, 0.06))  #: Of that shift: ahead, sideways
    step_dead_band: float = number(0.0, 0.05, "m", default=0.006)
    #: How much earlier and later than planned a step may end
    time_limits: Tuple[float, float] = number(0.0, 0.2, "s", default=(0.08, 0.06))
    #: Error at the end of a step beyond which its time moves, too, and its foothold until `fixed_time`
    time_dead_band: float = number(0.0, 0.1, "m", default=0.010)
    urgent_aside: float = number(0.0, 0.2, "m", default=0.10)  #: In place of step_limits' sideways, then
    time_weight: float = number(0.001, 1.0, "m", default=0.03)  #: Of that time beside the error that it leaves
    #: Before the landing, in which foothold and time move no more
    fixed_time: float = number(0.02, 0.2, "s", default=0.04)
    least_foot_distance: float = number(0.08, 0.12, "m", default=0.085)
    greatest_foot_distance: float = number(0.10, 0.25, "m", default=0.190)
    tilt_gain: float = number(0.0, 3.0, default=1.0)  #: Of the torso's reference angle against its tilt
    tilt_rate_gain: float = number(0.0, 0.5, "s", default=0.05)
    com_pull: float = number(
        0.0, 1.0, default=0.1
    )  #: Part of its error that the reference centre of mass gives up a tick
    swing_from_measured: float = number(0.0, 1.0, default=0.8)  #: How far the swing leg starts from the measured base
    support_weight: float = number(0.0, 1.0, default=0.7)  #: Of the support leg in the hips' shared angle
    landing_force: float = number(0.5, 50.0, "N", default=8.0)
    landing_from: float = number(0.3, 1.0, default=0.65)  #: Part of the swing after which a foot may land
    landing_wait: float = number(0.0, 0.2, "s", default=0.06)
    arm_swing: float = number(0.0, 5.0, "rad/m", default=2.0)  #: Of a shoulder on how far the other foot is ahead
    arm_swing_feet: float = number(0.0, 5.0, "rad/m", default=3.0)  #: The same with the heading by the feet alone
    odometry_scale: float = number(0.9, 1.1, default=1.0058)  #: True distance over the odometry's

    def conflict(self) -> str:
        """Return that a step leaves no time for its swing, or the feet no distance, if so."""
        if self.step_time - self.double_support < _LEAST_SWING - 1e-9:
            return (
                f"double_support {self.double_support:g} s leaves less than {_LEAST_SWING:g} s of the step_time "
                f"{self.step_time:g} s to the swing; lower it, or raise step_time"
            )
        if not self.least_foot_distance <= self.foot_distance <= self.greatest_foot_distance:
            return (
                f"foot_distance {self.foot_distance:g} m is not from least_foot_distance {self.least_foot_distance:g} "
                f"to greatest_foot_distance {self.greatest_foot_distance:g} m; change one of them"
            )
        return ""

    @property
    def limits(self) -> Tuple[np.ndarray, np.ndarray]:
        """Least and greatest twist, (3,) each: ahead, sideways (m/s), turning (rad/s)."""
        high = np.array([self.limit_ahead, self.limit_sideways, self.limit_turn])
        return -np.array([self.limit_back, self.limit_sideways, self.limit_turn]), high

    def limited(self, twist: np.ndarray) -> np.ndarray:
        """Return a twist (3,) within the ellipsoid whose half axes are the limits, with its direction, m/s and rad/s.

        At the corners of the box that the limits make, fast ahead in a fast turn, the robot falls.
        """
        low, high = self.limits
        most = np.where(twist < 0.0, -low, high)
        size = float(np.linalg.norm(np.divide(twist, most, out=np.zeros(3), where=most > 0.0)))
        return np.asarray(np.where(most > 0.0, twist / max(size, 1.0), 0.0))

    @property
    def acceleration(self) -> np.ndarray:
        """How fast the twist changes from step to step, (3,), m/s^2 and rad/s^2."""
        return np.array(self.change_per_step) / self.step_time

    def objection(self, twist: np.ndarray) -> str:
        """Return a sentence on a twist (3,) that is not followed as it is commanded; empty if it is."""
        if not np.isfinite(twist).all():
            return f"cmd_vel {twist.tolist()} is no velocity: the robot stops; give finite numbers"
        low, high = self.limits
        limited = self.limited(twist)
        if np.allclose(limited, twist, rtol=1e-6):
            return ""
        beyond = [
            f"{name} {value:.2f} {unit} (limits {least:.2f} .. {most:.2f})"
            for name, value, unit, least, most in zip(_AXES, twist, _UNITS, low, high)
            if not least <= value <= most
        ]
        what = ", ".join(beyond) or "several axes together (the squares of their fractions of the limits add up to 1)"
        follows = ", ".join(f"{name} {value:.2f} {unit}" for name, value, unit in zip(_AXES, limited, _UNITS))
        return f"cmd_vel is beyond what the walk can do: {what}; it is scaled to {follows}"
