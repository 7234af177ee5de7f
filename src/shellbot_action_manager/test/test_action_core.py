# SPDX-License-Identifier: MIT
"""The core against perfect joints: modes, transitions, refusals, limits, bad input, reset. Nothing may jump."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from action_echo import EchoRobot, yaw_quaternion

from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.interface import Feedback, OperatorCommands
from shellbot_action_manager.modes.mode_table import Mode
from shellbot_description import named_pose_array
from shellbot_kinematics import Frame, pack_references

SMOOTH = 0.16  # rad per tick: a swinging leg at top speed (10 rad/s servos and the servo lead)
CALM = 0.04  # rad per tick: everything but walking


def robot(pose="spawn", variant="simulation", **config):
    return EchoRobot(ActionManagerCore.from_description(variant, **config), pose, variant)


@pytest.fixture
def standing():
    r = robot()
    r.until("hexapod")
    return r


def sent(output):
    """References of an output as arrays over the limbs."""
    return pack_references(output.references)


def feet(r):
    return r.core.geometry.legs.forward(r.q[:24].reshape(6, 4))


def test_stands_up_by_itself_from_the_spawn_pose_without_a_jump():
    r = robot()
    out = r.tick()
    assert (out.mode.name, out.mode.target, out.mode.step) == ("sit", Mode.HEXAPOD, "stand_up")
    progress = [out.mode.progress]
    while r.output.mode.step:
        progress.append(r.tick().mode.progress)
    assert (np.diff(progress) >= 0.0).all()
    assert r.output.mode.name == "hexapod"
    assert 1.4 < r.t < 3.0
    assert r.largest_step() < CALM
    assert feet(r)[:, 2] == pytest.approx(-0.1623, abs=1e-4)
    assert np.linalg.norm(feet(r)[:, :2], axis=1) == pytest.approx(0.270, abs=1e-3)


def test_a_gait_of_another_height_that_is_chosen_while_it_stands_up_is_approached_afterwards():
    r = robot()
    r.run(0.5, gait="rough")  # 16 mm higher than the others
    assert r.output.mode.step == "stand_up"
    r.run(0.6, gait="wave")
    r.until("hexapod")
    r.run(2.0)
    assert feet(r)[:, 2] == pytest.approx(-0.1623, abs=1e-4) and r.largest_step() < CALM


@pytest.mark.parametrize("start", ["stand", "sit"])
def test_start_mode_is_obeyed(start):
    r = robot(start_mode=start)
    r.until(start)
    r.run(1.0)
    assert r.output.mode.name == start


def test_found_standing_it_goes_on_standing_without_a_jump():
    r = robot("stand")
    out = r.tick()
    assert out.mode.name == "hexapod"
    assert "found standing" in out.mode.text
    r.run(1.0)
    assert r.largest_step() < 1e-3


def test_found_standing_crookedly_it_steps_home_without_a_jump():
    r = robot("stand")
    rng = np.random.default_rng(0)
    crooked = feet(r) + np.column_stack((rng.uniform(-0.02, 0.02, (6, 2)), np.full(6, 0.015)))
    r.q[:24].reshape(6, 4)[:, 1:] = r.core.geometry.legs.solve(crooked[:, None, :])[:, 0]
    r.run(3.0)
    assert r.output.mode.name == "hexapod"
    assert r.largest_step() < 0.09
    assert feet(r)[:, 2] == pytest.approx(-0.1623, abs=1e-4)
    assert np.linalg.norm(feet(r)[:, :2], axis=1) == pytest.approx(0.270, abs=1.5e-3)


def test_found_lying_with_legs_anywhere_it_holds_and_then_stands_up():
    r = robot("spawn", start_mode="sit")
    r.q[:24].reshape(6, 4)[:] += np.random.default_rng(1).uniform(-0.2, 0.05, (6, 4)) * [0, 1, 1, 1]
    before = r.q.copy()
    out = r.run(0.3)
    assert out.mode.name == "sit"
    assert r.q == pytest.approx(before)
    assert r.core.request_mode("stand")[0]
    r.until("stand")
    assert r.largest_step() < CALM
    assert feet(r)[:, 2] == pytest.approx(-0.1623, abs=1e-4)


def test_every_transition_and_back(standing):
    r = standing
    for goal in ("stand", "hexapod", "sit", "relax", "sit", "stand", "sit", "relax", "hexapod"):
        accepted, text = r.core.request_mode(goal)
        assert accepted, text
        r.until(goal)
    assert r.largest_step() < CALM


@pytest.mark.parametrize(
    ("mode", "asked", "reason"),
    [
        ("hexapod", "relax", "the robot would drop from its feet; request sit first, then relax"),
        (
            "hexapod",
            "fly",
            "there is no request 'fly'; the requests are hexapod, recover, relax, shell, sit, stand",
        ),
        ("stand", "relax", "the robot would drop from its feet; request sit first, then relax"),
    ],
)
def test_refusals_in_words(mode, asked, reason):
    r = robot(start_mode=mode)
    r.until(mode)
    assert r.core.request_mode(asked) == (False, reason)
    assert r.tick().mode.text == f"{asked} refused: {reason}"
    assert r.output.mode.name == mode


def test_perform_is_of_actions_also_on_the_way_to_another_mode():
    r = robot(start_mode="hexapod")
    r.until("hexapod")
    for _ in range(2):
        accepted, reason = r.core.request_mode("perform")
        assert not accepted and reason == "there is no action to perform; send a goal to perform_action"
        assert r.core.request_mode("sit")[0]
        r.run(0.1)


def test_refused_while_waiting_stopped_or_tilted():
    r = robot(start_mode="sit")
    assert r.core.request_mode("stand")[1].startswith("no joint_states yet")
    r.orientation = np.array([np.sin(0.5), 0.0, 0.0, np.cos(0.5)])  # rolled by 1 rad
    r.run(0.1)
    accepted, reason = r.core.request_mode("stand")
    assert not accepted
    assert reason == "the robot is tilted by 57 deg; request recover, or turn it upright and request stand"
    r.core.emergency_stop()
    assert r.core.request_mode("sit") == (
        False,
        "the robot is stopped; call the service rearm first, or torque with true if torque was switched off",
    )


def test_an_answer_passes_after_a_while_and_a_new_one_holds_as_long(standing):
    rest = standing.output.mode.text
    standing.core.request_mode("relax")
    standing.run(3.0)
    assert standing.output.mode.text.startswith("relax refused")
    standing.core.request_mode("hexapod")
    standing.run(3.0)
    assert "already" in standing.output.mode.text
    standing.run(3.0)
    assert standing.output.mode.text == rest


def test_an_answer_while_going_somewhere_does_not_stay(standing):
    standing.core.request_mode("sit")
    standing.run(0.1)
    assert not standing.core.request_mode("fly")[0]
    standing.until("sit")
    standing.run(0.1)
    assert standing.output.mode.text.startswith("sitting")


def test_the_mode_it_is_in_is_accepted(standing):
    assert standing.core.request_mode("hexapod") == (True, "already in mode hexapod")


def test_first_references_change_on_the_first_tick_after_the_command(standing):
    r = standing
    before = sent(r.run(0.5)).p_base[:6].copy()
    assert (sent(r.tick()).p_base[:6] == before).all()
    after = sent(r.tick(twist=[0.05, 0.0, 0.0])).p_base[:6]
    assert (np.abs(after - before).max(axis=1) > 1e-6).all()


def test_velocities_are_those_of_the_references(standing):
    r = standing
    r.run(0.5, twist=[0.2, 0.0, 0.3])
    for _ in range(60):
        before = sent(r.output).p_base[:6]
        after = sent(r.tick(twist=[0.2, 0.0, 0.3]))
        assert after.v_base[:6] == pytest.approx((after.p_base[:6] - before) / 0.01, abs=1e-9)
    r.run(2.5)
    r.core.request_mode("sit")
    for _ in range(300):
        before = sent(r.output)
        after = sent(r.tick())
        if before.frame[0] == after.frame[0] == Frame.JOINT:
            difference = (after.joint_position[:6] - before.joint_position[:6]) / 0.01
            assert after.joint_velocity[:6] == pytest.approx(difference, abs=1e-9)
    assert r.output.mode.name == "sit"


def test_a_tick_of_walking_solves_the_legs_once(standing, monkeypatch):
    r, calls = standing, []
    legs, count = type(r.core.geometry.legs), []
    solve = legs.solve
    monkeypatch.setattr(legs, "solve", lambda self, p: calls.append(1) or solve(self, p))
    r.apply = lambda output: None  # the robot of this test solves them, too
    for _ in range(100):
        calls.clear()
        r.tick(twist=[0.1, 0.0, 0.2])
        count.append(len(calls))
    assert min(count) == np.median(count) == 1  # where a foot lifts off, the height of its swing is found, too


def test_walks_stops_by_time_out_and_falls_silent(standing):
    r = standing
    r.run(1.0, twist=[0.2, 0.05, 0.3])
    assert r.output.mode.step == "walking"
    assert r.core.twist == pytest.approx([0.2, 0.05, 0.3])
    r.run(0.45)  # the command is not renewed, but not too old
    assert r.core.twist == pytest.approx([0.2, 0.05, 0.3])
    r.run(0.10)
    assert (np.abs(r.core.twist) < [0.2, 0.05, 0.3]).all()
    r.run(2.5)
    assert r.output.mode.step == ""
    still = sent(r.output).p_base[:6].copy()
    out = r.run(0.2)
    assert (sent(out).p_base[:6] == still).all()
    assert (sent(out).v_base[:6] == 0.0).all()
    assert np.linalg.norm(still[:, :2], axis=1) == pytest.approx(0.270, abs=1.5e-3)
    assert r.largest_step() < SMOOTH


def test_acceleration_is_limited_and_speed_scaled_with_its_direction(standing):
    r = standing
    last, limits, acceleration = r.core.twist, r.output.walkspace, np.zeros(3)
    for _ in range(150):
        r.tick(twist=[3.0, -1.5, 0.0])
        before, acceleration = acceleration, (r.core.twist - last) / 0.01
        assert (np.abs(acceleration) <= limits.max_acceleration + 1e-9).all()
        jerk = (acceleration - before) / 0.01
        assert (np.abs(jerk) <= limits.max_acceleration / r.core.config.jerk_time + 1e-6).all()
        last = r.core.twist
    assert last[1] / last[0] == pytest.approx(-0.5)
    assert 0.2 < last[0] < 0.4
    assert last[2] == 0.0
    assert r.largest_step() < SMOOTH


def test_sudden_reversals_at_top_speed_stay_within_the_joint_limits(standing):
    r, rng = standing, np.random.default_rng(3)
    legs = r.core.geometry.legs
    for _ in range(25):
        twist = rng.choice([-1.0, 0.0, 1.0], 3) * [0.4, 0.3, 1.0]
        for _ in range(int(rng.integers(5, 60))):
            r.tick(twist=twist)
            assert (legs.margin(r.q[:24].reshape(6, 4)[:, 1:]) >= -1e-9).all()
    assert r.largest_step() < 2.0 * SMOOTH


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_twist_that_is_no_number_stops_the_robot_and_says_so(standing, bad):
    r = standing
    r.run(1.0, twist=[0.2, 0.0, 0.0])
    out = r.tick(twist=[0.2, bad, 0.0])
    assert "is not a number; stopping" in out.mode.text
    assert out.notice == out.mode.text
    out = r.run(2.5, twist=[0.2, bad, 0.0])
    assert not r.core.twist.any()
    assert "is not a number" in out.notice
    out = r.run(0.6)  # no more of them: no more words
    assert out.notice == ""
    assert "not a number" not in out.mode.text
    assert np.isfinite(r.q).all()
    r.run(0.5, twist=[0.1, 0.0, 0.0])
    assert r.core.twist[0] == pytest.approx(0.1)
    assert "not a number" not in r.output.mode.text


def test_stand_obeys_the_body_pose_but_not_the_twist():
    r = robot(start_mode="stand")
    r.until("stand")
    rest = feet(r)
    r.run(1.5, twist=[0.3, 0.0, 0.0], body_pose=np.array([0.0, 0.0, 0.02, 0.0, 0.1, 0.0]))
    assert not r.core.twist.any()
    assert feet(r)[3, 2] < rest[3, 2] - 0.02 - 0.015
    assert r.largest_step() < CALM


def test_body_pose_while_walking_is_limited_and_named(standing):
    r = standing
    tilted = np.array([0.0, 0.0, -0.02, 0.11, 0.11, 0.0])
    r.run(1.5, body_pose=tilted)
    assert "limited" not in r.output.mode.text
    out = r.run(1.5, twist=[0.1, 0.0, 0.0])
    assert "body pose limited to" in out.mode.text
    assert "while walking" in out.mode.text
    assert r.core.twist[0] > 0.05
    assert r.largest_step() < SMOOTH


def test_sit_while_walking_stops_first(standing):
    r = standing
    r.run(1.0, twist=[0.3, 0.0, 0.0])
    accepted, text = r.core.request_mode("sit")
    assert accepted
    assert text == "going to sit: stop walking"
    for _ in range(600):
        r.tick(twist=[0.3, 0.0, 0.0])  # still pressed
        if r.output.mode.name == "sit":
            break
    assert r.output.mode.name == "sit"
    assert feet(r)[:, 2] == pytest.approx(-0.12, abs=1e-3)
    assert r.largest_step() < SMOOTH


def test_gait_changes_while_walking_and_an_unknown_one_is_refused(standing):
    r = standing
    out = r.tick(gait="moonwalk")
    assert out.mode.text.startswith(f"there is no gait 'moonwalk'; the gaits are {', '.join(sorted(r.core.gaits))}")
    assert out.walkspace.gait == "tripod"
    assert "moonwalk" in out.notice
    assert r.tick(gait="moonwalk").notice == ""  # said once
    r.run(1.0, twist=[0.05, 0.0, 0.0], gait="tripod")
    r.run(2.0, twist=[0.05, 0.0, 0.0], gait="ripple")
    assert r.output.walkspace.gait == "ripple"
    assert r.core.twist[0] == pytest.approx(0.05)
    assert r.largest_step() < SMOOTH


def test_heading_hold_turns_against_a_yaw_error_and_works_without_an_imu(standing):
    r = standing
    r.run(1.0, twist=[0.1, 0.0, 0.0])

    def turning():
        before, ticks, sum_ = feet(r), 0, 0.0
        for _ in range(80):
            r.tick(twist=[0.1, 0.0, 0.0])
            after, down = feet(r), r.output.contacts.in_contact
            cross = before[down, 0] * (after - before)[down, 1] - before[down, 1] * (after - before)[down, 0]
            sum_ += float(cross.sum())
            before, ticks = after, ticks + 1
        return -sum_  # the body turns against its standing feet

    r.orientation = yaw_quaternion(-0.1)
    assert turning() > 1e-3
    r.orientation = yaw_quaternion(0.1)
    assert turning() < -1e-3
    r.orientation = None
    r.run(0.5, twist=[0.1, 0.0, 0.0])
    assert r.core.twist[0] == pytest.approx(0.1)


def test_emergency_stop_freezes_and_rearm_goes_on_without_a_jump(standing):
    r = standing
    r.run(1.07, twist=[0.3, 0.1, 0.0])
    r.core.emergency_stop()
    frozen = sent(r.tick(twist=[0.3, 0.1, 0.0]))
    assert (r.output.mode.name, int(frozen.frame[0])) == ("stopped", int(Frame.JOINT))
    q = r.q.copy()
    r.run(0.5, twist=[0.3, 0.1, 0.0])
    assert (r.q == q).all()
    assert (sent(r.output).joint_velocity[:6] == 0.0).all()
    r.core.rearm()
    out = r.tick(twist=np.zeros(3))
    assert out.mode.name == "hexapod"
    r.run(3.0)
    assert r.output.mode.step == ""
    assert feet(r)[:, 2] == pytest.approx(-0.1623, abs=1e-4)
    assert r.largest_step() < SMOOTH


def test_stopped_again_before_the_tick_after_rearm_it_stays_stopped(standing):
    r = standing
    r.core.emergency_stop()
    r.run(0.1)
    r.core.rearm()
    r.core.emergency_stop()
    assert r.run(0.2).mode.name == "stopped"


def test_rearm_after_the_joints_were_moved_by_hand_goes_on_from_the_measured_ones(standing):
    r = standing
    r.core.emergency_stop()
    r.run(0.2)
    r.q[:] = named_pose_array("sit")
    r.core.rearm()
    out = r.tick()
    assert out.mode.name == "sit"
    assert sent(out).joint_position[:6] == pytest.approx(named_pose_array("sit")[:24].reshape(6, 4)[:, 1:])


def test_stopped_before_anything_was_measured_it_freezes_what_is_found():
    r = robot("stand")
    r.core.emergency_stop()
    out = r.run(0.3)
    assert out.mode.name == "stopped"
    assert r.q == pytest.approx(named_pose_array("stand"))
    r.core.rearm()
    assert r.run(0.5).mode.name == "hexapod"


def test_missing_joints_hold_the_references_and_are_named(standing):
    r = standing
    r.run(0.5, twist=[0.2, 0.0, 0.0])
    before = sent(r.output).p_base[:6].copy()
    q = r.q.copy()
    q[[3, 7]] = np.nan
    out = r.core.step(r.t + 0.01, r.commands, Feedback(q))
    assert out.notice == "joint_states lack lower_1_tibia and 1 more; holding, check the variant and the servo"
    assert out.mode.text == out.notice
    assert (sent(out).p_base[:6] == before).all()
    assert (sent(out).v_base[:6] == 0.0).all()
    assert "use the same variant" in r.core.step(r.t + 0.02, r.commands, Feedback(q[:24])).notice
    assert "no joint_states" in r.core.step(r.t + 0.03, r.commands, None).notice
    r.t += 0.03
    r.run(0.3, twist=[0.2, 0.0, 0.0])
    assert "lack" not in r.output.mode.text


def test_nothing_is_told_before_the_first_joint_states():
    core = ActionManagerCore.from_description()
    out = core.step(0.0, OperatorCommands(), None)
    assert out.references is None
    assert out.mode.name == "waiting"


def test_a_clock_that_goes_back_starts_anew(standing):
    r = standing
    r.run(1.0, twist=[0.3, 0.0, 0.0])
    r.t, r.q = 0.0, named_pose_array("spawn").copy()
    r.history.clear()
    out = r.tick(twist=[0.0, 0.0, 0.0])
    assert (out.mode.name, out.mode.step) == ("sit", "stand_up")
    r.until("hexapod")
    assert r.largest_step() < CALM


def test_late_joint_states_change_nothing(standing):
    r = standing
    r.run(1.0, twist=[0.3, 0.0, 0.0])
    for late in (0.01, 0.05):
        assert r.core.step(r.t - late, r.commands, Feedback(r.q, r.orientation)) is r.output
    r.run(1.0, twist=[0.3, 0.0, 0.0])
    assert (r.output.mode.name, r.output.mode.step) == ("hexapod", "walking")
    assert r.largest_step() < SMOOTH
    r.core.step(r.t - 0.06, r.commands, Feedback(r.q, r.orientation))
    assert np.abs(r.core.twist).max() < 0.01, "60 ms back is a reset"


def test_a_latched_stop_outlives_a_reset_of_the_clock(standing):
    r = standing
    r.core.emergency_stop()
    r.t, r.q = 0.0, named_pose_array("spawn").copy()
    assert r.run(0.3).mode.name == "stopped"
    assert r.q == pytest.approx(named_pose_array("spawn"))


def test_a_pause_of_a_minute_makes_no_jump(standing):
    r = standing
    r.run(1.0, twist=[0.3, 0.0, 0.0])
    r.t += 60.0
    r.run(1.0)
    assert r.largest_step() < SMOOTH
    r.run(2.0)
    assert r.output.mode.step == ""


def test_the_same_stamp_again_gives_the_same_references(standing):
    r = standing
    r.run(0.5, twist=[0.3, 0.0, 0.0])
    again = r.core.step(r.t, r.commands, Feedback(r.q))
    assert again is r.output


def test_standing_up_waits_for_joints_that_do_not_follow():
    r = robot()
    r.tick()
    q, waiting = r.q.copy(), set()
    for i in range(1000):
        sags = q + 1e-3 * i * np.sin(np.arange(q.size))  # measured joints are never quite still
        out = r.core.step(r.t + 0.01 * (i + 1), r.commands, Feedback(sags, r.orientation))
        waiting |= {out.mode.text} if "waiting" in out.mode.text else set()
        if i == 250:
            assert "waiting" not in out.mode.text, "torque that comes up is no fault"
    assert out.mode.step == "stand_up"
    assert out.mode.text.startswith("waiting for lower_")
    assert 2 <= len(waiting) <= 4, "brought up to date, but no line of the log for each tick"
    commanded = r.core.geometry.legs.solve(sent(out).p_base[:6][:, None, :])[:, 0]
    assert np.abs(commanded - q[:24].reshape(6, 4)[:, 1:]).max() < 0.3


def test_upper_shells_follow_and_are_limited(standing):
    r = standing
    out = r.run(1.5, upper_shells=np.array([0.060, 0.3]))
    shoulder, shell = r.q[24:26]
    assert shoulder + shell == pytest.approx(np.radians(105.0) - 0.3)
    assert "upper shells limited" not in out.mode.text
    out = r.run(0.1, upper_shells=np.array([0.5, 0.0]))
    assert "upper shells limited: height 0.500 m is outside" in out.mode.text
    out = r.run(0.1, upper_shells=np.array([np.nan, 0.0]))
    assert "upper_shells is not a number" in out.mode.text
    assert np.isfinite(r.q).all()
    assert r.largest_step() < SMOOTH


@pytest.mark.parametrize("far", [(0.0764, -0.1), (0.040, -0.1), (0.040, 0.6), (0.100, 0.0), (0.0764, 0.6)])
def test_upper_shells_stop_before_other_parts_and_come_back(standing, far):
    """Within the range of the keys there are places where gores meet each other, the fan or the chassis."""
    r, geometry = standing, standing.core.geometry
    out = r.run(3.0, upper_shells=np.array(far))
    assert "would overlap by" in out.mode.text and "command another height or opening" in out.mode.text
    assert np.abs(r.q[24:].reshape(6, 2) - geometry.up_upper).max() > 0.05  # it went as far as it could
    out = r.run(3.0, upper_shells=None)
    assert r.q[24:].reshape(6, 2) == pytest.approx(geometry.up_upper) and "overlap" not in out.mode.text
    assert max(geometry.overlap(q)[0] for _, q, _ in r.history) == 0.0


def test_upper_shells_up_are_those_of_the_stand_pose(standing):
    upper = standing.core.geometry.upper
    stand = named_pose_array("stand")[24:26]
    height = 0.0764  # of the pose `stand`
    assert upper.solve(height, 0.0) == pytest.approx(stand, abs=2e-3)


def test_walker_has_no_upper_limbs():
    r = robot(variant="walker")
    r.until("hexapod")
    assert (sent(r.output).frame[6:] == Frame.HOLD).all()
    r.run(1.0, twist=[0.3, 0.0, 0.0])
    assert r.core.twist[0] == pytest.approx(0.3)


def test_contacts_follow_the_gait_and_are_nan_at_rest(standing):
    r = standing
    assert r.run(0.3).contacts.in_contact.all()
    assert np.isnan(r.output.contacts.phase).all()
    counts = [r.tick(twist=[0.2, 0.0, 0.0]).contacts.in_contact.sum() for _ in range(200)]
    assert min(counts) >= 3
    assert max(counts[50:]) < 6 or min(counts) == 3
    assert np.isfinite(r.output.contacts.phase).all()


def test_tipped_over_it_holds_and_stands_up_when_turned_upright(standing):
    r = standing
    r.run(1.0, twist=[0.3, 0.0, 0.0])
    r.orientation = np.array([np.sin(0.6), 0.0, 0.0, np.cos(0.6)])
    r.run(0.1, twist=[0.3, 0.0, 0.0])
    assert r.output.mode.step == "walking"  # it may be a push
    r.run(0.3, twist=[0.3, 0.0, 0.0])
    assert r.output.mode.name == "sit"
    assert r.output.mode.text == "tipped over by 69 deg, holding; request recover, or turn it upright and request stand"
    q = r.q.copy()
    assert not r.core.request_mode("hexapod")[0]
    r.run(0.5, twist=[0.3, 0.0, 0.0])
    assert (r.q == q).all()
    r.orientation = yaw_quaternion(0.0)
    r.tick()
    assert r.core.request_mode("hexapod")[0]
    r.until("hexapod")
    assert feet(r)[:, 2] == pytest.approx(-0.1623, abs=1e-4)
    assert r.largest_step() < SMOOTH


def test_the_newest_word_is_told(standing):
    r = standing
    r.core.request_mode("fly")
    assert "moonwalk" in r.tick(gait="moonwalk").mode.text
    r.core.request_mode("relax")
    assert "relax refused" in r.tick().mode.text


def test_a_twist_from_the_future_is_not_used(standing):
    r = standing
    out = r.tick(twist=[0.3, 0.0, 0.0], twist_time=r.t + 9.0)
    assert "from the future" in out.mode.text
    assert not r.core.twist.any()


def test_commands_are_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        OperatorCommands().gait = "wave"  # type: ignore[misc]
