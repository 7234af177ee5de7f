# SPDX-License-Identifier: MIT
"""What the driver must know about a robot: its profile, limits of its joints, servo and gear of each joint class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Tuple

import numpy as np

from ax_bus.registers import RAD_PER_STEP
from shellbot_common import ProfileError, RobotProfile, Settings, number, read_yaml_text
from shellbot_control import ConfigurationError, JointLimits
from shellbot_motor_driver.errors import ServoMapError

Array = np.ndarray
SERVOS_PARAMETER = "robot_servos"  # YAML of the servo map, beside robot_description and robot_profile
SIT = "sit"  # the pose to which a robot goes before its torque is switched off, if its profile has one


@dataclass(frozen=True)
class ClassServo(Settings, error=ServoMapError):
    """The servo of a joint class, a row under ``classes`` of a servo map."""

    model: str = "AX-12A"  #: A model of `ax_bus`
    gear: float = number(0.05, 20.0, default=1.0)  #: Servo angle per joint angle


@dataclass(frozen=True)
class DrivenRobot:
    """A robot on servos, as data.

    Raises
    ------
    ServoMapError
        If limits or servos do not fit the profile, or a coupling is more than a common angle.
    """

    profile: RobotProfile  #: Joints, their classes, couplings, limbs and poses
    limits: JointLimits  #: Of the driven joints, in the profile's order
    servos: Mapping[str, ClassServo]  #: By class of joint
    #: By class of joint: stiffness times compliance slope, N·m/rad times steps
    stiffness: Mapping[str, float]
    rows: Mapping[str, Any]  #: The default servo map: joint to ``{id, zero, sign}``

    def __post_init__(self) -> None:
        """Check that the parts fit each other."""
        profile = self.profile
        if self.limits.names != profile.joint_names:
            raise ServoMapError(f"{profile.name}: limits are of other joints than {', '.join(profile.joint_names)}")
        missing = sorted(set(profile.joints.values()) - (set(self.servos) & set(self.stiffness)))
        if missing:
            raise ServoMapError(f"{profile.name}: joint class {', '.join(missing)} has no servo; add it to classes")
        for coupling in profile.couplings:
            if coupling.ratio != 1.0 or coupling.offset != 0.0:
                raise ServoMapError(
                    f"{profile.name}: the followers of {coupling.leader} have ratio {coupling.ratio:g} and offset "
                    f"{coupling.offset:g} rad; one servo turns joints of equal angles only (ratio 1, offset 0)"
                )

    @classmethod
    def from_texts(cls, urdf: str, profile: str, servos: str) -> DrivenRobot:
        """Return a robot whose description is on the parameter server.

        Parameters
        ----------
        urdf : str
            Limits, greatest speed and torque of each joint.
        profile : str
            As `shellbot_common.RobotProfile.from_text`.
        servos : str
            YAML of a servo map: ``servos`` (joint: id, zero, sign) and ``classes`` (class: model, gear).

        Raises
        ------
        ServoMapError
            If a text cannot be used.
        """
        try:
            robot = RobotProfile.from_text(profile)
            limits = JointLimits.from_urdf(urdf, robot.joint_names)
        except (ProfileError, ConfigurationError) as error:
            raise ServoMapError(f"robot on servos: {error}") from error
        found = read_yaml_text(servos, SERVOS_PARAMETER, ServoMapError)
        rows, classes = (found.get(key) for key in ("servos", "classes"))
        if not isinstance(rows, dict) or not isinstance(classes, dict):
            raise ServoMapError("robot_servos has no mappings 'servos' and 'classes'; see docs/snake.md for one")
        made = {str(kind): ClassServo.from_mapping(row, f"robot_servos, {kind}: ") for kind, row in classes.items()}
        effort = dict(zip(robot.joint_names, limits.effort))
        stiffness = {
            kind: float(effort[joint]) * made[kind].gear / RAD_PER_STEP
            for joint, kind in robot.joints.items()
            if kind in made
        }
        return cls(robot, limits, made, stiffness, rows)

    @property
    def classes(self) -> Tuple[str, ...]:
        """Classes of the driven joints, in the profile's order of classes."""
        driven = set(self.profile.joints.values())
        return tuple(kind for kind in self.profile.classes if kind in driven)

    @property
    def sitting(self) -> Array:
        """The pose in which torque is switched off, (n joints,) rad: ``sit``, or else that of the spawn."""
        name = SIT if SIT in self.profile.poses else self.profile.base.spawn_pose
        return np.array(list(self.profile.pose(name).values()))

    def sits_from(self) -> Tuple[Array, Array]:
        """Return the least and greatest angle of each joint from which the robot may sit, (n joints,) rad each."""
        free = (-np.inf, np.inf)
        ranges = np.array([self.profile.sits_from_deg.get(kind, free) for kind in self.profile.joints.values()])
        low, high = np.radians(ranges).T
        return low, high

    def limb(self, joint: str) -> str:
        """Return the limb of a joint; a joint of none is one by itself."""
        return next((name for name, limb in self.profile.limbs.items() if joint in limb.joints), joint)
