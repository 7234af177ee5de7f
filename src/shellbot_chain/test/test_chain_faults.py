# SPDX-License-Identifier: MIT
"""What goes wrong around the ball, in physics: pushes, joints without torque, a lost IMU, bad commands, falls."""

from __future__ import annotations

import copy
import dataclasses
import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from shellbot_action_manager.actions.transform_and_roll import TransformAndRoll, TransformObservation
from shellbot_action_manager.body.roll_to import RollTo
from shellbot_chain.chain import Chain
from shellbot_common import TICK
from shellbot_common.performance import Outcome
from shellbot_common.rotations import tilt_from_quaternion
from shellbot_description import named_pose_array
from shellbot_simulator.core.obstacles import Obstacle

LIMIT_S = 60.0  # of simulated time that anything may take
CLOSED = named_pose_array("closed", "simulation")


def tilt(chain):
    return float(np.degrees(tilt_from_quaternion(chain.state.quat_world_base[None])[0]))


def until(chain, condition, limit_s=LIMIT_S, twist=None):
    """Tick until a condition holds; return the notices said on the way."""
    end, said = chain.time + limit_s, []
    while True:
        if twist is not None:
            chain.command_twist(twist)
        chain.tick()
        said.append(chain.output.notice)
        if condition():
            return [text for text in said if text]
        assert chain.time < end, f"{chain.output.mode}, tilted by {tilt(chain):.0f} deg"


def settled(chain, *modes):
    return lambda: chain.mode in modes and chain.mode == chain.target and chain.step in ("", "rolling", "braking")


def go(chain, mode):
    accepted, text = chain.request_mode(mode)
    assert accepted, text
    until(chain, settled(chain, mode), 90.0)


def text_has(chain, words):
    return lambda: words in chain.output.mode.text


def simulated_once(make):
    """Simulate the way to a state once; each call returns a copy, which goes on as the chain itself would."""
    made = functools.lru_cache(maxsize=None)(make)
    return lambda: copy.deepcopy(made())


@simulated_once
def standing():
    chain = Chain(seed=0, record=False)
    chain.stand_up()
    return chain


@simulated_once
def closing():
    chain = standing()
    chain.request_mode("shell")
    until(chain, text_has(chain, "legs 1, 3, 5 step inwards"))
    return chain


@simulated_once
def ball():
    """A ball at rest, pole down."""
    chain = Chain(seed=0, start_mode="shell", record=False)
    chain.reset(pose="closed")
    chain.run(1.0)
    assert chain.mode == "shell"
    return chain


@simulated_once
def lying():
    """A ball on its side."""
    chain = ball()
    chain.reset(pose="closed", attitude=Rotation.from_rotvec([1.5, 0.0, 0.0]).as_quat())
    chain.run(1.0)
    return chain


@simulated_once
def rolling():
    chain = ball()
    for _ in range(150):
        chain.command_twist((0.5, 0.0, 0.0))
        chain.tick()
    until(chain, lambda: speed(chain) > 0.15, twist=(0.5, 0.0, 0.0))
    return chain


def test_a_copy_goes_on_as_the_chain_itself():
    chain, begun = ball(), ball()
    for _ in range(50):
        begun.command_twist((0.5, 0.0, 0.0))
        begun.tick()
    mark = begun.state.q.copy()
    assert (ball().state.q == chain.state.q).all(), "nothing is shared"
    for _ in range(50):
        chain.command_twist((0.5, 0.0, 0.0))
        chain.tick()
    np.testing.assert_array_equal(chain.state.q, mark)
    np.testing.assert_array_equal(chain.state.p_world_base, begun.state.p_world_base)
    assert chain.estimate.x == begun.estimate.x


def speed(chain):
    return float(np.hypot(*chain.estimate.twist[:2]))


def resumes(chain):
    """The robot stands up on request, asked again where rolling upright gave up."""
    for _ in range(3):
        fallen = tilt(chain) > 34.0 and chain.mode != "shell"
        accepted, text = chain.request_mode("recover" if fallen else "stand")
        assert accepted, text
        until(chain, settled(chain, "stand", "shell", "halfway"), 90.0)
        if chain.mode == "stand":
            break
        assert "lies tilted by" in chain.output.mode.text
    assert chain.mode == "stand"
    assert tilt(chain) < 6.0
    assert chain.state.p_world_base[2] > 0.14


def test_a_robot_put_down_on_its_back_recovers():
    chain = Chain(seed=1, start_mode="sit", joint_offset_deg=1.0, record=False)
    chain.reset(pose="stand", attitude=Rotation.from_rotvec([3.0, 0.4, 0.0]).as_quat())
    chain.run(2.0)
    assert tilt(chain) > 90.0
    accepted, text = chain.request_mode("hexapod")
    assert not accepted
    assert "request recover" in text
    assert chain.request_mode("recover")[0]
    chain.run(0.5)
    assert chain.request_mode("recover") == (True, "recover is under way already")
    until(chain, settled(chain, "stand"))
    assert tilt(chain) < 6.0


def test_a_robot_that_is_flipped_while_it_walks_recovers():
    chain = standing()
    chain.simulator.push((0.0, 140.0, 70.0), 0.5, at=(0.0, 0.0, 0.08))
    until(chain, lambda: "tipped over" in chain.output.mode.text, twist=(0.15, 0.0, 0.0))
    chain.run(3.0)
    assert "request recover" in chain.output.mode.text
    if tilt(chain) > 34.0:
        assert chain.request_mode("recover")[0]
        until(chain, settled(chain, "stand"))
    else:
        go(chain, "stand")
    assert tilt(chain) < 6.0


@pytest.mark.parametrize(
    "words",
    ["legs 1, 3, 5 step inwards", "lowering the upper shells", "fan inwards, 2 of 4", "shutting the lower gores"],
)
def test_a_push_while_it_closes_leaves_a_robot_that_can_be_resumed(words):
    chain = closing()
    until(chain, text_has(chain, words))
    chain.simulator.push((0.0, 40.0, 0.0), 0.2)
    there, notices = settled(chain, "shell", "halfway"), set()
    until(chain, lambda: notices.add(chain.output.notice) or there())
    if chain.mode == "halfway":
        assert "tipped over" in chain.output.mode.text or "behind" in chain.output.mode.text
    else:
        words = "deg while closing: shuts as it lies; then request stand, which rolls it upright"
        assert tilt(chain) < 16.0 or any(words in notice for notice in notices)
    chain.run(2.0)
    resumes(chain)


@pytest.mark.parametrize(
    "begin, words, force",
    [
        (ball, "fan outwards, 2 of 4", (40.0, 0.0, 0.0)),
        (ball, "raising the upper shells", (40.0, 0.0, 0.0)),
        (ball, "step outwards", (40.0, 0.0, 0.0)),
        (lying, "run_up", (0.0, 40.0, 0.0)),
        (lying, "approach", (40.0, 0.0, 0.0)),
        (lying, "catch", (0.0, 40.0, 0.0)),
    ],
)
def test_a_push_while_it_opens_or_rolls_upright_leaves_a_robot_that_can_be_resumed(begin, words, force):
    chain = begin()
    assert chain.request_mode("stand")[0]
    until(chain, text_has(chain, words))
    chain.simulator.push(force, 0.2)
    until(chain, settled(chain, "stand", "shell", "halfway"), 90.0)
    chain.run(2.0)
    if chain.mode != "stand":
        resumes(chain)


@pytest.mark.parametrize("moving", [False, True])
def test_a_push_in_the_ball_is_braked(moving):
    chain = rolling() if moving else ball()
    chain.simulator.push((0.0, 40.0, 0.0), 0.2)
    chain.run(0.4)
    assert chain.mode == "shell"
    chain.command_twist((0.0, 0.0, 0.0))
    speeds = []

    def rocks_no_more():
        speeds.append(speed(chain))
        return len(speeds) > 100 and max(speeds[-50:]) < 0.1

    until(chain, rocks_no_more, 15.0)
    assert chain.mode == "shell"
    if not moving:  # it lies pole down
        resumes(chain)


@pytest.mark.parametrize("bad", [(np.inf, 0.0, np.nan), None])
def test_a_bad_or_old_cmd_vel_brakes_the_ball(bad):
    chain = rolling()
    said = []
    for _ in range(500):  # until it has stopped rocking
        if bad is not None:
            chain.command_twist(bad)
        chain.tick()
        said.append(chain.output.notice)
    assert chain.mode == "shell"
    assert speed(chain) < 0.1
    assert chain.step == ""
    assert any("is not a number; stopping" in text for text in said) == (bad is not None)


def damped(chain, joint, damping):
    chain.simulator.model.dof_damping[chain.simulator.model.joint(joint).dofadr[0]] = damping


def limp(chain, joint):
    """Take a servo's torque."""
    chain.simulator.set_gains(joint, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("joint", "fault"), [("lower_2_tibia", "blocked"), ("upper_3_shell", "blocked"), ("upper_3_shell", "limp")]
)
def test_a_joint_that_fails_while_rolling_leaves_a_ball_that_brakes(joint, fault):
    chain = rolling()
    if fault == "blocked":
        damped(chain, joint, 1e3)
    else:
        limp(chain, joint)
    if joint.startswith("upper"):
        turning = (0.8, 0.0, 1.5)  # straight on, or in a wide turn, it may roll over the other gores for a minute
        said = until(chain, text_has(chain, f"{joint} does not follow"), 60.0, twist=turning)
        for _ in range(400):
            chain.command_twist(turning)
            chain.tick()
            said.append(chain.output.notice)
        assert sum("does not follow" in text for text in said) == 1
        assert f"{joint} does not follow" in chain.output.mode.text
    else:  # it failed nearly shut, where it hinders little
        for _ in range(200):
            chain.command_twist((0.5, 0.0, 0.0))
            chain.tick()
        chain.command_twist((0.0, 0.0, 0.0))
        chain.run(4.0)
    assert chain.mode == "shell"
    assert speed(chain) < 0.15
    chain.command_twist((0.0, 0.0, 0.0))
    accepted, _ = chain.request_mode("stand")  # it tries, and says why it cannot go on, or stands
    assert accepted
    until(chain, settled(chain, "stand", "shell", "halfway"), 150.0)
    if chain.mode != "stand":
        # the one that failed, or one that it hinders
        assert " behind while " in chain.output.mode.text or "lies tilted" in chain.output.mode.text


def test_a_leg_that_the_servos_report_lost_is_named_at_once_while_rolling_and_the_ball_rolls_on_with_it():
    chain, twist = rolling(), (0.5, 0.0, 0.0)
    limp(chain, "lower_2_femur")
    chain.commands = dataclasses.replace(chain.commands, lost_legs=(2,))
    until(chain, text_has(chain, "lower_2 is lost: the ball brakes"), 0.1, twist=twist)
    until(chain, lambda: speed(chain) < 0.1 and chain.step == "", 10.0, twist=twist)
    chain.command_twist((0.0, 0.0, 0.0))
    chain.run(0.1)
    until(chain, lambda: chain.step == "rolling" and speed(chain) > 0.15, 20.0, twist=twist)


def test_a_ball_rolls_around_an_obstacle_without_touching_it():
    chain = ball()
    post = Obstacle("post", "cylinder", (0.15, 0.4), (1.0, 0.0, 0.2))
    chain.simulator.spawn_obstacle(post)
    nearest = np.inf
    # by the robot's own odometry, around a post that stands on the straight line to the last point
    for place in ((1.0, 0.75), (2.0, 0.0)):
        to, end = RollTo(np.array(place)), chain.time + 60.0
        while not to.arrived:
            twist = to.twist(TICK, chain.odom, chain.estimate.twist[:2])
            # a gore that has hooked comes free at rest; the operator does as the text says
            zero = text_has(chain, "command zero")() and chain.time % 4.0 < 1.0
            chain.command_twist((0.0, 0.0, 0.0) if zero else (*twist, 0.0))
            chain.tick()
            nearest = min(nearest, np.hypot(*(chain.state.p_world_base[:2] - post.position[:2])))
            assert chain.time < end, f"at {chain.odom}"
    assert nearest > 0.15 + 0.2, "the ball opens its gores beyond its radius of 0.16 m"
    assert chain.state.p_world_base[:2] == pytest.approx((2.0, 0.0), abs=0.15)


def act(chain, action, each_tick=lambda: None, limit_s=150.0):
    """Run the action transform_and_roll as its node does; returns its last orders."""
    end = chain.time + limit_s
    while chain.time < end:
        chain.tick()
        each_tick()
        mode = chain.output.mode
        orders = action.step(
            TransformObservation(
                chain.time,
                chain.odom,
                tuple(chain.estimate.twist[:2]),
                chain.mode,
                chain.target,
                mode.step,
                mode.progress,
                mode.text,
            )
        )
        if orders.request:
            accepted, text = chain.request_mode(orders.request)
            assert accepted, text
        if orders.velocity is not None:
            chain.command_twist((*orders.velocity, 0.0))
        if orders.end is not None:
            return orders
    raise AssertionError(f"no end within {limit_s} s: {orders}")


@pytest.mark.parametrize(("after_s", "ends_in"), [(1.0, "hexapod"), (8.0, "shell")])
def test_the_action_that_is_cancelled_while_it_closes_ends_in_the_nearer_mode(after_s, ends_in):
    chain, action = standing(), TransformAndRoll((1.0, 0.5))
    begun, progress = chain.time, [0.0]

    def cancel():
        if chain.time - begun < after_s - 1e-6:
            progress.append(chain.output.mode.progress if chain.target == "shell" else 0.0)
        elif abs(chain.time - begun - after_s) < 1e-6:
            action.cancel()

    orders = act(chain, action, cancel)
    assert (orders.end, chain.mode) == (Outcome.CANCELLED, ends_in)
    assert min(np.diff(progress)) >= 0.0


def test_the_action_rolls_on_after_a_second_without_imu():
    chain = rolling()
    chain.command_twist((0.0, 0.0, 0.0))
    x, y, _ = chain.odom
    action, begun, texts, back = TransformAndRoll((x + 2.0, y)), chain.time, [], []

    def lose():
        texts.append(chain.output.mode.text)
        if not back and chain.time > begun + 1.0:
            back.append(blind(chain))
        elif len(back) == 1 and chain.time > begun + 2.0:
            back[0]()
            back.append(None)

    assert act(chain, action, lose, 60.0).end is Outcome.SUCCEEDED
    blind_for = TICK * sum("no attitude from the IMU" in text for text in texts)
    assert blind_for == pytest.approx(1.0, abs=0.05), "the mode says so while it lasts"


def test_a_leg_that_is_lost_as_the_gores_shut_is_named_although_its_femur_bears_nothing_any_more():
    chain = standing()
    chain.request_mode("shell")
    until(chain, text_has(chain, "shutting the lower gores"))
    limp(chain, "lower_4_femur")
    chain.commands = dataclasses.replace(chain.commands, lost_legs=(4,))
    until(chain, text_has(chain, "lower_4 is lost while closing"), 1.0)
    until(chain, settled(chain, "halfway", "shell"))
    chain.run(2.0)
    assert tilt(chain) < 10.0


def test_a_servo_without_torque_while_it_closes_is_named():
    chain = closing()
    limp(chain, "lower_4_femur")
    until(chain, settled(chain, "halfway", "shell"))
    assert chain.mode == "halfway"
    assert "lower_4_femur is " in chain.output.mode.text or "tipped over" in chain.output.mode.text


@pytest.mark.parametrize(
    ("begin", "words", "joint", "fault"),
    [
        (ball, "fan outwards, 2 of 4", "upper_3_shell", limp),
        (lying, "run_up", "upper_3_shell", limp),
        (lying, "approach", "lower_2_tibia", lambda chain, joint: damped(chain, joint, 1e3)),
    ],
)
def test_a_joint_that_fails_while_it_opens_or_rolls_upright_is_named(begin, words, joint, fault):
    chain = begin()
    assert chain.request_mode("stand")[0]
    until(chain, text_has(chain, words))
    fault(chain, joint)
    until(chain, settled(chain, "stand", "shell", "halfway"), 90.0)
    assert chain.mode == "halfway"
    # the one that failed, or one of its leg that it hinders
    assert chain.output.mode.text.startswith(joint.rsplit("_", 1)[0]) and " deg behind while " in chain.output.mode.text
    chain.run(3.0)
    assert tilt(chain) < 10.0


def blind(chain):
    """Let the IMU stop; returns what brings it back."""
    read = chain.imu.read
    chain.imu.read = lambda t: type(read(t))(None, None)
    return lambda: setattr(chain.imu, "read", read)


def test_an_imu_that_stops_while_rolling_shuts_the_ball_and_a_new_command_rolls_on():
    chain = rolling()
    back = blind(chain)
    said, previous, fastest = [], chain.simulator.applied_command.copy(), 0.0
    for _ in range(200):
        chain.command_twist((0.5, 0.0, 0.0))
        chain.tick()
        fastest = max(fastest, np.abs(chain.simulator.applied_command - previous).max())
        previous = chain.simulator.applied_command.copy()
        said.append(chain.output.notice)
    assert fastest < 0.13
    assert sum("no attitude from the IMU" in text for text in said) == 1
    assert chain.step == ""
    assert np.abs(chain.simulator.applied_command - CLOSED).max() < 0.02
    assert chain.request_mode("stand")[0] is False
    back()
    for _ in range(300):  # the same command as before: not a new one
        chain.command_twist((0.5, 0.0, 0.0))
        chain.tick()
    assert speed(chain) < 0.1
    chain.command_twist((0.0, 0.0, 0.0))
    chain.run(0.2)
    until(chain, lambda: speed(chain) > 0.15, twist=(0.5, 0.0, 0.0))


@pytest.mark.parametrize(
    ("mode", "words"),
    [("shell", "lowering the upper shells"), ("shell", "fan inwards, 4 of 4"), ("stand", "fan outwards, 3 of 4")],
)
def test_an_imu_that_stops_on_the_pole_ends_makes_it_back_out_and_hold(mode, words):
    chain = closing() if mode == "shell" else ball()
    assert chain.request_mode(mode)[0]
    until(chain, text_has(chain, words))
    back = blind(chain)
    until(chain, lambda: chain.mode == "halfway", 3.0)  # from the step before the pole ends not earlier
    assert chain.output.mode.text.startswith("no attitude from the IMU while ")
    chain.run(4.0)
    assert tilt(chain) < 3.0
    assert (chain.mode, chain.step) == ("halfway", "")
    for other in ("shell", "stand"):
        accepted, text = chain.request_mode(other)
        assert not accepted
        assert text.startswith("no attitude from the IMU")
    back()
    chain.run(0.1)
    go(chain, mode)
    assert tilt(chain) < 6.0


@pytest.mark.parametrize("words", ["run_up", "catch"])
def test_an_imu_that_stops_while_it_rolls_upright_leaves_a_shut_ball(words):
    chain = lying()
    assert chain.request_mode("stand")[0]
    until(chain, text_has(chain, words))
    back = blind(chain)
    said = until(chain, lambda: chain.mode == chain.target == "shell", 1.0)
    assert "no attitude from the IMU while rolling upright" in chain.output.mode.text
    for _ in range(800):  # without an attitude nothing brakes it: it rolls on for up to 6 s
        chain.tick()
        said.append(chain.output.notice)
    assert sum("no attitude from the IMU" in text for text in said) == 1
    assert np.abs(chain.simulator.applied_command - CLOSED).max() < 0.02
    place = chain.state.p_world_base.copy()  # by the truth: odometry sees nothing
    chain.run(0.5)
    assert np.linalg.norm(chain.state.p_world_base - place) < 0.01
    back()
    chain.run(0.1)
    resumes(chain)


def test_an_angular_velocity_that_stops_while_it_rolls_upright_leaves_a_shut_ball():
    chain = lying()
    assert chain.request_mode("stand")[0]
    until(chain, text_has(chain, "run_up"))
    receive = chain.imu.receive
    chain.imu.receive = lambda t, attitude, rate, force: receive(t, attitude, np.full(3, np.nan), force)
    until(chain, settled(chain, "shell"), 1.0)
    assert "no angular velocity from the IMU while rolling upright" in chain.output.mode.text


def test_an_imu_that_stops_as_it_begins_to_open_leaves_a_shut_ball():
    chain = ball()
    assert chain.request_mode("stand")[0]
    until(chain, text_has(chain, "beginning to open"))
    blind(chain)
    until(chain, settled(chain, "shell"), 2.0)
    assert "no attitude from the IMU while beginning to open" in chain.output.mode.text


def test_without_an_imu_it_does_not_begin_to_close():
    chain = standing()
    blind(chain)
    chain.run(0.1)
    accepted, text = chain.request_mode("shell")
    assert not accepted
    assert text.startswith("no attitude from the IMU: the robot cannot keep level while it closes")
    assert chain.mode == chain.target == "hexapod"


def test_an_emergency_stop_while_rolling_is_rearmed_without_a_jump():
    chain = rolling()
    chain.manager.emergency_stop()
    chain.run(2.0)
    assert chain.mode == "stopped"
    held = chain.simulator.applied_command.copy()
    chain.manager.rearm()
    previous, fastest = held, 0.0
    for _ in range(200):
        chain.tick()
        fastest = max(fastest, np.abs(chain.simulator.applied_command - previous).max())
        previous = chain.simulator.applied_command.copy()
    assert chain.mode == "shell"
    assert fastest < 0.13
    resumes(chain)


def stopped_and_rearmed(chain):
    chain.manager.emergency_stop()
    chain.run(0.5)
    chain.manager.rearm()


def righting_cancelled(chain):
    assert chain.request_mode("stand")[0]
    until(chain, text_has(chain, "rolling upright"))
    assert chain.request_mode("shell")[0]


def restarted(chain):
    chain.manager.reset()


@pytest.mark.parametrize("interrupt", [stopped_and_rearmed, righting_cancelled, restarted])
def test_an_interrupted_ball_keeps_its_heading_and_rolls_on_the_same_way(interrupt):
    chain, steps = rolling(), [0.0]
    until(chain, lambda: tilt(chain) > 80.0, twist=(0.5, 0.0, 0.0))  # the yaw of the body says nothing

    def tick():
        before = chain.odom[2]
        chain.tick()
        steps.append(abs(chain.odom[2] - before))

    begun = chain.output.contacts.heading
    interrupt(chain)
    while chain.time < 60.0 and not (len(steps) > 100 and settled(chain, "shell")()):
        tick()
    assert chain.mode == "shell"
    assert chain.output.contacts.heading == pytest.approx(begun, abs=0.01)
    place = chain.state.p_world_base.copy()
    for _ in range(300):
        chain.command_twist((0.5, 0.0, 0.0))
        tick()
    moved = chain.state.p_world_base - place
    assert max(steps) < 0.01, "the yaw of odom is that of the heading"
    assert abs(np.degrees(np.arctan2(moved[1], moved[0]))) < 25.0 and moved[0] > 0.3, "as before"


@pytest.mark.parametrize("words", ["run_up", "catch"])
def test_requests_while_it_rolls_upright(words):
    chain = lying()
    assert chain.request_mode("stand")[0]
    until(chain, text_has(chain, words))
    assert chain.request_mode("stand")[1].endswith("or on the way there")
    said = []
    for _ in range(10):
        chain.command_twist((0.3, 0.0, 0.0))
        chain.tick()
        said.append(chain.output.notice)
    assert sum("does not count" in text for text in said) == 1
    chain.command_twist((0.0, 0.0, 0.0))
    accepted, text = chain.request_mode("shell")
    assert accepted, text
    until(chain, settled(chain, "shell"))
    chain.run(1.0)
    assert np.abs(chain.state.q - CLOSED).max() < 0.35
    assert chain.request_mode("stand")[0]


def test_a_reset_of_the_simulation_while_rolling_begins_anew():
    chain = rolling()
    chain.robot.restart(0)  # action manager and odometry are not reset: time goes back
    chain.solver.reset()
    chain._last_time = None
    chain.state = chain.simulator.state()
    chain.run(0.5)
    assert chain.mode in ("sit", "halfway")
    until(chain, lambda: chain.time > 1.0)
    assert np.isfinite(chain.odom).all()
    assert np.hypot(*chain.odom[:2]) < 0.05
