# SPDX-License-Identifier: MIT
"""The engine: changes without jumps, roll, modes, time-outs, lost modules; the joints follow at once."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from shellbot_common.rotations import rotation_from_quaternion
from snake_motion.attitude import Attitude
from snake_motion.chassis import BodyGeometry, body_poses, chassis_of
from snake_motion.chassis_kernels import carried, settle
from snake_motion.config import EngineConfig
from snake_motion.core import SnakeCore, Waypoint
from snake_motion.drive import VelocityDrive
from snake_motion.engine import SnakeEngine
from snake_motion.engine_io import Feedback
from snake_motion.errors import SnakeMotionError
from snake_motion.gait_table import GaitTable, ServoLimits, load_rows
from snake_motion.odometry import SnakeOdometry, load_slips, slips_file
from snake_motion.torque_watch import TorqueWatch
from snake_motion.velocity_map import load_maps
from snake_motion.waves import WaveRow

MODULES, SPEED = 16, 5.5
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


class Ideal:
    """An engine whose joints are where they are commanded."""

    def __init__(self, start_mode="go"):
        table = GaitTable(load_rows(), MODULES, ServoLimits(math.radians(90.0), SPEED))
        self.engine = SnakeEngine(table, start_mode=start_mode)
        self.t, self.q, self.roll, self.greatest = 0.0, np.zeros(MODULES), 0.0, 0.0

    def run(self, seconds, until=lambda output: False):
        for _ in range(round(seconds * 100)):
            self.t += 0.01
            output = self.engine.step(self.t, Feedback(self.q, self.roll))
            self.greatest = max(self.greatest, float(np.abs(output.position - self.q).max()) / 0.01)
            self.q = output.position
            if until(output):
                break
        return output


def goes_straight_lying_at(roll_deg):
    """Return a robot that lies on its side and is to go straight."""
    ideal = Ideal()
    ideal.run(0.1)
    ideal.roll = math.radians(roll_deg)
    ideal.engine.request_gait("straight")
    return ideal


def test_no_change_of_gait_turns_a_joint_faster_than_its_servo_can():
    names = [name for name, row in load_rows().items() if row.source]
    for first, second in itertools.permutations(names, 2):
        ideal = Ideal()
        for request in (first, f"{second} -1", second):
            assert ideal.engine.request_gait(request)[0] or ideal.engine.mode == "waiting"
            output = ideal.run(0.1)
            ideal.engine.request_gait(request)
            output = ideal.run(2.3)
        assert output.gait == second and output.direction == 1
        assert ideal.greatest < SPEED, f"{first} to {second}: {ideal.greatest:.2f} rad/s"


def test_toggle_reverses_the_gait_that_runs_and_begins_another_forwards():
    ideal = Ideal()
    ideal.run(0.1)
    for request, expected in (
        ("straight toggle", 1),
        ("straight toggle", -1),
        ("straight toggle", 1),
        ("roll toggle", 1),
    ):
        assert ideal.engine.request_gait(request)[0]
        assert ideal.run(2.5).direction == expected


def test_on_its_side_it_rolls_upright_first():
    ideal = Ideal()
    ideal.run(0.1)
    ideal.roll = math.radians(90.0)  # right side down
    ideal.engine.request_gait("straight")
    output = ideal.run(5.0, lambda output: output.gait != "")
    assert (output.gait, output.direction) == ("righting", 1)  # to the left
    ideal.run(0.5)
    ideal.roll = 0.0
    assert ideal.run(3.0, lambda output: output.gait == "straight").gait == "straight"


def test_where_it_cannot_right_itself_the_gait_is_turned_to_the_face_that_is_down():
    ideal = goes_straight_lying_at(88.0)
    assert ideal.run(40.0, lambda output: output.gait == "righting").gait == "righting"
    for _ in range(ideal.engine.config.righting_attempts):
        ideal.roll = 0.0  # it seems to get up, and falls back
        ideal.run(1.0, lambda output: output.gait == "")
        ideal.roll = math.radians(88.0)
        output = ideal.run(5.0, lambda output: output.gait != "")
    assert output.gait == "straight"
    output = ideal.run(2.0)
    assert np.abs(output.position[0::2]).max() < 1e-9 < np.abs(output.position[1::2]).max()


@pytest.mark.parametrize("stop", ["", "straighten", "a module without torque"])
def test_a_stop_counts_while_it_rolls_upright(stop):
    ideal = goes_straight_lying_at(90.0)
    assert ideal.run(2.0).gait == "righting"
    if stop == "":
        assert ideal.engine.request_gait("")[0]
    elif stop == "straighten":
        assert ideal.engine.request_mode("straighten")[0]
    else:
        for _ in range(150):
            ideal.t, q = ideal.t + 0.01, ideal.q.copy()
            q[4] = 1.0
            output = ideal.engine.step(ideal.t, Feedback(q, ideal.roll))
            ideal.q = output.position
        assert output.failed
    output = ideal.run(2.0)
    assert output.gait == "" and np.abs(output.position).max() < 1e-9


@pytest.mark.parametrize(("modules", "angle", "speed"), [(1, 1.57, 5.5), (2, 0.5, 5.5), (4, 1.57, 0.9)])
def test_rolling_upright_keeps_the_limits_of_the_servos(modules, angle, speed):
    rows = {"walk": replace(load_rows()["still"], pitch=WaveRow(amplitude_deg=5.0), period=4.0)}
    engine = SnakeEngine(GaitTable(rows, modules, ServoLimits(angle, speed)))
    q, places, gaits = np.zeros(modules), [], []
    for tick in range(500):
        output = engine.step(0.01 * tick, Feedback(q, math.radians(90.0)))
        if tick == 1:
            assert engine.request_gait("walk")[0]
        q = output.position
        places.append(q)
        gaits.append(output.gait)
    assert gaits[-1] == "righting" and 0.2 < np.abs(places).max() <= angle + 1e-9
    turning = np.array(places)[-200:]  # the fade-in is over
    assert np.abs(np.diff(turning, axis=0)).max() / 0.01 <= speed + 1e-9


def test_an_attempt_to_roll_upright_that_leads_nowhere_ends():
    ideal = goes_straight_lying_at(90.0)
    assert ideal.run(60.0, lambda output: output.gait == "straight").gait == "straight"
    assert ideal.run(2.0).gait == "straight"


def test_a_module_without_torque_stops_the_robot_flat_with_a_sentence():
    ideal = Ideal()
    ideal.run(0.1)
    ideal.engine.request_gait("side_fast")
    ideal.run(3.0)
    stuck = ideal.engine

    def limp(seconds):
        for _ in range(round(seconds * 100)):
            ideal.t += 0.01
            q = ideal.q.copy()
            q[5] += math.radians(60.0)
            output = stuck.step(ideal.t, Feedback(q, 0.0))
            ideal.q = output.position
        return output

    output = limp(3.0)
    assert output.mode == "straighten" and "module 6 (yaw) is 60 deg from the command" in output.text and output.failed
    assert np.abs(output.position).max() < 1e-9
    assert not stuck.request_gait("straight")[0]
    assert stuck.request_mode("go")[0] and not limp(0.01).failed


@pytest.mark.parametrize(
    ("limp", "words"), [([4], "module 5 (pitch) has no torque"), (range(16), "no module has torque")]
)
def test_modules_that_give_no_effort_are_noticed_within_a_little_more_than_a_second(limp, words):
    watch, config = TorqueWatch(MODULES, EngineConfig()), EngineConfig()
    for tick in range(1000):
        command = math.radians(20.0) * np.sin(0.0628 * tick + np.arange(MODULES))
        q, effort = 0.9 * command, 0.1 * command
        if tick >= 500:
            q[limp], effort[limp] = 0.0, 0.0
        text = watch.step(0.01, command, q, effort)
        if text:
            break
    assert words in text and 500 < tick < 500 + 130 * config.lost_time


def test_joints_that_hold_for_long_stop_the_robot_flat_with_the_reason_and_blame_no_other():
    snake, t, q = core_in_gait()

    def go_on(seconds, reason, late=0.0):
        nonlocal t
        for tick in range(round(100 * seconds)):
            t += 0.01
            if tick % 10 == 0:
                snake.hold(t - late, reason)
            output = snake.step(t, q, UPRIGHT).motion  # the joints stay where they are
        return output

    assert go_on(0.9, "servo 5 was overloaded").mode == "go"
    assert go_on(0.1, "").mode == "go"
    output = go_on(1.3, "servo 5 was overloaded")
    assert output.mode == "straighten" and output.failed
    assert output.text.startswith("servo 5 was overloaded; stopping flat")
    snake.engine.emergency_stop()
    assert go_on(0.1, "servo 5 is gone").text == "emergency stop: servo 5 is gone; rearm to resume"
    assert go_on(0.1, "emergency stop (topic): until rearm").text == "emergency stop (topic): until rearm"


def test_a_report_of_a_hold_that_comes_late_counts_by_its_stamp():
    snake, t, q = core_in_gait()
    for tick in range(300):
        if tick == 10:
            snake.hold(t + 0.1, "no joint_targets yet")
        output = snake.step(t + 0.01 * (tick + 1), q, UPRIGHT).motion
        q = output.position
    assert output.mode == "go"


@pytest.mark.parametrize("twist", [(0.0, 0.0, 0.0), (0.0, math.nan, 0.0), "nonsense"])
def test_zero_and_nonsense_stop_a_gait_that_was_requested_by_its_name(twist):
    snake, t, q = core_in_gait()
    if twist == "nonsense":
        accepted, reason = snake.request_gait(twist)
        assert not accepted and reason.endswith("stopping flat")
    else:
        snake.command(twist)
    for tick in range(200):
        output = snake.step(t + 0.01 * (tick + 1), q, UPRIGHT).motion
        q = output.position
    assert output.gait == "" and np.abs(q).max() < 1e-9


def test_modes_and_the_emergency_stop():
    ideal = Ideal()
    assert ideal.engine.request_mode("go") == (
        False,
        "go refused: the robot is waiting; start simulator or driver first",
    )
    ideal.run(0.1)
    accepted, reason = ideal.engine.request_mode("fly")
    assert not accepted and "choose from relax, straighten, go" in reason
    ideal.engine.request_gait("inclined")
    moving = ideal.run(3.0).position
    ideal.engine.emergency_stop()
    assert ideal.run(1.0).position == pytest.approx(ideal.q) and ideal.engine.mode == "stopped"
    assert np.abs(ideal.q - moving).max() < 0.05
    assert "rearm it first" in ideal.engine.request_mode("go")[1]
    ideal.engine.rearm()
    output = ideal.run(3.0)
    assert output.mode == "go" and np.abs(output.position).max() < 1e-9 and ideal.greatest < SPEED
    ideal.engine.request_gait("inclined")
    ideal.run(3.0)
    ideal.engine.request_mode("relax")
    held = ideal.run(0.1).position
    assert np.abs(held).max() > 0.1 and ideal.run(1.0).position == pytest.approx(held)
    ideal.engine.request_mode("straighten")
    assert np.abs(ideal.run(3.0).position).max() < 1e-9 and ideal.greatest < SPEED


def test_joints_that_are_not_finite_hold():
    ideal = Ideal()
    ideal.run(0.1)
    ideal.engine.request_gait("straight")
    ideal.run(2.0)
    output = ideal.engine.step(ideal.t + 0.01, Feedback(np.full(MODULES, np.nan), 0.0))
    assert output.position == pytest.approx(ideal.q) and "not finite" in output.text


def core(drive=None):
    table = GaitTable(load_rows(), MODULES, ServoLimits(math.radians(90.0), SPEED))
    geometry = BodyGeometry(MODULES, 0.072, 0.052, 0.052)
    drive = drive or VelocityDrive(load_maps(MODULES), MODULES)
    return SnakeCore(SnakeEngine(table), drive, geometry, load_slips(slips_file(MODULES)))


def test_cmd_vel_drives_until_it_is_silent_and_nonsense_is_told():
    snake, q, gaits = core(), np.zeros(MODULES), []
    for tick in range(700):
        t = 0.01 * tick
        if 0.1 < t < 4.0:
            snake.command([0.05, 0.0, 0.02])
        output = snake.step(t, q, UPRIGHT)
        q = output.motion.position
        gaits.append(output.motion.gait)
    assert gaits[300] == "forward" and gaits[-1] == "" and np.abs(q).max() < 1e-9
    snake.command([math.nan, 0.0, 0.0])
    output = snake.step(7.01, q, UPRIGHT)
    assert "cmd_vel is (nan, 0.0, 0.0); give three finite numbers" in output.notice and output.motion.gait == ""


def test_a_zero_cmd_vel_ends_rolling_upright():
    snake, q, gaits = core(), np.zeros(MODULES), []
    side = Rotation.from_euler("x", 90.0, degrees=True).as_quat()
    for tick in range(500):
        if 10 < tick < 200:
            snake.command([0.05, 0.0, 0.02])
        if tick == 200:
            snake.command([0.0, 0.0, 0.0])
        output = snake.step(0.01 * tick, q, side)
        q = output.motion.position
        gaits.append(output.motion.gait)
    assert gaits[199] == "righting"
    assert output.motion.gait == "" and np.abs(q).max() < 1e-9


def test_a_gait_that_is_requested_right_after_cmd_vel_goes_on():
    snake, q = core(), np.zeros(MODULES)
    for tick in range(600):
        if 10 < tick < 200:
            snake.command([0.05, 0.0, 0.02])
        if tick == 220:  # within the time-out of cmd_vel
            assert snake.request_gait("inclined")[0]
        output = snake.step(0.01 * tick, q, UPRIGHT)
        q = output.motion.position
    assert (output.motion.gait, output.motion.text) == ("inclined", "gait inclined, direction +1")


@pytest.mark.parametrize(("effort", "words"), [(0.0, ""), (None, ""), (1.0, "module 6 (yaw) has no torque")])
def test_efforts_that_are_all_zero_are_not_measured(effort, words):
    """As of a simulator or driver that fills the field without knowing."""
    watch, command, q = TorqueWatch(MODULES, EngineConfig()), np.full(MODULES, 0.3), np.full(MODULES, 0.2)
    efforts = None if effort is None else np.full(MODULES, effort)
    if effort:
        efforts[5] = 0.0
    found = [watch.step(0.01, command, q, efforts) for _ in range(300)]
    assert found[-1].startswith(words) and bool(found[-1]) == bool(words)


@pytest.mark.parametrize("is_stopped_first", [True, False])
def test_no_gait_of_the_start_begins_after_an_emergency_stop(is_stopped_first):
    ideal = Ideal()
    ideal.engine.request_at_start("straight")
    if is_stopped_first:  # the latched topic of a robot that was stopped before this node began
        ideal.engine.emergency_stop()
    else:
        ideal.run(0.1)
        ideal.engine.emergency_stop()
    ideal.run(0.5)
    ideal.engine.rearm()
    output = ideal.run(3.0)
    assert (output.mode, output.gait, output.text) == ("go", "", "ready")


def test_a_clock_that_goes_back_begins_anew():
    snake = core()
    for tick in range(300):
        snake.step(0.01 * tick, np.zeros(MODULES), UPRIGHT)
    assert snake.step(2.98, np.zeros(MODULES), UPRIGHT) is None
    output = snake.step(0.0, np.full(MODULES, 0.2), UPRIGHT)
    assert output is not None and output.motion.position == pytest.approx(np.full(MODULES, 0.2))


def test_odometry_of_a_body_that_pulls_itself_on():
    """With the rear two thirds on the ground, the head moves as the kinematics says: no slip, no correction."""
    geometry = BodyGeometry(MODULES, 0.072, 0.052, 0.052)
    odometry = SnakeOdometry(geometry)
    first = odometry.step(0.0, np.zeros(MODULES), UPRIGHT)
    angles = np.linspace(0.0, 0.3, 50)
    for number, angle in enumerate(angles):
        q = np.zeros(MODULES)
        q[1] = angle  # yaw of the head's side: the IMU is in the head, which turns back by it
        turn = np.array([0.0, 0.0, math.sin(-0.5 * angle), math.cos(-0.5 * angle)])
        last = odometry.step(0.01 * (number + 1), q, turn)
    # most of the body sticks, so the tail does not move at all
    bent, straight = body_poses(q, geometry, rotation_from_quaternion(turn)), body_poses(np.zeros(MODULES), geometry)
    from_tail = [chassis_of(poses)[:3] - poses.centre[-1] for poses in (straight, bent)]
    moved = last.p_odom_chassis - first.p_odom_chassis
    assert moved == pytest.approx((from_tail[1] - from_tail[0])[:2], abs=6e-4)
    assert np.all(np.linalg.eigvalsh(last.covariance) > 0.0)
    assert last.roll == pytest.approx(0.0) and last.up == pytest.approx(1.0)


def test_the_noise_of_the_attitude_is_no_turning_of_a_snake_that_lies_still():
    odometry, rng = SnakeOdometry(BodyGeometry(MODULES, 0.072, 0.052, 0.052)), np.random.default_rng(0)
    speeds = []
    for tick in range(500):
        half = 0.5 * math.radians(0.1) * rng.standard_normal()  # of the yaw
        state = odometry.step(0.01 * tick, np.zeros(MODULES), np.array([0.0, 0.0, math.sin(half), math.cos(half)]))
        speeds.append(state.v_chassis[2])
    assert np.abs(speeds[50:]).max() < 0.05


def test_a_body_is_laid_on_the_corners_that_carry_its_weight():
    """A slab that seems to stand on one edge by an error of half a degree lies flat; one that does so is left alone."""
    corners = np.array([[[x, y, z] for x in (-0.3, 0.5) for y in (-0.1, 0.2) for z in (0.0, 0.05)]])
    tilt = np.zeros(2)
    for about_x, about_y in ((0.008, -0.004), (-0.005, 0.0)):
        points = corners.copy()
        points[..., 2] += about_x * (corners[..., 1] - 0.03) - about_y * (corners[..., 0] - 0.1)
        for _ in range(4):
            seen = points.copy()
            settle(seen, 0.1, 0.03, 0.003, tilt)
        bottom = seen[0, ::2]
        load = np.exp(-bottom[:, 2] / 0.003)
        assert np.ptp(bottom[:, 2]) < 0.0015
        assert load @ bottom[:, :2] / load.sum() == pytest.approx([0.1, 0.03], abs=0.012)
        assert tilt == pytest.approx([-about_x, -about_y], abs=3.5e-3)
    settled = corners.copy()
    settle(settled, 0.1, 0.05, 0.003, np.zeros(2))
    assert settled == pytest.approx(corners, abs=2e-3)


def test_friction_of_many_holds_what_few_slip():
    before = np.zeros((2, 8, 3))
    before[1, :, 2] = 0.02  # the second body hangs in the air
    after = before.copy()
    after[0, :3, 0] = 0.004  # three of eight corners slip
    after[1, :, 1] = 1.0
    x, y = carried(before, after, 0.001, 1e-5)
    assert abs(x) < 1e-4 and abs(y) < 1e-4
    after[0, :, :2] += [0.01, -0.02]  # all of it besides
    assert carried(before, after, 0.001, 1e-5) == pytest.approx((x + 0.01, y - 0.02), abs=1e-6)


def core_in_gait(gait="straight", time_scale=1.0):
    """A core two seconds into a gait, its time and its joints."""
    table = GaitTable(load_rows(), MODULES, ServoLimits(math.radians(90.0), SPEED), time_scale)
    drive, geometry = VelocityDrive(load_maps(MODULES), MODULES), BodyGeometry(MODULES, 0.072, 0.052, 0.052)
    core, q = SnakeCore(SnakeEngine(table), drive, geometry, load_slips(slips_file(MODULES))), np.zeros(MODULES)
    for tick in range(1, 301):
        q = core.step(0.01 * tick, q, UPRIGHT).motion.position
        if tick == 1:
            assert core.engine.request_gait(gait)[0]
    return core, 3.0, q


def test_nonsense_at_a_tick_leaves_no_trace():
    core, t, q = core_in_gait()
    assert core.step(math.nan, q, UPRIGHT) is None
    for k, quaternion in enumerate((np.zeros(4), np.full(4, np.nan), np.zeros(3)), 1):
        assert core.step(t + 0.01 * k, q, quaternion).state is None
    held = core.step(t + 0.04, np.zeros(5), UPRIGHT)
    assert "incomplete" in held.motion.text and held.state is None
    output = core.step(t + 0.05, q, UPRIGHT)
    assert np.all(np.isfinite(output.state.p_odom_chassis)) and np.all(np.isfinite(output.motion.position))
    assert np.abs(output.motion.position - q).max() < SPEED * 0.05


def test_a_gait_that_fades_out_keeps_its_period():
    core, t, q = core_in_gait(time_scale=3.0)
    before = core.step(t + 0.01, q, UPRIGHT).motion
    core.engine.request_gait("")
    core.step(t + 0.02, before.position, UPRIGHT)
    later = core.step(t + 0.03, before.position, UPRIGHT).motion
    assert later.gait == ""
    assert later.theta - before.theta == pytest.approx(2.0 * math.pi * 0.02 / 3.0)


def test_a_waypoint_steers_until_something_else_does():
    table = GaitTable(load_rows(), MODULES, ServoLimits(math.radians(90.0), SPEED))
    core = SnakeCore(
        SnakeEngine(table), VelocityDrive(load_maps(MODULES), MODULES), BodyGeometry(MODULES, 0.072, 0.052, 0.052)
    )

    def run(seconds):
        for _ in range(round(100 * seconds)):
            run.t += 0.01
            run.q = run.output.motion.position if run.output else np.zeros(MODULES)
            run.output = core.step(run.t, run.q, UPRIGHT)
        return run.output

    run.t, run.output = 0.0, None
    assert run(0.1).waypoint is Waypoint.NONE
    with pytest.raises(SnakeMotionError, match="goal is"):
        core.go_to((math.nan, 0.0, 0.0))
    assert run(0.1).waypoint is Waypoint.NONE
    core.go_to((2.0, 0.0, 0.0))
    output = run(1.5)
    assert output.waypoint is Waypoint.GOING and output.motion.gait == "forward" and output.motion.direction == 1
    for _ in range(10):
        core.command((0.0, 0.3, 0.0))
        output = run(0.1)
    assert output.waypoint is Waypoint.CANCELLED and output.motion.gait == "sideways"
    assert output.motion.text == "steered, gait sideways"
    core.go_to(run_pose(run(3.0)))
    assert run(3.0).waypoint is Waypoint.REACHED and core.engine.active is None
    core.engine.request_gait("straight")
    assert run(2.0).motion.gait == "straight"
    with pytest.raises(SnakeMotionError, match="goal is"):
        core.go_to((math.inf, 0.0, 0.0))
    assert run(1.0).motion.gait == "straight", "what is refused changes nothing"
    core.go_to((2.0, 0.0, 0.0))
    assert run(3.0).motion.gait in core.drive.families, "in the place of the gait that was requested"
    core.engine.emergency_stop()
    output = run(0.01)
    assert output.waypoint is Waypoint.CANCELLED and "mode stopped; rearm it first" in output.notice
    with pytest.raises(SnakeMotionError, match="mode stopped; rearm it first"):
        core.go_to((2.0, 0.0, 0.0))
    core.engine.rearm()
    run(0.1)
    core.engine.request_mode("relax")
    with pytest.raises(SnakeMotionError, match="mode relax; request the mode go"):
        core.go_to((2.0, 0.0, 0.0))
    core.command((0.0, 0.0, 0.0))
    assert not run(0.01).notice
    core.command((0.1, 0.0, 0.0))
    assert run(0.01).notice == "cmd_vel does not count in mode relax; request the mode go first"
    assert not run(0.1).notice and core.engine.active is None
    core.engine.request_mode("go")
    core.drive = VelocityDrive({"forward": core.drive.maps["forward"]}, MODULES)
    with pytest.raises(SnakeMotionError, match="of sideways, rotation for 16 modules; .*identify --modules 16"):
        core.go_to((2.0, 0.0, 0.0))


def test_an_emergency_stop_without_an_attitude_cancels_a_waypoint():
    snake, q, found = core(), np.zeros(MODULES), []
    for tick in range(600):
        if tick == 20:
            snake.go_to((2.0, 0.0, 0.0))
        if tick == 200:
            snake.engine.emergency_stop()
        if tick == 220:
            snake.engine.rearm()
        output = snake.step(0.01 * tick, q, None if 190 < tick < 230 else UPRIGHT)
        q = output.motion.position
        found.append((output.waypoint, output.motion.gait))
    assert found[189] == (Waypoint.GOING, "forward")
    assert found[-1] == (Waypoint.CANCELLED, ""), "it went on once the attitude was back"


def test_rolling_changes_its_speed_without_lying_down():
    drive = VelocityDrive(load_maps(MODULES), MODULES, sideways_by="rolling")
    snake, q, steps = core(drive), np.zeros(MODULES), []
    for tick in range(800):
        snake.command([0.0, 0.06 if tick < 400 else 0.15, 0.0])
        before, q = q, snake.step(0.01 * tick, q, UPRIGHT).motion.position
        steps.append(float(np.abs(q - before).max()))
        assert tick < 200 or snake.engine.active is not None
    assert snake.engine.active.shape.period < 1.6 and max(steps) < 0.02 * SPEED


def test_slip_is_that_of_the_amplitude_and_holds_while_the_gait_fades_out():
    slips = {("forward", 1): (2.0, 0.0), ("forward_least", 1): (4.0, 0.2)}
    table = GaitTable(load_rows(), MODULES, ServoLimits(math.radians(90.0), SPEED))
    geometry = BodyGeometry(MODULES, 0.072, 0.052, 0.052)
    snake = SnakeCore(SnakeEngine(table), VelocityDrive(load_maps(MODULES), MODULES), geometry, slips)
    q, seen = np.zeros(MODULES), {}
    fastest, slowest = snake.drive.limits[0], 0.005
    for tick in range(900):
        if 20 < tick < 700:
            snake.command([fastest if tick < 400 else slowest, 0.0, 0.0])
        q = snake.step(0.01 * tick, q, UPRIGHT).motion.position
        seen[tick] = snake._slip()
    assert seen[10] == seen[899] == (1.0, 0.0)
    assert seen[399] == pytest.approx((2.0, 0.0), abs=0.02)
    assert seen[699] == seen[780] == pytest.approx((4.0, 0.2), abs=0.02) and snake.engine.active is None


def run_pose(output):
    return float(output.state.p_odom_chassis[0]), float(output.state.p_odom_chassis[1]), output.state.yaw


def test_an_attitude_is_turned_on_to_the_time_of_the_joints():
    attitude = Attitude()
    assert attitude.at(0.0) is None
    axis = np.array([0.36, 0.48, 0.8])
    begin = Rotation.from_euler("xyz", (0.3, -0.2, 1.0))
    attitude.update(2.0, begin.as_quat(), 6.0 * axis)
    for ahead in (0.0, 0.01, -0.01):
        expected = begin * Rotation.from_rotvec(6.0 * ahead * axis)  # the rate is in the axes of the head
        found = Rotation.from_quat(attitude.at(2.0 + ahead))
        assert (found * expected.inv()).magnitude() < 1e-9
    assert attitude.at(2.06) is None and attitude.at(math.nan) is None
    attitude.update(3.0, begin.as_quat(), np.full(3, math.nan))
    assert np.allclose(attitude.at(3.02), begin.as_quat())
    attitude.update(4.0, None, np.zeros(3))
    assert attitude.at(4.0) is None
