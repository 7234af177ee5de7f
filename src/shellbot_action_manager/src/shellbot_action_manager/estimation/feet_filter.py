# SPDX-License-Identifier: MIT
"""Position over the ground from standing feet and accelerometer: a Kalman filter in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from shellbot_action_manager.errors import ConfigError
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
        self._config = config
        self._x = np.zeros((feet + 2, 2))
        self._P = np.zeros((feet + 2, feet + 2))
        self._P[1, 1] = config.velocity**2
        self._stands = np.zeros(feet, dtype=bool)
        self._slip = np.zeros((feet, 2))  # m/s, low-passed
        self._p_feet = np.zeros((feet, 2))
        self._since_landed = np.zeros(feet)  # s
        self._acceleration: Optional[np.ndarray] = None

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
        if self._stands.any():
            self._predict(dt, acceleration)
        self._acceleration = acceleration
        stayed = self._stands & stands
        self._x[2:][stayed] += rolled[stayed]
        self._drift(dt, p_feet - rolled, stayed)
        for i in np.flatnonzero(stands & ~stayed):
            self._land(i, p_feet[i])
        self._stands, self._p_feet = stands.copy(), p_feet.copy()
        if stayed.any():
            self._measure(np.flatnonzero(stayed), p_feet[stayed])

    def _predict(self, dt: float, acceleration: Optional[np.ndarray]) -> None:
        config, x, P = self._config, self._x, self._P  # noqa: N806
        noise = config.blind_acceleration
        x[0] += x[1] * dt
        if acceleration is not None:
            noise = config.acceleration
            mean = acceleration if self._acceleration is None else 0.5 * (acceleration + self._acceleration)
            x[0] += 0.5 * mean * dt**2
            x[1] += mean * dt
        P[0] += dt * P[1]
        P[:, 0] += dt * P[:, 1]
        P[:2, :2] += noise**2 * np.array([[dt**4 / 4, dt**3 / 2], [dt**3 / 2, dt**2]])

    def _drift(self, dt: float, p_feet: np.ndarray, stayed: np.ndarray) -> None:
        """Let the anchors creep, those of feet that slip the most."""
        config = self._config
        slip = np.zeros_like(self._slip)
        if stayed.sum() >= 3:  # of two, the one that slips cannot be told
            velocity = (p_feet[stayed] - self._p_feet[stayed]) / dt
            in_order, middle = np.sort(velocity, axis=0), (len(velocity) - 1) // 2
            slip[stayed] = velocity - 0.5 * (in_order[middle] + in_order[-1 - middle])  # their median
        blend = min(dt / config.slip_time, 1.0)
        self._slip = np.where(stayed[:, None], self._slip + blend * (slip - self._slip), 0.0)
        self._since_landed += dt
        landing = config.landing_creep * np.exp(-self._since_landed[stayed] / config.landing_time)
        variance = config.creep**2 + landing**2 + config.slip_gain**2 * (self._slip[stayed] ** 2).sum(axis=1)
        anchors = 2 + np.flatnonzero(stayed)
        self._P[anchors, anchors] += variance * dt**2

    def _land(self, foot: int, p_foot: np.ndarray) -> None:
        x, P, anchor = self._x, self._P, 2 + foot  # noqa: N806
        x[anchor] = x[0] + p_foot
        self._since_landed[foot] = 0.0
        P[anchor, :] = P[0, :]
        P[:, anchor] = P[:, 0]
        P[anchor, anchor] = P[0, 0] + self._config.foot**2

    def _measure(self, feet: np.ndarray, p_feet: np.ndarray) -> None:
        # One foot after the other, which is the same for independent errors: for matrices of 6 x 6 the threads of a
        # linear-algebra library waited for each other longer than the rest of the tick takes.
        x, P = self._x, self._P  # noqa: N806
        for foot, p_foot in zip(feet, p_feet):
            anchor = 2 + foot
            H = P[anchor] - P[0]  # noqa: N806 - a foot measures its anchor minus the body's position
            K = H / (H[anchor] - H[0] + self._config.foot**2)  # noqa: N806
            x += np.outer(K, p_foot - (x[anchor] - x[0]))
            P -= np.outer(K, H)
