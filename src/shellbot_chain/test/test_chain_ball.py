# SPDX-License-Identifier: MIT
"""Closing to a ball and opening in physics, with what the robot does not know: slope, mass, errors of its zeros."""

from __future__ import annotations

import numpy as np
import pytest

from robot_evaluation.errors import DefinitionError
from shellbot_action_manager.body.rolling import load_rolling
from shellbot_chain.chain import Chain
from shellbot_common.rotations import tilt_from_quaternion
from shellbot_description import named_pose_array

CLOSED = named_pose_array("closed", "simulation")


def go(chain, mode, seconds=15.0):
    """Request a mode and tick until the robot is at rest there; return the greatest tilt, deg, and penetration, mm."""
    accepted, text = chain.request_mode(mode)
    assert accepted, text
    start, tilt, deep = chain.time, 0.0, 0.0
    while not (chain.mode == chain.target == mode and not chain.step):
        state = chain.tick()
        tilt = max(tilt, np.degrees(float(tilt_from_quaternion(state.quat_world_base[None])[0])))
        deep = max(deep, 1e3 * state.contacts.max_penetration)
        assert chain.time - start < seconds, f"not in mode {mode}: {chain.output.mode}"
    return tilt, deep


def front(chain):
    """Horizontal direction (2,) of the body's x axis in the world."""
    x, y, z, w = chain.state.quat_world_base
    return np.array([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)])


def test_closes_and_opens_by_its_own_sensors():
    chain = Chain(seed=0)
    chain.stand_up()
    before = chain.odom
    for mode in ("shell", "hexapod"):
        start = chain.time
        tilt, deep = go(chain, mode, 12.0)
        assert chain.time - start < 12.0
        assert tilt < 3.0
        assert deep < 0.5
        if mode == "shell":
            chain.run(1.0)
            assert np.degrees(np.abs(chain.state.q - CLOSED).max()) < 1.0
            assert set(chain.state.contacts.other_links) == {f"lower_{k}_gore_link" for k in range(1, 7)}
            assert chain.odom[:2] == pytest.approx(before[:2], abs=0.01)  # the place is kept while gores slide
    chain.run(1.0)
    assert chain.state.p_world_base[2] == pytest.approx(0.1623, abs=0.002)
    chain.walk((0.15, 0.0, 0.0), seconds=1.0)
    assert chain.mode == "hexapod"
    assert chain.trace().contact_estimated.shape == (len(chain.trace().t), 6)  # of the feet, also while it is a ball


def test_the_ball_rolls_forward_where_the_robot_walked_forward():
    chain = Chain(seed=3, friction=0.5, record=False)
    chain.stand_up()
    forward, odom = front(chain), chain.odom
    go(chain, "shell")
    assert forward @ front(chain) < 0.5, "the gores turn the body as they slide"
    assert chain.odom[2] == pytest.approx(odom[2], abs=0.02)
    start = chain.state.p_world_base[:2].copy()
    for _ in range(300):
        chain.command_twist((0.5, 0.0, 0.0))
        chain.tick()
    rolled = chain.state.p_world_base[:2] - start
    assert np.linalg.norm(rolled) > 0.8
    assert forward @ rolled / np.linalg.norm(rolled) > np.cos(np.radians(6.0))


def test_errors_of_the_joints_zeros_a_slope_and_slippery_ground_do_not_tip_it():
    chain = Chain(seed=7, friction=0.35, mass_scale=1.12, slope_deg=2.5, slope_azimuth_deg=80.0, joint_offset_deg=1.0)
    assert np.abs(chain.robot.joint_offset).max() > np.radians(1.5)
    assert np.ptp(chain.robot.joint_offset[:24:4]) == 0.0  # the six fans have one motor
    chain.stand_up()
    for mode in ("shell", "hexapod"):
        tilt, deep = go(chain, mode)
        assert tilt < 6.0  # of which the floor leans 2.5
        assert deep < 1.0


def test_errors_of_the_zeros_are_no_deviations_of_the_start():
    chain = Chain(seed=0, joint_offset_deg=1.0, record=False)
    errors, starts = [], []
    for seed in range(60):
        chain.robot.restart(seed)
        errors.append(chain.robot.joint_offset)
        starts.append(chain.simulator.state().q)
    both = np.corrcoef(np.array(errors).T, np.array(starts).T)
    assert np.abs(both[: len(errors[0]), len(errors[0]) :]).max() < 0.6, "0.5 in 576 pairs of 60; alike: 1"
    chain.robot.restart(None)
    assert not chain.robot.joint_offset.any(), "without a seed no noise"


def test_rough_ground_does_not_jam_the_legs_while_they_open():
    chain = Chain(seed=303, friction=0.91, mass_scale=0.95, slope_deg=0.7, slope_azimuth_deg=36.0, joint_offset_deg=1.0)
    chain.stand_up()
    go(chain, "shell")
    chain.request_mode("hexapod")
    femurs = [chain.joint_names.index(f"lower_{k}_femur") for k in range(1, 7)]
    jammed = 0
    while chain.mode != "hexapod":
        state = chain.tick()
        jammed += bool(np.all(np.abs(state.effort[femurs]) > 0.99 * chain.limits.effort[femurs]))
        assert jammed < 10  # 118 ticks when a tibia may open ahead of its femur


def test_turned_round_on_the_gores_it_goes_back_to_its_feet():
    chain = Chain(seed=0)
    chain.stand_up()
    chain.request_mode("shell")
    chain.run(4.5)
    tilt, _ = go(chain, "hexapod")
    assert tilt < 3.0
    assert "shell" not in chain.mode


def test_a_joint_that_cannot_move_makes_it_back_out_to_where_it_stands():
    chain = Chain(seed=0)
    chain.stand_up()
    chain.request_mode("shell")
    joint = chain.joint_names.index("lower_4_femur")
    for _ in range(120):
        chain.tick()
    dof = chain.simulator.model.joint("lower_4_femur").dofadr[0]
    chain.simulator.model.dof_damping[dof] = 1e3  # stuck in its bearing
    for _ in range(600):
        chain.tick()
        if chain.mode == "halfway":
            break
    assert chain.output.mode.text.startswith("lower_4_femur is ")
    chain.run(3.0)
    assert chain.step == ""
    assert tilt_from_quaternion(chain.state.quat_world_base[None])[0] < 0.1
    assert abs(chain.state.q[joint] - chain.simulator.applied_command[joint]) < 0.3


def put_joints(chain, angles):
    for joint, angle in angles.items():
        chain.simulator.data.qpos[chain.simulator.model.joint(joint).qposadr[0]] = angle


@pytest.mark.parametrize("mode", ["shell", "hexapod"])
def test_a_gore_that_is_hooked_behind_the_chassis_comes_free(mode):
    chain = Chain(seed=0, start_mode="shell")
    chain.reset(pose="closed")
    chain.run(1.0)
    put_joints(chain, {"upper_6_shoulder": -0.44, "upper_6_shell": 1.29})
    if mode == "shell":
        chain.run(2.0)
        assert np.degrees(np.abs(chain.state.q - CLOSED).max()) < 1.0
    go(chain, "hexapod", 16.0)


def test_gores_that_hold_each_other_are_loosened_before_it_rolls_upright_again():
    chain = Chain(seed=0, start_mode="shell")
    chain.reset(pose="closed", attitude=(-0.065, 0.363, 0.529, 0.764))
    chain.run(1.0)
    # as a ball lay that had shut in one of 120 trials with the gore of leg 1 below that of leg 2
    femur, tibia = (2.311, 2.44, 1.994, 1.599, 1.725, 1.545), (2.117, 2.025, 2.012, 2.179, 2.126, 2.201)
    for name, angles in (("femur", femur), ("tibia", tibia)):
        put_joints(chain, {f"lower_{leg}_{name}": angle for leg, angle in enumerate(angles, 1)})
    chain.run(2.0)
    assert np.degrees(np.abs(chain.state.q - CLOSED).max()) > 9.0  # commanded shut, it stays open
    go(chain, "hexapod", 40.0)


def test_the_chain_rolls_by_the_law_it_is_given():
    shipped = load_rolling()
    assert Chain(record=False).manager.config.rolling == shipped
    other = shipped.replace(gain=2.5)
    assert Chain(rolling=other, record=False).manager.config.rolling == other


def test_offsets_out_of_range_are_refused():
    with pytest.raises(DefinitionError, match="joint_offset_deg is 9; give a number from 0 to 5 deg"):
        Chain(joint_offset_deg=9)
