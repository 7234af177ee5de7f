# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False
"""From planned base, feet and centre of pressure to joint angles, and to the torques that these angles carry.

A position servo of stiffness p turns an angle q + tau / p into the torque tau where the joint is at q. So the planned
centre of pressure is commanded through the angles, and not left to what the servos' errors make of it.
"""

from __future__ import annotations

from typing import NamedTuple, Tuple

import numpy as np

from humanoid_motion.body_model import BodyModel, Posture
from humanoid_motion.legs import LEG_JOINTS, Leg, ankle_of, pair_angles
from humanoid_motion.parameters import WalkError
from humanoid_motion.planar import LEFT, clamped, rotation_of, undone, undone_times
from robot_mechanics.native.jit import kernel
from shellbot_common import RobotProfile


class PlannedFeet(NamedTuple):
    """Both feet, and the base that each leg starts from; odometry frame, m and rad."""

    poses: np.ndarray  #: (2, 3) x, y, yaw of each sole
    heights: np.ndarray  #: (2,) Of each sole
    places: np.ndarray  #: (2, 3) Of the base, as each leg sees it
    rotations: np.ndarray  #: (2, 3, 3) Likewise


@kernel
def _angles(
    poses, heights, places, rotations, weight, left, right, leg_index, arm_index, arm_swing, rest, lower, upper
):
    """Return joint angles (n,), rad; see `WholeBody.angles`."""
    legs = Leg(*left), Leg(*right)
    feet, ankles = np.empty((2, 3, 3)), np.empty((2, 3))
    for side in range(2):
        base, pose, place = rotations[side], poses[side], places[side]
        feet[side] = undone_times(base, rotation_of(0.0, 0.0, pose[2]))
        x, y, z = undone(base, pose[0] - place[0], pose[1] - place[1], heights[side] - place[2])
        leg = legs[0] if side == LEFT else legs[1]
        ankles[side] = ankle_of(leg, feet[side], np.array([x, y, z]))
    angles, q = pair_angles(legs, feet, ankles, weight), rest.copy()
    for side in range(2):
        for joint in range(6):
            q[leg_index[side, joint]] = angles[side, joint]
        q[arm_index[side]] -= arm_swing * (ankles[1 - side, 0] - ankles[side, 0])  # the arm swings with the other leg
    for joint in range(len(q)):
        q[joint] = clamped(q[joint], lower[joint], upper[joint])
    return q


@kernel
def _pressed(q, torque, shared, effort, stiffness, lower, upper):
    """Return angles (n,) that carry the torques, within effort and limits."""
    half = 0.5 * (torque[shared[0]] + torque[shared[1]])  # one motor: each joint has half of it
    torque[shared[0]] = torque[shared[1]] = half
    command = np.empty(len(q))
    for joint in range(len(q)):
        offset = clamped(torque[joint], -effort[joint], effort[joint]) / stiffness[joint]
        command[joint] = clamped(q[joint] + offset, lower[joint], upper[joint])
    return command


class WholeBody:
    """Joint arrays of the robot.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        Order of the joints and their stiffness until `set_stiffness`, soles, and the pose at rest.
    arm_swing : float
        Turn of a shoulder on how far the other foot is ahead, rad/m.

    Raises
    ------
    WalkError
        If the profile does not have two soles.
    """

    def __init__(self, urdf_text: str, profile: RobotProfile, arm_swing: float) -> None:
        names = list(profile.joint_names)
        if len(profile.contacts) != 2:
            raise WalkError(
                f"the robot's profile has {len(profile.contacts)} contacts ({', '.join(profile.contacts) or 'none'}); "
                "the walking engine needs two, the left sole and then the right one"
            )
        self.model = BodyModel(urdf_text, names, tuple(profile.contacts))
        self.legs: Tuple[Leg, Leg] = (Leg.of_model(self.model, "L"), Leg.of_model(self.model, "R"))
        #: (n,) The pose at rest, rad
        self.rest = np.array(list(profile.pose(profile.base.spawn_pose).values()))
        leg_index = np.array([[names.index(side + name) for name in LEG_JOINTS] for side in "LR"])
        arm_index = np.array([names.index("LShoulderPitch"), names.index("RShoulderPitch")])
        joints = [self.model.joints[name] for name in names]
        lower, upper = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
        self._effort = np.array([j.effort for j in joints])
        self._stiffness = np.array([profile.classes[kind].stiffness for kind in profile.joints.values()])
        left, right = (tuple(leg) for leg in self.legs)  # numba takes plain tuples in a fifth of the time
        self._limbs = left, right, leg_index, arm_index, arm_swing, self.rest, lower, upper
        self._servos = leg_index[:, 0].copy(), self._effort, self._stiffness, lower, upper
        #: (n,) Angle between command and joint at which a servo has its full effort, rad; one array for all who hold it
        self.most_offset = self._effort / self._stiffness

    def set_stiffness(self, stiffness: np.ndarray) -> None:
        """Take the stiffness p of the servos in force, (n,), N m/rad; one that is not positive changes nothing."""
        np.copyto(self._stiffness, stiffness, where=stiffness > 0.0)
        self.most_offset[:] = self._effort / self._stiffness

    def angles(self, feet: PlannedFeet, weight: float) -> np.ndarray:
        """Return the joint angles that put the feet where they are planned, (n,), rad.

        Parameters
        ----------
        feet : PlannedFeet
            Left and right.
        weight : float
            Part of the hips' shared angle that the left leg decides.
        """
        return np.asarray(_angles(*feet, weight, *self._limbs))

    def command(
        self, q: np.ndarray, posture: Posture, gravity: np.ndarray, forces: np.ndarray, points: np.ndarray
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
        forces, points : (2, 3) arrays
            Of the ground on each sole, and where it acts, root frame, N and m.
        """
        return np.asarray(_pressed(q, self.model.load_torque(posture, gravity, forces, points), *self._servos))
