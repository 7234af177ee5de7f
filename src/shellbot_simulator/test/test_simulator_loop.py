# SPDX-License-Identifier: MIT
"""The physics loop and what it says of itself, by a clock of the test; publishers only collect."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import tiny_robot

from shellbot_simulator.core.obstacles import Obstacle
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.node.lockstep import Command
from shellbot_simulator.node.node_parameters import NodeParameters

loop_node = pytest.importorskip("shellbot_simulator.node.physics_loop_node", reason="needs ROS")
from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from rospy import ServiceException  # noqa: E402

from shellbot_common import TICK  # noqa: E402
from shellbot_msgs.srv import SpawnObstacleRequest  # noqa: E402
from shellbot_simulator.node import obstacle_services_node, state_publisher_node, world_services_node  # noqa: E402
from shellbot_simulator.node.obstacle_conversions import message_from_obstacle  # noqa: E402

SLOWER = "slower than requested"


class Topic:
    """Takes the place of a publisher; keeps what is published."""

    messages = {}

    def __init__(self, name, *_args, **_options):
        self._kept = Topic.messages.setdefault(name, [])

    def publish(self, *values, **_fields):
        self._kept.extend(values)

    def get_num_connections(self):
        return 0


class Robot:
    """A loop whose commands come at once, and a wall clock that moves only in sleep and by `tick_takes`."""

    def __init__(self, rtf):
        self.now, self.tick_takes = 1000.0, 0.0
        self.loop = loop_node.PhysicsLoop(
            Simulator(tiny_robot.URDF, tiny_robot.profile()), NodeParameters(rtf=rtf, viewer="false")
        )

    def sleep(self, duration):
        self.now += duration

    def run(self, seconds, answers=True):
        """Let the loop go round for some time by the wall clock."""
        loop, end = self.loop, self.now + seconds
        while self.now < end:
            if loop._paused:
                loop._idle()
            elif loop._command_is_here() and loop._is_due():
                stamp = loop_node.stamp_ns(loop._state.tick)
                loop._tick()
                if answers:
                    loop._gate.offer(Command([0.0, 0.0]), stamp)
                self.now += self.tick_takes

    def statuses(self):
        """Return the texts of the diagnostics since the last call."""
        kept = Topic.messages["/diagnostics"]
        found = [array.status[0] for array in kept]
        kept.clear()
        assert all((s.level == DiagnosticStatus.OK) == (SLOWER not in s.message) for s in found), found
        return [status.message for status in found]

    def factors(self):
        """Return what was published on ~real_time_factor since the last call."""
        kept = Topic.messages["~real_time_factor"]
        found = list(kept)
        kept.clear()
        return found


@pytest.fixture
def robot(monkeypatch):
    def start(rtf=1.0):
        robot = Robot(rtf)
        monkeypatch.setattr(loop_node, "time", SimpleNamespace(monotonic=lambda: robot.now, sleep=robot.sleep))
        return robot

    monkeypatch.setattr(Topic, "messages", {})
    for module in (state_publisher_node, obstacle_services_node):
        monkeypatch.setattr(module, "Publisher", Topic)
    for name in ("Service", "Subscriber", "loginfo", "logwarn"):
        monkeypatch.setattr(loop_node.rospy, name, Mock())
    monkeypatch.setattr(loop_node, "Cameras", Mock())
    monkeypatch.setattr(loop_node, "PidServers", lambda *_: Mock(take_changes=dict))
    return start


@pytest.mark.parametrize("pause", [1.0, 10.0])
def test_after_a_pause_nothing_is_called_slow(robot, pause):
    robot = robot()
    robot.run(5.0)
    assert robot.statuses()[-1] == "real-time factor 1.00, locked"
    robot.factors()
    robot.loop._paused = True
    robot.run(pause)
    assert not robot.statuses()
    robot.loop._paused = False
    robot.run(5.0)
    first, *rest = robot.statuses()
    assert first == "real-time factor not measured yet, locked"
    assert set(rest) == {"real-time factor 1.00, locked"} and len(rest) >= 3
    assert robot.factors() == pytest.approx([1.0] * len(rest), abs=0.02)


@pytest.mark.parametrize("tick_takes", [0.02, 3.0])
def test_a_machine_that_is_too_slow_is_called_so_however_slow_it_is(robot, tick_takes):
    robot = robot()
    robot.tick_takes = tick_takes
    robot.run(10.0)
    robot.statuses(), robot.factors()
    robot.run(15.0)
    factor = TICK / tick_takes
    found = robot.statuses()
    assert len(found) >= 4 and set(found) == {f"{SLOWER}: real-time factor {factor:.2f} of 1"}
    assert robot.factors() == pytest.approx([factor] * len(found), rel=0.01)


def test_real_time_before_the_first_command_is_not_called_slow(robot):
    robot = robot(5.0)
    robot.run(4.0, answers=False)
    assert robot.statuses()[-1] == "real-time factor 1.00, hold"
    robot.run(2.5)
    found = robot.statuses()
    assert found[-1] == "real-time factor 5.00, locked" and not any(SLOWER in text for text in found), found


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_the_diagnostics_are_those_of_the_engine_that_runs(robot, engine):
    robot = robot()
    simulator = robot.loop._simulator
    simulator.config = simulator.config.replace(engine=engine)
    robot.run(0.1)
    (message,) = Topic.messages["/diagnostics"]
    assert message.status[0].hardware_id == engine


def test_a_request_whose_caller_gave_up_is_neither_done_nor_logged_as_done(robot, monkeypatch):
    robot = robot()
    robot.run(0.1)
    loop, services = robot.loop, robot.loop._services
    loop_node.rospy.loginfo.reset_mock()
    monkeypatch.setattr(world_services_node, "_WAIT", 0.0)
    reset = services._handler(world_services_node.Request.RESET_SIMULATION)
    with pytest.raises(ServiceException, match="reset_simulation: the simulator is busy"):
        reset(None)
    before = loop._state.tick
    loop._serve_requests()
    assert loop._state.tick == before > 0
    loop_node.rospy.loginfo.assert_not_called()
    services._wake = loop._serve_requests  # the loop comes to it at once
    reset(None)
    assert loop._state.tick == 0
    loop_node.rospy.loginfo.assert_called_once_with("simulator: reset_simulation at t = 0.00 s")


def test_an_obstacle_that_is_refused_is_not_logged_as_done(robot):
    loop = robot().loop
    loop._services._wake = loop._serve_requests
    loop_node.rospy.loginfo.reset_mock()
    crate = message_from_obstacle(Obstacle("crate", "box", (0.2, 0.2, 0.1), (3.0, 0.0, 0.05)))
    answers = [loop._obstacles._on_spawn(SpawnObstacleRequest(crate)) for _ in range(2)]
    assert [answer.success for answer in answers] == [True, False]
    loop_node.rospy.loginfo.assert_called_once_with("simulator: spawn_obstacle crate at t = 0.00 s")
    loop_node.rospy.logwarn.assert_called_once_with(f"simulator: spawn_obstacle crate refused: {answers[1].reason}")
