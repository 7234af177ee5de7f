# SPDX-License-Identifier: MIT
"""Gait YAML: what is accepted, and what each refusal says."""

from __future__ import annotations

import pytest

from shellbot_action_manager.errors import ConfigError, UnknownGaitError
from shellbot_action_manager.gait.gait_table import find_gait, load_gaits, parse_gait
from shellbot_common import package_file, read_yaml


@pytest.fixture
def block():
    return read_yaml(package_file("shellbot_action_manager", "config/gaits.yaml"))["tripod"]


def test_shipped_table_has_tripod_ripple_and_wave():
    gaits = load_gaits()
    assert set(gaits) >= {"tripod", "ripple", "wave", "tetrapod"}
    assert gaits["tripod"].phase_offset == (0.0, 0.5, 0.0, 0.5, 0.0, 0.5)


def test_period_goes_from_slow_to_fast(block):
    gait = parse_gait("tripod", block)
    assert gait.period(0.0) == gait.period_slow
    assert gait.period(1.0) == gait.period_fast
    assert gait.period(7.0) == gait.period_fast
    assert gait.period_fast < gait.period(0.5) < gait.period_slow


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("duty_factor", 0.2, r"duty_factor is 0.2; give a number from 0.4 to 0.95"),
        ("duty_factor", 0.45, r"only \d feet on the ground"),
        ("duty_factor", 0.498, r"only 0 feet on the ground"),  # for less than a tick, but a tick may find it
        ("duty_factor", "half", r"duty_factor is 'half'; give a number"),
        ("lift_height", float("nan"), r"lift_height is nan"),
        ("lift_height_fast", 0.001, r"lift_height_fast is 0.001 m; give 0.005 to 0.1 m, or 0"),
        ("lift_height", True, r"lift_height is True"),
        ("phase_offset", [0.0, 0.5], r"phase_offset is \[0.0, 0.5\]; give a list of 6 numbers"),
        ("phase_offset", [0.0] * 6, r"only 0 feet on the ground"),
        ("slip_scale", 1.0, r"slip_scale is 1.0; give a mapping with the keys forward, sideways, turn"),
        (
            "slip_scale",
            {"forward": 1.0, "sideways": 1.0, "turn": 9.0},
            r"slip_scale.turn is 9.0; give a number from 0.5 to 2",
        ),
        ("period_fast", 0.3, r"period_slow 0.8 s is more than twice period_fast 0.3 s"),
        ("period_fast", 2.0, r"period_fast 2 s is longer than period_slow"),
    ],
)
def test_bad_value_is_named_with_its_range(block, key, value, message):
    block[key] = value
    with pytest.raises(ConfigError, match=message):
        parse_gait("tripod", block)


def test_missing_and_unknown_keys_are_named(block):
    ramp = block.pop("ramp")
    with pytest.raises(ConfigError, match="gait 'tripod': ramp is missing"):
        parse_gait("tripod", block)
    with pytest.raises(ConfigError, match="gait 'tripod': rampe does not exist; is ramp meant"):
        parse_gait("tripod", {**block, "rampe": ramp})


def test_unreadable_yaml_names_file_and_line(tmp_path):
    path = tmp_path / "gaits.yaml"
    path.write_text("tripod:\n  duty_factor: [0.5\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"gaits.yaml is not valid YAML in line"):
        load_gaits(path)


def test_missing_file_and_wrong_content_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot read"):
        load_gaits(tmp_path / "none.yaml")
    path = tmp_path / "list.yaml"
    path.write_text("- tripod\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="expected a mapping"):
        load_gaits(path)
    path.write_text("tripod: 3\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="gait 'tripod' is 3; give a mapping"):
        load_gaits(path)


def test_unknown_gait_lists_the_names():
    gaits = load_gaits()
    with pytest.raises(UnknownGaitError) as refusal:
        find_gait(gaits, "moonwalk")
    assert str(refusal.value) == f"there is no gait 'moonwalk'; the gaits are {', '.join(sorted(gaits))}"
