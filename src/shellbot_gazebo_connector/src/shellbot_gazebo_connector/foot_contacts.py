# SPDX-License-Identifier: MIT
"""Which feet touch the ground in Gazebo, and how the load is spread over them, from the contacts of its sensors.

Gazebo hands out the contacts of each physics step, up to two ticks later. Those of a tick are therefore evaluated
`DELAY` ticks after it, and their loads are means over its steps: in single steps stiff contacts come and go.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import deque
from dataclasses import dataclass
from typing import Deque, Dict, Iterable, List, Mapping, Optional, Tuple

import numpy as np

from robot_mechanics.models.urdf import load_urdf
from shellbot_common import TICK, RobotProfile, Stamp, classify_stamp
from shellbot_common.rotations import rotation_from_quaternion

PLUGIN = "libgazebo_ros_bumper.so"
TOPIC = "gazebo/contacts/"  # and the link of the contact, as the profile names it
DELAY = 3  # ticks
_LOADED = 0.05  # N: a foot that carries less does not count as touching, as in the embedded simulator
_MEMORY = 20  # ticks of poses and contacts


@dataclass(frozen=True)
class Touch:
    """What a body of the robot and something else do to each other in one physics step."""

    time: float  #: Of the step, s
    link: str  #: In whose axes the forces are; empty: those of the world
    forces: np.ndarray  #: (c, 3) On the robot, N
    p_world_points: np.ndarray  #: (c, 3) m


@dataclass(frozen=True)
class FootLoads:
    """The feet at one tick. Arrays are in the order of the feet."""

    time: float  #: s
    load: np.ndarray  #: (f,) Vertical force of the ground, N, mean over the steps of the tick
    in_contact: np.ndarray  #: (f,) Whether the foot carries load
    load_share: np.ndarray  #: (f,) Fraction of the load on all feet; 0 without any
    p_base_foot: np.ndarray  #: (f, 3) Frames of the feet in the root link, m
    centre_of_pressure: np.ndarray  #: (f, 3) In the root link, m; NaN without contact


def sensed_contacts(profile: RobotProfile, urdf_text: str) -> Tuple[str, ...]:
    """Return the contacts of the profile that have a sensor in Gazebo, in its order."""
    plugins = ElementTree.fromstring(urdf_text).iter("plugin")
    topics = {plugin.findtext("bumperTopicName") for plugin in plugins if plugin.get("filename") == PLUGIN}
    return tuple(link for link in profile.contacts if TOPIC + link in topics)


class FootContacts:
    """Collects contacts, poses and joints, and computes the load of each foot at every tick.

    Parameters
    ----------
    profile : RobotProfile
        What touches closer to a foot's frame than its radius belongs to the foot.
    urdf_text : str
        Where the feet are.
    feet : sequence of str
        Contacts of the profile.
    step : float
        Of Gazebo's physics, s.
    """

    def __init__(self, profile: RobotProfile, urdf_text: str, feet: Iterable[str], step: float) -> None:
        self.feet = tuple(feet)
        self._tree = load_urdf(urdf_text)
        self._rows = [self._tree.links.index(foot) for foot in self.feet]
        self._root = self._tree.links.index(profile.base.link)
        self._radius = [profile.contacts[foot].radius for foot in self.feet]
        self._steps = max(1, round(TICK / step))
        self._half = 0.5 * step
        self._clear()

    def _clear(self) -> None:
        self._touches: Dict[str, Deque[Touch]] = {foot: deque(maxlen=_MEMORY * self._steps) for foot in self.feet}
        self._poses: Deque[Tuple[float, np.ndarray, np.ndarray]] = deque(maxlen=_MEMORY)
        self._joints: Deque[Tuple[float, List[float]]] = deque(maxlen=DELAY + 1)
        self._newest = -np.inf

    def on_touches(self, foot: str, touches: Iterable[Touch]) -> None:
        """Take what the sensor of a foot has seen."""
        self._touches[foot].extend(touches)

    def on_pose(self, time: float, position: np.ndarray, quaternion: np.ndarray) -> None:
        """Take the pose of the root link in the world: time (s), position (3,), m, quaternion (4,) x, y, z, w."""
        self._poses.append((time, position, quaternion))

    def on_joints(self, time: float, angles: Mapping[str, float]) -> Optional[FootLoads]:
        """Take measured joints, rad, at `time` (s), and return the feet `DELAY` ticks before; None if not known yet.

        Joints that are not measured count as zero.
        """
        kind = classify_stamp(self._newest, time)
        if kind is Stamp.LATE:
            return None
        if kind is Stamp.RESET:
            self._clear()
        self._newest = time
        self._joints.append((time, [angles.get(name, 0.0) for name in self._tree.joint_names]))
        if len(self._joints) <= DELAY or not self._poses:
            return None
        return self._loads(*self._joints[0])

    def _loads(self, time: float, q: List[float]) -> FootLoads:
        frames = self._tree.fk(q)
        root = frames[self._root]
        p_base_foot = (frames[self._rows, :3, 3] - root[:3, 3]) @ root[:3, :3]
        _, p_world_base, quaternion = min(self._poses, key=lambda pose: abs(pose[0] - time))
        rotation = rotation_from_quaternion(quaternion)  # base -> world
        turns = {link: rotation @ root[:3, :3].T @ frame[:3, :3] for link, frame in zip(self._tree.links, frames)}
        turns[""] = np.eye(3)
        load, centre = np.zeros(len(self.feet)), np.full((len(self.feet), 3), np.nan)
        for row, foot in enumerate(self.feet):
            forces, points = self._of_tick(foot, time, turns)
            p_base = (points - p_world_base) @ rotation
            is_near = np.linalg.norm(p_base - p_base_foot[row], axis=1) <= self._radius[row]
            vertical = forces[is_near, 2]
            load[row] = vertical.sum() / self._steps
            if load[row] > _LOADED:
                centre[row] = vertical @ p_base[is_near] / vertical.sum()
        carries = load > _LOADED
        load = np.where(carries, load, 0.0)
        return FootLoads(time, load, carries, load / max(float(load.sum()), 1e-9), p_base_foot, centre)

    def _of_tick(self, foot: str, time: float, turns: Mapping[str, np.ndarray]) -> Tuple[np.ndarray, np.ndarray]:
        """Return forces and points (c, 3), in the world, of the steps of the tick that ends at `time`."""
        begin, end = time - TICK + self._half, time + self._half
        touches = [touch for touch in self._touches[foot] if begin < touch.time < end]
        none = [np.zeros((0, 3))]
        forces = none + [touch.forces @ turns[touch.link].T for touch in touches]
        points = none + [touch.p_world_points for touch in touches]
        return np.concatenate(forces), np.concatenate(points)
