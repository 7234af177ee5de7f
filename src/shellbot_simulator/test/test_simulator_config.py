# SPDX-License-Identifier: MIT
"""Settings and parameters: what is accepted, and what the refusals say."""

from __future__ import annotations

import pytest
import tiny_robot
import yaml

from shellbot_common import package_file
from shellbot_description import load_variables
from shellbot_simulator.core.config import SimulatorConfig, load_config
from shellbot_simulator.core.errors import ConfigError, ModelError
from shellbot_simulator.core.paths import resolve_uri
from shellbot_simulator.core.servo import PidGains
from shellbot_simulator.node.node_parameters import NodeParameters, joint_gains

CONFIG = package_file("shellbot_simulator", "config/simulator.yaml")


def test_file_holds_every_setting_with_its_default():
    values = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    assert set(values) == set(SimulatorConfig.__dataclass_fields__)
    assert load_config() == SimulatorConfig()


def test_friction_is_that_of_the_description():
    """Gazebo reads the description's; both simulators are the same ground."""
    assert SimulatorConfig().friction == load_variables().contact.friction


def test_every_setting_has_a_comment():
    lines = CONFIG.read_text(encoding="utf-8").splitlines()
    keys = [number for number, line in enumerate(lines) if line and line[0].isalpha()]
    commented = [
        n
        for n in keys
        if lines[n - 1].startswith("#") or any(lines[m].startswith("#") for m in range(max(0, n - 3), n))
    ]
    assert len(keys) > 15 and commented == keys


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("timestep: 0.003", "does not divide the tick"),
        ("timestep: .nan", "timestep is nan; give a number from 0.0002 to 0.01 s"),
        ("friction: -1", "friction is -1; give a number from 0.01 to 5$"),
        ("frictoin: 0.8", "frictoin does not exist; is friction meant"),
        ("solver: Newtn", "Choose from Newton, CG, PGS"),
        ("contact_solref: 3", r"contact_solref is 3; give a list of 2 numbers"),
        ("contact_solref: [0.001, 1]", "at least two time steps"),
        ("iterations: 2.5", "give a whole number from 1 to 1000"),
        ("self_collision: 1", "give true or false"),
        ("- a list", "holds a list; expected a mapping"),
        ("{unclosed", "is not valid YAML"),
    ],
)
def test_wrong_file_is_refused_in_words(tmp_path, text, says):
    file = tmp_path / "wrong.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=says) as caught:
        load_config(file)
    assert str(file) in str(caught.value)


def test_missing_file_is_refused_in_words(tmp_path):
    with pytest.raises(ConfigError, match="cannot read"):
        load_config(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"rtf": -1.0}, r"~rtf is -1.0; give a number from 0 to 1000 \(0 is as fast as possible"),
        ({"rtf": float("nan")}, "~rtf is nan; give a number"),
        ({"viewer": "maybe"}, "choose from auto, true, false"),
        ({"seed": 0.5}, "give a whole number"),
        ({"rft": 1.0}, "~rft does not exist; is rtf meant"),
        ({"paused": "yes"}, "give true or false"),
    ],
)
def test_wrong_node_parameters_are_refused_in_words(values, says):
    with pytest.raises(ConfigError, match=says):
        NodeParameters.from_mapping(values, "~")


def test_node_parameters_take_what_roslaunch_makes_of_arguments():
    parameters = NodeParameters.from_mapping({"rtf": 0, "viewer": False, "seed": 3})
    assert (parameters.rtf, parameters.viewer, parameters.seed_or_none) == (0.0, "false", 3)
    assert NodeParameters.from_mapping({}).seed_or_none is None


def test_gains_are_read_as_ros_control_reads_them():
    controller = {"a": {"pid": {"p": 3, "i": 0.5, "i_clamp": 2.0}}, "b": {"pid": {"d": 1.0}}}
    gains, missing = joint_gains("wheels", controller, ("a", "b"), (PidGains(1.0), PidGains(2.0)))
    assert gains[0] == PidGains(3.0, 0.5, 0.0, -2.0, 2.0)
    assert gains[1] == PidGains(2.0) and missing == ("b",)
    with pytest.raises(ConfigError, match="wheels/a/pid: .*p = -1"):
        joint_gains("wheels", {"a": {"pid": {"p": -1}}}, ("a",), (PidGains(1.0),))


def test_missing_mesh_names_the_file():
    with pytest.raises(ModelError, match="package://shellbot_description/meshes/none.stl.*not found"):
        resolve_uri("package://shellbot_description/meshes/none.stl")
    with pytest.raises(ModelError, match="no_such_package"):
        resolve_uri("package://no_such_package/a.stl")


def test_settings_of_ones_own_change_the_robots_and_leave_the_rest(tmp_path):
    robots, mine = tmp_path / "robot.yaml", tmp_path / "mine.yaml"
    robots.write_text("jacobian: sparse\njoint_noise_deg: 0.6", encoding="utf-8")
    mine.write_text("joint_noise_deg: 0.1\nservo_backlash_deg: 1", encoding="utf-8")
    both = load_config(robots, mine)
    assert both == SimulatorConfig(jacobian="sparse", joint_noise_deg=0.1, servo_backlash_deg=1.0)
    mine.write_text("timestep: 0.004", encoding="utf-8")
    with pytest.raises(ConfigError, match=f"{mine}: timestep is 0.004"):
        load_config(robots, mine)


def test_the_node_puts_settings_of_ones_own_over_the_robots(tmp_path):
    node = pytest.importorskip("shellbot_simulator.node.simulator_node")
    robots, mine = tmp_path / "robot.yaml", tmp_path / "mine.yaml"
    robots.write_text("jacobian: sparse", encoding="utf-8")
    mine.write_text("servo_backlash_deg: 1", encoding="utf-8")
    parameters = NodeParameters(config=str(robots), settings=str(mine))
    built = node._build_simulator(parameters, tiny_robot.URDF, tiny_robot.profile(), {})
    assert built.config == SimulatorConfig(jacobian="sparse", servo_backlash_deg=1.0)
