# SPDX-License-Identifier: MIT
"""The mission sequencer against a kinematic robot whose odometry follows the command exactly."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from robot_evaluation.errors import DefinitionError
from shellbot_chain.errors import MissionFailed
from shellbot_client.mission import Mission, MissionState, Observation
from shellbot_client.phases import GoTo, Pose, Turn, Walk, roll, stand_up, turn, walk

DT = 0.01
INSTANT = (math.inf, math.inf, math.inf)


class Unicycle:
    """An ideal robot: obeys the mode request after a second and the twist at once."""

    def __init__(self, yaw: float = 0.0) -> None:
        self.t, self.mode, self.ready_at = 0.0, "sit", math.inf
        self.pose = np.array([0.3, -0.2, yaw])

    def observe(self, hold: bool = False) -> Observation:
        target = "hexapod" if self.ready_at < math.inf else self.mode
        wrapped = math.remainder(self.pose[2], 2 * math.pi)
        return Observation(self.t, self.pose[0], self.pose[1], wrapped, self.mode, target, "", hold)

    def obey(self, command) -> None:
        if command.request_mode is not None:
            self.ready_at = self.t + 1.0
        self.t += DT
        if self.t >= self.ready_at:
            self.mode = "hexapod"
        vx, vy, wz = command.twist
        c, s = math.cos(self.pose[2]), math.sin(self.pose[2])
        self.pose += DT * np.array([c * vx - s * vy, s * vx + c * vy, wz])


def drive(mission: Mission, robot: Unicycle, limit_s: float = 200.0):
    events = []
    while mission.state is MissionState.RUNNING:
        assert robot.t < limit_s, "mission neither ends nor fails"
        command = mission.step(robot.observe())
        if command.event:
            events.append(command.event)
        robot.obey(command)
    return events


def test_walk_ends_at_the_commanded_distance_along_the_start_heading():
    robot = Unicycle(yaw=2.0)
    drive(Mission((stand_up(), walk("forward", 1.0, (1.0, 0.0), 0.2))), robot)
    moved = robot.pose[:2] - (0.3, -0.2)
    assert moved == pytest.approx(np.array([math.cos(2.0), math.sin(2.0)]), abs=3e-3)


def test_sideways_walk_moves_to_the_left():
    robot = Unicycle()
    drive(Mission((stand_up(), walk("sideways", 0.5, (0.0, 1.0), 0.2))), robot)
    assert robot.pose[:2] - (0.3, -0.2) == pytest.approx((0.0, 0.5), abs=3e-3)


@pytest.mark.parametrize("angle_deg", [90.0, 360.0, -180.0, -270.0, 720.0])
def test_turn_counts_whole_turns_through_the_wrap_of_the_odometry(angle_deg):
    robot = Unicycle(yaw=3.0)
    drive(Mission((stand_up(), turn("turn", math.radians(angle_deg), 0.8))), robot)
    assert robot.pose[2] - 3.0 == pytest.approx(math.radians(angle_deg), abs=0.01)


def test_phases_run_in_order_and_tell_the_moments_for_pictures():
    phases = (
        stand_up(),
        walk("forward", 1.0, (1.0, 0.0), 0.15),
        walk("sideways", 0.5, (0.0, 1.0), 0.15),
        turn("turn", math.pi / 2, 0.5),
        Pose("tilt", 15.0, (0.0, 0.0, 0.0, 0.1, 0.0, 0.0), 2.0),
        Pose("level", 15.0),
    )
    mission = Mission(phases)
    events = drive(mission, Unicycle())
    assert [r.phase.name for r in mission.records] == ["stand", "forward", "sideways", "turn", "tilt", "level"]
    for wanted in ("stand:done", "forward:half", "forward:done", "sideways:done", "turn:settled", "tilt:settled"):
        assert wanted in events
    assert mission.state is MissionState.SUCCEEDED


def test_phase_is_not_over_before_the_robot_has_settled():
    mission, robot = Mission((stand_up(), walk("forward", 0.2, (1.0, 0.0), 0.2))), Unicycle()
    drive(mission, robot)
    record = mission.records[1]
    assert record.t_end - record.t_stop >= 1.0


def test_hold_keeps_the_robot_settled_beyond_the_time_limit_until_it_is_lifted():
    mission, robot = Mission((stand_up(), walk("forward", 0.1, (1.0, 0.0), 0.2))), Unicycle()
    while robot.t < 60.0:
        robot.obey(mission.step(robot.observe(hold=len(mission.records) == 1)))
    assert mission.state is MissionState.RUNNING
    drive(mission, robot)
    assert mission.state is MissionState.SUCCEEDED


def test_command_becomes_slower_towards_the_end_and_never_exceeds_the_cruise_speed():
    motion = walk("forward", 1.0, (1.0, 0.0), 0.2).motion
    speeds = [motion.twist((0.0, 0.0, 0.0), (1.0 - left, 0.0, 0.0), INSTANT)[0] for left in (1.0, 0.05, 0.01, 0.002)]
    assert speeds == pytest.approx([0.2, 0.1, 0.03, 0.03])


def test_body_pose_stays_commanded_through_following_phases():
    pose = (0.0, 0.0, 0.0, 0.1, 0.0, 0.0)
    mission, robot = Mission((stand_up(), Pose("tilt", 10.0, pose, 1.0), walk("on", 0.1, (1.0, 0.0), 0.2))), Unicycle()
    poses = set()
    while mission.state is MissionState.RUNNING:
        command = mission.step(robot.observe())
        if mission.phase is not None and mission.phase.name == "on":
            poses.add(command.body_pose)
        robot.obey(command)
    assert poses == {pose}


def test_body_pose_stays_commanded_through_a_change_of_mode_and_rolling():
    pose = (0.0, 0.0, -0.02, 0.1, 0.0, 0.0)
    mission, robot, poses = Mission((stand_up(),), pose), Unicycle(), set()
    while mission.state is MissionState.RUNNING:
        command = mission.step(robot.observe())
        poses.add(command.body_pose)
        robot.obey(command)
    mission, robot.mode, robot.ready_at = Mission((roll("roll", 0.5, 0.0),), pose), "shell", math.inf
    for _ in range(100):
        poses.add(mission.step(robot.observe()).body_pose)
        robot.t += DT
    assert poses == {pose}


def test_time_limit_fails_with_phase_progress_and_refusal():
    mission = Mission((stand_up(),))
    robot = Unicycle()
    with pytest.raises(MissionFailed, match="'stand' was not done within 40 s.*mode is 'sit'.*battery is flat"):
        while True:
            command = mission.step(robot.observe())
            if command.request_mode:
                mission.refused("battery is flat")
            robot.t += DT
    assert mission.state is MissionState.FAILED
    assert mission.step(robot.observe()).twist == (0.0, 0.0, 0.0)


def test_a_step_that_still_runs_in_the_mode_is_waited_for():
    mission = Mission((stand_up(),))
    for i in range(300):
        mission.step(Observation(i * DT, 0.0, 0.0, 0.0, "hexapod", "hexapod", "settling"))
    assert mission.state is MissionState.RUNNING
    for i in range(300, 500):
        mission.step(Observation(i * DT, 0.0, 0.0, 0.0, "hexapod", "hexapod", ""))
    assert mission.state is MissionState.SUCCEEDED


def test_request_is_repeated_once_a_second_only():
    mission, robot = Mission((stand_up(),)), Unicycle()
    asked = 0
    for _ in range(500):
        asked += mission.step(robot.observe()).request_mode is not None
        robot.t += DT
    assert asked == 5


def test_blocked_robot_fails_with_the_distance_it_got():
    mission, robot = Mission((stand_up(), walk("forward", 1.0, (1.0, 0.0), 0.2))), Unicycle()
    with pytest.raises(MissionFailed, match=r"'forward'.*0\.\d\d of 1\.00 m by its odometry"):
        while True:
            command = mission.step(robot.observe())
            robot.obey(command)
            robot.pose[0] = min(robot.pose[0], 0.7)


def test_clock_jump_lost_odometry_and_lost_mode_end_the_mission():
    def walking():
        mission, robot = Mission((stand_up(), walk("forward", 1.0, (1.0, 0.0), 0.2))), Unicycle()
        while robot.t < 3.0:
            robot.obey(mission.step(robot.observe()))
        return mission, robot

    mission, robot = walking()
    with pytest.raises(MissionFailed, match="clock jumped back"):
        mission.step(Observation(0.5, 0.0, 0.0, 0.0, "hexapod", "hexapod"))
    mission, robot = walking()
    with pytest.raises(MissionFailed, match="no odometry"):
        mission.step(Observation(robot.t, math.nan, 0.0, 0.0, "hexapod", "hexapod"))
    mission, robot = walking()
    with pytest.raises(MissionFailed, match="for 'stopped'"):
        mission.step(Observation(robot.t, 0.0, 0.0, 0.0, "stopped", "stopped"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: walk("w", 0.0, (1.0, 0.0), 0.2),
        lambda: walk("w", 1.0, (1.0, 1.0), 0.2),
        lambda: walk("w", 1.0, (1.0, 0.0), math.nan),
        lambda: turn("t", 0.0, 0.5),
        lambda: Turn("t", -1.0),
        lambda: Pose("p", 1.0, (0.0,) * 5),
        lambda: Walk("w", 1.0, 1.0, (1.0, 0.0), -0.1),
        lambda: GoTo("g", math.inf),
    ],
)
def test_unusable_phases_are_refused(make):
    with pytest.raises(DefinitionError):
        make()


def test_a_walk_comes_back_to_its_line_and_a_turn_to_its_point():
    for phase, pushed in (
        (walk("ahead", 2.0, (1.0, 0.0), 0.2), (0.0, 0.05)),
        (walk("aslant", 2.0, (0.6, 0.8), 0.2), (0.04, -0.03)),
        (turn("turn", -2.0 * math.pi, 0.5), (0.03, 0.04)),
    ):
        mission, robot = Mission((stand_up(), phase)), Unicycle(yaw=1.0)
        while not any(mission.records):
            robot.obey(mission.step(robot.observe()))
        start = robot.pose.copy()
        for _ in range(100):
            robot.obey(mission.step(robot.observe()))
        robot.pose[:2] += pushed
        robot.pose[2] += 0.1 if isinstance(phase, Walk) else 0.0
        drive(mission, robot)
        angle = 1.0 + math.atan2(*reversed(phase.direction)) if isinstance(phase, Walk) else 0.0
        wanted = start[:2] + (phase.amount if isinstance(phase, Walk) else 0.0) * np.array(
            [math.cos(angle), math.sin(angle)]
        )
        assert np.linalg.norm(robot.pose[:2] - wanted) < 0.02


def test_a_gait_that_brakes_slowly_is_braked_in_time():
    class Lazy(Unicycle):
        """Changes its velocity by no more than 0.026 m/s^2, as the gait wave does."""

        velocity = 0.0

        def observe(self, hold: bool = False) -> Observation:
            return replace(super().observe(hold), acceleration=(0.026, 0.026, 0.1))

        def obey(self, command) -> None:
            self.velocity += float(np.clip(command.twist[0] - self.velocity, -0.026 * DT, 0.026 * DT))
            super().obey(replace(command, twist=(self.velocity, 0.0, 0.0)))

    robot = Lazy()
    drive(Mission((stand_up(), walk("forward", 1.0, (1.0, 0.0), 0.09))), robot)
    assert robot.pose[0] - 0.3 == pytest.approx(1.0, abs=3e-3)
