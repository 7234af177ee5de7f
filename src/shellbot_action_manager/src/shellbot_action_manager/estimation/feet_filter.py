# SPDX-License-Identifier: MIT
"""Position over the ground from standing feet and accelerometer: a Kalman filter in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.estimation._feet_filter_tick import NOISE, feet_filter_tick
from shellbot_common import Settings, number


@dataclass(frozen=True)
class FeetFilterConfig(Settings, error=ConfigError):
    """Noise that the filter reckons with; each is one standard deviation."""

    acceleration: float = number(1e-3, 100.0, "m/s^2")  #: Of the measured acceleration
    blind_acceleration: float = number(1e-3, 100.0, "m/s^2")  #: Of the body, if the acceleration is not measured
    velocity: float = number(1e-3, 10.0, "m/s")  #: Of the body at the first tick and after a gap
    foot: float = number(1e-6, 0.1, "m")  #: Of a foot's position, measured by its joints
    creep: float = number(0.0, 10.0, "m/s")  #: Of a standing foot over the ground
    landing_creep: float = number(0.0, 10.0, "m/s")  #: The same of one that just came down, which fades
    landing_time: float = number(0.001, 1.0, "s")  #: with this time constant, s
    slip_gain: float = number(0.0, 100.0)  #: The same, per speed at which the foot moves against the others
    slip_time: float = number(0.001, 1.0, "s")  #: Time constant of that speed, s


class FeetFilter:
    """Position and velocity of the body, and where each standing foot stands, in level axes that do not turn.

    Parameters
    ----------
    config : FeetFilterConfig
        Noise.
    feet : int
        How many there are.

    Notes
    -----
    After M. Bloesch et al., "State estimation for legged robots", RSS 2012, in the plane and with the attitude given,
    which makes it linear: the state is position p, velocity v and the anchors a_i of the feet, each a point of the
    plane; x and y share one covariance. The acceleration predicts p and v; a standing foot measures a_i - p. An anchor
    begins where its foot comes down.

    A foot that touches down drags until it carries load, others give way while they hand it over, and any may slip on
    a smooth floor: it then moves against the others. How fast it does, against their median, is added to what its
    anchor may creep.
    """

    def __init__(self, config: FeetFilterConfig, feet: int) -> None:
        self._noise = np.array([getattr(config, name) for name in NOISE])
        self._x = np.zeros((feet + 2, 2))
        self._P = np.zeros((feet + 2, feet + 2))
        self._P[1, 1] = config.velocity**2
        self._stands = np.zeros(feet, dtype=bool)
        self._slip = np.zeros((feet, 2))  # m/s, low-passed
        self._p_feet = np.zeros((feet, 2))
        self._since_landed = np.zeros(feet)  # s
        self._acceleration = np.full(2, np.nan)

    @property
    def position(self) -> np.ndarray:
        """Of the body from where it was at the first tick, (2,) m."""
        return self._x[0].copy()

    @property
    def variance(self) -> float:
        """Of each coordinate of the position, m^2."""
        return float(self._P[0, 0])

    def step(
        self,
        dt: float,
        p_feet: np.ndarray,
        stands: np.ndarray,
        acceleration: Optional[np.ndarray],
        rolled: Optional[np.ndarray] = None,
    ) -> None:
        """Go on by a tick.

        Parameters
        ----------
        dt : float
            s since the tick before; any at the first.
        p_feet : (k, 2) array
            Measured feet from the body, m.
        stands : (k,) array of bool
            Which of them stand.
        acceleration : (2,) array or None
            Of the body, m/s^2; None: not measured.
        rolled : (k, 2) array, optional
            How far each foot rolled over the ground since the tick before, m; not at all by default.
        """
        rolled = np.zeros_like(p_feet) if rolled is None else rolled
        acceleration = np.full(2, np.nan) if acceleration is None else acceleration
        feet_filter_tick(
            self._noise, dt, p_feet, stands, acceleration, rolled, self._x, self._P, self._stands, self._p_feet,
            self._slip, self._since_landed, self._acceleration,
        )  # fmt: skip
