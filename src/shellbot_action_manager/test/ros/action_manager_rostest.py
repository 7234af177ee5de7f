#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""action_manager and odometry live: standing up, walking, refusals, death and rebirth, reset, emergency stop."""

from __future__ import annotations

import math
import os
import signal
import unittest
import xmlrpc.client

import actionlib
import dynamic_reconfigure.client
import numpy as np
import rosgraph
import rospy
import rostest
import tf2_ros
from actionlib_msgs.msg import GoalStatus
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose, Quaternion, Twist
from mode_watch import ModeWatch
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Log
from sensor_msgs.msg import JointState
from std_msgs.msg import String, UInt8MultiArray
from std_srvs.srv import Empty, SetBool, Trigger

from shellbot_msgs.msg import (
    Contacts,
    LimbReferences,
    Mode,
    PerformActionAction,
    PerformActionGoal,
    ServoState,
    ServoStates,
    Walkspace,
)
from shellbot_msgs.srv import RequestMode

WALL_LIMIT = 120.0  # s of wall clock for anything to happen
JUMP = 0.16  # rad between two joint targets, as in the unit tests


class Live(ModeWatch):
    """Listens to everything that the tests look at."""

    wall_limit = WALL_LIMIT

    def __init__(self):
        self.last, self.jumps, self.reference_times, self.logged = {}, [], [], []
        self.modes = []  # (name, target) of each message
        self.cmd_vel = rospy.Publisher("cmd_vel", Twist, queue_size=1)
        self.body_pose = rospy.Publisher("body_pose", Pose, queue_size=1)
        self.gait = rospy.Publisher("gait", String, queue_size=1)
        for name, kind in (
            ("mode", Mode),
            ("walkspace", Walkspace),
            ("odom", Odometry),
            ("ground_truth/odom", Odometry),
            ("foot_contacts", Contacts),
        ):
            rospy.Subscriber(name, kind, lambda message, key=name: self.last.__setitem__(key, message), queue_size=10)
        rospy.Subscriber("mode", Mode, lambda m: self.modes.append((m.name, m.target)), queue_size=100)
        rospy.Subscriber("joint_targets", JointState, self._on_targets, queue_size=100)
        rospy.Subscriber("limb_references", LimbReferences, self._on_references, queue_size=100)
        rospy.Subscriber("/diagnostics", DiagnosticArray, self._on_diagnostics, queue_size=100)
        rospy.Subscriber("/rosout", Log, self._on_log, queue_size=100)
        self.request_service = rospy.ServiceProxy("request_mode", RequestMode)

    def _on_targets(self, message):
        before, self.last["joint_targets"] = self.last.get("joint_targets"), message
        if before is not None and message.header.stamp > before.header.stamp:
            ticks = round((message.header.stamp - before.header.stamp).to_sec() / 0.01)  # a slow listener misses some
            step = np.abs(np.array(message.position) - np.array(before.position)).max() / ticks
            if step > JUMP:
                self.jumps.append((message.header.stamp.to_sec(), float(step)))

    def _on_references(self, message):
        self.last["limb_references"] = message
        self.reference_times.append(message.header.stamp.to_sec())

    def _on_log(self, message):
        if message.name == "/action_manager":
            self.logged.append(message.msg)

    def _on_diagnostics(self, message):
        for status in message.status:
            self.last["diagnostics " + status.name] = status

    def standing(self):
        self.until(lambda: self.mode() == ("hexapod", "hexapod", ""), "standing and ready")

    def request(self, mode):
        rospy.wait_for_service("request_mode", WALL_LIMIT)
        return self.request_service(mode)

    def drive(self, seconds, vx=0.0, vy=0.0, wz=0.0):
        twist = Twist()
        twist.linear.x, twist.linear.y, twist.angular.z = vx, vy, wz
        end = rospy.get_time() + seconds
        while rospy.get_time() < end and not rospy.is_shutdown():
            self.cmd_vel.publish(twist)
            rospy.sleep(0.05)

    def pose(self, topic):
        p, q = self.last[topic].pose.pose.position, self.last[topic].pose.pose.orientation
        return np.array([p.x, p.y, 2.0 * math.atan2(q.z, q.w)])

    def rest(self):
        """Wait until the robot does not move any more and odometry, which may lag behind on a busy machine, knows."""

        def still():
            before = self.pose("ground_truth/odom")
            self.until_later("ground_truth/odom", 0.3)
            return np.abs(self.pose("ground_truth/odom") - before).max() < 1e-3

        self.until(still, "at rest")
        stamp = self.stamp("ground_truth/odom")
        self.until(lambda: self.stamp("odom") >= stamp, "odometry of the robot at rest")


LIVE = None


class ActionManagerTest(unittest.TestCase):
    """Tests run in the order of their names."""

    def setUp(self):
        global LIVE
        LIVE = LIVE or Live()
        self.live = LIVE
        self.live.standing()
        self.live.until_later("joint_targets", 0.3)  # those on the way while it stood up belong to no test
        self.live.jumps.clear()

    def tearDown(self):
        self.live.cmd_vel.publish(Twist())
        self.assertEqual(self.live.jumps[:3], [], "joint targets jumped (stamp, rad)")

    def upright(self, height=0.150):
        q = self.live.last["ground_truth/odom"].pose.pose
        tilt = 2.0 * math.asin(min(1.0, math.hypot(q.orientation.x, q.orientation.y)))
        self.assertGreater(q.position.z, height)
        self.assertLess(tilt, 0.1)

    def test_01_stands_and_tells_everything(self):
        self.upright()
        live = self.live
        live.until(lambda: {"walkspace", "foot_contacts", "odom"} <= {*live.last}, "first messages")
        self.assertAlmostEqual(live.last["walkspace"].max_velocity.linear.x, 0.40, delta=0.02)
        self.assertEqual(live.last["walkspace"].gait, "tripod")
        self.assertIn("limp", live.last["walkspace"].gaits)
        contacts = live.last["foot_contacts"]
        self.assertEqual(contacts.model, "feet")
        self.assertEqual([(c.name, c.in_contact) for c in contacts.contacts][5], ("lower_6_foot", True))
        self.assertAlmostEqual(sum(c.load_share for c in contacts.contacts), 1.0)
        self.assertEqual(len(live.last["limb_references"].limbs), 13)
        steps = np.diff(live.reference_times[-100:])
        self.assertAlmostEqual(float(np.median(steps)), 0.01, delta=1e-6)
        live.until(lambda: "diagnostics action_manager" in live.last, "diagnostics")
        live.until(lambda: "diagnostics odometry" in live.last, "diagnostics of the odometry")
        live.rest()  # odometry may still be at the standing up
        tree = tf2_ros.Buffer()
        listener = tf2_ros.TransformListener(tree)
        # by the wall clock: simulated seconds pass faster than a listener connects
        live.until(
            lambda: tree.can_transform("odom", "base_link", rospy.Time(0)), "odom -> base_footprint -> base_link"
        )
        base = tree.lookup_transform("base_footprint", "base_link", rospy.Time(0))
        listener.unregister()
        self.assertAlmostEqual(base.transform.translation.z, 0.162, delta=0.006)

    def test_02_walks_and_knows_where(self):
        self.live.rest()
        for _ in range(10):  # anew where a pause of this process ended the command too early
            truth, odom = self.live.pose("ground_truth/odom"), self.live.pose("odom")
            self.live.drive(3.0, 0.2, 0.05, 0.2)
            self.live.until(lambda: self.live.mode()[2] == "", "stop after the time-out")
            self.live.rest()
            walked, estimated = self.live.pose("ground_truth/odom") - truth, self.live.pose("odom") - odom
            if math.hypot(*walked[:2]) > 0.4:
                break
        self.assertGreater(math.hypot(*walked[:2]), 0.4)
        self.assertLess(np.linalg.norm(walked[:2] - estimated[:2]), 0.05 * np.linalg.norm(walked[:2]))
        self.assertAlmostEqual(math.remainder(walked[2] - estimated[2], math.tau), 0.0, delta=0.02)
        self.upright()

    def test_025_a_leg_is_lost_by_hand_and_by_its_servos(self):
        live, text = self.live, lambda: self.live.last["mode"].text
        lost_legs = rospy.Publisher("lost_legs", UInt8MultiArray, queue_size=1)
        servo_states = rospy.Publisher("servo_states", ServoStates, queue_size=1)
        live.until(lambda: lost_legs.get_num_connections() and servo_states.get_num_connections(), "subscribed")
        lost_legs.publish(data=[7])
        live.until(lambda: any("lost_legs is [7]; give numbers" in line for line in live.logged), "refused number")
        lost_legs.publish(data=[2])
        live.until(lambda: text() == "walking without lower_2", "a leg lost by hand")
        lost_legs.publish(data=[])
        live.until(lambda: "without" not in text(), "the leg given back")
        stamp = [0.0]

        def text_with_age(age):
            stamp[0] += 0.1
            message = ServoStates(servos=[ServoState(joint="lower_5_tibia", age=age, torque_enabled=True)])
            message.header.stamp = rospy.Time.from_sec(stamp[0])
            servo_states.publish(message)
            return text()

        live.until(lambda: text_with_age(5.0) == "walking without lower_5", "a leg lost by its servo")
        live.until(lambda: "without" not in text_with_age(0.0), "the servo is back")

    def test_03_refusals_in_words(self):
        answer = self.live.request("relax")
        self.assertFalse(answer.accepted)
        self.assertIn("request sit first, then relax", answer.reason)
        self.assertEqual(answer.mode, "hexapod")
        self.live.until(lambda: "relax refused" in self.live.last["mode"].text, "refusal on the topic")
        self.live.until(lambda: any("relax" in text for text in self.live.logged), "refusal in the log")
        self.assertIn("there is no request 'fly'", self.live.request("fly").reason)
        self.live.gait.publish("moonwalk")
        self.live.until(lambda: "there is no gait 'moonwalk'" in self.live.last["mode"].text, "refused gait")
        self.live.gait.publish("tripod")
        self.live.until(lambda: any("moonwalk" in text for text in self.live.logged), "the gait's refusal in the log")
        self.assertEqual(
            sum("the robot would drop from its feet" in text for text in self.live.logged), 1, "logged once"
        )

    def test_03_the_page_of_gaits_changes_the_gait_while_it_walks(self):
        client = dynamic_reconfigure.client.Client("action_manager", timeout=WALL_LIMIT)
        stride = client.get_configuration()["tripod_stride_limit"]
        before = self.live.last["walkspace"].max_velocity.linear.x
        twist = Twist()
        twist.linear.x = 0.1

        def smaller():
            self.live.cmd_vel.publish(twist)
            return self.live.last["walkspace"].max_velocity.linear.x < 0.7 * before

        self.assertEqual(client.update_configuration({"tripod_stride_limit": 0.05})["tripod_stride_limit"], 0.05)
        self.live.until(smaller, "a shorter stride")
        wrong = client.update_configuration({"tripod_period_slow": 2.0, "tripod_stride_limit": 0.03})
        self.assertEqual((wrong["tripod_period_slow"], wrong["tripod_stride_limit"]), (0.8, 0.05))
        self.live.until(
            lambda: any("gait 'tripod': period_slow 2 s is more than twice" in text for text in self.live.logged),
            "the page's refusal",
        )
        client.update_configuration({"tripod_stride_limit": stride})
        self.live.until(lambda: self.live.last["walkspace"].max_velocity.linear.x == before, "the stride as it was")
        self.upright()

    def test_04_body_pose_is_followed_and_limited(self):
        pose = Pose(orientation=Quaternion(0.0, math.sin(0.1), 0.0, math.cos(0.1)))
        self.live.body_pose.publish(pose)
        self.live.until(lambda: abs(self.pitch() - 0.2) < 0.02, "the pitch")
        pose.position.z = 0.5
        self.live.body_pose.publish(pose)
        self.live.until(lambda: "body pose limited" in self.live.last["mode"].text, "named limit")
        self.live.body_pose.publish(Pose())
        self.live.until(lambda: abs(self.pitch()) < 0.02, "level again")
        self.live.rest()
        self.upright()

    def pitch(self):
        return 2.0 * math.asin(self.live.last["ground_truth/odom"].pose.pose.orientation.y)

    def test_05_killed_while_standing_it_takes_over_without_a_jump(self):
        uri = rosgraph.Master("/test").lookupNode("/action_manager")
        before = np.array(self.live.last["joint_targets"].position)
        os.kill(xmlrpc.client.ServerProxy(uri).getPid("/test")[2], signal.SIGKILL)
        seen = len(self.live.reference_times)
        self.live.until(lambda: "found standing" in self.live.last["mode"].text, "respawned and standing")
        self.live.until(lambda: len(self.live.reference_times) > seen + 100, "references again")
        self.live.standing()
        after = np.array(self.live.last["joint_targets"].position)
        self.assertLess(np.abs(after - before).max(), 0.1)
        self.upright()

    def test_06_reset_of_the_simulation_stands_up_again(self):
        self.live.modes.clear()
        rospy.ServiceProxy("/gazebo/reset_simulation", Empty)()
        self.live.until(lambda: ("sit", "hexapod") in self.live.modes, "standing up again")
        self.live.standing()
        self.live.rest()
        self.upright()
        self.live.until(lambda: np.abs(self.live.pose("odom")[:2]).max() < 0.05, "odometry begins anew")

    def test_07_emergency_stop_and_rearm(self):
        self.live.drive(1.0, 0.2)
        rospy.ServiceProxy("emergency_stop", Trigger)()
        self.live.until(lambda: self.live.mode()[0] == "stopped", "stopped")
        self.assertIn("rearm", self.live.request("sit").reason)
        stopped_at = self.live.last["mode"].header.stamp
        self.live.until(  # the two topics come by two connections
            lambda: self.live.last["limb_references"].header.stamp > stopped_at, "references of after the stop"
        )
        frozen = self.live.last["limb_references"]
        self.live.until_later("limb_references", 0.5)
        again = self.live.last["limb_references"]
        self.assertEqual([limb.joint_position for limb in again.limbs], [limb.joint_position for limb in frozen.limbs])
        rospy.ServiceProxy("rearm", Trigger)()
        self.live.standing()
        self.live.rest()
        self.upright()

    def test_08_sits_and_relaxes_and_stands_again(self):
        self.assertTrue(self.live.request("sit").accepted)
        self.live.until(lambda: self.live.mode() == ("sit", "sit", ""), "sitting")
        self.assertTrue(self.live.request("relax").accepted)
        self.live.until(lambda: self.live.mode()[0] == "relax", "relaxed")
        self.assertTrue(self.live.request("hexapod").accepted)
        self.live.standing()
        self.upright()

    def test_09_performs_pauses_and_cancels_an_action(self):
        self.live.standing()
        client = actionlib.SimpleActionClient("perform_action", PerformActionAction)
        self.assertTrue(client.wait_for_server(rospy.Duration(WALL_LIMIT)), "the action server")
        feedback = []

        def state_is(*states):  # the status comes on a topic of its own, often before the result
            return lambda: client.get_state() in states and client.get_result() is not None

        refused = (
            ("wvae", [], "is wave meant"),
            ("wave", [9.0], "leg of wave is 9"),
            ("wave", [1.0] * 7, "7 parameters"),
        )
        for name, parameters, reason in refused:
            client.send_goal(PerformActionGoal(name=name, parameters=parameters))
            self.live.until(state_is(GoalStatus.REJECTED), "refused")
            self.assertIn(reason, client.get_goal_status_text())
        client.send_goal(PerformActionGoal(name="bow", parameters=[5.0]), feedback_cb=feedback.append)
        self.live.until(state_is(GoalStatus.SUCCEEDED), "the bow")
        self.assertEqual((client.get_result().success, client.get_result().text), (True, "bow done"))
        self.assertIn("1 of 2: bow", {f.sub_action for f in feedback})
        self.assertTrue(all(a.progress <= b.progress for a, b in zip(feedback, feedback[1:])))

        # slowly, so that a busy machine sees what passes
        goal = PerformActionGoal(name="wave", parameters=[4.0], parameter_names=["leg"], speed=0.25)
        client.send_goal(goal, feedback_cb=feedback.append)
        self.live.until(lambda: "wave" in feedback[-1].sub_action and feedback[-1].phase > 0.3, "the leg in the air")
        pause = rospy.ServiceProxy("pause_action", SetBool)
        self.assertTrue(pause(True).success)
        self.live.until(lambda: feedback[-1].paused, "paused")
        other = actionlib.SimpleActionClient("perform_action", PerformActionAction)
        other.wait_for_server()
        other.send_goal(PerformActionGoal(name="bow"))
        self.live.until(lambda: other.get_state() == GoalStatus.REJECTED, "a second goal refused")
        self.assertIn("wave is being performed", other.get_goal_status_text())
        self.live.until(lambda: not self.live.last["foot_contacts"].contacts[3].in_contact, "the leg in the air")
        client.cancel_goal()
        self.live.until(state_is(GoalStatus.PREEMPTED), "cancelled")
        self.assertIn("back at rest", client.get_result().text)
        self.assertFalse(pause(True).success)
        self.live.standing()
        self.live.until(lambda: self.live.last["foot_contacts"].contacts[3].in_contact, "the leg on the ground")
        self.upright()

    def test_095_queued_goals_walk_sit_and_stand_and_a_step_is_undone(self):
        def client_of(**goal):
            client = actionlib.SimpleActionClient("perform_action", PerformActionAction)
            client.wait_for_server()
            client.send_goal(PerformActionGoal(**goal), feedback_cb=steps.append)
            return client

        def ended(client, state):
            self.live.until(lambda: client.get_state() == state and client.get_result() is not None, "the end")
            return client.get_result().text

        self.live.standing()
        begin, steps = self.live.pose("odom"), []
        first, pause = client_of(name="visit", parameters=[0.1]), rospy.ServiceProxy("pause_action", SetBool)
        self.live.until(lambda: steps, "feedback")
        self.assertTrue(pause(True).success)  # else the visit may be over before a busy machine has sent the others
        second = client_of(name="stand", queued=True)
        third = client_of(name="dance", queued=True)
        fourth = client_of(name="wave", parameters=[2.0], queued=True, speed=0.25)
        self.assertEqual(ended(client_of(name="bow"), GoalStatus.REJECTED), "visit is being performed; cancel it first")
        self.live.until(lambda: third.get_state() == GoalStatus.PENDING, "in the queue")
        third.cancel_goal()
        self.assertEqual(ended(third, GoalStatus.RECALLED), "taken out of the queue")
        self.assertTrue(pause(False).success)
        self.assertEqual(ended(first, GoalStatus.SUCCEEDED), "visit done")
        self.assertEqual(ended(second, GoalStatus.SUCCEEDED), "stand done")
        walked = np.linalg.norm(self.live.pose("odom")[:2] - begin[:2])
        self.assertTrue(0.08 < walked < 0.3, walked)  # the simulation may run on while the odometry is on its way

        self.live.until(lambda: steps[-1].sub_action == "3 of 7: wave", "waving")
        undo = rospy.ServiceProxy("undo_action", Trigger)
        answer = undo()
        self.assertTrue(answer.success, answer.message)
        self.live.until(lambda: steps[-1].paused and steps[-1].phase in (0.0, 1.0), "undone")
        self.assertTrue(pause(False).success)
        self.assertEqual(ended(fourth, GoalStatus.SUCCEEDED), "wave done")
        self.assertFalse(undo().success)
        self.assertTrue(self.live.request("hexapod").accepted)
        self.live.standing()

    def test_10_an_emergency_stop_ends_an_action(self):
        client = actionlib.SimpleActionClient("perform_action", PerformActionAction)
        client.wait_for_server()
        client.send_goal(PerformActionGoal(name="wave", speed=0.25))
        self.live.until(lambda: self.live.mode()[2] == "perform", "performing")
        rospy.ServiceProxy("emergency_stop", Trigger)()
        self.live.until(lambda: client.get_state() == GoalStatus.ABORTED, "aborted")
        rospy.ServiceProxy("rearm", Trigger)()
        self.live.standing()
        self.upright()


if __name__ == "__main__":
    rospy.init_node("action_manager_rostest")
    rostest.rosrun("shellbot_action_manager", "action_manager_live", ActionManagerTest)
