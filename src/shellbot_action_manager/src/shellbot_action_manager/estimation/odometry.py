# SPDX-License-Identifier: MIT
"""Where the robot is: the motion model of the present behaviour, summed up in one continuous odom."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import List, Optional, Sequence, Tuple

import numpy as np

from shellbot_action_manager.config import ActionManagerConfig, OdometryConfig
from shellbot_action_manager.errors import UnknownModelError
from shellbot_action_manager.estimation.attitude import ImuReading
from shellbot_action_manager.estimation.memory import counts_at
from shellbot_action_manager.estimation.motion_models import MOTION_MODELS, Attitude, Displacement
from shellbot_action_manager.interface import ContactEstimate
from shellbot_common import Stamp, classify_stamp
from shellbot_common.ground_plane import fit_plane, tilt_over
from shellbot_common.rotations import (
    is_attitude,
    quaternion_from_rpy,
    rotation_from_quaternion,
    rpy_from_quaternion,
    turned_about_z,
    wrap_angle,
)

_LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
# s without the IMU, or with its messages late, as on a busy machine, after which its heading goes on from the one
# before, so that what the robot turned meanwhile is measured in the end; after a longer time it may have begun anew
_GAP = 1.0
_LEAST_SPEED = 0.05  # m/s that a robot may have moved at meanwhile, if it did not move faster before


@dataclass(frozen=True)
class OdometryState:
    """Estimate at a tick: base_footprint (the point of the ground under base_link) in odom, and base_link above it."""

    t: float  #: Simulated time, s
    #: x, y, yaw: base_footprint in odom, m, rad
    x: float
    y: float
    yaw: float
    height: float  #: Of base_link over base_footprint, m
    quat_footprint_base: np.ndarray  #: (4,) Quaternion x, y, z, w of base_link in base_footprint
    twist: np.ndarray  #: (3,) Forward, sideways (m/s) and turning (rad/s) in base_footprint
    #: position_variance, yaw_variance: m^2 per axis, rad^2
    position_variance: float
    yaw_variance: float


class OdometryCore:
    """Sums up the body's motion over the ground, one odom whatever the robot does; never reads ground truth.

    Parameters
    ----------
    config : ActionManagerConfig
        Its section `odometry` is used.
    """

    def __init__(self, config: ActionManagerConfig) -> None:
        self._config: OdometryConfig = config.odometry
        self.reset()

    def reset(self) -> None:
        """Begin anew at the origin of odom."""
        self._models = {name: build(self._config) for name, build in MOTION_MODELS.items()}
        self._continues: Tuple[str, Tuple[str, ...]] = ("", ())
        self._previous_yaw: Optional[float] = None
        self._previous_rate: Optional[float] = None
        self._unseen = 0.0  # s without a heading of the IMU
        self._state = OdometryState(-math.inf, 0.0, 0.0, 0.0, math.nan, _LEVEL, np.zeros(3), 0.0, 0.0)

    @property
    def memory(self) -> List[float]:
        """What `resume` needs, plain numbers.

        Time (s), x, y (m), yaw (rad), variance (m^2), speed (m/s), and the heading of the IMU (rad) if it is known.
        """
        state = self._state
        speed = math.hypot(*state.twist[:2].tolist())
        known = [] if self._previous_yaw is None else [self._previous_yaw]
        return [float(x) for x in (state.t, state.x, state.y, state.yaw, state.position_variance, speed, *known)]

    def resume(self, memory: Sequence[float], t: float) -> bool:
        """Go on from what another core knew, such as that of a node that died; return whether that is possible.

        What the robot moved since is not known, and is added to the variance; its turn is that of the IMU.

        Parameters
        ----------
        memory : sequence of float
            `memory` of the other core.
        t : float
            Present time, s; how old the memory may be says `counts_at`.
        """
        if not counts_at(t, memory, 6, 7):
            return False
        before, x, y, yaw, variance, speed = memory[:6]
        variance += (max(speed, _LEAST_SPEED) * (t - before)) ** 2
        self._state = replace(self._state, t=before, x=x, y=y, yaw=yaw, position_variance=variance)
        self._previous_yaw = memory[6] if len(memory) > 6 else None
        return True

    def step(self, t: float, contacts: ContactEstimate, imu: ImuReading) -> OdometryState:
        """Return the estimate at time t.

        Parameters
        ----------
        t : float
            Simulated time, s; a late one (see `classify_stamp`) changes nothing, one older by more than a gap resets.
        contacts : ContactEstimate
            Measured contacts, which of them carry load, and the model of the present behaviour; the phase is not used.
        imu : ImuReading
            Without an orientation yaw and tilt come from the contacts alone.

        Raises
        ------
        UnknownModelError
            If there is no motion model of the contacts' name; the estimate is held.
        """
        if contacts.model not in self._models:
            raise UnknownModelError(
                f"no odometry model '{contacts.model}'; there are {', '.join(self._models)}. Add one of that name to "
                "both tables of the estimation, or correct the contact model of the behaviour"
            )
        kind = classify_stamp(self._state.t, t)
        if kind is Stamp.RESET:
            self.reset()
        if kind in (Stamp.REPEATED, Stamp.LATE) or not np.isfinite(contacts.position).all():
            return self._state
        dt = t - self._state.t
        contact = contacts.in_contact
        quat_level_base, yaw = self._attitude(contacts, imu.orientation)
        R_level_base = rotation_from_quaternion(quat_level_base)
        imu_turn = None
        rate = None  # rad/s about the vertical; that of a ball's heading the gyroscope does not measure
        if imu.angular_velocity is not None and contacts.heading is None:
            rate = float(R_level_base[2] @ imu.angular_velocity)
        if yaw is not None and self._previous_yaw is not None:
            if rate is not None and self._previous_rate is not None and kind is Stamp.NEXT:
                expected = self._previous_yaw + 0.5 * (self._previous_rate + rate) * dt
                yaw = expected + min(self._config.yaw_gain * dt, 1.0) * wrap_angle(yaw - expected)
            imu_turn = wrap_angle(yaw - self._previous_yaw)
        acceleration = None
        if yaw is not None and imu.specific_force is not None:
            acceleration = (R_level_base @ imu.specific_force)[:2]  # what is left of it is vertical: gravity
        model = self._models[contacts.model]
        if (contacts.model, contacts.names) != self._continues or kind in (Stamp.FIRST, Stamp.RESET):
            self._continues = contacts.model, contacts.names
            model.reset()  # it goes on from here, not from where it was last used
        elif kind is not Stamp.NEXT:
            model.pause()
        moved = model.step(dt, contacts, Attitude(R_level_base, imu_turn, acceleration))
        self._follow_heading(dt, yaw, rate, moved.turn)
        height = self._state.height
        if contact.any():  # what carries load is the lowest point of the robot
            heights = contacts.centre_of_pressure[contact] @ R_level_base[2]
            height = -float(heights.sum()) / len(heights)
        self._state = self._advance(t, dt, moved, height, quat_level_base)
        return self._state

    def _follow_heading(self, dt: float, yaw: Optional[float], rate: Optional[float], turn: float) -> None:
        """Keep the heading for the next tick; over a gap of the IMU the turn of the contacts goes on from it."""
        self._unseen = 0.0 if yaw is not None else self._unseen + dt
        if yaw is None and self._previous_yaw is not None and self._unseen <= _GAP:
            yaw = self._previous_yaw + turn
        self._previous_yaw, self._previous_rate = yaw, rate

    def _attitude(
        self, contacts: ContactEstimate, orientation: Optional[np.ndarray]
    ) -> Tuple[np.ndarray, Optional[float]]:
        """Return the attitude of base_link in the level axes of the heading, and the heading, rad."""
        if orientation is not None and is_attitude(orientation):
            heading = contacts.heading
            if heading is None or not math.isfinite(heading):
                heading = rpy_from_quaternion(*orientation.tolist())[2]
            return turned_about_z(orientation, -heading), heading
        if contacts.in_contact.sum() < 3 or contacts.model == "rolling":  # gores do not stand on a plane of tips
            return self._state.quat_footprint_base, None
        roll, pitch = tilt_over(fit_plane(contacts.position[contacts.in_contact]))
        return np.array(quaternion_from_rpy(roll, pitch, 0.0)), None

    def _advance(
        self, t: float, dt: float, moved: Displacement, height: float, quat_footprint_base: np.ndarray
    ) -> OdometryState:
        previous, config, shift = self._state, self._config, moved.shift
        c, s = math.cos(previous.yaw), math.sin(previous.yaw)
        twist = previous.twist
        if math.isfinite(dt):
            fraction = min(dt / config.twist_time, 1.0)
            twist = twist + fraction * (np.array([*shift, moved.turn]) / dt - twist)
        grown = previous.position_variance + moved.variance
        return OdometryState(
            t=t,
            x=previous.x + c * shift[0] - s * shift[1],
            y=previous.y + s * shift[0] + c * shift[1],
            yaw=wrap_angle(previous.yaw + moved.turn),
            height=height,
            quat_footprint_base=quat_footprint_base,
            twist=twist,
            position_variance=grown,
            yaw_variance=config.yaw_variance + (0.1 * grown if self._unseen else 0.0),
        )
