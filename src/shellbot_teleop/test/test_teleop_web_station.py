# SPDX-License-Identifier: MIT
"""Which page drives, and what stops the robot when a page goes; no browser and no ROS here."""

from __future__ import annotations

import math

import pytest
from teleop_desk import Desk

from shellbot_teleop.effects import (
    CancelAction,
    EmergencyStop,
    Heartbeat,
    PublishBodyPose,
    PublishTwist,
    RequestMode,
    TakeControl,
    TogglePause,
)
from shellbot_teleop.link_events import LinkState, OperatorSeen, StoppedSeen

ZERO = PublishTwist(0.0, 0.0, 0.0)


def test_a_page_monitors_until_it_takes_control(desk):
    desk.station.open(1, "10.0.0.1")
    desk.send(1, "press", key="w")
    assert not desk.twists and "Monitor mode, nothing was sent" in desk.texts(1)
    desk.send(1, "do", action="control.take")
    assert desk.kinds(TakeControl) == [TakeControl(True)]
    desk.station.observe(OperatorSeen("teleop_web", True))
    desk.send(1, "press", key="w")
    assert desk.twists == [PublishTwist(0.2, 0.0, 0.0)]
    desk.send(1, "release", key="w")
    assert desk.twists[-1] == ZERO
    desk.send(1, "do", action="mode.sit")
    assert desk.kinds(RequestMode) == [RequestMode("sit")]


def test_signs_of_life_end_with_those_of_the_page(desk):
    desk.take(1)
    desk.pass_time(1.0, alive=1)
    assert len(desk.kinds(Heartbeat)) == 20
    desk.send(1, "press", key="w")
    desk.pass_time(0.3, alive=1)
    desk.pass_time(0.05)
    desk.clear()
    desk.pass_time(0.3)
    assert not desk.twists and desk.station.model.active, "each velocity is a sign of life, too"
    desk.pass_time(0.1)
    assert desk.twists == [ZERO]
    desk.clear()
    desk.pass_time(3.0)
    assert not desk.kinds(Heartbeat), "the robot is to notice before the page counts as silent"
    assert not desk.twists
    assert desk.kinds(TakeControl) == [TakeControl(False)], "a page that stays silent is no operator"


def test_a_stall_of_the_server_itself_stops_the_robot_and_leaves_the_page_in_control(desk):
    desk.take(1)
    desk.pass_time(1.0, alive=1)
    desk.send(1, "press", key="w")
    desk.t += 5.0
    desk.station.watch()
    assert desk.twists[-1] == ZERO
    desk.send(1, "alive")
    desk.pass_time(1.0, alive=1)
    assert not desk.kinds(TakeControl)[1:] and desk.station.pages.driver == 1


@pytest.mark.parametrize("held", ["key", "stick", "slider"])
def test_a_silent_page_stops_what_it_held(desk, held):
    desk.take(1)
    if held == "key":
        desk.send(1, "press", key="w")
    elif held == "stick":
        desk.send(1, "push", axes=[1, 0, 0])
    else:
        desk.send(1, "pose", axis=2, value=0.05)
    desk.pass_time(0.4, alive=1)
    assert desk.kinds(PublishBodyPose if held == "slider" else PublishTwist)
    start, desk.done[:] = desk.t, []
    while desk.station.model.active:
        desk.pass_time(0.05)
        assert desk.t - start < 0.5, "the page was not found to be silent"
    assert desk.twists[-1:] == ([] if held == "slider" else [ZERO])
    assert "Stopped, because its page was silent for 0.4 s" in desk.texts()
    desk.clear()
    desk.pass_time(0.5, alive=1)
    assert not desk.twists and not desk.kinds(PublishBodyPose), "it went on by itself when the page came back"
    if held == "stick":
        desk.send(1, "push", axes=[1, 0, 0])
        assert not desk.twists, "the hand must let go first"
        desk.send(1, "push", axes=[0, 0, 0])
        desk.send(1, "push", axes=[0.5, 0, 0])
        assert desk.twists == [PublishTwist(0.1, 0.0, 0.0)]


def test_a_page_that_sends_only_nonsense_is_as_silent_as_one_that_sends_nothing(desk):
    desk.take(1)
    desk.send(1, "press", key="w")
    for _ in range(10):
        desk.t += 0.05
        desk.station.receive(1, "what?")
        desk.station.tick()
    assert desk.twists[-1] == ZERO and "silent for 0.4 s" in desk.texts()


def test_a_page_that_is_silent_for_a_moment_is_not_driven_over_and_one_that_is_gone_is(desk):
    desk.take(1)
    desk.station.open(2, "10.0.0.2")
    desk.t += 1.0
    desk.send(2, "do", action="control.take")
    assert "Control refused: The page on 10.0.0.1" in desk.texts(2) and desk.station.pages.driver == 1
    desk.t += 1.1
    desk.send(2, "do", action="control.take")
    assert desk.station.pages.driver == 2


def test_without_control_a_page_changes_nothing(desk):
    desk.station.open(1, "10.0.0.1")
    before = desk.station.model.scale
    for kind, values in (("scale", {"value": 1.0}), ("gait", {"name": "wave"}), ("pose", {"axis": 2, "value": 0.05})):
        desk.notices.clear()
        desk.send(1, kind, **values)
        assert "Monitor mode, nothing was sent" in desk.texts(1), kind
    assert desk.station.model.scale == before and not desk.station.model.active and not desk.station.model.gait


@pytest.mark.parametrize("way", ["closed", "hidden", "ended"])
def test_a_page_that_goes_stops_the_robot_at_once_and_frees_control(desk, way):
    desk.take(1)
    desk.send(1, "press", key="w")
    desk.clear()
    if way == "closed":
        desk.station.close(1)
    elif way == "hidden":
        desk.send(1, "drop", hidden=True)
    else:
        desk.station.end()
    assert desk.twists == [ZERO] and "Stopped, because" in desk.texts()
    assert desk.kinds(TakeControl) == ([] if way == "ended" else [TakeControl(False)])
    desk.pass_time(1.0)
    assert desk.twists == [ZERO]


def test_a_page_that_loses_the_focus_stops_and_stays_in_control(desk):
    desk.take(1)
    desk.send(1, "press", key="w")
    desk.send(1, "drop", hidden=False)
    assert desk.twists[-1] == ZERO and not desk.kinds(TakeControl)[1:]


def test_one_of_two_pages_drives(desk):
    desk.take(1)
    desk.station.open(2, "10.0.0.2")
    desk.send(2, "press", key="w")
    desk.send(2, "push", axes=[1, 0, 0])
    desk.send(2, "scale", value=1.0)
    desk.send(2, "run", name="wave", values={})
    assert not desk.twists and not desk.performed and desk.station.model.scale == desk.config.speed_scale
    assert "The page on 10.0.0.1 is in control" in desk.texts(2)
    desk.clear()
    desk.send(2, "do", action="control.take")
    assert not desk.done and "Control refused: The page on 10.0.0.1" in desk.texts(2)
    desk.send(1, "press", key="w")
    desk.send(2, "release", key="w")
    desk.send(2, "drop", hidden=True)
    desk.station.close(2)
    assert desk.twists == [PublishTwist(0.2, 0.0, 0.0)], "another page let the key go"
    desk.station.open(3, "10.0.0.3")
    desk.send(3, "press", key="Escape")
    assert desk.kinds(EmergencyStop) and desk.twists[-1] == ZERO, "any page may stop"
    desk.send(1, "do", action="control.give_up")
    desk.station.observe(OperatorSeen("", False))
    desk.clear()
    desk.take(3)
    assert desk.kinds(TakeControl) == [TakeControl(True)]


def test_control_that_comes_after_its_page_has_gone_is_given_back(desk):
    desk.station.open(1, "10.0.0.1")
    desk.send(1, "do", action="control.take")
    desk.station.close(1)
    desk.station.observe(OperatorSeen("teleop_web", True))
    assert desk.kinds(TakeControl) == [TakeControl(True), TakeControl(False)]
    desk.clear()
    desk.pass_time(1.0)
    assert not desk.kinds(Heartbeat)


def test_control_that_another_operator_takes_ends_the_drive(desk):
    desk.take(1)
    desk.send(1, "press", key="w")
    desk.station.observe(OperatorSeen("safety_pilot", False))
    desk.clear()
    desk.pass_time(0.5, alive=1)
    desk.send(1, "push", axes=[1, 0, 0])
    assert not desk.twists and "safety_pilot is in control" in desk.texts(1)
    assert desk.station.pages.driver is None


def test_nothing_moves_or_starts_while_the_emergency_stop_is_latched(desk):
    desk.take(1)
    desk.send(1, "push", axes=[1, 0, 0])
    desk.station.observe(StoppedSeen(True))
    assert desk.twists[-1] == ZERO
    desk.clear()
    desk.send(1, "press", key="w")
    desk.send(1, "push", axes=[0, 0, 0])
    desk.send(1, "push", axes=[1, 0, 0])
    desk.send(1, "run", name="wave", values={})
    assert not desk.twists and not desk.performed and "rearm first" in desk.texts(1)
    desk.send(1, "cancel")
    assert desk.performed == [CancelAction()], "an action may be taken back"


def test_keys_pause_and_cancel_actions_for_the_page_that_drives(desk):
    desk.take(1)
    desk.station.open(2, "10.0.0.2")
    for key in ("p", "x"):
        desk.send(2, "press", key=key)
    assert not desk.performed
    for key in ("p", "x", "F3"):
        desk.send(1, "press", key=key)
    assert desk.performed == [TogglePause(), CancelAction()]


def test_with_armed_the_first_page_takes_control(teleop_config, teleop_keymap):
    desk = Desk(teleop_config.replace(armed=True), teleop_keymap)
    desk.station.open(1, "10.0.0.1")
    desk.station.open(2, "10.0.0.2")
    assert desk.kinds(TakeControl) == [TakeControl(True)] and desk.station.pages.driver == 1
    desk = Desk(teleop_config.replace(armed=True), teleop_keymap)
    desk.station.observe(LinkState(False, "no master"))
    desk.station.open(1, "10.0.0.1")
    assert not desk.kinds(TakeControl), "there is no robot to take"


def test_a_page_that_waits_for_control_does_not_bar_another_and_one_that_was_closed_gets_none(desk):
    for page in (1, 2):
        desk.station.open(page, f"10.0.0.{page}")
        desk.send(page, "do", action="control.take")
    assert desk.station.pages.driver == 2
    desk.send(2, "look", camera=True, joints=False, marks=False)
    assert desk.station.pages.shows("camera")
    desk.station.close(2)
    assert not desk.station.pages.shows("camera")
    desk.send(2, "do", action="control.take")
    assert desk.station.pages.driver is None
    desk.pass_time(1.0)


def test_a_page_that_went_silent_before_control_came_does_not_get_it(desk):
    desk.station.open(1, "10.0.0.1")
    desk.send(1, "do", action="control.take")
    desk.pass_time(3.0)
    desk.station.observe(OperatorSeen("teleop_web", True))
    assert desk.kinds(TakeControl) == [TakeControl(True), TakeControl(False)]


def test_the_stick_goes_by_degrees_and_gives_way_to_keys(desk):
    desk.take(1)
    desk.send(1, "push", axes=[0.5, 0, 0])
    desk.send(1, "push", axes=[1, 1, 0])
    assert desk.twists[0] == PublishTwist(0.1, 0.0, 0.0)
    assert desk.twists[1].x == pytest.approx(0.2 / math.sqrt(2)), "a mix is not faster than one axis"
    desk.send(1, "press", key="q")
    assert desk.twists[-1] == PublishTwist(0.0, 0.0, 0.5)
    desk.send(1, "release", key="q")
    assert desk.twists[-1] == desk.twists[1]
    before = len(desk.twists)
    desk.pass_time(0.5, alive=1)
    assert len(desk.twists) - before == 10
    desk.send(1, "push", axes=[0, 0, 0])
    assert desk.twists[-1] == ZERO
    desk.pass_time(0.5, alive=1)
    assert desk.twists[-1] == ZERO and desk.twists.count(ZERO) == 1
