# SPDX-License-Identifier: MIT
"""PID gains per joint class, and the page of parameters that an operator tunes.

A controller's torque is ``p e + clamp(∫ i e dt) + d de/dt`` of the position error ``e``, inside the torque limit of the
joint. The overall stiffness multiplies P and I, which pull towards the target, and leaves D, which only brakes: at
stiffness 0 the robot is limp but damped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Dict, Iterable, Mapping, Tuple

from shellbot_control.errors import ConfigurationError

JOINT_CLASSES = ("fan", "coxa", "femur", "tibia", "shoulder", "shell")
GAIN_NAMES = ("p", "i", "d")
# Ranges of the page. P: five times the stiffness of an AX-18A at compliance slope 16; D: ten times the passive damping
# of an AX-12A; I: reaches the default P's torque in about a third of a second. Estimates of what is worth trying.
PAGE_RANGES: Mapping[str, Tuple[float, float]] = {"p": (0.0, 120.0), "i": (0.0, 60.0), "d": (0.0, 2.5)}
STIFFNESS_RANGE = (0.0, 1.5)
STIFFNESS = "stiffness"

CONTROLLER = "shellbot_legs_controller"


def joint_class(joint: str) -> str:
    """Return the class of a joint, the last word of its name.

    Raises
    ------
    ConfigurationError
        If it is none of ``JOINT_CLASSES``.
    """
    word = joint.rsplit("_", 1)[-1]
    if word not in JOINT_CLASSES:
        raise ConfigurationError(f"joint {joint!r} ends in none of {', '.join(JOINT_CLASSES)}; check controllers.yaml")
    return word


def page_name(class_name: str, gain: str) -> str:
    """Return the name of a gain on the page, such as ``femur_p``."""
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
            if (
                isinstance(value, bool)
                or not isinstance(value, (int, float))
                or not math.isfinite(value)
                or value < 0.0
            ):
                raise ConfigurationError(f"gain {field.name} is {value!r}; give a finite number that is not negative")

    def close_to(self, other: Gains) -> bool:
        """Return whether all gains agree to 1e-6."""
        return all(math.isclose(getattr(self, k), getattr(other, k), rel_tol=1e-6, abs_tol=1e-9) for k in GAIN_NAMES)


@dataclass(frozen=True)
class GainTable:
    """Gains of each joint class, and one factor for all.

    Parameters
    ----------
    classes : mapping of str to Gains
        Joint class to its gains at stiffness 1.
    stiffness : float
        0 to 1.5; multiplies P and I of every class.

    Raises
    ------
    ConfigurationError
        For an unknown class or a stiffness out of range.
    """

    classes: Mapping[str, Gains]
    stiffness: float = 1.0

    def __post_init__(self) -> None:
        """Copy and check."""
        for name in self.classes:
            if name not in JOINT_CLASSES:
                raise ConfigurationError(f"joint class {name!r} does not exist; choose from {', '.join(JOINT_CLASSES)}")
        low, high = STIFFNESS_RANGE
        if not low <= self.stiffness <= high:
            raise ConfigurationError(f"stiffness is {self.stiffness}; give a number from {low} to {high}")
        object.__setattr__(self, "classes", dict(self.classes))

    def joint_gains(self, joint: str) -> Gains:
        """Return the gains of a joint, stiffness included.

        Raises
        ------
        ConfigurationError
            If the joint's class is not in the table.
        """
        name = joint_class(joint)
        if name not in self.classes:
            raise ConfigurationError(f"no gains for class {name!r} of joint {joint!r}; add it to the gain table")
        gains = self.classes[name]
        return Gains(gains.p * self.stiffness, gains.i * self.stiffness, gains.d)

    def for_joints(self, joints: Iterable[str]) -> Dict[str, Gains]:
        """Return the gains of several joints, stiffness included."""
        return {joint: self.joint_gains(joint) for joint in joints}

    def to_page(self) -> Dict[str, float]:
        """Return the page: ``<class>_<p|i|d>`` and ``stiffness``."""
        page = {
            page_name(name, k): float(getattr(gains, k)) for name, gains in self.classes.items() for k in GAIN_NAMES
        }
        page[STIFFNESS] = self.stiffness
        return page

    @classmethod
    def from_page(cls, page: Mapping[str, Any]) -> GainTable:
        """Return the table of a complete page (other entries of it are left alone).

        Raises
        ------
        ConfigurationError
            If an entry is missing or not a usable gain.
        """
        missing = [page_name(c, k) for c in JOINT_CLASSES for k in GAIN_NAMES if page_name(c, k) not in page]
        if missing:
            raise ConfigurationError(f"the page of gains lacks {', '.join(missing)}; build the workspace again")
        table = {c: Gains(**{k: page[page_name(c, k)] for k in GAIN_NAMES}) for c in JOINT_CLASSES}
        return cls(table, page.get(STIFFNESS, 1.0))

    @classmethod
    def from_controllers(cls, parameters: Mapping[str, Any]) -> GainTable:
        """Return the gains that stand in the parameters of the legs' controller.

        Parameters
        ----------
        parameters : mapping
            Content of ``shellbot_legs_controller``: ``joints`` and ``<joint>/pid/{p, i, d}``.

        Returns
        -------
        GainTable
            The first joint of each class speaks for its class; classes without joints are absent.

        Raises
        ------
        ConfigurationError
            If joints or a P gain are missing, or joints of one class differ.
        """
        classes: Dict[str, Gains] = {}
        spokesman: Dict[str, str] = {}
        for joint in controller_joints(parameters):
            pid = (parameters.get(joint) or {}).get("pid") or {}
            if "p" not in pid:
                raise ConfigurationError(
                    f"{CONTROLLER}/{joint}/pid/p is missing; load shellbot_control's controllers yaml"
                )
            gains = Gains(pid["p"], pid.get("i", 0.0), pid.get("d", 0.0))
            name = joint_class(joint)
            if name not in classes:
                classes[name], spokesman[name] = gains, joint
            elif not classes[name].close_to(gains):
                raise ConfigurationError(
                    f"{joint} has {gains}, {spokesman[name]} has {classes[name]}; the page has one set per class: "
                    "make them equal in controllers yaml"
                )
        return cls(classes)


def controller_joints(parameters: Mapping[str, Any]) -> Tuple[str, ...]:
    """Return the joints of the legs' controller in their order.

    Parameters
    ----------
    parameters : mapping
        Content of ``shellbot_legs_controller``.

    Returns
    -------
    tuple of str
        The driven joints.

    Raises
    ------
    ConfigurationError
        If there are none.
    """
    joints = parameters.get("joints")
    if not isinstance(joints, (list, tuple)) or not joints or not all(isinstance(name, str) for name in joints):
        raise ConfigurationError(f"{CONTROLLER}/joints is {joints!r}; load shellbot_control/config/controllers_*.yaml")
    return tuple(joints)
