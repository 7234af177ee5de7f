#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that drive the running robot: walking, actions, refusals, an interrupt, recording, a dead action manager."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import xmlrpc.client

import rosgraph
import rospy
import rostest
from nav_msgs.msg import Odometry

from shellbot_action_manager.actions.library import ActionLibrary
from shellbot_chain.errors import MissionFailed
from shellbot_client import Shellbot
from shellbot_client.pose_conversions import planar_pose
from shellbot_common.testing import PATIENCE, wait_until
from shellbot_evaluation.action_check import check_action


class ClientLive(unittest.TestCase):
    def truth(self):
        return planar_pose(rospy.wait_for_message("ground_truth/odom", Odometry, PATIENCE))

    def height(self):
        return rospy.wait_for_message("ground_truth/odom", Odometry, PATIENCE).pose.pose.position.z

    def test_1_it_walks_performs_and_turns(self):
        with Shellbot() as robot:
            robot.go_to("hexapod")
            start, place, steps = self.truth(), robot.place, []
            robot.walk(x=0.3, speed=0.2)
            robot.perform("wave", speed=0.25, on_progress=lambda progress: steps.append(progress.step), leg=2)
            self.assertTrue(any(step.startswith("2 of 7") for step in steps), steps[-1:])
            walked = self.truth()
            # A program that gets no processor stops a walk or turn late, by a quarter of a turn on a busy machine: what
            # is compared is what it knows of the way. In virtual time test_client_robot has length and angle.
            far, known = math.dist(walked[:2], start[:2]), math.hypot(robot.place.x - place.x, robot.place.y - place.y)
            self.assertGreater(far, 0.28)
            self.assertAlmostEqual(far, known, delta=0.02)
            yaw = robot.place.yaw
            robot.turn(deg=40)
            turned = math.degrees(math.remainder(self.truth()[2] - walked[2], math.tau))
            self.assertGreater(turned, 38.0)
            known = math.remainder(robot.place.yaw - yaw, math.tau)
            self.assertAlmostEqual(turned, math.degrees(known), delta=2.0)
            self.assertGreater(math.hypot(robot.place.x, robot.place.y), 0.2)
            robot.gait("wave")
            robot.gait("tripod")
            level = self.height()
            robot.body(z=-0.02)
            self.assertAlmostEqual(self.height(), level - 0.02, delta=0.006)
        with Shellbot() as another:
            another.body()
        self.assertAlmostEqual(self.height(), level, delta=0.006)

    def test_1_a_second_client_connects_while_the_robot_processes_a_command(self):
        env = {**os.environ, "ROS_NAMESPACE": "/slow"}
        here = os.path.dirname(os.path.abspath(__file__))
        with subprocess.Popen([sys.executable, f"{here}/slow_robot.py"], env=env) as robot:
            program = (
                "from shellbot_client.ros_link_node import RosLink; from shellbot_client.mission import REST_POSE\n"
                "link = RosLink(); link.command((0.0, 0.0, 0.0), REST_POSE); link.tick(); link.close(); RosLink()"
            )
            try:
                subprocess.run([sys.executable, "-c", program], env=env, timeout=PATIENCE, check=True)
            finally:
                robot.terminate()

    def test_2_refusals_are_the_robots_own(self):
        with Shellbot() as robot:
            for call, text in (
                (lambda: robot.perform("bwo"), "refused: there is no action 'bwo'; is bow meant?"),
                (lambda: robot.perform("bow", depth=90), "give a whole number from 2 to 10 deg"),
                (lambda: robot.go_to("relax"), "relax refused: "),
                (lambda: robot.gait("gallop"), "not 'gallop'"),
            ):
                with self.assertRaises(MissionFailed) as refused:
                    call()
                self.assertIn(text, str(refused.exception))

    def test_3_an_emergency_stop_and_rearm(self):
        with Shellbot() as robot:
            robot.emergency_stop()
            wait_until(lambda: robot.mode == "stopped", "stopped", meanwhile=lambda: robot.wait(0.1))
            robot.rearm()
            wait_until(lambda: robot.mode != "stopped", "rearmed", meanwhile=lambda: robot.wait(0.1))
            robot.walk(x=0.1)

    def test_4_the_command_line_performs_and_an_interrupt_takes_it_back(self):
        command = [sys.executable, "-m", "shellbot_evaluation.action_cli", "run"]
        done = subprocess.run([*command, "bow"], capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "bow done"), done.stderr)
        refused = subprocess.run(
            [*command, "wave", "leg=9"], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("give a whole number from 1 to 6", refused.stdout)
        with Shellbot() as robot, subprocess.Popen([*command, "idle"], stderr=subprocess.PIPE) as process:
            while robot._seen.step != "perform":
                robot._link.tick()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 130)
            while robot._seen.step == "perform":
                robot._link.tick()
            robot.walk(x=0.1)

    def test_4_what_is_performed_is_recorded_and_can_be_performed(self):
        folder = tempfile.mkdtemp()
        for _ in range(4):
            code, out, error = self.record_a_wave(f"{folder}/mine.yaml")
            if b"record again" not in error:  # which it says if the machine stood still meanwhile
                break
        self.assertEqual(code, 0, error)
        self.assertIn(b"body, foot of lower_2", out)
        found = check_action("again", {}, [folder])
        self.assertEqual(found.verdict, "green")
        steps = ActionLibrary([folder]).steps("again", {})
        lifted = [motion for step in steps for motion in step.motions if motion.kind == "foot"]
        self.assertEqual({motion.legs for motion in lifted}, {(2,)})
        highest = max(waypoint["z"] for motion in lifted for waypoint in motion.through)
        self.assertAlmostEqual(highest, 0.06, delta=0.005)

    def test_4_an_experiment_is_run_with_the_running_robot(self):
        folder = tempfile.mkdtemp()
        command = [sys.executable, "-m", "shellbot_evaluation.experiment_cli"]
        options = ["--running", "--repetitions", "1", "--out", folder]
        for name, more, figure, low, high in (
            ("walk", ["--distance", "0.2", "--gait", "ripple"], "walked_m", 0.18, 0.3),
            ("transform", [], "ball_joint_error_deg", 0.1, 2.0),
        ):
            done = subprocess.run(
                [*command, name, *options, *more], capture_output=True, text=True, timeout=2 * PATIENCE, check=False
            )
            self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: it ended late, on a busy machine
            with open(f"{folder}/{name}.json", encoding="utf-8") as file:
                runs = json.load(file)["runs"]
            self.assertTrue(all(run["success"] for run in runs), runs)
            for run in runs:
                self.assertTrue(low < run[figure] < high, run)
                self.assertNotIn("friction", run)
        with Shellbot() as robot:
            robot.gait("tripod")

    def record_a_wave(self, path):
        command = [sys.executable, "-m", "shellbot_evaluation.action_cli", "record", "again", "--out", path]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with Shellbot() as robot, subprocess.Popen(command, **pipes) as process:
            self.assertIn(b"waiting for a joint to move", process.stderr.readline())
            robot.perform("wave", leg=2, times=1)
            robot.wait(5.0)  # of simulated time: it ends by itself after 3 s of rest
            out, error = process.communicate(timeout=PATIENCE)
        return process.returncode, out, error

    def test_5_a_dead_action_manager_is_named(self):
        def kill(progress):
            if progress.fraction > 0.2 and not killed:
                node = rosgraph.Master("/test").lookupNode("/action_manager")
                _, _, pid = xmlrpc.client.ServerProxy(node).getPid("/test")
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        killed = []
        with Shellbot() as robot, self.assertRaisesRegex(MissionFailed, "the action manager does not answer any more"):
            robot.perform("dance", on_progress=kill)


if __name__ == "__main__":
    rospy.init_node("client_live", anonymous=True)
    rostest.rosrun("shellbot_evaluation", "client_live", ClientLive)
