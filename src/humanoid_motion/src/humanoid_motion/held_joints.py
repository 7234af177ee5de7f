# SPDX-License-Identifier: MIT
"""Joint targets that are held until the next ones: a command, a pose by name, or some joints moved."""

from __future__ import annotations

from typing import Mapping

import numpy as np

from humanoid_motion.interface import Status
from humanoid_motion.joint_motion import JointMotion, joint_ranges
from humanoid_motion.parameters import WalkError
from shellbot_common import RobotProfile

POSE_SPEED = 0.3
"""Of a pose, fraction of the maximum speed."""


class HeldJoints:
    """Latched targets of all joints of one robot.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        Joints, couplings, poses.

    Attributes
    ----------
    limits : pair of (n,) array
        Lower and upper limit of each joint, rad.
    pose : str
        That it goes to or holds; empty for other targets.
    poses : mapping of str to (n,) array
        Joint angles of each, rad.
    standing : str
        The pose in which the engine takes over.
    """

    def __init__(self, urdf_text: str, profile: RobotProfile) -> None:
        self.pose, self.standing = "", profile.base.spawn_pose
        self.poses = {name: np.array(list(profile.pose(name).values())) for name in profile.poses}
        self._names, self._couplings = profile.joint_names, profile.couplings
        ranges = joint_ranges(urdf_text, profile)
        self._motion = JointMotion(ranges)
        self.limits = np.array([r.lower for r in ranges.values()]), np.array([r.upper for r in ranges.values()])

    @property
    def stance(self) -> np.ndarray:
        """Joint angles of the standing pose, (n,), rad."""
        return self.poses[self.standing]

    @property
    def is_moving(self) -> bool:
        """Whether a joint is on its path."""
        return self._motion.is_moving

    @property
    def has_reached_stance(self) -> bool:
        """Whether the engine can take over."""
        return self.pose == self.standing and not self._motion.is_moving

    def hold(self, command: np.ndarray) -> None:
        """Rest at a command (n,), rad."""
        self._motion.start(command)
        self.pose = ""

    def check(self, targets: Mapping[str, float], speed: float) -> None:
        """Refuse targets that `move` would refuse."""
        self._motion.resolved(targets, speed)

    def move(self, targets: Mapping[str, float], speed: float) -> float:
        """Move joints to a target, the others go on with what they do; returns the duration, s.

        Parameters
        ----------
        targets, speed
            As for `JointMotion.resolved`, whose WalkError it raises.
        """
        duration = self._motion.move(targets, speed)
        reached = [name for name, pose in self.poses.items() if np.allclose(pose, self._motion.target, atol=1e-3)]
        self.pose = reached[0] if reached else ""
        return duration

    def targets_of(self, pose: str) -> Mapping[str, float]:
        """Return the angle of each joint in a pose, rad; raises WalkError if there is none of this name."""
        if pose not in self.poses:
            raise WalkError(f"there is no pose '{pose}'; there are {', '.join(self.poses)}")
        return dict(zip(self._names, self.poses[pose]))

    def go_back(self, origin: np.ndarray) -> None:
        """Go to where the engine can take over: its own command before a motion, or its stance, (n,), rad."""
        targets = dict(zip(self._names, origin))
        for coupling in self._couplings:  # each servo of one motor has the torque of its own side on top
            pair = (coupling.leader, *coupling.followers)
            targets.update(dict.fromkeys(pair, float(np.mean([targets[name] for name in pair]))))
        self._motion.move(targets, POSE_SPEED)
        self.pose = self.standing

    def step(self) -> np.ndarray:
        """Return the command (n,), rad, of the next tick."""
        return self._motion.step()

    def status(self, behind: str) -> Status:
        """Return what the joints do; `behind` is a sentence on those that do not follow."""
        what = f"the pose {self.pose}" if self.pose else "the joint targets"
        if self._motion.is_moving or self.pose == self.standing:  # where the engine takes over
            return Status("pose", self.pose or "pose", f"It goes to {what}.{behind}")
        text = f"It holds {what} and does not balance; stand, or cmd_vel, lets it walk again.{behind}"
        return Status("pose", "pose", text)
