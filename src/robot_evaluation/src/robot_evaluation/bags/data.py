# SPDX-License-Identifier: MIT
"""A recorded run as arrays, whatever it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.planar import PlanarPath
from shellbot_common import RobotProfile

JOINT_TOPICS = ("joint_states", "joint_targets")
ODOMETRY_TOPICS = ("odom", "ground_truth/odom")
CONTACT_TOPICS = ("foot_contacts", "ground_truth/foot_contacts")
TYPES = {
    **dict.fromkeys(JOINT_TOPICS, "sensor_msgs/JointState"),
    **dict.fromkeys(ODOMETRY_TOPICS, "nav_msgs/Odometry"),
    **dict.fromkeys(CONTACT_TOPICS, "shellbot_msgs/Contacts"),
    "cmd_vel": "geometry_msgs/Twist",
}
WRENCHES = "contact_wrenches/"
COMMAND = "/command"  # of the robot's controller
CHAIN = ("joint_states", "imu/data", "limb_references", "joint_targets", COMMAND, "foot_contacts", "odom")
"""What ticks; a topic that ends the name of another stands for it."""


@dataclass(frozen=True)
class Stamps:
    """When the messages of a topic were received and made."""

    received: np.ndarray  #: (m,) s, by the clock of the recorder
    stamp: np.ndarray  #: (m,) s, of the header; the time received where there is none


@dataclass(frozen=True)
class JointTrack:
    """Angles of joints over time; NaN where a message lacks one."""

    t: np.ndarray  #: (m,) s, stamps, which rise
    names: Tuple[str, ...]
    position: np.ndarray  #: (m, n) rad
    bad: int = 0  #: Messages that lack a number for a joint that they name

    def of(self, names: Sequence[str]) -> np.ndarray:
        """Return the columns (m, k) of some joints, rad."""
        return self.position[:, [self.names.index(name) for name in names]]


@dataclass(frozen=True)
class TwistTrack:
    """Velocity commands over time, as they were received."""

    t: np.ndarray  #: (m,) s
    twist: np.ndarray  #: (m, 3) x and y in m/s, yaw in rad/s


@dataclass(frozen=True)
class ContactTrack:
    """Which contacts touch over time."""

    t: np.ndarray  #: (m,) s
    names: Tuple[str, ...]
    touching: np.ndarray  #: (m, c) bool


@dataclass(frozen=True)
class BagData:
    """What a bag has of the topics that plots are made of; names without the robot's namespace."""

    file: str
    begin: float  #: s, of the first message
    end: float  #: s, of the last
    messages: Mapping[str, int]  #: Topic, with its namespace, to number of messages
    profile: Optional[RobotProfile] = None
    stamps: Mapping[str, Stamps] = field(default_factory=dict)
    joints: Mapping[str, JointTrack] = field(default_factory=dict)
    poses: Mapping[str, PlanarPath] = field(default_factory=dict)
    contacts: Mapping[str, ContactTrack] = field(default_factory=dict)
    cmd_vel: Optional[TwistTrack] = None

    def missing_joints(self, names: Sequence[str]) -> Tuple[str, ...]:
        """Return those of some joints that joint_states never names, or never with a number."""
        track = self.joints.get("joint_states")
        seen = {n for n, column in zip(track.names, track.position.T) if np.isfinite(column).any()} if track else set()
        return tuple(name for name in names if name not in seen)

    def joint_classes(self, names: Sequence[str]) -> Dict[str, List[str]]:
        """Return class to joints, by the robot's profile; without one by the last word of the names."""
        classes: Dict[str, List[str]] = {}
        for name in names:
            known = self.profile is not None and name in self.profile.joints
            kind = self.profile.joints[name] if self.profile is not None and known else name.rsplit("_", 1)[-1]
            classes.setdefault(kind, []).append(name)
        return classes
