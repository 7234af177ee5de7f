#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The whole chain, live: it walks, and bad input makes it neither jump nor fall."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
import unittest
import xmlrpc.client

import dynamic_reconfigure.client
import rosgraph
import rospy
import rosservice
import rostest
from geometry_msgs.msg import Twist
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Empty, Trigger

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from live_robot import LiveRobot  # noqa: E402

ROBOT = None


def pid_of(node):
    uri = rosgraph.Master("/chain_rostest").lookupNode(node)
    return xmlrpc.client.ServerProxy(uri).getPid("/chain_rostest")[2]


class ChainTest(unittest.TestCase):
    """Tests run in the order of their names: the first stands the robot up."""

    def setUp(self):
        global ROBOT
        if ROBOT is None:
            ROBOT = LiveRobot()
        self.robot = ROBOT
        self.robot.wait_until_standing(30)
        self.robot.jumps.clear()
        self.robot.falls.clear()
        self.robot.log.clear()
        self.robot.watch_falls = True

    def tearDown(self):
        self.robot.stop()
        self.robot.watch_falls = False
        self.assertEqual(self.robot.jumps[:3], [], "joint targets jumped")
        self.assertEqual(self.robot.falls[:3], [], "the robot fell (time, height, tilt_deg)")

    def settle(self):
        self.robot.settle()

    def walks(self, tries=10, when=""):
        ahead, _, _ = self.robot.drive_until(lambda dx, _dy, _turned: dx > 0.08, 1.5, 0.15, tries=tries)
        self.assertGreater(ahead, 0.08, f"walks {when}")

    def test_01_walks_any_mix(self):
        for vx, vy, wz in ((0, 0.12, 0), (0.08, -0.06, 0.3)):
            self.settle()

            def fraction(dx, dy, turned, vx=vx, vy=vy, wz=wz):
                """Of what two seconds of the command would make."""
                return (turned / wz if wz else (dx * vx + dy * vy) / (vx * vx + vy * vy)) / 2.0

            moved = self.robot.drive_until(lambda *moved: fraction(*moved) > 0.7, 2.5, vx, vy, wz)
            self.assertGreater(fraction(*moved), 0.7, (vx, vy, wz, moved))

    def test_02_command_timeout_stops(self):
        self.settle()
        self.robot.drive(1.5, 0.2)  # and then silence, without a zero
        self.robot.wait_for(
            lambda: abs(self.robot.truth.twist.twist.linear.x) < 0.02, 60.0, "stop after the last cmd_vel"
        )
        self.robot.let_pass(1.0)
        start = self.robot.pose()
        self.robot.let_pass(1.0)
        dx, dy, turned = self.robot.moved_since(start)
        self.assertLess(math.hypot(dx, dy), 0.003)

    def test_03_nan_twist_is_refused_in_words(self):
        self.settle()
        start = self.robot.pose()
        for bad in (float("nan"), float("inf")):
            twist = Twist()
            twist.linear.x = bad
            for _ in range(10):
                self.robot.cmd_vel.publish(twist)
                rospy.sleep(0.05)
        self.robot.wait_logged("cmd_vel")
        dx, dy, _ = self.robot.moved_since(start)
        self.assertLess(math.hypot(dx, dy), 0.005)

    def test_04_too_fast_is_scaled_with_its_direction(self):
        self.settle()
        start = self.robot.pose()
        self.robot.drive(3.0, 5.0, 5.0, 0.0)
        self.settle()
        dx, dy, _ = self.robot.moved_since(start)
        self.assertGreater(math.hypot(dx, dy), 0.3)
        self.assertLess(math.hypot(dx, dy), 3.0 * 0.6)
        self.assertAlmostEqual(math.degrees(math.atan2(dy, dx)), 45.0, delta=6.0)

    def test_05_bad_joint_targets_are_held_off(self):
        self.settle()
        self.robot.watch_targets = False  # the witness would see the bad ones, too
        publisher = rospy.Publisher("joint_targets", JointState, queue_size=1)
        self.robot.wait_for(lambda: publisher.get_num_connections() >= 1, 60, "connector listens")
        before = self.robot.states
        good = list(self.robot.targets.name)
        for names, positions in (
            (good, [0.0] * 5),
            (["nonsense"] * len(good), [0.0] * len(good)),
            (good, [float("nan")] * len(good)),
        ):
            bad = JointState(name=names, position=positions)
            for _ in range(5):
                bad.header.stamp = rospy.Time.now()
                publisher.publish(bad)
                rospy.sleep(0.02)
        publisher.unregister()
        self.robot.wait_logged("joint_targets")
        self.robot.let_pass(0.3)
        after = self.robot.states
        self.assertLess(max(abs(a - b) for a, b in zip(before.position, after.position)), 0.05)
        self.robot.watch_targets = True

    def test_06_unknown_gait_is_refused_with_the_choices(self):
        publisher = rospy.Publisher("gait", String, queue_size=1, latch=True)
        self.robot.wait_for(lambda: publisher.get_num_connections() >= 1, 60, "action manager listens")
        publisher.publish("moonwalk")
        self.robot.wait_logged("moonwalk", "tripod")
        publisher.publish("tripod")
        self.settle()
        self.walks()

    def test_07_each_node_may_die(self):
        aside = ("/odometry", "/gains", "/robot_state_publisher")  # the robot walks without them
        for nodes in (("/kinematics",), ("/action_manager",), ("/gazebo_connector",), aside):
            self.settle()
            old = {node: pid_of(node) for node in nodes}
            for pid in old.values():
                os.kill(pid, signal.SIGKILL)

            def are_back(old=old):
                try:
                    return all(pid_of(node) != pid for node, pid in old.items())
                except Exception:  # not registered yet
                    return False

            self.robot.wait_for(are_back, 60, f"{nodes} come back", wall_s=300)
            self.robot.wait_until_standing(30)
            # on a busy machine a node that is back may still import and compile
            self.walks(tries=20, when=f"after {nodes} died")
            self.assertEqual(self.robot.falls[:3], [], f"fell after {nodes} died")

    def test_08_gains_are_tuned_live(self):
        self.settle()
        page = dynamic_reconfigure.client.Client("gains", timeout=60)
        joint = dynamic_reconfigure.client.Client("shellbot_legs_controller/lower_3_femur/pid", timeout=60)
        before = joint.get_configuration()["p"]
        page.update_configuration({"stiffness": 0.8})
        self.robot.wait_for(lambda: abs(joint.get_configuration()["p"] - 0.8 * before) < 1e-6, 60, "softer joints")
        page.update_configuration({"stiffness": 1.0})
        self.robot.wait_for(lambda: abs(joint.get_configuration()["p"] - before) < 1e-6, 60, "stiff again")
        page.close()
        joint.close()

    def test_08_torques_are_fed_forward_live_by_the_gains_in_force(self):
        self.settle()
        gains = dynamic_reconfigure.client.Client("gains", timeout=60)
        manager = dynamic_reconfigure.client.Client("action_manager", timeout=60)
        joint = dynamic_reconfigure.client.Client("shellbot_legs_controller/lower_3_femur/pid", timeout=60)
        stiff = joint.get_configuration()["p"]

        def error_deg():
            targets = dict(zip(self.robot.targets.name, self.robot.targets.position))
            pairs = zip(self.robot.states.name, self.robot.states.position)
            return math.degrees(max(abs(q - targets[name]) for name, q in pairs if "femur" in name or "tibia" in name))

        self.assertGreater(error_deg(), 0.3, "the joints sag")
        manager.update_configuration({"feed_forward_gravity": 1.0})
        self.robot.wait_for(lambda: error_deg() < 0.15, 60, "no sag")
        gains.update_configuration({"stiffness": 0.7})
        self.robot.wait_for(lambda: joint.get_configuration()["p"] < 0.8 * stiff, 60, "softer joints")
        self.robot.let_pass(1.0)
        self.robot.wait_for(lambda: error_deg() < 0.15, 60, "no sag with softer joints")
        self.walks()
        gains.update_configuration({"stiffness": 1.0})
        self.settle()
        manager.update_configuration({"feed_forward_gravity": 0.0})
        self.robot.wait_for(lambda: error_deg() > 0.3, 60, "sag again")
        for page in (gains, manager, joint):
            page.close()

    def test_09_emergency_stop_freezes_until_rearm(self):
        stop, rearm = rospy.ServiceProxy("emergency_stop", Trigger), rospy.ServiceProxy("rearm", Trigger)
        self.settle()
        start = self.robot.pose()
        self.assertTrue(stop().success)
        self.robot.wait_for(lambda: self.robot.mode.name == "stopped", 60, "mode stopped")
        self.robot.drive(1.5, 0.2)
        dx, dy, _ = self.robot.moved_since(start)
        self.assertLess(math.hypot(dx, dy), 0.01)
        answer = self.robot.request("sit")
        self.assertFalse(answer.accepted)
        self.assertIn("rearm", answer.reason)
        self.assertTrue(rearm().success)
        self.robot.wait_until_standing(15)

    def test_10_sits_and_stands_on_request(self):
        self.robot.watch_falls = False
        self.assertTrue(self.robot.request("sit").accepted)
        self.robot.wait_for(lambda: self.robot.in_mode("sit"), 60, "sit down")
        self.assertLess(self.robot.truth.pose.pose.position.z, 0.13)
        start = self.robot.pose()
        self.robot.drive(1.0, 0.2)
        self.assertLess(math.hypot(*self.robot.moved_since(start)[:2]), 0.01)
        refusal = self.robot.request("dance")
        self.assertFalse(refusal.accepted)
        self.assertIn("hexapod", refusal.reason)
        self.assertTrue(self.robot.request("hexapod").accepted)
        self.robot.wait_until_standing(15)

    def test_11_a_long_pause_changes_nothing(self):
        self.settle()
        self.robot.drive(1.0, 0.15)
        pause, unpause = (rospy.ServiceProxy(f"/gazebo/{word}_physics", Empty) for word in ("pause", "unpause"))
        pause()
        time.sleep(10.0)  # wall time, as the clock stands still; in all longer than any time-out of a node
        stopped_at = rospy.get_time()
        joints = list(self.robot.states.position)
        time.sleep(5.0)
        self.assertEqual(rospy.get_time(), stopped_at)
        unpause()
        self.robot.let_pass(0.05)
        self.assertLess(max(abs(a - b) for a, b in zip(joints, self.robot.states.position)), 0.3)
        self.settle()
        self.walks()

    def test_12_reset_begins_anew(self):
        self.settle()
        self.robot.drive(1.0, 0.15)
        self.robot.watch_falls = False
        before = rospy.get_time()
        rospy.ServiceProxy("/gazebo/reset_simulation", Empty)()
        self.robot.wait_for(
            lambda: rospy.get_time() < before - 1.0 or rospy.get_time() < 1.0, 60, "the clock jumps back", wall_s=60
        )
        self.robot.wait_for(lambda: not self.robot.in_mode("hexapod"), 60, "leave the mode", wall_s=60)
        self.robot.wait_until_standing(20)
        # A target that was under way at the reset is answered from the joints of the new start, with its own old stamp.
        self.robot.jumps[:] = [jump for jump in self.robot.jumps if jump[-3] < before]
        x, y, yaw = self.robot.pose()
        self.assertLess(math.hypot(x, y), 0.05)
        self.assertLess(math.hypot(self.robot.odom.pose.pose.position.x, self.robot.odom.pose.pose.position.y), 0.05)

    def test_13_every_service_of_the_interface_is_there(self):
        listed = set(rosservice.get_service_list())
        for name in (
            "/request_mode",
            "/emergency_stop",
            "/rearm",
            "/compute_fk",
            "/compute_ik",
            "/gazebo/pause_physics",
            "/gazebo/unpause_physics",
            "/gazebo/reset_simulation",
            "/gazebo/reset_world",
            "/gains/set_parameters",
            "/shellbot_legs_controller/upper_6_shell/pid/set_parameters",
        ):
            self.assertIn(name, listed)


if __name__ == "__main__":
    rospy.init_node("chain_rostest")
    rostest.rosrun("shellbot_bringup", "chain", ChainTest)
