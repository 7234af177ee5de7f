# SPDX-License-Identifier: MIT
"""The camera that follows the robot in Gazebo: its model, its place, and when its node moves it."""

import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest

from shellbot_common.rotations import rotation_from_quaternion
from shellbot_gazebo_connector.follow_camera import MODEL, TOPIC, camera_model, camera_pose


def test_it_looks_at_the_robot_from_where_the_embedded_simulators_does():
    scene = pytest.importorskip("shellbot_simulator.core.scene")
    base = (3.0, -1.0, 0.12)
    position, quaternion = camera_pose(base)
    towards = np.array(base) - position
    assert -towards == pytest.approx(scene._CAMERA_FROM_BASE)
    rotation = rotation_from_quaternion(np.array(quaternion))
    assert rotation[:, 0] == pytest.approx(towards / np.linalg.norm(towards)), "along x"
    assert rotation[2, 1] == pytest.approx(0.0) and rotation[2, 2] > 0.0, "level"


def test_its_model_touches_nothing_and_has_the_topic_and_picture_of_the_embedded_simulator():
    model = ElementTree.fromstring(camera_model("/robot/")).find("model")
    assert model.get("name") == MODEL and model.findtext("static") == "true"
    assert model.find(".//collision") is None and model.find(".//visual") is None
    plugin, camera = model.find(".//plugin"), model.find(".//camera")
    assert plugin.get("filename") == "libgazebo_ros_camera.so"
    assert (plugin.findtext("robotNamespace"), plugin.findtext("frameName")) == ("/robot/", "camera_link")
    assert f"{plugin.findtext('cameraName')}/{plugin.findtext('imageTopicName')}" == TOPIC
    width, height = (int(camera.findtext(f"image/{side}")) for side in ("width", "height"))
    assert (width, height) == (640, 480)
    half = np.tan(0.5 * float(camera.findtext("horizontal_fov"))) * height / width
    assert np.degrees(2.0 * np.arctan(half)) == pytest.approx(45.0, abs=1e-3)
    assert float(model.findtext(".//update_rate")) == 10.0


class Recorder:
    """Stand-in for a publisher."""

    def __init__(self, topic, *_, **__):
        self.topic, self.messages = topic, []

    def publish(self, message):
        self.messages.append(message)


def test_the_node_spawns_the_camera_once_at_the_robot_and_moves_it_in_simulated_time(monkeypatch):
    node = pytest.importorskip("shellbot_gazebo_connector.gazebo_camera_node")
    odometry = pytest.importorskip("nav_msgs.msg").Odometry()
    rospy = pytest.importorskip("rospy")
    spawned = []
    monkeypatch.setattr(node, "Publisher", Recorder)

    def spawn(**arguments):
        spawned.append(arguments)
        return SimpleNamespace(success=True)

    made = node.GazeboCameraNode(SimpleNamespace, spawn)
    assert made._pictures.topic == "camera/image_raw" and not spawned
    for tick in range(1, 21):
        odometry.header.stamp = rospy.Time(0, 10_000_000 * tick)
        odometry.pose.pose.position.x = 0.01 * tick
        made._on_odometry(odometry)
    (first,), moves = spawned, made._moves.messages
    assert first["model_name"] == MODEL and first["initial_pose"].position.x == pytest.approx(0.66)
    assert [move.pose.position.x for move in moves] == pytest.approx([0.65 + x for x in (0.06, 0.11, 0.16)])
    assert {move.model_name for move in moves} == {MODEL}
    odometry.header.stamp = rospy.Time(0, 1_000_000)  # after a reset
    made._on_odometry(odometry)
    assert len(moves) == 4


class Picture(SimpleNamespace):
    """Stand-in for an image with a stamp, s."""

    def __init__(self, stamp):
        super().__init__(header=SimpleNamespace(stamp=SimpleNamespace(to_sec=lambda: stamp)))
        self.time = stamp


def test_the_node_takes_pictures_while_there_is_a_reader_and_none_from_before(monkeypatch):
    """Gazebo begins with the last picture of the time before, at once."""
    node = pytest.importorskip("shellbot_gazebo_connector.gazebo_camera_node")
    odometry = pytest.importorskip("nav_msgs.msg").Odometry()
    rospy = pytest.importorskip("rospy")
    log, readers, looks = [], [0], []

    class Subscriber:
        def __init__(self, topic, *_, **__):
            self.topic = topic
            log.append(topic)

        def unregister(self):
            log.append(f"no {self.topic}")

    def at(seconds):
        odometry.header.stamp = rospy.Time.from_sec(seconds)
        made._on_odometry(odometry)

    def look(_):
        looks.append(list(log))
        step = len(looks)
        if step == 2:
            readers[0] = 1
        elif step == 4:
            at(7.0)
        elif step == 6:
            for stamp in (6.9, 7.05, 30.0):
                made._on_picture(Picture(stamp))
            readers[0] = 0

    monkeypatch.setattr(node, "Publisher", Recorder)
    monkeypatch.setattr(node.rospy, "Subscriber", Subscriber)
    monkeypatch.setattr(node.rospy, "get_param", lambda *_: True)
    monkeypatch.setattr(node.rospy.rostime, "wallsleep", look)
    monkeypatch.setattr(node.rospy, "is_shutdown", lambda: len(looks) == 8)
    made = node.GazeboCameraNode(SimpleNamespace, lambda **_: SimpleNamespace(success=True))
    made._pictures.get_num_connections = lambda: readers[0]
    made.run()
    assert looks[1] == [] and looks[2] == ["ground_truth/odom"], "not before somebody subscribes"
    assert looks[-1] == ["ground_truth/odom", TOPIC, f"no {TOPIC}"]
    assert [picture.time for picture in made._pictures.messages] == [7.05]
    at(0.5)  # after a reset
    made._on_picture(Picture(0.6))
    assert [picture.time for picture in made._pictures.messages] == [7.05, 0.6]
