# SPDX-License-Identifier: MIT
"""Poses and joint targets in the simulator: it stays upright, does not jump, and walks again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import humanoid_description
from humanoid_evaluation.robot import Robot
from humanoid_motion.parameters import WalkError
from humanoid_motion.robot_core import HumanoidCore
from robot_mechanics.errors import InvalidUrdfError
from shellbot_common.rotations import rpy_from_quaternion
from shellbot_simulator.core.errors import ModelError
from shellbot_simulator.core.simulator import Simulator


def block(robot, name, angle=None):
    """Hold a joint where it is, or at an angle; returns what frees it."""
    tick, joint = robot.simulator.step_tick, robot.simulator.model.joint(name).qposadr[0]
    angle = float(robot.simulator.data.qpos[joint]) if angle is None else angle

    def blocked():
        tick()
        robot.simulator.data.qpos[joint] = angle

    def free():
        robot.simulator.step_tick = tick

    robot.simulator.step_tick = blocked
    return free


class Watched(Robot):
    """A robot whose greatest jump of the command and greatest tilt are known."""

    def __init__(self):
        super().__init__(seed=310)
        self.profile, self.jump, self.tilt = self.simulator.profile, 0.0, 0.0

    def run(self, seconds):
        for _ in range(round(seconds * 100)):
            before = self.command
            self.tick()
            if before is not None:
                self.jump = max(self.jump, float(np.abs(self.command - before).max()))
            roll, pitch, _ = rpy_from_quaternion(*self.state.quat_world_base)
            self.tilt = max(self.tilt, abs(roll), abs(pitch))


def test_a_pose_is_an_action_too_and_stand_leads_back_to_walking():
    robot = Robot(seed=310)
    robot.tick()
    robot.core.perform("crouch")
    while robot.core.performer.is_active:
        robot.tick()
    crouch = list(humanoid_description.profile().pose("crouch").values())
    assert robot.command == pytest.approx(crouch, abs=1e-6) and robot.core.status().mode == "pose"
    robot.core.perform("stand")
    while robot.core.performer.is_active:
        robot.tick()
    for _ in range(100):
        robot.tick()
    assert robot.core.status().mode == "stand" and robot.state.p_world_base[2] > 0.29
    assert robot.core.request("init").startswith("takes the pose init")


def test_every_pose_is_taken_without_a_jump_held_upright_and_left_for_a_walk():
    robot = Watched()
    robot.run(1.0)
    for name in (*robot.profile.poses, "crouch"):
        robot.run(robot.core.take_pose(name, 0.4) + 1.0)
        if name != "stand":
            assert robot.core.status().mode == "pose" and name in robot.core.status().text
            assert "Behind" not in robot.core.status().text
            reached = np.array(list(robot.profile.pose(name).values()))
            assert np.abs(robot.state.q - reached).max() < 0.12, name  # servos sag under load
    assert robot.jump < 0.05 and robot.tilt < 0.12
    start = robot.state.p_world_base[0]
    robot.core.command_twist([0.15, 0.0, 0.0])  # from a crouch: it stands up, and walks
    robot.run(4.0)
    assert robot.core.status().mode == "walk"
    assert robot.state.p_world_base[0] - start > 0.25
    assert robot.core.engine.state().base[0] == pytest.approx(robot.state.p_world_base[0], abs=0.06)


def test_a_joint_that_stays_behind_is_named_and_its_target_held_without_a_jump():
    robot = Watched()
    robot.run(1.0)
    free = block(robot, "HeadYaw")
    robot.run(robot.core.move_joints({"HeadYaw": 1.0, "RShoulderRoll": -1.0}, 0.3) + 0.5)
    assert robot.core.status().text.endswith("Behind with full effort, blocked or too weak: HeadYaw.")
    assert robot.command[0] == pytest.approx(1.0) and robot.jump < 0.05
    free()
    robot.run(1.0)
    assert "Behind" not in robot.core.status().text


def test_a_joint_that_stays_behind_is_named_in_a_motion_which_then_has_not_succeeded():
    robot, texts = Watched(), set()
    robot.run(1.0)
    free = block(robot, "RShoulderPitch")
    robot.core.perform("wave")
    while robot.core.performer.is_active:
        robot.run(0.01)
        texts.add(robot.core.status().text.partition("Behind with full effort, blocked or too weak: ")[2])
    status = robot.core.performer.status
    assert "RShoulderPitch." in texts and status.outcome == "aborted" and "RShoulderPitch was behind" in status.text
    free()
    robot.core.perform("wave")
    robot.run(10.0)
    assert robot.core.performer.status.outcome == "succeeded"


def test_no_joint_is_behind_in_a_walk_a_push_a_fall_and_as_it_gets_up():
    robot = Watched()
    texts, tick = set(), robot.tick

    def seen():
        tick()
        texts.add(robot.core.status().text)

    robot.tick = seen
    robot.core.command_twist([0.25, 0.0, 0.0])
    robot.run(4.0)
    robot.core.command_twist([0.0, 0.0, 0.0])
    robot.simulator.push((120.0, 40.0, 0.0), 0.1)
    robot.run(4.0)
    robot.core.request("recover")
    robot.run(12.0)
    assert robot.core.status().mode == "stand" and len(texts) > 5
    assert not [text for text in texts if "Behind" in text]


def test_a_joint_that_is_blocked_as_the_robot_gets_up_is_named():
    robot = Watched()
    robot.run(1.0)
    robot.simulator.push((150.0, 0.0, 0.0), 0.1)
    robot.run(3.0)
    block(robot, "LElbowYaw", 1.5)  # rad
    robot.core.request("recover")
    robot.run(4.0)
    assert robot.core.status().mode == "get_up" and "weak: LElbowYaw." in robot.core.status().text


def test_a_pose_beyond_the_limits_and_a_sensor_that_is_not_in_the_description_are_refused_in_words():
    urdf, profile = humanoid_description.urdf_text(), humanoid_description.profile()
    poses = {**profile.poses, "split": {**profile.poses["crouch"], "LKneePitch_deg": 150.0}}
    robot = Watched()
    robot.core = HumanoidCore(urdf, replace(profile, poses=poses))
    robot.run(0.5)
    with pytest.raises(WalkError, match=r"LKneePitch is commanded to 2.618 rad \(150 deg\); give -0.0923 .. 2.1126"):
        robot.core.take_pose("split")
    robot.run(0.1)
    assert robot.core.status().mode == "stand" and robot.jump < 0.05
    for link in ("l_sole", profile.imu):
        with pytest.raises(InvalidUrdfError, match=f"no link '{link}', which the profile has"):
            HumanoidCore(urdf.replace(f'"{link}"', '"elsewhere"'), profile)
        with pytest.raises(ModelError, match=f"names '{link}'; the robot description has the links"):
            Simulator(urdf.replace(f'"{link}"', '"elsewhere"'), profile)
    for soles in ({}, {"l_sole": profile.contacts["l_sole"]}):
        with pytest.raises(WalkError, match=f"has {len(soles)} contacts .* needs two, the left sole and then"):
            HumanoidCore(urdf, replace(profile, contacts=soles))


def test_joint_targets_are_latched_and_refused_while_walking_and_apart():
    robot = Watched()
    with pytest.raises(WalkError, match="before the joints are measured"):
        robot.core.move_joints({"HeadYaw": 0.1}, 0.1)
    with pytest.raises(WalkError, match="goal refused before the joints are measured"):
        robot.core.walk_to(1.0, 0.0, 0.0)
    robot.run(1.0)
    duration = robot.core.move_joints({"LShoulderRoll": 1.3, "RShoulderRoll": -1.3, "HeadYaw": -1.15}, 0.1)
    assert duration == pytest.approx((1.3 - math.radians(12.0)) / (0.1 * 7.19) + 0.1, abs=0.05)
    robot.run(duration + 1.0)
    index = [robot.profile.joint_names.index(name) for name in ("LShoulderRoll", "RShoulderRoll", "HeadYaw")]
    assert robot.state.q[index] == pytest.approx([1.3, -1.3, -1.15], abs=0.06)
    with pytest.raises(WalkError, match="request stand first"):
        robot.core.walk_to(1.0, 0.0, 0.0)
    with pytest.raises(WalkError, match="no pose 'sit'; there are stand, crouch"):
        robot.core.take_pose("sit")
    assert "takes the pose stand" in robot.core.request("stand")
    robot.run(3.0)
    assert robot.core.status().mode == "stand" and robot.core.request("stand") == "it stands"
    robot.core.command_twist([0.1, 0.0, 0.0])
    with pytest.raises(WalkError, match="while it walks"):
        robot.core.move_joints({"HeadYaw": 0.1}, 0.1)
