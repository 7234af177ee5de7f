# SPDX-License-Identifier: MIT
"""A robot as data: what the nodes must know of it beyond its URDF, read from one file, `profile.yaml`.

The URDF says masses, shapes, frames, and limit, effort, speed, damping and friction of each joint. The profile says the
rest: order and class of the joints, what couples them, limbs, contacts, named poses, how the base is held. Launch files
put it beside `robot_description`, as the parameter `robot_profile`; whoever needs it in one process loads the file.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, FrozenSet, Iterable, Mapping, Optional, Tuple, Type, Union

import yaml

from shellbot_common.errors import SettingsError
from shellbot_common.settings import Settings, choice, number, required
from shellbot_common.yaml_file import read_yaml, read_yaml_text

PARAMETER = "robot_profile"
"""Name of the ROS parameter that holds the text of a profile."""

Vector = Tuple[float, float, float]

_TOGETHER = 1e-3  # rad that joints of one motor may be apart in a pose: rounding
_POSE_EXTRAS = ("body_height_m", "foot_radius_m")


class ProfileError(SettingsError):
    """A robot profile cannot be used; the sentence names file and key."""


@dataclass(frozen=True)
class Base(Settings):
    """How the root link is held, and where it starts."""

    #: `free`: it moves and is carried by the ground; `fixed`: it is part of the world
    kind: str = choice(("free", "fixed"))
    spawn_pose: str = required()  #: Named pose of the joints at the start
    link: str = "base_link"  #: Root link of the URDF; frame of poses and twists of the robot
    #: (3,) World frame, m. A free base is set on the ground first, and this is added.
    position: Vector = number(-1000.0, 1000.0, "m", default=(0.0, 0.0, 0.0))
    #: (3,) Roll, pitch, yaw about the world's fixed axes
    rpy_deg: Vector = number(-360.0, 360.0, "deg", default=(0.0, 0.0, 0.0))


@dataclass(frozen=True)
class JointClass(Settings):
    """What joints of a class have in common and the URDF does not say."""

    stiffness: float = number(0.0, 1e6, "N m/rad")  #: Of the servo: N m/rad. P gain until other gains are given.
    armature: float = number(0.0, 1e3, "kg m^2", default=0.0)  #: Rotor inertia seen at the joint, kg m^2
    #: 1/s; above 0 a velocity-limited P servo: it turns at this times the error, at most at the URDF's velocity, by a
    #: velocity loop of stiffness / velocity_gain, N m s/rad
    velocity_gain: float = number(0.0, 1e4, "1/s", default=0.0)


@dataclass(frozen=True)
class GainLimits(Settings):
    """What is worth trying on the page of gains: the greatest p (N m/rad), i (N m/(rad s)) and d (N m s/rad)."""

    p: float = number(1e-6, 1e6)
    i: float = number(1e-6, 1e6)
    d: float = number(1e-6, 1e6)


@dataclass(frozen=True)
class GainPreset(Settings):
    """Gains to switch to together, by what they are at the start of the page."""

    text: str  #: What they are for, in a few words
    stiffness: float = number(0.0, 1.5, default=1.0)  #: Overall: multiplies P and I of every class
    #: Class to factor of its P; 1 where it is not named
    p: Mapping[str, float] = field(default_factory=dict, metadata={"range": (0.0, 100.0)})
    #: Class to its D, N m s/rad; as at the start where it is not named
    d: Mapping[str, float] = field(default_factory=dict, metadata={"range": (0.0, 1e6)})


@dataclass(frozen=True)
class Coupling(Settings):
    """Joints that one motor turns: follower = ratio * leader + offset (rad)."""

    leader: str
    followers: Tuple[str, ...]
    ratio: float = number(-100.0, 100.0, default=1.0)
    offset: float = number(-100.0, 100.0, "rad", default=0.0)

    def follow(self, q_leader: float) -> float:
        """Return the angle of each follower, rad, at an angle of the leader, rad."""
        return self.ratio * q_leader + self.offset


@dataclass(frozen=True)
class Limb(Settings):
    """A chain of joints from a link of the robot to its tip frames, the first of which is where it is commanded."""

    base: str  #: Link that it begins at
    joints: Tuple[str, ...]
    tips: Tuple[str, ...] = ()  #: Links


@dataclass(frozen=True)
class LoadCells(Settings):
    """Force sensors between a contact and its link, which carry all that presses on it along the z axis of the link."""

    frames: Tuple[str, ...]  #: Links without mass, fixed to that of the contact, at the place of each sensor
    limit: float = number(1e-6, 1e6, "N")  #: Greatest reading of one, N; none is negative
    resolution: float = number(0.0, 1e3, "N", default=0.0)  #: Step of the readings, N; 0: continuous

    def conflict(self) -> str:
        """Return that there is no sensor, if so."""
        return "" if self.frames else "frames is empty; give the link of each sensor, or no load_cells"


@dataclass(frozen=True)
class RangeSensor(Settings):
    """A sensor of the distance to the nearest thing that echoes in a cone about the x axis of its link."""

    kind: str = choice(("ultrasound", "infrared"))  #: `ultrasound` or `infrared`
    field_of_view_deg: float = number(0.1, 179.0, "deg")  #: Whole angle of the cone
    limits: Tuple[float, float] = number(0.0, 1000.0, "m", ordered=True)  #: Least and greatest distance, m
    rate: float = number(0.01, 100.0, "Hz", default=10.0)  #: Readings a second of simulated time
    resolution: float = number(0.0, 10.0, "m", default=0.0)  #: Step of the readings, m; 0: continuous
    #: A surface echoes if its normal is within this angle of the ray. Sound leaves a smooth one like light a mirror: a
    #: floor at the edge of the cone is not heard. 90: every surface scatters.
    echo_angle_deg: float = number(1.0, 90.0, "deg", default=90.0)


@dataclass(frozen=True)
class Bumper(Settings):
    """A switch that is pressed by what pushes against the x axis of its link, which is fixed to one with a shape."""

    radius: float = number(0.0001, 100.0, "m")  #: What touches closer to the link's origin than this presses it, m
    force: float = number(0.0, 1e6, "N", default=1.0)  #: From this on it is pressed, N


@dataclass(frozen=True)
class CameraSensor(Settings):
    """A camera that looks along the x axis of its link, z up."""

    optical_frame: str  #: Link at the same place, z ahead and x to the right (REP 103); frame of the pictures
    field_of_view_deg: float = number(1.0, 170.0, "deg")  #: From left to right
    width: int = number(16, 2048, "pixels", default=640)  #: Pixels
    height: int = number(16, 2048, "pixels", default=480)  #: Pixels
    rate: float = number(0.1, 100.0, "Hz", default=10.0)  #: Pictures a second of simulated time


@dataclass(frozen=True)
class Contact(Settings):
    """How the robot is meant to touch the ground with a link, which may be a frame without mass."""

    kind: str = choice(("point", "plate", "sphere", "body"))  #: `point`, `plate`, `sphere` or `body`
    #: What touches closer to the link's origin than this belongs to the contact, m
    radius: float = number(0.0001, 100.0, "m")
    load_cells: Optional[LoadCells] = None  #: Force sensors in it, if it has any


@dataclass(frozen=True)
class Variant(Settings):
    """A build of the robot: the limbs that it lacks, with their joints and contacts."""

    without: Tuple[str, ...] = ()


@dataclass(frozen=True)
class RobotProfile(Settings, error=ProfileError):
    """Everything about a robot that its URDF does not say."""

    name: str  #: Of the robot
    base: Base  #: Free or fixed, and where it starts
    joints: Mapping[str, str]  #: Driven joint to its class; their order is that of every joint array
    classes: Mapping[str, JointClass]  #: Class to its properties
    controller: str  #: Name on the wire of the position controller of all driven joints
    gain_limits: GainLimits  #: Range of the page of gains
    #: Name to pose: `<joint>_deg` or `<class>_deg`, and `body_height_m`, `foot_radius_m` where the robot has them
    poses: Mapping[str, Mapping[str, float]]
    gain_presets: Mapping[str, GainPreset] = field(default_factory=dict)  #: Of the page of gains, by name
    #: Class to least and greatest angle of its joints, deg, from which the robot may go to the pose `sit`; beyond it
    #: stays as it is, such as a closed ball
    sits_from_deg: Mapping[str, Tuple[float, float]] = field(default_factory=dict)
    couplings: Tuple[Coupling, ...] = ()  #: Joints without a motor of their own
    limbs: Mapping[str, Limb] = field(default_factory=dict)  #: Name to limb; a joint belongs to one limb at most
    #: Link to contact; their order is that of every array of contacts
    contacts: Mapping[str, Contact] = field(default_factory=dict)
    imu: str = ""  #: Link of the inertial unit; empty: at the root link
    range_sensors: Mapping[str, RangeSensor] = field(default_factory=dict)  #: Link to its sensor
    bumpers: Mapping[str, Bumper] = field(default_factory=dict)  #: Link to its switch
    cameras: Mapping[str, CameraSensor] = field(default_factory=dict)  #: Link to its camera
    #: Patterns of links that do not collide, see `excluded_pairs`
    collision_exclusions: Tuple[Tuple[str, str], ...] = ()
    #: Builds of the robot; empty in the profile of one of them
    variants: Mapping[str, Variant] = field(default_factory=dict)
    variant: str = ""  #: Which of them this profile is of; empty: the complete robot

    @classmethod
    def load(cls: Type[RobotProfile], path: Union[str, Path], variant: str = "") -> RobotProfile:
        """Return the profile in a file, of one variant if given.

        A key whose value is the name of a YAML file stands for the same key of that file, beside this one.

        Raises
        ------
        ProfileError
            If a file cannot be read, a key is wrong or the variant does not exist; names file and key.
        """
        values = read_yaml(path, ProfileError)
        for key, value in values.items():
            if isinstance(value, str) and value.endswith(".yaml"):
                file = Path(path).parent / value
                part = read_yaml(file, ProfileError)
                if key not in part:
                    raise ProfileError(f"{file}: {key} is missing; {Path(path).name} takes it from there")
                values[key] = part[key]
        profile = cls.from_mapping(values, f"{path}: ")
        return profile.of_variant(variant) if variant else profile

    @classmethod
    def from_text(cls, text: str, where: str = PARAMETER) -> RobotProfile:
        """Return the profile in a text, as `to_text` gives it.

        Parameters
        ----------
        text : str
            YAML.
        where : str
            Begins the sentences of errors.

        Raises
        ------
        ProfileError
            If the text is empty or no profile.
        """
        values = read_yaml_text(text, where, ProfileError)
        if not values:
            raise ProfileError(f"{where} is {text[:40]!r}, no profile of a robot; load the description's launch file")
        return cls.from_mapping(values, f"{where}: ")

    def to_text(self) -> str:
        """Return the profile as YAML, all files included."""
        return str(yaml.safe_dump(_plain(self.to_mapping()), sort_keys=False, default_flow_style=None, width=1000))

    @cached_property
    def joint_names(self) -> Tuple[str, ...]:
        """Driven joints, in the order of every joint array."""
        return tuple(self.joints)

    @property
    def motor_joints(self) -> Tuple[str, ...]:
        """Driven joints that have a motor of their own, in the same order."""
        followers = {name for coupling in self.couplings for name in coupling.followers}
        return tuple(name for name in self.joints if name not in followers)

    def joint_class(self, joint: str) -> str:
        """Return the class of a joint.

        Raises
        ------
        ProfileError
            If the robot has no such joint.
        """
        if joint not in self.joints:
            raise ProfileError(f"joint {joint!r} does not exist; {self.name} has {', '.join(self.joints)}")
        return self.joints[joint]

    def pose(self, name: str) -> Dict[str, float]:
        """Return the angle of each joint in a named pose, rad.

        Raises
        ------
        ProfileError
            If there is no pose of that name.
        """
        if name not in self.poses:
            raise ProfileError(f"pose {name!r} does not exist; choose one of {', '.join(self.poses)}")
        values = self.poses[name]
        return {
            joint: math.radians(values[f"{joint}_deg"] if f"{joint}_deg" in values else values[f"{kind}_deg"])
            for joint, kind in self.joints.items()
        }

    def of_variant(self, name: str) -> RobotProfile:
        """Return the profile of one build of the robot.

        Raises
        ------
        ProfileError
            If there is none of that name.
        """
        if name not in self.variants:
            known = ", ".join(self.variants) or "none"
            raise ProfileError(f"variant {name!r} does not exist; choose one of {known}")
        absent = {limb: self.limbs[limb] for limb in self.variants[name].without}
        gone = {joint for limb in absent.values() for joint in limb.joints}
        tips = {tip for limb in absent.values() for tip in limb.tips}
        couplings = (c.replace(followers=[j for j in c.followers if j not in gone]) for c in self.couplings)
        return self.replace(
            variant=name,
            variants={},
            joints={joint: kind for joint, kind in self.joints.items() if joint not in gone},
            limbs={limb: value for limb, value in self.limbs.items() if limb not in absent},
            contacts={link: value for link, value in self.contacts.items() if link not in tips},
            couplings=[c for c in couplings if c.leader not in gone and c.followers],
            poses={
                pose: {key: value for key, value in values.items() if key[: -len("_deg")] not in gone}
                for pose, values in self.poses.items()
            },
        )

    def check_links(self, links: Iterable[str]) -> None:
        """Check that the robot has every link that the profile names.

        Parameters
        ----------
        links : iterable of str
            All links of the URDF.

        Raises
        ------
        ProfileError
            If it lacks one; the sentence has the key, the name and the links that there are.
        """
        there = tuple(links)
        for key, link in _named_links(self):
            if link not in there:
                raise ProfileError(f"{key} names {link!r}; the robot description has the links {', '.join(there)}")

    def excluded_pairs(self, links: Iterable[str]) -> FrozenSet[FrozenSet[str]]:
        """Return the pairs of links that do not collide with each other.

        Parameters
        ----------
        links : iterable of str
            Links that have shapes.

        Returns
        -------
        frozenset of frozenset of str
            In a pattern `*` stands for any text, `{k}` and other letters in braces for a word without underscores: the
            same letter in both patterns of a pair is the same word.

        Raises
        ------
        ProfileError
            If a row of the complete robot fits no two links.
        """
        links = tuple(links)
        pairs = set()
        for row in self.collision_exclusions:
            first, second = ([(link, m.groupdict()) for link, m in _matches(pattern, links)] for pattern in row)
            found = {
                frozenset((one, other))
                for one, words in first
                for other, others in second
                if one != other and all(others.get(letter, word) == word for letter, word in words.items())
            }
            if not found and not self.variant:
                raise ProfileError(f"collision_exclusions: {list(row)} fits no two links; links are {', '.join(links)}")
            pairs |= found
        return frozenset(pairs)

    def conflict(self) -> str:
        """Return how parts of the profile contradict each other; empty if they do not."""
        checks = (_joints, _presets, _sitting, _couplings, _limbs, _poses)
        return next(filter(None, (check(self) for check in checks)), "")


def _named_links(profile: RobotProfile) -> Iterable[Tuple[str, str]]:
    """Yield key and name of each link in a profile."""
    yield "base.link", profile.base.link
    if profile.imu:
        yield "imu", profile.imu
    for name, limb in profile.limbs.items():
        yield f"limbs.{name}.base", limb.base
        yield from ((f"limbs.{name}.tips", tip) for tip in limb.tips)
    for link, contact in profile.contacts.items():
        yield "contacts", link
        if contact.load_cells is not None:
            yield from ((f"contacts.{link}.load_cells.frames", frame) for frame in contact.load_cells.frames)
    for key, sensors in (("range_sensors", profile.range_sensors), ("bumpers", profile.bumpers)):
        yield from ((key, link) for link in sensors)
    for link, camera in profile.cameras.items():
        yield from (("cameras", link), (f"cameras.{link}.optical_frame", camera.optical_frame))


def _matches(pattern: str, links: Tuple[str, ...]) -> Iterable[Tuple[str, Any]]:
    expression, seen = "", set()
    for part in re.split(r"(\*|\{[a-z]\})", pattern):
        if part == "*":
            expression += ".*"
        elif re.fullmatch(r"\{[a-z]\}", part):
            expression += f"(?P={part[1]})" if part in seen else f"(?P<{part[1]}>[^_]+)"
            seen.add(part)
        else:
            expression += re.escape(part)
    matches = ((link, re.fullmatch(expression, link)) for link in links)
    return [(link, match) for link, match in matches if match]


def _plain(value: Any) -> Any:
    """Return nested mappings and lists; YAML has no tuples."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _joints(profile: RobotProfile) -> str:
    if not profile.joints:
        return "joints is empty; give each driven joint and its class"
    for joint, kind in profile.joints.items():
        if kind not in profile.classes:
            return f"joints.{joint} is {kind!r}; choose from classes: {', '.join(profile.classes)}"
    return ""


def _sitting(profile: RobotProfile) -> str:
    for kind, (low, high) in profile.sits_from_deg.items():
        if kind not in profile.classes:
            return f"sits_from_deg names {kind!r}; choose from classes: {', '.join(profile.classes)}"
        if not low < high:
            return f"sits_from_deg.{kind} is {low:g} to {high:g}; give the least angle, then the greatest"
    return ""


def _presets(profile: RobotProfile) -> str:
    for name, preset in profile.gain_presets.items():
        unknown = [kind for kind in (*preset.p, *preset.d) if kind not in profile.classes]
        if unknown:
            return f"gain_presets.{name} names {unknown[0]!r}; choose from classes: {', '.join(profile.classes)}"
    return ""


def _couplings(profile: RobotProfile) -> str:
    followers = [name for coupling in profile.couplings for name in coupling.followers]
    for index, coupling in enumerate(profile.couplings):
        for joint in (coupling.leader, *coupling.followers):
            if joint not in profile.joints:
                return f"couplings[{index}] names {joint!r}; it is none of joints"
        if coupling.leader in followers:
            return f"couplings[{index}].leader {coupling.leader} follows another joint; name that one as leader"
    repeated = sorted({name for name in followers if followers.count(name) > 1})
    return f"couplings: {', '.join(repeated)} follows two joints; leave one" if repeated else ""


def _limbs(profile: RobotProfile) -> str:
    owner: Dict[str, str] = {}
    for name, limb in profile.limbs.items():
        for joint in limb.joints:
            if joint not in profile.joints:
                return f"limbs.{name}.joints names {joint!r}; it is none of joints"
            if owner.setdefault(joint, name) != name:
                return f"limbs.{name}.joints names {joint}, which belongs to {owner[joint]}; a joint has one limb"
    for variant, value in profile.variants.items():
        for name in value.without:
            if name not in profile.limbs:
                return f"variants.{variant}.without names {name!r}; choose from limbs: {', '.join(profile.limbs)}"
    return ""


def _poses(profile: RobotProfile) -> str:
    known = {f"{name}_deg" for name in (*profile.joints, *profile.classes)} | set(_POSE_EXTRAS)
    for name, values in profile.poses.items():
        for key in values:
            if key not in known:
                return f"poses.{name}.{key} is of no joint and no class; give <joint>_deg or <class>_deg"
        for joint, kind in profile.joints.items():
            if f"{joint}_deg" not in values and f"{kind}_deg" not in values:
                return f"poses.{name} lacks {joint}; give {joint}_deg or {kind}_deg"
        pose = profile.pose(name)
        for coupling in profile.couplings:
            expected = coupling.follow(pose[coupling.leader])
            for follower in coupling.followers:
                if abs(pose[follower] - expected) > _TOGETHER:
                    return (
                        f"poses.{name} has {follower} at {math.degrees(pose[follower]):.2f} deg; the motor of "
                        f"{coupling.leader} turns it to {math.degrees(expected):.2f}: give it this angle"
                    )
    if profile.base.spawn_pose not in profile.poses:
        known_poses = ", ".join(profile.poses) or "none"
        return f"base.spawn_pose is {profile.base.spawn_pose!r}; choose from poses: {known_poses}"
    return ""
