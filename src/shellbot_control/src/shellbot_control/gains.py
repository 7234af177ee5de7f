# SPDX-License-Identifier: MIT
"""PID gains per joint class, and the page of parameters that an operator tunes.

A controller's torque is ``p e + clamp(∫ i e dt) + d de/dt`` of the position error ``e``, inside the torque limit of the
joint. The overall stiffness multiplies P and I, which pull towards the target, and leaves D, which only brakes: at
stiffness 0 the robot is limp but damped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Dict, Iterable, Mapping

from shellbot_common import RobotProfile
from shellbot_control.errors import ConfigurationError

GAIN_NAMES = ("p", "i", "d")
STIFFNESS_RANGE = (0.0, 1.5)
STIFFNESS = "stiffness"


def page_name(class_name: str, gain: str) -> str:
    """Return the name of a gain on the page, such as ``wheel_p``."""
    return f"{class_name}_{gain}"


@dataclass(frozen=True)
class Gains:
    """Gains of one joint.

    Raises
    ------
    ConfigurationError
        If a gain is negative or not finite.
    """

    p: float  #: N·m/rad
    i: float = 0.0  #: N·m/(rad·s)
    d: float = 0.0  #: N·m·s/rad

    def __post_init__(self) -> None:
        """Check the signs."""
        for field in fields(self):
            value = getattr(self, field.name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (is_number and math.isfinite(value) and value >= 0.0):
                raise ConfigurationError(f"gain {field.name} is {value!r}; give a finite number that is not negative")

    def close_to(self, other: Gains) -> bool:
        """Return whether all gains agree to 1e-6."""
        return all(math.isclose(getattr(self, k), getattr(other, k), rel_tol=1e-6, abs_tol=1e-9) for k in GAIN_NAMES)


@dataclass(frozen=True)
class GainTable:
    """Gains of each joint class, and one factor for all.

    Raises
    ------
    ConfigurationError
        For a stiffness out of range.
    """

    classes: Mapping[str, Gains]  #: Joint class to its gains at stiffness 1
    stiffness: float = 1.0  #: 0 to 1.5; multiplies P and I of every class

    def __post_init__(self) -> None:
        """Copy and check."""
        low, high = STIFFNESS_RANGE
        if not low <= self.stiffness <= high:
            raise ConfigurationError(f"stiffness is {self.stiffness}; give a number from {low} to {high}")
        object.__setattr__(self, "classes", dict(self.classes))

    def class_gains(self, name: str) -> Gains:
        """Return the gains of a joint class, stiffness included.

        Raises
        ------
        ConfigurationError
            If the class is not in the table.
        """
        if name not in self.classes:
            raise ConfigurationError(f"no gains for joint class {name!r}; there are {', '.join(self.classes)}")
        gains = self.classes[name]
        return Gains(gains.p * self.stiffness, gains.i * self.stiffness, gains.d)

    def for_joints(self, joints: Mapping[str, str]) -> Dict[str, Gains]:
        """Return the gains of several joints, given with their classes, stiffness included."""
        return {joint: self.class_gains(name) for joint, name in joints.items()}

    def to_page(self) -> Dict[str, float]:
        """Return the page: ``<class>_<p|i|d>`` and ``stiffness``."""
        page = {
            page_name(name, k): float(getattr(gains, k)) for name, gains in self.classes.items() for k in GAIN_NAMES
        }
        page[STIFFNESS] = self.stiffness
        return page

    @classmethod
    def from_page(cls, page: Mapping[str, Any], classes: Iterable[str]) -> GainTable:
        """Return the table of some joint classes on a page (other entries of it are left alone).

        Raises
        ------
        ConfigurationError
            If an entry is missing or not a usable gain.
        """
        classes = tuple(classes)
        missing = [page_name(c, k) for c in classes for k in GAIN_NAMES if page_name(c, k) not in page]
        if missing:
            raise ConfigurationError(
                f"the page of gains lacks {', '.join(missing)}; start all nodes with the same robot and variant"
            )
        table = {c: Gains(**{k: page[page_name(c, k)] for k in GAIN_NAMES}) for c in classes}
        return cls(table, page.get(STIFFNESS, 1.0))

    @classmethod
    def from_profile(cls, profile: RobotProfile) -> GainTable:
        """Return the servos' own stiffness of every class, to two decimals, as the controllers' files have it."""
        return cls({name: Gains(round(value.stiffness, 2)) for name, value in profile.classes.items()})

    @classmethod
    def from_controllers(cls, parameters: Mapping[str, Any], profile: RobotProfile) -> GainTable:
        """Return the gains that stand in the parameters of the controller.

        Parameters
        ----------
        parameters : mapping
            Those below the controller's name: ``joints`` and ``<joint>/pid/{p, i, d}``.
        profile : RobotProfile
            Of the robot.

        Returns
        -------
        GainTable
            The first joint of each class gives the gains of its class; classes without joints are absent.

        Raises
        ------
        ConfigurationError
            If joints or a P gain are missing, or joints of one class differ.
        """
        check_controller_joints(parameters, profile)
        classes: Dict[str, Gains] = {}
        first: Dict[str, str] = {}
        for joint, name in profile.joints.items():
            pid = (parameters.get(joint) or {}).get("pid") or {}
            if "p" not in pid:
                raise ConfigurationError(
                    f"{profile.controller}/{joint}/pid/p is missing; load the controllers yaml of {profile.name}"
                )
            gains = Gains(pid["p"], pid.get("i", 0.0), pid.get("d", 0.0))
            if name not in classes:
                classes[name], first[name] = gains, joint
            elif not classes[name].close_to(gains):
                raise ConfigurationError(
                    f"{joint} has {gains}, {first[name]} has {classes[name]}; the page has one set per class: "
                    "make them equal in controllers yaml"
                )
        return cls(classes)


def controller_stiffness(parameters: Mapping[str, Any], profile: RobotProfile) -> Dict[str, float]:
    """Return the P gain of each joint, N m/rad, in the parameters of a controller; 0 where there is none.

    Parameters
    ----------
    parameters : mapping
        As in `GainTable.from_controllers`; joints of one class may differ.
    profile : RobotProfile
        Of the robot.

    Raises
    ------
    ConfigurationError
        If a gain is not usable.
    """
    return {joint: Gains(((parameters.get(joint) or {}).get("pid") or {}).get("p", 0.0)).p for joint in profile.joints}


def check_controller_joints(parameters: Mapping[str, Any], profile: RobotProfile) -> None:
    """Check that a controller commands the joints of the profile in their order.

    Parameters
    ----------
    parameters : mapping
        Those below the controller's name.
    profile : RobotProfile
        Of the robot.

    Raises
    ------
    ConfigurationError
        If it does not.
    """
    joints = parameters.get("joints")
    if not isinstance(joints, (list, tuple)) or not joints:
        raise ConfigurationError(
            f"{profile.controller}/joints is {joints!r}; load the controllers yaml of {profile.name}"
        )
    if tuple(joints) != profile.joint_names:
        raise ConfigurationError(
            f"{profile.controller}/joints ({len(joints)} joints) is not the order of robot_profile "
            f"({len(profile.joints)} joints): load robot_profile and controllers yaml of the same variant"
        )
