# SPDX-License-Identifier: MIT
"""The connector without ROS: exactly one command per message of targets, holds, resets, status."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shellbot_common.robot_profile import Coupling
from shellbot_control import ConfigurationError, JointLimits, arrival_status
from shellbot_gazebo_connector import ConnectorCore, ConnectorParameters, Output

NAMES = ("lower_1_fan", "lower_1_coxa", "lower_1_femur")
LIMITS = JointLimits(NAMES, [-2.15, -1.9, -2.6], [0.05, 1.9, 2.6], [3.09, 6.18, 10.2], [0.5, 1.5, 1.8])
REST = np.array([-0.5, 0.0, 0.5])
TICK = 10_000_000


def keys(output):
    return [notice.key for notice in output.notices]


class Run:
    """A core fed by a clock of ticks; the joints are where they were commanded."""

    def __init__(self, tick=100, position=REST):
        self.core = ConnectorCore(LIMITS)
        self.tick = tick
        self.position = np.array(position)
        self.states()

    def states(self, position=None):
        self.position = self.position if position is None else np.array(position)
        return self.core.on_joint_states(self.tick * TICK, ("tail", *NAMES), [9.9, *self.position])

    def targets(self, position, names=NAMES):
        output = self.core.on_joint_targets(self.tick * TICK, names, position)
        if output.command is not None:
            self.position = output.command.position
        return output

    def step(self, position, names=NAMES):
        self.tick += 1
        self.states()
        return self.targets(position, names)


def test_each_message_gets_one_command_with_its_stamp():
    run = Run()
    for change in (0.01, math.nan, 0.02, 50.0):
        output = run.step(REST + change)
        assert output.command.stamp_ns == run.tick * TICK
        assert np.isfinite(output.command.position).all()
    assert run.step([0.0]).command.holding and run.step(REST, ("a", "b", "c")).command.holding
    run.core.stop("test")
    assert run.step(REST).command.stamp_ns == run.tick * TICK


def test_joints_of_one_motor_that_are_commanded_apart_are_refused_by_name():
    coupling = Coupling("lower_1_coxa", ("lower_1_femur",), 0.5, 0.1)
    core = ConnectorCore(LIMITS, couplings=[coupling])
    core.on_joint_states(TICK, NAMES, REST)
    refused = core.on_joint_targets(TICK, NAMES, [-0.5, 0.4, 0.0])
    assert refused.command.holding and refused.command.position == pytest.approx(REST)
    assert [notice.text for notice in refused.notices] == [
        "joint_targets refused: lower_1_femur is turned by the motor of lower_1_coxa, so it would be at 0.300 rad, but "
        "it is commanded to 0.000; at most 0.15 rad apart; holding the last command"
    ]
    assert not core.on_joint_targets(2 * TICK, NAMES, [-0.5, 0.4, 0.4]).command.holding


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 80), st.sampled_from(["good", "nan", "short", "names", "stop", "rearm"]))))
def test_one_command_per_message_and_no_jump_whatever_comes(events):
    run = Run()
    previous = run.position
    for ticks, what in events:
        run.tick += ticks
        run.states()
        if what == "stop":
            run.core.stop("test")
        elif what == "rearm":
            run.core.rearm()
        good = REST + 0.4 * math.sin(run.tick)
        position = {"nan": [math.nan] * 3, "short": good[:2]}.get(what, good)
        output = run.targets(position, ("x", "y", "z") if what == "names" else NAMES)
        assert output.command is not None and output.command.stamp_ns == run.tick * TICK
        step = np.abs(output.command.position - previous)
        assert np.all(step <= LIMITS.velocity * min(ticks * 0.01, 0.05) + 1e-9)
        if run.core.stopped or what in ("nan", "short", "names"):
            assert output.command.holding and step.max() == 0.0
        previous = output.command.position


def test_targets_that_come_first_are_answered_when_the_joints_are_measured():
    core = ConnectorCore(LIMITS)
    output = core.on_joint_targets(5 * TICK, NAMES, REST)
    assert output.command is None and keys(output) == [], "one may overtake the joint states"
    assert keys(core.on_joint_targets(5 * TICK, NAMES, REST)) == ["unmeasured"]
    output = core.on_joint_states(5 * TICK, NAMES, REST)
    assert output.command.stamp_ns == 5 * TICK
    assert core.on_joint_states(6 * TICK, NAMES, REST).command is None


def test_silence_holds_and_is_said_once():
    run = Run()
    run.step(REST)
    said = []
    for _ in range(100):
        run.tick += 1
        said += keys(run.states())
    assert said == ["watchdog"]
    status = run.core.status(run.tick * TICK)
    assert status.holding and "no valid joint_targets for 0.5 s" in status.text
    assert status.target_age == pytest.approx(1.0)
    output = run.step(REST + [0.0, 1.0, 0.0])
    assert {"resumed", "catch_up"} == set(keys(output))
    assert run.core.status(run.tick * TICK).text == ""


def test_a_clock_that_goes_back_starts_again_from_the_measured_joints():
    run = Run(tick=5000)
    run.step(REST)
    run.core.stop("test")
    run.tick = 1
    assert keys(run.states(REST + [0.0, 1.0, 0.0])) == ["reset"]
    assert run.core.stopped, "an emergency stop outlives a reset"
    run.core.rearm()
    left_over = run.core.on_joint_targets(5001 * TICK, NAMES, REST)
    assert left_over.command is None and keys(left_over) == ["left over"]
    output = run.targets(REST)
    assert "reset" not in keys(output) and output.command.stamp_ns == TICK
    assert output.command.position[1] == pytest.approx(1.0 - 0.01), "slowly from where the joint is"


def test_targets_that_go_back_reset_too_and_wait_for_the_joints():
    run = Run(tick=5000)
    run.step(REST)
    output = run.core.on_joint_targets(TICK, NAMES, REST)
    assert keys(output) == ["reset"] and output.command is None
    run.tick = 1
    output = run.states()
    assert output.command.stamp_ns == TICK and keys(output) == []


def test_joint_states_left_over_from_before_a_reset_are_no_place_to_start_from():
    run = Run(tick=5000)
    run.step(REST)
    run.core.on_joint_targets(TICK, NAMES, REST)
    for stamp in (4999 * TICK, 5000 * TICK):
        assert run.core.on_joint_states(stamp, NAMES, REST) == Output()
    run.tick = 1
    output = run.states(REST + [0.0, 1.0, 0.0])
    assert output.command.stamp_ns == TICK and keys(output) == ["catch_up"]
    assert output.command.position[1] == pytest.approx(1.0 - 0.01), "slowly from where the joint is now"


def test_after_a_reset_time_passes_the_former_time_without_trouble():
    run = Run(tick=20)
    run.step(REST)
    run.tick = 1
    run.states()
    for _ in range(40):
        assert run.step(REST).command.stamp_ns == run.tick * TICK


def test_targets_that_overtake_their_joint_states_after_a_reset_are_answered():
    """On a busy machine by many ticks. Unanswered, they would hold up the lock-step until its time-out."""
    run = Run(tick=200)
    run.step(REST)
    run.tick = 0
    run.states()
    run.tick = 21
    assert run.targets(REST).command.stamp_ns == 21 * TICK


def test_a_late_message_is_no_reset_and_moves_nothing():
    run = Run()
    run.step(REST)
    output = run.core.on_joint_targets((run.tick - 1) * TICK, NAMES, REST + 0.04)
    assert keys(output) == [] and output.command.stamp_ns == (run.tick - 1) * TICK
    np.testing.assert_array_equal(output.command.position, REST)


def test_targets_without_stamp_are_of_now_and_their_command_has_none():
    run = Run()
    run.step(REST)
    run.tick += 1
    run.states()
    output = run.core.on_joint_targets(0, NAMES, REST + 0.01)
    assert output.command.stamp_ns is None and keys(output) == []
    np.testing.assert_allclose(output.command.position, REST + 0.01)
    fresh = Run(tick=0)
    assert fresh.targets(REST).command.stamp_ns == 0, "tick 0 of a simulation has the stamp 0"


def test_status_is_due_at_20_hz_of_simulated_time():
    run = Run()
    statuses = []
    for _ in range(100):
        run.tick += 1
        statuses.append(run.states().status is not None)
        run.targets(REST)
    assert sum(statuses) == 20


def test_status_names_the_joint_that_lags():
    run = Run()
    assert run.core.status(run.tick * TICK).text.startswith("no joint_targets yet")
    assert run.core.status(run.tick * TICK).target_age == math.inf
    run.step(REST)
    run.states(REST + [0.0, -0.04, 0.0])
    assert run.core.status(run.tick * TICK).reached
    run.states(REST + [0.0, -0.2, 0.01])
    run.states(REST + [0.0, 0.06, 0.01])
    status = run.core.status(run.tick * TICK)
    assert not status.reached and status.max_error == pytest.approx(0.06), "beyond 0.05, in either direction"
    run.states(REST + [0.0, -0.2, 0.01])
    status = run.core.status(run.tick * TICK)
    assert not status.reached and status.max_error_joint == "lower_1_coxa"
    assert status.max_error == pytest.approx(0.2) and not status.holding


def test_arrival_is_measured_against_the_targets_not_the_limited_command():
    run = Run()
    run.step(REST)
    run.step(REST + [0.0, 1.0, 0.0])
    assert run.core.status(run.tick * TICK).max_error == pytest.approx(1.0 - 0.01, abs=0.011)


def test_nothing_is_reached_before_targets():
    assert not arrival_status(NAMES, None, REST, 0.1, math.inf, True, "").reached
    assert not arrival_status(NAMES, REST, None, 0.1, math.inf, True, "").reached
    assert arrival_status(NAMES, REST, REST, 0.1, 0.0, False, "").reached


@pytest.mark.parametrize(
    ("names", "position", "word"),
    [(NAMES[:2], REST[:2], "no value for lower_1_femur"), (NAMES, [0.0, math.nan, 0.0], "lower_1_coxa: not a finite")],
)
def test_bad_joint_states_are_ignored_in_words(names, position, word):
    run = Run()
    output = run.core.on_joint_states(101 * TICK, names, position)
    assert keys(output) == ["bad states"] and word in output.notices[0].text
    run.tick += 1
    assert run.targets(REST).command is not None


def test_stop_and_rearm_answer_in_words():
    core = ConnectorCore(LIMITS)
    assert core.rearm() == (False, "not stopped: there is nothing to rearm")
    assert core.stop("service").startswith("stopped: emergency stop (service)")
    assert core.stop("topic").startswith("was stopped before: emergency stop (service)")
    assert core.rearm()[0] and not core.stopped


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "soon", True])
def test_parameters_are_checked(bad):
    with pytest.raises(ConfigurationError, match="~arrival_tolerance"):
        ConnectorParameters.from_mapping({"arrival_tolerance": bad}, "~")


def test_unknown_parameters_are_refused():
    with pytest.raises(ConfigurationError, match="~timeout does not exist; is target_timeout meant"):
        ConnectorParameters.from_mapping({"timeout": 1.0}, "~")


def test_efforts_without_positions_are_torques_in_place_of_them():
    core = ConnectorCore(LIMITS)
    core.on_joint_states(100 * TICK, NAMES, REST)
    limit = LIMITS.effort
    output = core.on_joint_targets(100 * TICK, NAMES[::-1], [], (0.5 * limit)[::-1])
    np.testing.assert_allclose(output.command.torque, 0.5 * limit)
    assert (output.command.stamp_ns, output.command.holding, output.notices) == (100 * TICK, False, ())
    core.on_joint_states(101 * TICK, NAMES, REST)
    output = core.on_joint_targets(101 * TICK, NAMES, [], 3.0 * limit)
    np.testing.assert_allclose(output.command.torque, limit)
    assert "at most" in output.notices[0].text and core.status(101 * TICK).holding is False
    moved = REST + 0.05
    core.on_joint_states(102 * TICK, NAMES, moved)
    for bad, words in (([math.nan] * len(NAMES), "not a finite number"), ([0.0], "3 names but 1 efforts")):
        output = core.on_joint_targets(102 * TICK, NAMES, [], bad)
        assert words in output.notices[0].text
        assert output.command.torque is None and output.command.holding, "a wrong torque holds"
        np.testing.assert_allclose(output.command.position, moved)
    output = core.on_joint_targets(102 * TICK, NAMES, [], limit)
    assert output.command.torque is not None and not core.status(102 * TICK).holding
    # positions take over from where the joints are
    output = core.on_joint_targets(102 * TICK, NAMES, moved)
    np.testing.assert_allclose(output.command.position, moved)
    core.on_joint_states(103 * TICK, NAMES, REST)
    core.on_joint_targets(103 * TICK, NAMES, [], limit)
    output = core.on_joint_targets(103 * TICK, NAMES, [], [math.nan] * 3)
    np.testing.assert_allclose(output.command.position, REST, err_msg="not where positions sent it before")


def test_torques_end_with_an_emergency_stop_and_with_silence():
    core = ConnectorCore(LIMITS)
    core.on_joint_states(100 * TICK, NAMES, REST)
    assert core.on_joint_targets(100 * TICK, NAMES, [], LIMITS.effort).command.torque is not None
    core.stop("test")
    for t in (101, 102):
        core.on_joint_states(t * TICK, NAMES, REST + 0.01 * (t - 100))
        output = core.on_joint_targets(t * TICK, NAMES, [], LIMITS.effort)
        assert output.command.torque is None and output.command.holding
        np.testing.assert_allclose(output.command.position, REST + 0.01, err_msg="where it was stopped")
    core.rearm()
    assert core.on_joint_targets(102 * TICK, NAMES, [], LIMITS.effort).command.torque is not None
    outputs = [core.on_joint_states(t * TICK, NAMES, REST) for t in range(103, 300)]
    (held,) = (output.command for output in outputs if output.command is not None)
    assert held.torque is None and held.holding and held.stamp_ns is None
    np.testing.assert_allclose(held.position, REST)


def test_an_emergency_stop_ends_torques_whose_publisher_is_silent():
    core = ConnectorCore(LIMITS)
    core.on_joint_states(100 * TICK, NAMES, REST)
    assert core.end_torque() is None, "positions hold by themselves"
    core.on_joint_targets(100 * TICK, NAMES, [], LIMITS.effort)
    core.stop("test")
    held = core.end_torque()
    assert held.torque is None and held.holding and held.stamp_ns is None
    np.testing.assert_allclose(held.position, REST)
    assert core.end_torque() is None
    assert core.rearm() == (True, "armed again: torques act at once, as they are sent")
    core.on_joint_targets(100 * TICK, NAMES, REST)
    core.stop("test")
    assert "slowly at first" in core.rearm()[1]


@pytest.mark.parametrize("ahead, words", [(1000.0, "stamped 1000.00 s ahead"), (-1.0, "1.00 s old on arrival")])
@pytest.mark.parametrize("position, effort", [([], LIMITS.effort), (REST + 0.1, ())], ids=["torques", "positions"])
def test_targets_of_another_time_hold_and_the_hold_reaches_the_simulator(position, effort, ahead, words):
    core = ConnectorCore(LIMITS)
    core.on_joint_states(200 * TICK, NAMES, REST)
    if ahead > 0.0:
        core.on_joint_targets(200 * TICK, NAMES, position, effort)
    stamp_ns = 200 * TICK + round(1e9 * ahead)
    output = core.on_joint_targets(stamp_ns, NAMES, position, effort)
    assert output.command.holding and output.command.torque is None
    assert output.command.stamp_ns == (None if ahead > 0.0 else stamp_ns), "it drops what lies ahead of its clock"
    assert words in output.notices[-1].text and core.status(200 * TICK).holding
    # the clock did not go back: what comes in time is followed
    core.on_joint_states(201 * TICK, NAMES, REST)
    if ahead > 0.0:
        output = core.on_joint_targets(201 * TICK, NAMES, position, effort)
        assert not output.command.holding and "reset" not in keys(output)
