# SPDX-License-Identifier: MIT
"""The page's requests, which page drives, and what stops the robot when a page goes; no browser and no ROS here."""

from __future__ import annotations

import json
import math
from dataclasses import fields

import numpy as np
import pytest

from shellbot_teleop.action_model import ActionModel
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.effects import (
    EmergencyStop,
    Notice,
    PublishBodyPose,
    PublishTwist,
    RequestMode,
    ShowLife,
    TakeControl,
)
from shellbot_teleop.limits import Limits
from shellbot_teleop.link_events import LinkState, OperatorSeen, StoppedSeen
from shellbot_teleop.robot_monitor import BatteryInfo, ContactsInfo, JointsInfo, ModeInfo, OdomInfo, RobotMonitor
from shellbot_teleop.web import page_state, requests
from shellbot_teleop.web.access import Access
from shellbot_teleop.web.requests import RequestError, parse_request
from shellbot_teleop.web.scene import SceneMaker
from shellbot_teleop.web.station import Station

ZERO = PublishTwist(0.0, 0.0, 0.0)


class Desk:
    """A station with a clock that the test turns, and everything that came out of it."""

    def __init__(self, config, keymap):
        self.t = 100.0
        self.config = config
        self.done, self.performed, self.told = [], [], []
        self.station = Station(
            CommandModel(config, keymap),
            config,
            self.done.append,
            self.performed.append,
            lambda page, notice: self.told.append((page, notice.text)),
            lambda: self.t,
        )
        self.station.observe(LinkState(True, "connected"))
        self.station.observe(Limits((0.4, 0.3, 1.0), (-0.05,) * 3, (0.05,) * 3, (0.2,) * 3, "tripod", True))
        self.clear()

    def clear(self):
        for each in (self.done, self.performed, self.told):
            each.clear()

    def send(self, page, kind, **values):
        self.station.receive(page, json.dumps({"type": kind, **values}))

    def take(self, page):
        """Open a page and let the robot give it control."""
        self.station.open(page, f"10.0.0.{page}")
        self.send(page, "do", action="control.take")
        self.station.observe(OperatorSeen("teleop_web", True))

    def pass_time(self, seconds, alive=None):
        """Let time pass in steps of 50 ms; the page `alive` shows signs of life, or nobody."""
        for _ in range(round(seconds / 0.05)):
            self.t += 0.05
            if alive is not None:
                self.send(alive, "alive")
            self.station.tick()

    def kinds(self, kind):
        return [effect for effect in self.done if isinstance(effect, kind)]

    @property
    def twists(self):
        return self.kinds(PublishTwist)

    def texts(self, page=None):
        return " ".join(text for number, text in self.told if page is None or number in (None, page))


@pytest.fixture
def desk(teleop_config, teleop_keymap):
    return Desk(teleop_config, teleop_keymap)


# ------------------------------------------------------------------ requests


def test_every_kind_of_request_is_read():
    messages = {
        "alive": {},
        "press": {"key": "w"},
        "release": {"key": "Up"},
        "drop": {"hidden": True},
        "push": {"axes": [0.5, -1, 0]},
        "do": {"action": "mode.stand"},
        "scale": {"value": 0.7},
        "gait": {"name": "ripple"},
        "layout": {"name": "tilt"},
        "pose": {"axis": 5, "value": -0.1},
        "shells": {"axis": 1, "value": 0.2},
        "run": {"name": "wave", "values": {"times": 3}},
        "pause": {"paused": False},
        "cancel": {},
        "look": {"camera": True, "joints": False, "marks": False},
    }
    assert set(messages) == set(requests._KINDS)
    for kind, values in messages.items():
        request = parse_request(json.dumps({"type": kind, **values}))
        assert [field.name for field in fields(request)] == list(values), kind


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\x00\x01", "text, not bytes"),
        ("", "not JSON"),
        ("[" * 5000, "not JSON"),
        ("[1]", "JSON object"),
        ("{}", "type = None: choose from alive, press"),
        ('{"type": ["press"]}', "choose from"),
        ('{"type": "press"}', "has the fields ['key']"),
        ('{"type": "press", "key": "w", "hard": true}', "has the fields"),
        ('{"type": "press", "key": "ww"}', "no such key"),
        ('{"type": "press", "key": {"a": []}}', "no such key"),
        ('{"type": "push", "axes": [NaN, 0, 0]}', "NaN is no number"),
        ('{"type": "push", "axes": [1e999, 0, 0]}', "finite"),
        ('{"type": "push", "axes": [true, 0, 0]}', "finite"),
        ('{"type": "push", "axes": [2, 0, 0]}', "between -1 and 1"),
        ('{"type": "push", "axes": [0, 0]}', "three numbers"),
        ('{"type": "push", "axes": "000"}', "three numbers"),
        ('{"type": "pose", "axis": 6, "value": 0}', "0 to 5"),
        ('{"type": "pose", "axis": 1.5, "value": 0}', "0 to 5"),
        ('{"type": "pose", "axis": 0, "value": Infinity}', "Infinity is no number"),
        ('{"type": "scale", "value": "1"}', "finite"),
        ('{"type": "scale", "value": 1' + "0" * 400 + "}", "finite"),
        ('{"type": "do", "action": "drive.forward"}', "no such command"),
        ('{"type": "do", "action": "gait.request"}', "no such command"),
        ('{"type": "gait", "name": ""}', "1 to 100"),
        ('{"type": "gait", "name": "a\\u0000b"}', "1 to 100"),
        ('{"type": "run", "name": "wave", "values": {"times": null}}', "finite"),
        ('{"type": "run", "name": "wave", "values": [1]}', "by name"),
        ('{"type": "drop", "hidden": 1}', "true or false"),
    ],
)
def test_what_is_no_request_moves_nothing_and_is_said(desk, text, words):
    with pytest.raises(RequestError, match="^.*") as caught:
        parse_request(text)
    assert words in str(caught.value) and len(str(caught.value)) < 400
    desk.take(1)
    desk.clear()
    desk.station.receive(1, text)
    assert words in desk.texts(1)
    assert [type(effect) for effect in desk.done] == [Notice]  # in the log
    desk.station.receive(1, text)
    assert len(desk.done) == 1, "a flood of them does not fill the robot's log"


# ------------------------------------------------------------------ driving


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
    assert len(desk.kinds(ShowLife)) == 20
    desk.clear()
    desk.pass_time(3.0)
    assert 2 <= len(desk.kinds(ShowLife)) <= 5
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
        assert desk.t - start < 0.3, "the page was not found to be silent"
    assert desk.twists[-1:] == ([] if held == "slider" else [ZERO])
    assert "Stopped, because its page was silent for 0.2 s" in desk.texts()
    desk.clear()
    desk.pass_time(0.5, alive=1)
    assert not desk.twists and not desk.kinds(PublishBodyPose), "it went on by itself when the page came back"
    if held == "stick":
        desk.send(1, "push", axes=[1, 0, 0])
        assert not desk.twists, "the hand must let go first"
        desk.send(1, "push", axes=[0, 0, 0])
        desk.send(1, "push", axes=[0.5, 0, 0])
        assert desk.twists == [PublishTwist(0.1, 0.0, 0.0)]


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
    assert not desk.kinds(ShowLife)


def test_control_that_another_operator_takes_ends_the_drive(desk):
    desk.take(1)
    desk.send(1, "press", key="w")
    desk.station.observe(OperatorSeen("safety_pilot", False))
    desk.clear()
    desk.pass_time(0.5, alive=1)
    desk.send(1, "push", axes=[1, 0, 0])
    assert not desk.twists and "safety_pilot is in control" in desk.texts(1)


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
    assert desk.performed == [requests.CancelAction()], "an action may be taken back"


def test_with_armed_the_first_page_takes_control(teleop_config, teleop_keymap):
    desk = Desk(teleop_config.replace(armed=True), teleop_keymap)
    desk.station.open(1, "10.0.0.1")
    desk.station.open(2, "10.0.0.2")
    assert desk.kinds(TakeControl) == [TakeControl(True)] and desk.station.pages.driver == 1


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


# ------------------------------------------------------------------ what is shown


def test_the_state_is_json_whatever_the_robot_measures(desk):
    monitor = RobotMonitor()
    nan, t = math.nan, desk.t
    assert json.dumps(page_state.robot_state(desk.station, monitor, ActionModel(), 1.0, t), allow_nan=False)
    monitor.mode = ModeInfo("stand", "hexapod", "rise", nan, "going", t)
    monitor.odom = OdomInfo((nan, 0.0, 0.0), (0.0, 0.0, nan), (math.inf, 0.0, 0.0), t)
    monitor.joints = JointsInfo(("a", "b"), (nan, 0.1), (), t)
    monitor.targets = JointsInfo(("b",), (0.5,), (), t)
    monitor.battery = BatteryInfo(11.1, nan, t)
    state = page_state.robot_state(desk.station, monitor, ActionModel(), 1.0, t)
    assert json.loads(json.dumps(state, allow_nan=False)) == state
    assert state["mode"]["progress"] is None and state["measured"] == [None, 0.0, 0.0]
    assert state["joints"] == {"level": "bad", "text": "b: behind"} and "11.1 V" in state["servos"]["text"]
    rows = page_state.joint_list(monitor, 1.0, t)
    assert [row["position"] for row in rows] == [None, 0.1]
    old = page_state.robot_state(desk.station, monitor, ActionModel(), 1.0, t + 2.0)
    assert old["odom"] is None and old["joints"]["text"] == "no joints"
    assert set(page_state.changes(state, old)) >= {"odom", "measured", "joints"}
    assert not page_state.changes(state, dict(state))


def test_marks_are_those_of_the_window_and_finite(desk):
    monitor, t = RobotMonitor(), desk.t
    scene = SceneMaker(monitor, 1.0)
    assert scene.marks(t, ZERO) == [] and scene.poses(t) == b""
    monitor.odom = OdomInfo((1.0, 2.0, 0.1), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), t)
    feet = np.array([[0.2, 0.2, -0.1], [0.2, -0.2, -0.1], [-0.2, 0.0, -0.1], [-0.2, 0.3, -0.05]])
    monitor.contacts = ContactsInfo((True, True, True, False), (math.nan,) * 4, feet, t)
    drawn = scene.marks(t, PublishTwist(0.2, 0.0, 0.0))
    assert json.dumps(drawn, allow_nan=False) and {"area", "disc", "sphere", "arrow", "line"} == {
        m["kind"] for m in drawn
    }
    corners = next(np.array(mark["points"]) for mark in drawn if mark["kind"] == "area")
    assert corners[:, :2].mean(axis=0) == pytest.approx([1.0 + 0.2 / 3, 2.0], abs=0.002), (
        "the support is round the feet"
    )
    monitor.contacts = ContactsInfo((True,) * 4, (math.nan,) * 4, np.full((4, 3), math.nan), t)
    assert {mark["kind"] for mark in scene.marks(t, ZERO)} == {"arrow"}
    assert scene.marks(t + 2.0, ZERO) == [], "old"


def test_a_page_is_told_who_drives(desk):
    def seen(page):
        return page_state.control_state(page, desk.station.pages, desk.station.model)

    desk.station.open(1, "10.0.0.1")
    assert seen(1) == {"ours": False, "who": "Nobody is in control"}
    desk.take(1)
    desk.station.open(2, "10.0.0.2")
    assert seen(1) == {"ours": True, "who": "You are in control"}
    assert seen(2) == {"ours": False, "who": "The page on 10.0.0.1 is in control"}


def test_what_a_page_offers_is_what_the_key_map_has(desk, teleop_config, teleop_keymap):
    offered = page_state.offered(desk.station.model, teleop_config)
    assert json.dumps(offered) and ["Stand up", "mode.stand"] in [list(mode) for mode in offered["modes"]]
    keys = {key for group in offered["groups"] for line in group["lines"] for key in line["keys"]}
    assert keys == {binding.key for binding in teleop_keymap.in_layout("walk")}


# ------------------------------------------------------------------ access


def test_this_machine_needs_no_token_and_is_called_by_its_own_name():
    access = Access("localhost")
    assert access.token == ""
    for host in ("localhost:8090", "127.0.0.1:8090", "[::1]:8090", "localhost"):
        assert access.refusal(host, "") == ""
    for host in ("evil.example:8090", "10.0.0.1:8090", "", "localhost.evil.example"):
        assert "this machine only" in access.refusal(host, "")


def test_other_machines_need_the_token():
    access = Access("0.0.0.0")
    assert len(access.token) > 20 and access.token != Access("0.0.0.0").token
    assert access.refusal("robot:8090", access.token) == ""
    assert "lacks its token" in access.refusal("robot:8090", "")
    for wrong in (access.token[:-1], access.token + "x", "ü"):
        assert "token in the address is wrong" in access.refusal("robot:8090", wrong)
