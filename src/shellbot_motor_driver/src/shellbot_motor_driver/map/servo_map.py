# SPDX-License-Identifier: MIT
"""Joints to servos: IDs, zeros, signs, limits, gears, and many joints to fewer servos in one place.

``steps = zero + sign · gear · q / (300° / 1023)`` with the joint angle ``q``. One servo may turn several joints, which
the profile's couplings name: Shellbot's fan turns six, at twice their angle.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ax_bus.registers import POSITION_MAX, RAD_PER_S_PER_STEP, RAD_PER_STEP
from shellbot_common import read_yaml
from shellbot_motor_driver.errors import ServoMapError
from shellbot_motor_driver.map.driven_robot import DrivenRobot
from shellbot_motor_driver.map.servo_entry import ServoEntry, read_entries
from shellbot_motor_driver.map.shellbot import shellbot

Array = np.ndarray  # of float64
Steps = np.ndarray  # of int64

FANS_APART = 1e-3  # rad; coupled joints hang on one gear, targets that differ more are a mistake
_SPEED_MAX = 1023


class ServoMap:
    """All servos of a robot.

    Parameters
    ----------
    robot : DrivenRobot
        Its joints.
    entries : tuple of ServoEntry
        In the order of the profile's ``motor_joints``.

    Attributes
    ----------
    joint_of_servo : (n servos,) array of int
        Index of the joint that stands for each servo.
    lower, upper : (n servos,) array
        Limits of that joint, rad.
    leaders : frozenset of str
        Joints whose servo turns others, too; only these may be in wheel mode.

    Raises
    ------
    ServoMapError
        If joints are missing, unknown or out of order, or IDs repeat.
    """

    def __init__(self, robot: DrivenRobot, entries: Tuple[ServoEntry, ...]) -> None:
        profile = robot.profile
        motors = profile.motor_joints
        if tuple(entry.joint for entry in entries) != motors:
            raise ServoMapError(
                f"servo map of {_label(robot)} has other joints than the description: {', '.join(motors)}"
            )
        ids = [entry.servo_id for entry in entries]
        twice = sorted({str(i) for i in ids if ids.count(i) > 1})
        if twice:
            raise ServoMapError(f"servo map: id {', '.join(twice)} is given twice; every servo needs its own")
        self.robot = robot
        self.variant = profile.variant
        self.entries = entries
        self.joint_names = profile.joint_names
        self.motor_names = motors
        self.servo_ids = tuple(ids)
        leader = {follower: coupling.leader for coupling in profile.couplings for follower in coupling.followers}
        # (n joints) index of the servo of each joint; (n servos) index of the joint that stands for each servo
        self._servo_of_joint = np.array([motors.index(leader.get(name, name)) for name in self.joint_names])
        self.joint_of_servo = np.array([self.joint_names.index(name) for name in motors])
        self.leaders = frozenset(coupling.leader for coupling in profile.couplings)
        self._coupled = tuple(
            (profile.joint_class(c.leader), np.array([self.joint_names.index(n) for n in (c.leader, *c.followers)]))
            for c in profile.couplings
        )
        self._zero = np.array([entry.zero for entry in entries])
        self._steps_per_rad = np.array([entry.sign * entry.gear / RAD_PER_STEP for entry in entries])
        self._sign = np.array([float(entry.sign) for entry in entries])
        self._gear = np.array([entry.gear for entry in entries])
        self.lower = np.array([entry.lower for entry in entries])
        self.upper = np.array([entry.upper for entry in entries])
        self._effort_of_joint = robot.limits.effort * self._sign[self._servo_of_joint]

    @classmethod
    def load(cls, robot: Union[str, DrivenRobot] = "walker", path: Optional[Path] = None) -> ServoMap:
        """Read the map of a robot.

        Parameters
        ----------
        robot : DrivenRobot or str
            A robot, or a variant of Shellbot: ``walker`` or ``full``.
        path : pathlib.Path, optional
            A file in place of the robot's own rows (Shellbot's are in the package's ``config/servos.yaml``).

        Raises
        ------
        ServoMapError
            If the file cannot be read or an entry is wrong.
        """
        robot = shellbot(robot) if isinstance(robot, str) else robot
        if path is None:
            return cls.from_rows(robot, robot.rows)
        content = read_yaml(path, ServoMapError)
        if not isinstance(content.get("servos"), dict):
            raise ServoMapError(f"servo map {path} has no mapping 'servos'; see the package's config/servos.yaml")
        return cls.from_rows(robot, content["servos"])

    @classmethod
    def from_rows(cls, robot: Union[str, DrivenRobot], rows: Mapping[str, Any]) -> ServoMap:
        """Make the map of a robot from rows ``joint: {id, zero, sign}``; joints of other variants are left alone.

        A row may have ``range_deg``, the two ends that were measured: limits beyond them are taken back to them.
        """
        robot = shellbot(robot) if isinstance(robot, str) else robot
        return cls(robot, read_entries(rows, robot))

    def select(self, ids: Optional[Sequence[int]] = None) -> Tuple[ServoEntry, ...]:
        """Return the servos with the IDs ``ids``, or all, in the order of the map.

        Raises
        ------
        ServoMapError
            If the map lacks an ID.
        """
        unknown = sorted(set(ids or ()) - set(self.servo_ids))
        if unknown:
            raise ServoMapError(f"the servo map of {_label(self.robot)} has no ID {', '.join(map(str, unknown))}")
        return tuple(entry for entry in self.entries if ids is None or entry.servo_id in ids)

    def reduce(self, joints: Array) -> Array:
        """Return the joint angles that stand for each servo.

        Parameters
        ----------
        joints : (n joints,) array
            rad, in the order of ``joint_names``.

        Returns
        -------
        (n servos,) array
            rad, in the order of ``motor_names``; joint angles still, the gear comes later.

        Raises
        ------
        ServoMapError
            If the shape is wrong, a value is not finite or coupled joints differ.
        """
        joints = np.asarray(joints, dtype=np.float64)
        if joints.shape != (len(self.joint_names),):
            raise ServoMapError(
                f"joint targets have shape {joints.shape}; give {len(self.joint_names)} in the order of joint_names"
            )
        if not np.all(np.isfinite(joints)):
            bad = ", ".join(name for name, q in zip(self.joint_names, joints) if not math.isfinite(q))
            raise ServoMapError(f"joint targets of {bad} are not finite; hold the last ones")
        for kind, indices in self._coupled:
            turned = joints[indices]
            if turned.max() - turned.min() > FANS_APART:
                raise ServoMapError(
                    f"{kind} targets differ ({turned.min():.3f} to {turned.max():.3f} rad); one servo turns all "
                    f"{len(indices)}: give equal"
                )
        return joints[self.joint_of_servo]

    def expand(self, servos: Array) -> Array:
        """Return one value per joint from one per servo: coupled joints get their one servo's."""
        return np.asarray(servos)[self._servo_of_joint]

    def goals(self, angles: Array) -> Steps:
        """Return goal positions, (n servos,) steps, from the joint angles of `reduce`, finite; limits are applied."""
        return self.steps(np.minimum(np.maximum(angles, self.lower), self.upper))

    def steps(self, angles: Array) -> Steps:
        """Return the positions, (n servos,) steps, at joint angles, (n servos,) rad, beyond the joints' limits, too."""
        return np.clip(np.rint(self._zero + self._steps_per_rad * angles), 0, POSITION_MAX).astype(np.int64)

    def angles(self, steps: Steps) -> Array:
        """Return the joint angle of each servo, (n servos,) rad, from positions, (n servos,) steps."""
        return (np.asarray(steps, dtype=np.float64) - self._zero) / self._steps_per_rad

    def to_joints(self, steps: Steps) -> Array:
        """Return joint angles, (n joints,) rad, from present positions, (n servos,) steps."""
        return self.expand(self.angles(steps))

    def to_speeds(self, velocity: Array) -> Steps:
        """Return moving speeds, (n servos,) register numbers, from joint speeds, (n servos,) rad/s.

        Never 0, which a servo takes for "as fast as it can".
        """
        steps = np.rint(np.abs(velocity) * self._gear / RAD_PER_S_PER_STEP)
        return np.clip(steps, 1, _SPEED_MAX).astype(np.int64)

    def to_velocities(self, speeds: Steps) -> Array:
        """Return joint speeds, (n joints,) rad/s, from present speeds, (n servos,) numbers; bit 10 is clockwise."""
        return self.expand(_signed(speeds) * RAD_PER_S_PER_STEP * self._sign / self._gear)

    def to_efforts(self, loads: Steps) -> Array:
        """Return joint torques, (n joints,) N·m, from loads, (n servos,) numbers; coupled ones divide it."""
        return self.expand(_signed(loads) / 1023.0) * self._effort_of_joint

    def limits_steps(self) -> Dict[int, Tuple[int, int]]:
        """Return the angle limits of each servo ID in steps, clockwise limit first."""
        ends = {}
        for entry in self.entries:
            steps = sorted(entry.zero + entry.sign * entry.gear * q / RAD_PER_STEP for q in (entry.lower, entry.upper))
            ends[entry.servo_id] = (max(0, math.floor(steps[0])), min(POSITION_MAX, math.ceil(steps[1])))
        return ends


def _label(robot: DrivenRobot) -> str:
    return robot.profile.variant or robot.profile.name


def _signed(numbers: Steps) -> Array:
    """Return sign and magnitude numbers (bit 10 is clockwise) as signed ones; counter-clockwise is positive."""
    numbers = np.asarray(numbers)
    return np.where(numbers & 1024, -(numbers & 1023), numbers & 1023).astype(np.float64)
