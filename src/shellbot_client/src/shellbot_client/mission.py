# SPDX-License-Identifier: MIT
"""A list of phases driven from the robot's own odometry.

The same sequencer moves the chain in one process and the live ROS system. It is pure: each tick takes what the robot
says of itself and returns what to command.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import List, Optional, Tuple

import numpy as np

from robot_evaluation.planar import YawUnwrapper
from shellbot_action_manager.body.roll_to import RollTo
from shellbot_action_manager.gait.walk_to import Planar
from shellbot_chain.errors import MissionFailed

from .phases import GoTo, Guided, Phase, Pose, Roll

Twist = Tuple[float, float, float]
BodyPose = Tuple[float, float, float, float, float, float]
ZERO_TWIST: Twist = (0.0, 0.0, 0.0)
REST_POSE: BodyPose = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
REQUEST_PERIOD_S = 1.0  # a request that was refused or lost is repeated this often, simulated time
STILL_S = 0.3  # the odometry must not have moved for so long before a motion counts as settled
STILL_M, STILL_RAD = 2e-3, 1.5e-2  # what counts as not moved: the noise of an IMU's yaw is 0.1 degrees and more


class MissionState(enum.Enum):
    """Where a mission stands."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True)
class Observation:
    """What the robot says of itself at one tick: odometry (m, rad; NaN before the first one) and its mode.

    `mode`, `target` and `step` are those of topic mode: at rest in a mode, target equals mode and step is empty.
    """

    t: float
    x: float
    y: float
    yaw: float
    mode: str
    target: str
    step: str = ""
    hold: bool = False  # True: stay settled where you are (a picture is being taken)
    velocity: Tuple[float, float] = (0.0, 0.0)  # of the odometry, forward and leftward, m/s; rolling needs it
    acceleration: Planar = (math.inf, math.inf, math.inf)  # greatest of the gait: m/s^2, m/s^2, rad/s^2


@dataclass(frozen=True)
class MissionCommand:
    """What to command at this tick.

    `twist` is forward m/s, leftward m/s, turning rad/s; `body_pose` x, y, z in m, roll, pitch, yaw in rad from the rest
    pose; `request_mode` is a mode to ask for now; `event` names a moment worth a picture or a line in the log.
    """

    twist: Twist = ZERO_TWIST
    body_pose: BodyPose = REST_POSE
    request_mode: Optional[str] = None
    event: Optional[str] = None


@dataclass(frozen=True)
class PhaseRecord:
    """When a finished phase began, stopped commanding motion, and was settled (simulated time, s)."""

    phase: Phase
    t_start: float
    t_stop: float
    t_end: float


class Mission:
    """Runs phases one after the other; see `step`.

    Parameters
    ----------
    phases : tuple
        What to do.
    body_pose : tuple of float
        That of the body until a phase changes it.
    """

    def __init__(self, phases: Tuple[Phase, ...], body_pose: BodyPose = REST_POSE) -> None:
        self.state = MissionState.RUNNING
        self.message = ""
        self.records: List[PhaseRecord] = []
        self._phases = phases
        self._index = 0
        self._refusal = ""
        self._unwrap = YawUnwrapper()
        self._last_t = -math.inf
        self._body_pose = body_pose
        self._t_start: Optional[float] = None
        self._t_stop: Optional[float] = None
        self._enter()

    @property
    def phase(self) -> Optional[Phase]:
        """The phase being run, None after the last one."""
        return self._phases[self._index] if self._index < len(self._phases) else None

    def refused(self, reason: str) -> None:
        """Take note of why a mode request was refused; it becomes part of the message if time runs out."""
        self._refusal = reason

    def step(self, seen: Observation) -> MissionCommand:
        """Advance by one tick.

        Parameters
        ----------
        seen : Observation
            The tick's time and what the robot knows of itself.

        Returns
        -------
        MissionCommand
            Zero twist once the mission has ended.

        Raises
        ------
        MissionFailed
            When a phase is not done within its time limit, the robot leaves the mode in which it can move, the odometry
            is lost or the clock jumps back. The state is FAILED from then on.
        """
        if self.state is not MissionState.RUNNING or self.phase is None:
            return MissionCommand(body_pose=self._body_pose)
        if seen.t < self._last_t:
            self._fail("the clock jumped back: the simulation was reset during the mission; start it again")
        dt, self._last_t = seen.t - self._last_t, seen.t
        phase = self.phase
        yaw = self._unwrap.update(seen.yaw) if math.isfinite(seen.yaw) else math.nan
        if self._t_start is None:
            self._t_start = seen.t
        if seen.t - self._t_start > phase.limit_s and not self._settled:
            why = f"; last refusal: {self._refusal}" if self._refusal else ""
            self._fail(
                f"phase '{phase.name}' was not done within {phase.limit_s:.0f} s of simulated time"
                f" ({self._progress(phase, seen, yaw)}){why}"
            )
        if isinstance(phase, GoTo):
            return self._go_to(phase, seen)
        if not all(math.isfinite(v) for v in (seen.x, seen.y, yaw)):
            self._fail(f"no odometry in phase '{phase.name}'; is the odometry node running?")
        if seen.mode != phase.runs_in:
            self._fail(
                f"the robot left mode {phase.runs_in} for '{seen.mode}' in phase '{phase.name}'; look at topic mode"
            )
        if isinstance(phase, Pose):
            return self._pose(phase, seen, yaw)
        if isinstance(phase, Roll):
            return self._roll(phase, seen, yaw, dt)
        assert isinstance(phase, Guided)
        return self._move(phase, seen, yaw)

    def _enter(self) -> None:
        self._t_start = None
        self._t_stop = None
        self._t_requested = -math.inf
        self._origin: Optional[Tuple[float, float, float]] = None
        self._guide: Optional[RollTo] = None
        self._anchor: Tuple[float, float, float, float] = (-math.inf, math.nan, math.nan, math.nan)
        self._is_half_reported = False
        self._settled = False

    def _finish(self, phase: Phase, t: float) -> None:
        start = t if self._t_start is None else self._t_start
        self.records.append(PhaseRecord(phase, start, t if self._t_stop is None else self._t_stop, t))
        self._index += 1
        self._refusal = ""
        self._enter()
        if self.phase is None:
            self.state, self.message = MissionState.SUCCEEDED, f"all {len(self.records)} phases done"

    def _fail(self, message: str) -> None:
        self.state, self.message = MissionState.FAILED, message
        raise MissionFailed(message)

    def _go_to(self, phase: GoTo, seen: Observation) -> MissionCommand:
        there = seen.mode == phase.mode and seen.target == phase.mode and not seen.step
        if there and math.isfinite(seen.x):
            if self._t_stop is None:
                self._t_stop = seen.t
                return MissionCommand(body_pose=self._body_pose, event=f"{phase.name}:stop")
            return self._settle(phase, seen, seen.t - self._t_stop >= phase.settle_s)
        if seen.target != phase.mode and seen.t - self._t_requested >= REQUEST_PERIOD_S:
            self._t_requested = seen.t
            return MissionCommand(body_pose=self._body_pose, request_mode=phase.mode)
        return MissionCommand(body_pose=self._body_pose)

    def _pose(self, phase: Pose, seen: Observation, yaw: float) -> MissionCommand:
        self._body_pose = phase.body_pose
        if self._t_stop is None:
            self._t_stop = seen.t
        return self._settle(phase, seen, self._is_still(seen, yaw) and seen.t - self._t_stop >= phase.duration_s)

    def _move(self, phase: Guided, seen: Observation, yaw: float) -> MissionCommand:
        if self._origin is None:
            self._origin = (seen.x, seen.y, yaw)
        if self._t_stop is not None:
            return self._settle(phase, seen, self._is_still(seen, yaw) and seen.t - self._t_stop >= phase.settle_s)
        now = (seen.x, seen.y, yaw)
        remaining = phase.remaining(self._origin, now)
        if remaining <= phase.motion.stop_before(seen.acceleration):
            self._t_stop = seen.t
            return MissionCommand(body_pose=self._body_pose, event=f"{phase.name}:stop")
        twist = phase.motion.twist(self._origin, now, seen.acceleration)
        return MissionCommand(twist, self._body_pose, event=self._half(phase, remaining))

    def _roll(self, phase: Roll, seen: Observation, yaw: float, dt: float) -> MissionCommand:
        pose = (seen.x, seen.y, yaw)
        if self._origin is None or self._guide is None:
            self._origin, self._guide = pose, RollTo(np.array(phase.aim(pose)))
        if self._t_stop is not None:  # the guide has seen it at rest
            return self._settle(phase, seen, True)
        forward, left = self._guide.twist(dt, pose, seen.velocity)
        if self._guide.arrived:
            self._t_stop = seen.t
            return MissionCommand(body_pose=self._body_pose, event=f"{phase.name}:stop")
        event = self._half(phase, phase.remaining(self._origin, pose))
        return MissionCommand((forward, left, 0.0), self._body_pose, event=event)

    def _half(self, phase: Phase, remaining: float) -> Optional[str]:
        if remaining >= 0.5 * phase.amount or self._is_half_reported:
            return None
        self._is_half_reported = True
        return f"{phase.name}:half"

    def _settle(self, phase: Phase, seen: Observation, settled: bool) -> MissionCommand:
        if not self._settled:
            self._settled = settled
            event = f"{phase.name}:settled" if settled else None
            return MissionCommand(body_pose=self._body_pose, event=event)
        if seen.hold:
            return MissionCommand(body_pose=self._body_pose)
        self._finish(phase, seen.t)
        return MissionCommand(body_pose=self._body_pose, event=f"{phase.name}:done")

    def _is_still(self, seen: Observation, yaw: float) -> bool:
        t, x, y, a = self._anchor
        if not (abs(seen.x - x) <= STILL_M and abs(seen.y - y) <= STILL_M and abs(yaw - a) <= STILL_RAD):
            self._anchor = (seen.t, seen.x, seen.y, yaw)
            return False
        return seen.t - t >= STILL_S

    def _progress(self, phase: Phase, seen: Observation, yaw: float) -> str:
        if isinstance(phase, GoTo):
            odom = "" if math.isfinite(seen.x) else ", no odometry yet"
            doing = f", {seen.step}" if seen.step else ""
            return f"mode is '{seen.mode}', going to '{seen.target}'{doing}{odom}"
        if isinstance(phase, (Guided, Roll)) and self._origin is not None and self._t_stop is None:
            left = phase.remaining(self._origin, (seen.x, seen.y, yaw))
            return f"{phase.amount - left:.2f} of {phase.amount:.2f} {phase.unit} by its odometry"
        return "the robot does not come to rest"
