# SPDX-License-Identifier: MIT
"""Feet on the ground from the contacts of Gazebo's sensors, with plain data in place of its messages."""

from types import SimpleNamespace

import numpy as np
import pytest

from robot_mechanics.models.urdf import load_urdf
from shellbot_common import TICK
from shellbot_common.rotations import quaternion_from_rpy, rotation_from_quaternion
from shellbot_description import VARIANTS, expand, named_pose, robot_profile
from shellbot_gazebo_connector.foot_contacts import DELAY, FootContacts, Touch, sensed_contacts

STEP = 0.001
PROFILE = robot_profile("walker")
URDF = expand("walker", "gazebo")
FEET = tuple(PROFILE.contacts)
ANGLES = named_pose("spawn", "walker")
TREE = load_urdf(URDF)
P_BASE_FEET = np.array([TREE.frame(foot, [ANGLES[name] for name in TREE.joint_names])[:3, 3] for foot in FEET])
POSITION, QUATERNION = np.array([1.0, -2.0, 0.1]), np.array(quaternion_from_rpy(0.1, -0.2, 2.0))
P_WORLD_FEET = POSITION + P_BASE_FEET @ rotation_from_quaternion(QUATERNION).T


def core():
    return FootContacts(PROFILE, URDF, FEET, STEP)


def touch(time, foot, force=(0.0, 0.0, 5.0), offset=(0.0, 0.0, 0.0)):
    return Touch(time, "", np.array([force]), P_WORLD_FEET[foot : foot + 1] + offset)


def steps(tick):
    """The times of the physics steps of a tick."""
    return [tick * TICK - k * STEP for k in range(10)]


def run(contacts, ticks, touches=None, first=1):
    """Feed ticks, with the contacts of each (of all feet, if none are given), and return what comes of each."""
    found = []
    for tick in range(first, first + ticks):
        for index, foot in enumerate(FEET):
            contacts.on_touches(
                foot, [touch(t, index) for t in steps(tick)] if touches is None else touches(tick, foot)
            )
        contacts.on_pose(tick * TICK, POSITION, QUATERNION)
        found.append(contacts.on_joints(tick * TICK, ANGLES))
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_foot_of_the_description_for_gazebo_has_a_sensor(variant):
    profile = robot_profile(variant)
    assert sensed_contacts(profile, expand(variant, "gazebo")) == tuple(profile.contacts) == FEET
    assert sensed_contacts(profile, expand(variant, "mujoco")) == ()


def test_loads_are_told_when_the_sensors_have_reported():
    found = run(core(), DELAY + 2)
    assert found[:DELAY] == [None] * DELAY
    loads = found[DELAY]
    assert loads.time == pytest.approx(TICK)
    assert loads.load == pytest.approx([5.0] * 6) and loads.in_contact.all()
    assert loads.load_share == pytest.approx([1.0 / 6.0] * 6)
    assert loads.p_base_foot == pytest.approx(P_BASE_FEET, abs=1e-9)
    assert loads.centre_of_pressure == pytest.approx(P_BASE_FEET, abs=1e-9)
    assert found[DELAY + 1].time == pytest.approx(2 * TICK)


def test_contacts_of_late_messages_count_in_their_tick():
    """Those of a tick come with the sensor's next message, after its joint_states."""
    contacts = core()
    found = run(contacts, DELAY + 3, lambda tick, foot: [touch(t, FEET.index(foot)) for t in steps(tick - 1)])
    assert found[DELAY + 1].load == pytest.approx([5.0] * 6)


def test_a_load_is_the_mean_over_the_steps_of_its_tick_and_all_points():
    def touches(tick, foot):
        if foot != FEET[2]:
            return [touch(steps(tick)[0], FEET.index(foot))] if foot == FEET[0] else []
        two = Touch(
            steps(tick)[4],
            "",
            np.array([[1.0, 0.0, 4.0], [0.0, 0.0, 12.0]]),
            P_WORLD_FEET[[2, 2]] + [[0.01, 0, 0], [0, 0, 0]],
        )
        return [two, touch(steps(tick)[9], 2, (0.0, 3.0, 4.0))]

    loads = run(core(), DELAY + 1, touches)[DELAY]
    assert loads.load == pytest.approx([0.5, 0.0, 2.0, 0.0, 0.0, 0.0])
    assert loads.in_contact.tolist() == [True, False, True, False, False, False]
    assert loads.load_share == pytest.approx([0.2, 0.0, 0.8, 0.0, 0.0, 0.0])
    offset = loads.centre_of_pressure[2] - P_BASE_FEET[2]
    assert rotation_from_quaternion(QUATERNION) @ offset == pytest.approx([0.002, 0.0, 0.0], abs=1e-9)
    assert np.isnan(loads.centre_of_pressure[1]).all()


def test_forces_are_turned_from_the_axes_of_their_link():
    shank = TREE.frame("lower_1_tibia_link", [ANGLES[name] for name in TREE.joint_names])[:3, :3]
    force = np.array([0.0, 0.0, 5.0]) @ rotation_from_quaternion(QUATERNION) @ shank

    def touches(tick, foot):
        if foot != FEET[0]:
            return []
        return [Touch(t, "lower_1_tibia_link", force[None], P_WORLD_FEET[:1]) for t in steps(tick)]

    assert run(core(), DELAY + 1, touches)[DELAY].load == pytest.approx([5.0] + [0.0] * 5)


@pytest.mark.parametrize(("offset", "counts"), [(0.02, True), (0.03, False)])
def test_only_what_touches_within_the_radius_is_of_the_foot(offset, counts):
    loads = run(
        core(), DELAY + 1, lambda tick, foot: [touch(t, FEET.index(foot), offset=(offset, 0, 0)) for t in steps(tick)]
    )
    assert loads[DELAY].in_contact.all() == loads[DELAY].in_contact.any() == counts


def test_a_touch_without_load_and_silent_sensors_are_no_contact():
    loads = run(core(), DELAY + 1, lambda tick, foot: [touch(steps(tick)[0], FEET.index(foot), (0.0, 0.0, 0.4))])
    assert not loads[DELAY].in_contact.any() and loads[DELAY].load_share.tolist() == [0.0] * 6
    assert not run(core(), DELAY + 1, lambda tick, foot: [])[DELAY].in_contact.any()


def test_nothing_is_told_without_a_pose():
    contacts = core()
    assert [contacts.on_joints(tick * TICK, ANGLES) for tick in range(1, DELAY + 3)] == [None] * (DELAY + 2)


def test_a_reset_of_the_clock_begins_anew_and_late_joints_are_left_out():
    contacts = core()
    run(contacts, 10, first=500)
    assert contacts.on_joints(507 * TICK, ANGLES) is None
    found = run(contacts, DELAY + 1)
    assert found[:DELAY] == [None] * DELAY and found[DELAY].time == pytest.approx(TICK)


def vector(values):
    return SimpleNamespace(**dict(zip("xyz", values)))


def state(
    first, second, forces, points, info="Debug:  i:(0/1)     my geom:a   other geom:b         time:12.345000000\n"
):
    return SimpleNamespace(
        collision1_name=first,
        collision2_name=second,
        info=info,
        wrenches=[SimpleNamespace(force=vector(force)) for force in forces],
        contact_positions=[vector(point) for point in points],
    )


def sensor_message(*states):
    stamp = SimpleNamespace(to_sec=lambda: 12.5)
    return SimpleNamespace(header=SimpleNamespace(stamp=stamp), states=states)


FOOT, FLOOR = "crab::tibia::tibia_collision", "ground_plane::link::collision"


def test_forces_are_those_on_the_robot_and_times_those_of_the_contacts():
    conversions = pytest.importorskip("shellbot_gazebo_connector.foot_contacts_conversions")
    forces, points = [(1.0, 2.0, 3.0), (0.0, 0.0, 4.0)], [(7.0, 8.0, 0.0), (9.0, 9.0, 0.0)]
    message = sensor_message(
        state(FOOT, FLOOR, forces, points),
        state(FLOOR, FOOT, [(0.0, 0.0, -6.0)], points[:1], "in other words"),
        state(FOOT, "crab::coxa::coxa_collision", forces, points),
    )
    first, second = conversions.touches(message, "crab")
    assert (first.time, first.link) == (12.345, "tibia") and (second.time, second.link) == (12.5, "")
    assert first.forces.tolist() == [list(force) for force in forces] and second.forces.tolist() == [[0.0, 0.0, 6.0]]
    assert first.p_world_points.tolist() == [list(point) for point in points]
    assert conversions.touches(sensor_message(), "crab") == []


class Recorder:
    """Stand-in for a publisher."""

    def __init__(self, topic, *_, **__):
        self.topic, self.messages = topic, []

    def publish(self, message):
        self.messages.append(message)


def test_the_node_publishes_what_the_embedded_simulator_does(monkeypatch):
    node = pytest.importorskip("shellbot_gazebo_connector.gazebo_contacts_node")
    rospy = pytest.importorskip("rospy")
    messages = pytest.importorskip("sensor_msgs.msg")
    odometry = pytest.importorskip("nav_msgs.msg").Odometry()
    monkeypatch.setattr(node, "Publisher", Recorder)
    made = node.GazeboContactsNode(core(), PROFILE, None)
    pose = odometry.pose.pose
    pose.position.x, pose.position.y, pose.position.z = POSITION
    pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w = QUATERNION
    shape = "shellbot::lower_1_tibia_link::lower_1_tibia_link_collision_2"
    for tick in range(1, DELAY + 2):
        stamp = rospy.Time(0, round(1e9 * tick * TICK))
        touching = [state(FLOOR, shape, [(0.0, 0.0, -5.0)], [P_WORLD_FEET[0]], f"time:{t:.9f}") for t in steps(tick)]
        made._on_contacts(FEET[0], sensor_message(*touching))
        odometry.header.stamp = stamp
        made._on_odometry(odometry)
        joints = messages.JointState(name=list(ANGLES), position=list(ANGLES.values()))
        joints.header.stamp = stamp
        made._on_joints(joints)
    assert made._publisher.topic == "ground_truth/foot_contacts"
    (message,) = made._publisher.messages
    assert (message.header.frame_id, message.model) == ("base_link", "feet")
    assert message.header.stamp.to_nsec() == round(1e9 * TICK)
    assert [contact.name for contact in message.contacts] == list(FEET)
    first, second = message.contacts[:2]
    assert first.in_contact and first.load_share == pytest.approx(1.0) and np.isnan(first.phase)
    assert first.centre_of_pressure.x == pytest.approx(P_BASE_FEET[0, 0])
    assert not second.in_contact and second.load_share == 0.0 and np.isnan(second.centre_of_pressure.z)
    assert second.position.y == pytest.approx(P_BASE_FEET[1, 1])
