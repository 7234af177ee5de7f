# SPDX-License-Identifier: MIT
"""Bags into arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import numpy as np
import rosbag

from robot_evaluation.bags.data import (
    CHAIN,
    COMMAND,
    CONTACT_TOPICS,
    JOINT_TOPICS,
    ODOMETRY_TOPICS,
    TYPES,
    WRENCHES,
    BagData,
    ContactTrack,
    JointTrack,
    Stamps,
    TwistTrack,
)
from robot_evaluation.errors import EvaluationError
from robot_evaluation.planar import PlanarPath
from shellbot_common import GAP, ProfileError, RobotProfile, SettingsError, labelled_stamp
from shellbot_common.robot_profile import PARAMETER
from shellbot_common.rotations import yaw_from_quaternion

DESCRIPTION = "robot_description"
TOUCHING = 1.0  # N of force on a sole that touches
Messages = List[Tuple[float, Any]]  # s received, message


class Bag:
    """A bag that is open for reading.

    Parameters
    ----------
    file : pathlib.Path
        Its file.

    Raises
    ------
    EvaluationError
        If it cannot be read, or holds nothing.
    """

    def __init__(self, file: Path) -> None:
        if file.suffix == ".active" or (not file.exists() and file.with_name(file.name + ".active").exists()):
            active = file if file.suffix == ".active" else file.with_name(file.name + ".active")
            raise EvaluationError(
                f"{active} is still being recorded, or its recorder was killed; wait for its end, or rosbag reindex "
                f"{active} and take off the ending .active"
            )
        if file.is_dir():
            raise EvaluationError(f"{file} is a folder; give the file of a bag (replay.launch: bag:=FILE.bag)")
        try:
            self._bag = rosbag.Bag(str(file))
        except OSError as error:
            raise EvaluationError(f"{file} cannot be read: {error.strerror or error}; name an existing bag") from None
        except rosbag.ROSBagUnindexedException:
            raise EvaluationError(
                f"{file} has no index: its recorder was killed; rosbag reindex {file}, then try again"
            ) from None
        except Exception as error:  # a damaged file raises whatever its bytes lead to
            raise EvaluationError(
                f"{file} is no bag, or is damaged ({error}); record one with roslaunch shellbot_bringup record.launch"
            ) from None
        self.file = file
        try:
            topics = self._bag.get_type_and_topic_info()[1]
            self.messages = {name: int(info.message_count) for name, info in topics.items()}
            self.types = {name: str(info.msg_type) for name, info in topics.items()}
            if sum(self.messages.values()):
                self.begin, self.end = self._bag.get_start_time(), self._bag.get_end_time()
        except Exception as error:
            raise self._damaged(error) from None
        if not sum(self.messages.values()):
            raise EvaluationError(f"{file} is empty: nothing was published while it was recorded; is the robot on?")

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *_error: object) -> None:
        self._bag.close()

    def namespace(self, given: Optional[str] = None) -> str:
        """Return the namespace of the robot, without a slash at its end.

        Raises
        ------
        EvaluationError
            If there are several robots, or none of that namespace.
        """
        found = sorted({t[: -len(f"/{name}")] for name in JOINT_TOPICS for t in self.messages if _is(t, name)})
        if given is not None:
            namespace = "/" + given.strip("/") if given.strip("/") else ""
            if not any(topic.startswith(f"{namespace}/") for topic in self.messages):
                raise EvaluationError(f"{self.file} has no topic below {given}; it has {', '.join(found) or 'none'}")
            return namespace
        if len(found) > 1:
            raise EvaluationError(f"{self.file} has several robots; choose one with --ns: {', '.join(found)}")
        return found[0] if found else ""

    def text(self, topic: str) -> str:
        """Return the newest text of a topic; empty if there is none."""
        messages = self.read(topic)
        return str(messages[-1][1].data) if messages else ""

    def read(self, topic: str) -> Messages:
        """Return the messages of a topic.

        Raises
        ------
        EvaluationError
            If the file is damaged.
        """
        if topic not in self.messages:
            return []
        try:
            return [(t.to_sec(), message) for _, message, t in self._bag.read_messages(topics=[topic])]
        except Exception as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> EvaluationError:
        return EvaluationError(f"{self.file} is damaged ({error}); try rosbag reindex or rosbag fix on a copy")


def profile_of(bag: Bag, namespace: str) -> Optional[RobotProfile]:
    """Return the profile that was recorded with a run, None if there is none.

    Raises
    ------
    EvaluationError
        If it is wrong.
    """
    text = bag.text(f"{namespace}/{PARAMETER}")
    try:
        return RobotProfile.from_text(text, f"{PARAMETER} in {bag.file}") if text else None
    except ProfileError as error:
        raise EvaluationError(str(error)) from None


def read_bag(
    file: Path,
    namespace: Optional[str] = None,
    progress: Optional[Callable[[int], Callable[[str], None]]] = None,
) -> BagData:
    """Read what plots are made of.

    Parameters
    ----------
    file : pathlib.Path
        Of the bag.
    namespace : str, optional
        Of the robot; found if there is one robot.
    progress : callable
        Takes the number of topics and returns what is called with the name of each that is read.

    Raises
    ------
    EvaluationError
        If the bag cannot be read, has a stamp that is none or a topic of another type, or the simulation was reset
        while it was recorded.
    """
    with Bag(file) as bag:
        ns = bag.namespace(namespace)
        profile = profile_of(bag, ns)
        controller = f"{ns}/{profile.controller}{COMMAND}" if profile else _command(bag)
        wrenches = sorted(topic for topic in bag.messages if topic.startswith(f"{ns}/{WRENCHES}"))
        names = dict.fromkeys((*CHAIN, *JOINT_TOPICS, *ODOMETRY_TOPICS, *CONTACT_TOPICS, "cmd_vel"))
        topics = {name: controller if name == COMMAND else f"{ns}/{name}" for name in names}
        topics = {name: topic for name, topic in topics.items() if topic in bag.messages}
        for name, topic in topics.items():
            if bag.types[topic] != TYPES.get(name, bag.types[topic]):
                text = f"{topic} is of {bag.types[topic]}, not of {TYPES[name]}; is it the bag of such a robot?"
                raise EvaluationError(f"{file}: {text}")
        step = progress(len(topics) + len(wrenches)) if progress else lambda _topic: None
        found: Dict[str, Any] = {"stamps": {}, "joints": {}, "poses": {}, "contacts": {}}
        for name, topic in topics.items():
            messages = bag.read(topic)
            if name in JOINT_TOPICS:
                check_order(file, topic, messages)
                found["joints"][name] = joint_track(messages)
            if name in ODOMETRY_TOPICS:
                found["poses"][name] = pose_track(messages)
            if name in CONTACT_TOPICS:
                found["contacts"][name] = contact_track(messages)
            if name == "cmd_vel":
                found["cmd_vel"] = twist_track(messages)
            if name in CHAIN:
                try:
                    found["stamps"][topic[len(ns) + 1 :]] = stamps_of(messages)
                except SettingsError as error:
                    raise EvaluationError(f"{file}: {error}") from None
            step(name)
        soles = {topic.rsplit("/", 1)[-1]: bag.read(topic) for topic in wrenches}
        for topic in wrenches:
            step(topic)
        if soles:
            found["contacts"]["contact_wrenches"] = wrench_track(soles)
        return BagData(str(file), bag.begin, bag.end, bag.messages, profile, **found)


def _is(topic: str, name: str) -> bool:
    return topic.endswith(f"/{name}") and not topic.endswith(f"ground_truth/{name}")


def _command(bag: Bag) -> str:
    kinds = (t for t, kind in bag.types.items() if t.endswith(COMMAND) and kind == "std_msgs/Float64MultiArray")
    return next(kinds, "")


def check_order(file: Path, topic: str, messages: Messages) -> None:
    """Raise EvaluationError if the simulation was reset while a topic was recorded."""
    stamps = np.array([message.header.stamp.to_sec() for _, message in messages])
    back = np.diff(stamps).min(initial=0.0)
    numbers = np.array([message.header.seq for _, message in messages], dtype=float)
    if back < -GAP or (np.diff(numbers) < 0).sum() > 3:  # a publisher that restarts begins at 0 again, once
        raise EvaluationError(
            f"{file}: the time of {topic} goes back, because the simulation was reset while it was recorded, and the "
            "runs lie over each other; record each in a bag of its own"
        )


def _stamp(received: float, message: Any) -> float:
    if hasattr(message, "header"):
        return float(message.header.stamp.to_sec())
    label = message.layout.dim[0].label if message.layout.dim else ""
    stamp_ns = labelled_stamp(label)
    return received if stamp_ns is None else 1e-9 * stamp_ns


def stamps_of(messages: Messages) -> Stamps:
    """Return when messages were received and made; a controller's command has its stamp in its label."""
    return Stamps(np.array([t for t, _ in messages]), np.array([_stamp(t, message) for t, message in messages]))


def joint_track(messages: Messages) -> JointTrack:
    """Return the positions of JointState messages, joints in the order of the first.

    Messages of equal stamps, such as those of two publishers of different joints, make one row; of two numbers for one
    joint the last counts. What is no finite number counts as not there.
    """
    names = tuple(dict.fromkeys(name for _, message in messages for name in message.name))
    index = {name: i for i, name in enumerate(names)}
    rows: Dict[float, np.ndarray] = {}
    bad = 0
    for t, message in messages:
        position = np.full(len(message.name), np.nan)
        given = message.position[: len(position)]
        position[: len(given)] = given
        good = np.isfinite(position)
        bad += not good.all()
        row = rows.setdefault(_stamp(t, message), np.full(len(names), np.nan))
        row[np.array([index[name] for name in message.name], dtype=int)[good]] = position[good]
    order = sorted(rows)
    return JointTrack(np.array(order), names, np.array([rows[t] for t in order]).reshape(len(order), len(names)), bad)


def pose_track(messages: Messages) -> PlanarPath:
    """Return the poses of Odometry messages."""
    poses = [(message.pose.pose.position, message.pose.pose.orientation) for _, message in messages]
    quaternion = np.array([(q.x, q.y, q.z, q.w) for _, q in poses])
    t = np.array([_stamp(received, message) for received, message in messages])
    return PlanarPath(t, np.array([(p.x, p.y) for p, _ in poses]), np.unwrap(yaw_from_quaternion(quaternion)))


def twist_track(messages: Messages) -> TwistTrack:
    """Return the commands of Twist messages, which have no stamp."""
    rows = [(message.linear.x, message.linear.y, message.angular.z) for _, message in messages]
    return TwistTrack(np.array([t for t, _ in messages]), np.array(rows))


def contact_track(messages: Messages) -> ContactTrack:
    """Return the contacts of Contacts messages; one that a message lacks does not touch."""
    named = [(_stamp(t, m), {contact.name: contact.in_contact for contact in m.contacts}) for t, m in messages]
    names = tuple(dict.fromkeys(name for _, contacts in named for name in contacts))
    touching = [[bool(contacts.get(name, False)) for name in names] for _, contacts in named]
    return ContactTrack(np.array([t for t, _ in named]), names, np.array(touching).reshape(len(named), len(names)))


def wrench_track(soles: Dict[str, Messages]) -> ContactTrack:
    """Return which soles touch, by the force on each, at the stamps of the first."""
    tracks = [_force(messages) for messages in soles.values()]
    t = tracks[0][0]
    touching = [np.interp(t, times, force) > TOUCHING for times, force in tracks]
    return ContactTrack(t, tuple(soles), np.stack(touching, axis=1))


def _force(messages: Iterable[Tuple[float, Any]]) -> Tuple[np.ndarray, np.ndarray]:
    rows = [(_stamp(t, m), m.wrench.force.x, m.wrench.force.y, m.wrench.force.z) for t, m in messages]
    values = np.array(rows)
    return values[:, 0], np.linalg.norm(values[:, 1:], axis=1)
