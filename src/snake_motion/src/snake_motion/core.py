# SPDX-License-Identifier: MIT
"""Engine, drive and odometry of one snake: what its node runs at each tick, and every experiment in one process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Mapping, Optional, Sequence, Tuple

import numpy as np

from shellbot_common import Stamp, classify_stamp
from shellbot_common.rotations import is_attitude
from snake_motion.chassis import BodyGeometry
from snake_motion.drive import VelocityDrive
from snake_motion.engine import SnakeEngine
from snake_motion.engine_io import EngineOutput, Feedback, Target
from snake_motion.errors import SnakeMotionError
from snake_motion.odometry import LEAST, NO_SLIP, Slip, SnakeOdometry, SnakeState
from snake_motion.waypoint import Pose, WaypointFollower


class Waypoint(Enum):
    """What has become of a waypoint."""

    NONE = "none"
    GOING = "going"
    REACHED = "reached"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class CoreOutput:
    """What to command, and where the robot is."""

    motion: EngineOutput
    state: Optional[SnakeState]  #: None without an attitude
    notice: str = ""  #: For the log, if there is something new to say
    waypoint: Waypoint = Waypoint.NONE  #: What has become of the last waypoint


class SnakeCore:
    """All of a snake's motion without ROS.

    Parameters
    ----------
    engine, drive, geometry, slips
        Its parts; geometry and the slip by gait and direction are for the odometry.
    """

    def __init__(
        self,
        engine: SnakeEngine,
        drive: VelocityDrive,
        geometry: BodyGeometry,
        slips: Optional[Mapping[Tuple[str, int], Slip]] = None,
    ) -> None:
        self.engine, self.drive, self._slips = engine, drive, slips or {}
        self._odometry = SnakeOdometry(geometry)
        self._modules = geometry.modules
        self._time: Optional[float] = None
        self._twist: Tuple[float, ...] = (0.0, 0.0, 0.0)
        self._twist_time = -np.inf
        self._is_driving = False
        self._follower: Optional[WaypointFollower] = None
        self._waypoint = Waypoint.NONE
        self._moving: Optional[Target] = None
        self._hold, self._held_from, self._held_until = "", 0.0, 0.0

    def hold(self, t: float, reason: str) -> None:
        """Take why the joints hold at a time, s, in the place of following; "" when they follow.

        Of two reports the time between them counts, not the time of this engine: a report may come late.
        """
        if not self._hold or t < self._held_from:
            self._held_from = t
        self._hold, self._held_until = reason, t

    def request_gait(self, text: str) -> Tuple[bool, str]:
        """Request a gait in the place of cmd_vel and waypoint; see `SnakeEngine.request_gait`."""
        accepted, reason = self.engine.request_gait(text)
        if accepted:
            self.cancel()
            self._twist_time, self._is_driving = -np.inf, False  # a cmd_vel of just now would end it
        return accepted, reason

    def command(self, twist: Sequence[float]) -> None:
        """Take a twist: forward, left (m/s), turning (rad/s); it holds until the time-out, and ends a waypoint.

        Zero, and one that is not finite, end a gait that was requested by its name, too: the robot stops flat.
        """
        self.cancel()
        if not any(twist) or not np.isfinite(twist).all():
            self.engine.stop()
        self._twist, self._twist_time = tuple(twist), self._time if self._time is not None else -np.inf

    def go_to(self, goal: Pose) -> None:
        """Go to a waypoint, x, y (m), yaw (rad) in odom, with the own estimate, in the place of cmd_vel.

        Raises
        ------
        SnakeMotionError
            If the goal is not finite, a family of cmd_vel has no map for this number of modules, or the mode is not go.
        """
        if self.engine.mode != "go":
            raise SnakeMotionError(f"waypoint refused: the robot is in mode {self.engine.mode}; {self.engine.remedy}")
        missing = [name for name in self.drive.families if name not in self.drive.maps]
        if missing:
            raise SnakeMotionError(
                f"waypoint refused: no velocity map of {', '.join(missing)} for {self._modules} modules; write it with "
                f"scripts/snake identify --modules {self._modules}, then start the robot again"
            )
        self._follower = WaypointFollower(goal, self.drive.limits)
        self.engine.drive(None)  # also a gait that was requested: the follower plans from where the robot lies flat
        self._waypoint = Waypoint.GOING

    def cancel(self) -> None:
        """Leave the waypoint, if there is one; the robot stops flat unless something else moves it."""
        if self._follower is not None:
            self._follower, self._waypoint = None, Waypoint.CANCELLED
            self._twist_time = -np.inf

    def step(
        self, t: float, q: np.ndarray, orientation: Optional[np.ndarray], effort: Optional[np.ndarray] = None
    ) -> Optional[CoreOutput]:
        """Advance to a time; None for a late tick, or one whose time is not finite.

        Parameters
        ----------
        t : float
            Simulated time, s.
        q : (n,) array
            Measured joints, rad; of a wrong number or not finite, the robot holds.
        orientation : (4,) array or None
            Quaternion x, y, z, w of the head; None if it is not known. One that is no rotation counts as not known.
        effort : (n,) array or None
            Of the joints, N m; None if it is not known. Joints without are found by it.
        """
        if not math.isfinite(t):
            return None  # it would make a NaN of the phase, and of all that follows
        kind = classify_stamp(self._time, t)
        if kind is Stamp.LATE:
            return None
        if kind is Stamp.RESET:
            self.engine.reset()
            self._odometry.reset()
            self._twist_time = -np.inf
            self.cancel()  # its frame is gone
        self._time = t
        state = None
        if (
            orientation is not None
            and orientation.shape == (4,)
            and is_attitude(orientation)
            and q.shape == (self._modules,)
            and np.isfinite(q).all()
        ):
            state = self._odometry.step(t, q, orientation, self._slip())
        cancelled = self._approach(t, state)
        notice = self._follow(t) or cancelled
        held_for = self._held_until - self._held_from
        motion = self.engine.step(t, Feedback(q, state.roll if state else None, effort, self._hold, held_for))
        return CoreOutput(motion, state, notice, self._waypoint)

    def _approach(self, t: float, state: Optional[SnakeState]) -> str:
        """Steer to the waypoint; returns why it was cancelled, if so.

        Without an estimate cmd_vel's time-out stops the robot until there is one.
        """
        if self._follower is None:
            return ""
        if self.engine.mode != "go":
            self.cancel()
            return f"waypoint cancelled: the robot went to mode {self.engine.mode}; {self.engine.remedy}"
        if state is None:
            return ""
        is_flat = self.engine.active is None and not self.engine.is_changing
        pose = (float(state.p_odom_chassis[0]), float(state.p_odom_chassis[1]), state.yaw)
        twist = self._follower.step(pose, is_flat)
        self._twist, self._twist_time = (0.0, 0.0, 0.0) if twist is None else tuple(twist.tolist()), t
        if twist is None:
            self._follower, self._waypoint = None, Waypoint.REACHED
        return ""

    def _slip(self) -> Slip:
        """Return the slip of the gait that moves the robot, also while it fades out."""
        active = self.engine.active
        if active is not None or not self.engine.is_changing:
            self._moving = active
        if self._moving is None:
            return NO_SLIP
        name, direction = self._moving.name, self._moving.direction
        greatest = self._slips.get((name, direction), NO_SLIP)
        least = self._slips.get((name + LEAST, direction), greatest)
        part = (1.0 - self._moving.fraction) ** 2  # it changes most between small amplitudes
        return greatest[0] + part * (least[0] - greatest[0]), greatest[1] + part * (least[1] - greatest[1])

    def _follow(self, t: float) -> str:
        """Let the twist steer; returns why it cannot, if so."""
        is_fresh = t - self._twist_time <= self.engine.config.command_timeout
        if not is_fresh:
            if self._is_driving:
                self._is_driving = False
                self.engine.drive(None)
            return ""
        try:
            target, _ = self.drive.target(self._twist)
        except SnakeMotionError as error:
            self._twist_time = -np.inf
            if self._is_driving:
                self._is_driving = False
                self.engine.drive(None)
            return str(error)
        if target is not None and self.engine.mode != "go":
            self._twist_time, self._is_driving = -np.inf, False
            return f"cmd_vel does not count in mode {self.engine.mode}; {self.engine.remedy}"
        if target is not None or self._is_driving:
            self.engine.drive(target)
        self._is_driving = target is not None
        return ""
