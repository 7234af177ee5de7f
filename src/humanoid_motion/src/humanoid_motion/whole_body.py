# SPDX-License-Identifier: MIT
"""From planned base, feet and centre of pressure to joint angles, and to the torques that these angles carry.

A position servo of stiffness p turns an angle q + tau / p into the torque tau where the joint is at q. So the planned
centre of pressure is commanded through the angles, and not left to what the servos' errors make of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Tuple

import numpy as np

from humanoid_motion.body_model import BodyModel, Posture
from humanoid_motion.legs import LEG_JOINTS, Leg, pair_angles
from humanoid_motion.planar import LEFT, RIGHT, yaw_matrix
from shellbot_common import RobotProfile


@dataclass(frozen=True)
class PlannedFoot:
    """A foot and the base that its leg starts from, odometry frame."""

    pose: np.ndarray  #: (3,) x, y, yaw of the sole, m and rad
    height: float  #: Of the sole, m
    base_place: np.ndarray  #: (3,) m
    base_rotation: np.ndarray  #: (3, 3)


class WholeBody:
    """Joint arrays of the robot.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        Order and stiffness of the joints, soles, and the pose at rest.
    arm_swing : float
        Turn of a shoulder on how far the other foot is ahead, rad/m.
    """

    def __init__(self, urdf_text: str, profile: RobotProfile, arm_swing: float) -> None:
        names = list(profile.joint_names)
        self.model = BodyModel(urdf_text, names, tuple(profile.contacts))
        self.legs: Tuple[Leg, Leg] = (Leg.of_model(self.model, "L"), Leg.of_model(self.model, "R"))
        #: (n,) The pose at rest, rad
        self.rest = np.array(list(profile.pose(profile.base.spawn_pose).values()))
        self._arm_swing = arm_swing
        self._leg_index = tuple(np.array([names.index(side + name) for name in LEG_JOINTS]) for side in "LR")
        self._arm_index = [names.index("LShoulderPitch"), names.index("RShoulderPitch")]
        self._shared = [int(index[0]) for index in self._leg_index]
        joints = [self.model.joints[name] for name in names]
        self._lower, self._upper = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
        self._effort = np.array([j.effort for j in joints])
        self._stiffness = np.array([profile.classes[kind].stiffness for kind in profile.joints.values()])

    @property
    def most_offset(self) -> np.ndarray:
        """Angle between command and joint at which a servo has its full effort, (n,), rad."""
        return self._effort / self._stiffness

    def angles(self, feet: Sequence[PlannedFoot], weight: float) -> np.ndarray:
        """Return the joint angles that put the feet where they are planned, (n,), rad.

        Parameters
        ----------
        feet : (2,) sequence of PlannedFoot
            Left and right.
        weight : float
            Part of the hips' shared angle that the left leg decides.
        """
        rotations, ankles = [], []
        for leg, foot in zip(self.legs, feet):
            rotation = foot.base_rotation.T @ yaw_matrix(foot.pose[2])
            sole = foot.base_rotation.T @ (np.append(foot.pose[:2], foot.height) - foot.base_place)
            rotations.append(rotation)
            ankles.append(leg.ankle(rotation, sole))
        q = self.rest.copy()
        pair = pair_angles(self.legs, (rotations[0], rotations[1]), (ankles[0], ankles[1]), weight)
        for index, values in zip(self._leg_index, pair):
            q[index] = values
        for side in (LEFT, RIGHT):  # the arm swings with the other leg
            q[self._arm_index[side]] -= self._arm_swing * float(ankles[1 - side][0] - ankles[side][0])
        return np.clip(q, self._lower, self._upper)

    def command(
        self, q: np.ndarray, posture: Posture, gravity: np.ndarray, shares: Sequence[float], points: np.ndarray
    ) -> np.ndarray:
        """Return the angles that also press the soles on the ground as planned, (n,), rad, within the limits.

        Parameters
        ----------
        q : (n,) array
            Planned angles, rad.
        posture : Posture
            As measured.
        gravity : (3,) array
            Gravity less the acceleration of the robot as a whole, root frame, m/s^2.
        shares : (2,) sequence of float
            Parts of the load on the left and right foot.
        points : (2, 3) array
            Where each sole is to be pressed, root frame, m.
        """
        forces = np.array([-self.model.mass * share * gravity for share in shares])
        torque = self.model.load_torque(posture, gravity, forces, points)
        torque[self._shared] = 0.5 * torque[self._shared].sum()  # one motor: each joint has half of it
        torque = np.clip(torque, -self._effort, self._effort)
        return np.asarray(np.clip(q + torque / self._stiffness, self._lower, self._upper))
