# SPDX-License-Identifier: MIT
"""What is known of the robot: the last message of each kind, with its arrival time, and the log.

Writers are ROS threads, the reader is the view. Each field is replaced as a whole by a frozen object, so a reader never
sees half a message; the log has a lock.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Deque, List, Mapping, Optional, Tuple, TypeVar

import numpy as np

from shellbot_common import RobotProfile
from shellbot_teleop.diagnostics import Diagnostics
from shellbot_teleop.joint_history import JointHistory
from shellbot_teleop.texts import tr

_BATTERY_OLD = 5.0  # s
_Info = TypeVar("_Info")


@dataclass(frozen=True)
class ModeInfo:
    """Mode machine: see shellbot_msgs/Mode."""

    name: str
    target: str
    step: str
    progress: float
    text: str


@dataclass(frozen=True)
class OdomInfo:
    """Pose in odom (x, y, z in m; roll, pitch, yaw in rad) and velocity in the body's axes (m/s, m/s, rad/s)."""

    position: Tuple[float, float, float]
    rpy: Tuple[float, float, float]
    velocity: Tuple[float, float, float]
    arrived: float
    has_tilt: bool = False  #: Whether roll and pitch are known: base_footprint (REP 120) has none

    @property
    def finite(self) -> bool:
        """True when every number is finite."""
        return all(math.isfinite(value) for value in self.position + self.rpy + self.velocity)


@dataclass(frozen=True)
class ContactsInfo:
    """k feet, or the parts a ball rolls on: contact (k,), phase (k,) 0..1 or NaN, positions (k, 3) in base_link, m."""

    contact: Tuple[bool, ...]
    phase: Tuple[float, ...]
    p_base_foot: np.ndarray
    arrived: float
    model: str = "feet"  #: feet; rolling: a ball; none: contacts are not known
    p_base_ground: Optional[np.ndarray] = None  #: (3,) Where a ball touches the ground, in base_link, m

    @property
    def ball_up(self) -> Optional[np.ndarray]:
        """The vertical in base_link, (3,), if the robot is a ball that is known to touch the ground."""
        if self.model != "rolling" or self.p_base_ground is None or not any(self.contact):
            return None
        radius = self.p_base_foot[self.contact.index(True)] - self.p_base_ground  # to the sphere's centre
        length = float(np.linalg.norm(radius))
        return radius / length if length > 1e-3 else None  # None also for NaN


@dataclass(frozen=True)
class BaseInfo:
    """Pose of the base in odom, or in the simulator's world: position (3,), m; quaternion (x, y, z, w)."""

    position: np.ndarray
    quaternion: np.ndarray
    arrived: float


@dataclass(frozen=True)
class FootstepsInfo:
    """Where the feet in the air will land: (k, 3) in base_link, m."""

    p_base: np.ndarray
    arrived: float


@dataclass(frozen=True)
class StatusInfo:
    """How far the joints are behind: see shellbot_msgs/ReferenceStatus."""

    reached: bool
    max_error: float
    max_error_joint: str
    holding: bool
    text: str
    arrived: float


@dataclass(frozen=True)
class JointsInfo:
    """Joints, measured or commanded: position in rad, effort in N m (empty where there is none)."""

    names: Tuple[str, ...]
    position: Tuple[float, ...]
    effort: Tuple[float, ...]
    arrived: float


@dataclass(frozen=True)
class BatteryInfo:
    """Battery: V, and charge from 0 to 1 (NaN: not known)."""

    voltage: float
    charge: float
    arrived: float


@dataclass(frozen=True)
class ServoReading:
    """What one servo tells of itself: load (-1..1 of its stall torque), V, degrees Celsius; NaN: not known."""

    load: float
    voltage: float
    temperature: float
    limp: bool = False  #: Without torque
    trouble: str = ""  #: Alarms or silence, in words


@dataclass(frozen=True)
class ServosInfo:
    """The servos of the real or emulated robot: how many, the hottest, and those that are not well, in words."""

    count: int
    hottest: float  # degrees Celsius; NaN: not known
    hottest_joint: str
    limp: int
    trouble: Tuple[str, ...]
    arrived: float
    readings: Mapping[str, ServoReading] = field(default_factory=dict)  #: By joint


def signed(value: float, digits: int) -> str:
    """Return a number with its sign; what is rounded to nothing is +0."""
    return f"{round(float(value), digits) + 0.0:+.{digits}f}"


def servo_line(battery: Optional[BatteryInfo], servos: Optional[ServosInfo]) -> Tuple[str, bool]:
    """Return one line about battery and servos, and whether it is bad news; empty in a simulator, which has neither.

    Parameters
    ----------
    battery, servos : BatteryInfo or None, ServosInfo or None
        What is known; None if unknown or old.
    """
    parts, bad = [], False
    if battery is not None and math.isfinite(battery.voltage):
        charge = f" {battery.charge:.0%}" if math.isfinite(battery.charge) else ""
        parts.append(tr("battery {voltage:.1f} V", voltage=battery.voltage) + charge)
        bad = math.isfinite(battery.charge) and battery.charge < 0.1
    if servos is not None:
        if math.isfinite(servos.hottest):
            parts.append(tr("hottest {degrees:.0f} °C", degrees=servos.hottest) + f" {servos.hottest_joint}")
        if servos.limp:
            parts.append(tr("{limp} of {count} servos without torque", limp=servos.limp, count=servos.count))
        if servos.trouble:
            more = f" {tr('and {count} more', count=len(servos.trouble) - 2)}" if len(servos.trouble) > 2 else ""
            parts.append(", ".join(servos.trouble[:2]) + more)
        bad = bad or bool(servos.limp or servos.trouble)
    return "  ".join(parts), bad


@dataclass(frozen=True)
class LogLine:
    """One line of the log; `level` is debug, info, warn, error or fatal; `time` is wall-clock s since the epoch."""

    level: str
    source: str
    text: str
    time: float

    def has(self, words: str) -> bool:
        """Tell whether all words occur in its text, its level or the name of its node; case does not matter."""
        line = f"{self.level} {self.source} {self.text}".lower()
        return all(word in line for word in words.lower().split())


@dataclass
class RobotMonitor:
    """The last of everything; None means that it never arrived."""

    mode: Optional[ModeInfo] = None
    odom: Optional[OdomInfo] = None
    contacts: Optional[ContactsInfo] = None
    status: Optional[StatusInfo] = None
    base: Optional[BaseInfo] = None  #: From the transforms of odometry
    truth: Optional[BaseInfo] = None  #: Where the simulator knows the base
    footsteps: Optional[FootstepsInfo] = None
    description: Optional[str] = None  #: URDF
    profile: Optional[RobotProfile] = None
    joints: Optional[JointsInfo] = None
    targets: Optional[JointsInfo] = None
    battery: Optional[BatteryInfo] = None
    servos: Optional[ServosInfo] = None
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    history: JointHistory = field(default_factory=JointHistory)  #: Of the joints, while it is shown
    picture: Optional[np.ndarray] = None  #: (h, w, 3) uint8 RGB, the camera's last picture
    picture_count: int = 0  #: Pictures since the start, so that a view redraws only new ones
    _log: Deque[LogLine] = field(default_factory=lambda: deque(maxlen=500))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add_log(self, line: LogLine) -> None:
        """Append a line; the oldest is forgotten after 500."""
        with self._lock:
            self._log.append(line)

    def take_log(self) -> List[LogLine]:
        """Return and forget the lines since the last call."""
        with self._lock:
            lines = list(self._log)
            self._log.clear()
        return lines

    def forget_robot(self) -> None:
        """Forget what an earlier ROS master's robot sent; the log stays."""
        self.mode = self.odom = self.contacts = self.status = self.battery = self.servos = self.picture = None
        self.diagnostics.forget()
        self.description = self.profile = self.joints = self.targets = self.base = self.truth = self.footsteps = None


def fresh_battery(battery: Optional[BatteryInfo], now: float) -> Optional[BatteryInfo]:
    """Return the battery unless it is old; it comes once a second, rarer than the rest."""
    return fresh(battery, now, _BATTERY_OLD)


def fresh(info: Optional[_Info], now: float, limit: float) -> Optional[_Info]:
    """Return an info object unless it is missing or arrived more than `limit` seconds ago."""
    return info if info is not None and now - info.arrived <= limit else None  # type: ignore[attr-defined]
