#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Awkward starts: each ends in words that say what to do, or in a robot that stands."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import rosgraph
import rostest

from shellbot_benchmarks.launching import free_port
from shellbot_common.testing import wait_until


class Started:
    """A process with its own master port, ended with its children whatever happens."""

    def __init__(self, *command, port, **extra):
        environment = dict(os.environ, ROS_MASTER_URI=f"http://localhost:{port}", **extra)
        environment.pop("DISPLAY", None)
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115, closed in __exit__
        self.process = subprocess.Popen(
            list(command),
            env=environment,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def output(self):
        self.log.seek(0)
        return self.log.read()

    def wait_for(self, *words):
        def in_vain():
            return f"{words} in the output:\n{self.output()[-4000:]}"

        def has_words():
            is_over = self.process.poll() is not None
            found = all(word in self.output() for word in words)
            assert found or not is_over, in_vain()
            return found

        wait_until(has_words, in_vain)
        return self.output()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for sign, seconds in ((signal.SIGINT, 120), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            if self.process.poll() is not None:
                break
            os.killpg(self.process.pid, sign)
            try:
                self.process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                continue
        self.log.close()


ROSLAUNCH = ("roslaunch", "--sigint-timeout=90")  # a node may take long to end on a busy machine
HEADLESS = ("gui:=false", "teleop:=none")
GAZEBO_PACKAGES = ("gazebo_ros", "gazebo_ros_control", "gazebo_plugins")
GAZEBO_PACKAGES += ("controller_manager", "effort_controllers", "joint_state_controller")
EMPTY_WORLD_ARGUMENTS = ("world_name", "paused", "use_sim_time", "gui", "server_required")


SCRIPTS = Path(__file__).resolve().parents[4] / "scripts"


def gazebo_that_refuses_the_robot(folder):
    """Put packages that stand for Gazebo's into a folder, as a catkin space of its own; its spawn_model fails."""
    for name in GAZEBO_PACKAGES:
        package = folder / "share" / name
        package.mkdir(parents=True)
        (package / "package.xml").write_text(
            f"<package format='3'><name>{name}</name><version>0.0.0</version><description>stand-in</description>"
            "<maintainer email='a@example.org'>a</maintainer><license>MIT</license></package>"
        )
    declared = "".join(f"<arg name='{name}'/>" for name in EMPTY_WORLD_ARGUMENTS)
    launch = folder / "share" / "gazebo_ros" / "launch" / "empty_world.launch"
    launch.parent.mkdir()
    launch.write_text(f"<launch>{declared}</launch>")
    spawn_model = launch.parents[1] / "spawn_model"
    spawn_model.write_text("#!/bin/sh\nexit 1\n")
    spawn_model.chmod(0o755)
    manager = folder / "controller_manager"  # of ros_control: it waits for a robot that is spawned
    manager.mkdir()
    (manager / "__init__.py").touch()
    waits = "import time\n\n\ndef load_controller(_name):\n    time.sleep(600.0)\n"
    (manager / "controller_manager_interface.py").write_text(waits, encoding="utf-8")
    (folder / ".catkin").touch()


class StartTest(unittest.TestCase):
    def test_no_display_comes_up_and_ctrl_c_cleans_up(self):
        port = free_port()
        with Started(*ROSLAUNCH, "-p", str(port), "shellbot_bringup", "sim.launch", port=port) as sim:
            echo = ("timeout", "20", "rostopic", "echo", "-n1", "/foot_contacts")
            environment = dict(os.environ, ROS_MASTER_URI=f"http://localhost:{port}")
            wait_until(  # rostopic comes before the master does
                lambda: b"position" in subprocess.run(echo, env=environment, capture_output=True).stdout,
                lambda: f"foot contacts; {sim.output()[-4000:]}",
            )
            os.killpg(sim.process.pid, signal.SIGINT)
            sim.process.wait(timeout=180)
            text = sim.output()
        self.assertNotIn("Traceback", text)
        self.assertNotIn("escalating to SIGTERM", text)

    def test_unknown_gait_at_the_start_names_the_choices(self):
        port = free_port()
        with Started(
            *ROSLAUNCH, "-p", str(port), "shellbot_bringup", "sim.launch", "gait:=moonwalk", *HEADLESS, port=port
        ) as sim:
            text = sim.wait_for("moonwalk", "tripod")
        self.assertNotIn("Traceback", text)

    def test_simulator_that_cannot_start_ends_everything_with_advice(self):
        port = free_port()
        with Started(
            *ROSLAUNCH, "-p", str(port), "shellbot_bringup", "sim.launch", "rtf:=-1", *HEADLESS, port=port
        ) as sim:
            sim.wait_for("~rtf is -1; give a number from 0 to 1000")
            sim.process.wait(timeout=180)

    def test_a_robot_that_is_not_spawned_in_gazebo_ends_the_script_with_status_1(self):
        with tempfile.TemporaryDirectory() as folder:
            gazebo_that_refuses_the_robot(Path(folder))
            port = free_port()
            words = (str(SCRIPTS / "sim"), "-p", str(port), "simulator:=gazebo", "variant:=walker", *HEADLESS)
            # extend: else the workspace's setup.sh drops what was not in CMAKE_PREFIX_PATH when it was built
            beside = {"CMAKE_PREFIX_PATH": folder, "CATKIN_SETUP_UTIL_ARGS": "--extend"}
            beside["PYTHONPATH"] = os.pathsep.join((folder, os.environ["PYTHONPATH"]))
            with Started(*words, port=port, **beside) as sim:
                sim.wait_for("the robot was not spawned", "the launch ended without Ctrl-C")
                self.assertEqual(sim.process.wait(timeout=60), 1)

    def test_a_robot_on_its_servos_that_loses_its_master_ends_with_status_1(self):
        port = free_port()
        with Started(str(SCRIPTS / "onboard"), "--no-setup", "--emulated", "-p", str(port), port=port) as robot:
            robot.wait_for("servos answered")
            os.kill(rosgraph.Master("/test", master_uri=f"http://localhost:{port}").getPid(), signal.SIGKILL)
            robot.wait_for("the launch ended without Ctrl-C")
            self.assertEqual(robot.process.wait(timeout=60), 1)

    def test_unreadable_gaits_file_is_named(self):
        port = free_port()
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as broken:
            broken.write("tripod: [this is: no yaml\n")
            broken.flush()
            with Started("roscore", "-p", str(port), port=port) as core:
                core.wait_for("started core service")
                subprocess.run(
                    ["rosparam", "set", "/action_manager/gaits_file", broken.name],
                    env=dict(os.environ, ROS_MASTER_URI=f"http://localhost:{port}"),
                    check=True,
                )
                with Started(
                    *ROSLAUNCH, "-p", str(port), "shellbot_bringup", "sim.launch", *HEADLESS, port=port
                ) as sim:
                    text = sim.wait_for(broken.name)
        self.assertNotIn("Traceback", text)

    def test_nodes_wait_for_a_late_roscore(self):
        port = free_port()
        with Started("rosrun", "shellbot_kinematics", "kinematics_server", port=port) as node:
            node.wait_for("master")
            self.assertIsNone(node.process.poll(), "the node gave up")
            with Started("roscore", "-p", str(port), port=port):
                node.wait_for("robot_description")
                self.assertIsNone(node.process.poll(), "the node gave up")


if __name__ == "__main__":
    rostest.rosrun("shellbot_bringup", "start", StartTest)
