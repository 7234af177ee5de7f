# SPDX-License-Identifier: MIT
"""The key map: what it refuses and how, and that the keys of both reports are in the shipped one."""

from __future__ import annotations

import copy

import pytest
import yaml

from shellbot_common import package_file
from shellbot_teleop.actions import ACTIONS
from shellbot_teleop.errors import KeymapError
from shellbot_teleop.keymap import Keymap

BINDING = {"key": "w", "action": "drive.forward", "help": "go", "group": "walk"}
SAFE = [
    {"key": "Space", "action": "drive.stop", "help": "", "group": "walk"},
    {"key": "Escape", "action": "safety.emergency_stop", "help": "", "group": "walk"},
    {"key": "Ctrl+R", "action": "safety.rearm", "help": "", "group": "walk"},
    {"key": "F2", "action": "control.take", "help": "", "group": "walk"},
]


def document(*bindings):
    return {
        "default_layout": "one",
        "layouts": {"one": "first", "two": "second"},
        "groups": {"walk": "Walk"},
        "bindings": copy.deepcopy(SAFE) + [dict(binding) for binding in bindings],
    }


def test_a_good_map_is_looked_up_by_layout():
    keymap = Keymap.from_mapping(
        document(dict(BINDING, layout="one"), dict(BINDING, action="pose.raise", layout="two"), dict(BINDING, key="8"))
    )
    assert keymap.find("one", "w").action == "drive.forward"
    assert keymap.find("two", "w").action == "pose.raise"
    assert keymap.find("two", "8").action == "drive.forward"
    assert keymap.find("one", "x") is None
    assert keymap.keys_of("one", "drive.forward") == ("w", "8")


@pytest.mark.parametrize(
    "change, words",
    [
        ({"action": "drive.fly"}, ["'drive.fly'", "drive.forward", "Choose from", "or what matches mode"]),
        ({"action": "mode.Knie!"}, ["bindings[4].action is 'mode.Knie!'"]),
        ({"key": "Hyper"}, ["'Hyper'", "PageUp", "a..z"]),
        ({"key": "Ctrl+C"}, ["'Ctrl+C'", "not C H I J M Z"]),
        ({"key": 8}, ["bindings[4].key is 8; give a text, in quotes"]),
        ({"group": "dance"}, ["'dance'", "walk"]),
        ({"layout": "three"}, ["'three'", "one", "two"]),
        ({"action": "gait.request"}, ["key 'w'", "argument is the gait"]),
        ({"argument": "trot"}, ["key 'w'", "argument is the gait"]),
        ({"colour": "red"}, ["bindings[4].colour does not exist"]),
    ],
)
def test_a_wrong_binding_is_named_with_the_choices(change, words):
    with pytest.raises(KeymapError) as caught:
        Keymap.from_mapping(document(dict(BINDING, **change)))
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_missing_field_is_named():
    with pytest.raises(KeymapError, match=r"bindings\[4\].help is missing"):
        Keymap.from_mapping(document({name: value for name, value in BINDING.items() if name != "help"}))


@pytest.mark.parametrize("layouts", [("", ""), ("one", "one"), ("", "one")])
def test_two_bindings_of_one_key_in_one_layout_are_refused(layouts):
    first, second = (dict(BINDING, **({"layout": layout} if layout else {})) for layout in layouts)
    second["action"] = "drive.left"
    with pytest.raises(KeymapError, match="'w' does both drive.forward and drive.left"):
        Keymap.from_mapping(document(first, second))


@pytest.mark.parametrize("missing", ["drive.stop", "safety.emergency_stop", "safety.rearm"])
def test_a_map_without_a_way_to_stop_is_refused(missing):
    content = document(BINDING)
    content["bindings"] = [binding for binding in content["bindings"] if binding["action"] != missing]
    with pytest.raises(KeymapError, match=missing):
        Keymap.from_mapping(content)


@pytest.mark.parametrize("content", [None, [], "w", {"bindings": []}])
def test_a_document_that_is_no_key_map_is_refused(content):
    with pytest.raises(KeymapError):
        Keymap.from_mapping(content)


@pytest.mark.parametrize(
    "text, word", [("bindings: [", "not valid YAML"), ("\x00", "not valid YAML"), ("- 1", "mapping")]
)
def test_an_unreadable_file_is_named(tmp_path, text, word):
    path = tmp_path / "keys.yaml"
    path.write_text(text)
    with pytest.raises(KeymapError, match=word) as caught:
        Keymap.load(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_or_not_text_says_what_to_do(tmp_path):
    with pytest.raises(KeymapError, match="cannot read .*none.yaml: No such file"):
        Keymap.load(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(KeymapError, match="cannot read"):
        Keymap.load(tmp_path / "bytes.yaml")


FIRST_REPORT = {
    "w": "drive.forward",
    "s": "drive.backward",
    "a": "drive.left",
    "d": "drive.right",
    "q": "drive.turn_left",
    "e": "drive.turn_right",
    "u": "pose.raise",
    "l": "pose.lower",
    "i": "pose.neutral",
    "Right": "pose.roll_right",
    "Left": "pose.roll_left",
    "Up": "pose.pitch_forward",
    "Down": "pose.pitch_back",
}
SECOND_REPORT = {
    "7": "drive.turn_left",
    "8": "drive.forward",
    "9": "drive.turn_right",
    "4": "drive.left",
    "5": "drive.stop",
    "6": "drive.right",
    "2": "drive.backward",
    "q": "pose.yaw_right",
    "w": "pose.pitch_forward",
    "e": "pose.yaw_left",
    "a": "pose.roll_left",
    "s": "pose.pitch_back",
    "d": "pose.roll_right",
    "0": "mode.shell",
    "1": "mode.hexapod",
}


@pytest.mark.parametrize("layout, table", [("walk", FIRST_REPORT), ("tilt", SECOND_REPORT)])
def test_the_shipped_map_has_every_key_of_both_reports(teleop_keymap, layout, table):
    assert {key: teleop_keymap.find(layout, key).action for key in table} == table


def test_only_the_six_letters_differ_between_the_layouts(teleop_keymap):
    for key, action in {**FIRST_REPORT, **SECOND_REPORT}.items():
        if key not in "qweasd":
            assert teleop_keymap.find("walk", key).action == teleop_keymap.find("tilt", key).action == action


def test_every_action_has_a_key_and_every_binding_a_help_text(teleop_keymap):
    bound = {binding.action for binding in teleop_keymap.bindings}
    actions = {action for action in bound if not action.startswith("mode.")}
    assert actions == set(ACTIONS) - {"gait.request"}  # of robots whose gaits have keys
    assert all(binding.help for binding in teleop_keymap.bindings)


def test_the_shipped_file_is_plain_yaml_without_double_entries():
    content = yaml.safe_load(package_file("shellbot_teleop", "config/keymap.yaml").read_text())
    seen = [(entry["key"], entry.get("layout", "")) for entry in content["bindings"]]
    assert len(seen) == len(set(seen))
