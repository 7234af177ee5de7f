# SPDX-License-Identifier: MIT
"""Grounds by name: the same boxes, slope and friction in each simulator."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import tiny_robot

from shellbot_common.rotations import rotation_from_rpy
from shellbot_simulator.core.config import ENGINES, load_config
from shellbot_simulator.core.errors import ConfigError
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.terrain import STARTS_M, Terrain, sdf_model, terrain, terrains
from shellbot_simulator.node.node_parameters import NodeParameters
from shellbot_simulator.terrain_cli import main


@pytest.mark.parametrize("engine", ENGINES)
def test_a_robot_stands_on_the_second_step_of_a_flight(engine):
    if engine == "bullet":
        pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    ground = terrain("steps")
    config = load_config().replace(engine=engine, **ground.settings())
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(), config)
    height = simulator.reset().p_world_base[2]
    simulator.data.qpos[0] = STARTS_M + 1.5 * ground.step_depth
    simulator.data.qpos[2] += 2.0 * ground.step_height
    simulator._engine.place()
    for _ in range(30):
        simulator.step_tick()
    state = simulator.state()
    assert state.p_world_base[2] - height == pytest.approx(2.0 * ground.step_height, abs=2e-3)
    assert state.contacts.ground_force[2] == pytest.approx(9.81 * simulator.mass, rel=0.02)
    assert "chassis" in state.contacts.other_links


def test_each_ground_is_what_its_name_says():
    assert list(terrains()) == ["flat", "slope", "steps", "rubble", "trench", "wall", "ice"]
    assert terrain("flat").settings() == {"boxes": ()}
    assert terrain("ice").settings()["friction"] < 0.2 and terrain("slope").settings()["slope_deg"] == 10.0
    near, far = terrain("trench").boxes()
    gap = (far[0] - 0.5 * far[2]) - (near[0] + 0.5 * near[2])
    assert gap == pytest.approx(terrain("trench").trench_width) and near[4] == far[4] == terrain("trench").trench_depth
    assert terrain("rubble").boxes(3) == terrain("rubble").boxes(3) != terrain("rubble").boxes(4)
    ((x, y, length, _, height),) = terrain("wall").boxes()
    assert (x - 0.5 * length, y, height) == (pytest.approx(1.5), 0.0, 1.0)
    assert [box[4] for box in terrain("steps").boxes()] == pytest.approx([0.02, 0.04, 0.06])


def boxes_of(sdf):
    for shape in ElementTree.fromstring(sdf).iter("collision"):
        pose = [float(x) for x in shape.findtext("pose").split()]
        yield pose, [float(x) for x in shape.findtext("geometry/box/size").split()], shape.findtext(".//mu")


def test_gazebo_gets_the_same_boxes(capsys):
    main(["rubble", "--seed", "5"])
    found = [(p[0], p[1], *s[:2], 2.0 * p[2]) for p, s, _ in boxes_of(capsys.readouterr().out)]
    assert np.array(found) == pytest.approx(np.array(terrain("rubble").boxes(5)))
    ((_, _, friction),) = boxes_of(sdf_model(terrain("ice"), 0.8))
    assert friction == "0.15"


@pytest.mark.parametrize("azimuth", [0.0, 60.0])
def test_a_slope_in_gazebo_goes_through_the_start_and_rises_towards_its_azimuth(azimuth):
    ((pose, size, _),) = boxes_of(sdf_model(Terrain(slope_deg=10.0, slope_azimuth_deg=azimuth), 0.8))
    rotation = rotation_from_rpy(*pose[3:])
    top = pose[:3] + rotation @ [0.0, 0.0, 0.5 * size[2]]
    assert top == pytest.approx([0.0, 0.0, 0.0], abs=0.0011)
    ahead = [math.cos(math.radians(azimuth)), math.sin(math.radians(azimuth)), 0.0]
    assert rotation[:, 2] @ ahead == pytest.approx(-math.sin(math.radians(10.0)))


def test_bad_grounds_are_refused_in_words(capsys):
    with pytest.raises(ConfigError, match="no terrain 'mud'; choose one of flat, slope, steps, rubble, trench, wall"):
        terrain("mud")
    with pytest.raises(ConfigError, match="steps, step_height, step_depth go together"):
        Terrain(steps=2)
    with pytest.raises(ConfigError, match="rubble_height is 3"):
        Terrain.from_mapping({"rubble_height": 3, "rubble_length": 1.0})
    for words, sentence in ((["mud"], "choose one of flat"), (["ice", "--friction", "-1"], "friction is -1.0; give a")):
        with pytest.raises(SystemExit):
            main(words)
        assert sentence in capsys.readouterr().err


def test_the_node_builds_the_engine_and_the_ground_of_its_parameters():
    node = pytest.importorskip("shellbot_simulator.node.simulator_node", reason="no ROS")
    built = node._build_simulator(
        NodeParameters(terrain="ice", seed=5, friction=0.7), tiny_robot.URDF, tiny_robot.profile(), {}
    )
    assert built.config.engine == "mujoco" and built.config.friction == 0.15, "ice is ice"
    built = node._build_simulator(
        NodeParameters(terrain="rubble", seed=5, friction=0.7), tiny_robot.URDF, tiny_robot.profile(), {}
    )
    assert built.config.boxes == terrain("rubble").boxes(5) and built.config.friction == 0.7
    pytest.importorskip("pybullet", reason="no pybullet: scripts/setup --dev installs it for Python 3.8 to 3.11")
    built = node._build_simulator(NodeParameters(engine="bullet"), tiny_robot.URDF, tiny_robot.profile(), {})
    assert built.config.engine == "bullet" and not built.config.boxes
