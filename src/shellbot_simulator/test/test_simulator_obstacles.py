# SPDX-License-Identifier: MIT
"""Obstacles that come and go while the robot moves: they touch, are seen, are refused, and change nothing else."""

from __future__ import annotations

import copy
import math
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from typing import Any, List, Optional

import mujoco
import numpy as np
import pytest
import tiny_robot

from shellbot_description import expand, named_pose_array, robot_profile
from shellbot_simulator import CommandError, Obstacle, ObstacleError, Simulator, load_config
from shellbot_simulator.core.config import ENGINES
from shellbot_simulator.core.obstacles import BODY, MOST
from shellbot_simulator.core.rays import into_geom
from shellbot_simulator.core.terrain import sdf_model, terrain

GOOD = {"name": "crate", "shape": "box", "size": (0.2, 0.2, 0.2), "position": (1.0, 0.0, 0.1)}
SONAR = {"kind": "ultrasound", "field_of_view_deg": 20, "limits": [0.15, 2.5], "rate": 10, "echo_angle_deg": 30}


def tiny(**settings: Any) -> Simulator:
    return Simulator(tiny_robot.URDF, tiny_robot.profile(), load_config().replace(**settings))


@pytest.fixture(params=ENGINES)
def engine(request: Any) -> str:
    if request.param == "bullet":
        pytest.importorskip("pybullet")
    return str(request.param)


def run(simulator: Simulator, ticks: int) -> None:
    for _ in range(ticks):
        simulator.step_tick()


@pytest.fixture(scope="module")
def hexapod() -> Simulator:
    return Simulator(expand("simulation"), robot_profile("simulation"), load_config())


def motion(simulator: Simulator, obstacle: Optional[Obstacle]) -> np.ndarray:
    """Return all that the robot does while its legs swing, with the gains, a push and a torque of its past."""
    simulator = copy.deepcopy(simulator)
    start, rows = named_pose_array("stand", "simulation"), []  # type: ignore[var-annotated]
    simulator.reset(start, seed=3)
    simulator.set_gains("lower_1_tibia", 12.0, 3.0, 0.1, -0.2, 0.2)
    for tick in range(90):
        if tick == 30 and obstacle is not None:
            effort = simulator.joint_effort
            simulator.spawn_obstacle(obstacle)
            np.testing.assert_array_equal(simulator.joint_effort, effort)
        if tick == 60 and obstacle is not None:
            simulator.delete_obstacle(obstacle.name)
        if tick == 25:
            simulator.push((5.0, 3.0, 0.0), 0.5)
        simulator.command(start + 0.1 * math.sin(0.2 * tick))
        simulator.step_tick()
        state = simulator.state()
        parts = (
            [state.time], state.q, state.dq, state.effort, state.p_world_base, state.quat_world_base, state.v_base,
            state.imu.specific_force, state.imu.angular_velocity, state.contacts.foot_wrench.ravel(),
        )  # fmt: skip
        rows.append(np.concatenate(parts))
    return np.array(rows)


def test_far_away_nothing_changes_to_the_last_bit(hexapod: Simulator) -> None:
    alone = motion(hexapod, None)
    for shape, size in (("box", (0.3, 0.2, 1.0)), ("cylinder", (0.5, 1.0)), ("sphere", (0.5,))):
        beside = motion(hexapod, Obstacle("far", shape, size, (20.0, 0.0, 0.5)))
        np.testing.assert_array_equal(beside, alone, shape)
    # the solver of older MuJoCos iterates all bodies together, until all have converged
    free = motion(hexapod, Obstacle("far", "box", (0.2, 0.2, 0.2), (20.0, 0.0, 0.1), mass=1.0))
    np.testing.assert_allclose(free[:, :37], alone[:, :37], atol=1e-4)  # joint angles


def test_bullet_goes_on_where_it_was() -> None:
    pytest.importorskip("pybullet")
    config = load_config().replace(engine="bullet")
    hexapod = Simulator(expand("simulation"), robot_profile("simulation"), config)
    far = Obstacle("far", "box", (0.2, 0.2, 0.2), (20.0, 0.0, 0.1), mass=1.0)
    alone, beside = motion(hexapod, None), motion(hexapod, far)
    # joint angles; some processors round differently beside a second body, and a contact that comes or goes adds to it
    np.testing.assert_allclose(beside[:33, :37], alone[:33, :37], atol=1e-9)
    np.testing.assert_allclose(beside[:, :37], alone[:, :37], atol=1e-3)


def test_a_fixed_one_stops_the_robot_and_a_free_one_is_pushed(engine: str) -> None:
    for mass, low, high in ((0.0, 0.24, 0.27), (1.0, 0.30, 3.0)):
        simulator = tiny(engine=engine)
        simulator.spawn_obstacle(Obstacle("crate", "box", (0.2, 2.0, 0.2), (0.5, 0.0, 0.1), mass=mass))
        simulator.push((250.0, 0.0, 0.0), 0.6)
        run(simulator, 60)
        assert low < simulator.state().p_world_base[0] + 0.0 < high, mass
        crate = simulator.obstacles[0]
        assert (crate.position[0] > 0.6) == bool(mass)
        assert simulator.mass == pytest.approx(20.1), "of the robot alone"


def test_beside_a_robot_that_is_fixed_to_the_world(engine: str) -> None:
    profile = tiny_robot.profile(base={"kind": "fixed", "spawn_pose": "zero"})
    simulator = Simulator(tiny_robot.URDF, profile, load_config().replace(engine=engine))
    simulator.spawn_obstacle(Obstacle("table", "box", (0.5, 0.5, 0.4), (1.0, 0.0, 0.2)))
    simulator.spawn_obstacle(Obstacle("ball", "sphere", (0.05,), (1.0, 0.0, 0.5), mass=0.1))
    for target in (0.5, -0.5):
        simulator.command([target, 0.0])
        run(simulator, 60)
        assert simulator.joint_position == pytest.approx([target, 0.0], abs=0.02)
    assert simulator.obstacles[1].position == pytest.approx((1.0, 0.0, 0.45), abs=2e-3), "it fell on the table"
    simulator.delete_obstacle("table")
    run(simulator, 60)
    assert simulator.obstacles[0].position[2] == pytest.approx(0.05, abs=2e-3)


def test_contacts_of_the_robot_are_not_those_of_obstacles(engine: str) -> None:
    simulator = tiny(engine=engine)
    run(simulator, 50)
    weight = simulator.state().contacts.ground_force[2]
    simulator.spawn_obstacle(Obstacle("stone", "sphere", (0.1,), (2.0, 0.0, 0.1), mass=50.0))
    assert simulator.state().contacts.ground_force[2] == weight, "that of the last step, until the next one"
    run(simulator, 50)
    assert simulator.state().contacts.ground_force[2] == pytest.approx(weight, rel=1e-4)
    simulator.spawn_obstacle(Obstacle("lid", "box", (0.2, 0.2, 0.1), (0.0, 0.0, 0.16), mass=2.0))
    run(simulator, 100)
    assert simulator.state().contacts.ground_force[2] == pytest.approx(weight, rel=1e-2), "stands on it, and is pushed"
    assert simulator.obstacles[1].position[2] == pytest.approx(0.15, abs=2e-3)


def test_friction_of_its_own(engine: str) -> None:
    slid: List[float] = []
    for friction in (0.0, 0.05):
        simulator = tiny(engine=engine, slope_deg=20.0)
        simulator.spawn_obstacle(
            Obstacle("ice", "box", (0.2, 0.2, 0.05), (1.0, 1.0, 0.025), mass=1.0, friction=friction)
        )
        run(simulator, 50)
        slid.append(1.0 - simulator.obstacles[0].position[0])
    assert slid[0] == pytest.approx(0.0, abs=2e-3) and slid[1] == pytest.approx(
        0.5 * 9.81 * (math.sin(math.radians(20.0)) - 0.05 * math.cos(math.radians(20.0))) * 0.25, rel=0.02
    )


def test_one_that_rolls_far_away_is_still_listed(engine: str) -> None:
    simulator = tiny(engine=engine, slope_deg=30.0)
    simulator.spawn_obstacle(Obstacle("ball", "sphere", (0.1,), (-999.99, 0.0, 0.1), mass=1.0))
    run(simulator, 50)
    (ball,) = simulator.obstacles
    assert ball.position[0] < -1000.0, "beyond where one may be put"
    assert (ball.name, ball.mass) == ("ball", 1.0)
    simulator.reset()
    assert simulator.obstacles[0].position == (-999.99, 0.0, 0.1)


def test_a_reset_puts_free_ones_back_and_leaves_all_there(engine: str) -> None:
    simulator = tiny(engine=engine)
    simulator.spawn_obstacle(Obstacle("ball", "sphere", (0.1,), (1.0, 0.0, 1.0), mass=1.0))
    simulator.spawn_obstacle(Obstacle("post", "cylinder", (0.05, 1.0), (0.0, 1.0, 0.5)))
    run(simulator, 30)
    falling = simulator.obstacles[0]
    assert falling.position[2] < 0.7
    simulator.delete_obstacle("post")
    assert simulator.obstacles == (falling,), "the fall goes on"
    run(simulator, 1)
    assert simulator.obstacles[0].position[2] < falling.position[2] - 0.02
    simulator.reset_base()
    assert simulator.obstacles[0].position == (1.0, 0.0, 1.0)
    run(simulator, 30)
    simulator.reset()
    assert simulator.obstacles[0].position == (1.0, 0.0, 1.0)
    assert simulator.time == 0.0


def test_after_a_reset_the_robot_may_stand_in_one(engine: str) -> None:
    simulator = tiny(engine=engine)
    simulator.data.qpos[0] = 2.0
    simulator._engine.place()
    simulator.spawn_obstacle(Obstacle("crate", "box", (0.2, 0.2, 0.2), (0.0, 0.0, 0.1)))
    assert simulator.overlapping_obstacles() == ()
    simulator.reset()
    (sentence,) = simulator.overlapping_obstacles()
    assert sentence.startswith("crate overlaps chassis by ")


def test_a_world_that_bullet_cannot_make_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pybullet")
    simulator = tiny(engine="bullet")

    def no_room(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    run(simulator, 3)
    before = simulator.state()
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.TemporaryDirectory", no_room)
        with pytest.raises(ObstacleError, match="No space left"):
            simulator.spawn_obstacle(Obstacle(**GOOD))  # type: ignore[arg-type]
    assert not simulator.obstacles and simulator.state().tick == before.tick
    simulator.command([0.5, 0.0])
    run(simulator, 60)
    assert simulator.joint_position == pytest.approx([0.5, 0.0], abs=0.02), "it goes on"


def test_range_sensors_see_them() -> None:
    urdf = tiny_robot.URDF.replace(
        "</robot>",
        '<joint name="eye_fixed" type="fixed"><parent link="base_link"/><child link="eye"/>'
        '<origin xyz="0 0 0.2"/></joint><link name="eye"/></robot>',
    )
    simulator = Simulator(urdf, tiny_robot.profile(range_sensors={"eye": SONAR}), load_config())
    eye = simulator.data.body("eye").xpos
    assert simulator.range("eye") == math.inf
    for shape, size, near in (("box", (0.2, 0.6, 1.0), 0.9), ("cylinder", (0.3, 1.0), 0.7), ("sphere", (0.4,), 0.6)):
        simulator.spawn_obstacle(Obstacle("thing", shape, size, (1.0, 0.0, float(eye[2]))))
        assert simulator.range("eye") == pytest.approx(near, rel=5e-3), shape
        simulator.delete_obstacle("thing")
    assert simulator.range("eye") == math.inf


def test_rays_cut_each_shape_where_mujoco_does() -> None:
    rng, simulator = np.random.default_rng(5), tiny()
    for index, (shape, size) in enumerate((("box", (0.3, 0.5, 0.2)), ("cylinder", (0.2, 0.5)), ("sphere", (0.3,)))):
        quaternion = rng.standard_normal(4)
        turned = tuple((quaternion / np.linalg.norm(quaternion)).tolist())
        simulator.spawn_obstacle(Obstacle(f"o{index}", shape, size, (2.0, 3.0 * index, 1.0), turned))
    model, data = simulator.model, simulator.data
    only = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8)
    for index in range(3):
        geom = model.geom(f"{BODY}o{index}").id
        origin = data.geom_xpos[geom] + np.array([-1.0, 0.2, 0.3])
        rays = rng.uniform(-0.35, 0.35, (200, 3)) + (1.0, -0.2, -0.3)
        rays /= np.linalg.norm(rays, axis=1)[:, None]
        found, hit = np.zeros(1, dtype=np.int32), []
        for ray in rays:
            distance = mujoco.mj_ray(model, data, origin, ray, only, 1, -1, found)
            hit.append(distance if found[0] == geom else math.inf)
        distances, cosines = into_geom(model, data, geom, origin, rays)
        np.testing.assert_allclose(distances, hit, atol=1e-9)
        assert 20 < np.isfinite(hit).sum() < 200
        assert ((cosines >= 0.0) & (cosines <= 1.0 + 1e-9)).all()


def test_rays_along_the_axis_of_a_cylinder_meet_its_end() -> None:
    simulator = tiny()
    simulator.spawn_obstacle(Obstacle("post", "cylinder", (0.2, 0.5), (2.0, 0.0, 0.25)))
    geom, down = simulator.model.geom(f"{BODY}post").id, np.array([[0.0, 0.0, -1.0]])
    found = [into_geom(simulator.model, simulator.data, geom, np.array([x, 0.0, 2.0]), down) for x in (2.0, 2.05, 2.3)]
    assert [(distance[0], cosine[0]) for distance, cosine in found] == [(1.5, 1.0), (1.5, 1.0), (math.inf, 0.0)]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"size": (0.2, math.nan, 0.2)}, "width"),
        ({"size": (0.2, 0.2, 0.0)}, "height is 0.0; give a number from 0.001 to 100 m"),
        ({"size": (0.2, -1.0, 0.2)}, "width"),
        ({"size": (0.2,)}, "3 sizes"),
        ({"shape": "cone"}, "box, cylinder, sphere"),
        ({"position": (math.inf, 0.0, 0.0)}, "position x"),
        ({"quaternion": (0.0, 0.0, 0.0, math.nan)}, "orientation w"),
        ({"quaternion": (0.0, 0.0, 0.0, 0.5)}, "length 0.5"),
        ({"mass": -1.0}, "mass"),
        ({"mass": math.nan}, "mass"),
        ({"friction": 6.0}, "friction"),
        ({"name": ""}, "1 to 64"),
        ({"name": 'a"b'}, "1 to 64"),
    ],
)
def test_values_out_of_range_are_refused(change: Any, text: str) -> None:
    with pytest.raises(ObstacleError, match=text):
        Obstacle(**{**GOOD, **change})  # type: ignore[arg-type]


def test_what_does_not_fit_the_world_is_refused_and_changes_nothing() -> None:
    simulator = tiny()
    model = simulator.model
    with pytest.raises(ObstacleError, match=r"crate overlaps chassis by [1-9][0-9.]* mm"):
        simulator.spawn_obstacle(Obstacle("crate", "box", (0.2, 0.2, 0.2), (0.2, 0.0, 0.1)))
    with pytest.raises(ObstacleError, match="sunk overlaps the floor by 50.0 mm"):
        simulator.spawn_obstacle(Obstacle("sunk", "sphere", (0.1,), (1.0, 0.0, 0.05), mass=1.0))
    with pytest.raises(ObstacleError, match="no obstacle 'crate'; there are: none"):
        simulator.delete_obstacle("crate")
    assert simulator.model is model and not simulator.obstacles
    simulator.spawn_obstacle(Obstacle(**GOOD))  # type: ignore[arg-type]
    with pytest.raises(ObstacleError, match="crate already"):
        simulator.spawn_obstacle(Obstacle(**GOOD))  # type: ignore[arg-type]
    with pytest.raises(CommandError):
        simulator.push((1.0, 0.0, 0.0), 0.1, "nothing")
    with pytest.raises(CommandError, match="is no link of the robot"):
        simulator.push((1.0, 0.0, 0.0), 0.1, BODY + "crate")


def test_a_hundred_are_the_most() -> None:
    simulator = tiny()
    simulator._obstacles = {f"o{i}": Obstacle(f"o{i}", "sphere", (0.1,), (2.0 + i, 0.0, 0.1)) for i in range(MOST)}
    with pytest.raises(ObstacleError, match="100 obstacles"):
        simulator.spawn_obstacle(Obstacle(**GOOD))  # type: ignore[arg-type]


def test_without_a_master_the_command_says_so() -> None:
    pytest.importorskip("rospy")
    code = "from shellbot_simulator.node.obstacle_cli_node import main; main(['list'])"
    environment = dict(os.environ, ROS_MASTER_URI="http://localhost:9")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1 and "no ROS master at http://localhost:9" in done.stderr, done.stderr


def test_sdf_has_the_same_shapes() -> None:
    free = Obstacle("can", "cylinder", (0.1, 0.3), (1.0, 2.0, 0.15), (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)), 1.2)
    model = ElementTree.fromstring(free.sdf(0.8)).find("model")
    assert model is not None and model.get("name") == "can" and model.findtext("static") == "false"
    pose = [float(word) for word in str(model.findtext("pose")).split()]
    assert pose == pytest.approx([1.0, 2.0, 0.15, 0.0, 0.0, 0.5 * math.pi])
    assert model.findtext("link/collision/geometry/cylinder/length") == "0.3"
    assert float(str(model.findtext("link/inertial/inertia/izz"))) == pytest.approx(0.5 * 1.2 * 0.01)
    assert "<static>true</static>" in Obstacle(**GOOD).sdf(0.8)  # type: ignore[arg-type]
    assert sdf_model(terrain("wall"), 0.8).count("<collision") == 1
