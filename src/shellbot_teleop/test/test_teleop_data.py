# SPDX-License-Identifier: MIT
"""Settings, gains page, pictures, rotations, 3D scene, log: the small pure modules."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import Point, Quaternion, TransformStamped
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

from shellbot_common import package_file
from shellbot_common.rotations import quaternion_from_rpy, rotation_from_quaternion, rotation_from_rpy
from shellbot_msgs.msg import Contact, Contacts
from shellbot_teleop import overlay
from shellbot_teleop.body_estimate import with_body
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.effects import PublishTwist
from shellbot_teleop.errors import ConfigError
from shellbot_teleop.gains_model import groups_from_description
from shellbot_teleop.orbit import Orbit
from shellbot_teleop.robot_monitor import (
    BaseInfo,
    ContactsInfo,
    FootstepsInfo,
    LogLine,
    OdomInfo,
    RobotMonitor,
    fresh,
)
from shellbot_teleop.teleop_conversions import base_from_transforms, contacts_info, odom_info


def settings():
    return yaml.safe_load(package_file("shellbot_teleop", "config/teleop.yaml").read_text())


@pytest.mark.parametrize(
    "change, words",
    [
        ({"publish_rate": 0.0}, ["publish_rate is 0.0", "from 5 to 100 Hz"]),
        ({"speed_scale": math.nan}, ["speed_scale is nan"]),
        ({"repeat_hold": 3}, ["repeat_hold"]),
        ({"gaits": []}, ["gaits"]),
        ({"gains_servers": []}, ["gains_servers is []", "such as gains"]),
        ({"gains_servers": ["gains", "gains"]}, ["gains_servers is ['gains', 'gains']", "once"]),
        ({"gains_servers": ["arm motion"]}, ["gains_servers is ['arm motion']", "letters"]),
        ({"gains_server": "gains"}, ["gains_server does not exist", "gains_servers"]),
        ({"speed_step": "fast"}, ["speed_step is 'fast'"]),
        ({"fallback_velocity": [1.0, 2.0]}, ["fallback_velocity", "3 numbers"]),
        ({"shell_angle_range": [1.0, 0.0]}, ["shell_angle_range"]),
        ({"warp": 9}, ["warp does not exist"]),
    ],
)
def test_wrong_settings_are_named(change, words):
    with pytest.raises(ConfigError) as caught:
        TeleopConfig.from_mapping({**settings(), **change})
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_missing_setting_and_unreadable_files_are_named(tmp_path):
    with pytest.raises(ConfigError, match="tilt_rate is missing"):
        TeleopConfig.from_mapping({name: value for name, value in settings().items() if name != "tilt_rate"})
    (tmp_path / "bad.yaml").write_text("a: [")
    for name, words in (("bad.yaml", r"not valid YAML in line \d"), ("none.yaml", "cannot read")):
        with pytest.raises(ConfigError, match=words):
            TeleopConfig.load(tmp_path / name)
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(ConfigError, match="mapping"):
        TeleopConfig.load(tmp_path / "list.yaml")


TREE = {
    "name": "Default",
    "parameters": [
        {"name": "stiffness", "type": "double", "min": 0.1, "max": 2.0, "default": 1.0, "description": "overall"},
        {"name": "note", "type": "str", "min": "", "max": "", "default": "", "description": ""},
        {"name": "fixed", "type": "double", "min": 1.0, "max": 1.0, "default": 1.0, "description": ""},
        {"name": "endless", "type": "double", "min": -math.inf, "max": math.inf, "default": 0.0, "description": ""},
    ],
    "groups": {
        "coxa": {
            "name": "coxa",
            "groups": {},
            "parameters": [
                {
                    "name": "coxa_p",
                    "type": "double",
                    "min": 0.0,
                    "max": 60.0,
                    "default": 18.5,
                    "description": "N m/rad",
                },
                {"name": "hold_coxa", "type": "bool", "min": False, "max": True, "default": True, "description": ""},
            ],
        },
        "empty": {"name": "empty", "groups": {}, "parameters": []},
    },
}


def test_a_choice_of_the_page_is_a_list_and_a_text_is_none():
    from shellbot_common.reconfigure_page import PageChoice, reconfigure_page

    options = {"walk": "as the servos are", "soft": "half of it"}
    described = reconfigure_page([PageChoice("preset", "walk", options, "all classes at once")], {}).config_description
    described["parameters"].append({"name": "note", "type": "str", "edit_method": "", "description": "", "default": ""})
    ((preset,),) = (group.parameters for group in groups_from_description(described))
    assert (preset.name, preset.kind, preset.options, preset.help) == (
        "preset",
        "choice",
        options,
        "all classes at once",
    )


def test_gains_groups_are_what_the_server_describes():
    overall, coxa = groups_from_description(TREE)
    assert [overall.title, coxa.title] == ["Overall", "coxa"]
    assert [parameter.name for parameter in overall.parameters] == ["stiffness"]
    assert [(parameter.name, parameter.label, parameter.kind) for parameter in coxa.parameters] == [
        ("coxa_p", "p", "double"),
        ("hold_coxa", "hold", "bool"),
    ]
    p = coxa.parameters[0]
    assert (p.low, p.high, p.default) == (0.0, 60.0, 18.5)
    assert [p.clamped(value) for value in (-1.0, 30.0, 99.0, math.nan)] == [0.0, 30.0, 60.0, 18.5]


def odom(position=(1.0, 2.0, 0.16), rpy=(0.0, 0.0, 0.0)):
    return OdomInfo(position, rpy, (0.0, 0.0, 0.0), 5.0)


def test_the_view_follows_the_robot_from_behind_and_stays_usable():
    orbit = Orbit().on(np.array([1.0, 2.0, 0.16]), math.pi / 2)
    assert orbit.view.target == pytest.approx((1.0, 2.0, 0.08))
    assert orbit.view.azimuth_deg == pytest.approx(90.0 + Orbit().azimuth_deg), "turns with the robot"
    assert orbit.turned(0, 1e6).elevation_deg > -90.0 and orbit.turned(0, -1e6).elevation_deg < 90.0
    assert orbit.zoomed(1e9).distance < 100.0 and orbit.zoomed(0.0).distance > 0.1
    still = orbit.following(False)
    assert still.view == orbit.view, "no jump when it stops to follow"
    assert still.on(np.array([9.0, 9.0, 0.1]), 0.3).view == still.view
    assert still.following(True).on(np.array([9.0, 9.0, 0.1]), 0.3).view.target[:2] == (9.0, 9.0)
    above = orbit.from_above()
    assert above.elevation_deg < -85.0 and above.azimuth_deg == 0.0 and above.from_above() == orbit


def to_odom(base, p_base):
    return p_base @ rotation_from_quaternion(base.quaternion).T + base.position


def test_the_robot_is_where_odometry_says_and_level_without_it():
    pose = overlay.base_pose(None, odom(rpy=(0.0, 0.0, math.pi / 2)), None)
    np.testing.assert_allclose(to_odom(pose, np.array([[0.1, 0.0, 0.0]])), [[1.0, 2.1, 0.16]], atol=1e-12)
    feet = np.array([[0.27, 0.0, -0.14]] * 6)
    contacts = ContactsInfo((True,) * 6, (0.0,) * 6, feet, 0.0)
    for missing in (None, replace(odom(), position=(math.nan, 0.0, 0.0))):
        assert to_odom(overlay.base_pose(None, missing, contacts), feet)[:, 2] == pytest.approx(0.0)
    assert overlay.base_pose(None, None, None) is None
    known = BaseInfo(np.array([3.0, 0.0, 0.2]), np.array([0.0, 0.0, 0.0, 1.0]), 0.0)
    assert overlay.base_pose(known, odom(), contacts) is known, "the transforms say all of it"


def transform(parent, child, place, rpy):
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    p, q = message.transform.translation, message.transform.rotation
    p.x, p.y, p.z = place
    q.x, q.y, q.z, q.w = quaternion_from_rpy(*rpy)
    return message


def test_the_base_is_where_the_transforms_of_odometry_lead():
    ground = transform("odom", "base_footprint", (1.0, 2.0, 0.0), (0.0, 0.0, math.pi / 2))
    body = transform("base_footprint", "base_link", (0.1, 0.0, 0.16), (0.3, 0.0, 0.0))
    leg = transform("base_link", "leg", (9.0, 9.0, 9.0), (0.0, 0.0, 0.0))
    base = base_from_transforms(TFMessage([body, leg, ground]), "base_link", 5.0)
    np.testing.assert_allclose(base.position, [1.0, 2.1, 0.16], atol=1e-12)
    np.testing.assert_allclose(
        rotation_from_quaternion(base.quaternion), rotation_from_rpy(0.3, 0.0, math.pi / 2), atol=1e-12
    )
    assert base_from_transforms(TFMessage([body, leg]), "base_link", 5.0) is None, "leads nowhere"
    nothing = transform("odom", "base_link", (0.0, 0.0, 0.0), (math.nan,) * 3)
    nowhere = transform("odom", "base_link", (math.nan, 0.0, 0.0), (0.0, 0.0, 0.0))
    for bad in (nothing, nowhere):
        assert base_from_transforms(TFMessage([bad]), "base_link", 5.0) is None
    ring = [transform("a", "base_link", (0, 0, 0), (0, 0, 0)), transform("base_link", "a", (0, 0, 0), (0, 0, 0))]
    assert base_from_transforms(TFMessage(ring), "base_link", 5.0) is None


def test_the_commanded_path_is_the_arc_that_the_twist_describes():
    path = overlay.commanded_path(1.0, 2.0, math.pi / 2, PublishTwist(0.2, 0.0, 0.0))
    np.testing.assert_allclose(path[-1, :2], [1.0, 2.4], atol=1e-9)
    circle = overlay.commanded_path(0.0, 0.0, 0.0, PublishTwist(0.2, 0.0, 0.5))
    radius = np.hypot(circle[:, 0], circle[:, 1] - 0.4)
    np.testing.assert_allclose(radius, 0.4, atol=1e-3)
    assert len(overlay.commanded_path(0.0, 0.0, 0.0, PublishTwist(0.0, 0.0, 0.0))) == 0


def test_marks_show_support_feet_planned_steps_and_the_attitude_of_a_ball():
    angle = np.arange(6) * math.pi / 3
    feet = np.column_stack([0.27 * np.cos(angle), 0.27 * np.sin(angle), np.full(6, -0.16)])
    feet[1, 2] = -0.12
    contacts = ContactsInfo((True, False, True, True, True, True), (0.0,) * 6, feet, 0.0)
    base = overlay.base_pose(None, odom(position=(1.0, 0.0, 0.16)), contacts)
    steps = FootstepsInfo(np.array([[0.2, 0.2, -0.16]]), 0.0)
    drawn = overlay.marks(base, 0.0, contacts, steps, PublishTwist(0.1, 0.0, 0.0), [(0.0, 0.0), (1.0, 0.0)])
    (area,) = [mark for mark in drawn if mark.kind == "area"]
    assert len(area.points) == 3 * 3, "five corners are three triangles"
    (swinging,) = [mark for mark in drawn if mark.kind == "sphere"]
    np.testing.assert_allclose(swinging.points, feet[[1]] + [1.0, 0.0, 0.16], atol=1e-12)
    (landing,) = [mark for mark in drawn if mark.colour == overlay.PLANNED]
    np.testing.assert_allclose(landing.points[0, :2], [1.2, 0.2], atol=1e-12)
    (arrow,) = [mark for mark in drawn if mark.kind == "arrow"]
    assert arrow.points[1, 0] > arrow.points[0, 0] > 1.27, "ahead of the feet"
    rolled = ball((-1.0, 0.0, 0.0))
    base = overlay.base_pose(None, odom(), rolled)
    pole = overlay.marks(base, 0.0, rolled, None, PublishTwist(0.0, 0.0, 0.0), [])[1]
    direction = pole.points[1] - pole.points[0]
    np.testing.assert_allclose(direction / np.linalg.norm(direction), [1.0, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("rpy", [(0.0, 0.0, 0.0), (0.2, -0.1, 0.7), (-0.3, 0.25, -2.0)])
def test_height_and_tilt_come_from_the_standing_feet(rpy):
    angle = np.arange(6) * math.pi / 3
    feet_world = np.column_stack([0.27 * np.cos(angle), 0.27 * np.sin(angle), np.zeros(6)])
    body = np.array([0.01, -0.02, 0.162])
    p_base_foot = (feet_world - body) @ rotation_from_rpy(*rpy)
    p_base_foot[[1, 4]] += 0.03  # two feet swing
    contacts = ContactsInfo((True, False, True, True, False, True), (0.0,) * 6, p_base_foot, 0.0)
    pose = with_body(odom(position=(1.0, 2.0, 0.0), rpy=(0.0, 0.0, rpy[2])), contacts)
    assert pose.position == pytest.approx((1.0, 2.0, 0.162))
    assert pose.rpy == pytest.approx(rpy)


@pytest.mark.parametrize(
    "feet, contact",
    [
        (np.zeros((6, 3)), (True,) * 6),
        (np.full((6, 3), math.nan), (True,) * 6),
        (np.eye(6, 3), (True, True, False, False, False, False)),
        (np.outer(np.arange(6), [0.1, 0.0, 0.0]), (True,) * 6),
    ],
)
def test_feet_that_tell_no_tilt_leave_odometry_as_it_is(feet, contact):
    start = odom(rpy=(0.1, 0.2, 0.3))
    assert with_body(start, ContactsInfo(contact, (0.0,) * 6, feet, 0.0)) == start
    assert with_body(start, None) == start and with_body(None, None) is None


def ball(up, count=12):
    """Contacts of a ball of 0.16 m whose vertical in base_link is `up`."""
    up = np.array(up) / np.linalg.norm(up)
    contact = (False, True) + (False,) * (count - 2)
    return ContactsInfo(contact, (math.nan,) * count, np.zeros((count, 3)), 0.0, "rolling", -0.16 * up)


@pytest.mark.parametrize("load_shares, shown", [((0.0, 1.0, math.nan), 1), ((math.nan, math.nan, 0.0), 0)])
def test_of_several_contacts_of_a_ball_the_loaded_one_is_where_the_ground_is(load_shares, shown):
    gores = [
        Contact(in_contact=k < 2, load_share=load, centre_of_pressure=Point(x=float(k)))
        for k, load in enumerate(load_shares)
    ]
    info = contacts_info(Contacts(model="rolling", contacts=gores), 0.0)
    assert info.contact.index(True) == shown and info.p_base_ground[0] == shown


@pytest.mark.parametrize("child, tilt", [("base_footprint", False), ("", False), ("base_link", True), ("torso", True)])
def test_odometry_of_a_body_has_its_tilt(child, tilt):
    message = Odometry(child_frame_id=child)
    message.pose.pose.orientation = Quaternion(*quaternion_from_rpy(0.1, -0.2, 0.5))
    info = odom_info(message, 3.0)
    assert info.has_tilt == tilt and info.rpy == pytest.approx((0.1, -0.2, 0.5))


def test_a_ball_has_a_height_and_turns_as_it_rolls():
    contacts = ball((-1.0, 0.0, 0.0))  # a quarter turn forward: x of base_link points down
    pose = with_body(odom(position=(1.0, 2.0, 0.0), rpy=(0.0, 0.0, math.pi / 2)), contacts)
    assert pose.position == pytest.approx((1.0, 2.0, 0.16)) and not pose.has_tilt
    drawn = rotation_from_quaternion(overlay.base_pose(None, pose, contacts).quaternion)
    np.testing.assert_allclose(drawn @ [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], atol=1e-12)  # ahead, which is odom's y
    for up in ((0.0, 0.0, 1.0), (0.3, -0.5, -0.2), (0.0, 0.0, -1.0)):
        rotation = rotation_from_quaternion(overlay.base_pose(None, None, ball(up)).quaternion)
        np.testing.assert_allclose(rotation @ up / np.linalg.norm(up), [0.0, 0.0, 1.0], atol=1e-12)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert ball((math.nan, 0.0, 1.0)).ball_up is None


def test_the_body_is_drawn_above_its_feet_while_their_contact_is_not_known():
    feet = np.array([[0.27, 0.0, -0.14]] * 6)
    contacts = ContactsInfo((False,) * 6, (math.nan,) * 6, feet, 0.0, "none")
    pose = overlay.base_pose(None, with_body(odom(position=(1.0, 2.0, 0.0)), contacts), contacts)
    np.testing.assert_allclose(pose.position, [1.0, 2.0, 0.14])


def test_the_support_polygon_is_ordered_around_its_middle():
    square = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
    ordered = overlay.support_polygon(square)
    area = 0.5 * sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ordered, np.roll(ordered, -1, axis=0)))
    assert area == pytest.approx(1.0)
    assert overlay.support_polygon(square[:2]).shape == (0, 3)


def test_the_monitor_hands_out_each_log_line_once_and_forgets_the_oldest():
    monitor = RobotMonitor()
    for index in range(600):
        monitor.add_log(LogLine("info", "node", str(index), 0.0))
    lines = monitor.take_log()
    assert [lines[0].text, lines[-1].text, len(lines)] == ["100", "599", 500]
    assert monitor.take_log() == []
    monitor.odom = odom()
    assert (
        fresh(monitor.odom, 5.5, 0.5) is monitor.odom
        and fresh(monitor.odom, 5.6, 0.5) is None
        and fresh(None, 0.0, 1.0) is None
    )
    monitor.forget_robot()
    assert monitor.odom is None
