# SPDX-License-Identifier: MIT
"""The nodes' part of the reset rule: callbacks are called as rospy does, publishers only collect."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest

rospy = pytest.importorskip("rospy")
pytest.importorskip("shellbot_msgs")

from geometry_msgs.msg import Point, Quaternion, Twist, Vector3  # noqa: E402
from sensor_msgs.msg import Imu, JointState  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402

from shellbot_action_manager.behaviours.hold import Hold  # noqa: E402
from shellbot_action_manager.body.geometry import load_geometry  # noqa: E402
from shellbot_action_manager.config import load_config  # noqa: E402
from shellbot_action_manager.estimation.contact_models import CONTACT_MODELS  # noqa: E402
from shellbot_action_manager.estimation.motion_models import MOTION_MODELS, Displacement  # noqa: E402
from shellbot_action_manager.interface import ContactEstimate  # noqa: E402
from shellbot_action_manager.node import action_manager_node, imu_node, odometry_node  # noqa: E402
from shellbot_common import Level, log_node, operator_interface_node, perform_action_node  # noqa: E402
from shellbot_common.rotations import quaternion_from_rpy  # noqa: E402
from shellbot_description import driven_joint_names, named_pose_array  # noqa: E402
from shellbot_msgs.msg import Contact, Contacts  # noqa: E402

FEET = np.array([[np.cos(a), np.sin(a), -0.6] for a in np.arange(6) * np.pi / 3]) * 0.27
RESET = "the clock went back"


class Topic:
    """Takes the place of publisher, subscriber, server and transform broadcaster; keeps what is published."""

    def __init__(self, *_args, **_options):
        self.messages, self.listeners = [], 0

    def publish(self, message):
        self.messages.append(message)

    def get_num_connections(self):
        return self.listeners

    def start(self):
        pass

    def sendTransform(self, _transforms):  # noqa: N802 - tf2's name
        pass


@pytest.fixture
def warnings(monkeypatch):
    said = []
    for name in ("Subscriber", "Service"):
        monkeypatch.setattr(rospy, name, Topic)
    monkeypatch.setattr(rospy, "get_param", lambda _name, default: default)
    for module in (action_manager_node, odometry_node, operator_interface_node):
        monkeypatch.setattr(module, "Publisher", Topic)
    monkeypatch.setattr(action_manager_node, "Server", Topic)
    monkeypatch.setattr(perform_action_node, "ActionServer", Topic)
    monkeypatch.setattr(odometry_node, "TransformBroadcaster", Topic)
    for name in ("logwarn", "loginfo"):
        monkeypatch.setattr(rospy, name, lambda text, *_: said.append(text))
    monkeypatch.setattr(log_node, "LOG", dict.fromkeys(Level, lambda _format, _name, text: said.append(text)))
    return said


def joint_states(t):
    message = JointState(name=driven_joint_names("simulation"), position=named_pose_array("stand"))
    message.header.stamp = rospy.Time.from_sec(t)
    return message


def test_late_joint_states_do_not_stop_the_walk(warnings):
    node = action_manager_node.ActionManagerNode(load_config(), load_geometry("simulation"))
    for tick in range(200):
        node._on_cmd_vel(Twist(linear=Vector3(0.2, 0.0, 0.0)))
        node._on_joint_states(joint_states(10.0 + 0.01 * tick))
    published = node._references_pub.messages
    ticks, commands = len(published), node._commands
    assert node._core.twist[0] > 0.0, "walks"
    node._on_joint_states(joint_states(10.0 + 1.98))
    assert len(published) == ticks, "a late message makes no references"
    assert node._commands is commands
    node._on_joint_states(joint_states(10.0 + 2.0))
    assert node._core.twist[0] > 0.0, "walks on"
    assert not [text for text in warnings if RESET in text]
    node._on_joint_states(joint_states(10.0 + 1.94))
    assert [text for text in warnings if RESET in text]
    assert not node._commands.twist.any()


def test_the_odometry_of_before_a_restart_counts_until_the_joints_are_complete(warnings):
    node = action_manager_node.ActionManagerNode(load_config(), load_geometry("simulation"))
    node._odometry = 1.0, np.array([0.0, 0.0, 0.7])  # latched; it goes on once there are contacts
    for tick in range(3):
        message = joint_states(10.0 + 0.01 * tick)
        message.position = named_pose_array("closed").copy()
        if tick < 2:
            message.position[5] = np.nan
        node._on_joint_states(message)
    assert node._contacts_pub.messages[-1].heading == pytest.approx(0.7)


def test_footsteps_are_published_at_20_hz_while_somebody_listens(warnings):
    node = action_manager_node.ActionManagerNode(load_config(), load_geometry("simulation"))

    def walk(begin, ticks):
        before = len(node._footsteps_pub.messages)
        for tick in range(ticks):
            node._on_cmd_vel(Twist(linear=Vector3(0.2, 0.0, 0.0)))
            node._on_joint_states(joint_states(begin + 0.01 * tick))
        return node._footsteps_pub.messages[before:]

    assert walk(10.0, 200) == []
    node._footsteps_pub.listeners = 1
    messages = walk(12.0, 100)
    assert len(messages) == 20
    assert {len(message.names) for message in messages} >= {3}, "the feet of a tripod are in the air"
    assert len(walk(1.0, 10)) == 2, "also after a reset"
    node._on_stopped(Bool(True))
    (message,) = walk(1.2, 1)
    assert message.names == [], "what an emergency stop holds in the air does not land"


def feet_message(t, x_body, model="feet"):
    points = [Point(x - x_body, y, z) for x, y, z in FEET]
    contacts = [
        Contact(
            name=f"lower_{k}_foot",
            in_contact=True,
            load_share=1 / 6,
            position=p,
            centre_of_pressure=p,
            previous_centre_of_pressure=p,
        )
        for k, p in enumerate(points, 1)
    ]
    message = Contacts(model=model, contacts=contacts)
    message.header.stamp = rospy.Time.from_sec(t)
    return message


def test_late_contacts_do_not_reset_odometry(warnings):
    node = odometry_node.OdometryNode(load_config())

    def step(tick):
        node._on_contacts(feet_message(1.0 + 0.01 * tick, 0.001 * tick))
        return node._odom.messages[-1].pose.pose.position.x

    for tick in range(101):
        x = step(tick)
    assert x > 0.09
    published = len(node._odom.messages)
    assert step(99) == x
    assert len(node._odom.messages) == published, "a late message makes no estimate"
    assert step(101) > x
    assert not [text for text in warnings if RESET in text]
    assert step(94) == 0.0
    assert [text for text in warnings if RESET in text]


def test_odometry_runs_the_model_that_the_message_names(warnings):
    node = odometry_node.OdometryNode(load_config())

    def walk(model, ticks):
        for _ in range(ticks):
            walk.tick += 1
            node._on_contacts(feet_message(1.0 + 0.01 * walk.tick, 0.001 * walk.tick, model))
        return node._odom.messages[-1].pose.pose.position.x

    walk.tick = 0
    first = walk("feet", 50)
    assert first > 0.04
    assert walk("none", 50) == first, "the same feet, but the behaviour says that they tell nothing"
    published = len(node._odom.messages)
    assert walk("wheels", 5) == first and len(node._odom.messages) == published
    assert [text for text in warnings if "no odometry model 'wheels'; there are feet, none" in text]
    assert walk("feet", 50) > first + 0.04


class Ball:
    """Contact and motion model of a ball whose lowest point is the only contact."""

    RADIUS = 0.2

    variance_rate = 0.0  # m^2/m

    def __init__(self, *_arguments):
        self.reset()

    def reset(self):
        self._pitch = None

    def step(self, dt, *arguments):
        if not isinstance(arguments[0], ContactEstimate):  # contact model: state, motion
            point = np.array([[0.0, 0.0, -self.RADIUS]])
            one = np.ones(1)
            return ContactEstimate("ball", ("base_link",), one > 0.0, one * np.nan, one, point, point, point)
        contacts, attitude = arguments
        R = attitude.R_level_base  # noqa: N806
        pitch = np.arctan2(-R[2, 0], R[0, 0])
        turned = 0.0 if self._pitch is None else pitch - self._pitch
        self._pitch = pitch
        assert contacts.names == ("base_link",)
        return Displacement(np.array([self.RADIUS * turned, 0.0]), attitude.imu_turn or 0.0, 1)


def test_a_rolling_model_in_the_two_tables_works_over_the_wire(warnings, monkeypatch):
    monkeypatch.setitem(CONTACT_MODELS, "ball", Ball)
    monkeypatch.setitem(MOTION_MODELS, "ball", Ball)
    monkeypatch.setattr(Hold, "contact_model", "ball")  # as a behaviour that rolls would say of itself
    config = load_config(start_mode="sit")
    robot = action_manager_node.ActionManagerNode(config, load_geometry("simulation"))
    odometry = odometry_node.OdometryNode(config)
    for tick in range(101):
        message = joint_states(1.0 + 0.01 * tick)
        message.position = named_pose_array("sit")
        robot._on_joint_states(message)
        imu = Imu(orientation=Quaternion(0.0, np.sin(0.001 * tick), 0.0, np.cos(0.001 * tick)))
        imu.header.stamp = message.header.stamp
        odometry._imu.receive(imu)
        wire = io.BytesIO()
        robot._contacts_pub.messages[-1].serialize(wire)
        odometry._on_contacts(Contacts().deserialize(wire.getvalue()))
    assert odometry._odom.messages[-1].pose.pose.position.x == pytest.approx(0.2 * 0.2)


def raw_imu(t, turning, tilt):
    """An IMU without orientation, which by REP 145 says so with a covariance of -1; it turns about the vertical."""
    message = Imu(
        orientation_covariance=[-1.0] + [0.0] * 8,
        angular_velocity=Vector3(0.0, turning * np.sin(tilt), turning * np.cos(tilt)),
        linear_acceleration=Vector3(0.0, 9.81 * np.sin(tilt), 9.81 * np.cos(tilt)),
    )
    message.header.stamp = rospy.Time.from_sec(t)
    return message


def test_both_nodes_make_the_same_attitude_of_an_imu_that_has_none(warnings, monkeypatch):
    config = load_config()
    robot = action_manager_node.ActionManagerNode(config, load_geometry("simulation"))
    odometry = odometry_node.OdometryNode(config)
    seen = {"robot": [], "odometry": []}
    step, estimate = robot._core.step, odometry._core.step
    monkeypatch.setattr(robot._core, "step", lambda t, c, f: seen["robot"].append(f) or step(t, c, f))
    monkeypatch.setattr(odometry._core, "step", lambda t, c, i: seen["odometry"].append(i) or estimate(t, c, i))
    for tick in range(151):
        t = 5.0 + 0.01 * tick
        for node in (robot, odometry):
            node._imu.receive(raw_imu(t, turning=0.3, tilt=0.2))
        robot._on_joint_states(joint_states(t))
        odometry._on_contacts(feet_message(t, 0.0))
    feedback = seen["robot"][-1]
    assert feedback.orientation == pytest.approx(quaternion_from_rpy(0.2, 0.0, 0.45), abs=0.001)
    assert feedback.angular_velocity == pytest.approx([0.0, 0.3 * np.sin(0.2), 0.3 * np.cos(0.2)], abs=0.001)
    for own, other in zip(seen["robot"], seen["odometry"]):
        assert (own.orientation == other.orientation).all()
    assert odometry._odom.messages[-1].pose.pose.orientation.z == pytest.approx(np.sin(0.225), abs=0.001)
    robot._on_joint_states(joint_states(6.8))
    assert seen["robot"][-1].orientation is None, "an IMU that stopped"


def test_restarted_nodes_go_on_with_the_heading_of_an_imu_that_has_none(warnings, monkeypatch):
    config, parameters = load_config(), {}
    monkeypatch.setattr(rospy, "set_param", parameters.__setitem__)
    monkeypatch.setattr(rospy, "get_param", parameters.get)

    def walk(ticks):
        attitudes = []
        for tick in ticks:
            t = 5.0 + 0.01 * tick
            for node in (robot, odometry):
                node._imu.receive(raw_imu(t, turning=0.3 if tick <= 150 else 0.0, tilt=0.0))
            robot._on_joint_states(joint_states(t))
            odometry._on_contacts(feet_message(t, 0.0))
            attitudes = [node._imu.read(t).orientation for node in (robot, odometry)]
        return attitudes, odometry._odom.messages[-1].pose.pose.orientation.z

    def remembered(node):
        parameters.clear()  # those of another node
        monkeypatch.setattr(node._log, "each_second", lambda: [None])
        node.run()

    robot = action_manager_node.ActionManagerNode(config, load_geometry("simulation"))
    odometry = odometry_node.OdometryNode(config)
    walk(range(201))
    remembered(odometry)
    odometry = odometry_node.OdometryNode(config)
    attitudes, z = walk(range(300, 310))
    assert z == pytest.approx(np.sin(0.225), abs=0.001)
    assert attitudes[1] == pytest.approx(attitudes[0], abs=0.001)
    monkeypatch.setattr(robot._actions, "announce", lambda: None)
    remembered(robot)
    robot = action_manager_node.ActionManagerNode(config, load_geometry("simulation"))
    attitudes, _ = walk(range(400, 410))
    assert attitudes[1] == pytest.approx(attitudes[0], abs=0.001)


def level_imu(t, yaw):
    message = Imu(orientation=Quaternion(*quaternion_from_rpy(0.0, 0.0, yaw)))
    message.header.stamp = rospy.Time.from_sec(t)
    return message


@pytest.mark.parametrize("stops", [False, True], ids=["late", "stopped"])
def test_a_tick_waits_for_the_measurement_of_its_own_time(warnings, monkeypatch, stops):
    monkeypatch.setattr(imu_node, "PATIENCE", 0.05 if stops else 600.0)
    listener = imu_node.ImuListener(load_config().attitude)
    for tick in range(3):
        listener.receive(level_imu(1.0 + 0.01 * tick, 0.1 * tick))
        listener.read(1.0 + 0.01 * tick)
    read = []
    with ThreadPoolExecutor() as pool:
        tick = pool.submit(lambda: read.append(listener.read(1.03).orientation))
        if stops:
            tick.result()
            assert read[0] == pytest.approx(quaternion_from_rpy(0.0, 0.0, 0.2)), "what was measured last"
            monkeypatch.setattr(imu_node, "PATIENCE", 600.0)
            listener.read(1.04)  # is not waited for again
        wait([tick], timeout=0.1)
        assert tick.done() == stops
        listener.receive(level_imu(1.03, 0.3))
    assert stops or read[0] == pytest.approx(quaternion_from_rpy(0.0, 0.0, 0.3))


def test_a_tick_during_shutdown_ends_quietly(warnings, monkeypatch):
    node = odometry_node.OdometryNode(load_config())
    node._on_contacts(feet_message(1.0, 0.0))

    def closed(_message):
        raise rospy.ROSException("publish() to a closed topic")

    monkeypatch.setattr(node._transforms, "sendTransform", closed)
    node._on_contacts(feet_message(1.01, 0.001))
