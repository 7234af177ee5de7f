# SPDX-License-Identifier: MIT
"""Presets, clamping and the file of the page of gains; and what a preset does to the torques of a standing robot."""

from __future__ import annotations

import math
import resource
import signal

import numpy as np
import pytest

from shellbot_chain.chain import Chain
from shellbot_common import ProfileError, SettingsError
from shellbot_control import ConfigurationError, Gains, GainTable
from shellbot_control.gain_presets import CUSTOM, PRESET, RESET, GainPresets, clamped, of_all_classes
from shellbot_control.gains_file import GainsFile
from shellbot_control.gains_page import gains_page
from shellbot_control.gains_tool_node import entries, table
from shellbot_description import robot_profile

WALKER = robot_profile("walker")
START = GainTable.from_profile(WALKER)
PRESETS = GainPresets.of_robot(WALKER, START)
CUSTOM_ROBOT = WALKER.replace(
    gain_presets={"stiff": {"text": "ankles", "stiffness": 1.2, "p": {"tibia": 2.0}, "d": {"tibia": 99.0}}}
)


def test_a_preset_stands_for_all_its_gains_and_is_told_from_others():
    assert list(PRESETS.options) == ["walk", "soft", "ball", RESET, CUSTOM]
    page = PRESETS.changes({PRESET: "soft"}, "walk")
    assert page["stiffness"] == 0.5 and page["femur_p"] == START.classes["femur"].p
    assert PRESETS.name_of(GainTable.from_page(page, START.classes)) == "soft"
    assert PRESETS.name_of(START) == "walk" and PRESETS.name_of(START, "ball") == "ball", "of equal ones the chosen"
    assert PRESETS.name_of(GainTable(START.classes, 0.5), "ball") == "soft"
    assert PRESETS.name_of(GainTable(START.classes, 0.6)) == CUSTOM
    assert PRESETS.name_of(GainTable({**START.classes, "femur": Gains(5.0)})) == CUSTOM
    mixed = PRESETS.changes({PRESET: "soft", "femur_p": 30.0}, "walk")
    assert (mixed["femur_p"], mixed["stiffness"]) == (30.0, 0.5), "a gain beside the preset counts more"
    assert PRESETS.changes({PRESET: CUSTOM}, "soft") == {PRESET: CUSTOM}
    assert PRESETS.changes({"femur_p": 3.0}, "soft") == {"femur_p": 3.0}
    with pytest.raises(ConfigurationError, match="preset 'sof' does not exist; choose one of walk, soft, ball, reset"):
        PRESETS.changes({PRESET: "sof"}, "walk")


def test_factors_and_damping_of_a_class_stay_within_the_page():
    stiff = GainPresets.of_robot(CUSTOM_ROBOT, START).tables["stiff"]
    assert stiff.classes["tibia"] == Gains(2.0 * START.classes["tibia"].p, 0.0, WALKER.gain_limits.d)
    assert stiff.classes["femur"] == START.classes["femur"] and stiff.stiffness == 1.2
    hard = GainTable({"tibia": Gains(0.75 * WALKER.gain_limits.p)})
    assert GainPresets.of_robot(CUSTOM_ROBOT, hard).tables["stiff"].classes["tibia"].p == WALKER.gain_limits.p
    with pytest.raises(ProfileError, match="gain_presets.x names 'knee'; choose from classes: fan"):
        WALKER.replace(gain_presets={"x": {"text": "", "p": {"knee": 1.0}}})
    with pytest.raises(ProfileError, match="stiffness is 9"):
        WALKER.replace(gain_presets={"x": {"text": "", "stiffness": 9}})


def test_a_build_without_some_classes_has_them_on_its_page_all_the_same():
    presets = GainPresets.of_robot(WALKER, GainTable({"femur": Gains(5.0)}))
    page = GainTable.from_page({**START.to_page(), "femur_p": 5.0}, WALKER.classes)
    assert "shell" in page.classes and presets.name_of(page) == "walk"


def test_reset_is_what_the_page_started_with():
    other = GainTable({**START.classes, "femur": Gains(5.0, 1.0, 0.1)})
    presets = GainPresets.of_robot(WALKER, other)
    assert GainTable.from_page(presets.changes({PRESET: RESET}, CUSTOM), START.classes) == other
    assert presets.tables["walk"].classes["femur"] == other.classes["femur"], "presets are factors of it"


def test_absurd_gains_are_clamped_with_a_sentence_and_nonsense_is_refused():
    requested = {"femur_p": -3.0, "tibia_d": 1e9, "stiffness": 7.0, "coxa_p": 20.0, PRESET: "walk"}
    page, notices = clamped(requested, WALKER)
    assert (page["femur_p"], page["tibia_d"], page["stiffness"], page["coxa_p"]) == (0.0, 2.5, 1.5, 20.0)
    assert page[PRESET] == "walk"
    assert [notice.text for notice in notices] == [
        "femur_p is -3; the range is 0 to 120, so it became 0",
        "tibia_d is 1e+09; the range is 0 to 2.5, so it became 2.5",
        "stiffness is 7; the range is 0 to 1.5, so it became 1.5",
    ]
    for bad in (math.nan, math.inf, -math.inf, "much", True):
        with pytest.raises(ConfigurationError, match=f"fan_i is {bad!r}; give a number from 0 to 60"):
            clamped({**requested, "fan_i": bad}, WALKER)


def test_the_page_has_the_presets_as_a_list():
    page = gains_page(WALKER, START, PRESETS)
    entry = page.config_description["parameters"][0]
    assert (entry["name"], entry["default"], page.type[PRESET]) == (PRESET, "walk", "str")
    assert [option["value"] for option in eval(entry["edit_method"])["enum"]] == list(PRESETS.options)


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path):
    file, before = tmp_path / "gains.yaml", resource.getrlimit(resource.RLIMIT_FSIZE)
    GainsFile.of_table("shellbot", GainTable(START.classes, 1.0)).save(file)
    text, handler = file.read_text(), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        with pytest.raises(ConfigurationError, match="gains.yaml cannot be written: File too large"):
            GainsFile.of_table("shellbot", GainTable(START.classes, 0.5)).save(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert [path.name for path in tmp_path.iterdir()] == ["gains.yaml"] and file.read_text() == text


def test_the_file_keeps_what_it_does_not_name_and_refuses_another_robot(tmp_path):
    file = tmp_path / "gains.yaml"
    table_ = GainTable({**START.classes, "femur": Gains(20.5, 0.25, 0.125)}, 0.8)
    GainsFile.of_table("shellbot", table_).save(file)
    page = GainsFile.load(file).changes("shellbot", WALKER.classes)
    assert GainTable.from_page(page, START.classes) == table_
    file.write_text("robot: shellbot\nclasses:\n  femur: {p: -4}\n", encoding="utf-8")
    assert GainsFile.load(file).changes("shellbot", WALKER.classes) == {"femur_p": -4.0}, "the page clamps"
    with pytest.raises(ConfigurationError, match="the gains are those of shellbot, and this robot is arm"):
        GainsFile.load(file).changes("arm", WALKER.classes)
    file.write_text("robot: shellbot\nclasses: {knee: {p: 4}}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="shellbot has no joint class knee; it has fan"):
        GainsFile.load(file).changes("shellbot", WALKER.classes)
    for text, words in (
        ("robot: shellbot\nclasses: {femur: {p: soft}}\n", "classes.femur.p"),
        ("classes: {}\n", "robot is missing"),
        ("robot: shellbot\nclass: {}\n", "class"),
        ("robot: shellbot\nclasses: {femur: {p: .nan}}\n", "classes.femur.p"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError, match=words):
            GainsFile.load(file)
    with pytest.raises(ConfigurationError, match="No such file|cannot be read|does not exist"):
        GainsFile.load(tmp_path / "none.yaml")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        GainsFile.of_table("shellbot", table_).save(tmp_path / "no" / "folder.yaml")


def test_words_of_the_tool():
    page = {**START.to_page(), PRESET: "walk"}
    assert entries(["femur_p=30", "stiffness=0.5"], page) == {"femur_p": 30.0, "stiffness": 0.5}
    for word, sentence in (
        ("knee_p=3", "entry 'knee_p' does not exist"),
        ("femur_p=much", "'femur_p=much' is no NAME=NUMBER"),
        ("femur_p=nan", "'femur_p=nan' is no NAME=NUMBER"),
    ):
        with pytest.raises(SettingsError, match=sentence):
            entries([word], page)
    lines = table(page, WALKER).splitlines()
    assert lines[0] == "shellbot: preset walk, stiffness 1" and any("soft: half of it" in line for line in lines)


def test_a_standing_robot_keeps_standing_and_its_torques_change_as_the_gains_do():
    """In the embedded simulator; the rest of the change is what the sagging body adds in 10 ms."""
    chain = Chain(variant="walker", seed=0)
    chain.stand_up()
    height, stiffness = chain.state.p_world_base[2], 1.0
    for name in ("soft", "walk", "soft", "ball"):
        wanted = PRESETS.tables[name]
        before = chain.state.effort.copy()
        for joint, gains in wanted.for_joints(WALKER.joints).items():
            chain.simulator.set_gains(joint, gains.p, gains.i, gains.d)
        chain.tick()
        ratio = wanted.stiffness / stiffness
        np.testing.assert_allclose(chain.state.effort, ratio * before, atol=0.02)
        assert np.abs(before).max() > 0.1, "there is torque to change"
        stiffness = wanted.stiffness
        chain.run(0.5)
        assert chain.mode == "hexapod"
    assert chain.state.p_world_base[2] == pytest.approx(height, abs=1e-3)


def test_one_gain_of_all_classes_is_within_the_range_or_refused_whole():
    assert of_all_classes("p", 16.0, WALKER) == {f"{kind}_p": 16.0 for kind in WALKER.classes}
    assert set(of_all_classes("d", WALKER.gain_limits.d, WALKER).values()) == {WALKER.gain_limits.d}
    for value in (math.nan, math.inf, -0.1, WALKER.gain_limits.d + 0.1):
        with pytest.raises(ConfigurationError, match=f"d of all joints is {value:g}; give a number from 0 to 2.5"):
            of_all_classes("d", value, WALKER)
