# SPDX-License-Identifier: MIT
"""What two packages must say alike, because neither may import the other."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from shellbot_teleop.keymap import Keymap

SOURCE = Path(__file__).resolve().parents[1] / "src"


def load(name):
    return yaml.safe_load((SOURCE / name).read_text(encoding="utf-8"))


def test_the_operator_asks_for_no_shells_that_the_robot_refuses():
    teleop = load("shellbot_teleop/config/teleop.yaml")
    upper = load("shellbot_action_manager/config/action_manager.yaml")["upper"]
    for asked, allowed in (("shell_height_range", "height"), ("shell_angle_range", "opening")):
        low, high = teleop[asked]
        assert upper[allowed][0] <= low < high <= upper[allowed][1], f"{asked} of teleop.yaml, upper.{allowed}"


@pytest.mark.parametrize("file", sorted(SOURCE.glob("*/config/keymap*.yaml")), ids=lambda file: file.parts[-3])
def test_every_robots_key_map_is_one(file):
    Keymap.load(file)


def test_the_operator_offers_only_gaits_that_there_are():
    offered = load("shellbot_teleop/config/teleop.yaml")["gaits"]
    assert set(offered) <= set(load("shellbot_action_manager/config/gaits.yaml"))


def test_the_operators_window_finds_the_simulators():
    simulator = pytest.importorskip("shellbot_simulator.node.viewer")
    operator = pytest.importorskip("shellbot_teleop.qt.simulator_view")
    assert operator.WINDOW_NAME == simulator.WINDOW_NAME


def test_the_table_of_gazebos_physics_is_that_of_the_world():
    root = ElementTree.parse(SOURCE / "shellbot_gazebo_connector/worlds/shellbot.world").getroot()
    physics = {element.tag: element.text for element in root.iter() if not len(element)}
    page = (SOURCE.parent / "docs/simulators.md").read_text(encoding="utf-8").partition("## Gazebo's physics")[2]
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) ?(\S*) \(", page, re.MULTILINE)
    assert [name for name, _, _ in rows] == [
        "max_step_size", "iters", "sor", "cfm", "erp", "contact_max_correcting_vel", "contact_surface_layer"
    ]  # fmt: skip
    for name, number, unit in rows:
        assert float(physics[name]) == pytest.approx(float(number) * (1e-3 if unit in ("ms", "mm") else 1.0)), name
