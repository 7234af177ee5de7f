# SPDX-License-Identifier: MIT
"""Odometry from the standing feet: what stands on the ground does not move, so the body does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Optional, Tuple

import numpy as np

from shellbot_action_manager.body_pose import rotation_from_rpy, rpy_from_quaternion
from shellbot_action_manager.config import ActionManagerConfig, OdometryConfig
from shellbot_action_manager.interface import ContactEstimate, Feedback
from shellbot_action_manager.planar_motion import wrap_angle
from shellbot_common import Stamp, classify_stamp

_COAST = 3  # ticks that the last speed is kept for when the standing feet change all at once


@dataclass(frozen=True)
class OdometryState:
    """Estimate at a tick: base_footprint (the point of the ground under base_link) in odom, and base_link above it.

    Attributes
    ----------
    t : float
        Simulated time, s.
    x, y, yaw : float
        base_footprint in odom, m, rad.
    height, roll, pitch : float
        base_link over base_footprint, m, rad.
    twist : (3,) array
        Forward, sideways (m/s) and turning (rad/s) in base_footprint.
    position_variance, yaw_variance : float
        m^2 per axis, rad^2.
    feet_used : int
        Feet that the last step was fitted to; below 2 the robot is taken as standing still.
    """

    t: float
    x: float
    y: float
    yaw: float
    height: float
    roll: float
    pitch: float
    twist: np.ndarray
    position_variance: float
    yaw_variance: float
    feet_used: int


class OdometryCore:
    """Integrates the body's motion over its standing feet; never reads ground truth.

    Parameters
    ----------
    config : ActionManagerConfig
        Its section `odometry` is used.
    fk_feet : callable
        From joints (n,) in rad to the feet (6, 3) in base_link, m.
    """

    def __init__(
        self, config: ActionManagerConfig, fk_feet: Optional[Callable[[np.ndarray], np.ndarray]] = None
    ) -> None:
        self._config: OdometryConfig = config.odometry
        self._fk_feet = fk_feet
        self.reset()

    def reset(self) -> None:
        """Begin anew at the origin of odom."""
        self._last_feet: Optional[np.ndarray] = None
        self._last_contact = np.zeros(6, dtype=bool)
        self._last_imu_yaw: Optional[float] = None
        self._motion, self._coasted = np.zeros(3), 0
        self._state = OdometryState(-math.inf, 0.0, 0.0, 0.0, math.nan, 0.0, 0.0, np.zeros(3), 0.0, 0.0, 0)

    def step(self, t: float, q: np.ndarray, contacts: ContactEstimate, imu: Optional[Feedback]) -> OdometryState:
        """Return the estimate at time t from joints q (n,), contacts and the IMU (its orientation is used)."""
        if self._fk_feet is None:
            raise TypeError("OdometryCore was built without fk_feet; call step_feet with the feet instead")
        p_base = np.asarray(self._fk_feet(np.asarray(q, dtype=np.float64)))
        return self.step_feet(t, p_base, contacts.contact, None if imu is None else imu.orientation)

    def step_feet(
        self, t: float, p_base_feet: np.ndarray, contact: np.ndarray, orientation: Optional[np.ndarray]
    ) -> OdometryState:
        """Return the estimate at time t.

        Parameters
        ----------
        t : float
            Simulated time, s; a late one (see `classify_stamp`) changes nothing, one older by more than a gap resets.
        p_base_feet : (6, 3) array
            Measured feet in base_link, m.
        contact : (6,) bool array
            Feet on the ground.
        orientation : (4,) array or None
            Quaternion x, y, z, w of base_link; None: yaw and tilt come from the feet alone.

        Notes
        -----
        In level axes a foot that stands fulfils p(k-1) = R(dyaw) p(k) + d. With the IMU dyaw is known and d is the
        weighted mean over the feet; without it both come from the rigid fit of two point sets (at least two feet). In
        the tick in which a tripod takes over from the other no foot stands before and after: the last motion goes on.
        """
        kind = classify_stamp(self._state.t, t)
        if kind is Stamp.RESET:
            self.reset()
        if kind in (Stamp.REPEATED, Stamp.LATE) or not np.isfinite(p_base_feet).all():
            return self._state
        dt = t - self._state.t
        contact = np.asarray(contact, dtype=bool)
        roll, pitch, imu_yaw = self._attitude(p_base_feet, contact, orientation)
        feet = p_base_feet @ rotation_from_rpy(roll, pitch, 0.0).T  # level axes, (6, 3)
        shift, turn, used = np.zeros(2), 0.0, 0
        if imu_yaw is not None and self._last_imu_yaw is not None:
            turn = wrap_angle(imu_yaw - self._last_imu_yaw)
        if self._last_feet is not None and kind is Stamp.NEXT:
            both = contact & self._last_contact
            used = int(both.sum())
            if used >= 2:
                known = turn if imu_yaw is not None and self._last_imu_yaw is not None else None
                shift, turn = fit_motion(self._last_feet[both, :2], feet[both, :2], known, self._config.slip_scale)
                shift = shift * np.array(self._config.distance_scale)
                self._motion, self._coasted = np.array([*shift, turn]) / dt, 0
            elif contact.any() and self._coasted < _COAST:
                shift, turn = self._motion[:2] * dt, turn if imu_yaw is not None else self._motion[2] * dt
                self._coasted += 1
        self._last_feet, self._last_contact, self._last_imu_yaw = feet, contact, imu_yaw
        self._state = self._advance(t, dt, shift, turn, used, feet, roll, pitch)
        return self._state

    def _attitude(
        self, p_base_feet: np.ndarray, contact: np.ndarray, orientation: Optional[np.ndarray]
    ) -> Tuple[float, float, Optional[float]]:
        usable = orientation is not None and np.isfinite(orientation).all() and np.linalg.norm(orientation) > 0.5
        if usable and orientation is not None:
            roll, pitch, yaw = rpy_from_quaternion(orientation)
            return float(roll), float(pitch), float(yaw)
        if contact.sum() < 3:
            return self._state.roll, self._state.pitch, None
        standing = p_base_feet[contact]
        a, b, _ = np.linalg.lstsq(
            np.column_stack((standing[:, :2], np.ones(len(standing)))), standing[:, 2], rcond=None
        )[0]
        normal = np.array([-a, -b, 1.0]) / math.sqrt(1.0 + a * a + b * b)
        return math.atan2(normal[1], normal[2]), -math.asin(normal[0]), None

    def _advance(
        self,
        t: float,
        dt: float,
        shift: np.ndarray,
        turn: float,
        used: int,
        feet: np.ndarray,
        roll: float,
        pitch: float,
    ) -> OdometryState:
        last, config = self._state, self._config
        c, s = math.cos(last.yaw), math.sin(last.yaw)
        height = last.height
        if self._last_contact.any():
            # The tip of a loaded foot is the lowest point of the robot.
            height = -float(feet[self._last_contact, 2].mean())
        first = not math.isfinite(dt)
        twist = last.twist
        if not first:
            share = min(dt / config.twist_time, 1.0)
            twist = twist + share * (np.array([*shift, turn]) / dt - twist)
        grown = last.position_variance + config.position_variance_rate * float(np.linalg.norm(shift))
        return OdometryState(
            t=t,
            x=last.x + c * shift[0] - s * shift[1],
            y=last.y + s * shift[0] + c * shift[1],
            yaw=wrap_angle(last.yaw + turn),
            height=height,
            roll=roll,
            pitch=pitch,
            twist=twist,
            position_variance=grown,
            yaw_variance=config.yaw_variance + (0.0 if self._last_imu_yaw is not None else 0.1 * grown),
            feet_used=used,
        )


def fit_motion(
    before: np.ndarray, after: np.ndarray, turn: Optional[float], slip_scale: float
) -> Tuple[np.ndarray, float]:
    """Return shift (2,) in m and turn in rad of the body under which the standing feet stay where they are.

    Parameters
    ----------
    before, after : (n, 2) array
        The same feet at two ticks, seen from the body in level axes, m.
    turn : float or None
        Known turn of the body, rad; None: it is fitted, too (rigid fit of two point sets).
    slip_scale : float
        m: a foot that moved this much against the others counts half.
    """
    if turn is None:
        a, b = before - before.mean(axis=0), after - after.mean(axis=0)
        # before = R(turn) after + shift: sum of cross and dot products of the centred sets
        turn = math.atan2(float((b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0]).sum()), float((a * b).sum()))
    c, s = math.cos(turn), math.sin(turn)
    shifts = before - after @ np.array([[c, s], [-s, c]])
    centre = np.median(shifts, axis=0)
    weight = 1.0 / (1.0 + (((shifts - centre) ** 2).sum(axis=1) / slip_scale**2) ** 2)
    return (weight[:, None] * shifts).sum(axis=0) / weight.sum(), float(turn)
