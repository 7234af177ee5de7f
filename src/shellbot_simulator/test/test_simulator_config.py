# SPDX-License-Identifier: MIT
"""Settings and parameters: what is accepted, and what the refusals say."""

from __future__ import annotations

import pytest
import yaml

from shellbot_description import load_variables
from shellbot_simulator import node_parameters
from shellbot_simulator.config import SimulatorConfig, load_config
from shellbot_simulator.errors import ConfigError, ModelError
from shellbot_simulator.node_parameters import joint_gains
from shellbot_simulator.paths import config_path, resolve_uri
from shellbot_simulator.servo import PidGains


def test_file_holds_every_setting_with_its_default():
    values = yaml.safe_load(config_path().read_text(encoding="utf-8"))
    assert set(values) == set(SimulatorConfig.__dataclass_fields__)
    assert load_config() == SimulatorConfig()


def test_friction_is_that_of_the_description():
    """Gazebo reads the description's; both simulators are the same ground."""
    assert SimulatorConfig().friction == load_variables().contact.foot_friction


def test_every_setting_has_a_comment():
    lines = config_path().read_text(encoding="utf-8").splitlines()
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
        ("timestep: .nan", "timestep = nan is outside"),
        ("friction: -1", r"friction = -1.0 is outside \[0.01, 5.0\]"),
        ("frictoin: 0.8", "unknown setting 'frictoin'; the settings are: timestep"),
        ("solver: Newtn", "choose one of Newton, CG, PGS"),
        ("contact_solref: 3", "must be a list of 2 numbers"),
        ("contact_solref: [0.001, 1]", "at least two time steps"),
        ("iterations: 2.5", "must be a whole number"),
        ("self_collision: 1", "must be true or false"),
        ("- a list", "expected 'name: value' lines"),
        ("{unclosed", "cannot read the simulator settings"),
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
        ({"rtf": -1.0}, "~rtf = -1.0 is outside"),
        ({"rtf": float("nan")}, "must be a finite number"),
        ({"viewer": "maybe"}, "choose one of auto, true, false"),
        ({"seed": 0.5}, "must be a whole number"),
        ({"rft": 1.0}, "unknown parameter ~rft"),
        ({"paused": "yes"}, "must be true or false"),
    ],
)
def test_wrong_node_parameters_are_refused_in_words(values, says):
    with pytest.raises(ConfigError, match=says):
        node_parameters.from_mapping(values)


def test_node_parameters_take_what_roslaunch_makes_of_arguments():
    parameters = node_parameters.from_mapping({"rtf": 0, "viewer": False, "seed": 3})
    assert (parameters.rtf, parameters.viewer, parameters.seed_or_none) == (0.0, "false", 3)
    assert node_parameters.from_mapping({}).seed_or_none is None


def test_gains_are_read_as_ros_control_reads_them():
    controller = {"a": {"pid": {"p": 3, "i": 0.5, "i_clamp": 2.0}}, "b": {"pid": {"d": 1.0}}}
    gains, missing = joint_gains(controller, ("a", "b"), (PidGains(1.0), PidGains(2.0)))
    assert gains[0] == PidGains(3.0, 0.5, 0.0, -2.0, 2.0)
    assert gains[1] == PidGains(2.0) and missing == ("b",)
    with pytest.raises(ConfigError, match="a/pid: .*p = -1"):
        joint_gains({"a": {"pid": {"p": -1}}}, ("a",), (PidGains(1.0),))


def test_missing_mesh_names_the_file():
    with pytest.raises(ModelError, match="package://shellbot_description/meshes/none.stl.*not found"):
        resolve_uri("package://shellbot_description/meshes/none.stl")
    with pytest.raises(ModelError, match="no_such_package"):
        resolve_uri("package://no_such_package/a.stl")
