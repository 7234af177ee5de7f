# SPDX-License-Identifier: MIT
"""The chain through driver, bytes, servos and rigid bodies."""

from __future__ import annotations

import numpy as np
import pytest

from ax_emulator import Fault
from robot_evaluation.errors import DefinitionError, EvaluationError
from shellbot_chain.onboard_chain import OnboardChain
from shellbot_common.rotations import tilt_from_quaternion
from shellbot_description import named_pose_array
from shellbot_motor_driver.driving.driver_state import Phase


def test_the_cores_see_what_the_bus_has_read():
    chain = OnboardChain(seed=2, record=False)
    chain.stand_up()
    steps = (chain.robot.measured(chain.state)[1:4] / np.radians(300.0 / 1023.0)) % 1.0
    assert np.allclose(steps, 0.5)  # whole steps from a zero of 511.5: nothing finer passes the bus
    chain.robot.add_faults([Fault("dead", servo=2)])
    before = chain.robot.measured(chain.state)[2]
    chain.command_body_pose((0.0, 0.0, 0.02, 0.0, 0.0, 0.0))
    chain.run(0.4)
    assert chain.robot.measured(chain.state)[2] == before  # the measurement comes over the bus only
    assert abs(chain.state.q[2] - before) > 0.003


def test_the_same_seed_gives_the_same_run_and_reset_starts_anew():
    chain = OnboardChain(seed=3)
    chain.run(1.0)
    first = chain.state.q
    chain.reset()
    assert chain.robot.driver.state().ladder.phase is Phase.WAITING and chain.mode == "waiting"
    chain.run(1.0)
    np.testing.assert_array_equal(chain.state.q, first)


def test_torques_reach_the_servos_as_angles():
    """After a walk, because a servo's friction holds a joint that was never moved."""
    error = []
    for fraction in (0.0, 1.0):
        chain = OnboardChain(seed=3, feed_forward=fraction)
        chain.stand_up()
        chain.walk((0.15, 0.0, 0.0), seconds=1.5)
        chain.run(1.0)
        limbs = chain.output.references.limbs
        feet = np.array([limb.position for limb in limbs if limb.frame.endswith("_foot")])
        q = chain.manager.geometry.legs.solve(feet[:, None])[:, 0]
        measured = chain.state.q.reshape(6, 4)[:, 1:]
        error.append(np.degrees(np.abs(measured - q)).mean(axis=0)[1:])
    assert (error[1] < 0.5 * error[0]).all(), f"femur and tibia: {error}"


def test_the_world_on_the_bus_is_the_configured_one():
    chain = OnboardChain(seed=None, mass_scale=1.1, slope_deg=3.0, record=False)
    assert chain.simulator.mass == pytest.approx(1.1 * OnboardChain(seed=None, record=False).simulator.mass)
    assert chain.simulator.config.slope_deg == 3.0
    assert OnboardChain(seed=None, record=False, terrain="ice").simulator.config.friction == 0.15
    chain.reset(seed=1)  # a used robot is built anew
    assert chain.simulator.config.mass_scale == 1.1


def test_a_robot_that_walks_its_battery_empty_sits_down_and_switches_off():
    chain = OnboardChain(seed=None, record=False)
    chain.stand_up()
    chain.robot.emulated.battery.set_charge(0.016)
    phases = []
    while Phase.OFF not in phases and chain.time < 60.0:
        try:
            chain.walk((0.1, 0.0, 0.0), seconds=0.5, settle=False)
        except EvaluationError:
            chain.run(0.5)
        phases.append(chain.robot.driver.state().ladder.phase)
    assert phases[0] is Phase.FOLLOWING and phases[-1] is Phase.OFF and Phase.SITTING in phases
    assert not chain.robot.emulated.bank.is_on.any() and chain.robot.emulated.battery.charge > 0.0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("torque_scale", 0.6),
        ("command_latency", 2),
        ("design", {"fan_drive.reduction": 1.0}),
        ("servos", {"servo_margin_deg": 0.29}),
    ],
)
def test_what_the_bus_has_of_its_own_is_refused(field, value):
    with pytest.raises(DefinitionError, match=f"^{field} is .*; .* leave it out"):
        OnboardChain(**{field: value})


def test_31_servos_stand_up_close_roll_and_rise():
    chain = OnboardChain(variant="simulation", seed=0, record=False)
    chain.stand_up()
    driver = chain.robot.driver.state()
    assert len(driver.servos) == 31 and chain.state.contacts.foot_contact.sum() == 6
    assert driver.ladder.phase is Phase.FOLLOWING
    assert np.degrees(np.abs(driver.position - chain.state.q)).max() < 2.0
    assert chain.robot.emulated.chain.oversize_packets == 0

    def go(mode, seconds):
        accepted, text = chain.request_mode(mode)
        assert accepted, text
        end = chain.time + seconds
        while not (chain.mode == chain.target == mode and not chain.step):
            chain.tick()
            assert chain.time < end, chain.output.mode
        assert tilt_from_quaternion(chain.state.quat_world_base[None])[0] < 0.05

    go("shell", 15.0)
    start, own = chain.state.p_world_base[:2].copy(), np.array(chain.odom[:2])
    for _ in range(200):
        chain.command_twist((1.2, 0.0, 0.0))
        chain.tick()
    rolled = np.linalg.norm(chain.state.p_world_base[:2] - start)
    assert rolled > 0.8
    assert np.linalg.norm(np.array(chain.odom[:2]) - own) == pytest.approx(rolled, rel=0.1)
    chain.command_twist((0.0, 0.0, 0.0))
    chain.run(1.0)
    # no targets, as while a node restarts: a ball does not sit, it would open where it lies
    ball, give = chain.state.q, chain.robot.apply
    chain.robot.apply = lambda command: give(None)
    chain.run(4.0)
    assert chain.robot.driver.state().ladder.phase is Phase.SAT
    moved = np.degrees(np.abs(chain.state.q - ball))
    assert moved[[name.endswith(("fan", "coxa")) for name in chain.joint_names]].max() < 5.0 and moved.max() < 45.0
    chain.robot.apply = give
    # a gore on which the frozen ball lies may overload its servo, which then rests for some seconds, again as it opens
    for _ in range(6):
        end = chain.time + 10.0
        while not chain.robot.driver.rearm():
            chain.run(0.5)
            assert chain.time < end, chain.robot.driver.rearm().reason
        chain.run(3.0)
        assert chain.request_mode("hexapod")[0]
        chain.tick()
        end = chain.time + 90.0
        while chain.mode != chain.target or chain.step:
            chain.tick()
            assert chain.time < end, chain.output.mode
        if chain.mode == "hexapod":
            break
    assert chain.mode == "hexapod", chain.output.mode
    assert tilt_from_quaternion(chain.state.quat_world_base[None])[0] < 0.05


def test_a_ball_is_put_down_as_it_lies_with_zeros_that_are_wrong():
    chain = OnboardChain(variant="simulation", seed=4, joint_offset_deg=2.0, record=False)
    chain.reset(pose="closed", attitude=(0.6, 0.0, 0.0, 0.8))
    assert tilt_from_quaternion(chain.state.quat_world_base) == pytest.approx(2.0 * np.arcsin(0.6), abs=0.1)
    assert np.degrees(np.abs(chain.state.q - named_pose_array("closed"))).max() < 5.0, "it held while the driver began"
    error = np.degrees(chain.robot.measured(chain.state) - chain.state.q)
    assert 1.0 < np.std(error) < 3.0
    assert np.ptp(error[[name.endswith("_fan") for name in chain.joint_names]]) < 0.3, "one motor"


def test_a_driver_that_restarts_under_a_ball_holds_it_and_rolls_on_once_rearmed():
    chain = OnboardChain(variant="simulation", seed=0, record=False, start_mode="shell")
    chain.reset(pose="closed")
    robot, emulated, holds = chain.robot, chain.robot.emulated, []
    emulated.on_tick = lambda: holds.append(emulated.bank.is_on.all())

    def goals():
        return np.array([servo.table["goal_position"] for servo in emulated.chain.servos])

    def roll(speed, seconds, far=np.inf):
        start, moved, end = chain.state.p_world_base, 0.0, chain.time + seconds
        while chain.time < end and moved < far:
            chain.command_twist((speed, 0.0, 0.0))
            chain.tick()
            moved = np.linalg.norm(chain.state.p_world_base - start)
        return moved

    for speed in (0.0, 1.0):
        roll(speed, 1.5)
        before = goals()
        holds.clear()
        chain.restart_driver(0.5)
        assert np.array_equal(goals(), before), "nothing jumps while it starts"
        joints = emulated.servo_map.steps(emulated.servo_map.reduce(chain.state.q))
        moved = roll(speed, 0.5)
        assert all(holds) and len(holds) > 100
        changed = goals() != before
        assert (np.abs(goals() - joints)[changed] < np.abs(before - joints)[changed]).all(), "but to its joint"
        ladder = robot.reported.ladder
        assert ladder.phase is Phase.HOLDING and "restarted while servos held" in ladder.text and "rearm" in ladder.text
        assert chain.mode == "shell" and moved < (0.3 if speed else 0.002)
        assert robot.driver.rearm()
        roll(0.0, 0.5)
        assert roll(1.0, 10.0, far=0.3) >= 0.3, (speed, chain.output.mode, robot.notices)


def test_a_robot_whose_servo_died_is_rearmed_without_it_and_walks_on_five_legs():
    chain = OnboardChain(seed=1, record=False)
    chain.stand_up()
    chain.walk((0.2, 0.0, 0.0), seconds=2.0, settle=False)
    servo = next(s.servo_id for s in chain.robot.driver.state().servos if s.joint == "lower_3_femur")
    chain.robot.add_faults([Fault("dead", servo=servo)])
    chain.walk((0.3, 0.0, 0.0), seconds=3.0, settle=False)
    assert chain.robot.driver.state().ladder.phase is Phase.HOLDING and chain.commands.lost_legs == (3,)
    assert "without servo" in chain.robot.driver.rearm().reason
    start = np.array(chain.state.p_world_base[:2])
    chain.walk((0.3, 0.0, 0.0), seconds=6.0, settle=False)
    assert chain.mode == "hexapod" and chain.output.mode.text == "walking without lower_3"
    assert np.linalg.norm(np.array(chain.state.p_world_base[:2]) - start) > 0.5
