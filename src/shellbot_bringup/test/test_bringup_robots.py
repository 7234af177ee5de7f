# SPDX-License-Identifier: MIT
"""Two robots that are not Shellbot, in the cores of simulator, control and connector: a fixed arm, a body on wheels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_evaluation.trace import Trace, TraceRecorder
from shellbot_common import TICK, ProfileError, RobotProfile
from shellbot_control import CommandFilter, GainTable, JointLimits, check_controller_joints
from shellbot_control.controllers import controllers_text
from shellbot_control.gain_presets import PRESET, GainPresets
from shellbot_control.gains_page import gains_page
from shellbot_simulator import ModelError, Simulator

ROBOTS = Path(__file__).resolve().parent / "robots"
WHEEL_RADIUS = 0.05  # m


class Robot:
    """Profile, description and simulator of one of them."""

    def __init__(self, name):
        folder = ROBOTS / name
        self.profile = RobotProfile.load(folder / "profile.yaml")
        self.urdf = (folder / f"{name}.urdf").read_text(encoding="utf-8")
        controllers = yaml.safe_load((folder / "controllers.yaml").read_text(encoding="utf-8"))
        self.controllers = controllers[self.profile.controller]
        self.limits = JointLimits.from_urdf(self.urdf, self.profile.joints)
        self.simulator = Simulator(self.urdf, self.profile)
        self.recorder = TraceRecorder(self.profile.joint_names)

    def follow(self, targets):
        """Command one row of targets a tick, filtered as the connector does; return the recorded motion."""
        command_filter = CommandFilter(self.limits)
        for target in targets:
            state = self.simulator.state()
            command_filter.observe(state.q)
            command, _ = command_filter.apply(state.time, self.profile.joint_names, target)
            self.simulator.command(command.position)
            self.recorder.append(
                t=state.time, p_world_base=state.p_world_base, q_world_base=state.quat_world_base, odom=[np.nan] * 3,
                joint_position=state.q, joint_velocity=state.dq, joint_effort=state.effort,
                joint_target=command.position, contact_truth=state.contacts.foot_contact, contact_estimated=[],
                lowest_foot_z=min(state.foot_height, default=np.nan),
            )  # fmt: skip
            self.simulator.step_tick()
        return self.recorder.trace()


@pytest.fixture(params=["arm", "rover"])
def robot(request):
    return Robot(request.param)


def test_controllers_and_page_are_those_of_the_profile(robot):
    text = (ROBOTS / robot.profile.name / "controllers.yaml").read_text(encoding="utf-8")
    assert text == controllers_text(robot.profile, robot.urdf)
    check_controller_joints(robot.controllers, robot.profile)
    table = GainTable.from_controllers(robot.controllers, robot.profile)
    assert {name: gains.p for name, gains in table.classes.items()} == {
        name: value.stiffness for name, value in robot.profile.classes.items()
    }
    presets = GainPresets.of_robot(robot.profile, table)
    assert set(gains_page(robot.profile, table, presets).defaults) == {*table.to_page(), PRESET}


def test_it_stays_where_it_spawns(robot):
    start = robot.simulator.reset()
    trace = robot.follow([start.q] * 100)
    assert np.abs(trace.joint_position - start.q).max() < 0.01
    assert np.abs(trace.p_world_base - start.p_world_base).max() < 2e-3


def test_the_arm_reaches_commanded_angles_and_its_base_does_not_move():
    robot = Robot("arm")
    target = np.array(list(robot.profile.pose("bent").values()))
    trace = robot.follow([target] * 300)
    assert trace.joint_position[-1] == pytest.approx(target, abs=0.05)  # gravity over the stiffness
    assert np.abs(np.diff(trace.joint_target, axis=0)).max() <= (robot.limits.velocity * TICK).max() + 1e-9
    assert (trace.p_world_base == [0.0, 0.0, 0.5]).all() and (trace.q_world_base == [0.0, 0.0, 0.0, 1.0]).all()
    state = robot.simulator.state()
    assert not state.v_base.any() and not state.w_base.any()
    assert state.imu.specific_force == pytest.approx([0.0, 0.0, 9.81])
    seeded = robot.simulator.reset(seed=3)
    assert (seeded.p_world_base == [0.0, 0.0, 0.5]).all() and seeded.q.any()


def test_stiffness_changes_how_far_the_arm_sags():
    robot, target, sag = Robot("arm"), np.array([1.2, 0.0]), []
    for p in (60.0, 20.0):
        robot.simulator.set_gains("shoulder", p)
        sag.append(robot.follow([target] * 300).joint_position[-1, 0] - target[0])
    assert sag[1] == pytest.approx(3.0 * sag[0], rel=0.15) and sag[0] > 0.005


def test_wheels_that_turn_drive_the_body_forward_and_without_end():
    robot = Robot("rover")
    angle = np.arange(800) * TICK * 6.0  # rad, more than a turn
    trace = robot.follow([np.full(4, a) for a in angle])
    turned = trace.joint_position[-1].mean()
    assert turned > 6 * np.pi
    assert trace.p_world_base[-1, 0] == pytest.approx(turned * WHEEL_RADIUS, rel=0.03)
    assert abs(trace.p_world_base[-1, 1]) < 0.02 and trace.p_world_base[-1, 2] == pytest.approx(WHEEL_RADIUS, abs=2e-3)
    assert not robot.simulator.model.jnt_limited[-4:].any()
    assert trace.contact_truth[1:].all() and np.abs(trace.lowest_foot_z).max() < 2e-3
    force = robot.simulator.state().contacts.foot_force
    assert force[:, 2].sum() == pytest.approx(1.4 * 9.81, rel=0.1) and not robot.simulator.state().contacts.other_links


def test_wheels_against_each_other_turn_the_body():
    robot = Robot("rover")
    angle = np.arange(300) * TICK * 4.0
    trace = robot.follow([a * np.array([-1.0, 1.0, -1.0, 1.0]) for a in angle])
    assert trace.yaw_world_base[-1] > 1.0
    assert np.linalg.norm(trace.p_world_base[-1, :2]) < 0.05


def test_a_recorded_motion_comes_back_from_its_file(robot, tmp_path):
    trace = robot.follow([robot.simulator.state().q] * 20)
    trace.save(tmp_path / "trace.npz")
    again = Trace.load(tmp_path / "trace.npz")
    assert again.joint_names == robot.profile.joint_names
    np.testing.assert_array_equal(again.joint_position, trace.joint_position)
    assert again.window(0.05, 0.1).t.size == 6 and again.contact_truth.shape == (20, len(robot.profile.contacts))


def test_a_profile_of_another_robot_is_refused():
    arm, rover = Robot("arm"), Robot("rover")
    with pytest.raises(ModelError, match=r"missing joints \['front_left'.*undriven joints \['shoulder', 'elbow'\]"):
        Simulator(arm.urdf, rover.profile)
    misspelt = arm.profile.replace(limbs={"arm": arm.profile.limbs["arm"].replace(tips=["hnd"])})
    with pytest.raises(ModelError, match="robot profile: limbs.arm.tips names 'hnd'; .* has the links stand, .*hand"):
        Simulator(arm.urdf, misspelt)
    with pytest.raises(ProfileError, match="limbs.arm.tips names 'hnd'"):
        controllers_text(misspelt, arm.urdf)
    base = arm.profile.base.replace(link="base_link")
    with pytest.raises(ModelError, match="root link of the robot description is 'stand', of the profile 'base_link'"):
        Simulator(arm.urdf, arm.profile.replace(base=base))


def test_a_base_may_hang_and_turn():
    arm = Robot("arm")
    base = arm.profile.base.replace(position=(0.0, 0.0, 2.0), rpy_deg=(180.0, 0.0, 0.0))
    state = Simulator(arm.urdf, arm.profile.replace(base=base)).reset()
    assert state.quat_world_base == pytest.approx([1.0, 0.0, 0.0, 0.0])
    rover = Robot("rover")
    base = rover.profile.base.replace(position=(1.0, 2.0, 0.1), rpy_deg=(0.0, 0.0, 90.0))
    state = Simulator(rover.urdf, rover.profile.replace(base=base)).reset()
    assert state.p_world_base == pytest.approx([1.0, 2.0, 0.15])
    assert state.quat_world_base == pytest.approx([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
