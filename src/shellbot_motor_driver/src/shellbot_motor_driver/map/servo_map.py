# SPDX-License-Identifier: MIT
"""Joints to servos: IDs, zeros, signs, limits, the fan's gear, and 36 or 24 joints to 31 or 19 servos in one place.

``steps = zero + sign · gear · q / (300° / 1023)`` with the joint angle ``q``. The fan's one servo turns six joints: its
angle is `fan_drive.reduction` times theirs.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

from ax_bus.registers import POSITION_MAX, RAD_PER_S_PER_STEP, RAD_PER_STEP
from shellbot_common import package_file, read_yaml
from shellbot_description import Variables, driven_joint_names, joint_class, load_variables, motor_joint_names
from shellbot_motor_driver.errors import ServoMapError
from shellbot_motor_driver.map.servo_entry import ServoEntry, read_entries

Array = np.ndarray  # of float64
Steps = np.ndarray  # of int64

FANS_APART = 1e-3  # rad; the six fan joints hang on one gear, targets that differ more are a mistake
_SPEED_MAX = 1023


class ServoMap:
    """All servos of a variant.

    Parameters
    ----------
    variant : str
        ``walker`` (19 servos, 24 joints) or ``full`` (31, 36).
    entries : tuple of ServoEntry
        In the order of ``shellbot_description.motor_joint_names(variant)``.
    variables : Variables, optional
        The description's; loaded if not given.

    Attributes
    ----------
    joint_of_servo : (n servos,) array of int
        Index of the joint that stands for each servo.
    lower, upper : (n servos,) array
        Limits of that joint, rad.

    Raises
    ------
    ServoMapError
        If joints are missing, unknown or out of order, or IDs repeat.
    """

    def __init__(self, variant: str, entries: Tuple[ServoEntry, ...], variables: Optional[Variables] = None) -> None:
        motors = _motors(variant)
        if tuple(entry.joint for entry in entries) != motors:
            raise ServoMapError(f"servo map of {variant} has other joints than the description: {', '.join(motors)}")
        ids = [entry.servo_id for entry in entries]
        twice = sorted({str(i) for i in ids if ids.count(i) > 1})
        if twice:
            raise ServoMapError(f"servo map: id {', '.join(twice)} is given twice; every servo needs its own")
        self.variant = variant
        self.entries = entries
        self.joint_names = driven_joint_names(variant)
        self.motor_names = motors
        self.servo_ids = tuple(ids)
        variables = variables if variables is not None else load_variables()
        motor_of = {name: i for i, name in enumerate(motors)}
        fan = motor_of["lower_1_fan"]
        # (n joints) index of the servo of each joint; (n servos) index of the joint that stands for each servo
        self._servo_of_joint = np.array([motor_of.get(name, fan) for name in self.joint_names])
        self.joint_of_servo = np.array([self.joint_names.index(name) for name in motors])
        self._fans = np.array([i for i, name in enumerate(self.joint_names) if joint_class(name) == "fan"])
        self._zero = np.array([entry.zero for entry in entries])
        self._steps_per_rad = np.array([entry.sign * entry.gear / RAD_PER_STEP for entry in entries])
        self._sign = np.array([float(entry.sign) for entry in entries])
        self._gear = np.array([entry.gear for entry in entries])
        self.lower = np.array([entry.lower for entry in entries])
        self.upper = np.array([entry.upper for entry in entries])
        effort = [variables.effort(joint_class(name)) for name in self.joint_names]
        self._effort_of_joint = np.array(effort) * self._sign[self._servo_of_joint]

    @classmethod
    def load(cls, variant: str = "walker", path: Optional[Path] = None) -> ServoMap:
        """Read the map of a variant.

        Parameters
        ----------
        variant : str
            ``walker`` or ``full``.
        path : pathlib.Path, optional
            Another file than the package's ``config/servos.yaml``.

        Raises
        ------
        ServoMapError
            If the file cannot be read or an entry is wrong.
        """
        path = path if path is not None else config_file()
        content = read_yaml(path, ServoMapError)
        if not isinstance(content.get("servos"), dict):
            raise ServoMapError(f"servo map {path} has no mapping 'servos'; see the package's config/servos.yaml")
        return cls.from_rows(variant, content["servos"])

    @classmethod
    def from_rows(cls, variant: str, rows: Mapping[str, Any]) -> ServoMap:
        """Make the map of a variant from rows ``joint: {id, zero, sign}``; joints of other variants are left alone.

        A row may have ``range_deg``, the two ends that were measured: limits beyond them are taken back to them.
        """
        variables = load_variables()
        return cls(variant, read_entries(rows, _motors(variant), variables), variables)

    def select(self, ids: Optional[Sequence[int]] = None) -> Tuple[ServoEntry, ...]:
        """Return the servos with the IDs ``ids``, or all, in the order of the map.

        Raises
        ------
        ServoMapError
            If the map lacks an ID.
        """
        unknown = sorted(set(ids or ()) - set(self.servo_ids))
        if unknown:
            raise ServoMapError(f"the servo map of {self.variant} has no ID {', '.join(map(str, unknown))}")
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
            If the shape is wrong, a value is not finite or the fans differ.
        """
        joints = np.asarray(joints, dtype=np.float64)
        if joints.shape != (len(self.joint_names),):
            raise ServoMapError(
                f"joint targets have shape {joints.shape}; give {len(self.joint_names)} in the order of joint_names"
            )
        if not np.all(np.isfinite(joints)):
            bad = ", ".join(name for name, q in zip(self.joint_names, joints) if not math.isfinite(q))
            raise ServoMapError(f"joint targets of {bad} are not finite; hold the last ones")
        fans = joints[self._fans]
        if fans.max() - fans.min() > FANS_APART:
            raise ServoMapError(
                f"fan targets differ ({fans.min():.3f} to {fans.max():.3f} rad); one servo turns all six: give equal"
            )
        return joints[self.joint_of_servo]

    def expand(self, servos: Array) -> Array:
        """Return one value per joint from one per servo: all six fans get the fan servo's."""
        return np.asarray(servos)[self._servo_of_joint]

    def to_steps(self, joints: Array) -> Steps:
        """Return goal positions, (n servos,) steps within the limits, for joints in rad; raises as `reduce`."""
        return self.goals(self.reduce(joints))

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
        """Return joint torques, (n joints,) N·m, from present loads, (n servos,) numbers; a fan joint has a sixth."""
        return self.expand(_signed(loads) / 1023.0) * self._effort_of_joint

    def limits_steps(self) -> Dict[int, Tuple[int, int]]:
        """Return the angle limits of each servo ID in steps, clockwise limit first."""
        ends = {}
        for entry in self.entries:
            steps = sorted(entry.zero + entry.sign * entry.gear * q / RAD_PER_STEP for q in (entry.lower, entry.upper))
            ends[entry.servo_id] = (max(0, math.floor(steps[0])), min(POSITION_MAX, math.ceil(steps[1])))
        return ends


def config_file() -> Path:
    """Return the package's servo map."""
    return package_file("shellbot_motor_driver", "config/servos.yaml")


def _motors(variant: str) -> Tuple[str, ...]:
    motors = motor_joint_names(variant)
    if len(motors) == len(driven_joint_names(variant)):
        raise ServoMapError(f"variant {variant!r} is for simulators; choose walker or full")
    return motors


def _signed(numbers: Steps) -> Array:
    """Return sign and magnitude numbers (bit 10 is clockwise) as signed ones; counter-clockwise is positive."""
    numbers = np.asarray(numbers)
    return np.where(numbers & 1024, -(numbers & 1023), numbers & 1023).astype(np.float64)
