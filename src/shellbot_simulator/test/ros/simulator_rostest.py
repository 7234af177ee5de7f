#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The node at real time, without a controller: names, types, rates, pause, reset, gains, bad commands, pictures."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import unittest
from typing import Any, List

import numpy as np
import rospy
import rostest
from diagnostic_msgs.msg import DiagnosticArray
from dynamic_reconfigure.client import Client
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock, Log
from sensor_msgs.msg import Image, Imu, JointState
from std_msgs.msg import Float32, Float64MultiArray
from std_srvs.srv import Empty

from shellbot_common.testing import wait_until
from shellbot_description import driven_joint_names, named_pose_array
from shellbot_msgs.msg import Contacts

JOINTS = driven_joint_names("simulation")
TIBIA = JOINTS.index("lower_1_tibia")


class Recorder:
    """Keeps the messages of a topic with their time of arrival, and waits for one that fits."""

    def __init__(self, topic: str, kind: Any) -> None:
        self.messages: List[Any] = []
        self._news = threading.Condition()
        self._subscriber = rospy.Subscriber(topic, kind, self._on_message, queue_size=1000, tcp_nodelay=True)

    def _on_message(self, message: Any) -> None:
        with self._news:
            self.messages.append(message)
            self._news.notify_all()

    def clear(self) -> None:
        """Forget what came so far."""
        with self._news:
            self.messages = []

    def wait(self, fits: Any = lambda message: True, timeout: float = 60.0) -> Any:
        """Return the first message that fits, of those since the last `clear`."""
        end = time.monotonic() + timeout
        seen = 0
        with self._news:
            while True:
                for message in self.messages[seen:]:
                    if fits(message):
                        return message
                seen = len(self.messages)
                if not self._news.wait(end - time.monotonic()):
                    raise AssertionError(f"no fitting message within {timeout} s ({seen} others)")

    def wait_count(self, count: int) -> List[Any]:
        """Return `count` messages in a row."""
        self.clear()
        self.wait(lambda _message: len(self.messages) >= count)
        return self.messages[:count]

    def close(self) -> None:
        """End the subscription."""
        self._subscriber.unregister()


class SimulatorTest(unittest.TestCase):
    """One simulator for all cases; each begins from a reset."""

    @classmethod
    def setUpClass(cls) -> None:
        """Wait for the simulator and find its services."""
        cls.service = {}
        for name in ("pause_physics", "unpause_physics", "reset_simulation", "reset_world"):
            rospy.wait_for_service(f"/gazebo/{name}", timeout=60.0)
            cls.service[name] = rospy.ServiceProxy(f"/gazebo/{name}", Empty)
        cls.command = rospy.Publisher("shellbot_legs_controller/command", Float64MultiArray, queue_size=1)
        cls.log = Recorder("/rosout", Log)
        wait_until(cls.command.get_num_connections, "the simulator listens")

    def setUp(self) -> None:
        """Begin from the spawn pose."""
        self.joints = Recorder("joint_states", JointState)
        self.joints.wait()
        self.service["pause_physics"]()
        self.service["reset_simulation"]()
        self.joints.clear()
        self.service["unpause_physics"]()
        self.joints.wait(lambda m: m.header.stamp.to_nsec() == 0)
        self.joints.clear()
        self.log.clear()

    def tearDown(self) -> None:
        """Give the topics free."""
        self.service["unpause_physics"]()
        self.joints.close()

    def send(self, position: Any) -> None:
        """Send a command by hand, without a stamp."""
        self.command.publish(Float64MultiArray(data=list(position)))

    def test_joint_states_carry_all_joints_in_order_at_100_hz(self) -> None:
        """Order, fields, stamps one tick apart, real time."""
        begin = time.monotonic()
        messages = self.joints.wait_count(150)
        elapsed = time.monotonic() - begin
        self.assertEqual(tuple(messages[0].name), tuple(JOINTS))
        for field in ("position", "velocity", "effort"):
            self.assertEqual(len(getattr(messages[0], field)), 36)
        steps = np.diff([m.header.stamp.to_nsec() for m in messages])
        self.assertEqual(set(steps.tolist()), {10_000_000})
        self.assertGreater(elapsed, 1.3)  # never faster than wanted; a busy machine may be slower

    def test_spawn_pose_is_held(self) -> None:
        """From the first tick, with no controller at all."""
        spawn = named_pose_array("spawn", "simulation")
        for message in self.joints.wait_count(100):
            self.assertLess(np.abs(np.array(message.position) - spawn).max(), np.radians(1.0))

    def assert_ticks(self, stamps: List[int], name: str) -> None:
        """One stamp a tick, in ns; a busy machine may have lost some on the way."""
        self.assertEqual([stamp % 10_000_000 for stamp in stamps], [0] * len(stamps), name)
        self.assertEqual(np.diff(stamps).min(), 10_000_000, name)

    def test_sensor_topics(self) -> None:
        """Types, frames, stamps of the same ticks as the clock, sensible values."""
        names = {
            "imu/data": Imu,
            "ground_truth/odom": Odometry,
            "ground_truth/foot_contacts": Contacts,
            "/clock": Clock,
        }
        recorders = {name: Recorder(name, kind) for name, kind in names.items()}
        found = {name: recorder.wait_count(30) for name, recorder in recorders.items()}
        imu, odometry, contacts = (found[name][-1] for name in list(names)[:3])
        for name in list(names)[:3]:
            stamps = [m.header.stamp.to_nsec() for m in found[name]]
            self.assert_ticks(stamps, name)
        self.assert_ticks([m.clock.to_nsec() for m in found["/clock"]], "/clock")
        self.assertEqual(imu.header.frame_id, "imu_link")
        self.assertAlmostEqual(imu.linear_acceleration.z, 9.81, delta=0.2)
        self.assertEqual((odometry.header.frame_id, odometry.child_frame_id), ("world", "base_link"))
        self.assertAlmostEqual(odometry.pose.pose.position.z, 0.12, delta=0.005)
        self.assertEqual(contacts.header.frame_id, "base_link")
        feet = contacts.contacts
        self.assertEqual([foot.name for foot in feet], [f"lower_{k}_foot" for k in range(1, 7)])
        self.assertTrue(all(foot.in_contact for foot in feet))
        self.assertAlmostEqual(sum(foot.load_share for foot in feet), 1.0)
        self.assertAlmostEqual(feet[0].position.z, -0.12, delta=0.005)
        self.assertTrue(np.isnan([foot.phase for foot in feet]).all())
        for recorder in recorders.values():
            recorder.close()

    def test_diagnostics_tell_the_real_time_factor(self) -> None:
        """About one, and the same on the private topic."""
        diagnostics = Recorder("/diagnostics", DiagnosticArray)
        factor = Recorder("simulator/real_time_factor", Float32)
        near = lambda value: 0.0 < float(value) < 1.15  # noqa: E731  (a busy machine is slower, then catches up)

        def fits(message: DiagnosticArray) -> bool:
            values = {pair.key: pair.value for pair in message.status[0].values}
            return message.status[0].name.startswith("simulator") and near(values["real_time_factor"])

        values = {pair.key: pair.value for pair in diagnostics.wait(fits).status[0].values}
        self.assertEqual(values["feet on the ground"], "6")
        factor.wait(lambda message: near(message.data))
        diagnostics.close()
        factor.close()

    def test_pause_stops_the_clock_and_resume_continues_without_a_jump(self) -> None:
        """Nothing is published meanwhile, and the next stamp follows the last."""
        self.joints.wait_count(10)
        self.service["pause_physics"]()
        last, deadline = None, time.monotonic() + 60.0
        while last is not self.joints.messages[-1]:  # until nothing comes for a second of wall time
            self.assertLess(time.monotonic(), deadline, "the joint states go on")
            last = self.joints.messages[-1]
            time.sleep(1.0)  # as the clock stands still
        self.joints.clear()
        resumed = time.monotonic()
        self.service["unpause_physics"]()
        self.joints.wait(lambda _message: len(self.joints.messages) >= 50)
        messages = self.joints.messages
        # no catching up of the lost second either
        self.assertGreater(time.monotonic() - resumed, 0.35)
        self.assertEqual((messages[0].header.stamp - last.header.stamp).to_nsec(), 10_000_000)
        self.assertLess(np.abs(np.array(messages[0].position) - np.array(last.position)).max(), 0.01)

    def test_command_by_hand_moves_the_joint(self) -> None:
        """Without a stamp it acts at once."""
        target = named_pose_array("stand", "simulation")
        self.send(target)
        self.joints.wait(lambda m: np.abs(np.array(m.position) - target).max() < np.radians(2.0))

    def test_reset_simulation_sets_the_clock_back_and_the_pose(self) -> None:
        """Clock at zero, spawn pose, the old command forgotten."""
        target = named_pose_array("stand", "simulation")
        self.send(target)
        self.joints.wait(lambda m: m.header.stamp.to_sec() > 0.6)
        clock = Recorder("/clock", Clock)
        clock.wait()
        self.joints.clear()
        self.service["reset_simulation"]()
        first = self.joints.wait(lambda m: m.header.stamp.to_sec() < 0.4)
        spawn = named_pose_array("spawn", "simulation")
        self.assertLess(np.abs(np.array(first.position) - spawn).max(), np.radians(1.0))
        clock.wait(lambda m: m.clock.to_sec() < 0.4)
        self.joints.clear()
        held = self.joints.wait(lambda m: m.header.stamp.to_sec() > 0.5)
        self.assertLess(np.abs(np.array(held.position) - spawn).max(), np.radians(1.0))
        clock.close()

    def test_reset_world_keeps_clock_and_joints(self) -> None:
        """Only the base goes back."""
        target = named_pose_array("stand", "simulation")
        self.send(target)
        self.joints.wait(lambda m: np.abs(np.array(m.position) - target).max() < np.radians(2.0))
        before = self.joints.wait(lambda m: m.header.stamp.to_sec() > 0.6)
        self.service["reset_world"]()
        after = self.joints.wait_count(10)[-1]
        self.assertGreater(after.header.stamp, before.header.stamp)
        self.assertLess(np.abs(np.array(after.position) - target).max(), np.radians(2.5))

    def test_bad_commands_are_refused_in_words_and_change_nothing(self) -> None:
        """Wrong length in ros_control's words; NaN by the name of the joint."""
        spawn = named_pose_array("spawn", "simulation")
        self.send([0.0, 0.0])
        self.log.wait(
            lambda m: "Dimension of command (2) does not match number of joints (36)! Not executing!" in m.msg
        )
        broken = list(spawn)
        broken[TIBIA] = float("nan")
        self.send(broken)
        self.log.wait(lambda m: "Command for joint lower_1_tibia is nan" in m.msg)
        message = self.joints.wait_count(30)[-1]
        self.assertLess(np.abs(np.array(message.position) - spawn).max(), np.radians(1.0))

    def test_gains_change_live_through_dynamic_reconfigure(self) -> None:
        """The measured stiffness follows; the server starts from controllers.yaml and clamps to its range."""
        namespace = "shellbot_legs_controller/lower_1_tibia/pid"
        client = Client(rospy.resolve_name(namespace), timeout=60.0)
        start = client.get_configuration(timeout=60.0)
        self.assertAlmostEqual(start["p"], rospy.get_param(f"{namespace}/p"))
        self.assertAlmostEqual(start["p"], 22.2, delta=0.2)
        spawn = named_pose_array("spawn", "simulation")[TIBIA]

        def stiffness(message: JointState) -> float:
            return message.effort[TIBIA] / (spawn - message.position[TIBIA])  # without i and d: effort = p * error

        at_rest = self.joints.wait(lambda m: m.header.stamp.to_sec() > 0.5)
        self.assertAlmostEqual(stiffness(at_rest), start["p"], delta=0.3)
        client.update_configuration({"p": 5.0})
        changed = self.joints.messages[-1].header.stamp.to_sec() + 0.5
        self.assertAlmostEqual(stiffness(self.joints.wait(lambda m: m.header.stamp.to_sec() > changed)), 5.0, delta=0.1)
        end = time.monotonic() + 60.0
        while rospy.get_param(f"{namespace}/p") != 5.0:  # a moment after it is in force
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        for name, bad, sentence in (
            ("p", -3.0, "gain p = -3.0; give a number from 0 to 100000; nothing changed"),  # it would run away
            ("p", 1e9, "gain p = 1000000000.0; give"),
            ("p", np.nan, "gain p = nan; give"),
            ("d", np.inf, "gain d = inf; give a number from 0 to 1000;"),
            ("i_clamp_min", 1.0, "gain i_clamp_min = 1.0; give a number from -100000 to 0;"),
        ):
            refused = client.update_configuration({"p": 7.0, "d": 0.2, name: bad})
            # whole; the page shows what is in force
            self.assertEqual(
                [refused[k] for k in ("p", "d", "i_clamp_min")], [5.0] + [start[k] for k in ("d", "i_clamp_min")]
            )
            self.log.wait(lambda m, words=f"{namespace}: {sentence}": words in m.msg)
        after = self.joints.messages[-1].header.stamp.to_sec() + 0.5
        self.assertAlmostEqual(stiffness(self.joints.wait(lambda m: m.header.stamp.to_sec() > after)), 5.0, delta=0.1)
        client.update_configuration({"p": start["p"], "d": start["d"]})
        client.close()

    def test_every_joint_has_its_pid_server(self) -> None:
        """36 of them."""
        for joint in JOINTS:
            rospy.wait_for_service(f"shellbot_legs_controller/{joint}/pid/set_parameters", timeout=60.0)

    def start_another(self, *arguments: str) -> str:
        """Start a second simulator that is expected to end by itself, and return what it says."""
        program = "from shellbot_simulator.node.simulator_node import main; main()"
        result = subprocess.run(
            [sys.executable, "-c", program, "__name:=other_simulator", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60.0,
            check=False,
        )
        self.assertEqual(result.returncode, 1)
        return result.stdout.decode()

    def test_wrong_parameters_end_the_node_with_advice(self) -> None:
        """Before it takes over any name."""
        self.assertIn("~variant is walker, but robot_profile is of simulation", self.start_another("_variant:=walker"))
        self.assertIn("cannot read /none.yaml", self.start_another("_config:=/none.yaml"))
        self.assertIn("~rtf is -1; give a number from 0", self.start_another("_rtf:=-1"))
        self.assertIn("the parameter /nowhere is missing", self.start_another("robot_description:=nowhere"))
        said = self.start_another("_rtf:=1.0", "robot_profile:=nowhere")
        self.assertIn("robot_profile is '', no profile of a robot", said)
        rospy.set_param("/use_sim_time", False)
        try:
            self.assertIn("rosparam set /use_sim_time true", self.start_another())
        finally:
            rospy.set_param("/use_sim_time", True)

    def test_pictures_come_while_somebody_listens(self) -> None:
        """rgb8, stamps on ticks, not empty; the joint states go on meanwhile."""
        camera = Recorder("camera/image_raw", Image)
        camera.wait(timeout=60.0)
        pictures = camera.wait_count(5)
        camera.close()
        picture = pictures[-1]
        self.assertEqual((picture.encoding, picture.width, picture.height, picture.step), ("rgb8", 640, 480, 1920))
        pixels = np.frombuffer(picture.data, dtype=np.uint8)
        self.assertEqual(pixels.size, 640 * 480 * 3)
        self.assertGreater(pixels.std(), 10.0)
        self.assertEqual(picture.header.stamp.to_nsec() % 100_000_000, 0)
        steps = np.diff([m.header.stamp.to_nsec() for m in self.joints.messages])
        self.assertEqual(set(steps.tolist()), {10_000_000})


if __name__ == "__main__":
    rospy.init_node("simulator_rostest", disable_rostime=True)
    rostest.rosrun("shellbot_simulator", "simulator_test", SimulatorTest)
