#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kinematics server over real topics and services; this test plays the action manager and the robot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import unittest
import xmlrpc.client

import dynamic_reconfigure.client
import numpy as np
import rosgraph
import rospy
import rostest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose, Quaternion
from sensor_msgs.msg import JointState

from shellbot_common.testing import PATIENCE, wait_until
from shellbot_kinematics import Frame, Kind, LimbReference, LimbReferences, ShellbotSolver
from shellbot_kinematics.limb_references_conversions import references_to_message
from shellbot_msgs.msg import LimbReferences as LimbReferencesMsg
from shellbot_msgs.srv import ComputeFK, ComputeFKRequest, ComputeIK, ComputeIKRequest

STAND = np.radians([0.0, -16.8, -9.4, 110.2] * 6 + [26.69, 78.31] * 6)
TICK_NS = 10_000_000
CONNECTIONS = {("i", "/joint_states"), ("i", "/limb_references"), ("o", "/joint_targets")}


class KinematicsServerTest(unittest.TestCase):
    """One conversation after the other; each brings the clock further."""

    tick = 1000

    @classmethod
    def setUpClass(cls):
        cls.solver = ShellbotSolver(rospy.get_param("robot_description"))
        cls.answers, cls.diagnostics = {}, []
        cls.came = threading.Condition()
        cls.joint_states = rospy.Publisher("joint_states", JointState, queue_size=10)
        cls.references = rospy.Publisher("limb_references", LimbReferencesMsg, queue_size=10)
        cls.subscribers = [
            rospy.Subscriber("joint_targets", JointState, cls.on_targets, queue_size=50),
            rospy.Subscriber("/diagnostics", DiagnosticArray, lambda m: cls.diagnostics.append(m.status[0])),
        ]

    @classmethod
    def on_targets(cls, message):
        with cls.came:
            cls.answers[message.header.stamp.to_nsec()] = message
            cls.came.notify_all()

    def setUp(self):
        self.connect()
        self.measure(STAND)

    def connect(self):
        rospy.wait_for_service("compute_ik", PATIENCE)
        wait_until(lambda: self.connected() >= CONNECTIONS, "connections to the server")

    @staticmethod
    def connected():
        """Return (direction, topic) of the server's living connections; our own counts still hold a dead node's."""
        try:
            uri = rosgraph.Master("/kinematics_server_rostest").lookupNode("/kinematics")
            bus = xmlrpc.client.ServerProxy(uri).getBusInfo("/kinematics_server_rostest")[2]
        except (OSError, rosgraph.MasterError):
            return set()
        return {(entry[2], entry[4]) for entry in bus if entry[5]}

    def measure(self, q, names=None):
        names = list(self.solver.names if names is None else names)
        self.measured = JointState(name=names, position=list(q))
        self.joint_states.publish(self.measured)

    def stamp(self):
        KinematicsServerTest.tick += 1
        nanoseconds = self.tick * TICK_NS
        return rospy.Time(nanoseconds // 10**9, nanoseconds % 10**9)

    def ask(self, message, stamp=None):
        """Publish and return the answer that carries the same stamp, to the nanosecond."""
        message.header.stamp = self.stamp() if stamp is None else stamp
        key = message.header.stamp.to_nsec()
        with self.came:
            self.answers.pop(key, None)
            for _ in range(int(PATIENCE / 5.0)):
                self.references.publish(message)
                if self.came.wait_for(lambda: key in self.answers, 5.0):
                    break
                self.joint_states.publish(self.measured)  # the first of a connection may be lost on a busy machine
            self.assertIn(key, self.answers, "no joint_targets with the stamp of the references")
            return self.answers[key]

    def feet(self, shift=(0.0, 0.0, 0.0)):
        return self.led(self.solver.fk_feet(STAND) + shift, "foot", linear=(0.0, 0.0, 0.0))

    def led(self, points, tip, **twist):
        """Return the message of the fan at zero and the six lower legs with a tip (6, 3) at the points."""
        limbs = [LimbReference("fan", Kind.JOINTS, joint_position=(0.0,))]
        for k, point in enumerate(points.tolist(), 1):
            limbs.append(LimbReference(f"lower_{k}", Kind.POSE, f"lower_{k}_{tip}", point, **twist))
        return references_to_message(LimbReferences(0.0, tuple(limbs)))

    def settle(self, message, ticks=30):
        for _ in range(ticks):
            answer = self.ask(message)
        return answer

    # ------------------------------------------------------------------------------------------
    def test_targets_follow_references(self):
        answer = self.settle(self.feet((0.01, -0.005, 0.008)))
        self.assertEqual(tuple(answer.name), self.solver.names)
        self.assertEqual(len(answer.velocity), 36)
        feet = self.solver.fk_feet(np.array(answer.position))
        np.testing.assert_allclose(feet, self.solver.fk_feet(STAND) + [0.01, -0.005, 0.008], atol=1e-9)

    def test_nan_holds_one_limb(self):
        before = self.settle(self.feet())
        message = self.feet((0.0, 0.0, 0.01))
        message.limbs[3].pose.position.x = float("nan")
        after = self.settle(message)
        self.assertEqual(after.position[8:12], before.position[8:12])
        self.assertGreater(abs(after.position[3] - before.position[3]), 0.01)

    def test_unreadable_references_hold_everything(self):
        before = self.settle(self.feet())
        for spoil in ("limb", "kind", "frame", "twice", "length"):
            message = self.feet((0.0, 0.0, 0.02))
            if spoil == "limb":
                message.limbs[1].limb = "lower_9"
            elif spoil == "kind":
                message.limbs[1].kind = 77
            elif spoil == "frame":
                message.limbs[1].frame = "lower_2_foot"
            elif spoil == "twice":
                message.limbs[2].limb, message.limbs[2].frame = "lower_1", "lower_1_foot"
            else:
                message.limbs[0].joint_position = [0.0, 0.0]
            self.assertEqual(self.ask(message).position, before.position, spoil)

    def test_out_of_reach_is_answered_and_diagnosed(self):
        message = self.feet()
        message.limbs[4].pose.position.x -= 1.0
        answer = self.settle(message)
        self.assertTrue(np.isfinite(answer.position).all())
        self.diagnostics.clear()

        def told():
            self.ask(message)
            words = [v.value for status in self.diagnostics for v in status.values if v.key == "lower_4"]
            return any("mm from its reference" in w for w in words)

        wait_until(told, "diagnostics naming lower_4")

    def walk(self, ticks, tip="foot", start=0):
        """Walk in place with a robot that reaches 0.01 rad short of its targets; return the targets of all ticks."""
        sag = np.tile([0.0, 0.0, 0.01, 0.01], 6)
        targets = []
        for k in range(start, start + ticks):
            feet = self.solver.fk_feet(STAND)
            feet[:, 2] += 0.015 * (1.0 + np.sin(2.0 * np.pi * (0.01 * k) + np.pi * (np.arange(6) % 2)))
            if tip == "sphere_centre":
                q = [self.solver.inverse(f"lower_{i + 1}", Frame.FOOT, feet[i]).q for i in range(6)]
                points = [self.solver.forward(f"lower_{i + 1}", Frame.SPHERE_CENTRE, q[i])[:3, 3] for i in range(6)]
                feet = np.array(points)
            targets.append(np.array(self.ask(self.led(feet, tip)).position))
            measured = targets[-1].copy()
            measured[:24] += sag
            self.measure(measured)
        return targets

    def test_live_switches_do_not_jump(self):
        page = dynamic_reconfigure.client.Client("kinematics", timeout=PATIENCE)
        speed = np.array(self.solver.model.velocity)
        try:
            targets = self.walk(40)
            for k, changes in enumerate(
                ({"solver": "clik"}, {"clik_gain_z": 20.0}, {"solver": "lm"}, {"solver": "closed_form"})
            ):
                now = page.update_configuration(changes)
                self.assertEqual({name: now[name] for name in changes}, changes)
                targets += self.walk(40, "sphere_centre" if k % 2 else "foot", len(targets))
            steps = np.abs(np.diff(np.array(targets), axis=0)) / 0.01
            self.assertLess((steps / speed).max(), 1.0)
            self.assertGreater(np.abs(targets[79] - targets[39]).max(), 0.005)  # clik makes up for the sag
            self.assertEqual(rospy.get_param("kinematics/solver"), "closed_form")
        finally:
            page.update_configuration({"solver": "closed_form", "clik_gain_z": 50.0, "blend_time": 0.2})
            page.close()

    def test_unknown_solver_changes_nothing(self):
        page = dynamic_reconfigure.client.Client("kinematics", timeout=PATIENCE)
        try:
            now = page.update_configuration({"solver": "magic", "blend_time": 0.3})
            self.assertEqual((now["solver"], now["blend_time"]), ("closed_form", 0.2))
        finally:
            page.close()

    def test_odd_joint_states(self):
        self.settle(self.feet())

        def partly():
            request = ComputeFKRequest(limb="lower_1", frame="lower_1_foot")
            q = STAND[:4].copy()
            q[1] = 2.0
            p = rospy.ServiceProxy("compute_fk", ComputeFK)(request).pose.pose.position
            return np.allclose([p.x, p.y, p.z], self.solver.forward("lower_1", Frame.FOOT, q)[:3, 3])

        for position, names in (
            ([1.0, 2.0], ["wheel", "lower_1_coxa"]),  # unknown and few
            ([1.0], ["lower_1_coxa", "lower_2_coxa"]),  # wrong length: ignored
            ([float("nan")], ["lower_2_coxa"]),
        ):
            self.measure(position, names)  # each heard before the next: the node keeps the newest only
            wait_until(partly, "the one known joint of joint_states")
        self.assertTrue(np.isfinite(self.ask(self.feet()).position).all())

    def test_services(self):
        fk, ik = rospy.ServiceProxy("compute_fk", ComputeFK), rospy.ServiceProxy("compute_ik", ComputeIK)
        q = [-0.2, 0.3, -0.4, 1.5]
        pose = fk(ComputeFKRequest(limb="lower_5", frame="lower_5_foot", joint_position=q)).pose
        self.assertEqual(pose.header.frame_id, "base_link")
        answer = ik(ComputeIKRequest(limb="lower_5", frame="lower_5_foot", pose=pose.pose, fan_position=-0.2))
        self.assertTrue(answer.success, answer.reason)
        np.testing.assert_allclose(answer.joint_position, q, atol=1e-9)
        pose.pose.orientation = Quaternion(0.0, 0.0, 0.0, 1.0)
        answer = ik(ComputeIKRequest(limb="lower_5", frame="lower_5_foot", pose=pose.pose, fan_position=-0.2))
        self.assertFalse(answer.success)
        self.assertRegex(answer.reason, r"lower_5 stops 0\.0 mm and \d+ deg from its target")
        np.testing.assert_allclose(answer.joint_position, q, atol=1e-9)
        upper = fk(ComputeFKRequest(limb="upper_2", frame="upper_2_sphere_centre", joint_position=[0.3, 1.2])).pose.pose
        np.testing.assert_allclose(
            ik(ComputeIKRequest(limb="upper_2", frame="upper_2_sphere_centre", pose=upper)).joint_position,
            [0.3, 1.2],
            atol=1e-9,
        )
        far = Pose()
        far.position.x = 2.0
        answer = ik(ComputeIKRequest(limb="lower_1", frame="lower_1_foot", pose=far))
        self.assertFalse(answer.success)
        self.assertIn("lower_1 stops", answer.reason)
        self.assertGreater(answer.error, 1.0)
        self.assertEqual(len(answer.joint_position), 4)
        for request in (
            ComputeFKRequest(limb="tail", frame="tail_tip"),
            ComputeFKRequest(limb="upper_1", frame="upper_1_foot", joint_position=[0, 0]),
            ComputeFKRequest(limb="lower_1", frame="lower_1_foot", joint_position=[0, 0]),
        ):
            answer = fk(request)
            self.assertFalse(answer.success)
            self.assertGreater(len(answer.reason), 10)
        far.position.x = float("inf")
        self.assertIn("p_base", ik(ComputeIKRequest(limb="lower_1", frame="lower_1_foot", pose=far)).reason)
        part = Pose()
        part.position.x, part.position.y, part.position.z = float("nan"), 0.05, -0.15
        answer = ik(ComputeIKRequest(limb="lower_1", frame="lower_1_foot", pose=part))
        self.assertTrue(answer.success, answer.reason)
        p = self.solver.forward("lower_1", Frame.FOOT, answer.joint_position)[:3, 3]
        np.testing.assert_allclose(p[1:], [0.05, -0.15], atol=1e-6)
        free = Pose()  # within reach with the fan turned only
        free.position.x, free.position.y, free.position.z = self.solver.forward(
            "lower_1", Frame.FOOT, [-1.5, 0.1, -0.4, 1.5]
        )[:3, 3]
        self.assertFalse(ik(ComputeIKRequest(limb="lower_1", frame="lower_1_foot", pose=free)).success)
        answer = ik(ComputeIKRequest(limb="lower_1", frame="lower_1_foot", pose=free, fan_position=float("nan")))
        self.assertTrue(answer.success, answer.reason)
        self.assertLess(answer.joint_position[0], -0.1)

    def test_clock_reset_starts_from_the_measured_joints(self):
        self.settle(self.feet((0.0, 0.0, 0.03)))
        elsewhere = STAND.copy()
        elsewhere[1:24:4] += 0.3
        self.measure(elsewhere)
        rospy.ServiceProxy("compute_fk", ComputeFK)(ComputeFKRequest(limb="lower_1", frame="lower_1_foot"))
        wait_until(lambda: self.measured_coxa() > STAND[1] + 0.29, "the measured joints")
        back = rospy.Time(1, 10_000_000)
        first = self.ask(self.feet(), back)  # older than everything before
        self.assertLess(np.abs(np.array(first.position) - elsewhere).max(), 0.02)

    def measured_coxa(self):
        """The coxa of lower_1 that the server has heard of last, from where it sees the foot."""
        fk = rospy.ServiceProxy("compute_fk", ComputeFK)
        p = fk(ComputeFKRequest(limb="lower_1", frame="lower_1_foot")).pose.pose.position
        angles = np.linspace(-1.0, 1.0, 2001)
        feet = [self.solver.forward("lower_1", Frame.FOOT, [STAND[0], a, STAND[2], STAND[3]])[:3, 3] for a in angles]
        return angles[np.argmin(np.linalg.norm(np.array(feet) - [p.x, p.y, p.z], axis=1))]

    def test_restart_goes_on_without_a_jump(self):
        self.settle(self.feet((0.0, 0.0, 0.01)))
        uri = rosgraph.Master("/test").lookupNode("/kinematics")
        old = xmlrpc.client.ServerProxy(uri).getPid("/test")[2]
        os.kill(old, signal.SIGKILL)

        def is_back():
            try:
                uri = rosgraph.Master("/test").lookupNode("/kinematics")
                return xmlrpc.client.ServerProxy(uri).getPid("/test")[2] != old
            except (OSError, rosgraph.MasterError):
                return False

        wait_until(is_back, "the respawned server")
        self.connect()
        measured = STAND + 0.05 * np.sign(np.arange(36) % 4)  # not the fans
        self.measure(measured)
        wait_until(lambda: self.measured_coxa() > STAND[1] + 0.04, "the measured joints")
        first = self.ask(self.feet())
        self.assertLess(np.abs(np.array(first.position) - measured).max(), 1e-9)
        np.testing.assert_allclose(
            self.solver.fk_feet(np.array(self.settle(self.feet()).position)), self.solver.fk_feet(STAND), atol=1e-9
        )

    def test_waits_for_the_description(self):
        """A second server in a namespace of its own, started before its robot_description."""
        environment = dict(os.environ, ROS_NAMESPACE="late")
        program = [sys.executable, "-c", "from shellbot_kinematics.kinematics_server_node import main; main()"]
        process = subprocess.Popen(
            program, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            line = b""
            while b"waiting for the parameter /late/robot_description" not in line:
                line = process.stdout.readline()
                self.assertTrue(line, "the server ended instead of waiting")
            with self.assertRaises(rospy.ROSException):
                rospy.wait_for_service("late/compute_fk", 0.3)
            rospy.set_param("late/robot_description", rospy.get_param("robot_description"))
            rospy.wait_for_service("late/compute_fk", PATIENCE)
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(PATIENCE)
            process.stdout.close()


if __name__ == "__main__":
    rospy.init_node("kinematics_server_rostest", disable_rostime=True)
    rostest.rosrun("shellbot_kinematics", "kinematics_server", KinematicsServerTest, sys.argv)
