# SPDX-License-Identifier: MIT
"""What a page sends and what it gets: requests, state, marks, access; no browser and no ROS here."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace

import numpy as np
import pytest

from shellbot_teleop.action_model import ActionEntry, ActionModel, ActionsSeen
from shellbot_teleop.effects import (
    Notice,
    PublishTwist,
)
from shellbot_teleop.joint_table import LAG_BAD, LAG_WARN
from shellbot_teleop.robot_monitor import (
    BatteryInfo,
    ContactsInfo,
    JointsInfo,
    LogLine,
    ModeInfo,
    OdomInfo,
    RobotMonitor,
)
from shellbot_teleop.web import page_state, requests
from shellbot_teleop.web.access import Access
from shellbot_teleop.web.requests import RequestError, parse_request
from shellbot_teleop.web.scene import SceneMaker

ZERO = PublishTwist(0.0, 0.0, 0.0)


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
        ('{"type": "push", "axes": [0, -2, 0]}', "between -1 and 1"),
        ('{"type": "push", "axes": [0, 0]}', "three numbers"),
        ('{"type": "push", "axes": "000"}', "three numbers"),
        ('{"type": "pose", "axis": 6, "value": 0}', "0 to 5"),
        ('{"type": "pose", "axis": 1.5, "value": 0}', "0 to 5"),
        ('{"type": "pose", "axis": -1, "value": 0}', "0 to 5"),
        ('{"type": "scale", "value": -2e9}', "finite"),
        (
            f'{{"type": "run", "name": "wave", "values": {json.dumps(dict.fromkeys(map(str, range(51)), 0))}}}',
            "up to 50",
        ),
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


# ------------------------------------------------------------------ what is shown


def test_the_state_is_json_whatever_the_robot_measures(desk):
    monitor = RobotMonitor()
    nan, t = math.nan, desk.t
    assert json.dumps(page_state.robot_state(desk.station, monitor, ActionModel(), 1.0, t), allow_nan=False)
    monitor.mode = ModeInfo("stand", "hexapod", "rise", nan, "going")
    monitor.odom = OdomInfo((nan, 0.0, 0.0), (0.0, 0.0, nan), (math.inf, 0.0, 0.0), t)
    monitor.joints = JointsInfo(("a", "b"), (nan, 0.1), (), t)
    monitor.targets = JointsInfo(("b",), (0.5,), (), t)
    monitor.battery = BatteryInfo(11.1, nan, t)
    state = page_state.robot_state(desk.station, monitor, ActionModel(), 1.0, t)
    assert json.loads(json.dumps(state, allow_nan=False)) == state
    assert state["mode"]["progress"] is None and state["measured"] == [None, 0.0, 0.0]
    monitor.diagnostics.take([("gains", 1, "no page")], t)
    nodes = page_state.robot_state(desk.station, monitor, ActionModel(), 1.0, t)["nodes"]
    assert nodes == {"text": "gains: no page", "bad": True}
    assert state["joints"] == {"level": "bad", "text": "b: behind"} and "11.1 V" in state["servos"]["text"]
    for targets, line in (
        ((0.0, 0.1), {"level": "ok", "text": "2 joints ok"}),
        ((LAG_WARN, 0.1), {"level": "warn", "text": "a: behind"}),
        ((LAG_WARN, 0.1 + LAG_BAD), {"level": "bad", "text": "b: behind and 1 more"}),
    ):
        monitor.joints, monitor.targets = (
            JointsInfo(("a", "b"), (0.0, 0.1), (), t),
            JointsInfo(("a", "b"), targets, (), t),
        )
        assert page_state.robot_state(desk.station, monitor, ActionModel(), 1.0, t)["joints"] == line
    monitor.joints = JointsInfo(("a", "b"), (nan, 0.1), (), t)
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
    assert seen(1) == {"ours": False, "who": "No operator is in control"}
    desk.take(1)
    desk.station.open(2, "10.0.0.2")
    assert seen(1) == {"ours": True, "who": "You are in control"}
    assert seen(2) == {"ours": False, "who": "The page on 10.0.0.1 is in control"}


def test_what_a_page_offers_is_what_the_key_map_has(desk, teleop_config, teleop_keymap):
    model = desk.station.model
    offered = page_state.offered(model)
    assert json.dumps(offered) and ["Stand up", "mode.stand"] in [list(mode) for mode in offered["modes"]]
    keys = {key for group in offered["groups"] for line in group["lines"] for key in line["keys"]}
    assert keys == {binding.key for binding in teleop_keymap.in_layout("walk")}
    assert offered["gaits"] == teleop_config.gaits
    model.observe_limits(replace(model.limits, gaits=("tripod", "moonwalk")))
    assert page_state.offered(model)["gaits"] == ("tripod", "moonwalk")


def test_what_a_cancel_does_is_a_sentence_for_window_and_page():
    actions = ActionModel()
    actions.observe(ActionsSeen((ActionEntry("wave", "waves"), ActionEntry("fold", "folds", (), "never"))), 0.0)
    sentences = {entry["name"]: entry["cancels"] for entry in page_state.action_list(actions)}
    assert sentences["wave"] == "Cancel takes it back to rest at once."
    assert sentences["fold"] == "It cannot be cancelled: it plays to its end."


# ------------------------------------------------------------------ access


def test_this_machine_needs_no_token_and_is_called_by_its_own_name():
    access = Access("localhost")
    assert access.token == ""
    for host in ("localhost:8090", "127.0.0.1:8090", "[::1]:8090", "localhost"):
        assert access.refusal(host, "") == ""
    for host in ("evil.example:8090", "10.0.0.1:8090", "", "localhost.evil.example", "[::1", "a;b=c", "localhost:x"):
        assert "this machine only" in access.refusal(host, "")


def test_other_machines_need_the_token():
    access = Access("0.0.0.0")
    assert len(access.token) > 20 and access.token != Access("0.0.0.0").token
    assert access.refusal("robot:8090", access.token) == ""
    assert "lacks its token" in access.refusal("robot:8090", "")
    for wrong in (access.token[:-1], access.token + "x", "ü"):
        assert "token in the address is wrong" in access.refusal("robot:8090", wrong)


def test_every_line_of_the_log_reaches_each_page_once():
    log, lines = (
        page_state.PageLog(),
        [LogLine("info", "page", f"line {i}", 0.0) for i in range(page_state.LOG_LINES + 2)],
    )
    log.add(lines[0])
    assert [line["text"] for line in log.take()] == ["line 0"] and not log.take()
    log.add(lines[1])  # between two states: the page that opens now has it from the next one
    assert [line["text"] for line in log.sent] == ["line 0"]
    assert [line["text"] for line in log.take()] == ["line 1"]
    for line in lines[2:]:
        log.add(line)
    assert len(log.take()) == page_state.LOG_LINES
    assert log.sent[0]["text"] == "line 2" and len(log.sent) == page_state.LOG_LINES
