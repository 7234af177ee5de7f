# SPDX-License-Identifier: MIT
"""The variables of the robot as frozen, validated SI dataclasses.

The YAML file carries the unit of each number in its key (`fan_length_mm`); the attribute has the same name without the
unit and is SI (`fan_length`, m). `quantity("mm", low, high)` declares unit and allowed range, both in the file's unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping

from shellbot_description.errors import DescriptionError
from shellbot_description.names import JOINT_CLASSES, LEG_COUNT

_TO_SI = {
    "mm": 1e-3,
    "deg": math.pi / 180.0,
    "rpm": math.pi / 30.0,
    "rad": 1.0,
    "kg": 1.0,
    "nm": 1.0,
    "kgm2": 1.0,
    "hz": 1.0,
    "px": 1.0,
    "steps": 1.0,
    "": 1.0,
}


def quantity(unit: str, low: float, high: float) -> Any:
    """Declare a number of the file: its unit (suffix of the key) and the allowed range in that unit."""
    return field(metadata={"unit": unit, "low": low, "high": high})


def si(value: float, unit: str) -> float:
    """Convert a number of the file to SI: lengths are divided by 1000, as the xacro files do, so that both agree."""
    if unit == "mm":
        return value / 1000.0
    if unit == "deg":
        return math.radians(value)
    return value * _TO_SI[unit]


@dataclass(frozen=True)
class LowerLeg:
    """Denavit-Hartenberg lengths of a lower leg, and the sphere centre seen from its foot frame."""

    base_radius: float = quantity("mm", 1, 500)
    base_height: float = quantity("mm", -500, 500)
    fan_length: float = quantity("mm", 1, 500)
    coxa_length: float = quantity("mm", 1, 500)
    coxa_drop: float = quantity("mm", -500, 500)
    femur_offset: float = quantity("mm", -500, 500)
    femur_length: float = quantity("mm", 1, 500)
    tibia_length: float = quantity("mm", 1, 500)
    sphere_x: float = quantity("mm", -500, 500)
    sphere_y: float = quantity("mm", -500, 500)
    sphere_radius: float = quantity("mm", 0, 500)
    sphere_alpha: float = quantity("deg", -360, 360)
    sphere_beta: float = quantity("deg", -360, 360)


@dataclass(frozen=True)
class UpperLeg:
    """Denavit-Hartenberg lengths of an upper leg, and the sphere centre seen from its shell frame."""

    azimuth: float = quantity("deg", -60, 60)
    base_radius: float = quantity("mm", 1, 500)
    base_height: float = quantity("mm", -500, 500)
    shoulder_length: float = quantity("mm", 1, 500)
    sphere_x: float = quantity("mm", -500, 500)
    sphere_y: float = quantity("mm", -500, 500)
    sphere_radius: float = quantity("mm", 0, 500)
    sphere_delta: float = quantity("deg", -360, 360)
    sphere_epsilon: float = quantity("deg", -360, 360)


@dataclass(frozen=True)
class Gore:
    """One twelfth of the ball."""

    outer_radius: float = quantity("mm", 10, 1000)
    thickness: float = quantity("mm", 0.5, 50)
    half_width: float = quantity("deg", 1, 30)
    latitude_min: float = quantity("deg", 0, 45)
    latitude_max: float = quantity("deg", 45, 89)
    slot_width: float = quantity("mm", 0, 100)
    slot_latitude_min: float = quantity("deg", 0, 89)
    slot_latitude_max: float = quantity("deg", 0, 89)
    facet_max: float = quantity("deg", 0.5, 15)
    pieces_latitude: float = quantity("", 1, 10)
    pieces_azimuth: float = quantity("", 1, 10)


@dataclass(frozen=True)
class Foot:
    """The ball at the end of the shank."""

    radius: float = quantity("mm", 1, 50)
    back: float = quantity("mm", 0, 50)


@dataclass(frozen=True)
class Mass:
    """Mass of each kind of link."""

    chassis: float = quantity("kg", 0.001, 20)
    fan: float = quantity("kg", 0.001, 5)
    coxa: float = quantity("kg", 0.001, 5)
    femur: float = quantity("kg", 0.001, 5)
    tibia: float = quantity("kg", 0.001, 5)
    lower_gore: float = quantity("kg", 0.001, 5)
    shoulder: float = quantity("kg", 0.001, 5)
    upper_gore: float = quantity("kg", 0.001, 5)
    shell_bracket: float = quantity("kg", 0.001, 5)

    @property
    def lower_leg(self) -> float:
        """Mass of one lower leg with its gore, kg."""
        return self.fan + self.coxa + self.femur + self.tibia + self.lower_gore

    @property
    def upper_leg(self) -> float:
        """Mass of one upper leg with its gore, kg."""
        return self.shoulder + self.upper_gore

    def total(self, with_upper_legs: bool = True) -> float:
        """Return the mass of the robot, kg."""
        legs = self.lower_leg + (self.upper_leg if with_upper_legs else 0.0)
        return self.chassis + LEG_COUNT * legs


@dataclass(frozen=True)
class Servo:
    """A servo at 12 V; torque falls linearly from stall to zero at the no-load speed."""

    stall_torque: float = quantity("nm", 0.01, 50)
    no_load_speed: float = quantity("rpm", 1, 1000)

    @property
    def damping(self) -> float:
        """Slope of the torque-speed line, N·m·s/rad."""
        return self.stall_torque / self.no_load_speed


@dataclass(frozen=True)
class FanDrive:
    """The gear between the one fan motor and the six fan joints."""

    reduction: float = quantity("", 0.1, 20)
    joints: float = quantity("", 1, LEG_COUNT)


@dataclass(frozen=True)
class JointLimits:
    """Servo and range of a joint class."""

    servo: str
    lower: float = quantity("rad", -math.pi, math.pi)
    upper: float = quantity("rad", -math.pi, math.pi)


@dataclass(frozen=True)
class Shapes:
    """Sizes of the bodies of the links."""

    chassis_radius: float = quantity("mm", 1, 500)
    chassis_bottom: float = quantity("mm", -500, 500)
    chassis_top: float = quantity("mm", -500, 500)
    stop_radius: float = quantity("mm", 1, 500)
    stop_depth: float = quantity("mm", 0.1, 100)
    stop_width: float = quantity("mm", 0.1, 100)
    stop_bottom: float = quantity("mm", 0, 100)
    stop_top: float = quantity("mm", 0, 100)
    rim_mass_fraction: float = quantity("", 0, 1)
    fan_rise: float = quantity("mm", -100, 100)
    fan_radius: float = quantity("mm", 1, 50)
    fan_hub_radius: float = quantity("mm", 1, 50)
    servo_length: float = quantity("mm", 1, 200)
    servo_width: float = quantity("mm", 1, 200)
    servo_depth: float = quantity("mm", 1, 200)
    coxa_depth: float = quantity("mm", 1, 200)
    femur_width: float = quantity("mm", 1, 200)
    femur_depth: float = quantity("mm", 1, 200)
    femur_margin: float = quantity("mm", -50, 50)
    tibia_width: float = quantity("mm", 1, 200)
    tibia_depth: float = quantity("mm", 1, 200)
    tibia_margin: float = quantity("mm", -50, 50)
    tibia_block: float = quantity("mm", 1, 100)
    tibia_radius: float = quantity("mm", 1, 50)
    shoulder_width: float = quantity("mm", 1, 200)
    shoulder_depth: float = quantity("mm", 1, 200)
    shoulder_margin: float = quantity("mm", -50, 50)
    shell_bracket: float = quantity("mm", 1, 200)


@dataclass(frozen=True)
class Battery:
    """Mass and size of the battery, which is part of the chassis."""

    mass: float = quantity("kg", 0.001, 5)
    length: float = quantity("mm", 1, 500)
    width: float = quantity("mm", 1, 500)
    height: float = quantity("mm", 1, 500)


@dataclass(frozen=True)
class Contact:
    """What touches."""

    friction: float = quantity("", 0, 10)


@dataclass(frozen=True)
class Imu:
    """Place of the IMU in base_link and its rate."""

    x: float = quantity("mm", -500, 500)
    y: float = quantity("mm", -500, 500)
    z: float = quantity("mm", -500, 500)
    rate: float = quantity("hz", 1, 1000)


@dataclass(frozen=True)
class Camera:
    """Place of the camera in base_link, its picture and rate."""

    x: float = quantity("mm", -500, 500)
    y: float = quantity("mm", -500, 500)
    z: float = quantity("mm", -500, 500)
    pitch: float = quantity("deg", -90, 90)
    rate: float = quantity("hz", 1, 100)
    width: float = quantity("px", 16, 4096)
    height: float = quantity("px", 16, 4096)
    fov: float = quantity("deg", 5, 175)


@dataclass(frozen=True)
class Variables:
    """All variables of the robot, SI. Made by `load_variables`.

    Quantities of a fan joint are those of one of the six joints: the geared motor's, divided by six.
    """

    name: str
    lower: LowerLeg
    upper: UpperLeg
    gore: Gore
    foot: Foot
    mass: Mass
    servos: Mapping[str, Servo]
    servo_range: float
    servo_resolution: float
    compliance_slope: float
    servo_armature: float
    servo_mass: float
    fan_drive: FanDrive
    joints: Mapping[str, JointLimits]
    shapes: Shapes
    battery: Battery
    contact: Contact
    imu: Imu
    camera: Camera

    def _servo(self, joint_class: str) -> Servo:
        return self.servos[self.limits(joint_class).servo]

    def _gear(self, joint_class: str) -> float:
        return self.fan_drive.reduction if joint_class == "fan" else 1.0

    def _drive_fraction(self, joint_class: str) -> float:
        return 1.0 / self.fan_drive.joints if joint_class == "fan" else 1.0

    def limits(self, joint_class: str) -> JointLimits:
        """Return servo and range of a joint class.

        Raises
        ------
        DescriptionError
            If there is no such class.
        """
        if joint_class not in self.joints:
            raise DescriptionError(f"joint class {joint_class!r} does not exist; choose one of {JOINT_CLASSES}")
        return self.joints[joint_class]

    def effort(self, joint_class: str) -> float:
        """Return the greatest torque of a joint, N·m."""
        return self._servo(joint_class).stall_torque * self._gear(joint_class) * self._drive_fraction(joint_class)

    def velocity(self, joint_class: str) -> float:
        """Return the greatest speed of a joint (no load), rad/s."""
        return self._servo(joint_class).no_load_speed / self._gear(joint_class)

    def damping(self, joint_class: str) -> float:
        """Return the passive damping of a joint, N·m·s/rad: the slope of the servo's torque-speed line."""
        return self._servo(joint_class).damping * self._gear(joint_class) ** 2 * self._drive_fraction(joint_class)

    def armature(self, joint_class: str) -> float:
        """Return the rotor inertia seen at a joint, kg·m²."""
        return self.servo_armature * self._gear(joint_class) ** 2 * self._drive_fraction(joint_class)

    def servo_stiffness(self, joint_class: str) -> float:
        """Return the stiffness of a joint, N·m/rad: full torque over the compliance slope of the servo."""
        width = self.compliance_slope * self.servo_resolution
        return (
            self._servo(joint_class).stall_torque
            / width
            * self._gear(joint_class) ** 2
            * self._drive_fraction(joint_class)
        )

    def masses(self) -> Dict[str, float]:
        """Return the mass of each kind of link, kg; `upper_gore` is without the bracket, which is `shell`."""
        mass = self.mass
        return {
            "chassis": mass.chassis,
            "fan": mass.fan,
            "coxa": mass.coxa,
            "femur": mass.femur,
            "tibia": mass.tibia,
            "lower_gore": mass.lower_gore,
            "shoulder": mass.shoulder,
            "shell": mass.shell_bracket,
            "upper_gore": mass.upper_gore - mass.shell_bracket,
        }
